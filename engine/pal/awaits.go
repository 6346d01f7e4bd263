package pal

import (
	"fmt"
	"strings"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// awaitSources says what an orchestration waits for before it is taken in.
func awaitSources(r *view, w *run.Waiting) {
	if w.Bad(orchestrationFile, "nothing starts", "starter", orchestrationExample) || r.notedOutside(w) {
		return
	}
	w.Why("%s or what it names is still being written: it is looked at again", orchestrationFile)
	w.Written(orchestrationFile)
}

// notedOutside says what is wrong with files outside the run's folder. It reports false
// where nothing is.
func (r *view) notedOutside(w *run.Waiting) (any bool) {
	for _, need := range r.sources.needs {
		if words := r.Notes.Text(r.Note(need)); words != "" {
			any = true
			w.Why("nothing starts: %s: %s", need, words)
			w.For("%s that can be used (starter)", need)
			w.UnblockAt(need, "the file without this mistake")
		}
	}
	return any
}

// awaitStarting says what a run waits for that has been taken in.
func awaitStarting(r *view, w *run.Waiting) {
	switch {
	case w.Bad(orchestrationFile, "nothing starts", "starter", "the file without this mistake"), r.notedOutside(w):
	case r.control.Want == wantPause:
		w.Why("nothing starts: control.json wants pause")
		w.For("control.json that wants run (person)")
		w.Unblock(controlFile, `{"want": "run", "by": "<you>"}`)
	case r.sources.design == nil:
		w.Why("%s or what it names is still being written: it is looked at again", orchestrationFile)
		w.Written(orchestrationFile)
	case !r.sources.design.Autostart:
		w.Lacks(controlFile, "that wants run (person)", `{"want": "run", "by": "<you>"}`, "nothing starts by itself: autostart is false")
	}
}

// awaitControl says how a run is paused, goes on or is given up.
func awaitControl(r *view, w *run.Waiting) {
	if r.State.Status == Paused {
		w.Why("nothing starts: the run is paused since %s", r.State.PausedAt)
		w.For("placet pal resume (person)")
		w.Unblock(controlFile, `{"want": "run", "by": "<you>"} has it go on (placet pal resume)`)
	}
	w.Noted(controlFile, "control.json is not obeyed")
}

// awaitDependencies says for which ports a port waits.
func awaitDependencies(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	if r.State.Status == Pending {
		return
	}
	for _, id := range p.unmet() {
		w.Why("%s waits for %s (%s)", p.id, id, r.ports[id].words())
	}
}

// words say in a few words where a port stands.
func (p *port) words() string {
	words := string(p.Status)
	if ids := p.BlockedBy.Escalations; len(ids) > 0 {
		words += fmt.Sprintf(": %s %s", ids[0], p.r.State.Escalations[ids[0]].Type)
	} else if len(p.BlockedBy.Ports) > 0 {
		words += ": cut off by " + joined(p.BlockedBy.Ports)
	}
	return words
}

// awaitSlot says why a port that is ready does not run.
func awaitSlot(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	switch untrusted := p.untrusted(); {
	case r.State.Status == Paused:
		w.Why("%s is ready, and nothing starts while the run is paused", p.id)
	case len(untrusted) > 0:
		w.Why("the command of the %s worker of %s is not trusted", joined(untrusted), p.id)
		w.For("placet trust for the command of %s (person)", p.id)
	case r.conf().Still && p.hasCommands():
		w.Why("%s is ready: no command may begin", p.id)
	case len(r.running()) >= r.slots():
		w.Why("%s is ready: %d of %d slots taken", p.id, len(r.running()), r.slots())
	}
}

// awaitHandIn says what a running port awaits.
func awaitHandIn(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	if p.Status != Running {
		return
	}
	file, like, who := p.awaitedFile(), `{"status": "ready", "summary": "<what was done>", "changed_files": []}`, "impl worker"
	if p.loop.role() == roleTest {
		like, who = `{"success": true} completes the port; false with failed_tests sends it back`, "test worker"
	}
	if roles := p.untrusted(); len(roles) > 0 {
		w.Why("the command of the %s worker of %s is not trusted", joined(roles), p.id)
		w.For("placet trust for the command of %s (person)", p.id)
	}
	until := ""
	if p.Deadline != "" {
		until = ", until " + string(p.Deadline)
	}
	if w.Bad(file, fmt.Sprintf("%s awaits %s", p.id, file), who, like) {
		return
	}
	w.Lacks(file, "("+who+")", like, "%s awaits %s (try %d of %d%s)", p.id, file, p.LastTry-p.loop.FirstTry+1, p.loop.MaxRetries, until)
}

// awaitDecision says what a blocked port waits for.
func awaitDecision(r *view, w *run.Waiting) {
	p := r.ports[w.Subject]
	for _, id := range p.openEscalations(stopsOrHolds) {
		if q := r.Request(id); q != nil && q.Status == run.Open {
			w.Answer(q, "%s is blocked (%s): a person is asked: %s", p.id, p.Reason, strings.TrimSuffix(run.OneLine(r.State.Escalations[id].Title), "."))
		}
	}
	if by := p.blockers(); len(by) > 0 {
		w.Why("%s is cut off by %s", p.id, joined(by))
	}
}

// explain adds what no rule says.
func explain(r *view, w *run.Waiting) {
	if !r.Begun {
		return
	}
	if isFinal(r.State.Status) {
		w.Why("status %s is final: %s", r.State.Status, r.State.Last.Reason)
		return
	}
	for _, q := range r.Requests() {
		e := r.State.Escalations[q.ID]
		if q.Status != gate.Unanswered || e == nil {
			continue
		}
		if p := r.ports[string(e.PortID)]; p == nil || p.Status != Blocked {
			w.Answer(q, "a person is asked, and work goes on: %s", templates.Cut(strings.TrimSuffix(run.OneLine(e.Title), "."), 300))
		}
	}
	w.Unblock(controlFile, `{"want": "abort", "by": "<you>", "reason": "<why>"} gives the orchestration up (placet pal abort)`)
}
