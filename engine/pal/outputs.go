package pal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// outputs are what the state calls for besides requests and the journal.
func outputs(r *view, w *run.Outputs) {
	if body := r.planFile(); body != nil {
		w.Always("plan.json", body)
	}
	if !r.Begun {
		return
	}
	sessionFiles(r, w)
	for _, id := range slices.Sorted(maps.Keys(r.State.Escalations)) {
		w.Always(layout.PalEscalationFile(id), r.record(id))
	}
	for _, id := range r.order {
		p := r.ports[id]
		if p.FirstStartedAt == "" {
			continue
		}
		channelFiles(p, w)
		isTold := p.inboxFiles(w)
		if isFinal(p.Status) {
			w.Once(layout.PalPortDir(id)+"/report.md", w.Fresh && p.CompletedAt == r.State.Last.At, func() []byte { return p.report() })
		}
		if p.Status == Running && !isFinal(r.State.Status) {
			commands(p, w, isTold)
		}
	}
	if isFinal(r.State.Status) {
		w.Once("report.md", w.Fresh, r.report)
	}
}

// planFile is plan.json: of the sources before the start, and then of what was taken in.
func (r *view) planFile() []byte {
	if !r.Begun || r.State.Status == Pending {
		return r.sources.plan
	}
	if isFinal(r.State.Status) && !r.Snap.In("plan.json").Absent() {
		return nil
	}
	var ports []PortDesign
	for _, id := range r.order {
		p := r.State.Ports[id]
		ports = append(ports, PortDesign{ID: id, Order: p.Order, DependsOn: p.DependsOn, SpecPath: p.Spec})
	}
	plan := CheckPorts(ports)
	plan.OrchestrationDigest = r.State.Digest
	return run.Must(schemas.Encode(plan))
}

// record is escalations/<id>.json.
func (r *view) record(id string) []byte {
	e := r.State.Escalations[id]
	request := text(id)
	if e.AutoResolve {
		request = ""
	}
	o := schemas.Object{member("id", id), member("orchestration_id", r.State.ID), member("type", e.Type)}
	for _, m := range []schemas.Member{member("session_id", e.SessionID), member("port_id", e.PortID), member("reported_type", e.ReportedType)} {
		if m.Value != text("") {
			o = append(o, m)
		}
	}
	return run.Must(schemas.Encode(append(o, schemas.Object{
		member("severity", e.Severity), member("title", e.Title), member("description", e.Description), member("context", e.Context), member("suggested_actions", e.Actions),
		member("auto_resolve", e.AutoResolve), member("status", e.Status), member("request_id", request), member("created_at", e.OpenedAt),
		member("resolved_by", e.ResolvedBy), member("resolved_at", e.ResolvedAt), member("resolution", e.Resolution), member("comment", e.Comment),
	}...)))
}

// inboxFiles plans what the workers of a port should read now. isTold is false where the one
// who is awaited cannot be told what to do yet: what the text quotes cannot be read.
func (p *port) inboxFiles(w *run.Outputs) (isTold bool) {
	isTold = true
	if role := p.loop.role(); role != "" && !isFinal(p.Status) {
		isNew := w.Fresh && p.Status == Running
		file, _, _, sum := p.handedInBefore(role)
		isTold = sum == "" || !p.r.Undecidable(p.r.Snap.In(file))
		if isTold {
			w.Once(layout.PalInboxFile(p.id, role, fmt.Sprintf("try-%d.md", p.LastTry)), isNew, func() []byte { return p.tryText(role) })
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.r.State.Escalations)) {
		e := p.r.State.Escalations[id]
		if string(e.PortID) != p.id || e.Status == Open || !strings.HasPrefix(string(e.ResolvedBy), "person:") {
			continue
		}
		body := p.answerText(id, e)
		w.Once(layout.PalInboxFile(p.id, roleImpl, "answer-"+id+".md"), false, func() []byte { return body })
		if e.Digest != "" && e.Subject == "session:"+memberPath(p.id, roleTest) {
			w.Once(layout.PalInboxFile(p.id, roleTest, "answer-"+id+".md"), false, func() []byte { return body })
		}
	}
	return isTold
}

// notes looks at whatever stands in the way, whatever a rule came first.
func notes(r *view) {
	r.notesOnControl()
	if isFinal(r.State.Status) {
		r.notesOnHandIns()
		return
	}
	r.notesOnSources()
	r.notesOnHandIns()
	for _, p := range r.running() {
		p.inHand()
	}
	for _, file := range r.progressFiles() {
		r.readProgress(file)
	}
}

// notesOnControl says of a wish that cannot be fulfilled.
func (r *view) notesOnControl() {
	if !isFinal(r.State.Status) {
		return
	}
	d := r.Snap.In(controlFile)
	c, _ := run.Load[Control](&r.Input, d, "pal/control")
	if c != nil && c.Want != wantAbort && d.Changed.After(r.State.CompletedAt.Time()) {
		r.Bad(d, fmt.Sprintf("the orchestration is %s, and that is final: begin another one", r.State.Status))
	}
}

// notesOnSources says what was changed after it was taken in.
func (r *view) notesOnSources() {
	st := r.State
	if st.Status == Pending {
		return
	}
	goesOn := fmt.Sprintf("this run goes on with what it took in at revision %d; start another one", st.AdmittedRevision)
	if d := r.Snap.In(orchestrationFile); d.Present() && d.Sum != st.Digest {
		r.Bad(d, "changed after the start: "+goesOn)
	}
	if r.sources.design == nil {
		return
	}
	for _, p := range r.sources.design.Ports {
		have := st.Ports[p.ID]
		if have == nil || p.SpecPath == "" || r.State.Digest != r.sources.design.Digest {
			continue
		}
		if have.Order != p.Order || !slices.Equal(have.DependsOn, p.DependsOn) {
			r.Bad(r.Snap.Doc(p.SpecPath), fmt.Sprintf("the dependencies of port %s changed after the start: %s", p.ID, goesOn))
		}
	}
}
