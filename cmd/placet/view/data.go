package view

import (
	"path"
	"slices"
	"strings"

	"placet/cmd/placet/config"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/templates"
)

// Inbox is the inbox as JSON: every request with its whole question.
type Inbox struct {
	Workspace string                 `json:"workspace"`
	Daemon    bool                   `json:"daemon"`
	Held      string                 `json:"held"`
	Requests  []engine.OpenRequest   `json:"requests"`
	Required  []Required             `json:"required"`
	Problems  []RunProblem           `json:"problems"`
	Untrusted []config.UntrustedLine `json:"untrusted"`
}

// InboxOf returns the inbox as JSON.
func InboxOf(b *workspace.Workspace, s Summary, open []engine.OpenRequest) Inbox {
	data := Inbox{
		Workspace: b.Root, Daemon: s.Daemon, Held: s.Held,
		Required: RequiredIn(s.Views), Problems: InboxProblems(s.Views), Untrusted: s.Untrusted,
	}
	for _, a := range open {
		data.Requests = append(data.Requests, Describe(b, a))
	}
	return data
}

// PartData is one part of a run as JSON.
type PartData struct {
	Run engine.Key `json:"run"`
	engine.Part
}

// RunData is one run as JSON.
type RunData struct {
	RunLine
	Facts    []engine.Fact        `json:"facts"`
	Open     []engine.OpenRequest `json:"open"`
	Plan     []engine.Node        `json:"plan"`
	Parts    []engine.Part        `json:"parts"`
	Findings []FindingLine        `json:"findings"`
	Log      []engine.Entry       `json:"log"`
}

// RunDataOf returns a run as JSON.
func RunDataOf(b *workspace.Workspace, v Run) RunData {
	d := RunData{RunLine: LineOf(v), Facts: v.Facts, Plan: v.Graph, Parts: v.Parts, Findings: FindingLines(v), Log: v.Log}
	for _, a := range v.Open {
		d.Open = append(d.Open, Describe(b, a))
	}
	return d
}

// Explanation is the output of explain as JSON.
type Explanation struct {
	Run      string                  `json:"run"`
	Part     string                  `json:"part"`
	Request  string                  `json:"request"`
	Status   string                  `json:"status"`
	Why      []string                `json:"why"`
	Moves    []engine.UnblockingFile `json:"moves"`
	Holding  []PendingLine           `json:"holding"`
	Problems []Note                  `json:"problems"`
	Held     string                  `json:"held"`
	Stale    string                  `json:"stale"`
	Daemon   bool                    `json:"daemon"`
}

// PendingLine is a file that may still be half written.
type PendingLine struct {
	engine.PendingFile
	Text string `json:"text"`
}

// Explain explains a run, a part of it, or a request of it.
func Explain(b *workspace.Workspace, s Subject) Explanation {
	v := s.View
	e := Explanation{
		Run: v.Key.String(), Part: s.Part.ID, Request: s.Request, Status: string(v.Status),
		Problems: LineOf(v).Problems, Daemon: workspace.DaemonRuns(b.Root),
	}
	e.Held, _ = b.Store.Paused()
	e.Stale = b.Store.Stale()
	now := b.Env.Now()
	for _, h := range v.Pending {
		name := strings.TrimPrefix(h.Path, v.Found.Run.Dir+"/")
		e.Holding = append(e.Holding, PendingLine{h, h.Words(b.Env.Lang, name, now)})
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
		why, moves = ClosedOf(b, RequestAt{Found: v.Found, ID: s.Request}).Why(), nil
	}
	if words := refused(b.Env.Lang, b.StateDir, e.Run, s.Request); words != "" && s.Part.ID == "" {
		why = append(slices.Clip(why), words)
	}
	e.Why, e.Moves = why, moves
	return e
}

// ofPart returns the part of a run's explanation that is about a part of the run: the texts
// that name it, or all of them if the run is at that part.
func ofPart(s Subject) (why []string, moves []engine.UnblockingFile) {
	v, id := s.View, s.Part.ID
	if slices.ContainsFunc(v.Graph, func(n engine.Node) bool { return n.Current && (n.ID == id || n.Group == id) }) && len(v.Parts) == 0 {
		return v.Why, v.Unblock
	}
	for _, text := range v.Why {
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,()/、。", r) })
		if slices.ContainsFunc(words, func(word string) bool { return strings.TrimRight(word, ":;.") == id }) {
			why = append(why, text)
		}
	}
	asks := func(file string) bool {
		return slices.ContainsFunc(v.Open, func(a engine.OpenRequest) bool { return a.Where == id && strings.HasPrefix(file, path.Dir(a.Form)+"/") })
	}
	for _, m := range v.Unblock {
		if slices.Contains(strings.Split(m.Path, "/"), id) || asks(m.Path) {
			moves = append(moves, m)
		}
	}
	if len(why) == 0 {
		why = []string{templates.Phrase(v.lang, "workspace.part.idle", "part", id, "status", s.Part.Status)}
	}
	return why, moves
}
