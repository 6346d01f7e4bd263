package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// spy notifies a test of every step.
type spy struct {
	toyMachine
	on func(engine.Snapshot)
}

func (s spy) Step(snap engine.Snapshot) (engine.Plan, error) {
	s.on(snap)
	return s.toyMachine.Step(snap)
}

// spying replaces the toy machine by a spy.
func spying(on func(engine.Snapshot)) func(*Options) {
	return func(o *Options) { o.Families = []Family{{toyLayout{}, spy{on: on}}} }
}

func (w *world) once() Report {
	w.t.Helper()
	r, err := w.Once(w.t.Context())
	if err != nil {
		w.t.Fatalf("once: %v\n%s", err, w.log)
	}
	return r
}

func (w *world) wantReport(want Report) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.once(), cmpopts.EquateEmpty()); diff != "" {
		w.t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestOnceSettlesWhatIsThereAndThenNothingMore(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Target: 3})
	w.toy("g1/b", toyState{Target: 1})
	w.toy("locked", toyState{})
	w.wantReport(Report{Runs: 3, Waiting: 3, Moved: 7})
	events := slices.Sorted(slices.Values(w.movedEvents()))
	if diff := cmp.Diff([]string{"a asked", "a counted", "a counted", "a counted", "g1/b asked", "g1/b counted", "locked asked"}, events); diff != "" {
		t.Error(diff)
	}
	before := w.tree()
	w.wantReport(Report{Runs: 3, Waiting: 3})
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Errorf("a second Once changed the tree:\n%s", diff)
	}
	w.answer("a", "yes")
	w.wantReport(Report{Runs: 3, Waiting: 2, Moved: 1})
	if st := w.state("a"); st.Status != "over" || st.Answer != "yes" {
		t.Errorf("a: %+v", st)
	}
	w.wantReport(Report{Runs: 3, Waiting: 2})
}

func TestOnceReadsOnlyTheStateDocumentOfFinalRuns(t *testing.T) {
	var mu sync.Mutex
	var stepped []string
	w := newWorld(t, spying(func(s engine.Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		stepped = append(stepped, s.Key.ID)
	}))
	w.toy("a", toyState{Status: "over"})
	w.toy("b", toyState{Status: "waiting"})
	w.once() // the documents are young, so a closer look may be needed
	stepped = nil
	w.once()
	if slices.Contains(stepped, "a") || !slices.Contains(stepped, "b") {
		t.Errorf("stepped: %q", stepped)
	}
}

func TestOnceNamesTheEarliestWakeAndDoesNotWaitForIt(t *testing.T) {
	w := newWorld(t)
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	w.toy("a", toyState{Deadline: soon.Add(time.Hour)})
	w.toy("b", toyState{Deadline: soon})
	w.toy("c", toyState{})
	w.wantReport(Report{Runs: 3, Waiting: 3, Moved: 3, Wake: soon})
}

func TestOnceReportsNotes(t *testing.T) {
	w := newWorld(t)
	w.put("toys/a/state.json", "{\"status\": 7}")
	w.toy("b", toyState{})
	w.wantReport(Report{Runs: 2, Waiting: 1, Moved: 1, Notes: []string{"toys/a/state.json.problem.md"}})
	w.toy("a", toyState{})
	w.wantReport(Report{Runs: 2, Waiting: 2, Moved: 1})
}

func TestOnceDuringAGitHoldDecidesNothingAndSaysHowThingsStand(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Status: "waiting"})
	w.toy("b", toyState{Target: 2})
	w.put(".git/MERGE_HEAD", "0\n")
	before := w.tree()
	r := w.once()
	if r.Held == "" || r.Runs != 2 || r.Moved != 0 {
		t.Errorf("report: %+v", r)
	}
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
	if err := os.Remove(w.abs(".git/MERGE_HEAD")); err != nil {
		t.Fatal(err)
	}
	w.wantReport(Report{Runs: 2, Waiting: 2, Moved: 3})
}

func TestMachineThatGoesInCirclesIsStuckAndTheOthersGoOn(t *testing.T) {
	for _, quirk := range []string{"loop", "scribble", "sway"} {
		t.Run(quirk, func(t *testing.T) {
			w := newWorld(t)
			w.toy("a", toyState{Quirk: quirk})
			w.toy("b", toyState{Target: 1})
			r := w.once()
			if !slices.Equal(r.Stuck, []string{"toy/a"}) || r.Waiting != 1 {
				t.Errorf("report: %+v", r)
			}
			if quirk == "loop" && (r.Moved != maxSteps+2 || w.state("a").Count != maxSteps) {
				t.Errorf("%d transitions, count %d; want %d steps of the one that is stuck", r.Moved, w.state("a").Count, maxSteps)
			}
		})
	}
}

func TestMachineThatMovesManyPartsIsNotStuck(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Quirk: "march", Target: 2 * maxSteps})
	if r := w.once(); len(r.Stuck) > 0 || r.Moved != 2*maxSteps {
		t.Errorf("report: %+v", r)
	}
}

func TestPlanThatMayNotBeCarriedOutIsRefused(t *testing.T) {
	words := map[string]string{
		"illegal": `run "revived" from "over" to "counting" is no row of its table`,
		"panic":   "panicked (a bug): toy",
		"error":   "the toy is broken",
		"needy":   "still needs",
	}
	for quirk, want := range words {
		t.Run(quirk, func(t *testing.T) {
			w := newWorld(t)
			w.toy("a", toyState{Quirk: quirk})
			w.toy("b", toyState{Target: 1})
			before := w.read("toys/a/state.json")
			r, err := w.Once(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "toy/a") {
				t.Errorf("error %v, want one that names the run and says %q", err, want)
			}
			if w.read("toys/a/state.json") != before {
				t.Error("the run was moved")
			}
			if r.Waiting != 1 || w.state("b").Status != "waiting" {
				t.Errorf("the other run did not go on: %+v", r)
			}
		})
	}
}

func TestOnceAddsWhatAPlanNeeds(t *testing.T) {
	w := newWorld(t)
	w.put("specs/x.txt", "v1")
	w.toy("a", toyState{Need: "specs/x.txt"})
	w.toy("b", toyState{Need: "specs/none.txt"})
	w.wantReport(Report{Runs: 2, Waiting: 2, Moved: 3})
	if got := w.state("a").Seen; got != "v1" {
		t.Errorf("seen: %q", got)
	}
}

func TestGitNeedsAreLookedUpOncePerPass(t *testing.T) {
	looked := 0
	w := newWorld(t, func(o *Options) {
		o.Lookup = func(need string) engine.Document {
			looked++
			return engine.Document{Path: need, Body: []byte("log of " + need)}
		}
	})
	w.toy("a", toyState{Target: 2, Need: "git:log/1"})
	w.once()
	// Something moved, so a run with needs has a second pass.
	if got := w.state("a").Seen; got != "log of git:log/1" || looked != 2 {
		t.Errorf("seen %q after %d look-ups, want one for each of two passes", got, looked)
	}
	plain := newWorld(t)
	plain.toy("a", toyState{Need: "git:log/1"})
	if plain.once(); plain.state("a").Status != "waiting" {
		t.Error("a run does not go on where nobody can look a need up")
	}
}

func TestActionBeginsAfterItsCommitAndOncePerProcess(t *testing.T) {
	var w *world
	var at []string
	w = newWorld(t, func(o *Options) {
		o.Begin = func(a engine.Action) { at = append(at, a.ID+" while "+w.state("a").Status) }
	})
	w.toy("a", toyState{Act: "act-1"})
	w.once()
	w.once()
	if diff := cmp.Diff([]string{"act-1 while waiting"}, at); diff != "" {
		t.Error(diff)
	}
}

func TestAnActionIsAskedToEndAfterTheCommitAndOncePerProcess(t *testing.T) {
	var w *world
	var at []string
	alive := map[string]bool{"act-1": true, "act-2": true, "act-3": true}
	w = newWorld(t, func(o *Options) {
		o.Facts = func(string) engine.Environment { return engine.Environment{Alive: alive} }
		o.Begin = func(a engine.Action) { at = append(at, "begin "+a.ID) }
		o.End = func(id string) { at = append(at, "end "+id+" while "+w.state("a").Status) }
	})
	w.toy("a", toyState{Act: "act-1", End: "act-2"})
	if r := w.once(); len(r.Stuck) > 0 {
		t.Fatalf("stuck: %q", r.Stuck)
	}
	w.once() // it is still alive, but is not asked to end again
	if diff := cmp.Diff([]string{"end act-2 while waiting", "begin act-1"}, at); diff != "" {
		t.Error(diff)
	}

	// A plan with nothing else is carried out too.
	at = nil
	w.toy("a", toyState{Status: "waiting", End: "act-3"})
	w.once()
	w.once()
	if diff := cmp.Diff([]string{"end act-3 while waiting"}, at); diff != "" {
		t.Error(diff)
	}

	// Without a function End, nothing goes in circles.
	deaf := newWorld(t, func(o *Options) {
		o.Facts = func(string) engine.Environment { return engine.Environment{Alive: alive} }
	})
	deaf.toy("a", toyState{End: "act-2"})
	if r := deaf.once(); len(r.Stuck) > 0 || deaf.state("a").Status != "waiting" {
		t.Errorf("stuck %q, status %q", r.Stuck, deaf.state("a").Status)
	}
}

func TestSnapshotWritesNothingAndResolvesNeeds(t *testing.T) {
	w := newWorld(t)
	w.put("specs/x.txt", "v1")
	w.toy("a", toyState{Need: "specs/x.txt", Target: 4})
	w.once()
	w.put("specs/x.txt", "v2")
	before := w.tree()
	found, err := w.Runs()
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	snap, _, err := w.Snapshot(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(snap.Needs, []string{"specs/x.txt"}) || snap.Doc("specs/x.txt").Absent() {
		t.Errorf("the snapshot lacks what was needed: %q", snap.Needs)
	}
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Errorf("something was written:\n%s", diff)
	}
	if p := w.Summarize(found[0]); !p.Waiting || p.Final {
		t.Errorf("peek: %+v", p)
	}
}

// An action that ends between reading the facts and reading the documents has its outcome
// document.
func TestFactsAreReadBeforeTheDocuments(t *testing.T) {
	var w *world
	var early []string
	w = newWorld(t, func(o *Options) {
		o.Workers = 1
		o.Facts = func(string) engine.Environment {
			if w.read("toys/a/requests/q/response.json") == "" {
				w.answer("a", "ended")
			}
			return engine.Environment{}
		}
	}, spying(func(s engine.Snapshot) {
		if s.In("requests/q/response.json").Absent() {
			early = append(early, s.Key.ID)
		}
	}))
	w.toy("a", toyState{Status: "waiting"})
	w.once()
	if early != nil {
		t.Error("the documents are older than the facts")
	}
	if got := w.state("a").Answer; got != "ended" {
		t.Errorf("answer %q", got)
	}
}

func TestFolderThatCannotBeListedHidesOnlyItself(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{})
	w.toy("g1/b", toyState{})
	l := &walk{list: func(dir string) ([]layout.Entry, error) {
		if dir == "toys/g1" {
			return nil, os.ErrPermission
		}
		return w.o.Store.List(dir)
	}}
	found := w.walk(l)
	if len(found) != 1 || found[0].Key().String() != "toy/a" {
		t.Errorf("found: %v", found)
	}
	if err := l.err(); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "toys/g1") {
		t.Errorf("error: %v", err)
	}
	if !l.hides("toys/g1/b/state.json") || l.hides("toys/a/state.json") {
		t.Error("what may be hidden is not told from what is not")
	}
}

func TestOneWorkerAndEightEndInTheSameTree(t *testing.T) {
	var trees []map[string]string
	for _, workers := range []int{1, 8} {
		w := newWorld(t, func(o *Options) { o.Workers = workers })
		for i := range 24 {
			id := fmt.Sprintf("a%d", i)
			w.toy(id, toyState{Target: i % 5, Need: "specs/x.txt"})
			w.answer(id, fmt.Sprintf("answer %d", i))
		}
		w.put("specs/x.txt", "v1")
		w.once()
		trees = append(trees, w.tree())
	}
	if diff := cmp.Diff(trees[0], trees[1]); diff != "" {
		t.Errorf("one worker and eight disagree:\n%s", diff)
	}
}

// Once gives up a file that is written all the time after two seconds, and names it.
func TestOnceWaitsTwoSecondsForAFileAndNamesIt(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{Status: "waiting"})
		w.put("toys/a/requests/q/request.json", "{}\n")
		w.once()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := 0; pause(ctx, 30*time.Millisecond) == nil; i++ {
				if err := os.WriteFile(w.abs("toys/a/requests/q/response.json"), []byte(fmt.Sprintf("{\"response\": \"%d", i)), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
		time.Sleep(40 * time.Millisecond)
		began := time.Now()
		r := w.once()
		took := time.Since(began)
		cancel()
		wg.Wait()
		if !slices.Equal(r.Unsettled, []string{"toys/a/requests/q/response.json"}) {
			t.Errorf("unsettled: %q", r.Unsettled)
		}
		if took < settleWait || took > settleWait+time.Second {
			t.Errorf("waited %v", took)
		}
		if w.state("a").Status != "waiting" {
			t.Error("half an answer moved the run")
		}
	})
}

func TestOnceEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Target: 3})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Once(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	if w.state("a").Count != 0 {
		t.Error("the run was moved")
	}
}

func TestVanishedFamilyRootIsNoError(t *testing.T) {
	newWorld(t).wantReport(Report{})
}

func TestOnceWaitsAsItIsTold(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	m := memfs.New(now)
	m.Put("toys/a/state.json", `{"status":"new"}`)
	var waited time.Duration
	l := New(Options{
		Store: store.New(m, store.Options{Now: now}), Families: []Family{{Layout: toyLayout{}, Machine: toyMachine{}}}, Now: now,
		Pause: func(_ context.Context, d time.Duration) error {
			waited += d
			at = at.Add(d)
			return nil
		},
	})
	if _, err := l.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if waited < 100*time.Millisecond {
		t.Errorf("waited %v by the clock that it was given", waited)
	}
}

// A file that is read and may be half written is named as torn; one that counts unless its writer
// goes on is not.
func TestWhatCountsIsNotTorn(t *testing.T) {
	var r Report
	r.add(Found{Family: Family{Machine: &toyMachine{}}}, &pass{last: look{plan: engine.Plan{Pending: []engine.PendingFile{{Path: "a", Counts: true}, {Path: "b"}}}}}, false)
	if diff := cmp.Diff([]string{"b a"}, []string{strings.Join(append(r.Torn, r.Settling...), " ")}); diff != "" {
		t.Error(diff)
	}
}
