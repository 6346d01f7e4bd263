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
	// Taken is the run that takes up the goal in its next pass, "" if none has completed.
	Taken string
	// Candidates are the keys of the runs that could take it up, the earliest first.
	Candidates []string
	// HeldBy is the key of a run of the same root with a file that the system refuses to read. That
	// run may have taken up the goal, so no other run does until the file is readable.
	HeldBy string
}

// OpenGoals returns the goals that wait for a cycle, ordered by root and workflow.
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

// Match names the open goals that a completed run may take up.
type Match struct {
	Run Entry
	// Goals are the goals of the workflows that the run may belong to: none, one, or several, of
	// which placet cannot choose one.
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

// over reports whether a run without a cycle is completed according to upstream.
func (e Entry) over() bool {
	return !e.Archived && !e.Triggered && e.Status == "" && e.Manifest != nil && e.Manifest.Status == "completed"
}

// Undated returns the completed runs whose manifest has no time of completion. They take up no
// goal, because placet cannot tell whether they completed after it.
func Undated(all []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool {
		_, dated := e.completed()
		return dated || !e.over()
	})
}

// tagPrefix is the prefix of a tag that names the workflow.
const tagPrefix = "workflow:"

// of returns the open goals of the workflow that a run belongs to: by placet's tag, else by a tag
// that is a workflow's name, else by skill key and case slug.
func (e Entry) of(goals []OpenGoal, bySlug bool) []OpenGoal {
	rules := []func(OpenGoal) bool{
		func(g OpenGoal) bool { return slices.Contains(e.Manifest.Tags, tagPrefix+g.Workflow) },
		func(g OpenGoal) bool { return slices.Contains(e.Manifest.Tags, g.Workflow) },
		func(g OpenGoal) bool { return bySlug && e.sameCase(g.RunID) },
	}
	// A tag with the prefix excludes every other workflow, even if it names one without an open
	// goal.
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

// sameCase reports whether two runs have the same skill key and case slug.
func (e Entry) sameCase(run string) bool {
	_, key, slug, ok := layout.OptimizerParts(run)
	_, ownKey, ownSlug, own := layout.OptimizerParts(e.RunID)
	return ok && own && key == ownKey && slug == ownSlug
}

// Matches returns the completed runs without a cycle and the goals that each may take up, ordered
// by time of completion.
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

// NextCycles returns the open goals and, for each, the run that takes it up.
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
