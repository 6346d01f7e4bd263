package watch

// mostKept is how many owners are kept at most that can do without file events.
const mostKept = 1000

// Limit sets how many folders are watched at most. It is called before anything is
// followed; the rest is blind.
func (w *Watcher) Limit(most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches.budget.most = most
}

// Secondary says of an owner whether others come before it when few folders can be
// watched: its runs have not begun, say.
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

// Keep has an owner woken by what happens in one folder, in place of what it followed
// before, for as long as there is a watch to spare: of all such owners, the newest are kept. A
// folder that is not watched for their sake is not blind. Follow and Forget end it.
func (w *Watcher) Keep(owner, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.watches.ranks.spare) >= mostKept {
		w.giveWay()
	}
	w.watches.ranks.set(owner, classSpare)
	_ = w.follow(owner, []string{dir})
}

// giveWay ends the watch of the owner that was kept first, and reports whether there
// was one. The caller holds the lock.
func (w *Watcher) giveWay() bool {
	spare := w.watches.ranks.spare
	if len(spare) == 0 {
		return false
	}
	w.forget(spare[0])
	return true
}
