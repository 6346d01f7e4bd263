package main

import "github.com/spf13/cobra"

func explainCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "explain RUN", Short: "Why a run stands where it stands, and what would move it",
		Long: `Why a run stands where it stands: the rule that holds, and which file, with
which content, would move it.`,
		Args: takes(1, 1), GroupID: groupUnderstand, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			f, err := b.oneRun(args[0])
			if err != nil {
				return err
			}
			return b.explain(b.viewOf(f))
		},
	}
}

// explanation is explain as JSON.
type explanation struct {
	Run      string     `json:"run"`
	Status   string     `json:"status"`
	Why      []string   `json:"why"`
	Moves    []moveLine `json:"moves"`
	Problems []noteLine `json:"problems"`
	Held     string     `json:"held"`
	Daemon   bool       `json:"daemon"`
}

type moveLine struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (b *bench) explain(v view) error {
	e := explanation{
		Run: v.Key.String(), Status: string(v.Status), Why: append([]string{}, v.Why...), Moves: []moveLine{},
		Problems: lineOf(v).Problems, Daemon: daemonRuns(b.root),
	}
	e.Held, _ = b.store.Hold()
	for _, m := range v.Moves {
		e.Moves = append(e.Moves, moveLine(m))
	}
	return b.w.answer(e, func() { b.printExplanation(v, e) })
}

func (b *bench) printExplanation(v view, e explanation) {
	w := b.w
	w.say("%s  %s", w.paint(strong, line(e.Run)), w.paint(statusStyle(v), line(e.Status)))
	for _, why := range e.Why {
		w.say("%s", indent(paragraph(why), "  "))
	}
	for _, p := range e.Problems {
		w.say("  %s %s\n%s", w.paint(alarm, "problem"), line(p.Path), indent(paragraph(p.Text), "    "))
	}
	if len(e.Moves) > 0 {
		w.say("\n%s", w.paint(strong, "What would move it"))
	}
	for i, m := range e.Moves {
		if i == 0 || m.Path != e.Moves[i-1].Path {
			w.say("  %s", line(m.Path))
		}
		w.say("%s", indent(paragraph(m.Content), "    "))
	}
	b.printState(state{Daemon: e.Daemon, Held: e.Held})
}
