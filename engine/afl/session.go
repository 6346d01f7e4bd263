package afl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// aborts is the end that a person asks for, and what it does to checkpoints.
func (r *reading) aborts() (engine.Plan, bool) {
	if r.control.Want == wantAbort {
		m := r.session(abort, Aborted, orWord(r.control.Reason, "control.json wants abort"), r.causeOf("control.json", r.control.sum))
		m.close("", cancelled, "the session was aborted")
		return m.by(engine.Person(r.control.By)).plan(), true
	}
	for _, a := range r.answersTo(typeEscalation, typeApproval) {
		if a.Response == optAbort || a.Response == optReject {
			return r.abortedBy(a), true
		}
	}
	return engine.Plan{}, false
}

// abortedBy is the end that an answer asks for.
func (r *reading) abortedBy(a *answer) engine.Plan {
	m := r.session(abort, Aborted, a.why(), nil).take(a)
	m.close("", cancelled, "the session was aborted")
	return m.plan()
}

// abortCheckpoints is owed by an aborted session: it has no way out, yet its
// checkpoints end one by one.
func (r *reading) abortCheckpoints() (engine.Plan, bool) {
	for _, id := range r.order {
		c := r.checkpoint(id)
		if c == nil || over(c.Status) {
			continue
		}
		m := r.checkpointMove(id, sessionAborted, Aborted, "the session was aborted", nil)
		m.halt()
		m.c.AbortedBecause, m.c.FinishedAt = becauseSession, m.now
		m.close(id, cancelled, "the session was aborted")
		return m.plan(), true
	}
	return engine.Plan{}, false
}

// halt stops the worker and the run of a checkpoint.
func (m *move) halt() { m.c.Worker, m.c.Run, m.c.RetryAt, m.c.AnalysisUntil = nil, nil, "", "" }

// awaits reports whether checkpoints may await approval: S* of the page.
func (r *reading) awaits() bool {
	switch p := r.st.Pause; {
	case r.st.Status == Designing:
		return true
	case r.st.Status == Paused || r.st.Status == Escalated:
		return p != nil && p.Reason != pausePerson
	}
	return false
}

// changed reports whether the files hold another design than the approved one.
func (r *reading) changed() bool {
	return r.specs.readable && r.st.Approved != nil && string(r.specs.digest) != string(r.st.Approved.Digest)
}

// designs are the edges by which a design is read and approved.
func (r *reading) designs() (engine.Plan, bool) {
	for _, look := range []func() (engine.Plan, bool){
		r.specsRead, r.specsChanged, r.resumes, r.approves, r.changesAsked, r.asksApproval,
	} {
		if p, ok := look(); ok {
			return p, true
		}
	}
	return engine.Plan{}, false
}

func (r *reading) specsRead() (p engine.Plan, ok bool) {
	errors, warnings := ids(r.specs.findings, true), ids(r.specs.findings, false)
	same := string(r.specs.digest) == string(r.st.Specs.Digest) &&
		slices.Equal(errors, r.st.Specs.Errors) && slices.Equal(warnings, r.st.Specs.Warnings)
	if !r.awaits() || !r.specs.readable || same || r.undone() {
		return p, false
	}
	m := r.session(specsRead, r.st.Status, "checkpoints read", maps.Clone(r.specs.causes))
	m.reads()
	m.close("", superseded, "the checkpoints changed", typeApproval)
	return m.plan(), true
}

// reads notes the checkpoints as the files have them.
func (m *move) reads() {
	s, now := &m.st.Specs, m.r.specs
	if string(now.digest) != string(s.Digest) || s.SeenAt == "" {
		s.SeenAt = m.now
	}
	s.Layout, s.Digest = text(now.layout), text(now.digest)
	s.Errors, s.Warnings = ids(now.findings, true), ids(now.findings, false)
}

// undone reports whether a change that paused the session was taken back.
func (r *reading) undone() bool {
	p := r.st.Pause
	return p != nil && p.Reason == pauseChanged && r.specs.readable && !r.changed()
}

func (r *reading) specsChanged() (p engine.Plan, ok bool) {
	if r.st.Status != Delegating && r.st.Status != Escalated || r.st.Pause != nil || !r.changed() {
		return p, false
	}
	to := r.st.Status
	if to == Delegating {
		to = Paused
	}
	m := r.session(specsChanged, to, "the checkpoints differ from those approved", maps.Clone(r.specs.causes))
	m.st.Pause = &Pause{Reason: pauseChanged, At: m.now}
	return m.plan(), true
}

func (r *reading) resumes() (p engine.Plan, ok bool) {
	pause := r.st.Pause
	if r.st.Status != Paused && r.st.Status != Escalated || pause == nil {
		return p, false
	}
	to := r.st.Status
	if to == Paused {
		to = Delegating
	}
	switch {
	case pause.Reason == pausePerson && r.control.Want == wantRun:
		m := r.session(resume, to, orWord(r.control.Reason, "control.json wants run"), r.causeOf("control.json", r.control.sum))
		m.st.Pause = nil
		return m.by(engine.Person(r.control.By)).plan(), true
	case r.undone():
		m := r.session(resume, to, "the checkpoints are those approved again", maps.Clone(r.specs.causes))
		m.st.Pause = nil
		m.reads()
		m.close("", cancelled, "the checkpoints are those approved again", typeApproval)
		return m.plan(), true
	}
	return p, false
}

// approval says where a valid approval of the present design comes from.
type approval struct {
	gate.Decision
	source string
	by     string
	cause  map[string]engine.Digest
	answer *answer
}

// approval finds a valid approval, section 4.6 of the page; nil for none.
func (r *reading) approval() *approval {
	if !r.specs.readable || len(ids(r.specs.findings, true)) > 0 || string(r.specs.digest) != string(r.st.Specs.Digest) {
		return nil
	}
	if a := r.answerOf(typeApproval, optApprove); a != nil {
		return &approval{Decision: a.Decision, source: "request", by: a.By.User, answer: a}
	}
	at, stamped := r.stamped()
	if wish := r.st.Specs.ChangesRequested; wish != nil && wish.Digest == r.st.Specs.Digest {
		if stamped && at.After(wish.At.Time()) && (r.st.Pause == nil || at.After(r.st.Pause.At.Time())) {
			return r.stamp()
		}
		return nil
	}
	if p := r.st.Pause; p != nil {
		if stamped && at.After(p.At.Time()) {
			return r.stamp()
		}
		return nil
	}
	switch {
	case r.meta.Approved:
		return r.stampIn("meta", "meta.json", "")
	case r.specs.approvedAt != "" || r.specs.approvedBy != "":
		return r.stamp()
	}
	return nil
}

func (r *reading) stamp() *approval { return r.stampIn("stamp", specsYAML, r.specs.approvedBy) }

// stampIn is the approval that a file carries in itself. Whoever can write the file can
// write that as well: nil, with a note, where the gate asks for more.
func (r *reading) stampIn(source, file, by string) *approval {
	d := r.Snap.In(file)
	c := gate.Claim{Source: gate.FromStamp, Place: d.Path, Saved: d.Changed}
	c.Response, c.By.User = optApprove, by
	asked := gate.Asked{Gate: r.Snap.Facts.Config.GateFor("afl", typeApproval)}
	if open := r.openSubjects()[subject{typ: typeApproval}]; open != "" {
		asked.Present = r.folder(open).Dir + "/form.md"
	}
	made, problem := gate.Verify(c, asked)
	if problem != "" {
		r.Notes.Beside(d.Path, problem)
		return nil
	}
	return &approval{Decision: made, source: source, by: by, cause: r.causeOf(file, d.Sum)}
}

// stamped is when the file says that it was approved, for a stamp that must be
// later than something: one without a zone, from the future, or that stood
// there at the last approval, tells nothing of that.
func (r *reading) stamped() (time.Time, bool) {
	if a := r.st.Approved; a != nil && string(a.Stamp) == r.specs.approvedAt {
		return time.Time{}, false // it was there then
	}
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		t, err := time.Parse(form, r.specs.approvedAt)
		if err == nil && t.After(r.Snap.Now) {
			r.WakeAt(t) // until then
		} else if err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func (r *reading) approves() (p engine.Plan, ok bool) {
	a := r.approval()
	if !r.awaits() || a == nil || !a.Counts() {
		return p, false
	}
	m := r.session(approvedEvent, Approving, "approved by "+a.source, a.cause)
	if a.answer != nil {
		m.take(a.answer)
	} else if a.by != "" {
		m.by(engine.Person(a.by))
	} else {
		m.by("upstream")
	}
	m.close("", superseded, "approved elsewhere", typeApproval)
	m.st.Pause, m.st.Specs.ChangesRequested = nil, nil
	m.voidReview()
	m.st.Approved = &Approved{
		Digest: text(r.specs.digest), At: m.now, By: text(templates.Cut(a.by, engine.LongestReason)), Source: a.source,
		Stamp:       text(templates.Cut(r.specs.approvedAt, engine.LongestReason)),
		Definitions: r.specs.definitions(), Prerequisites: r.specs.pre,
	}
	return m.plan(), true
}

func (r *reading) changesAsked() (p engine.Plan, ok bool) {
	a := r.answerOf(typeApproval, optChanges)
	if !r.awaits() || a == nil {
		return p, false
	}
	m := r.session(changesRequested, r.st.Status, a.why(), nil).take(a)
	m.st.Specs.ChangesRequested = &ChangesRequested{
		Digest: r.st.Specs.Digest, At: m.now, By: text(a.By.User), Comment: text(a.Comment),
	}
	return m.plan(), true
}

// asksApproval asks once nobody has touched the checkpoints for a while, so
// that half-saved ones are not asked about.
func (r *reading) asksApproval() (p engine.Plan, ok bool) {
	s := r.st.Specs
	if !r.awaits() || r.Held || s.Digest == "" || !r.specs.readable || r.openRequest(typeApproval, "") != nil {
		return p, false
	}
	if s.ChangesRequested != nil && s.ChangesRequested.Digest == s.Digest {
		return p, false
	}
	due := s.SeenAt.Time().Add(r.cfg.ApprovalQuiet)
	if r.st.Pause != nil {
		if after := r.st.Pause.At.Time().Add(r.cfg.ApprovalQuiet); after.After(due) {
			due = after
		}
	}
	if r.Snap.Now.Before(due) {
		r.WakeAt(due)
		return p, false
	}
	m := r.session(approvalAsked, r.st.Status, "the checkpoints wait for approval", nil)
	m.ask(typeApproval, "")
	return m.plan(), true
}

// defines applies the approved definitions, and lets the session begin.
func (r *reading) defines() (engine.Plan, bool) {
	if r.st.Status != Approving {
		return engine.Plan{}, false
	}
	for _, id := range r.order {
		if p, ok := r.define(id); ok || r.Held && r.checkpoint(id) == nil {
			return p, ok
		}
	}
	m := r.session(delegate, Delegating, "the definitions are applied", nil)
	if m.st.StartedAt == "" {
		m.st.StartedAt = m.now
	}
	return m.plan(), true
}

func (r *reading) define(id string) (p engine.Plan, ok bool) {
	d, c := r.defs[id], r.checkpoint(id)
	switch {
	case d != nil && c == nil:
		if r.Unsure(r.Snap.In("delegations/" + id + "/status.json")) {
			return p, false // it may say that the checkpoint has passed already
		}
		return r.defineNew(*d), true
	case d != nil && c.Status != Aborted && c.DefinitionDigest != d.digest():
		m := r.checkpointMove(id, redefined, Pending, "the definition changed", nil)
		m.halt()
		m.c.DefinitionDigest, m.c.MaxIterations, m.c.FinishedAt = d.digest(), m.c.Iteration+r.cfg.MaxIterations, ""
		m.c.Epoch++
		m.close(id, superseded, "the definition changed")
		m.voidReview()
		return m.plan(), true
	case d == nil && !over(c.Status):
		m := r.checkpointMove(id, removed, Aborted, "it is defined no longer", nil)
		m.halt()
		m.c.AbortedBecause, m.c.FinishedAt = becauseRemoved, m.now
		m.close(id, superseded, "it is defined no longer")
		return m.plan(), true
	}
	return p, false
}

// defineNew makes a checkpoint. Attempts that lie there already are never
// overwritten: the next one takes the number after the last.
func (r *reading) defineNew(d Definition) engine.Plan {
	last := r.lastIteration(d.ID)
	finished, cause := r.finishedBefore(d.ID)
	m := r.checkpointMove(d.ID, defined, Pending, "approved", nil)
	if finished {
		m = r.checkpointMove(d.ID, adopted, Completed, "its status.json says completed", cause)
		m.c.FinishedAt = m.now
	}
	m.c.DefinitionDigest, m.c.Iteration, m.c.MaxIterations = d.digest(), last, last+r.cfg.MaxIterations
	m.voidReview()
	return m.plan()
}

func (m *move) voidReview() {
	if v := m.st.Review; v != nil {
		v.Status, v.Reopen = void, nil
		m.close("", superseded, "the checkpoints changed", typeReview)
	}
}

// moves are the session's edges that follow from its checkpoints or from a
// person's wish.
func (r *reading) moves() (p engine.Plan, ok bool) {
	escalated := r.escalated()
	switch s := r.st.Status; {
	case (s == Delegating || s == Paused) && len(escalated) > 0:
		return r.session(escalate, Escalated, "a person must decide: "+strings.Join(escalated, ", "), nil).plan(), true
	case s == Escalated && len(escalated) == 0:
		to := Delegating
		if r.st.Pause != nil {
			to = Paused
		}
		return r.session(resolve, to, "no checkpoint is escalated any more", nil).plan(), true
	case (s == Delegating || s == Escalated) && r.st.Pause == nil && r.control.Want == wantPause:
		to := s
		if s == Delegating {
			to = Paused
		}
		m := r.session(pauseEvent, to, orWord(r.control.Reason, "control.json wants pause"), r.causeOf("control.json", r.control.sum))
		m.st.Pause = &Pause{Reason: pausePerson, At: m.now, By: text(templates.Cut(r.control.By, engine.LongestReason))}
		return m.by(engine.Person(r.control.By)).plan(), true
	}
	return r.dependents()
}

func (r *reading) escalated() []string {
	var list []string
	for _, id := range r.order {
		if c := r.checkpoint(id); c != nil && c.Status == Escalated {
			list = append(list, id)
		}
	}
	return list
}

// finished reports whether every checkpoint is over, and how many passed.
func (r *reading) finished() (all bool, done int) {
	for _, id := range r.order {
		c := r.checkpoint(id)
		if c == nil || !over(c.Status) {
			return false, 0
		}
		if c.Status == Completed {
			done++
		}
	}
	return len(r.order) > 0, done
}

// ends are the edges of a session whose checkpoints are over.
func (r *reading) ends() (p engine.Plan, ok bool) {
	all, done := r.finished()
	if r.st.Status != Delegating || !all {
		return p, false
	}
	if done == 0 {
		return r.session(nothingLeft, Aborted, "every checkpoint was aborted", nil).plan(), true
	}
	return r.reviews(done)
}

// causeOf is a cause of one file of the session's folder.
func (r *reading) causeOf(rel string, sum engine.Digest) map[string]engine.Digest {
	return map[string]engine.Digest{rel: sum}
}

func orWord(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
