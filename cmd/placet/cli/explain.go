package cli

import (
	"strings"

	"placet/cmd/placet/workspace"
)

func explainVerb() verb {
	return verb{
		use: "explain RUN[/PART]|REQUEST [PART]", short: "Explain why a run waits, and what would move it",
		least: 1, most: 2, group: groupUnderstand, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			s, err := b.Subject(strings.Join(c.args, "/"))
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
