package loop

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

func toyFound(id string) Found { return Found{toyRun(id), Family{toyLayout{}, toyMachine{}}} }

func toyRegistry() *registry { return newRegistry([]Family{{toyLayout{}, toyMachine{}}}) }

// isFinal reports whether the registry holds a final run with this state document.
func (b *registry) isFinal(state string) bool {
	r, lv := b.get(state)
	return r != nil && lv == nil
}

// visits returns the state documents of the next n runs of the round.
func (b *registry) visits(n int) (states []string) {
	rest := float64(n) + 0.5
	for _, r := range b.next(&rest, 0) {
		states = append(states, r.state)
	}
	return states
}

func TestRegistryGivesRunsBackAsTheLayoutFoundThem(t *testing.T) {
	b := toyRegistry()
	odd := toyFound("odd") // its path alone does not determine the run
	for _, f := range []Found{toyFound("a"), toyFound("g1/b"), toyFound("locked"), odd} {
		r := b.newRun(f)
		if diff := cmp.Diff(f.Run, b.found(r).Run); diff != "" {
			t.Error(diff)
		}
		if kept := r.run != nil; kept != (f.Run.ID == "odd") {
			t.Errorf("%s: the run is kept in full: %v", f.Run.ID, kept)
		}
	}
}

// Whatever is removed in between, every run that stays is visited in one round, plus one
// visit for each that was removed.
func TestRoundVisitsEveryoneWhoStays(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := toyRegistry()
		stay := map[string]int{}
		var runs []*knownRun
		for i := range 1 + random.IntN(40) {
			r := b.newRun(toyFound(fmt.Sprintf("a%d", i)))
			b.add(r)
			runs = append(runs, r)
			stay[r.state] = 0
		}
		turns := len(runs)
		b.visits(random.IntN(turns))
		for turn := 0; turn < 2*turns-len(stay); turn++ {
			for _, state := range b.visits(1) {
				stay[state]++
			}
			if i := random.IntN(3 * turns); i < len(runs) && runs[i] != nil {
				b.remove(runs[i])
				delete(stay, runs[i].state)
				runs[i] = nil
			}
		}
		for state, n := range stay {
			if n == 0 {
				t.Fatalf("%s was not visited in a round of %d", state, turns)
			}
		}
	}
}

func TestARoundTakesInWhoComesAndLeavesOutWhoGoes(t *testing.T) {
	b, runs := toyRegistry(), map[string]*knownRun{}
	add := func(id string) {
		runs[id] = b.newRun(toyFound(id))
		b.add(runs[id])
	}
	for _, id := range []string{"c", "a", "b"} {
		add(id)
	}
	visit := func(n int, ids ...string) {
		t.Helper()
		var want []string
		for _, id := range ids {
			want = append(want, toyRun(id).State)
		}
		if got := b.visits(n); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	visit(2, "c", "a")
	b.remove(runs["c"])
	visit(9, "b", "a")
	add("c")
	visit(2, "b", "c")
	visit(4, "a", "b", "c")
	for _, r := range runs {
		b.remove(r)
	}
	visit(1)
}

func TestGoneAreThoseThatAWalkDidNotFindUnlessHidden(t *testing.T) {
	b := toyRegistry()
	for _, id := range []string{"a", "b", "g1/c"} {
		lv, final := b.newActive(toyFound(id)), b.newRun(toyFound(id+"-final"))
		lv.walk, final.walk = 1, 1
		b.add(lv.knownRun)
		b.add(final)
	}
	for _, id := range []string{"a", "a-final"} {
		if other, ok := b.known(toyFound(id), 2); other != nil || !ok {
			t.Errorf("%s is not known", id)
		}
	}
	if _, ok := b.known(toyFound("new"), 2); ok {
		t.Error("a run that was never seen is known")
	}
	w := walk{failed: []string{"toys/g1"}}
	var gone []string
	for _, r := range b.gone(2, w.hides) {
		gone = append(gone, r.state)
	}
	slices.Sort(gone)
	if diff := cmp.Diff([]string{"toys/b-final/state.json", "toys/b/state.json"}, gone); diff != "" {
		t.Error(diff)
	}
}

func TestRunThatIsAnotherOneNowIsNotKnown(t *testing.T) {
	b := toyRegistry()
	r := b.newRun(toyFound("a"))
	b.add(r)
	f := toyFound("a")
	f.Run.Class = "shadowed"
	if other, ok := b.known(f, 1); ok || other != r {
		t.Errorf("known: %v, %v", other, ok)
	}
}

func TestFinalRunIsFoundByItsStateDocument(t *testing.T) {
	b := toyRegistry()
	lv := b.newActive(toyFound("a"))
	b.add(lv.knownRun)
	b.retire(lv.knownRun, 7)
	got, active := b.get("toys/a/state.json")
	if active != nil || got == nil || got.print != 7 || got.dir() != "toys/a" {
		t.Errorf("final: %+v", got)
	}
	if r, _ := b.get("toys/b/state.json"); r != nil {
		t.Error("the registry knows a run that is not in it")
	}
	if runs, waiting := b.count(); runs != 1 || waiting != 0 {
		t.Errorf("%d runs, %d waiting", runs, waiting)
	}
}

func doc(path, kind string) engine.Document { return engine.Document{Path: path, Kind: kind} }

func absent(path, kind string) engine.Document {
	return engine.Document{Path: path, Kind: kind, Err: engine.ErrAbsent}
}

func TestRunFollowsItsFolderOpenRequestsAndNeeds(t *testing.T) {
	lk := look{snap: engine.Snapshot{Dir: "toys/a", Docs: []engine.Document{
		doc("toys/a/events/001.json", "event"),
		doc("toys/a/requests/closed/receipt.json", layout.KindReceipt),
		doc("toys/a/requests/closed/request.json", layout.KindRequest),
		{Path: "toys/a/requests/bad/request.json", Kind: layout.KindRequest, Err: errors.New("torn")},
		absent("toys/a/requests/no/request.json", layout.KindRequest),
		absent("toys/a/requests/open/receipt.json", layout.KindReceipt),
		doc("toys/a/requests/open/request.json", layout.KindRequest),
		doc("toys/a/state.json", layout.KindStateFile),
	}}}
	lk.loaded.Dirs, lk.loaded.Docs = []string{"specs", "toys/a"}, lk.snap.Docs
	want := []string{"toys/a", "toys/a/requests/bad", "toys/a/requests/open", "toys/a/requests/gone", "specs"}
	if diff := cmp.Diff(want, follows(lk, toyRun("a"), []string{"toys/a", "toys/a/requests/gone", "toys/a/requests/closed", "notes"})); diff != "" {
		t.Error(diff)
	}
}

func TestPortionsAddUpToARound(t *testing.T) {
	var rest float64
	sum := 0
	for range 60 {
		sum += portion(&rest, 1000, 1.0/60)
	}
	if sum < 999 || sum > 1000 {
		t.Errorf("%d of 1000 in a round", sum)
	}
	if got := portion(new(float64), 10, 0.01); got != 0 {
		t.Errorf("a hundredth of ten is %d", got)
	}
}

func TestClockThatWasSetIsNoticed(t *testing.T) {
	for _, c := range []struct {
		went, passed int
		want         bool
	}{{2, 2, false}, {-3600, 2, true}, {86400, 2, true}, {2, 3, false}, {0, 2, true}} {
		if got := jumped(seconds(c.went), seconds(c.passed)); got != c.want {
			t.Errorf("the clock went %d s in %d s: %v", c.went, c.passed, got)
		}
	}
}
