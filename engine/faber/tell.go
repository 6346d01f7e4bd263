package faber

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/templates"
)

// quiet is how long an agent may be silent before show says so.
const quiet = time.Hour

// tell adds to the view for people what is the family's own.
func tell(r *view, a *engine.RunView) {
	a.ShortID = r.short()
	if r.foreign() {
		a.Class = "foreign"
	}
	if r.kernel.Begun && r.state.status == "" {
		a.Status = run.StatusUnreadable
	}
	o := r.asked()
	a.Blocked = r.state.unfit != nil || r.kernel.Unwritable != nil
	a.Facts = facts(r, o)
	if o != nil && o.folder.Receipt == nil {
		q := o.openRequest()
		q.Counts = r.answered() != nil
		a.Open = []engine.OpenRequest{q}
	}
	a.Graph, a.Untrusted, a.Log = graph(r), untrusted(r), r.events.entries()
	a.Findings = append(a.Findings, findings(r, o)...)
}

func facts(r *view, o *request) []engine.Fact {
	var list []engine.Fact
	add := func(label templates.Key, value string) {
		if value != "" {
			list = append(list, engine.Fact{Label: r.Say("faber.fact." + label), Value: value})
		}
	}
	add("run", r.Snap.Key.ID)
	add("work", numbered(r.state.WorkID))
	add("workflow", r.workflowID())
	if letter := r.state.shape.letter; letter != 0 {
		add("shape", string(rune(letter)))
	}
	add("phase", r.state.CurrentPhase)
	add("step", r.state.CurrentStep)
	add("revision", fmt.Sprint(r.state.rev))
	add("updated", r.state.UpdatedAt)
	if retries := r.events.retries(); retries > 0 {
		add("retries", fmt.Sprint(retries))
	}
	if o != nil {
		add("request", o.folder.ID+" ("+o.req.Type+")")
	}
	if isQuiet(r) {
		add("quiet", r.Say("faber.fact.quiet.hour"))
	}
	for _, p := range lostAttempts(r) {
		add("lost", p)
	}
	return list
}

// isQuiet reports whether an agent that should be at work shows no sign of it.
func isQuiet(r *view) bool {
	changed := moment(r.state.UpdatedAt)
	return r.state.status == InProgress && !changed.IsZero() && r.Snap.Now.Sub(r.events.notBefore(changed)) > quiet
}

// graph is the plan as phases and steps, the current one marked.
func graph(r *view) []engine.Node {
	var nodes []engine.Node
	phase, step := r.state.at()
	for i, s := range r.plan().steps {
		n := engine.Node{ID: where(s.Phase, s.ID), Group: s.Phase, Label: s.ID, Status: r.state.shape.status(s.Phase, s.ID)}
		n.Current = s.Phase == phase && s.ID == step
		n.Gate = s.Destructive || r.cfg.isDestructive(s.ID) || n.Current && r.state.status == Awaiting
		n.Status = cmp.Or(n.Status, Pending)
		if i > 0 {
			n.After = []string{nodes[i-1].ID}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// untrusted is the resume command while nobody has agreed to it.
func untrusted(r *view) []engine.Untrusted {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || r.Snap.Facts.Trusted[CommandDigest(argv)] {
		return nil
	}
	return []engine.Untrusted{{Name: "faber.resume", Digest: CommandDigest(argv), Text: strings.Join(argv, " ")}}
}

// openRequest is a request for the inbox.
func (o *request) openRequest() engine.OpenRequest {
	q := o.evaluation().OpenRequest()
	q.Run, q.Where, q.Summary = o.run.Snap.Key, where(o.q.phase, o.q.step), o.q.shown.Summary
	q.Problem = o.run.Notes.Text(o.folder.Dir + "/problem.md")
	return q
}
