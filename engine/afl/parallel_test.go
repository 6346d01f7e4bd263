package afl

import (
	"testing"

	"placet/engine/run"
)

// Parallel gates have distinct ids and are answered singly, in any order
// (LangGraph #6626, #4028; Argo #6666, #4910).
func TestParallelGatesAreAnsweredSinglyInAnyOrder(t *testing.T) {
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
		w.untilBegun()
		for _, id := range order {
			w.workerSays(id, map[string]any{"status": "question", "question": "Which way?"})
		}
		w.settle()
		ids := map[string]string{}
		for _, q := range w.state().Requests {
			id := q.ID
			if q.Status == run.Open {
				ids[string(q.Subject)] = id
			}
		}
		if len(ids) != 2 || ids["a"] == ids["b"] {
			t.Fatalf("open requests %v", ids)
		}
		for i, id := range order {
			w.Respond(ids[id], map[string]any{"response": "answer", "comment": "this way"})
			w.settle()
			if got := w.cp(id).Status; got != InProgress {
				t.Errorf("%v: %s is %s", order, id, got)
			}
			if other := order[1-i]; i == 0 && w.cp(other).Status != Waiting {
				t.Errorf("%v: the answer to %s moved %s to %s", order, id, other, w.cp(other).Status)
			}
		}
	}
}
