package run_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
)

// account returns the account of a run that waits for files that may still be being
// written.
func account(r *run.Input) engine.RunView {
	a := engine.RunView{Pending: r.BeingWritten()}
	r.Await(&a, "a file")
	return a
}

const dir = "runs/a"

var present = time.Date(2026, 3, 2, 9, 12, 3, 0, time.UTC)

// at returns the input of a run with these documents, at one time.
func at(now time.Time, docs ...engine.Document) *run.Input {
	return &run.Input{Snap: engine.Snapshot{Key: engine.Key{Family: "toy", ID: "a"}, Dir: dir, Now: now, Docs: docs}}
}

// half returns a document that ends too early.
func half(path string, changed time.Time) engine.Document {
	return engine.Document{Path: path, Body: []byte(`{"a": `), Changed: changed}
}

// A half-written file is waited for as long as it may be half written: ten seconds.
func TestHowLongHalfAWriteIsWaitedFor(t *testing.T) {
	for name, test := range map[string]struct {
		changed time.Duration // before now
		young   bool
		wake    time.Duration // after now
	}{
		"just written":     {0, true, 10 * time.Second},
		"written 3 s ago":  {3 * time.Second, true, 7 * time.Second},
		"written 10 s ago": {10 * time.Second, false, 0},
		"from a future":    {-10 * time.Second, true, 20 * time.Second},
	} {
		d := half(dir+"/trigger.json", present.Add(-test.changed))
		r := at(present, d)
		var into struct{}
		err := schemas.Decode("", "trigger.json", d.Body, &into)
		if got := r.MaybePartial(d, err); got != test.young {
			t.Errorf("%s: it may be half of a write: %t, want %t", name, got, test.young)
		}
		want := time.Time{}
		if test.young {
			want = present.Add(test.wake)
		}
		if !r.Wake.Equal(want) {
			t.Errorf("%s: looked at again at %s, want %s", name, r.Wake, want)
		}
	}
}

// Each file that may be half written is named once, with the time until which it may be.
func TestHeldFilesAreNamed(t *testing.T) {
	young, old := half(dir+"/trigger.json", present.Add(-2500*time.Millisecond)), half(dir+"/stop.json", present.Add(-time.Minute))
	busy := engine.Document{Path: dir + "/inputs/kpi.json", Err: engine.ErrUnsettled}
	others := engine.Document{Path: engine.NeedPeers, Err: engine.ErrUnsettled}
	r := at(present, busy, old, young, others)
	for range 2 {
		for _, d := range r.Snap.Docs {
			var into struct{}
			if r.Decode(d, "", &into) {
				t.Errorf("%s can be used", d.Path)
			}
		}
	}
	r.Hold(engine.PendingFile{Path: "docs/form.md", Until: present.Add(time.Second)})
	a := account(r)
	var words []string
	for _, h := range a.Pending {
		words = append(words, h.Words("en", r.Snap.Rel(h.Path), present))
	}
	want := []string{
		"docs/form.md may still be being written: it is looked at again in 1 s; if it stays as it is, a note says what is wrong",
		"inputs/kpi.json is still being written: it is looked at again as soon as it stands still",
		"trigger.json may still be being written: it is looked at again in 8 s; if it stays as it is, a note says what is wrong",
	}
	if !slices.Equal(words, want) {
		t.Errorf("held:\n%s\nwant:\n%s", strings.Join(words, "\n"), strings.Join(want, "\n"))
	}
	awaited := []string{"docs/form.md (still being written)", "inputs/kpi.json (still being written)", "trigger.json (still being written)"}
	if !slices.Equal(a.WaitsFor, awaited) {
		t.Errorf("waits for %q, want %q", a.WaitsFor, awaited)
	}
	if !r.Held || !r.Wake.Equal(present.Add(time.Second)) {
		t.Errorf("held %t, looked at again at %s", r.Held, r.Wake)
	}
	if got := r.Notes.Text(r.Note(old.Path)); !strings.Contains(got, "stop.json") || r.Notes.Len() != 1 {
		t.Errorf("%d notes, of the old file %q", r.Notes.Len(), got)
	}
	if late := a.Pending[2].Words("en", "x", present.Add(time.Minute)); !strings.Contains(late, "in 0 s") {
		t.Errorf("later: %s", late)
	}
	if a := account(at(present)); len(a.Pending) > 0 || !slices.Equal(a.WaitsFor, []string{"a file (still being written)"}) {
		t.Errorf("nothing is held: %+v", a)
	}
}
