package graph

import (
	"slices"
	"strings"
)

// Node is one node with its dependencies.
type Node struct {
	ID string
	// After are the IDs of the nodes that must come before it.
	After []string
}

// Missing is a dependency whose ID no node has.
type Missing struct{ Node, Dependency string }

// web is a graph whose nodes are numbered in the given order.
type web struct {
	ids    []string
	number map[string]int
	// given are the nodes that count.
	given []Node
	// after are the known dependencies of each node.
	after [][]int
}

func newWeb(nodes []Node) web {
	w := web{number: make(map[string]int, len(nodes))}
	for _, n := range nodes {
		if _, twice := w.number[n.ID]; twice {
			continue
		}
		w.number[n.ID] = len(w.ids)
		w.ids = append(w.ids, n.ID)
		w.given = append(w.given, n)
	}
	w.after = make([][]int, len(w.given))
	for i, n := range w.given {
		for _, id := range n.After {
			if on, known := w.number[id]; known {
				w.after[i] = append(w.after[i], on)
			}
		}
	}
	return w
}

// Unknown returns the dependencies whose ID no node has, each once, in the
// order of the nodes.
func Unknown(nodes []Node) []Missing {
	w := newWeb(nodes)
	said := map[Missing]bool{}
	var missing []Missing
	for _, n := range w.given {
		for _, id := range n.After {
			m := Missing{n.ID, id}
			if _, known := w.number[id]; known || said[m] {
				continue
			}
			said[m] = true
			missing = append(missing, m)
		}
	}
	return missing
}

// Dependents returns the nodes that depend on id, directly or through others,
// in the given order. The node itself is never among them, even if it lies on a
// cycle. An ID that no node has may have dependents.
func Dependents(nodes []Node, id string) []string {
	w := newWeb(nodes)
	return w.chosen(w.dependents([]string{id}, func(node, _ string) bool { return node != id }))
}

// dependents says for each node whether it depends on one of the IDs, directly or
// through others, by dependencies that count.
func (w web) dependents(ids []string, counts func(node, dependency string) bool) []bool {
	before := make(map[string][]int, len(w.ids))
	for i, n := range w.given {
		for _, on := range n.After {
			before[on] = append(before[on], i)
		}
	}
	found := make([]bool, len(w.ids))
	for open := slices.Clone(ids); len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		for _, i := range before[next] {
			if !found[i] && counts(w.ids[i], next) {
				found[i] = true
				open = append(open, w.ids[i])
			}
		}
	}
	return found
}

// chosen returns the IDs of the nodes that found marks, in the given order.
func (w web) chosen(found []bool) []string {
	var all []string
	for i, there := range found {
		if there {
			all = append(all, w.ids[i])
		}
	}
	return all
}

// Words returns a cycle in the form for people: "coupon-a → coupon-b →
// coupon-a".
func Words(cycle []string) string {
	if len(cycle) == 0 {
		return ""
	}
	return strings.Join(slices.Concat(cycle, cycle[:1]), " → ")
}
