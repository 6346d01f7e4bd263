package graph

import "slices"

// Levels returns the level of each node: 1 more than the highest level among
// its dependencies, or 1 if it has none. Unknown dependencies are ignored. The
// members of a cycle have level 0, and the levels of the nodes that depend on
// them count from 0.
func Levels(nodes []Node) map[string]int {
	w := newWeb(nodes)
	all := make(map[string]int, len(w.ids))
	for i, level := range w.levels() {
		all[w.ids[i]] = level
	}
	return all
}

// levels returns the level of each node by its number.
func (w web) levels() []int {
	n := len(w.ids)
	l := levels{web: w, level: make([]int, n), seen: make([]int, n), low: make([]int, n), open: make([]bool, n)}
	for i := range w.ids {
		if l.seen[i] == 0 {
			l.visit(i)
		}
	}
	return l.level
}

// levels finds the groups of nodes that depend on each other (Tarjan's strongly
// connected components). A group is closed after all groups that it depends on, so
// its level is known at that moment.
type levels struct {
	web
	level []int
	// seen is the turn at which a node was entered, from 1; low is the earliest
	// turn among the open nodes that the node leads to.
	seen, low []int
	turn      int
	// group holds the nodes whose group is not closed yet; open says for each node
	// whether it is one of them.
	group []int
	open  []bool
}

// visit computes the level of a node and of all nodes that it depends on.
func (l *levels) visit(node int) {
	l.turn++
	l.seen[node], l.low[node], l.open[node] = l.turn, l.turn, true
	at, highest := len(l.group), 0
	l.group = append(l.group, node)
	for _, on := range l.after[node] {
		if l.seen[on] == 0 {
			l.visit(on)
		}
		if l.open[on] {
			l.low[node] = min(l.low[node], l.low[on])
		}
		highest = max(highest, l.level[on])
	}
	if l.low[node] != l.seen[node] {
		return // it belongs to the group of an earlier node
	}
	members := l.group[at:]
	l.group = l.group[:at]
	for _, m := range members {
		l.open[m] = false
	}
	if len(members) == 1 && !slices.Contains(l.after[node], node) {
		l.level[node] = highest + 1
	}
}
