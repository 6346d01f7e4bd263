package store_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

const (
	short = 120 * time.Millisecond
	long  = 2 * time.Second
)

// stands loads the run and returns the state of a document: "absent",
// "unsettled", its content, or its error.
func stands(t *testing.T, s *store.Store, name string, needs ...string) string {
	t.Helper()
	l := load(t, s, needs...)
	d := doc(l, name)
	switch {
	case d.Absent():
		return "absent"
	case d.Unsettled():
		if l.Again.IsZero() {
			t.Errorf("%s is unsettled and Again is zero", name)
		}
		if d.Body != nil {
			t.Errorf("%s is unsettled and has a body", name)
		}
		return "unsettled"
	case d.Err != nil:
		return "error: " + d.Err.Error()
	}
	if d.Sum != engine.Sum(d.Body) {
		t.Errorf("%s: the sum is not that of the body", name)
	}
	return string(d.Body)
}

// expect makes a list of looks, each after some time.
func expect(t *testing.T, w world, s *store.Store, name string, looks []any, needs ...string) {
	t.Helper()
	for i, look := range looks {
		switch look := look.(type) {
		case time.Duration:
			w.later(look)
		case func():
			look()
		case string:
			if got := stands(t, s, name, needs...); got != look {
				t.Errorf("look %d: got %q, want %q", i, got, look)
			}
		}
	}
}

func TestAFileSeenForTheFirstTimeSettlesInTwoLooks(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{"a":1}`)
		expect(t, w, w.store(), "state.json", []any{
			"unsettled", short - time.Millisecond, "unsettled", 2 * time.Millisecond, `{"a":1}`, `{"a":1}`,
		})
	})
}

func TestAFileThatIsOldWhenFirstSeenIsSettledAtOnce(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{"a":1}`)
		w.put(in("requests/r/form.md"), "text")
		w.later(time.Second + 100*time.Millisecond)
		s := w.store()
		expect(t, w, s, "state.json", []any{`{"a":1}`})
		expect(t, w, s, "requests/r/form.md", []any{"text"})
	})
}

func TestAFileOfTheFutureIsNeverOld(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		w.later(-time.Hour)
		expect(t, w, w.store(), "state.json", []any{"unsettled", short, `{}`})
	})
}

func TestJSONUnderANewInodeIsUsedAsSoonAsItParses(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		s := w.store()
		load(t, s)
		s.Watching()
		name := "requests/r/response.json"
		expect(t, w, s, name, []any{
			"absent",
			func() { w.put(in(name), `{"response":`) }, "unsettled",
			func() { w.rewrite(in(name), `{"response":"approve"`) }, time.Millisecond, "unsettled",
			func() { w.rewrite(in(name), `{"response":"approve"}`) }, time.Millisecond, `{"response":"approve"}`,
			// The file was complete once: from here on it must settle like
			// any other.
			func() { w.rewrite(in(name), `{"response":"reject"}`) }, time.Millisecond, "unsettled", short, `{"response":"reject"}`,
			func() { w.put(in(name), `{"response":"again"}`) }, `{"response":"again"}`,
			func() { w.delete(in(name)) }, "absent",
			func() { w.put(in(name), `{"response":"new"}`) }, `{"response":"new"}`,
		})
	})
}

func TestBeforeWatchingNoInodeIsNew(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		s := w.store()
		load(t, s)
		expect(t, w, s, "metadata.json", []any{
			func() { w.put(in("metadata.json"), `{}`) }, "unsettled", short, `{}`,
			func() { w.put(in("metadata.json"), `{"b":1}`) }, "unsettled", short, `{"b":1}`,
		})
	})
}

func TestARunThatAppearsUnderARunningPlacetIsAllNew(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		s.Watching()
		w.put(in("state.json"), `{}`)
		w.put(in("requests/r/form.md"), "text")
		expect(t, w, s, "state.json", []any{`{}`})
		expect(t, w, s, "requests/r/form.md", []any{"unsettled", short, "text"})
	})
}

func TestARunWhoseStateAloneWasReadIsNotNew(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		s := w.store()
		s.Read(aRun().State, layout.File{Kind: engine.KindState})
		s.Watching()
		w.put(in("cancel.json"), `{}`)
		expect(t, w, s, "cancel.json", []any{"unsettled", short, `{}`})
	})
}

func TestAForgottenRunIsSeenForTheFirstTime(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		s := w.store()
		load(t, s)
		s.Watching()
		s.Forget(aRun())
		w.put(in("cancel.json"), `{}`)
		expect(t, w, s, "cancel.json", []any{"unsettled", short, `{}`})
	})
}

func TestOnlyAnObjectIsWholeJSON(t *testing.T) {
	for _, body := range []string{``, ` `, `[]`, `"x"`, `12`, "\xef\xbb\xbf{}", `{} {}`, `{"a":1`, "{}\x00", "<<<<<<< a\n{}"} {
		w := inMemory()
		w.put(in("state.json"), `{}`)
		s := w.store()
		load(t, s)
		s.Watching()
		w.put(in("cancel.json"), body)
		expect(t, w, s, "cancel.json", []any{"unsettled", short, body})
	}
	w := inMemory()
	w.put(in("state.json"), `{}`)
	s := w.store()
	load(t, s)
	s.Watching()
	w.put(in("cancel.json"), " \r\n\t{}\n ")
	expect(t, w, s, "cancel.json", []any{" \n\t{}\n "}) // its line ends do not count
}

func TestTextUnderANewInodeMustStandStill(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		s := w.store()
		load(t, s)
		s.Watching()
		name := "requests/r/form.md"
		expect(t, w, s, name, []any{
			func() { w.put(in(name), "one") }, "unsettled", short / 2, "unsettled",
			func() { w.rewrite(in(name), "two!") }, short / 2, "unsettled", short / 2, "unsettled", short / 2, "two!",
		})
	})
}

func TestAWriterInPlaceIsNeverSeenHalfWay(t *testing.T) {
	w := inMemory()
	whole := `{"response":"approve","comment":"` + strings.Repeat("x", 300) + `"}`
	w.put(in("state.json"), `{}`)
	w.put(in("requests/r/response.json"), `{"response":"reject"}`)
	s := w.store()
	load(t, s)
	s.Watching()
	w.later(long)
	load(t, s)
	for end := 0; end < len(whole); end += 7 { // 23 bytes in 20 ms, for ever
		w.rewrite(in("requests/r/response.json"), whole[:end])
		w.later(20 * time.Millisecond)
		if got := stands(t, s, "requests/r/response.json"); got != "unsettled" {
			t.Fatalf("after %d bytes: %q", end, got)
		}
	}
	w.rewrite(in("requests/r/response.json"), whole)
	expect(t, w, s, "requests/r/response.json", []any{time.Millisecond, "unsettled", short, whole})
}

func TestAChangeInOneTickOfTheClockIsSeen(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), `{"a":1}`)
	s := w.store()
	load(t, s)
	w.later(short)
	expect(t, w, s, "state.json", []any{`{"a":1}`})
	// The new content has the same size, and comes so soon that the times are
	// the same.
	w.rewrite(in("state.json"), `{"a":2}`)
	load(t, s)
	w.rewrite(in("state.json"), `{"a":3}`)
	expect(t, w, s, "state.json", []any{"unsettled", short, `{"a":3}`})
}

func TestAChangeInOneTickOfTheClockIsSeenInWhatHasSettled(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), `{}`)
	s := w.store()
	load(t, s)
	s.Watching()
	w.put(in("cancel.json"), `{"a":1}`)
	w.put(in("requests/r/receipt.json"), `{"a":1}`)
	expect(t, w, s, "cancel.json", []any{
		`{"a":1}`, func() { w.rewrite(in("cancel.json"), `{"a":2}`) }, "unsettled", short, `{"a":2}`,
	})
	w.put(in("requests/r/receipt.json"), `{"a":1}`)
	expect(t, w, s, "requests/r/receipt.json", []any{
		`{"a":1}`, func() { w.rewrite(in("requests/r/receipt.json"), `{"a":2}`) }, `{"a":2}`,
	})
}

func TestAnUnchangedFileIsNotReadAgain(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), `{}`)
	w.put(in("events/001-step_start.json"), `{}`)
	w.later(time.Hour)
	s := w.store()
	load(t, s)
	reads := 0
	w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
		if c.Op == "read" || c.Op == "open" {
			reads++
		}
		return nil
	})
	load(t, s)
	if reads != 0 {
		t.Errorf("%d reads", reads)
	}
	w.put(in("state.json"), `{"b":1}`)
	load(t, s)
	if reads != 2 {
		t.Errorf("%d calls for one changed file", reads)
	}
}

func TestTheClockGoingBackMakesNothingSettled(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), `{}`)
	s := w.store()
	expect(t, w, s, "state.json", []any{"unsettled", -time.Hour, "unsettled", short, `{}`, -time.Hour, `{}`})
}

func TestDocumentsOfPlacetAloneNeedNotSettle(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json.problem.md"), "note")
		w.put(in("requests/r/receipt.json"), `{`)
		w.put(in("events/.next-id"), "7\n")
		s := w.store()
		expect(t, w, s, "state.json.problem.md", []any{"note"})
		expect(t, w, s, "requests/r/receipt.json", []any{"{"})
		expect(t, w, s, "events/.next-id", []any{"7\n"})
	})
}

func TestWhatPlacetWroteIsSettledAtOnce(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		form := newDoc("requests/r/form.md", "form")
		if err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc(`{"r":1}`, ""), form}}); err != nil {
			t.Fatal(err)
		}
		expect(t, w, s, "requests/r/form.md", []any{"form", "form", long, "form"})
		expect(t, w, s, "state.json", []any{`{"r":1}`})
		// The form counts at once until somebody else writes it, in place
		// even within the same tick.
		w.rewrite(in("requests/r/form.md"), "FORM")
		expect(t, w, s, "requests/r/form.md", []any{"unsettled", short, "FORM"})
	})
}

func TestAgainIsTheEarliestMomentAtWhichSomethingSettles(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), `{}`)
	w.put("specs/a.md", "one")
	s := w.store()
	start := w.clock.now()
	if l := load(t, s, "still:specs/a.md"); !l.Again.Equal(start.Add(short)) {
		t.Errorf("got %v after the start", l.Again.Sub(start))
	}
	w.later(short)
	if l := load(t, s, "still:specs/a.md"); !l.Again.Equal(start.Add(long)) {
		t.Errorf("got %v after the start", l.Again.Sub(start))
	}
	w.later(long)
	if l := load(t, s, "still:specs/a.md"); !l.Again.IsZero() {
		t.Errorf("got %v", l.Again)
	}
}

func TestAFileThatChangesWhileItIsReadIsUnsettled(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	w.put(in("state.json"), `{"a":1}`)
	w.later(time.Hour)
	for _, change := range []func(){
		func() { m.Rewrite(in("state.json"), `{"a":1}{"a":1}`) },
		func() { m.Rewrite(in("state.json"), `{"`) },
		func() { m.Rewrite(in("state.json"), `{"a":2}`) },
	} {
		m.Rewrite(in("state.json"), `{"a":1}`)
		w.later(time.Hour) // so old that it would be settled at once
		m.Hook(func(c memfs.Call) error {
			if c.Op == "read" {
				change()
			}
			return nil
		})
		if got := stands(t, w.store(), "state.json"); got != "unsettled" {
			t.Errorf("got %q", got)
		}
		m.Hook(nil)
	}
}

func TestAFileThatGoesWhileItIsReadIsAbsent(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	w.put(in("state.json"), `{}`)
	s := w.store()
	m.Hook(func(c memfs.Call) error {
		if c.Op == "open" {
			m.Delete(in("state.json"))
		}
		return nil
	})
	if got := stands(t, s, "state.json"); got != "absent" {
		t.Errorf("got %q", got)
	}
}

func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		odd  func(w world)
		want string
	}{
		"FIFO":    {func(w world) { w.odd(in("state.json"), fs.ModeNamedPipe) }, "is a FIFO; expected a regular file"},
		"link":    {func(w world) { w.odd(in("state.json"), fs.ModeSymlink) }, "is a symbolic link; expected a regular file"},
		"socket":  {func(w world) { w.odd(in("state.json"), fs.ModeSocket) }, "is a socket; expected a regular file"},
		"folder":  {func(w world) { w.dir(in("state.json")) }, "is a folder; expected a regular file"},
		"too big": {func(w world) { w.put(in("state.json"), strings.Repeat("x", 16<<20+1)) }, "16777217 bytes are too many; expected at most 16777216"},
	} {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				c.odd(w)
				s := w.store()
				for range 2 {
					l := load(t, s)
					d := doc(l, "state.json")
					if d.Err == nil || d.Absent() || d.Unsettled() || !strings.Contains(d.Err.Error(), c.want) || !strings.Contains(d.Err.Error(), "state.json") {
						t.Errorf("got %v", d.Err)
					}
					if d.Kind != engine.KindState || d.Body != nil || d.Sum != "" {
						t.Errorf("got %+v", d)
					}
				}
				if d := s.Read(aRun().State, layout.File{Kind: engine.KindState, Limit: layout.LimitState}); d.Err == nil || d.Absent() {
					t.Errorf("Read: %v", d.Err)
				}
			})
		})
	}
}

func TestErrorsOfReadingAreNeverAbsence(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EIO, syscall.ELOOP} {
		w := inMemory()
		w.put(in("state.json"), `{}`)
		w.later(time.Hour)
		s := w.store()
		w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
			if c.Op == "open" {
				return errno
			}
			return nil
		})
		d := doc(load(t, s), "state.json")
		if !errors.Is(d.Err, errno) || d.Absent() || d.Unsettled() {
			t.Errorf("%v: got %v", errno, d.Err)
		}
		w.fs.(*memfs.FS).Hook(nil)
		if d := doc(load(t, s), "state.json"); d.Err != nil && !d.Unsettled() {
			t.Errorf("afterwards: %v", d.Err)
		}
	}
}

func TestBeingShortOfDescriptorsSaysNothingAboutAFile(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		w := inMemory()
		w.put(in("state.json"), `{}`)
		w.put("a.md", "x")
		w.later(time.Hour)
		for _, short := range []string{aRun().State, "a.md"} {
			s := w.store()
			w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
				if c.Op == "open" && c.Name == short {
					return errno
				}
				return nil
			})
			if _, err := s.Load(aRun(), layout.Faber{}, []string{"a.md"}); !errors.Is(err, errno) || !strings.Contains(err.Error(), short) {
				t.Errorf("%s: got %v", short, err)
			}
			w.fs.(*memfs.FS).Hook(nil)
			expect(t, w, s, "state.json", []any{"{}"})
		}
	}
}

func TestAFileThatBecomesRegularIsUnderANewInode(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), `{}`)
		w.dir(in("cancel.json"))
		s := w.store()
		load(t, s)
		s.Watching()
		w.delete(in("cancel.json"))
		load(t, s)
		w.put(in("cancel.json"), `{}`)
		expect(t, w, s, "cancel.json", []any{`{}`})
	})
}

func TestAFileSystemWithoutAClockSettlesByLooking(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), `{}`)
	w.later(time.Hour)
	w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
		if c.Op == "touch" || c.Op == "mkdir" {
			return syscall.EROFS
		}
		return nil
	})
	expect(t, w, w.store(), "state.json", []any{"unsettled", short, `{}`})
}
