package afl

import (
	"path"

	"placet/engine"
	"placet/schemas"
)

// Machine is the AFL family. The zero value is ready for use.
type Machine struct{}

// New returns the machine.
func New() Machine { return Machine{} }

// Family implements [engine.Machine].
func (Machine) Family() string { return "afl" }

// Edges implements [engine.Machine].
func (Machine) Edges() []engine.Edge { return edges }

// Peek implements [engine.Machine].
func (Machine) Peek(body []byte) engine.Peek {
	type part struct {
		Status string `json:"status"`
	}
	type request struct {
		Status   string `json:"status"`
		OpenedAt text   `json:"opened_at"`
	}
	var st struct {
		Status      engine.Status      `json:"status"`
		Requests    map[string]request `json:"requests"`
		Checkpoints map[string]part    `json:"checkpoints"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Peek{}
	}
	p := engine.Peek{Status: st.Status, Final: final(st.Status), Touched: true}
	for _, c := range st.Checkpoints {
		// An aborted session ends its checkpoints one by one.
		p.Final = p.Final && over(engine.Status(c.Status))
	}
	for _, q := range st.Requests {
		if q.Status == open && !p.Final {
			p.Ask(q.OpenedAt.Time())
		}
	}
	return p
}

// Step implements [engine.Machine].
func (Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	if !session(s) && s.In("events.jsonl").Absent() && len(s.Under("requests")) == 0 {
		// The definitions may come at any time, into a folder that may be there.
		return engine.Plan{Follow: []string{path.Join(s.Dir, "specs")}}, nil
	}
	if len(s.Lacks(needs)) > 0 && !final((Machine{}).Peek(s.In("state.json").Body).Status) {
		return engine.Plan{Needs: needs}, nil
	}
	r := read(s)
	p, _ := r.next()
	if writes := len(p.Writes)+len(p.Removes)+len(p.Lines) > 0; !writes {
		// While something is owed, or moves, nobody has looked at all that
		// notes are about.
		r.stand(&p)
	}
	if !final(r.st.Status) {
		p.Needs = needs
		p.Follow = r.follow()
	}
	p.WakeAt(r.Wake)
	p.Holding = r.Holding
	return p, nil
}

// next is what is to be done now, first match: nothing while the state or the
// settings cannot be used; what the state owes; the next edge.
func (r *reading) next() (p engine.Plan, moved bool) {
	if r.torn || r.stateErr != "" {
		return p, false
	}
	if r.begins {
		return r.begin()
	}
	p = r.owed(r.st, false)
	if !p.Empty() {
		return p, false
	}
	if final(r.st.Status) {
		return r.abortCheckpoints()
	}
	if r.cfgBad || r.unsure() {
		return p, false
	}
	for _, look := range []func() (engine.Plan, bool){
		r.recorded, r.aborts, r.designs, r.defines, r.answers, r.attempts, r.moves, r.starts, r.ends,
	} {
		if p, ok := look(); ok {
			return p, true
		}
	}
	return engine.Plan{}, false
}

// stand adds what is due while no edge is taken: notes, commands under way, and
// the end of those that nobody wants any more.
func (r *reading) stand(p *engine.Plan) {
	if r.stateErr != "" && !r.torn {
		r.Notes.Beside(r.doc.Path, r.stateErr)
	}
	if r.stateErr == "" && !r.torn && !r.begins && !r.cfgBad {
		r.judgeAll()
		r.standNotes()
		r.findingNotes()
		p.Actions = r.actions(r.st)
		for i := range p.Actions {
			p.Actions[i].Recorded = true
		}
		p.Ends = r.unwanted(p.Actions)
	}
	r.Notes.Plan(r.Snap, p, func(note string) bool {
		return r.Held || r.torn || r.cfgBad && note != r.Note(upstreamYAML) && note != r.Note(upstreamJSON)
	})
}

// judgeAll looks at every answer and attempt, so that the notes are about all
// of them, whatever comes first.
func (r *reading) judgeAll() {
	if final(r.st.Status) {
		return
	}
	for _, id := range r.openIDs() {
		r.answerFor(id)
	}
	for _, id := range r.order {
		if c := r.checkpoint(id); c != nil && (c.Status == InProgress || c.Status == Waiting || c.Status == Validating) {
			r.try(id, c)
		}
	}
	if v := r.st.Review; v != nil && v.Status == open && v.Mode == reviewExternal && r.st.Status != Delegating {
		r.reviewFile(v.Round)
	}
}

// begin makes the first state: of a session that upstream has finished already,
// or of one whose checkpoints wait for approval.
func (r *reading) begin() (p engine.Plan, moved bool) {
	if r.Held || r.cfgBad {
		return p, false
	}
	r.st = State{SchemaVersion: 1, Family: "afl", SessionID: r.sessionID(), Language: r.language()}
	m := r.session(seen, Designing, "found", nil)
	if r.meta.Status == string(Completed) {
		m = r.session(adopted, Completed, "upstream has completed it", nil)
		m.st.Adopted = true
	}
	m.st.CreatedAt = m.now
	return m.plan(), true
}

func (r *reading) language() string {
	if r.Snap.Facts.Config.Language == "ko" {
		return "ko"
	}
	return "en"
}

// follow are the folders in which others may write what moves the session.
func (r *reading) follow() []string {
	dirs := []string{r.Path("specs"), r.Path("checkpoints")}
	for _, id := range r.order {
		c := r.checkpoint(id)
		if c == nil {
			continue
		}
		switch c.Status {
		case InProgress, Waiting, Validating:
			dirs = append(dirs, r.Path("delegations/"+id), r.Path(place(id, c.Iteration, "")))
		}
	}
	return dirs
}
