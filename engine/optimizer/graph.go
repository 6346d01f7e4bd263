package optimizer

import (
	"slices"

	"placet/engine"
)

// Chain are the cycles that a run's belongs to, by last_run_id and within its
// root: those before it, itself, and those that took up what it left; the oldest
// first. It is empty where no cycle has begun under the key.
func Chain(all []Entry, key string) []engine.Node {
	at := slices.IndexFunc(all, func(e Entry) bool { return e.Key == key && (e.Triggered || e.Status != "") })
	if at < 0 {
		return nil
	}
	x := indexChains(all)
	chain, known := []Entry{all[at]}, map[string]bool{all[at].Key: true}
	for back := all[at]; ; {
		before, ok := x.cycleOf(back.Root, string(back.LastRunID))
		if !ok || known[before.Key] {
			break
		}
		known[before.Key] = true
		chain = append(chain, before)
		back = before
	}
	own := len(chain) - 1
	slices.Reverse(chain)
	for i := own; i < len(chain); i++ {
		for _, e := range x.after[[2]string{chain[i].Root, chain[i].RunID}] {
			if !known[e.Key] {
				known[e.Key] = true
				chain = append(chain, e)
			}
		}
	}
	return chainNodes(x, chain, key)
}

// chains are cycles by root and run id: those of an id, and those that took up what
// it left.
type chains struct {
	cycle map[[2]string]Entry
	after map[[2]string][]Entry
}

func indexChains(all []Entry) chains {
	x := chains{map[[2]string]Entry{}, map[[2]string][]Entry{}}
	for _, e := range all {
		at := [2]string{e.Root, e.RunID}
		if found, ok := x.cycle[at]; !ok || found.Archived && !e.Archived {
			x.cycle[at] = e
		}
		if e.Triggered {
			at[1] = string(e.LastRunID)
			x.after[at] = append(x.after[at], e)
		}
	}
	return x
}

// cycleOf is the cycle of a run id in a root, of the active folder before the
// archive.
func (x chains) cycleOf(root, run string) (found Entry, ok bool) {
	if run == "" {
		return found, false
	}
	found, ok = x.cycle[[2]string{root, run}]
	return found, ok
}

func chainNodes(x chains, chain []Entry, key string) []engine.Node {
	var nodes []engine.Node
	for _, e := range chain {
		n := engine.Node{ID: e.Key, Group: e.Workflow, Label: e.Key, Status: e.standing(), Current: e.Key == key}
		n.Gate = n.Status == Awaiting
		if before, ok := x.cycleOf(e.Root, string(e.LastRunID)); ok {
			n.After = []string{before.Key}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// standing is a cycle's status as an account has it.
func (e Entry) standing() engine.Status {
	switch {
	case e.Archived && !final(e.Status):
		return cutOff
	case e.Status != "":
		return e.Status
	case e.Triggered:
		return unbegun
	}
	return engine.StatusAbsent
}

// newer reports whether a cycle is newer than another: it began later, or has the
// greater run id.
func (e Entry) newer(other Entry) bool {
	return cmpWords(string(e.BeganAt), string(other.BeganAt), e.RunID, other.RunID) > 0
}

// NewestCycle is the newest cycle of a workflow, in a root or, with "", in any; ok
// is false where none has begun.
func NewestCycle(all []Entry, root, workflow string) (newest Entry, ok bool) {
	return newestOf(all, func(e Entry) bool { return e.Status != "" && e.Workflow == workflow && (root == "" || e.Root == root) })
}

// NewestGoal is the newest cycle of a workflow in a root that came to a goal.
func NewestGoal(all []Entry, root, workflow string) (newest Entry, ok bool) {
	return newestOf(all, func(e Entry) bool {
		return e.Status == Reached && e.Goal != nil && e.Workflow == workflow && e.Root == root
	})
}

func newestOf(all []Entry, fits func(Entry) bool) (newest Entry, ok bool) {
	for _, e := range all {
		if fits(e) && (!ok || e.newer(newest)) {
			newest, ok = e, true
		}
	}
	return newest, ok
}

// FreeRun is the newest active run without a cycle that is of a workflow: by a tag
// of ours, by a tag that is the workflow's name, or by key and slug of the
// workflow's newest cycle in its root.
func FreeRun(all []Entry, workflow string) (free Entry, ok bool) {
	newests := map[string]string{} // by root, the run id
	for _, e := range all {
		newests[e.Root] = ""
	}
	for root := range newests {
		if newest, any := NewestCycle(all, root, workflow); any {
			newests[root] = newest.RunID
		}
	}
	for _, e := range all {
		if e.Archived || e.Triggered || e.Status != "" || e.Manifest == nil {
			continue
		}
		newest := newests[e.Root]
		ours := slices.Contains(e.Manifest.Tags, tagPrefix+workflow) || slices.Contains(e.Manifest.Tags, workflow)
		if (ours || newest != "" && e.sameCase(newest)) && (!ok || cmpWords(e.RunID, free.RunID) > 0) {
			free, ok = e, true
		}
	}
	return free, ok
}

// Workflows are the names of the workflows that have cycles, the one with the
// newest cycle first.
func Workflows(all []Entry) []string {
	var names []string
	cycles := slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Status == "" })
	slices.SortStableFunc(cycles, func(a, b Entry) int {
		return -cmpWords(string(a.BeganAt), string(b.BeganAt), a.RunID, b.RunID)
	})
	known := map[string]bool{}
	for _, e := range cycles {
		if !known[e.Workflow] {
			known[e.Workflow] = true
			names = append(names, e.Workflow)
		}
	}
	return names
}
