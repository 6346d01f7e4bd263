package cli

import (
	"placet/cmd/placet/workspace"
)

func explainVerb() verb {
	return verb{
		use: "explain RUN[/PART]|REQUEST", short: "Why a run stands where it stands, and what would move it",
		least: 1, most: 1, group: groupUnderstand, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			s, err := b.Subject(c.args[0])
			if err != nil {
				return err
			}
			e := b.Explain(s)
			return c.env.Answer(e, func() {
				show(c.env, "explanation", struct {
					workspace.Explanation
					Style string
				}{e, statusStyle(s.View)})
				printState(b, workspace.Summary{Daemon: e.Daemon, Held: e.Held, Stale: e.Stale})
			})
		},
	}
}
