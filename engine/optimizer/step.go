package optimizer

import (
	"fmt"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reader"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Machine is the family of the workflow optimizer's cycles. The zero value is
// ready for use.
type Machine struct{}

// New returns the machine.
func New() Machine { return Machine{} }

// Family implements [engine.Machine].
func (Machine) Family() string { return "optimizer" }

// Edges implements [engine.Machine].
func (Machine) Edges() []engine.Edge { return edges }

// Peek implements [engine.Machine]. A cycle whose request nobody answered in time
// still hears a late answer.
func (Machine) Peek(body []byte) engine.Peek {
	type request struct {
		Status   string `json:"status"`
		OpenedAt text   `json:"opened_at"`
	}
	var st struct {
		Status   engine.Status `json:"status"`
		Goal     *Goal         `json:"goal"`
		Requests []request     `json:"requests"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Peek{}
	}
	p := engine.Peek{Status: st.Status, Final: final(st.Status), Touched: true}
	if p.Final {
		p.Final = st.Goal == nil || st.Goal.ApprovedBy != byTimeout
		return p
	}
	for _, q := range st.Requests {
		if q.Status == open {
			p.Ask(q.OpenedAt.Time())
		}
	}
	return p
}

// Step implements [engine.Machine].
func (Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	switch s.Class {
	case layout.OptimizerArchived:
		return engine.Plan{}, nil
	case layout.OptimizerMisnamed:
		return misnamed(s), nil
	}
	r := read(s)
	needs := r.needs()
	if len(s.Lacks(needs)) > 0 {
		return engine.Plan{Needs: needs}, nil
	}
	p, moved := r.next()
	if !moved && len(p.Writes)+len(p.Removes)+len(p.Lines) == 0 {
		r.stand(&p)
	}
	p.Needs = needs
	p.Follow = r.follow()
	p.WakeAt(r.Wake)
	p.Holding = r.Holding
	return p, nil
}

// misnamed says in a note that a folder's name is no run's: nothing begins there.
func misnamed(s engine.Snapshot) (p engine.Plan) {
	r := reader.Reader{Snap: s}
	if d := s.In("trigger.json"); !d.Absent() {
		r.Bad(d, fmt.Sprintf("no cycle begins here: the run id %q does not match %s; move trigger.json to a run whose folder is named so, such as 20260302-msowd-sop-masking",
			layout.OptimizerRunID(s.Dir), layout.OptimizerRunIDPattern))
	}
	r.Notes.Plan(s, &p, nil)
	return p
}

// next is what is to be done now, first match: nothing while the state cannot be
// used; what the state owes; the next edge.
func (r *reading) next() (p engine.Plan, moved bool) {
	switch {
	case r.torn || r.stateErr != "":
		return p, false
	case !r.begun && r.trigger.Absent():
		return r.reenter(), false
	case !r.begun:
		return r.begin()
	}
	p = r.owed(false)
	if len(p.Writes)+len(p.Removes)+len(p.Lines) > 0 {
		return p, false
	}
	if next, ok := r.edge(); ok {
		return next, true
	}
	return p, false
}

// edge is the next transition.
func (r *reading) edge() (engine.Plan, bool) {
	looks := map[engine.Status][]func() (engine.Plan, bool){
		Context:   {r.recorded, r.stops, r.capAnswered, r.collects},
		Deciding:  {r.stops, r.decides},
		Running:   {r.recorded, r.stops, r.fails, r.retries, r.retrieves, r.reports},
		Reporting: {r.stops, r.records},
		Awaiting:  {r.recorded, r.answers, r.stops, r.timesOut},
	}
	if r.unsureReceipt() || r.unsureStop {
		return engine.Plan{}, false
	}
	now := looks[r.st.Status]
	if r.st.Status == Running && r.unsureLevel() {
		now = now[:2]
	}
	for _, look := range now {
		if p, ok := look(); ok || r.factWaits {
			return p, ok
		}
	}
	return engine.Plan{}, false
}

// begin makes the first state.
func (r *reading) begin() (p engine.Plan, moved bool) {
	if !r.triggerOK || r.Held {
		return p, false
	}
	r.st = State{
		SchemaVersion: 1, RunID: r.runID(), WorkflowName: r.trig.WorkflowName, BeganAt: seconds(r.Snap.Now), Lang: r.cfg.Language,
		Trigger: schemas.Raw(r.trigger.Body), TriggerDigest: text(r.trigger.Sum), TimeoutReentries: r.trig.TimeoutReentries, trig: r.trig,
	}
	m := r.move(triggered, Context, "trigger.json ("+r.trig.TriggerType+")", r.trigger)
	if r.trig.TimeoutReentries > r.cfg.MaxTimeoutReentries {
		m.ask(typeCap, typeCap, "", "")
	}
	return m.plan(), true
}

// stops gives the cycle up where a person or an agent says so.
func (r *reading) stops() (engine.Plan, bool) {
	if r.stop == nil {
		return engine.Plan{}, false
	}
	m := r.move(stopped, Failed, "stopped: "+r.stop.Reason, r.Snap.In("stop.json"))
	if r.stop.By != "" {
		m.actor = engine.Person(string(r.stop.By))
	}
	return m.fail(r.stop.Reason), true
}

// fail ends the cycle without a goal: open requests are cancelled, and the audit
// database hears of it unless a row is owed already.
func (m *move) fail(reason string) engine.Plan {
	m.st.Error = text(templates.Cut(reason, longestError))
	m.endAll(gate.Cancelled, "the cycle has failed")
	if m.st.AuditID == "" {
		m.st.AuditID = text(rowID(auditPrefix, m.r.Snap.Key.ID, m.st.Revision, purposeAudit, m.now))
	}
	return m.plan()
}

// longestError is how much of an error the state keeps, in bytes.
const longestError = 4 << 10

// stand adds what is due while nothing is written: notes, and the end of actions
// that nobody wants any more.
func (r *reading) stand(p *engine.Plan) {
	if r.stateErr != "" && !r.torn {
		r.Notes.Beside(r.doc.Path, r.stateErr)
	}
	if r.begun && r.stateErr == "" && !r.torn {
		r.lookAround()
		p.Ends = r.unwanted(p.Actions)
	}
	r.Notes.Plan(r.Snap, p, func(note string) bool { return r.Held || r.torn })
}

// lookAround reads whatever the status has others write, so that the notes are
// about all of it, whatever comes first.
func (r *reading) lookAround() {
	switch r.st.Status {
	case Deciding:
		r.inputs()
	case Running:
		r.levelError()
		r.data()
		r.suggestions()
	case Awaiting:
		if r.hitlAnswer() == nil {
			r.goalFree(goalOf(r.st, nil))
		}
	}
	for _, q := range r.st.Requests {
		if q.Status == open && q.Type != typeHITL {
			r.answerFor(q)
		}
	}
	r.lateStop()
	r.earlierNotes()
	r.standNotes()
}

// follow are the folders in which others may write what moves the run.
func (r *reading) follow() []string {
	if !r.begun {
		return []string{r.Snap.Dir}
	}
	switch r.st.Status {
	case Context, Deciding, Running:
		return []string{r.Path("inputs")}
	case Reached:
		if r.st.Goal != nil && r.st.Goal.ApprovedBy == byTimeout && r.st.RequestID != "" {
			return []string{r.Path("requests/" + string(r.st.RequestID))}
		}
	}
	return nil
}

// wait has the run looked at when a time comes, and reports whether it has come.
func (r *reading) due(at text) bool {
	t := at.Time()
	if t.IsZero() || !r.Snap.Now.Before(t) {
		return true
	}
	r.WakeAt(t)
	return false
}

// after is a moment so much later than now.
func (m *move) after(d time.Duration) text { return seconds(m.r.Snap.Now.Add(d)) }
