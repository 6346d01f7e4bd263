package cli

import (
	"fmt"

	"placet/cmd/placet/workspace"
	"placet/engine/optimizer"
	"placet/layout"
)

// openLine is an open goal as JSON.
type openLine struct {
	Run        string   `json:"run"`
	Root       string   `json:"root"`
	Workflow   string   `json:"workflow"`
	Level      int      `json:"next_automation_level"`
	ApprovedBy string   `json:"approved_by"`
	Issues     []string `json:"carry_over_issues"`
	Taken      string   `json:"taken_up_by"`
	Candidates []string `json:"candidates"`
	HeldBy     string   `json:"held_by"` // the run of the root that cannot be read
	Waits      string   `json:"-"`
}

// strayLine is a completed run that takes up no goal, as JSON.
type strayLine struct {
	Run     string   `json:"run"`
	Fits    []string `json:"fits"`
	Undated bool     `json:"undated"` // its manifest does not say when it completed
}

func nextVerb() verb {
	return verb{
		use: "next", short: "Which goals are open, and what each waits for",
		look: func(_ call, b *workspace.Workspace) error { return showNext(b) },
	}
}

func showNext(b *workspace.Workspace) error {
	all, err := optimizerCycles(b)
	if err != nil {
		return err
	}
	var goals []openLine
	bySlug := b.Current().Optimizer.MatchSlug
	open := optimizer.NextCycles(all, bySlug)
	for _, g := range open {
		goals = append(goals, openLine{
			Run: g.Key, Root: g.Root, Workflow: g.Workflow, Level: g.Goal.NextAutomationLevel, ApprovedBy: g.Goal.ApprovedBy,
			Issues: g.Goal.CarryOverIssues, Taken: g.Taken, Candidates: g.Candidates, HeldBy: g.HeldBy, Waits: waitsFor(g, bySlug),
		})
	}
	data := map[string]any{"goals": goals, "runs": strayRuns(all, open, bySlug)}
	return b.Env.Answer(data, func() { show(b.Env, "next", data) })
}

// strayRuns are the completed runs that take up no goal while some are open.
func strayRuns(all []optimizer.Entry, open []optimizer.OpenGoal, bySlug bool) (strays []strayLine) {
	if len(open) == 0 {
		return nil
	}
	for _, m := range optimizer.Matches(all, open, bySlug) {
		if len(m.Goals) == 1 {
			continue
		}
		s := strayLine{Run: m.Run.Key}
		for _, g := range m.Goals {
			s.Fits = append(s.Fits, g.Workflow)
		}
		strays = append(strays, s)
	}
	for _, e := range optimizer.Undated(all) {
		strays = append(strays, strayLine{Run: e.Key, Undated: true})
	}
	return strays
}

// waitsFor is what an open goal waits for: a run of its workflow that completes.
func waitsFor(g optimizer.OpenGoal, bySlug bool) string {
	text := fmt.Sprintf("a run in %s/active that completes with the tag workflow:%s or %s", g.Root, g.Workflow, g.Workflow)
	if _, key, slug, ok := layout.OptimizerParts(g.RunID); ok && bySlug {
		text += fmt.Sprintf(", or is called <date>-%s-%s", key, slug)
	}
	return text
}
