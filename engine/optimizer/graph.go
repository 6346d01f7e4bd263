package optimizer

import (
	"cmp"
	"slices"

	"placet/engine"
)

// inRoot is a name within a root: the id of a run or the name of a workflow.
type inRoot struct{ root, name string }

func (e Entry) workflow() inRoot { return inRoot{e.Root, e.Workflow} }

// byRun indexes the entries by run id. It prefers an active run to an archived one.
func byRun(all []Entry) map[inRoot]Entry {
	runs := map[inRoot]Entry{}
	for _, e := range all {
		at := inRoot{e.Root, e.RunID}
		if found, ok := runs[at]; !ok || found.Archived && !e.Archived {
			runs[at] = e
		}
	}
	return runs
}

// Chain returns the cycles that are linked with a run by last_run_id within its root: the ones
// before it, the run itself, and the ones that continue it; the oldest first. It is empty if no
// cycle has begun under the key.
func Chain(all []Entry, key string) []engine.Node {
	at := slices.IndexFunc(all, func(e Entry) bool { return e.Key == key && (e.Triggered || e.Status != "") })
	if at < 0 {
		return nil
	}
	runs, known := byRun(all), map[string]bool{}
	var chain []Entry
	for e, ok := all[at], true; ok && !known[e.Key]; e, ok = e.behind(runs) {
		known[e.Key] = true
		chain = append(chain, e)
	}
	slices.Reverse(chain)
	for i := len(chain) - 1; i < len(chain); i++ {
		for _, e := range all {
			if e.Triggered && e.Root == chain[i].Root && string(e.LastRunID) == chain[i].RunID && !known[e.Key] {
				known[e.Key] = true
				chain = append(chain, e)
			}
		}
	}
	return chainNodes(runs, chain, key)
}

// behind returns the cycle whose goal this cycle took up.
func (e Entry) behind(runs map[inRoot]Entry) (found Entry, ok bool) {
	if e.LastRunID != "" {
		found, ok = runs[inRoot{e.Root, string(e.LastRunID)}]
	}
	return found, ok
}

func chainNodes(runs map[inRoot]Entry, chain []Entry, key string) []engine.Node {
	var nodes []engine.Node
	for _, e := range chain {
		n := engine.Node{ID: e.Key, Group: e.Workflow, Label: e.Key, Status: e.standing(), Current: e.Key == key}
		n.Gate = n.Status == Awaiting
		if before, ok := e.behind(runs); ok {
			n.After = []string{before.Key}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// standing returns a cycle's status as a view shows it.
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

// newer reports whether a cycle is newer than another: it began later or, at the same time, has the
// greater run id.
func (e Entry) newer(other Entry) bool { return compareAge(&e, &other) > 0 }

func compareAge(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.BeganAt, b.BeganAt), cmp.Compare(a.RunID, b.RunID))
}

// newestFirst returns the cycles that have begun, the newest first.
func newestFirst(all []Entry) []*Entry {
	var cycles []*Entry
	for i := range all {
		if all[i].Status != "" {
			cycles = append(cycles, &all[i])
		}
	}
	slices.SortStableFunc(cycles, func(a, b *Entry) int { return compareAge(b, a) })
	return cycles
}

// newestCycles returns the newest cycle of each root and workflow.
func newestCycles(all []Entry) map[inRoot]Entry {
	newest := map[inRoot]Entry{}
	for _, e := range all {
		if old, known := newest[e.workflow()]; e.Status != "" && (!known || e.newer(old)) {
			newest[e.workflow()] = e
		}
	}
	return newest
}

// NewestCycle returns the newest cycle of a workflow in any root; ok is false if none has begun.
func NewestCycle(all []Entry, workflow string) (newest Entry, ok bool) {
	return newestOf(all, func(e Entry) bool { return e.Status != "" && e.Workflow == workflow })
}

// NewestGoal returns the newest cycle of a workflow in a root that reached a goal.
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

// FreeRun returns the newest active run of a workflow that has no cycle. The run belongs to the
// workflow by placet's tag, by a tag that is the workflow's name, or by the key and slug of the
// workflow's newest cycle in its root.
func FreeRun(all []Entry, workflow string) (free Entry, ok bool) {
	newest := newestCycles(all)
	for _, e := range all {
		if e.Archived || e.Triggered || e.Status != "" || e.Manifest == nil {
			continue
		}
		tagged := slices.Contains(e.Manifest.Tags, tagPrefix+workflow) || slices.Contains(e.Manifest.Tags, workflow)
		if (tagged || e.sameCase(newest[inRoot{e.Root, workflow}].RunID)) && (!ok || e.RunID > free.RunID) {
			free, ok = e, true
		}
	}
	return free, ok
}

// Workflows returns the names of the workflows that have cycles, the one with the newest cycle
// first.
func Workflows(all []Entry) []string {
	var names []string
	known := map[string]bool{}
	for _, e := range newestFirst(all) {
		if !known[e.Workflow] {
			known[e.Workflow] = true
			names = append(names, e.Workflow)
		}
	}
	return names
}
