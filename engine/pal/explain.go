package pal

import (
	"fmt"
	"strings"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// awaitSources says what an orchestration waits for before placet admits it.
func awaitSources(r *view, w *run.Waiting) {
	if w.Bad(orchestrationFile, r.say("why.nothing"), r.say("who.starter"), r.say("unblock.orchestration")) || notedOutside(r, w) {
		return
	}
	w.Why("pal.why.torn", "file", orchestrationFile)
	w.Written(orchestrationFile)
}

// notedOutside says what is wrong with files outside the run's folder. It returns false if nothing
// is.
func notedOutside(r *view, w *run.Waiting) (any bool) {
	for _, need := range r.sources.needs {
		if words := r.run.Notes.Text(r.run.Note(need)); words != "" {
			any = true
			w.Why("pal.why.note", "file", need, "note", words)
			w.For("run.wait.usable", "file", need, "who", r.say("who.starter"))
			w.UnblockAt(need, r.say("unblock.mended"))
		}
	}
	return any
}

// awaitStarting says what an admitted run waits for before it starts.
func awaitStarting(r *view, w *run.Waiting) {
	switch {
	case w.Bad(orchestrationFile, r.say("why.nothing"), r.say("who.starter"), r.say("unblock.mended")), notedOutside(r, w):
	case r.control.Want == run.WantPause:
		w.Lacks(controlFile, r.say("wait.run"), r.say("unblock.run"), "pal.why.pause")
	case r.sources.design == nil:
		w.Why("pal.why.torn", "file", orchestrationFile)
		w.Written(orchestrationFile)
	case !r.sources.design.Autostart:
		w.Lacks(controlFile, r.say("wait.run"), r.say("unblock.run"), "pal.why.autostart")
	}
}

// awaitControl says how to pause, resume or abort a run.
func awaitControl(r *view, w *run.Waiting) {
	if r.run.State.Status == Paused {
		w.Why("pal.why.paused", "at", r.run.State.PausedAt)
		w.For("pal.wait.resume")
		w.Unblock(controlFile, r.say("unblock.resume"))
	}
	w.Noted(controlFile, r.say("why.control"))
}

// awaitDependencies names the ports that a port waits for.
func awaitDependencies(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	if r.run.State.Status == Pending {
		return
	}
	for _, id := range p.unmet() {
		w.Why("pal.why.waits", "port", p.id, "other", id, "state", r.ports[id].words())
	}
}

// words describes the status of a port in a few words.
func (p *port) words() string {
	if ids := p.BlockedBy.Escalations; len(ids) > 0 {
		return fmt.Sprintf("%s: %s %s", p.Status, ids[0], p.r.run.State.Escalations[ids[0]].Type)
	}
	if by := p.BlockedBy.Ports; len(by) > 0 {
		return p.r.say("line.cut_off", "status", p.Status, "ports", joined(by))
	}
	return string(p.Status)
}

// awaitSlot says why a port that is ready does not run.
func awaitSlot(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	switch untrusted := p.untrusted(); {
	case r.run.State.Status == Paused:
		w.Why("pal.why.ready.paused", "port", p.id)
	case len(untrusted) > 0:
		awaitTrust(p, untrusted, w)
	case r.conf().Still && p.hasCommands():
		w.Why("pal.why.ready.still", "port", p.id)
	case len(r.running()) >= r.slots():
		w.Why("pal.why.ready.slots", "port", p.id, "n", len(r.running()), "max", r.slots())
	}
}

// awaitTrust says that a port waits for a person to trust its commands.
func awaitTrust(p *port, roles []string, w *run.Waiting) {
	w.Why("pal.why.untrusted", "role", joined(roles), "port", p.id)
	w.For("pal.wait.trust", "port", p.id)
}

// awaitHandIn says what a running port awaits.
func awaitHandIn(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	if p.Status != Running {
		return
	}
	file, role, like := p.awaitedFile(), p.loop.role(), r.say("unblock.result")
	if role == roleTest {
		like = r.say("unblock.feedback")
	}
	if roles := p.untrusted(); len(roles) > 0 {
		awaitTrust(p, roles, w)
	}
	who, why := r.say("who."+role), templates.Key("pal.why.awaits.try")
	if p.Deadline != "" {
		why = "pal.why.awaits.until"
	}
	if w.Bad(file, r.say("why.awaits", "port", p.id, "file", file), who, like) {
		return
	}
	w.Lacks(file, "("+who+")", like, why, "port", p.id, "file", file, "n", p.LastTry-p.loop.FirstTry+1, "max", p.loop.MaxRetries, "at", p.Deadline)
}

// awaitDecision says what a blocked port waits for.
func awaitDecision(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	for _, id := range p.openEscalations(stopsOrHolds) {
		if q := r.run.Request(id); q != nil && q.Status == run.Open {
			w.Answer(q, "pal.why.blocked", "port", p.id, "reason", p.Reason, "title", r.run.State.Escalations[id].heading())
		}
	}
	if by := p.blockers(); len(by) > 0 {
		w.Why("pal.why.cut_off", "port", p.id, "ports", joined(by))
	}
}

// explain adds what no rule can say.
func explain(r *view, w *run.Waiting) {
	if !r.run.Begun {
		return
	}
	if isFinal(r.run.State.Status) {
		w.Why("pal.why.final", "status", r.run.State.Status, "reason", r.run.State.Last.Reason)
		return
	}
	for _, q := range r.run.Requests() {
		e := r.run.State.Escalations[q.ID]
		if q.Status != gate.Unanswered || e == nil {
			continue
		}
		if p := r.ports[string(e.PortID)]; p == nil || p.Status != Blocked {
			w.Answer(q, "pal.why.asked", "title", templates.Cut(e.heading(), 300))
		}
	}
	w.Unblock(controlFile, r.say("unblock.abort"))
}

// heading returns the title of an escalation on one line, without a full stop.
func (e *Escalation) heading() string {
	return strings.TrimSuffix(strings.TrimSuffix(run.OneLine(e.Title), "."), "。")
}
