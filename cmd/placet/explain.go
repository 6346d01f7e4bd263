package main

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
)

func explainCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "explain RUN[/PART]|REQUEST", Short: "Why a run stands where it stands, and what would move it",
		Long: `Why a run stands where it stands: the rule that holds, which file, with which
content, would move it, and which files may still be being written. With a part
of the run, or a request: what of that concerns it. Names are those of placet
show.`,
		Args: takes(1, 1), GroupID: groupUnderstand, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			s, err := b.subject(args[0])
			if err != nil {
				return err
			}
			e := b.explanationOf(s)
			return w.answer(e, func() { b.printExplanation(s.view, e) })
		},
	}
}

// explanation is explain as JSON.
type explanation struct {
	Run      string     `json:"run"`
	Part     string     `json:"part"`
	Request  string     `json:"request"`
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

// explanationOf explains a run, a part of it, or a request of it.
func (b *bench) explanationOf(s subject) explanation {
	v := s.view
	e := explanation{
		Run: v.Key.String(), Part: s.part.ID, Request: s.request, Status: string(v.Status), Why: []string{}, Moves: []moveLine{}, Holding: []heldLine{},
		Problems: lineOf(v).Problems, Daemon: daemonRuns(b.root),
	}
	e.Held, _ = b.store.Hold()
	e.Stale = b.store.Stale()
	now := b.w.now()
	for _, h := range v.Holding {
		name := strings.TrimPrefix(h.Path, v.found.Run.Dir+"/")
		e.Holding = append(e.Holding, heldLine{h.Path, stamp(h.Until), h.Words(name, now)})
	}
	why, moves := v.Why, v.Moves
	switch {
	case s.part.ID != "":
		e.Status = string(s.part.Status)
		why, moves = s.ofPart()
	case s.open != nil:
		dir := path.Dir(s.open.Form) + "/"
		moves = slices.DeleteFunc(slices.Clone(moves), func(m engine.Move) bool { return !strings.HasPrefix(m.Path, dir) })
	case s.request != "":
		e.Status = "closed"
		why, moves = b.closedData(requestAt{v.found, s.request}).why(), nil
	}
	e.Why = append(e.Why, why...)
	for _, m := range moves {
		e.Moves = append(e.Moves, moveLine(m))
	}
	return e
}

// ofPart is what an account says of a part of the run: what names it, or, where
// the run is at it, all.
func (s subject) ofPart() (why []string, moves []engine.Move) {
	v, id := s.view, s.part.ID
	if slices.ContainsFunc(v.Graph, func(n engine.Node) bool { return n.Current && (n.ID == id || n.Group == id) }) && len(v.Parts) == 0 {
		return v.Why, v.Moves
	}
	for _, text := range v.Why {
		if slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '(' || r == ')' || r == '/' }), id) {
			why = append(why, text)
		}
	}
	for _, m := range v.Moves {
		if slices.Contains(strings.Split(m.Path, "/"), id) {
			moves = append(moves, m)
		}
	}
	if len(why) == 0 {
		why = []string{id + " is " + string(s.part.Status) + ": nothing is waited for there"}
	}
	return why, moves
}

func (b *bench) printExplanation(v view, e explanation) {
	w := b.w
	w.say("%s  %s", w.paint(strong, line(e.Run)+suffix("/", line(e.Part))+suffix(":", line(e.Request))), w.paint(statusStyle(v), line(e.Status)))
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
