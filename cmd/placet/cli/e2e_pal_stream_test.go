package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/pal"
	"placet/layout"
)

// orchestrated is a workspace with an orchestration that others write into.
type orchestrated struct {
	*place
	dir string
}

func newOrchestration(t *testing.T, orchestration string) orchestrated {
	t.Helper()
	s := orchestrated{newPlace(t, filepath.Join(t.TempDir(), "ws"), 0), ".pal/orchestrations/shop"}
	s.write("ports/README.md", "")
	if orchestration != "" {
		s.write(s.dir+"/orchestration.json", orchestration)
	}
	return s
}

// put puts a file of the run into place as a worker does.
func (s orchestrated) put(rel, body string) {
	s.t.Helper()
	s.saved(s.dir+"/"+rel, body)
}

// state is the run's state, the zero State while there is none.
func (s orchestrated) state() (st pal.State) {
	s.t.Helper()
	if body := s.read(s.dir + "/state.json"); body != "" {
		var err error
		if st, err = pal.ReadState("state.json", []byte(body)); err != nil {
			s.t.Fatal(err)
		}
	}
	return st
}

// reaches waits until a function accepts the state.
func (s orchestrated) reaches(what string, ok func(pal.State) bool) {
	s.t.Helper()
	s.until(what, func() bool { return ok(s.state()) })
}

// tries hands in a try of a port, and waits until its feedback is counted.
func (s orchestrated) tries(port string, try int, feedback string) {
	s.t.Helper()
	s.reaches("port "+port+" runs", func(st pal.State) bool { return st.Ports[port] != nil && st.Ports[port].Status == pal.Running })
	s.put(layout.PalResultFile(port, try), `{"status": "ready", "summary": "done", "changed_files": []}`)
	s.reaches("the result is taken", func(st pal.State) bool { l := st.Loops[port+".r1"]; return len(l.History) == try })
	s.put(layout.PalFeedbackFile(port, try), feedback)
	s.reaches("the feedback is counted", func(st pal.State) bool { l := st.Loops[port+".r1"]; return l.History[try-1].FeedbackDigest != "" })
}

// palFrame is an event of an orchestration as the stream has it.
type palFrame struct {
	Type      string         `json:"type"`
	Upstream  string         `json:"upstream"`
	Timestamp string         `json:"timestamp"`
	Family    string         `json:"family"`
	Run       string         `json:"run"`
	Session   string         `json:"session_id"`
	Port      string         `json:"port_id"`
	Data      map[string]any `json:"data"`
}

// takes reads events until a wanted one is the last.
func (x stream) takes(t *testing.T, isLast func(frame, palFrame) bool) (frames []frame, own []palFrame) {
	t.Helper()
	for {
		f, ok := x.next()
		var data palFrame
		if !ok || json.Unmarshal([]byte(f.data), &data) != nil {
			t.Fatalf("the stream ends after %d events with %+v", len(frames), f)
		}
		frames, own = append(frames, f), append(own, data)
		if isLast(f, data) {
			return frames, own
		}
	}
}

// Scenario 18: the stream has the family's own events by both names, and a stream that was
// interrupted resumes where it was.
func TestServeStreamsOrchestrations(t *testing.T) {
	t.Parallel()
	p := newOrchestration(t, "")
	s := serveAt(p.place)
	s.token("all", "read")
	dotted, colon := s.listen("all", "?family=pal&filter=worker.feedback", ""), s.listen("all", "?family=pal&filter=worker:feedback", "")
	everything, own := s.listen("all", "?family=pal", ""), s.listen("all", "?family=pal&filter=direct.message&session_id=shop/build/A/impl", "")
	p.write(p.dir+"/orchestration.json", `{"title": "Shop", "max_retries": 10, "ports": [{"port_id": "A"}, {"port_id": "B"}]}`)
	const failure, success = `{"success": false, "failed_tests": [{"name": "TestTotal"}], "suggestions": ["look"], "metrics": {"total": 9, "passed": 8}}`, `{"success": true}`
	p.tries("A", 1, failure)
	first, ok := colon.next()
	if !ok || first.id == "" || first.name != "worker.feedback" {
		t.Fatalf("by upstream's name: %+v", first)
	}
	colon.Body.Close()
	p.put("channels/A/messages/0001-test-query.json", `{"from_session": "shop/build/A/test", "to_session": "shop/build/A/impl", "type": "query", "payload": "which?"}`)
	p.put("channels/A/messages/0002-test-query.json", `{"from_session": "shop/build/A/test", "to_session": "shop/build/A/impl", "type": "query", "payload": "`+strings.Repeat("x", 17<<10)+`"}`)
	for try := 2; try < 8; try++ {
		p.tries("A", try, failure)
		p.tries("B", try-1, failure)
	}
	p.tries("A", 8, success)
	last := func(f frame, d palFrame) bool { return d.Data["success"] == true }
	whole, feedback := dotted.takes(t, last)
	resumed, _ := s.listen("all", "?family=pal&filter=worker:feedback", first.id).takes(t, last)
	if diff := cmp.Diff(whole, append([]frame{first}, resumed...), cmp.AllowUnexported(frame{})); diff != "" {
		t.Errorf("the stream that was cut has other events:\n%s", diff)
	}
	var counted []string
	for _, f := range feedback {
		if f.Type != "worker.feedback" || f.Upstream != "worker:feedback" || f.Family != "pal" || f.Run != "pal/shop" || f.Session != "shop/build/"+f.Port+"/test" || f.Timestamp == "" {
			t.Errorf("the envelope is %+v", f)
		}
		counted = append(counted, fmt.Sprintf("%s %v %v %v/%v %v %v", f.Port, f.Data["success"], f.Data["retry_count"], f.Data["tests_passed"], f.Data["tests_failed"], f.Data["failed_tests"], f.Data["suggestions"]))
	}
	var want []string
	for try := 1; try < 8; try++ {
		want = append(want, fmt.Sprintf("A false %d 8/1 [TestTotal] [look]", try))
		if try > 1 {
			want = append(want, fmt.Sprintf("B false %d 8/1 [TestTotal] [look]", try-1))
		}
	}
	if diff := cmp.Diff(append(want, "A true 7 0/0 [] []"), counted); diff != "" {
		t.Errorf("what was counted (-want +got):\n%s", diff)
	}
	p.verifyEverything(everything)
	p.verifyMessages(own)
}

// verifyEverything checks the whole stream: every line of the journal is there once, in order
// and after the transitions of its commit, and no id comes twice.
func (s orchestrated) verifyEverything(x stream) {
	t := s.t
	t.Helper()
	var journal []string
	for line := range strings.Lines(s.read(s.dir + "/events.jsonl")) {
		var l palFrame
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		journal = append(journal, l.Type+" "+l.Session+" "+l.Port)
	}
	var streamed []string
	seen, revision := map[string]bool{}, ""
	for len(streamed) < len(journal) {
		f, ok := x.next()
		var d palFrame
		if !ok || json.Unmarshal([]byte(f.data), &d) != nil {
			t.Fatalf("the stream ends after %d events of %d", len(streamed), len(journal))
		}
		if f.id == "" || seen[f.id] {
			t.Errorf("the id %q of %s comes twice, or is none", f.id, f.name)
		}
		seen[f.id] = true
		commit, _, _ := strings.Cut(f.id, ".")
		switch {
		case f.name == "transition":
			revision = commit
		case f.name == "request", f.name == "direct.message":
		default:
			if streamed = append(streamed, d.Type+" "+d.Session+" "+d.Port); f.name != d.Type || commit != revision {
				t.Errorf("%s %s follows the transition of %s: %s", f.name, f.id, revision, f.data)
			}
		}
	}
	if diff := cmp.Diff(journal, streamed); diff != "" {
		t.Errorf("the stream has not what the journal has:\n%s", diff)
	}
}

// verifyMessages checks the messages that an impl worker gets.
func (s orchestrated) verifyMessages(x stream) {
	t := s.t
	t.Helper()
	var ids, want []string
	frames, own := x.takes(s.t, func(f frame, _ palFrame) bool { return f.id == "pal/shop@A/0007-test-feedback" })
	for i, f := range frames {
		ids = append(ids, f.id)
		if f.name != "direct.message" || own[i].Upstream != "direct:message" || own[i].Data["to_session"] != "shop/build/A/impl" || own[i].Data["channel_id"] != "A" {
			t.Errorf("%+v", own[i])
		}
		switch payload := own[i].Data["payload"]; f.id {
		case "pal/shop@A/0001-test-query":
			if payload != "which?" || own[i].Data["message_type"] != "query" {
				t.Errorf("the query: %s", f.data)
			}
		case "pal/shop@A/0002-test-query":
			if diff := cmp.Diff(map[string]any{"truncated": true, "path": s.dir + "/channels/A/messages/0002-test-query.json"}, payload); diff != "" {
				t.Errorf("a large query: %s", diff)
			}
		default:
			if m, _ := payload.(map[string]any); m["success"] != false {
				t.Errorf("a feedback: %s", f.data)
			}
		}
	}
	for try := 1; try < 8; try++ {
		want = append(want, fmt.Sprintf("pal/shop@A/%04d-test-feedback", try))
	}
	want = append(want, "pal/shop@A/0001-test-query", "pal/shop@A/0002-test-query")
	slices.Sort(want)
	slices.Sort(ids)
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
