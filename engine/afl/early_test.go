package afl

import (
	"slices"
	"testing"
)

// The prompt lies there a moment before the state names its attempt. A crash in
// between must not make old news of what the worker has handed in meanwhile.
func TestHandInToAPromptThatACrashLeftIsNews(t *testing.T) {
	const at = "delegations/a/iterations/1/"
	for name, spoil := range map[string]func(*world){
		"": func(*world) {},
		"another prompt": func(w *world) {
			w.Write(at+"prompt.md", "<!-- placet afl abc12345/a prompt 1 -->\n# another\n")
		},
		"a verdict": func(w *world) { w.Write(at+"verdict.json", "{}") },
		"no prompt": func(w *world) { delete(w.Files, w.In(at+"prompt.md")) },
	} {
		w := approvedWorld(t, cp{id: "a"})
		for !w.Has("state.json") || w.state().Status != Delegating {
			w.Step()
		}
		state, events := w.Read("state.json"), w.Read("events.jsonl")
		w.settle()
		w.done("a")
		w.Write("state.json", state)
		w.Write("events.jsonl", events)
		spoil(w)
		taken := w.settle()
		if want := name == ""; slices.Contains(taken, "a:worker_done") != want || !slices.Contains(taken, "a:start") {
			t.Errorf("with %q: took %v", name, taken)
		}
	}
}
