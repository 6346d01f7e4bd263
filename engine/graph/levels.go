package graph

import "slices"

// Levels returns the level of each node: 1 + the highest level among its
// dependencies, so 1 where it has none. Unknown dependencies count for
// nothing. The members of a cycle have level 0, and what depends on them
// counts on from there.
func Levels(nodes []Node) map[string]int {
	w := newWeb(nodes)
	l := leveller{web: w, level: make([]int, len(w.ids)), seen: make([]int, len(w.ids)), low: make([]int, len(w.ids)), open: make([]bool, len(w.ids))}
	levels := make(map[string]int, len(w.ids))
	for i, id := range w.ids {
		l.from(i)
		levels[id] = l.level[i]
	}
	return levels
}

// leveller finds the groups of nodes that depend on each other (Tarjan's
// strongly connected components). A group is closed when all that it depends
// on outside itself is closed, so its level can be told at that moment.
type leveller struct {
	web
	level []int
	// seen is the turn at which a node was entered, from 1; low the earliest
	// turn among the open nodes that it leads to.
	seen, low []int
	turn      int
	// group are the nodes whose group is not closed yet, which open says of
	// each node.
	group []int
	open  []bool
	way   []frame
}

// from gives a level to a node and all that it depends on.
func (l *leveller) from(start int) {
	if l.seen[start] != 0 {
		return
	}
	l.enter(start)
	for len(l.way) > 0 {
		top := &l.way[len(l.way)-1]
		if top.next == len(l.after[top.node]) {
			l.leave(top.node)
			continue
		}
		on := l.after[top.node][top.next]
		top.next++
		switch {
		case l.seen[on] == 0:
			l.enter(on)
		case l.open[on]:
			l.low[top.node] = min(l.low[top.node], l.seen[on])
		}
	}
}

func (l *leveller) enter(node int) {
	l.turn++
	l.seen[node], l.low[node], l.open[node] = l.turn, l.turn, true
	l.group = append(l.group, node)
	l.way = append(l.way, frame{node: node})
}

// leave ends the look at a node. If it leads to nothing earlier that is open,
// it is the first of a group, and the group is whole.
func (l *leveller) leave(node int) {
	l.way = l.way[:len(l.way)-1]
	if len(l.way) > 0 {
		above := l.way[len(l.way)-1].node
		l.low[above] = min(l.low[above], l.low[node])
	}
	if l.low[node] != l.seen[node] {
		return
	}
	at := len(l.group) - 1
	for l.group[at] != node {
		at--
	}
	members := l.group[at:]
	l.group = l.group[:at]
	for _, m := range members {
		l.open[m] = false
	}
	if len(members) == 1 && !slices.Contains(l.after[node], node) {
		l.level[node] = l.above(node)
	}
}

// above is the level of a node that lies on no cycle.
func (l *leveller) above(node int) int {
	highest := 0
	for _, on := range l.after[node] {
		highest = max(highest, l.level[on])
	}
	return highest + 1
}
