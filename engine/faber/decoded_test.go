package faber

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

func eventDoc(n int, more string) engine.Document {
	body := fmt.Appendf(nil, `{"event_id": %d, "type": "checkpoint", "timestamp": "2026-11-20T10:25:41Z", "run_id": "r"%s}`, n, more)
	return engine.Document{Path: "events/001-checkpoint.json", Body: body, Sum: engine.Sum(body)}
}

func TestARememberedEventIsTheSame(t *testing.T) {
	var m events
	docs := []engine.Document{
		eventDoc(1, ""), eventDoc(2, `, "metadata": {"request_id": "fr-1", "placet": {"revision": 3, "key": "k"}}`),
		eventDoc(3, `, "metadata": {"request_id": 7}`), eventDoc(4, `, "type": "twice"`), {Path: "events/x", Body: []byte("{"), Sum: "sha256:x"},
	}
	for range 2 {
		for _, d := range docs {
			if diff := cmp.Diff(decodeEvent(d), m.event(d), cmp.AllowUnexported(event{})); diff != "" {
				t.Errorf("%s:\n%s", d.Body, diff)
			}
		}
	}
	if e := m.event(docs[1]); e == nil || !e.ours() || e.Metadata.RequestID != "fr-1" {
		t.Errorf("%+v", e)
	}
	if m.event(docs[3]) != nil || len(m.known) != len(docs) {
		t.Error("what is no event is one, or is decoded again")
	}
}

func TestRememberedEventsAreBounded(t *testing.T) {
	var m events
	for n := range mostDecoded + 10 {
		m.keep(engine.Digest(fmt.Sprint(n)), nil)
	}
	if len(m.known) > mostDecoded {
		t.Errorf("%d events are remembered", len(m.known))
	}
	m.keep("", &event{})
	if _, ok := m.known[""]; ok {
		t.Error("an event without a digest is remembered")
	}
}
