package optimizer

import (
	"cmp"
	"slices"
	"strings"

	"placet/layout"
)

// OpenGoal is a goal that waits for the next cycle.
type OpenGoal struct {
	Entry
	// Taken is the run that takes it up as soon as placet looks, "" while none
	// has completed.
	Taken string
	// Candidates are the keys of the runs that could, the earliest first.
	Candidates []string
	// HeldBy is the key of a run of the same root of which the system refuses to
	// read a file: it may have taken up the goal, so none does meanwhile.
	HeldBy string
}

// OpenGoals are the goals that wait for a cycle, by root and workflow.
func OpenGoals(all []Entry) []OpenGoal {
	taken := map[inRoot]bool{}
	for _, e := range all {
		if e.LastRunID != "" {
			taken[inRoot{e.Root, string(e.LastRunID)}] = true
		}
	}
	var open []OpenGoal
	for _, e := range newestCycles(all) {
		if e.Status == Reached && e.Goal != nil && len(e.Goal.CarryOverIssues) > 0 && !taken[inRoot{e.Root, e.RunID}] {
			open = append(open, OpenGoal{Entry: e})
		}
	}
	slices.SortFunc(open, func(a, b OpenGoal) int {
		return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.Workflow, b.Workflow))
	})
	return open
}

// Match is which open goal a completed run takes up.
type Match struct {
	Run Entry
	// Goals are the workflows that it may have been of: none, one, or several of
	// which nobody can tell one.
	Goals []OpenGoal
}

// completed reports whether a run waits to take up a goal, and since when.
func (e Entry) completed() (at text, ok bool) {
	if !e.over() {
		return "", false
	}
	at = cmp.Or(e.Manifest.CompletedAt, e.Manifest.UpdatedAt)
	return at, !at.Time().IsZero()
}

// over reports whether upstream calls a run completed that has no cycle.
func (e Entry) over() bool {
	return !e.Archived && !e.Triggered && e.Status == "" && e.Manifest != nil && e.Manifest.Status == "completed"
}

// Undated are the completed runs whose manifest does not say when: whether they
// completed after a goal cannot be told, so they take up none.
func Undated(all []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool {
		_, dated := e.completed()
		return dated || !e.over()
	})
}

// tagPrefix begins a tag that names the workflow.
const tagPrefix = "workflow:"

// of are the open goals of the workflow that a run was of: by a tag of ours, else
// by a tag that is a workflow's name, else by skill key and case slug.
func (e Entry) of(goals []OpenGoal, bySlug bool) []OpenGoal {
	rules := []func(OpenGoal) bool{
		func(g OpenGoal) bool { return slices.Contains(e.Manifest.Tags, tagPrefix+g.Workflow) },
		func(g OpenGoal) bool { return slices.Contains(e.Manifest.Tags, g.Workflow) },
		func(g OpenGoal) bool { return bySlug && e.sameCase(g.RunID) },
	}
	// A tag of ours that names another workflow says that the run was of that.
	if slices.ContainsFunc(e.Manifest.Tags, func(t string) bool { return strings.HasPrefix(t, tagPrefix) }) {
		rules = rules[:1]
	}
	for _, rule := range rules {
		var hits []OpenGoal
		for _, g := range goals {
			if g.Root == e.Root && rule(g) {
				hits = append(hits, g)
			}
		}
		if len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// sameCase reports whether two runs are of one skill key and case slug.
func (e Entry) sameCase(run string) bool {
	_, key, slug, ok := layout.OptimizerParts(run)
	_, ownKey, ownSlug, own := layout.OptimizerParts(e.RunID)
	return ok && own && key == ownKey && slug == ownSlug
}

// Matches are the completed runs without a cycle, with the goals that each may
// take up, those that completed earliest first.
func Matches(all []Entry, goals []OpenGoal, bySlug bool) []Match {
	var list []Match
	for _, e := range all {
		at, ok := e.completed()
		if !ok {
			continue
		}
		hits := e.of(goals, bySlug)
		if len(hits) == 1 && !at.Time().After(hits[0].MovedAt.Time()) {
			hits = nil
		}
		list = append(list, Match{Run: e, Goals: hits})
	}
	slices.SortStableFunc(list, func(a, b Match) int {
		x, _ := a.Run.completed()
		y, _ := b.Run.completed()
		return cmp.Or(x.Time().Compare(y.Time()), cmp.Compare(a.Run.RunID, b.Run.RunID))
	})
	return list
}

// NextCycles says for each open goal which run takes it up.
func NextCycles(all []Entry, bySlug bool) []OpenGoal {
	goals := OpenGoals(all)
	matches := Matches(all, goals, bySlug)
	refused := map[string]string{}
	for _, e := range all {
		if e.Refused {
			refused[e.Root] = e.Key
		}
	}
	for i := range goals {
		g := &goals[i]
		g.HeldBy = refused[g.Root]
		for _, m := range matches {
			if len(m.Goals) == 1 && m.Goals[0].Key == g.Key {
				g.Candidates = append(g.Candidates, m.Run.Key)
			}
		}
		if len(g.Candidates) > 0 && g.HeldBy == "" {
			g.Taken = g.Candidates[0]
		}
	}
	return goals
}
