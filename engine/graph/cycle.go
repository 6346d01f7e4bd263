package graph

import "slices"

// frame is a node on the way of a depth-first search, and which of its
// dependencies is looked at next. The way is kept here and not in calls: a
// chain may be longer than a stack.
type frame struct{ node, next int }

// Cycle returns the members of a cycle: each depends on the next, the last on
// the first. It is the first that a depth-first search in the given order
// meets, turned to begin at the member that was given first. A node that
// depends on itself is a cycle of one. nil means that there is none.
func Cycle(nodes []Node) []string {
	w := newWeb(nodes)
	search := search{web: w, state: make([]state, len(w.ids))}
	for i := range w.ids {
		if cycle := search.from(i); cycle != nil {
			return w.names(turned(cycle))
		}
	}
	return nil
}

// state says how far the search has come with a node.
type state uint8

const (
	unseen state = iota
	onTheWay
	settled
)

// search is a depth-first search for a cycle.
type search struct {
	web
	state []state
	way   []frame
}

// from searches all that a node depends on, and returns the cycle that it
// meets.
func (s *search) from(start int) []int {
	if s.state[start] != unseen {
		return nil
	}
	s.enter(start)
	for len(s.way) > 0 {
		top := &s.way[len(s.way)-1]
		if top.next == len(s.after[top.node]) {
			s.state[top.node] = settled
			s.way = s.way[:len(s.way)-1]
			continue
		}
		on := s.after[top.node][top.next]
		top.next++
		switch s.state[on] {
		case unseen:
			s.enter(on)
		case onTheWay:
			return s.back(on)
		}
	}
	return nil
}

func (s *search) enter(node int) {
	s.state[node] = onTheWay
	s.way = append(s.way, frame{node: node})
}

// back returns the way from a node on it to its end.
func (s *search) back(to int) []int {
	at := slices.IndexFunc(s.way, func(f frame) bool { return f.node == to })
	var cycle []int
	for _, f := range s.way[at:] {
		cycle = append(cycle, f.node)
	}
	return cycle
}

// turned returns a cycle from its lowest number on.
func turned(cycle []int) []int {
	at := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[at:], cycle[:at])
}

func (w web) names(numbers []int) []string {
	var names []string
	for _, i := range numbers {
		names = append(names, w.ids[i])
	}
	return names
}
