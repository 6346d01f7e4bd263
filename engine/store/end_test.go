package store_test

import (
	"strings"
	"testing"

	"placet/engine"
	"placet/layout"
)

// Only the end of a journal is read, however long it grows.
func TestOfAJournalTheEndIsRead(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		run, ok := layout.AFL{}.At(".afl/sessions/s/x")
		if !ok {
			t.Fatal("no run")
		}
		file, _ := layout.AFL{}.File(run, "events.jsonl")
		s := w.store()
		for _, body := range []string{"short\n", strings.Repeat("an earlier line\n", 200_000) + "the last line\n"} {
			w.put(run.Dir+"/events.jsonl", body)
			l, err := s.Load(run, layout.AFL{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := body[max(0, len(body)-int(file.End)):]
			if d := l.Docs[0]; d.Err != nil || string(d.Body) != want || d.Sum != engine.Sum([]byte(want)) {
				t.Errorf("%d bytes, %v; expected the last %d", len(d.Body), d.Err, len(want))
			}
		}
	})
}
