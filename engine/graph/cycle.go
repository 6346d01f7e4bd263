package graph

import "slices"

// Cycle returns the members of a cycle: each depends on the next, and the last
// on the first. It is the first cycle that a depth-first search in the given
// order finds, rotated to begin at the member that was given first. A node that
// depends on itself is a cycle of one. Cycle returns nil if there is none.
func Cycle(nodes []Node) []string {
	w := newWeb(nodes)
	s := search{web: w, done: make([]bool, len(w.ids)), at: make([]int, len(w.ids))}
	for i := range w.ids {
		if cycle := s.from(i); cycle != nil {
			first := slices.Index(cycle, slices.Min(cycle))
			return w.names(slices.Concat(cycle[first:], cycle[:first]))
		}
	}
	return nil
}

// search is a depth-first search for a cycle.
type search struct {
	web
	done []bool
	path []int
	at   []int // the position of a node in path, from 1; 0 if it is not in path
}

// from searches everything that a node depends on, and returns the cycle that it
// finds.
func (s *search) from(node int) []int {
	switch {
	case s.done[node]:
		return nil
	case s.at[node] > 0:
		return s.path[s.at[node]-1:]
	}
	s.path = append(s.path, node)
	s.at[node] = len(s.path)
	for _, on := range s.after[node] {
		if cycle := s.from(on); cycle != nil {
			return cycle
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.at[node], s.done[node] = 0, true
	return nil
}

func (w web) names(numbers []int) []string {
	var names []string
	for _, i := range numbers {
		names = append(names, w.ids[i])
	}
	return names
}
