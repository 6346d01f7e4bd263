package store_test

import (
	"testing"
	"time"

	"placet/engine"
)

func TestAnArtifactMustStandStillForTwoSeconds(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put("specs/a.md", "one")
		w.put(in("state.json"), `{}`)
		s := w.store()
		expect(t, w, s, "specs/a.md", []any{
			"unsettled", short, "unsettled", long, "one",
			func() { w.rewrite("specs/a.md", "two!") }, "unsettled", long - time.Millisecond, "unsettled", time.Millisecond, "two!",
			// Editors remove a file before they put the new one in its place.
			func() { w.delete("specs/a.md") }, "unsettled",
			func() { w.put("specs/a.md", "three") }, "unsettled", long, "three",
			func() { w.delete("specs/a.md") }, "unsettled", long, "absent", "absent",
		}, "still:specs/a.md")
	})
}

func TestAnArtifactInsideTheRunIsNoExceptionToThat(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		for _, name := range []string{in("requests/r/form.md"), in("free.txt")} {
			w.put(name, "one")
			w.later(time.Hour)
			expect(t, w, w.store(), name, []any{
				"one",
				func() { w.delete(name) }, "unsettled", short, "unsettled",
				func() { w.put(name, "two") }, "unsettled", long, "two",
				func() { w.delete(name) }, "unsettled", long, "absent", "absent",
			}, "still:"+name)
		}
	})
}

func TestAnArtifactThatIsOldWhenFirstSeenStoodStillSinceItsLastChange(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put("specs/a.md", "one")
		w.later(1500 * time.Millisecond)
		expect(t, w, w.store(), "specs/a.md", []any{"unsettled", 600 * time.Millisecond, "one"}, "still:specs/a.md")
	})
}

func TestAnArtifactThatWasNeverThereIsAbsentAtOnce(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		expect(t, w, w.store(), "specs/a.md", []any{"absent"}, "still:specs/a.md")
	})
}

func TestAnArtifactThatPlacetWroteIsSettledAtOnce(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		load(t, s, "still:report.md")
		if err := s.Write(engine.Document{Path: "report.md", Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		expect(t, w, s, "report.md", []any{"x"}, "still:report.md")
	})
}
