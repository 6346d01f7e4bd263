package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// rank makes a folder and has an owner follow it.
func (h *harness) rank(owner, dir string, secondary bool) {
	h.mkdir(dir)
	h.Secondary(owner, secondary)
	_ = h.Follow(owner, []string{dir})
}

// watchedOf counts the watched folders whose path begins with prefix.
func (h *harness) watchedOf(prefix string) (n int) {
	for _, abs := range h.src().List() {
		if rel, ok := h.Watcher.watches.paths.rel(abs); ok && strings.HasPrefix(rel, prefix) {
			n++
		}
	}
	return n
}

// Empty folders, however many, leave watches for runs that have begun.
func TestJunkTakesAShareOfTheWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, "runs")
		defer h.Close()
		h.Limit(100)
		h.Guard("runs")
		for i := range 200 {
			h.rank(fmt.Sprintf("junk%d", i), fmt.Sprintf("runs/junk%d", i), true)
			h.mkdir(fmt.Sprintf("tops/top%d", i))
			h.Guard(fmt.Sprintf("tops/top%d", i))
		}
		if junk, tops := h.watchedOf("runs/junk"), h.watchedOf("tops/"); junk != 25 || tops != 49 {
			t.Errorf("%d folders without a run and %d without runs are watched", junk, tops)
		}
		for i := range 20 {
			h.rank(fmt.Sprintf("run%d", i), fmt.Sprintf("runs/run%d", i), false)
		}
		if runs := h.watchedOf("runs/run"); runs != 20 {
			t.Errorf("%d of 20 runs are watched", runs)
		}
		if !h.Lacks().Watches || len(h.Blind()) != 175+151 {
			t.Errorf("%+v, %d blind", h.Lacks(), len(h.Blind()))
		}
		if n := strings.Count(h.log.String(), "placet watches 100 folders at most"); n != 1 {
			t.Errorf("said %d times:\n%s", n, h.log)
		}
		for i := range 20 {
			h.rank(fmt.Sprintf("more%d", i), fmt.Sprintf("runs/more%d", i), false)
		}
		if all := len(h.src().List()); all != 100 {
			t.Errorf("%d watches", all)
		}
	})
}

// A folder in which a run begins is watched at once, and no other folder loses its watch.
func TestARunThatBeginsLeavesTheShareOfJunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, "runs")
		defer h.Close()
		h.Limit(8)
		for i := range 4 {
			h.rank(fmt.Sprint(i), fmt.Sprintf("runs/%d", i), true)
		}
		if blind := h.Blind(); !slices.Equal(blind, []string{"runs/2", "runs/3"}) {
			t.Fatalf("blind %q", blind)
		}
		h.Secondary("3", false)
		if blind := h.Blind(); !slices.Equal(blind, []string{"runs/2"}) {
			t.Errorf("blind %q after a run began", blind)
		}
		h.Secondary("0", false) // its share is free for another
		time.Sleep(retryAfter)
		synctest.Wait()
		if blind := h.Blind(); blind != nil || h.Lacks().Watches {
			t.Errorf("blind %q", blind)
		}
		for i := range 4 {
			h.Forget(fmt.Sprint(i))
		}
		if h.Watcher.watches.budget.spent != [classes]int{} || len(h.Watcher.watches.ranks.of) != 0 {
			t.Errorf("spent %v, %d secondary", h.Watcher.watches.budget.spent, len(h.Watcher.watches.ranks.of))
		}
	})
}

// Whatever happens to the folders, the counts equal the watches.
func TestTheBudgetCountsWhatIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, "runs/a/requests", "runs/b")
		defer h.Close()
		check := func(when string) {
			t.Helper()
			sum := 0
			for _, n := range h.Watcher.watches.budget.spent {
				sum += n
			}
			if got := len(h.src().List()); got != sum || slices.Min(h.Watcher.watches.budget.spent[:]) < 0 {
				t.Errorf("%s: counted %v, %d watched", when, h.Watcher.watches.budget.spent, got)
			}
		}
		h.Guard("runs")
		h.rank("a", "runs/a/requests", false)
		h.rank("b", "runs/b", true)
		check("at first")
		h.Guard("runs/b")
		h.Secondary("b", false)
		check("b is structure as well")
		h.Structure([]string{"runs"})
		check("and is none any more")
		_ = h.Follow("a", []string{"runs/a", "runs/c"})
		check("a follows others, of which one is missing")
		h.Anew()
		check("all anew")
		h.Forget("a")
		h.Forget("b")
		check("forgotten")
	})
}

func TestTheBudgetIsHalfOfWhatThereIs(t *testing.T) {
	if most := defaultBudget(); most < 1 || most > mostWatches {
		t.Errorf("%d watches", most)
	}
}
