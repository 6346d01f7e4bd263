package optimizer

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// answer is an answer that counts, to an open request.
type answer struct {
	gate.Decision
	id   string
	path string // as the family writes paths
	// revision is that of the transition that the answer was to make where a
	// crash left its receipt without it; 0 where there was none.
	revision              int
	decidedAt, receivedAt text
	late                  bool
}

// why is the reason of the transition that an answer causes.
func (a *answer) why() string {
	words := append([]string{a.Response}, a.Selected...)
	return a.Why(fmt.Sprintf("%s by %s (%s)", strings.Join(words, ", "), orWord(a.By.User, "unknown"), a.By.Source))
}

// answerFor finds the answer to an open request, once per step; nil for none.
func (r *reading) answerFor(q *Request) *answer {
	if a, known := r.given[q.ID]; known {
		return a
	}
	a := r.findAnswer(q)
	r.given[q.ID] = a
	return a
}

func (r *reading) findAnswer(q *Request) *answer {
	f := r.folder(q.ID)
	if a := r.answerBefore(f, q); a != nil {
		return a
	}
	r.Unsure(f.Doc)
	if why := f.Altered(engine.Digest(q.Digest)); why != "" {
		r.Bad(f.Doc, "cannot use request.json: "+why+": every answer is held until it is restored; remove it to have placet write it again")
		r.hold(f)
		return nil
	}
	if f.Doc.Absent() && string(engine.Sum(r.requestJSON(q))) != string(q.Digest) {
		r.Bad(f.Doc, "request.json is gone, and cannot be made again, since what it shows has changed: every answer is held until it is restored")
		r.hold(f)
		return nil
	}
	v := gate.Judge(r.judging(q, f))
	if v.Wait {
		r.Hold(v.Holding...)
	}
	if v.Problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", v.Problem)
	}
	if v.Answer == nil {
		return nil
	}
	return &answer{
		Decision: *v.Answer, id: q.ID, path: cause(r.Snap.Rel(v.Answer.Path)), late: q.Deadline != "" && !r.Snap.Now.Before(q.Deadline.Time()),
	}
}

// hold keeps a deadline from passing over an answer that is held. Where nobody has
// begun to answer there is nothing to hold.
func (r *reading) hold(f *gate.Folder) {
	for _, d := range f.Docs {
		switch {
		case d.Absent():
		case d.Kind == layout.KindResponse, d.Kind == layout.KindForm && (d.Err != nil || gate.Ticked(d.Body)):
			r.Held = true
		}
	}
}

// ahead is the decision of a receipt that is durable while its transition is not. One
// that does not count is passed over with a note, and an answer that counts replaces
// it.
func (r *reading) ahead(q *Request) gate.Decision {
	f := r.folder(q.ID)
	if f.Receipt == nil {
		return gate.Decision{}
	}
	d, problem, _ := f.Ahead(r.judging(q, f))
	if problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", problem)
	}
	return d
}

// answerBefore is the answer of such a receipt: it is fact, whatever the form says by
// now.
func (r *reading) answerBefore(f *gate.Folder, q *Request) *answer {
	d := r.ahead(q)
	if !d.Counts() || d.Expired() {
		return nil
	}
	rc := f.Receipt
	a := &answer{Decision: d, id: q.ID, revision: rc.Revision, decidedAt: text(rc.DecidedAt), receivedAt: text(rc.ReceivedAt), late: rc.Late}
	a.path = a.Path
	return a
}

// unsureReceipt reports whether the receipt of an open request cannot be read now:
// it may say that the request is answered.
func (r *reading) unsureReceipt() bool {
	for _, q := range r.st.Requests {
		if q.Status != open {
			continue
		}
		for _, d := range r.folder(q.ID).Docs {
			if d.Kind == layout.KindReceipt && (d.Unsettled() || d.Err != nil && !d.Absent()) {
				r.Held = true
				return true
			}
		}
	}
	return false
}

// recorded carries out an answer whose receipt is durable while its transition is
// not, before any other edge.
func (r *reading) recorded() (engine.Plan, bool) {
	for _, q := range r.st.Requests {
		if q.Status != open {
			continue
		}
		if a := r.answerBefore(r.folder(q.ID), q); a != nil {
			r.given[q.ID] = a
			if p, ok := r.carryOut(q, a); ok {
				return p, true
			}
		}
		if d := r.ahead(q); q.Type == typeHITL && d.Expired() {
			return r.expire(q, d), true
		}
	}
	return engine.Plan{}, false
}

// carryOut makes the transition of an answer.
func (r *reading) carryOut(q *Request, a *answer) (p engine.Plan, ok bool) {
	switch {
	case q.Type == typeHITL && r.st.Status == Awaiting:
		return r.answer(a), true
	case q.Type == typeCap && r.st.Status == Context:
		return r.capped(a)
	case q.Type == typeUnknown && a.Response == optRetry:
		return r.retries()
	case q.Type == typeUnknown:
		return r.fails()
	}
	return p, false
}

// capAnswered is edges 3 and 4: a person decides whether a cycle goes on that
// began because nobody answered, again and again.
func (r *reading) capAnswered() (p engine.Plan, ok bool) {
	q := r.st.openRequest(typeCap)
	if q == nil {
		return p, false
	}
	a := r.answerFor(q)
	if a == nil {
		return p, false
	}
	return r.capped(a)
}

func (r *reading) capped(a *answer) (p engine.Plan, ok bool) {
	if a.Response == optStop {
		return r.move(declined, Failed, a.why()).take(a).fail("a person ended the re-entries: " + a.why()), true
	}
	if r.found == nil {
		r.factWaits = a.revision > 0
		return p, false
	}
	m := r.move(continued, Deciding, a.why(), r.Snap.In("context.json")).take(a)
	m.st.TimeoutReentries = 0
	m.st.InputsUntil = m.after(r.cfg.InputsWait)
	return m.plan(), true
}

// records is edge 11: the audit row is in the database, or known to wait for it,
// and the request opens.
func (r *reading) records() (p engine.Plan, ok bool) {
	row := r.audit.row(string(r.st.AuditID))
	if row == nil || row.Outcome == rowOwed {
		return p, false
	}
	if _, ok := r.reportStands(); !ok {
		r.notedReport()
		return p, false
	}
	if r.found == nil && !r.Snap.In("context.json").Absent() {
		return p, false // the person is shown what was found
	}
	m := r.move(recorded, Awaiting, "audit row "+row.Outcome, r.Snap.In("audit.json"))
	if r.cfg.HITLTimeout > 0 {
		m.st.Deadline = m.after(r.cfg.HITLTimeout)
	}
	q := m.ask(typeHITL, typeHITL, "", m.st.Deadline)
	m.st.RequestID, m.st.Deadline = text(q.ID), q.Deadline
	return m.plan(), true
}

// notedReport says beside the report that it is not placet's any more.
func (r *reading) notedReport() {
	if problem, _ := r.reportStands(); problem != "" {
		r.Notes.Beside(r.st.Report.Path, problem)
	}
}

// answers is edge 12: what the person said becomes the goal.
func (r *reading) answers() (p engine.Plan, ok bool) {
	a := r.hitlAnswer()
	if a == nil {
		return p, false
	}
	if g := a.given(); !r.goalFree(goalOf(r.st, &g)) {
		return p, false
	}
	return r.answer(a), true
}

// hitlAnswer is the answer about the report. While the report is not the one that
// was asked about, every answer is held.
func (r *reading) hitlAnswer() *answer { return once(r, "hitl", r.findHITL) }

func (r *reading) findHITL() *answer {
	q := r.st.openRequest(typeHITL)
	if q == nil {
		return nil
	}
	if problem, ok := r.reportStands(); !ok {
		if problem != "" {
			r.Notes.Add(r.folder(q.ID).Dir+"/problem.md", problem)
			r.hold(r.folder(q.ID))
		}
		return nil
	}
	return r.answerFor(q)
}

// goalFree reports whether nobody else's goal.json lies where placet's belongs. One
// that says what placet would write is its own: a power cut may leave it, and take the
// receipt.
func (r *reading) goalFree(would Goal) bool {
	d := r.Snap.In("goal.json")
	if d.Absent() || d.Present() && d.Sum == engine.Sum(encoded(would)) {
		return true
	}
	if d.Unsettled() {
		r.Held = true
		return false
	}
	if q := r.st.openRequest(typeHITL); q != nil && r.ahead(q).Counts() {
		return true
	}
	return once(r, "foreign goal", func() bool {
		r.Notes.Beside(d.Path, "this file is not placet's: the goal of the cycle belongs here once it is decided; move it away")
		return false
	})
}

// given is what an answer says about the report.
func (a *answer) given() Given {
	return Given{
		Response: orWord(a.Response, optAppropriate), Selected: a.Selected, Comment: a.Comment, By: By{User: a.By.User, Source: a.By.Source},
	}
}

func (r *reading) answer(a *answer) engine.Plan {
	m := r.move(answered, Reached, a.why()).take(a)
	g := a.given()
	m.st.Answer = &g
	goal := goalOf(m.st, &g)
	m.st.Goal = &goal
	m.st.FeedbackID = text(rowID(feedbackPrefix, r.Snap.Key.ID, m.st.Revision, purposeFeedback, m.now))
	return m.plan()
}

// timesOut is edge 13: nobody answered until the deadline. An answer that waits for
// somebody's goal.json to be moved away is one.
func (r *reading) timesOut() (p engine.Plan, ok bool) {
	q := r.st.openRequest(typeHITL)
	if q == nil || q.Deadline == "" || !r.due(q.Deadline) || r.Held || r.hitlAnswer() != nil || !r.goalFree(goalOf(r.st, nil)) {
		return p, false
	}
	f := r.folder(q.ID)
	asked := r.judging(q, f)
	c := gate.Claim{Source: gate.FromDeadline, RequestID: q.ID, Place: f.Doc.Path, At: r.Snap.Now}
	c.Response, c.Digest = asked.Request.Default, asked.View
	d, problem := gate.Verify(c, asked)
	if problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", problem)
		return p, false
	}
	return r.expire(q, d), true
}

func (r *reading) expire(q *Request, d gate.Decision) engine.Plan {
	m := r.move(timedOut, Reached, d.Why("nobody answered until "+string(q.Deadline)))
	goal := goalOf(m.st, nil)
	m.st.Goal = &goal
	own := m.st.request(q.ID)
	m.end(own, gate.Expired, d.Why("nobody answered until the deadline"))
	own.Response = byDeadline
	if rc := r.folder(q.ID).Receipt; d.Ahead() {
		own.ClosedAt, own.ReceivedAt, own.ClosedRevision = text(rc.DecidedAt), text(rc.ReceivedAt), rc.Revision
	}
	return m.plan()
}
