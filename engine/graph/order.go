package graph

import "slices"

// Order returns the nodes level by level, each level in the given order: first those
// without dependencies, then those that depend only on the levels before. It returns nil
// if nodes depend on each other; see [Cycle].
func Order(nodes []Node) [][]string {
	w, level := newOrdered(nodes)
	if level == nil {
		return nil
	}
	order := make([][]string, slices.Max(level))
	for i, id := range w.ids {
		order[level[i]-1] = append(order[level[i]-1], id)
	}
	return order
}

// newOrdered returns a graph with the level of each node. The levels are nil if nodes
// depend on each other, or if there are no nodes.
func newOrdered(nodes []Node) (w web, level []int) {
	w = newWeb(nodes)
	if level = w.levels(); len(level) == 0 || slices.Min(level) == 0 {
		return w, nil
	}
	return w, level
}

// CriticalPath returns the longest chain of nodes, each of which is a dependency of the
// next. If there are several, it returns the one whose last node was given first, then
// whose last but one was, and so on. It returns nil if nodes depend on each other.
func CriticalPath(nodes []Node) []string {
	w, level := newOrdered(nodes)
	if level == nil {
		return nil
	}
	var path []int
	for at := slices.Index(level, slices.Max(level)); at >= 0; at = w.longest(at, level) {
		path = append(path, at)
	}
	slices.Reverse(path)
	return w.names(path)
}

// longest returns the dependency of a node with the longest chain, or -1 if the node has
// none.
func (w web) longest(node int, level []int) int {
	found := -1
	for _, on := range w.after[node] {
		if level[on] == level[node]-1 && (found < 0 || on < found) {
			found = on
		}
	}
	return found
}

// CutOff returns the nodes that can never have their turn: those with a dependency that
// is failed or cut off itself and is not waived. Failed nodes are not among them. A
// caller passes a node without its dependencies if these do not matter any more.
func CutOff(nodes []Node, failed map[string]bool, waived func(node, dependency string) bool) map[string]bool {
	w := newWeb(nodes)
	var from []string
	for id, is := range failed {
		if is {
			from = append(from, id)
		}
	}
	cut := map[string]bool{}
	found := w.dependents(from, func(node, dependency string) bool { return !failed[node] && !waived(node, dependency) })
	for _, id := range w.chosen(found) {
		cut[id] = true
	}
	return cut
}
