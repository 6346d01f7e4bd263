package loop

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store/fs"
)

func take(t *testing.T, d *workqueue) string {
	t.Helper()
	run, ok := d.take()
	if !ok {
		t.Fatal("the set is closed")
	}
	return run
}

func TestDirtyRunComesOnceInTheOrderOfMarking(t *testing.T) {
	d := newWorkqueue()
	for _, run := range []string{"b", "a", "b", "c", "a"} {
		d.mark(run)
	}
	var got []string
	for range 3 {
		got = append(got, take(t, d))
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunMarkedWhileItIsLookedAtComesAgainAfterwards(t *testing.T) {
	d := newWorkqueue()
	d.mark("a")
	take(t, d)
	if d.marked("a") {
		t.Error("marked since, with nothing marked")
	}
	d.mark("a")
	d.mark("a")
	d.mark("b")
	if got := take(t, d); got != "b" {
		t.Errorf("%q is looked at twice at a time", got)
	}
	if !d.marked("a") {
		t.Error("the mark is not seen")
	}
	d.finish("a")
	d.finish("b")
	if got := take(t, d); got != "a" {
		t.Errorf("got %q, want the run that was marked meanwhile", got)
	}
	d.finish("a")
	if len(d.queue) != 0 || len(d.in) != 0 {
		t.Errorf("left in the set: %q, %v", d.queue, d.in)
	}
}

func TestFortyThousandMarksCollapseIntoASet(t *testing.T) {
	d := newWorkqueue()
	for i := range 40_000 {
		d.mark(fmt.Sprintf("run-%d", i%100))
	}
	if len(d.queue) != 100 || len(d.in) != 100 {
		t.Errorf("%d queued and %d known, want 100", len(d.queue), len(d.in))
	}
}

func TestTakeWaitsAndEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newWorkqueue()
		var got []string
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for {
					run, ok := d.take()
					if !ok {
						return
					}
					mu.Lock()
					got = append(got, run)
					mu.Unlock()
					d.finish(run)
				}
			})
		}
		synctest.Wait()
		d.mark("a")
		synctest.Wait()
		d.close()
		d.mark("late")
		wg.Wait()
		if diff := cmp.Diff([]string{"a"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func seconds(s int) time.Duration { return time.Duration(s) * time.Second }

func at(s int) time.Time { return time.Unix(int64(s), 0) }

func TestTimerOnlyMovesEarlier(t *testing.T) {
	tm := newTimers()
	tm.set("a", at(10))
	tm.set("a", at(20))
	tm.set("a", time.Time{})
	if next, _ := tm.next(); !next.Equal(at(10)) {
		t.Errorf("next %v, want the earlier", next)
	}
	tm.set("a", at(5))
	if next, _ := tm.next(); !next.Equal(at(5)) {
		t.Errorf("next %v, want 5", next)
	}
	tm.drop("a")
	tm.drop("a")
	if _, ok := tm.next(); ok {
		t.Error("a dropped timer is there")
	}
}

func TestTimersPassInOrder(t *testing.T) {
	tm := newTimers()
	want := map[string]int{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		run, s := fmt.Sprint(i%200), r.IntN(1000)
		tm.set(run, at(s))
		if old, ok := want[run]; !ok || s < old {
			want[run] = s
		}
		if i%7 == 0 {
			tm.drop(run)
			delete(want, run)
		}
	}
	for s := range 1000 {
		var due []string
		for run, when := range want {
			if when == s {
				due = append(due, run)
			}
		}
		got := tm.due(at(s))
		slices.Sort(due)
		slices.Sort(got)
		if diff := cmp.Diff(due, got); diff != "" {
			t.Fatalf("second %d: %s", s, diff)
		}
	}
	if len(tm.heap) != 0 || len(tm.at) != 0 {
		t.Errorf("left: %v", tm.heap)
	}
}

func TestTimersTellOfAnEarlierMoment(t *testing.T) {
	tm := newTimers()
	told := func() bool {
		select {
		case <-tm.earlier:
			return true
		default:
			return false
		}
	}
	tm.set("a", at(10))
	if !told() {
		t.Error("the first moment is not told")
	}
	tm.set("b", at(20))
	if told() {
		t.Error("a later moment is told")
	}
	tm.set("b", at(5))
	if !told() {
		t.Error("an earlier moment is not told")
	}
	if got := tm.all(); len(got) != 2 {
		t.Errorf("all: %q", got)
	}
	if _, ok := tm.next(); ok {
		t.Error("something is left after all")
	}
}

func TestBackoffDoublesToAMinuteAndIsForgotten(t *testing.T) {
	var b backoff
	var got []time.Duration
	for range 12 {
		got = append(got, b.next(errors.New("no")))
	}
	ms := time.Millisecond
	want := []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 25600 * ms, 51200 * ms, time.Minute, time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b = backoff{}
	if got := b.next(errors.New("no")); got != 100*ms {
		t.Errorf("after a success %v", got)
	}
}

func TestBusyLockRestsFromFiveSeconds(t *testing.T) {
	var b backoff
	var got []time.Duration
	for range 6 {
		got = append(got, b.next(fmt.Errorf("cannot lock: %w", fs.ErrBusy)))
	}
	s := time.Second
	if diff := cmp.Diff([]time.Duration{5 * s, 10 * s, 20 * s, 40 * s, 60 * s, 60 * s}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCauseIsNewsOnceForAllRuns(t *testing.T) {
	var told errorLog
	full := func(run string) error { return fmt.Errorf("cannot write %s: %w", run, syscall.ENOSPC) }
	news := func(run string, err error) bool { news, _ := told.fail(run, err); return news }
	over := func(run string) string { over, _ := told.clear(run); return over }
	if !news("a", full("a")) {
		t.Error("the first is no news")
	}
	if news("b", full("b")) || news("a", full("a")) {
		t.Error("the same cause is news again")
	}
	if got := over("a"); got != "" {
		t.Errorf("%q is over while it holds up b", got)
	}
	if !news("b", syscall.EACCES) {
		t.Error("another cause is no news")
	}
	if got := over("b"); got != syscall.EACCES.Error() {
		t.Errorf("over: %q", got)
	}
	if got := over("b"); got != "" {
		t.Errorf("over twice: %q", got)
	}
	if !news("a", full("a")) {
		t.Error("a cause that comes back is no news")
	}
}

// panicking is a machine with a bug.
type panicking struct{ engine.Machine }

func (panicking) Step(engine.Snapshot) (engine.Plan, error) { panic("no such row") }

func TestPanicIsNewsOnce(t *testing.T) {
	var told errorLog
	k := looker{f: Found{Family: Family{Machine: panicking{}}}}
	k.f.Run.Family = "toy"
	for i := range 3 {
		failed := make(chan error)
		go func() { _, err := k.step(engine.Snapshot{}); failed <- err }() // the stack differs each time
		err := <-failed
		if news, _ := told.fail("a", err); news != (i == 0) {
			t.Errorf("the panic of look %d is news: %t", i+1, news)
		}
		if !strings.Contains(err.Error(), "the toy machine panicked (a bug): no such row\n") || !strings.Contains(err.Error(), "panicking") {
			t.Errorf("the error does not say what happened, and where: %v", err)
		}
	}
}

func TestProbeLetsTheOthersGoOn(t *testing.T) {
	var told errorLog
	fail := func(run string) bool { _, probe := told.fail(run, syscall.ENOSPC); return probe }
	if !fail("a") || fail("b") || fail("c") || !fail("a") {
		t.Error("the first and only the first is the probe")
	}
	if _, others := told.clear("b"); others != nil {
		t.Errorf("one that is no probe lets %q go on", others)
	}
	if over, others := told.clear("a"); over != "" || !slices.Equal(others, []string{"c"}) {
		t.Errorf("over %q, others %q; want c to go on", over, others)
	}
	if !fail("c") {
		t.Error("nobody is the probe now")
	}
	if !common(fmt.Errorf("no: %w", syscall.EROFS)) || common(syscall.EACCES) || common(fs.ErrBusy) {
		t.Error("what holds for all is not told from what holds for one")
	}
}

func TestActionBeginsOnce(t *testing.T) {
	a := newActionLog()
	begin := func(id string) bool { return a.begin(engine.Action{ID: id}, "run") }
	if a.hasBegun("x") || !begin("x") || begin("x") || !a.hasBegun("x") || a.hasBegun("y") || !begin("y") {
		t.Error("an action must begin once")
	}
	if a.hasEnded("x") || !a.end("x") || a.end("x") || !a.hasEnded("x") || a.hasEnded("y") {
		t.Error("an action must be asked to end once")
	}
}

func BenchmarkDirtyMarkTakeFinish(b *testing.B) {
	d := newWorkqueue()
	runs := make([]string, 1000)
	for i := range runs {
		runs[i] = fmt.Sprintf("toys/%d/state.json", i)
		d.mark(runs[i])
	}
	b.ReportAllocs()
	for b.Loop() {
		run, _ := d.take()
		d.mark(run)
		d.finish(run)
	}
}

func BenchmarkDirtyMarkKnown(b *testing.B) {
	d := newWorkqueue()
	d.mark("a")
	b.ReportAllocs()
	for b.Loop() {
		d.mark("a")
	}
}
