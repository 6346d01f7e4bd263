package graph

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// nodes reads "a: b c" as a node a after b and c.
func nodes(after ...[]string) []Node {
	var all []Node
	for _, words := range after {
		all = append(all, Node{ID: words[0], After: words[1:]})
	}
	return all
}

func TestACycleIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []Node
		words string
	}{
		{"none", nil, ""},
		{"a chain", nodes([]string{"a"}, []string{"b", "a"}, []string{"c", "b", "a"}), ""},
		{"a diamond", nodes([]string{"d", "b", "c"}, []string{"b", "a"}, []string{"c", "a"}, []string{"a"}), ""},
		{"two", nodes([]string{"coupon-a", "coupon-b"}, []string{"coupon-b", "coupon-a"}), "coupon-a → coupon-b → coupon-a"},
		{"itself", nodes([]string{"a", "a"}), "a → a"},
		{"met from outside", nodes([]string{"x", "b"}, []string{"a", "b"}, []string{"b", "c"}, []string{"c", "a"}), "a → b → c → a"},
		{"turned to the first given", nodes([]string{"x", "c"}, []string{"a", "b"}, []string{"b", "c"}, []string{"c", "a"}), "a → b → c → a"},
		{"the first of two", nodes([]string{"a", "b"}, []string{"b", "a"}, []string{"c", "c"}), "a → b → a"},
		{"only through a later double", []Node{{ID: "a"}, {ID: "b", After: []string{"a"}}, {ID: "a", After: []string{"b"}}}, ""},
		{"unknown dependencies", nodes([]string{"a", "z"}, []string{"b", "y", "a"}), ""},
	} {
		if got := Words(Cycle(c.nodes)); got != c.words {
			t.Errorf("%s: %q, expected %q", c.name, got, c.words)
		}
	}
}

func TestUnknownDependenciesAreNamedOnce(t *testing.T) {
	got := Unknown(nodes([]string{"b", "z", "a", "z"}, []string{"a", "y"}, []string{"b", "z", "x"}))
	want := []Missing{{"b", "z"}, {"a", "y"}} // the second b is ignored
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Unknown(nodes([]string{"a", "b"}, []string{"b"})); got != nil {
		t.Errorf("all is known: %v", got)
	}
}

func TestLevels(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []Node
		want  map[string]int
	}{
		"none":     {nil, map[string]int{}},
		"scenario": {nodes([]string{"a"}, []string{"b", "a"}, []string{"c"}), map[string]int{"a": 1, "b": 2, "c": 1}},
		"a chain of four": {nodes([]string{"d", "c"}, []string{"c", "b"}, []string{"b", "a"}, []string{"a"}),
			map[string]int{"a": 1, "b": 2, "c": 3, "d": 4}},
		"the highest counts": {nodes([]string{"a"}, []string{"b", "a"}, []string{"c", "a", "b"}), map[string]int{"a": 1, "b": 2, "c": 3}},
		"unknown":            {nodes([]string{"a", "z"}), map[string]int{"a": 1}},
		"a cycle, what it needs, and what needs it": {
			nodes([]string{"up", "x"}, []string{"x", "y", "down"}, []string{"y", "x"}, []string{"down"}, []string{"self", "self", "down"}),
			map[string]int{"up": 1, "x": 0, "y": 0, "down": 1, "self": 0},
		},
		"doubles": {[]Node{{ID: "a"}, {ID: "a", After: []string{"b"}}, {ID: "b", After: []string{"a"}}}, map[string]int{"a": 1, "b": 2}},
	} {
		if diff := cmp.Diff(c.want, Levels(c.nodes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDependents(t *testing.T) {
	all := nodes([]string{"d", "b"}, []string{"a"}, []string{"b", "a"}, []string{"c", "b", "z"}, []string{"e"})
	for id, want := range map[string][]string{"a": {"d", "b", "c"}, "b": {"d", "c"}, "c": nil, "e": nil, "z": {"c"}, "nowhere": nil} {
		if diff := cmp.Diff(want, Dependents(all, id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	round := nodes([]string{"a", "b"}, []string{"b", "a"}, []string{"c", "a"})
	if diff := cmp.Diff([]string{"b", "c"}, Dependents(round, "a")); diff != "" {
		t.Errorf("on a cycle (-want +got):\n%s", diff)
	}
	double := []Node{{ID: "a"}, {ID: "b"}, {ID: "b", After: []string{"a"}}}
	if got := Dependents(double, "a"); got != nil {
		t.Errorf("a double counts: %v", got)
	}
}

// The graphs have a hundred thousand nodes: in one chain, in one cycle, and
// each depending on all nodes near it.
func TestSizeIsNoObstacle(t *testing.T) {
	const n = 100_000
	chain := make([]Node, n)
	for i := range chain {
		chain[i].ID = fmt.Sprint(i)
		for near := 1; near <= 5 && i+near < n; near++ {
			chain[i].After = append(chain[i].After, fmt.Sprint(i+near))
		}
	}
	if got := Cycle(chain); got != nil {
		t.Errorf("a chain has a cycle of %d", len(got))
	}
	if levels := Levels(chain); levels["0"] != n || len(levels) != n {
		t.Errorf("the top is on level %d of %d", levels["0"], len(levels))
	}
	if got := Order(chain); len(got) != n || len(got[0]) != 1 || got[0][0] != fmt.Sprint(n-1) {
		t.Errorf("%d levels", len(got))
	}
	if got := CriticalPath(chain); len(got) != n || got[0] != fmt.Sprint(n-1) || got[n-1] != "0" {
		t.Errorf("the critical path has %d nodes", len(got))
	}
	failed := map[string]bool{fmt.Sprint(n - 1): true}
	if got := CutOff(chain, failed, func(node, _ string) bool { return node == "0" }); len(got) != n-2 {
		t.Errorf("%d nodes are cut off", len(got))
	}
	if got := Dependents(chain, fmt.Sprint(n-1)); len(got) != n-1 || got[0] != "0" {
		t.Errorf("%d dependents", len(got))
	}
	chain[n-1].After = []string{"0"}
	if got := Cycle(chain); len(got) != n || got[0] != "0" {
		t.Errorf("the cycle has %d members", len(got))
	}
	if levels := Levels(chain); levels["0"] != 0 || levels["99999"] != 0 {
		t.Errorf("levels on a cycle: %d, %d", levels["0"], levels["99999"])
	}
}

// graphs draws up to eight nodes that depend on each other and on missing
// nodes, sometimes with an ID twice.
func graphs() *rapid.Generator[[]Node] {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "z"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Node {
		return Node{ID: id.Draw(t, "id"), After: rapid.SliceOfN(id, 0, 3).Draw(t, "after")}
	}), 0, 10)
}

// firsts are the nodes that count.
func firsts(nodes []Node) []Node {
	var kept []Node
	for _, n := range nodes {
		if !slices.ContainsFunc(kept, func(k Node) bool { return k.ID == n.ID }) {
			kept = append(kept, n)
		}
	}
	return kept
}

// reaches returns the naive closure: whether a path of one step or more leads
// from one ID to another along the dependencies.
func reaches(nodes []Node) map[[2]string]bool {
	r := map[[2]string]bool{}
	for _, n := range nodes {
		for _, on := range n.After {
			r[[2]string{n.ID, on}] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for ab := range r {
			for bc := range r {
				if ac := [2]string{ab[0], bc[1]}; ab[1] == bc[0] && !r[ac] {
					r[ac], grown = true, true
				}
			}
		}
	}
	return r
}

func TestLikeTheNaiveWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := graphs().Draw(t, "nodes")
		kept := firsts(given)
		reach := reaches(kept)
		checkCycle(t, given, kept, reach)
		checkLevels(t, given, kept, reach)
		id := rapid.SampledFrom([]string{"a", "b", "z"}).Draw(t, "id")
		var want []string
		for _, n := range kept {
			if reach[[2]string{n.ID, id}] && n.ID != id {
				want = append(want, n.ID)
			}
		}
		if diff := cmp.Diff(want, Dependents(given, id)); diff != "" {
			t.Fatalf("dependents of %s (-want +got):\n%s", id, diff)
		}
	})
}

func checkCycle(t *rapid.T, given, kept []Node, reach map[[2]string]bool) {
	place := func(id string) int { return slices.IndexFunc(kept, func(n Node) bool { return n.ID == id }) }
	onOne := slices.ContainsFunc(kept, func(n Node) bool { return reach[[2]string{n.ID, n.ID}] })
	cycle := Cycle(given)
	if (cycle != nil) != onOne {
		t.Fatalf("cycle %v, expected one: %v", cycle, onOne)
	}
	for i, id := range cycle {
		if next := cycle[(i+1)%len(cycle)]; !slices.Contains(kept[place(id)].After, next) {
			t.Fatalf("%v: %s does not depend on %s", cycle, id, next)
		}
		if place(id) < place(cycle[0]) || slices.Index(cycle, id) != i {
			t.Fatalf("%v begins late or says %s twice", cycle, id)
		}
	}
}

func checkLevels(t *rapid.T, given, kept []Node, reach map[[2]string]bool) {
	levels := Levels(given)
	if len(levels) != len(kept) {
		t.Fatalf("%d levels for %d nodes", len(levels), len(kept))
	}
	for _, n := range kept {
		want := 1
		for _, on := range n.After {
			want = max(want, levels[on]+1)
		}
		if reach[[2]string{n.ID, n.ID}] {
			want = 0
		}
		if levels[n.ID] != want {
			t.Fatalf("%s is on level %d, expected %d: %v", n.ID, levels[n.ID], want, levels)
		}
	}
}
