package pal

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// outputs plans what the state calls for besides requests and the journal.
func outputs(r *view, w *run.Outputs) {
	if body := planFile(r); body != nil {
		w.Always("plan.json", body)
	}
	if !r.run.Begun {
		return
	}
	sessionFiles(r, w)
	answered := map[string][]string{} // by port
	for _, id := range slices.Sorted(maps.Keys(r.run.State.Escalations)) {
		w.Always(layout.PalEscalationFile(id), escalationFile(r, id))
		if e := r.run.State.Escalations[id]; e.Status != Open && strings.HasPrefix(string(e.ResolvedBy), "person:") {
			answered[string(e.PortID)] = append(answered[string(e.PortID)], id)
		}
	}
	for _, id := range r.order {
		p := r.ports[id]
		if p.FirstStartedAt == "" {
			continue
		}
		channelFiles(p, w)
		isTold := inboxFiles(p, w, answered[id])
		if isFinal(p.Status) {
			w.Once(layout.PalPortDir(id)+"/report.md", w.Fresh && p.CompletedAt == r.run.State.Last.At, func() []byte { return portReport(p) })
		}
		if p.Status == Running && !isFinal(r.run.State.Status) {
			commands(p, w, isTold)
		}
	}
	if isFinal(r.run.State.Status) {
		w.Once("report.md", w.Fresh, func() []byte { return runReport(r) })
	}
}

// planFile returns plan.json: the plan of the sources before the start, and of the admitted ports
// afterwards.
func planFile(r *view) []byte {
	if !r.run.Begun || r.run.State.Status == Pending {
		return r.sources.plan
	}
	d := r.run.Snap.In("plan.json")
	if !d.Absent() && (isFinal(r.run.State.Status) || isPlan(r, d)) {
		return nil
	}
	plan := CheckPorts(r.run.Lang, designs(r))
	plan.OrchestrationDigest = r.run.State.Digest
	return run.Encoded(plan)
}

// designs returns the admitted ports.
func designs(r *view) (ports []PortDesign) {
	for _, id := range r.order {
		p := r.run.State.Ports[id]
		ports = append(ports, PortDesign{ID: id, Order: p.Order, DependsOn: p.DependsOn, SpecPath: p.Spec})
	}
	return ports
}

// isPlan reports whether a plan.json matches the admitted ports, without planning them again.
func isPlan(r *view, d engine.Document) bool {
	plan, err := engine.Parse(d, func(name string, body []byte) (p PlanDocument, err error) {
		if err = schemas.Decode("", name, body, &p); err != nil {
			return p, err
		}
		var ports []PortDesign
		for _, one := range p.Ports {
			ports = append(ports, PortDesign{ID: one.ID, Order: one.Order, DependsOn: one.DependsOn, SpecPath: one.spec()})
		}
		anew := CheckPorts(r.run.Lang, ports)
		if anew.OrchestrationDigest = p.OrchestrationDigest; !bytes.Equal(run.Encoded(anew), body) {
			err = errChanged
		}
		return p, err
	})
	if err != nil || plan.OrchestrationDigest != r.run.State.Digest || len(plan.Ports) != len(r.order) {
		return false
	}
	for i, id := range r.order {
		p, one := r.run.State.Ports[id], plan.Ports[i]
		if one.ID != id || one.Order != p.Order || one.spec() != p.Spec || !slices.Equal(one.DependsOn, p.DependsOn) {
			return false
		}
	}
	return true
}

// escalationFile returns escalations/<id>.json.
func escalationFile(r *view, id string) []byte {
	e := r.run.State.Escalations[id]
	request := text(id)
	if e.AutoResolve {
		request = ""
	}
	o := schemas.Object{member("id", id), member("orchestration_id", r.run.State.ID), member("type", e.Type)}
	for _, m := range []schemas.Member{member("session_id", e.SessionID), member("port_id", e.PortID), member("reported_type", e.ReportedType)} {
		if m.Value != text("") {
			o = append(o, m)
		}
	}
	return run.Encoded(append(o, schemas.Object{
		member("severity", e.Severity), member("title", e.Title), member("description", e.Description), member("context", e.Context), member("suggested_actions", e.Actions),
		member("auto_resolve", e.AutoResolve), member("status", e.Status), member("request_id", request), member("created_at", e.OpenedAt),
		member("resolved_by", e.ResolvedBy), member("resolved_at", e.ResolvedAt), member("resolution", e.Resolution), member("comment", e.Comment),
	}...))
}

// hasMoved reports whether the transition that made the state moved a port or its loop.
func (p *port) hasMoved() bool {
	last, loop := p.r.run.State.Last, loopID(p.id, p.Round)
	is := func(subject string) bool { return subject == p.id || subject == loop }
	return is(*last.Subject) || slices.ContainsFunc(last.Also, func(m run.Moved) bool { return is(m.Subject) })
}

// inboxFiles plans the files that the workers of a port should read now. isTold is false while the
// instructions for the awaited worker cannot be written, because the document that they quote is
// unreadable. answered are the port's escalations with a person's answer.
func inboxFiles(p *port, w *run.Outputs, answered []string) (isTold bool) {
	isTold = true
	if role := p.loop.role(); role != "" && !isFinal(p.Status) {
		isNew := w.Fresh && p.Status == Running && p.hasMoved()
		file, _, _, sum := p.handedInBefore(role)
		isTold = sum == "" || !p.r.run.Undecidable(p.r.run.Snap.In(file))
		if isTold {
			w.Once(layout.PalInboxFile(p.id, role, fmt.Sprintf("try-%d.md", p.LastTry)), isNew, func() []byte { return tryText(p, role) })
		}
	}
	for _, id := range answered {
		e := p.r.run.State.Escalations[id]
		w.Once(layout.PalInboxFile(p.id, roleImpl, "answer-"+id+".md"), false, func() []byte { return answerText(p, id, e) })
		if e.Digest != "" && e.Subject == "session:"+memberPath(p.id, roleTest) {
			w.Once(layout.PalInboxFile(p.id, roleTest, "answer-"+id+".md"), false, func() []byte { return answerText(p, id, e) })
		}
	}
	return isTold
}

// notes reads everything that notes are about, whichever rule applied first.
func notes(r *view) {
	notesOnControl(r)
	if isFinal(r.run.State.Status) {
		notesOnHandIns(r)
		return
	}
	notesOnSources(r)
	notesOnHandIns(r)
	for _, p := range r.running() {
		p.handIns()
	}
	for _, file := range progressFiles(r) {
		r.readProgress(file)
	}
}

// notesOnControl notes why control.json has no effect.
func notesOnControl(r *view) {
	if !isFinal(r.run.State.Status) {
		return
	}
	d := r.run.Snap.In(controlFile)
	c, _ := run.Load[run.Control](&r.run.Input, d, "pal/control")
	// The state records its end to the second. A wish from within that second may have been obeyed
	// before the end, unless another wish ended the run.
	ended, byWish := r.run.State.Last.Cause[controlFile]
	isLater := byWish && ended != d.Sum || d.Changed.Truncate(time.Second).After(r.run.State.CompletedAt.Time())
	if c != nil && c.Want != run.WantAbort && isLater {
		r.run.Bad(d, r.say("note.final", "status", r.run.State.Status))
	}
}

// notesOnSources notes the sources that changed after they were admitted.
func notesOnSources(r *view) {
	st := r.run.State
	if st.Status == Pending {
		return
	}
	if d := r.run.Snap.In(orchestrationFile); d.Present() && d.Sum != st.Digest {
		r.run.Bad(d, r.say("note.source", "revision", st.AdmittedRevision))
	}
	if r.sources.design == nil {
		return
	}
	for _, p := range r.sources.design.Ports {
		have := st.Ports[p.ID]
		if have == nil || p.SpecPath == "" || r.run.State.Digest != r.sources.design.Digest {
			continue
		}
		if have.Order != p.Order || !slices.Equal(have.DependsOn, p.DependsOn) {
			r.run.Bad(r.run.Snap.Doc(p.SpecPath), r.say("note.dependencies", "port", p.ID, "revision", st.AdmittedRevision))
		}
	}
}
