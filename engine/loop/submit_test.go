package loop

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/engine/watch"
	"placet/internal/await"
	"placet/layout"
)

const submittedPath = "toys/a/requests/q/response.json"

// yes is an answer as a surface submits it.
func yes() engine.Document {
	return engine.Document{Path: submittedPath, Kind: layout.KindResponse, Body: []byte("{\"response\": \"yes\"}\n")}
}

func admit(engine.Snapshot, engine.Plan) error { return nil }

// waitingToy is a world whose counter a waits for its answer.
func waitingToy(t *testing.T, change ...func(*Options)) (*world, Found) {
	w := newWorld(t, change...)
	w.toy("a", toyState{Status: "waiting"})
	w.put("toys/a/requests/q/request.json", "{}\n")
	return w, Found{toyRun("a"), Family{toyLayout{}, toyMachine{}}}
}

func (w *world) submit(f Found, judge func(engine.Snapshot, engine.Plan) error) error {
	return w.Submit(await.Context(w.t), f, yes(), judge)
}

func TestASubmittedAnswerIsWrittenAndCarriedOutInOneCommit(t *testing.T) {
	var commits [][]string
	w, f := waitingToy(t, func(o *Options) {
		o.Observers = append(o.Observers, Observer{Committed: func(_ layout.Run, p engine.Plan, _ time.Duration) {
			var names []string
			for _, d := range p.Writes {
				names = append(names, d.Path)
			}
			commits = append(commits, names)
		}})
	})
	w.serve(deaf) // no event tells of the answer
	var judged engine.Plan
	err := w.submit(f, func(s engine.Snapshot, p engine.Plan) error {
		judged = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if st := w.state("a"); st.Status != "over" || st.Answer != "yes" || w.read(submittedPath) != string(yes().Body) {
		t.Errorf("when Submit returns, the state is %+v and the answer %q", st, w.read(submittedPath))
	}
	if len(judged.Transitions) != 1 {
		t.Errorf("judged was %+v", judged)
	}
	if len(commits) != 1 || len(commits[0]) != 3 || commits[0][0] != submittedPath {
		t.Errorf("commits: %q", commits)
	}
}

func TestARefusedSubmissionIsNotWritten(t *testing.T) {
	w, f := waitingToy(t)
	w.serve(watch.Notify)
	why := errors.New("it cannot count")
	if err := w.submit(f, func(engine.Snapshot, engine.Plan) error { return why }); err != why {
		t.Errorf("refused with %v", err)
	}
	if st := w.state("a"); st.Status != "waiting" || w.read(submittedPath) != "" {
		t.Errorf("the state is %+v, the answer %q", st, w.read(submittedPath))
	}
	w.answer("a", "no")
	w.becomes("a", "over")
}

func TestASubmissionNeverReplacesAFile(t *testing.T) {
	w, f := waitingToy(t)
	w.put(submittedPath, "{}\n")
	w.serve(watch.Notify)
	if err := w.submit(f, admit); !errors.Is(err, store.ErrConflict) {
		t.Errorf("submitted over another answer: %v", err)
	}
	if got := w.read(submittedPath); got != "{}\n" {
		t.Errorf("the answer in place is now %q", got)
	}
}

// A submission is given back at once where no pass can take it: its author writes it as an editor would.
func TestASubmissionIsGivenBackWhereNoPassTakesIt(t *testing.T) {
	w, f := waitingToy(t)
	w.put(".git/HEAD", "ref: refs/heads/main\n")
	if err := w.submit(f, admit); err != ErrNotSubmitted {
		t.Errorf("nobody watches: %v", err)
	}
	w.toy("broken", toyState{Quirk: "error"})
	w.serve(watch.Notify)
	w.put(".git/MERGE_HEAD", "0123\n")
	if err := w.submit(f, admit); err != ErrNotSubmitted || w.read(submittedPath) != "" {
		t.Errorf("git rewrites the tree: %v", err)
	}
	if err := os.Remove(w.abs(".git/MERGE_HEAD")); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"a run that an error holds up": "broken", "an unknown run": "none"} {
		if err := w.submit(Found{toyRun(id), f.Family}, admit); err != ErrNotSubmitted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A person who no longer waits gets the submission back, and then nobody else writes it.
func TestASubmissionThatWaitsForALockIsTakenBack(t *testing.T) {
	w, _ := waitingToy(t)
	f := Found{toyRun("locked-a"), Family{toyLayout{}, toyMachine{}}}
	w.toy("locked-a", toyState{Status: "waiting"})
	w.put("toys/locked-a/requests/q/request.json", "{}\n")
	doc := yes()
	doc.Path = "toys/locked-a/requests/q/response.json"
	lock, err := os.OpenFile(w.abs("toys/locked-a/state.json.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	w.serve(watch.Notify)
	ctx, leave := context.WithCancel(await.Context(t))
	err = w.Submit(ctx, f, doc, func(engine.Snapshot, engine.Plan) error { leave(); return nil })
	if err != ErrNotSubmitted {
		t.Errorf("taken back: %v", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	w.answer("locked-a", "no")
	w.becomes("locked-a", "over")
	if st := w.state("locked-a"); st.Answer != "no" {
		t.Errorf("the answer that was taken back counted: %+v", st)
	}
}

// Wherever placet dies or the power fails, the next placet finds all of a submitted answer and its
// effect, or decides anew; once the person was told that it counts, both are there.
func TestNoCrashLosesASubmittedAnswer(t *testing.T) {
	for _, when := range []memfs.When{memfs.Before, memfs.After, memfs.Torn} {
		for k := 1; ; k++ {
			m := memfs.New(func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 8_000_000, time.UTC) })
			m.Put("toys/a/state.json", string(encode(toyState{Status: "waiting"})))
			m.Put("toys/a/requests/q/request.json", "{}\n")
			m.CrashAtChange(k, when)
			told := submitTo(t, toyLoop(m))
			for name, left := range map[string]*memfs.FS{"killed": m.KillClone(), "power cut": m.CrashClone(0), "partly": m.CrashClone(uint64(k))} {
				_, written := left.Get(submittedPath)
				if _, err := toyLoop(left).Once(t.Context()); err != nil {
					t.Fatalf("%s at change %d: %v", name, k, err)
				}
				state, _ := left.Get("toys/a/state.json")
				over := state == string(encode(toyState{Status: "over", Answer: "yes"}))
				if (written || told) && !over || told && !written {
					t.Fatalf("%s at change %d (%v): told %v, written %v, and the state is %s", name, k, when, told, written, state)
				}
			}
			if !m.Crashed() {
				if !told || k < 6 {
					t.Errorf("told %v after %d changes", told, k)
				}
				break
			}
		}
	}
}

// toyLoop returns a loop over toys on a disk in memory.
func toyLoop(m *memfs.FS) *Loop {
	l := shelfLoop(m)
	o := l.o
	o.Families = []Family{{toyLayout{}, toyMachine{}}}
	return New(o)
}

// submitTo gives run a one pass with a submission, and reports whether its author was told that it
// is durable.
func submitTo(t *testing.T, l *Loop) (told bool) {
	s := newSession(l, nil, nil)
	s.working.acquire()
	lv := s.registry.newActive(Found{toyRun("a"), l.o.Families[0]})
	s.registry.add(lv.knownRun)
	g := &submission{doc: yes(), judge: admit, ended: make(chan error, 1)}
	if !s.registry.submit(lv.state, g) {
		t.Fatal("the run takes no submission")
	}
	s.newPass(lv).run(t.Context())
	s.returnSubmissions(lv)
	return <-g.ended == nil
}
