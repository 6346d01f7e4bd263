package cli

import (
	"path"
	"slices"
	"strings"

	"placet/cmd/placet/workspace"
	"placet/engine"
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
			e := explanationOf(b, s)
			return c.env.Answer(e, func() {
				show(c.env, "explanation", struct {
					explanation
					Style string
				}{e, statusStyle(s.View)})
				printState(b, workspace.Summary{Daemon: e.Daemon, Held: e.Held, Stale: e.Stale})
			})
		},
	}
}

// explanation is explain as JSON.
type explanation struct {
	Run      string                  `json:"run"`
	Part     string                  `json:"part"`
	Request  string                  `json:"request"`
	Status   string                  `json:"status"`
	Why      []string                `json:"why"`
	Moves    []engine.UnblockingFile `json:"moves"`
	Holding  []heldLine              `json:"holding"`
	Problems []workspace.Note        `json:"problems"`
	Held     string                  `json:"held"`
	Stale    string                  `json:"stale"`
	Daemon   bool                    `json:"daemon"`
}

// heldLine is a file that may still be being written.
type heldLine struct {
	engine.PendingFile
	Text string `json:"text"`
}

// explanationOf explains a run, a part of it, or a request of it.
func explanationOf(b *workspace.Workspace, s workspace.Subject) explanation {
	v := s.View
	e := explanation{
		Run: v.Key.String(), Part: s.Part.ID, Request: s.Request, Status: string(v.Status),
		Problems: workspace.LineOf(v).Problems, Daemon: workspace.DaemonRuns(b.Root),
	}
	e.Held, _ = b.Store.Paused()
	e.Stale = b.Store.Stale()
	now := b.Env.Now()
	for _, h := range v.Pending {
		name := strings.TrimPrefix(h.Path, v.Found.Run.Dir+"/")
		e.Holding = append(e.Holding, heldLine{h, h.Words(name, now)})
	}
	why, moves := v.Why, v.Unblock
	switch {
	case s.Part.ID != "":
		e.Status = string(s.Part.Status)
		why, moves = ofPart(s)
	case s.Open != nil:
		dir := path.Dir(s.Open.Form) + "/"
		moves = slices.DeleteFunc(slices.Clone(moves), func(m engine.UnblockingFile) bool { return !strings.HasPrefix(m.Path, dir) })
	case s.Request != "":
		e.Status = "closed"
		why, moves = b.ClosedData(workspace.RequestAt{Found: v.Found, ID: s.Request}).Why(), nil
	}
	e.Why, e.Moves = why, moves
	return e
}

// ofPart is what an account says of a part of the run: what names it, or, where
// the run is at it, all.
func ofPart(s workspace.Subject) (why []string, moves []engine.UnblockingFile) {
	v, id := s.View, s.Part.ID
	if slices.ContainsFunc(v.Graph, func(n engine.Node) bool { return n.Current && (n.ID == id || n.Group == id) }) && len(v.Parts) == 0 {
		return v.Why, v.Unblock
	}
	for _, text := range v.Why {
		if slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '(' || r == ')' || r == '/' }), id) {
			why = append(why, text)
		}
	}
	for _, m := range v.Unblock {
		if slices.Contains(strings.Split(m.Path, "/"), id) {
			moves = append(moves, m)
		}
	}
	if len(why) == 0 {
		why = []string{id + " is " + string(s.Part.Status) + ": nothing is waited for there"}
	}
	return why, moves
}
