package cli

import (
	"fmt"
	"strings"
	"time"

	"placet/cmd/placet/console"
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
	runID      string
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
	var strays []strayLine
	bySlug := b.Current().Optimizer.MatchSlug
	open := optimizer.NextCycles(all, bySlug)
	for _, g := range open {
		goals = append(goals, openLine{
			Run: g.Key, Root: g.Root, Workflow: g.Workflow, Level: g.Goal.NextAutomationLevel, ApprovedBy: g.Goal.ApprovedBy,
			Issues: g.Goal.CarryOverIssues, Taken: g.Taken, Candidates: g.Candidates, HeldBy: g.HeldBy,
			runID: g.RunID,
		})
	}
	for _, m := range optimizer.Matches(all, open, bySlug) {
		if len(m.Goals) == 1 || len(open) == 0 {
			continue
		}
		s := strayLine{Run: m.Run.Key}
		for _, g := range m.Goals {
			s.Fits = append(s.Fits, g.Workflow)
		}
		strays = append(strays, s)
	}
	for _, e := range optimizer.Undated(all) {
		if len(open) > 0 {
			strays = append(strays, strayLine{Run: e.Key, Undated: true})
		}
	}
	return b.Env.Answer(map[string]any{"goals": goals, "runs": strays}, func() { printNext(b, goals, strays, bySlug) })
}

func printNext(b *workspace.Workspace, goals []openLine, strays []strayLine, bySlug bool) {
	w := b.Env
	for _, g := range goals {
		w.Say("%s  %s  level %d next, by %s", w.Paint(console.Strong, console.OneLine(g.Workflow)), console.OneLine(g.Run), g.Level, g.ApprovedBy)
		for _, i := range g.Issues {
			w.Say("    issue    %s", console.Cut(console.OneLine(i), 200))
		}
		if g.Taken != "" {
			w.Say("    taken up by %s, as soon as placet looks", console.OneLine(g.Taken))
			continue
		}
		if g.HeldBy != "" {
			w.Say("    held: the system refuses to read a file of %s, which may have taken it up; give placet the permission to", console.OneLine(g.HeldBy))
			continue
		}
		waits := fmt.Sprintf("a run in %s/active that completes with the tag workflow:%s or %s", g.Root, g.Workflow, g.Workflow)
		if _, key, slug, ok := layout.OptimizerParts(g.runID); ok && bySlug {
			waits += fmt.Sprintf(", or is called <date>-%s-%s", key, slug)
		}
		w.Say("    waits for %s", console.OneLine(waits))
	}
	if len(goals) == 0 {
		w.Say("no goal is open")
	}
	for _, s := range strays {
		if s.Undated {
			w.Say("%s  completed, but its manifest.json does not say when: it needs completed_at, such as \"%s\"", console.OneLine(s.Run), w.Now().UTC().Format(time.RFC3339))
			continue
		}
		fits := "no open goal"
		if len(s.Fits) > 0 {
			fits = "more than one: " + strings.Join(s.Fits, ", ")
		}
		w.Say("%s  completed, and fits %s", console.OneLine(s.Run), console.OneLine(fits))
	}
}
