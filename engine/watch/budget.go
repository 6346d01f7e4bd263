package watch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mostWatches is how many folders a watcher watches at most. All programs of a user share the
// system's limit, so a large workspace must not use it up.
const mostWatches = 1 << 16

// class is the purpose for which a folder is watched: each class has a share of the budget.
type class uint8

const (
	// classRun is for a folder of a run that has begun, or on the way to one.
	classRun class = iota
	// classStructure is for folders in which runs may appear. They may use half of the budget.
	classStructure
	// classSecondary is for folders that only secondary owners follow. They may use a quarter
	// of the budget.
	classSecondary
	// classSpare is for folders whose owners are all kept only while there are watches to
	// spare. They may also use a quarter, and give way to all others.
	classSpare
	classes
)

// budget is how many folders may be watched, and how many of each class are watched.
type budget struct {
	most  int
	spent [classes]int
}

// defaultBudget returns half of the system's limit for a user, and at most mostWatches.
func defaultBudget() int {
	body, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return mostWatches
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		return mostWatches
	}
	return min(limit/2, mostWatches)
}

// affords reports whether one more folder of a class may be watched.
func (b *budget) affords(c class) bool {
	shares := [classes]int{classRun: b.most, classStructure: b.most / 2, classSecondary: b.most / 4, classSpare: b.most / 4}
	return !b.full() && b.spent[c] < shares[c]
}

// full reports whether no further folder of any class may be watched.
func (b *budget) full() bool {
	total := 0
	for _, n := range b.spent {
		total += n
	}
	return total >= b.most
}

// errBudget says that a folder is not watched because of the budget.
type errBudget struct{ most int }

func (e errBudget) Error() string {
	return fmt.Sprintf("placet watches %d folders at most, those of runs that have begun first", e.most)
}

// ranks holds the classes of the owners, which say who comes first when few folders can be
// watched.
type ranks struct {
	of map[string]class // classSecondary or classSpare; the others are classRun
	// spare holds the owners of classSpare, in the order in which they give way.
	spare []string
}

// set sets the class of an owner, and reports whether it has changed.
func (r *ranks) set(owner string, c class) bool {
	was := r.of[owner]
	if was == classSpare {
		i := slices.Index(r.spare, owner)
		r.spare = slices.Delete(r.spare, i, i+1)
	}
	if delete(r.of, owner); c != classRun {
		r.of[owner] = c
	}
	if c == classSpare {
		r.spare = append(r.spare, owner)
	}
	return was != c
}

// classOf returns the class of a folder.
func (r *ranks) classOf(n *node) class {
	if n.structure {
		return classStructure
	}
	if n.owners.empty() {
		return classRun
	}
	c := classSpare
	for owner := range n.owners.each {
		if c = min(c, r.of[owner]); c == classRun {
			break // very many owners may follow
		}
	}
	return c
}

// isBudget reports whether an error says that the budget is used up.
func isBudget(err error) bool {
	var b errBudget
	return errors.As(err, &b)
}

// mostKept is how many owners that can do without file events are kept at most.
const mostKept = 1000

// Limit sets how many folders are watched at most; the others are blind. It must be called
// before anything is followed.
func (w *Watcher) Limit(most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches.budget.most = most
}

// Secondary sets whether an owner comes after the others when few folders can be watched, for
// example because its run has not begun.
func (w *Watcher) Secondary(owner string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := classRun
	if is {
		c = classSecondary
	}
	if !w.watches.ranks.set(owner, c) {
		return
	}
	for _, dir := range w.follows[owner] {
		if n := w.watches.nodes[dir]; n != nil {
			w.watches.reclass(n)
		}
	}
}

// Keep makes changes in one folder wake an owner, in place of what it followed before, for as
// long as there is a watch to spare: of all such owners, the newest are kept. A folder that is
// not watched for their sake is not blind. Follow and Forget end it.
func (w *Watcher) Keep(owner, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.watches.ranks.spare) >= mostKept {
		w.giveWay()
	}
	w.watches.ranks.set(owner, classSpare)
	_ = w.follow(owner, []string{dir})
}

// giveWay ends the watch of the owner that was kept first, and reports whether there was one.
// The caller holds the lock.
func (w *Watcher) giveWay() bool {
	spare := w.watches.ranks.spare
	if len(spare) == 0 {
		return false
	}
	w.forget(spare[0])
	return true
}
