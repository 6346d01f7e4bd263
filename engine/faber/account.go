package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
)

// quiet is how long an agent may be silent before show says so.
const quiet = time.Hour

// tell adds to the view for people what is the family's own.
func (r *view) tell(a *engine.Account) {
	a.Short = r.short()
	if r.foreign() {
		a.Class = "foreign"
	}
	if r.Begun && r.State.status == "" {
		a.Status = run.StatusUnreadable
	}
	o := r.asked()
	a.Stands = r.State.unfit != "" || r.Unwritable != nil
	a.Facts = r.facts(o)
	if o != nil && o.a.Receipt == nil {
		a.Open = []engine.Asked{r.askedOf(o)}
	}
	a.Graph, a.Untrusted, a.Log = r.graph(), r.untrusted(), r.log()
	a.Findings = append(a.Findings, r.findings(o)...)
}

func (r *view) facts(o *open) []engine.Fact {
	list := []engine.Fact{
		{Label: "run", Value: r.Snap.Key.ID},
		{Label: "work item", Value: numbered(r.State.WorkID)},
		{Label: "workflow", Value: r.workflowID()},
		{Label: "shape", Value: string(rune(r.State.shape.letter))},
		{Label: "phase", Value: r.State.CurrentPhase},
		{Label: "step", Value: r.State.CurrentStep},
		{Label: "revision", Value: fmt.Sprint(r.State.rev)},
		{Label: "updated", Value: r.State.UpdatedAt},
	}
	add := func(holds bool, label, value string) {
		if holds {
			list = append(list, engine.Fact{Label: label, Value: value})
		}
	}
	retries := r.retries()
	add(retries > 0, "retries", fmt.Sprint(retries))
	if o != nil {
		add(true, "request", o.a.ID+" ("+o.req.Type+")")
	}
	add(r.isQuiet(), "quiet", "no event and no change for over an hour")
	for _, p := range r.lostAttempts() {
		add(true, "attempt without outcome", p)
	}
	return slices.DeleteFunc(list, func(f engine.Fact) bool { return f.Value == "" })
}

// retries is how often steps were taken up again.
func (r *eventLog) retries() int {
	n := 0
	for _, e := range r.events {
		if e.Type == "step_retry" {
			n++
		}
	}
	return n
}

// isQuiet reports whether an agent that should be at work shows no sign of it.
func (r *view) isQuiet() bool {
	if r.State.status != InProgress {
		return false
	}
	changed := moment(r.State.UpdatedAt)
	return !changed.IsZero() && r.Snap.Now.Sub(r.notBefore(changed)) > quiet
}

// graph is the plan as phases and steps, the current one marked.
func (r *view) graph() []engine.Node {
	steps := r.plan().steps
	var nodes []engine.Node
	phase, step, _ := r.State.at()
	var before string
	for _, s := range steps {
		n := engine.Node{ID: where(s.Phase, s.ID), Group: s.Phase, Label: s.ID, Status: r.State.shape.status(s.Phase, s.ID)}
		n.Current = s.Phase == phase && s.ID == step
		n.Gate = s.Destructive || r.namedDestructive(s.ID) || n.Current && r.State.status == Awaiting
		n.Status = cmp.Or(n.Status, Pending)
		if before != "" {
			n.After = []string{before}
		}
		before = n.ID
		nodes = append(nodes, n)
	}
	return nodes
}

// untrusted is the resume command while nobody has agreed to it.
func (r *view) untrusted() []engine.Untrusted {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || r.Snap.Facts.Trusted[CommandDigest(argv)] {
		return nil
	}
	return []engine.Untrusted{{Name: "faber.resume", Digest: CommandDigest(argv), Text: strings.Join(argv, " ")}}
}

func (r *eventLog) log() []engine.Entry {
	var list []engine.Entry
	for _, e := range r.events {
		list = append(list, engine.Entry{At: moment(e.Timestamp), Number: e.Number, Event: e.Type, Where: e.place(), Who: e.User, Message: e.Message})
	}
	return list
}

// askedOf is a request for the inbox.
func (r *requests) askedOf(o *open) engine.Asked {
	q := r.judging(o).Account()
	q.Run, q.Where, q.Summary = r.Snap.Key, where(o.q.phase, o.q.step), o.q.shown.Summary
	q.Problem = r.Notes.Text(o.a.Dir + "/problem.md")
	return q
}
