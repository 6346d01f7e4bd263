package graph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The graph of the seed's picture: C needs A; D needs A, B and C.
func TestTheOrderOfTheSeedsPicture(t *testing.T) {
	seed := nodes([]string{"A"}, []string{"B"}, []string{"C", "A"}, []string{"D", "A", "B", "C"})
	if diff := cmp.Diff([][]string{{"A", "B"}, {"C"}, {"D"}}, Order(seed)); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A", "C", "D"}, CriticalPath(seed)); diff != "" {
		t.Errorf("critical path (-want +got):\n%s", diff)
	}
}

func TestOfEqualChainsTheOneGivenFirstCounts(t *testing.T) {
	for _, c := range []struct {
		nodes []Node
		want  []string
	}{
		{nil, nil},
		{nodes([]string{"b"}, []string{"a"}), []string{"b"}},
		{nodes([]string{"y"}, []string{"x"}, []string{"b", "x", "y"}, []string{"a", "y"}), []string{"y", "b"}},
		{nodes([]string{"a"}, []string{"b", "a", "z"}, []string{"c", "b", "b"}), []string{"a", "b", "c"}}, // unknown, and twice
		{nodes([]string{"a", "b"}, []string{"b", "a"}, []string{"c"}), nil},
		{nodes([]string{"a", "a"}), nil},
	} {
		if diff := cmp.Diff(c.want, CriticalPath(c.nodes)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.nodes, diff)
		}
		if order := Order(c.nodes); (order == nil) != (c.want == nil) {
			t.Errorf("%v: order %v", c.nodes, order)
		}
	}
}

func TestWhatIsCutOff(t *testing.T) {
	all := nodes([]string{"C", "B"}, []string{"B", "A"}, []string{"A"}, []string{"D", "C", "A"}, []string{"E"}, []string{"F", "gone"})
	for _, c := range []struct {
		failed []string
		waived []Missing
		want   []string
	}{
		{nil, nil, nil},
		{[]string{"A"}, nil, []string{"B", "C", "D"}},
		{[]string{"A"}, []Missing{{"B", "A"}}, []string{"D"}},
		{[]string{"A"}, []Missing{{"B", "A"}, {"D", "A"}}, nil},
		{[]string{"A"}, []Missing{{"C", "B"}, {"D", "A"}}, []string{"B"}},
		{[]string{"A", "B"}, nil, []string{"C", "D"}},
		{[]string{"A", "B"}, []Missing{{"C", "B"}}, []string{"D"}},
		{[]string{"E"}, nil, nil},
	} {
		failed, want := map[string]bool{"D": false}, map[string]bool{}
		for _, id := range c.failed {
			failed[id] = true
		}
		for _, id := range c.want {
			want[id] = true
		}
		got := CutOff(all, failed, func(node, dependency string) bool { return slices.Contains(c.waived, Missing{node, dependency}) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("failed %v, waived %v (-want +got):\n%s", c.failed, c.waived, diff)
		}
	}
}

// randomNodes draws a graph. Two of three have no cycle.
func randomNodes(r *rand.Rand, most int) []Node {
	all := make([]Node, 1+r.IntN(most))
	ids := r.Perm(len(all))
	for i := range all {
		all[i].ID = fmt.Sprint(ids[i])
	}
	cyclic := r.IntN(3) == 0
	for range r.IntN(1 + 3*len(all)) {
		a, b := r.IntN(len(all)), r.IntN(len(all))
		if !cyclic && ids[a] <= ids[b] {
			continue
		}
		all[a].After = append(all[a].After, all[b].ID)
	}
	return all
}

// removed returns the order as the page defines it: a level is all of the remaining
// nodes that depend on no remaining one. It returns nil if nodes remain.
func removed(nodes []Node) (order [][]string) {
	remaining := map[string]bool{}
	for _, n := range nodes {
		remaining[n.ID] = true
	}
	for len(remaining) > 0 {
		var level []string
		for _, n := range nodes {
			if remaining[n.ID] && !slices.ContainsFunc(n.After, func(on string) bool { return remaining[on] }) {
				level = append(level, n.ID)
			}
		}
		if level == nil {
			return nil
		}
		for _, id := range level {
			delete(remaining, id)
		}
		order = append(order, level)
	}
	return order
}

// chains finds the longest chains of a graph without cycle by memoization.
type chains struct {
	place  map[string]int
	nodes  []Node
	length map[string]int
}

func (c chains) of(id string) int {
	if n, ok := c.length[id]; ok {
		return n
	}
	longest := 0
	for _, on := range c.nodes[c.place[id]].After {
		longest = max(longest, c.of(on))
	}
	c.length[id] = longest + 1
	return longest + 1
}

// best returns the node with the longest chain, or the first given one of several.
func (c chains) best(ids []string) string {
	return slices.MinFunc(ids, func(a, b string) int {
		if d := c.of(b) - c.of(a); d != 0 {
			return d
		}
		return c.place[a] - c.place[b]
	})
}

func longestChain(nodes []Node) (path []string) {
	c := chains{map[string]int{}, nodes, map[string]int{}}
	var ids []string
	for i, n := range nodes {
		c.place[n.ID] = i
		ids = append(ids, n.ID)
	}
	for len(ids) > 0 {
		id := c.best(ids)
		path = append([]string{id}, path...)
		ids = nodes[c.place[id]].After
	}
	return path
}

// cutOff applies the page's rule until nothing changes.
func cutOff(nodes []Node, failed map[string]bool, waived func(node, dependency string) bool) map[string]bool {
	cut := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, n := range nodes {
			if !failed[n.ID] && !cut[n.ID] && slices.ContainsFunc(n.After, func(on string) bool { return (failed[on] || cut[on]) && !waived(n.ID, on) }) {
				cut[n.ID], grown = true, true
			}
		}
	}
	return cut
}

func TestRandomGraphsAreOrderedLikeTheNaiveWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		most := 60
		if i%50 == 0 {
			most = 500
		}
		given := randomNodes(r, most)
		order, cycle := removed(given), Cycle(given)
		if (order == nil) != (cycle != nil) {
			t.Fatalf("graph %d: cycle %v, order %v", i, cycle, order)
		}
		if diff := cmp.Diff(order, Order(given)); diff != "" {
			t.Fatalf("graph %d: levels (-want +got):\n%s", i, diff)
		}
		var path []string
		if cycle == nil {
			path = longestChain(given)
		}
		if diff := cmp.Diff(path, CriticalPath(given)); diff != "" {
			t.Fatalf("graph %d: critical path (-want +got):\n%s", i, diff)
		}
		for at, id := range cycle {
			node := given[slices.IndexFunc(given, func(n Node) bool { return n.ID == id })]
			if next := cycle[(at+1)%len(cycle)]; !slices.Contains(node.After, next) || slices.Index(cycle, id) != at {
				t.Fatalf("graph %d: %v is no cycle at %s", i, cycle, id)
			}
		}
		failed := map[string]bool{}
		for range r.IntN(4) {
			failed[given[r.IntN(len(given))].ID] = true
		}
		odd := r.IntN(7)
		waived := func(node, dependency string) bool { return len(node+dependency)%7 == odd }
		if want, got := cutOff(given, failed, waived), CutOff(given, failed, waived); !maps.Equal(want, got) {
			t.Fatalf("graph %d: cut off %v, expected %v", i, got, want)
		}
	}
}
