package watch

import "slices"

// mostKept is how many owners are kept at most that can do without file events.
const mostKept = 1000

// kept are the owners that lose their watches to any other, the newest last to.
type kept struct {
	turns map[string]int // owner → its turn
	queue []keptTurn     // by turn; those that are not in turns have gone
	last  int
}

type keptTurn struct {
	owner string
	turn  int
}

// Keep has an owner woken by what happens in one folder, in place of what it followed
// before, while there is a watch to spare: of all such owners, the newest are kept. A
// folder that is not watched for their sake is not blind. Follow and Forget end it.
func (w *Watcher) Keep(owner, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.kept.turns) >= mostKept {
		w.giveWay()
	}
	w.kept.add(owner)
	_ = w.follow(owner, []string{dir})
}

func (k *kept) add(owner string) {
	if k.turns == nil {
		k.turns = map[string]int{}
	}
	k.last++
	k.turns[owner] = k.last
	if len(k.queue) >= 2*mostKept {
		k.queue = slices.DeleteFunc(k.queue, func(t keptTurn) bool { return k.turns[t.owner] != t.turn })
	}
	k.queue = append(k.queue, keptTurn{owner, k.last})
}

// giveWay ends the watch of the owner that was kept first, and reports whether there
// was one. The caller holds the lock.
func (w *Watcher) giveWay() bool {
	for len(w.kept.queue) > 0 {
		first := w.kept.queue[0]
		w.kept.queue = w.kept.queue[1:]
		if w.kept.turns[first.owner] == first.turn {
			w.forget(first.owner)
			return true
		}
	}
	return false
}
