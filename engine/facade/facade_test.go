package facade

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestARouteMatchesWholeSegments(t *testing.T) {
	for _, c := range []struct {
		path, called string
		values       map[string]string // nil: no match
	}{
		{"/a/{id}/b", "/a/x/b", map[string]string{"id": "x"}},
		{"/a/{id}/b", "/a/x%2Fy/b", map[string]string{"id": "x/y"}},
		{"/a/{id}/b", "/a/..%2F..%2Fetc/b", map[string]string{"id": "../../etc"}},
		{"/a/{id}/b", "/a/x/y/b", nil},
		{"/a/{id}/b", "/a//b", nil},
		{"/a/{id}/b", "/a/%zz/b", nil},
		{"/a/{id}/b", "/a/x", nil},
		{"/a/{id}/b", "/a/x/b/", nil},
		{"/a/{id}", "/A/x", nil},
		{"/runs/{family}/{id...}", "/runs/faber/acme/web/1", map[string]string{"family": "faber", "id": "acme/web/1"}},
		{"/runs/{family}/{id...}", "/runs/faber/acme%2Fweb", map[string]string{"family": "faber", "id": "acme/web"}},
		{"/runs/{family}/{id...}", "/runs/faber/", nil},
		{"/runs/{family}/{id...}", "/runs/faber", nil},
		{"/", "/", map[string]string{}},
		{"/", "/x", nil},
	} {
		got, ok := Route{Path: c.path}.match(c.called)
		if !ok {
			got = nil
		}
		if diff := cmp.Diff(c.values, got); diff != "" {
			t.Errorf("%s for %s: %s", c.path, c.called, diff)
		}
	}
}

func TestNamesOfTokensAreGivenOnce(t *testing.T) {
	tokens := Tokens{filepath.Join(t.TempDir(), "placet", "tokens.json")}
	add := func(name string, expires time.Time) (string, error) {
		return tokens.New(name, []Role{Read}, nil, noon, expires)
	}
	secret, err := add("lead-1", noon.Add(time.Hour))
	if err != nil || !strings.HasPrefix(secret, "plt_") || len(secret) != 47 {
		t.Fatalf("%q %v", secret, err)
	}
	if one, err := tokens.Find(secret, noon); err != nil || one.Name != "lead-1" {
		t.Errorf("%+v %v", one, err)
	}
	for _, wrong := range []string{secret + "x", secret[:46], strings.TrimPrefix(secret, "plt_"), "plt_", ""} {
		if _, err := tokens.Find(wrong, noon); err == nil {
			t.Errorf("%q is a token", wrong)
		}
	}
	if _, err := tokens.Find(secret, noon.Add(time.Hour)); err == nil {
		t.Error("it counts after its end")
	}
	if err := tokens.Revoke("lead-1", noon); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Find(secret, noon); err == nil {
		t.Error("it counts after it was revoked")
	}
	for _, name := range []string{"lead-1", "lead-l", "Lead", "-x", "", "x y", "lеad", strings.Repeat("x", 33)} {
		if _, err := add(name, time.Time{}); err == nil {
			t.Errorf("%q is given", name)
		}
	}
	if _, err := add("lead-2", time.Time{}); err != nil {
		t.Error(err)
	}
	if err := tokens.Revoke("nobody", noon); err == nil {
		t.Error("what is not there is revoked")
	}
}

func TestSessionsEnd(t *testing.T) {
	taken := map[string]bool{}
	s := &Sessions{Owner: "kim", Take: func(hash string, _ time.Time) (string, bool) {
		defer func() { taken[hash] = true }()
		return "", !taken[hash]
	}}
	begin := func(at time.Time) *http.Cookie {
		t.Helper()
		w := httptest.NewRecorder()
		word, _ := NewLink()
		if _, err := s.Login(w, word, Tokens{}, at); err != nil {
			t.Fatal(err)
		}
		return w.Result().Cookies()[0]
	}
	holds := func(c *http.Cookie, at time.Time) bool {
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(c)
		who, ok := s.of(r, Tokens{}, at)
		return ok && who.Known == "owner:kim"
	}
	first := begin(noon)
	if !holds(first, noon.Add(sessionTime-time.Second)) || holds(first, noon.Add(sessionTime)) {
		t.Error("a session does not last twelve hours")
	}
	if other := *first; holds(&http.Cookie{Name: other.Name, Value: other.Value + "x"}, noon) {
		t.Error("another cookie is a session")
	}
	second := begin(noon.Add(time.Second))
	for range mostSessions - 1 {
		begin(noon.Add(time.Minute))
	}
	if holds(first, noon.Add(time.Hour)) || !holds(second, noon.Add(time.Hour)) {
		t.Error("the oldest session does not end for a new one")
	}
}

func eventNumber(n int) Event {
	return Event{ID: fmt.Sprint("faber/a@", n), Name: "transition", Family: "faber", Run: "faber/a", Data: n}
}

func all(Event) bool { return true }

func TestAStreamThatFallsBehindEnds(t *testing.T) {
	var e Events
	slow, _, _, err := e.listen("", all, all)
	if err != nil {
		t.Fatal(err)
	}
	deaf, _, _, _ := e.listen("", all, func(Event) bool { return false })
	for n := range mostBehind + 1 {
		e.Publish(eventNumber(n))
	}
	n := 0
	for range slow.events {
		n++
	}
	if n != mostBehind {
		t.Errorf("it was handed %d events", n)
	}
	e.Close()
	if _, open := <-deaf.events; open {
		t.Error("a stream is open after the end")
	}
	if _, _, _, err := e.listen("", all, all); err == nil {
		t.Error("a stream begins after the end")
	}
}

func TestStreamsAreBounded(t *testing.T) {
	var e Events
	var last *client
	for range mostStreams {
		c, _, _, err := e.listen("", all, all)
		if err != nil {
			t.Fatal(err)
		}
		last = c
	}
	if _, _, _, err := e.listen("", all, all); err == nil {
		t.Error("there is one too many")
	}
	e.leave(last)
	if _, _, _, err := e.listen("", all, all); err != nil {
		t.Error(err)
	}
}

// A client that left after any event gets all that followed it, or learns that they are
// not remembered.
func TestAStreamGoesOnWhereItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e Events
		published := rapid.IntRange(1, 3*remembered/2).Draw(t, "published")
		for n := range published {
			e.Publish(eventNumber(n))
		}
		e.Publish(Event{Name: "progress", Data: "no commit made this"})
		left := rapid.IntRange(0, published-1).Draw(t, "left")
		_, before, missed, err := e.listen(eventNumber(left).ID, all, all)
		switch {
		case err != nil:
			t.Fatal(err)
		case missed && left >= published-remembered:
			t.Fatalf("event %d of %d is not remembered", left, published)
		case missed:
			return
		case len(before) != published-1-left:
			t.Fatalf("after event %d of %d come %d", left, published, len(before))
		}
		for i, one := range before {
			if one.ID != eventNumber(left+1+i).ID {
				t.Fatalf("event %d is %s", i, one.ID)
			}
		}
	})
}

// A caller may ask for events by any of their names, and for the events of one session
// together with those of no session.
func TestEventsAreFilteredByNameAndSession(t *testing.T) {
	events := []Event{
		{Name: "transition", Family: "pal", Run: "pal/O"},
		{Name: "worker.progress", Aliases: []string{"worker:progress", "worker.progress.O/a"}, Family: "pal", Run: "pal/O", Session: "O/a"},
		{Name: "worker.progress", Aliases: []string{"worker:progress", "worker.progress.O/b"}, Family: "pal", Run: "pal/O", Session: "O/b"},
	}
	for query, want := range map[string]string{
		"": "transition O/a O/b", "filter=worker.progress": "O/a O/b", "filter=worker:progress": "O/a O/b", "filter=worker.progress.O/b": "O/b",
		"filter=transition,worker.progress.O/a": "transition O/a", "session_id=O/a": "transition O/a", "session_id=O/a&filter=worker.progress": "O/a",
		"session_id=O/c&filter=worker.progress": "", "family=ask": "", "run=pal/O&session_id=O/b": "transition O/b",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		accepts, got := (&Call{query: values}).eventFilter(), []string{}
		for _, e := range events {
			switch {
			case !accepts(e):
			case e.Session != "":
				got = append(got, e.Session)
			default:
				got = append(got, e.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// A client cannot continue after an event that it may not see.
func TestAStreamBeginsAnewAfterAnEventOfOthers(t *testing.T) {
	var e Events
	e.Publish(eventNumber(1), eventNumber(2))
	if _, before, missed, err := e.listen(eventNumber(1).ID, func(Event) bool { return false }, all); err != nil || !missed || len(before) > 0 {
		t.Errorf("missed %t, %d events, %v", missed, len(before), err)
	}
}

// A client that opens many connections waits for a free one, and closing waits for
// nobody.
func TestNoMoreConnectionsThanSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 2
		p := &pipes{make(chan net.Conn, most+2), make(chan struct{})}
		limited, accepted := LimitConns(p, most), make(chan net.Conn, most+2)
		go func() {
			defer close(accepted)
			for {
				conn, err := limited.Accept()
				if err != nil {
					return
				}
				accepted <- conn
			}
		}()
		for range most + 2 {
			defer p.dial().Close()
		}
		first, second := <-accepted, <-accepted
		defer second.Close()
		synctest.Wait()
		if len(accepted) > 0 {
			t.Error("there is one too many")
		}
		first.Close()
		third := <-accepted
		defer third.Close()
		if err := limited.Close(); err != nil {
			t.Error(err)
		}
		if _, open := <-accepted; open {
			t.Error("one is accepted after the end")
		}
	})
}

func TestAFrameIsOneEvent(t *testing.T) {
	text := string(frame(Event{ID: "a\nevent: x", Name: "n\r\ndata: y", Data: "z\n\nevent: w"}))
	if want := "id: a event: x\nevent: n  data: y\ndata: \"z\\n\\nevent: w\"\n\n"; text != want {
		t.Errorf("%q", text)
	}
}
