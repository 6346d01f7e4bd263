package store_test

import (
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
)

// git may write CR LF where placet has written LF: the content is the same when it is
// read, compared and replaced.
func TestLineEndsAreNoPartOfADocument(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		run, _ := layout.Ask{}.At(".asks/x/state.json")
		const written = "{\n  \"status\": \"open\"\n}\n"
		crlf := strings.ReplaceAll(written, "\n", "\r\n")
		documents := []string{run.State, run.Dir + "/ask.json", run.Dir + "/requests/r/request.json"}
		for _, name := range documents {
			w.put(name, crlf)
		}
		s := w.store()
		for range 2 { // the second from what is remembered
			w.later(10 * time.Second)
			loaded, err := s.Load(run, layout.Ask{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range documents {
				for _, d := range loaded.Docs {
					if d.Path == name && (string(d.Body) != written || d.Sum != engine.Sum([]byte(written))) {
						t.Errorf("%s: %q, %s, %v", name, d.Body, d.Sum, d.Err)
					}
				}
			}
		}
		state := engine.Document{Path: run.State, Kind: engine.KindState, Body: []byte("{}\n"), Over: engine.Sum([]byte(written))}
		if err := s.Commit(run, layout.Ask{}, engine.Plan{Writes: []engine.Document{state}}); err != nil {
			t.Fatal(err)
		}
		if body, _ := w.get(run.State); body != "{}\n" {
			t.Errorf("the state document is %q", body)
		}
		// Any other content is somebody's, whatever its line ends.
		w.put(run.State, "{\"a\": 1}\r\n")
		state.Body, state.Over = []byte("{ }\n"), engine.Sum([]byte("{}\n"))
		if err := s.Commit(run, layout.Ask{}, engine.Plan{Writes: []engine.Document{state}}); err == nil {
			t.Error("what others have written was replaced")
		}
		if body, _ := w.get(run.State); body != "{\"a\": 1}\r\n" {
			t.Errorf("theirs is %q", body)
		}
		if left := names(t, w, run.Dir); len(left) != 3 {
			t.Errorf("in the folder is %q", left)
		}
	})
}

// The state documents of other programs, and artifacts, are compared byte for byte.
func TestLineEndsOfOthersAreKept(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		const body = "{\r\n}\r\n"
		w.put(in("state.json"), body)
		w.put("plan.md", body)
		s := w.store()
		w.later(10 * time.Second)
		loaded, err := s.Load(aRun(), layout.Faber{}, []string{"still:plan.md"})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range loaded.Docs {
			if string(d.Body) != body || d.Sum != engine.Sum([]byte(body)) {
				t.Errorf("%s: %q, %v", d.Path, d.Body, d.Err)
			}
		}
	})
}
