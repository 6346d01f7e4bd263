package reconcile

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

func TestRegistryGivesRunsBackAsTheLayoutFoundThem(t *testing.T) {
	b := toyRegistry()
	odd := toyFound("odd") // its path alone does not tell
	for _, f := range []Found{toyFound("a"), toyFound("g1/b"), toyFound("locked"), odd} {
		lv := b.newLive(f)
		if diff := cmp.Diff(f.Run, b.found(lv).Run); diff != "" {
			t.Error(diff)
		}
		if kept := lv.run != nil; kept != (f.Run.ID == "odd") {
			t.Errorf("%s: the run is kept in full: %v", f.Run.ID, kept)
		}
	}
}

// Whatever goes in between, everyone who stays is visited in one round, and a
// visit more for each that went.
func TestRoundVisitsEveryoneWhoStays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := toyRegistry()
		stay := map[string]int{}
		var lives []*live
		for i := range 1 + r.IntN(40) {
			id := fmt.Sprintf("a%d", i)
			lv := b.newLive(toyFound(id))
			b.add(lv)
			b.addFinal(toyFound("f"+id), 0, 0)
			lives = append(lives, lv)
			stay[lv.state] = 0
		}
		turns := len(lives)
		b.nextLive(r.IntN(turns))
		b.nextFinal(r.IntN(turns))
		finals := map[string]int{}
		for turn := 0; turn < 2*turns-len(stay); turn++ {
			for _, lv := range b.nextLive(1) {
				stay[lv.state]++
			}
			for _, f := range b.nextFinal(1) {
				finals[f.state]++
			}
			if i := r.IntN(3 * turns); i < len(lives) && lives[i] != nil {
				b.remove(lives[i])
				b.removeFinal("toys/f" + lives[i].state[len("toys/"):])
				delete(stay, lives[i].state)
				lives[i] = nil
			}
		}
		for state, n := range stay {
			if n == 0 {
				t.Fatalf("%s was not visited in a round of %d", state, turns)
			}
			if f := "toys/f" + state[len("toys/"):]; finals[f] == 0 {
				t.Fatalf("%s was not visited in a round of %d", f, turns)
			}
		}
	}
}

func TestGoneAreThoseThatAWalkDidNotFindUnlessHidden(t *testing.T) {
	b := toyRegistry()
	for _, id := range []string{"a", "b", "g1/c"} {
		lv := b.newLive(toyFound(id))
		lv.walk = 1
		b.add(lv)
		b.addFinal(toyFound(id+"-final"), 0, 1)
	}
	if other, ok := b.known(toyFound("a"), 2); other != nil || !ok {
		t.Error("a is not known")
	}
	if _, ok := b.known(toyFound("a-final"), 2); !ok {
		t.Error("a-final is not known")
	}
	if _, ok := b.known(toyFound("new"), 2); ok {
		t.Error("a run that was never seen is known")
	}
	w := walk{failed: []string{"toys/g1"}}
	gone, _ := b.gone(2, w.hides)
	if len(gone) != 1 || gone[0].state != "toys/b/state.json" {
		t.Errorf("gone: %v", gone)
	}
	var finals []string
	for _, f := range b.final {
		finals = append(finals, f.state)
	}
	slices.Sort(finals)
	if diff := cmp.Diff([]string{"toys/a-final/state.json", "toys/g1/c-final/state.json"}, finals); diff != "" {
		t.Error(diff)
	}
}

func TestRunThatIsAnotherOneNowIsNotKnown(t *testing.T) {
	b := toyRegistry()
	lv := b.newLive(toyFound("a"))
	b.add(lv)
	f := toyFound("a")
	f.Run.Class = "shadowed"
	if other, ok := b.known(f, 1); ok || other != lv {
		t.Errorf("known: %v, %v", other, ok)
	}
}

func TestFinalRunIsFoundByItsStateDocument(t *testing.T) {
	b := toyRegistry()
	lv := b.newLive(toyFound("a"))
	b.add(lv)
	b.retire(lv, toyFound("a"), 7)
	b.retire(lv, toyFound("a"), 8)
	got := b.finalAt("toys/a/state.json")
	if len(got) != 1 || got[0].print != 7 || got[0].state[:got[0].dir] != "toys/a" {
		t.Errorf("final: %+v", got)
	}
	if b.finalAt("toys/b/state.json") != nil || b.get("toys/a/state.json") != nil {
		t.Error("the registry knows a run that is not in it")
	}
	if runs, waiting := b.count(); runs != 1 || waiting != 0 {
		t.Errorf("%d runs, %d waiting", runs, waiting)
	}
}

func TestARoundTakesInWhoComesAndLeavesOutWhoGoes(t *testing.T) {
	all, r := map[string]string{}, round{}
	for _, name := range []string{"c", "a", "b"} {
		all[name] = name
		r.add(name)
	}
	visit := func(n int, want ...string) {
		t.Helper()
		if got := next(&r, all, n); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	visit(2, "c", "a")
	delete(all, "c")
	visit(9, "b", "a")
	all["c"] = "c"
	r.add("c")
	visit(2, "b", "c")
	visit(4, "a", "b", "c")
	clear(all)
	visit(1)
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
