package main

import (
	"strings"

	"github.com/spf13/cobra"

	"placet/engine/reconcile"
)

func explainCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "explain RUN", Short: "Why a run stands where it stands, and what would move it",
		Long: `Why a run stands where it stands: the rule that holds, which file, with which
content, would move it, and which files may still be being written.`,
		Args: takes(1, 1), GroupID: groupUnderstand, ValidArgsFunction: completeRuns(w),
		RunE: w.onRun(func(b *bench, f reconcile.Found) error {
			return b.explain(b.viewOf(f))
		}),
	}
}

// explanation is explain as JSON.
type explanation struct {
	Run      string     `json:"run"`
	Status   string     `json:"status"`
	Why      []string   `json:"why"`
	Moves    []moveLine `json:"moves"`
	Holding  []heldLine `json:"holding"`
	Problems []noteLine `json:"problems"`
	Held     string     `json:"held"`
	Stale    string     `json:"stale"`
	Daemon   bool       `json:"daemon"`
}

type moveLine struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// heldLine is a file that may still be being written.
type heldLine struct {
	Path  string `json:"path"`
	Until string `json:"until"`
	Text  string `json:"text"`
}

func (b *bench) explain(v view) error {
	e := explanation{
		Run: v.Key.String(), Status: string(v.Status), Why: append([]string{}, v.Why...), Moves: []moveLine{}, Holding: []heldLine{},
		Problems: lineOf(v).Problems, Daemon: daemonRuns(b.root),
	}
	e.Held, _ = b.store.Hold()
	e.Stale = b.store.Stale()
	for _, m := range v.Moves {
		e.Moves = append(e.Moves, moveLine(m))
	}
	now := b.w.now()
	for _, h := range v.Holding {
		name := strings.TrimPrefix(h.Path, v.found.Run.Dir+"/")
		e.Holding = append(e.Holding, heldLine{h.Path, stamp(h.Until), h.Words(name, now)})
	}
	return b.w.answer(e, func() { b.printExplanation(v, e) })
}

func (b *bench) printExplanation(v view, e explanation) {
	w := b.w
	w.say("%s  %s", w.paint(strong, line(e.Run)), w.paint(statusStyle(v), line(e.Status)))
	for _, why := range e.Why {
		w.say("%s", indent(paragraph(why), "  "))
	}
	for _, h := range e.Holding {
		w.say("  %s %s", w.paint(waiting, "held"), line(h.Text))
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
	b.printState(state{Daemon: e.Daemon, Held: e.Held, Stale: e.Stale})
}
