package optimizer

import (
	"fmt"
	"path"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// Statuses that only an account has.
const (
	unbegun    engine.Status = "new"                // a trigger stands, or is about to; no state yet
	unreadable engine.Status = "unreadable"         // state.json cannot be used
	wrongName  engine.Status = "misnamed"           // the folder's name is no run id
	cutOff     engine.Status = "cut off in archive" // put away before its cycle had ended
	nowhere    engine.Status = "absent"             // the run has no cycle
)

// Classes that an account names.
const (
	served   = "served"
	archived = "archived"
)

// Account implements [engine.Machine].
func (Machine) Account(s engine.Snapshot) engine.Account {
	a := engine.Account{Key: s.Key, Class: served, Short: s.Key.ID, Status: nowhere}
	if s.Class == layout.OptimizerMisnamed {
		accountMisnamed(s, &a)
		return a
	}
	r := read(s)
	if s.Class == layout.OptimizerArchived {
		r.accountArchived(&a)
		return a
	}
	next := r.foresee()
	if !r.begun && r.stateErr == "" && !r.torn && r.trigger.Absent() && next == nil {
		a.Absent = true
		a.Why = []string{"no cycle has begun in this run: there is no optimizer/trigger.json"}
		a.Moves = []engine.Move{{Path: r.Path("trigger.json"), Content: `{"workflow_name": "<workflow>"} begins one (placet optimizer trigger)`}}
		return a
	}
	a.Status = r.word()
	a.Final = final(r.st.Status)
	a.Stands = r.stateErr != "" && !r.torn
	a.Unaccounted = r.unaccounted
	a.Contradict(r.contradictions())
	r.explain(&a, next)
	a.Facts, a.Open, a.Parts, a.Findings, a.Log = r.facts(), r.asked(), r.parts(), append(a.Findings, r.findings()...), r.log()
	a.Holding = r.BeingWritten()
	return a
}

// accountMisnamed tells a folder in which no cycle can begin.
func accountMisnamed(s engine.Snapshot, a *engine.Account) {
	d := s.In("trigger.json")
	if a.Absent = d.Absent(); a.Absent {
		return
	}
	a.Status, a.Stands = wrongName, true
	why := fmt.Sprintf("no cycle begins here: the run id %q does not match %s", layout.OptimizerRunID(s.Dir), layout.OptimizerRunIDPattern)
	a.Why = []string{why}
	a.Await("a run id as the folder's name (person)")
	a.Moves = []engine.Move{{Path: layout.OptimizerInActive(s.Dir, "<YYYYMMDD>-<key>-<slug>", "trigger.json"), Content: "what stands in " + d.Path}}
	a.Findings = []engine.Finding{{Severity: "error", Path: d.Path, Text: why}}
}

// accountArchived tells a cycle that was put away, which nothing moves any more.
func (r *reading) accountArchived(a *engine.Account) {
	a.Class, a.Final = archived, true
	switch {
	case r.stateErr != "":
		a.Status = unreadable
		a.Why = []string{r.stateErr}
		a.Findings = []engine.Finding{{Severity: "warning", Path: r.doc.Path, Text: r.stateErr}}
	case r.begun && final(r.st.Status):
		a.Status = r.st.Status
		a.Why = []string{fmt.Sprintf("status %s is final, and the run was put away: its files are read, and never written", a.Status)}
	case r.begun || !r.trigger.Absent():
		a.Status = cutOff
		a.Why = []string{"the run was put away before its cycle had ended" + r.standsAt() + ": it has no goal, and nothing moves it"}
		back := layout.OptimizerInActive(r.Snap.Dir, r.runID(), "")
		a.Moves = []engine.Move{{Path: path.Dir(back), Content: "moving the run's folder back there resumes the cycle"}}
	default:
		a.Absent = true
		return
	}
	a.Facts, a.Log = r.facts(), r.log()
}

// PeekClass implements [engine.Classed]: nothing moves a run that was put away, and
// nobody is asked about it, wherever its cycle stood.
func (m Machine) PeekClass(class string, state []byte) (p engine.Peek, ok bool) {
	if class != layout.OptimizerArchived {
		return p, false
	}
	p = engine.Peek{Status: cutOff, Final: true}
	if at := m.Peek(state).Status; final(at) {
		p.Status = at
	}
	return p, true
}

// standsAt is where a cycle stood, in words.
func (r *reading) standsAt() string {
	if !r.begun {
		return ""
	}
	return ", in " + string(r.st.Status)
}

func (r *reading) word() engine.Status {
	switch {
	case r.begun:
		return r.st.Status
	case r.stateErr != "" || r.torn:
		return unreadable
	}
	return unbegun
}

// foreseen is what the next pass does.
type foreseen struct {
	// move is the transition that it makes, nil for none.
	move *engine.Transition
	// writes are the files that it writes besides.
	writes []string
}

// foresee judges all that a pass would judge, so that the notes are those of a
// pass, and returns what the next one does; nil for nothing.
func (r *reading) foresee() *foreseen {
	if r.torn || r.stateErr != "" {
		return nil
	}
	p, moved := r.next()
	if r.begun {
		r.lookAround()
	}
	f := &foreseen{}
	for _, d := range p.Writes {
		f.writes = append(f.writes, d.Path)
	}
	if moved && len(p.Transitions) > 0 {
		f.move = &p.Transitions[0]
	}
	if f.move == nil && len(f.writes) == 0 {
		return nil
	}
	return f
}

// asked are the open requests, oldest first.
func (r *reading) asked() []engine.Asked {
	var list []engine.Asked
	if final(r.st.Status) || r.stateErr != "" {
		return nil
	}
	for _, q := range r.st.Requests {
		if q.Status == open {
			list = append(list, r.askedOf(q))
		}
	}
	return list
}

// whereOf is the place of a request: what it is about.
func (r *reading) whereOf(q *Request) string {
	switch q.Type {
	case typeHITL:
		return fmt.Sprintf("level %d", r.st.Level.Current)
	case typeUnknown:
		return "attempt " + string(q.Subject)
	}
	return string(r.st.Status)
}

func (r *reading) askedOf(q *Request) engine.Asked {
	f := r.folder(q.ID)
	a := r.judging(q, f).Account()
	a.Run, a.Where = r.Snap.Key, r.whereOf(q)
	a.Problem = orWord(r.Notes.Text(f.Dir+"/problem.md"), r.Notes.Text(r.Note(f.Doc.Path)))
	if q.Type == typeHITL {
		a.Summary = r.st.WorkflowName + ", escalation " + escalationWords(r.st.Decision)
		a.NoReject = "placet optimizer stop gives the cycle up"
	}
	return a
}

// hearsLate reports whether nobody answered in time, and a late answer would still
// be heard.
func (r *reading) hearsLate() bool {
	q := r.hitl()
	return q != nil && q.Status == gate.Expired && r.lateAnswer() == nil
}
