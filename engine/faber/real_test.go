package faber

import (
	"bytes"
	"os"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/schemas"
)

// The six real runs, answered: in state.json only the members that the answer concerns change, and
// the others keep their bytes and their order; old events and metadata.json stay unchanged.
func TestSixRealRunsKeepEveryOtherByte(t *testing.T) {
	changed := map[string]bool{
		"status": true, "last_event_id": true, "updated_at": true, "completed_at": true, "phases": true, "errors": true,
		"feedback_request": true, "resume_point": true, "revision": true, "last_transition": true, "feedback_history": true, "cancellation_reason": true,
	}
	answers := map[string]string{
		"fr-20261120-4a8880": "approve", "fr-20261120-b3d309": "approve", "fr-20261120-f3abb0": "skip",
		"fr-20261120-968f9c": "confirm", "fr-20261120-2b41b5": "option_a", "fr-20261120-3833ec": "In UTC.",
	}
	root, base := "../../testdata/real/faber/awaiting-six-types", ".fractary/faber/runs/acme-corp/proja"
	dirs, err := os.ReadDir(path.Join(root, base))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		w := newWorld(t, path.Join(base, d.Name()))
		w.load(path.Join(root, base, d.Name()), w.Run.Dir)
		before := map[string]string{}
		for p, body := range w.Files {
			before[p] = body
		}
		w.settle()
		id := w.state().Feedback.RequestID
		w.Respond(id, map[string]any{"response": answers[id]})
		if taken := w.settle(); len(taken) != 1 {
			t.Errorf("%s: took %v", id, taken)
		}
		if diff := cmp.Diff(others(t, before[w.Run.State], changed), others(t, w.Files[w.Run.State], changed)); diff != "" {
			t.Errorf("%s: state.json (-before +after):\n%s", id, diff)
		}
		if !bytes.HasSuffix([]byte(w.Files[w.Run.State]), []byte("\n}\n")) {
			t.Errorf("%s: the file's end changed", id)
		}
		for p, body := range before {
			if p != w.Run.State && path.Base(p) != ".next-id" && w.Files[p] != body {
				t.Errorf("%s changed", p)
			}
		}
	}
}

// others returns the members of a document except some, unchanged.
func others(t *testing.T, body string, some map[string]bool) []string {
	t.Helper()
	members, err := schemas.Members([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range members {
		if !some[m.Name] {
			list = append(list, m.Name+": "+string(members.Raw(m.Name)))
		}
	}
	return list
}
