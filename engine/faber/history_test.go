package faber

import (
	"fmt"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/layout"
)

// eventDoc is a file in events/ that may be an event.
func eventDoc(n int, typ, body string) engine.Document {
	return engine.Document{
		Path: fmt.Sprintf("run/events/%03d-%s.json", n, typ), Kind: layout.FaberEvent,
		Body: []byte(body), Sum: engine.Sum([]byte(body)),
	}
}

// drawnEvents are the documents of events/, sorted by name, in any state.
func drawnEvents(t *rapid.T) []engine.Document {
	var docs []engine.Document
	for n := 1; n <= 6; n++ {
		for _, typ := range []string{"a", "b"} {
			more := rapid.SampledFrom([]string{
				"", "", "", `, "step": "s"`, `, "type": "twice"`, `, "metadata": {"request_id": "fr-1", "placet": {"revision": 3, "key": "k"}}`,
				`, "metadata": {"placet": {"revision": 3}}`, `, "metadata": {"request_id": 7}`, "}",
			}).Draw(t, "more")
			d := eventDoc(n, typ, fmt.Sprintf(`{"event_id": %d, "type": "checkpoint", "timestamp": "2026-11-20T10:25:41Z", "run_id": "r"%s}`, n, more))
			switch rapid.IntRange(0, 7).Draw(t, "state") {
			case 0, 1:
				continue
			case 2:
				d.Err, d.Body, d.Sum = engine.ErrUnsettled, nil, ""
			case 3:
				d.Kind = layout.FaberBadEvent
			case 4:
				d.Kind = layout.FaberNextID
			}
			docs = append(docs, d)
		}
	}
	return docs
}

// What is read of events does not depend on what was read before.
func TestARememberedHistoryIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var before *history
		for range 4 {
			docs := drawnEvents(t)
			want, got := historyOf(docs, nil), historyOf(docs, before)
			opts := cmp.Options{cmp.AllowUnexported(history{}, eventFile{}, event{}), cmpopts.IgnoreFields(history{}, "bad")}
			if diff := cmp.Diff(want, got, opts); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(want.bad(), got.bad()); diff != "" {
				t.Fatal(diff)
			}
			if historyOf(docs, got) != got {
				t.Fatal("equal documents are read again")
			}
			before = got
		}
	})
}

func TestWhatIsNoEventIsBadAndCountsForTheNumber(t *testing.T) {
	good := `{"event_id": 1, "type": "checkpoint", "timestamp": "2026-11-20T10:25:41Z", "run_id": "r"}`
	h := historyOf([]engine.Document{eventDoc(1, "a", good), eventDoc(1, "b", good), eventDoc(7, "c", "{")}, nil)
	if diff := cmp.Diff([]string{"001-b.json: has the number of 001-a.json", "007-c.json: cannot be read as an event"}, h.bad()); diff != "" {
		t.Error(diff)
	}
	if h.highest != 7 || len(h.events) != 2 {
		t.Errorf("%d is the highest number, %d events", h.highest, len(h.events))
	}
}

func TestRememberedHistoriesAreBounded(t *testing.T) {
	var m histories
	docs := make([]engine.Document, longHistory+1)
	for i := range docs {
		docs[i] = eventDoc(i+1, "a", "{")
	}
	first := m.of("run", docs)
	if m.of("run", docs) != first || m.of("run", docs[:3]) == first {
		t.Error("a history is not remembered, or taken for another")
	}
	large := &history{files: make([]eventFile, mostRemembered/2)}
	for i := range 5 {
		m.keep(path.Join("run", fmt.Sprint(i)), large)
		if m.size > mostRemembered {
			t.Fatalf("%d events are remembered", m.size)
		}
	}
}
