package afl

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reader"
	"placet/engine/testoutput"
	"placet/layout"
	"placet/schemas"
)

// answer is an answer that counts, to an open request.
type answer struct {
	gate.Decision
	id   string
	q    *Request
	path string // relative to the session's folder
	// at is when it was taken before a crash, and revision that of the
	// transition that it was to make; "" and 0 where it was not.
	at       text
	revision int
}

// why is the reason of the transition that an answer causes.
func (a *answer) why() string {
	word := a.Response
	if len(a.Selected) > 0 {
		word = strings.Join(a.Selected, ", ")
	}
	return a.Why(fmt.Sprintf("%s by %s (%s)", word, a.By.User, a.By.Source))
}

// folder is the folder of a request.
func (r *reading) folder(id string) *gate.Folder { return gate.Find(r.folders, r.Snap.Dir, id) }

// answerFor finds the answer to an open request, once per step; nil for none.
func (r *reading) answerFor(id string) *answer {
	if a, known := r.given[id]; known {
		return a
	}
	a := r.findAnswer(id, r.st.Requests[id])
	r.given[id] = a
	return a
}

func (r *reading) findAnswer(id string, q *Request) *answer {
	f := r.folder(id)
	if a := r.answerBefore(f, id, q); a != nil {
		return a
	}
	if why := r.altered(f, id, q); why != "" {
		r.Bad(f.Doc, "cannot use request.json: "+why+": every answer is held until it is restored; remove it to have placet write it again")
		return nil
	}
	v := gate.Judge(r.judging(id, q, f))
	if v.Problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", v.Problem)
	}
	if v.Wait {
		r.Hold(v.Holding...)
	}
	if v.Answer == nil {
		return nil
	}
	a := &answer{Decision: *v.Answer, id: id, q: q, path: r.Snap.Rel(v.Answer.Path)}
	if problem := a.problem(); problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", problem)
		return nil
	}
	return a
}

// altered is why request.json is not what was issued, "" if it is or is gone.
func (r *reading) altered(f *gate.Folder, id string, q *Request) string {
	r.Unsure(f.Doc)
	why := f.Altered(engine.Digest(q.Digest))
	if why != "" && f.Doc.Present() {
		why = f.Altered(engine.Sum(r.requestJSON(id, q)))
	}
	return why
}

// judging is a request with all that bears on its answer. Nothing that it
// shows can change under it: it is bound to itself alone.
func (r *reading) judging(id string, q *Request, f *gate.Folder) gate.Asked {
	body := f.Doc.Body
	if !f.Doc.Present() {
		body = r.requestJSON(id, q)
	}
	req, shown := r.request(id, q), gate.Digest(body, nil)
	return gate.Asked{
		Request: req, Dir: f.Dir, Docs: f.Docs, View: shown, Issued: shown, Present: f.Dir + "/form.md",
		Rendered: gate.Rendered(func() ([]byte, error) { return r.form(req.Shown(body), q, shown) }),
		Gate:     r.Snap.Facts.Config.GateFor("afl", q.Type), Now: r.Snap.Now, Torn: reader.Torn,
		Members:  []string{"attempts"},
		Revision: r.st.Revision,
	}
}

// answerBefore is the answer of a receipt that is durable while its transition
// is not: it is fact, whatever the form says by now. A receipt that does not count is
// passed over, and an answer that counts replaces it.
func (r *reading) answerBefore(f *gate.Folder, id string, q *Request) *answer {
	if f.Receipt == nil {
		return nil
	}
	asked := r.judging(id, q, f)
	if !f.ReceiptDoc.IssuedHere() {
		asked.Altered = r.altered(f, id, q)
	}
	d, problem, ok := f.Ahead(asked)
	if problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", problem)
	}
	if !ok || d.Expired() {
		return nil
	}
	a := &answer{Decision: d, id: id, q: q, at: text(f.Receipt.DecidedAt), revision: f.Receipt.Revision}
	a.path = a.Path
	return a
}

// recorded carries out an answer whose receipt is durable while its transition
// is not, before any other edge. One that cannot be carried out any more, since
// the checkpoints that it approved are others by now, waits to be superseded.
func (r *reading) recorded() (engine.Plan, bool) {
	for _, id := range r.openIDs() {
		if a := r.answerBefore(r.folder(id), id, r.st.Requests[id]); a != nil {
			r.given[id] = a
			if p, ok := r.carryOut(a); ok {
				return p, true
			}
		}
	}
	return engine.Plan{}, false
}

// unsure reports whether something cannot be told that would come before all
// else: a person's wish, or the receipt of an open request, which may say that
// it is answered.
func (r *reading) unsure() bool {
	if r.control.held {
		return true
	}
	for _, id := range r.openIDs() {
		for _, d := range r.folder(id).Docs {
			if d.Kind == layout.KindReceipt && r.Unsure(d) {
				return true
			}
		}
	}
	return false
}

// carryOut makes the transition of an answer.
func (r *reading) carryOut(a *answer) (p engine.Plan, ok bool) {
	id := string(a.q.Checkpoint)
	c := r.checkpoint(id)
	switch a.q.Type {
	case typeApproval:
		return r.approvalAnswered(a)
	case typeReview:
		if r.st.Status == Delegating && r.st.Review != nil && r.st.Review.Status == open {
			return r.reviewAnswered(a), true
		}
	case typeClarification:
		if c != nil && c.Status == Waiting {
			return r.clarified(id, c, a)
		}
	case typeEscalation:
		// The session escalates first: an answer may come between the two.
		if a.Response == optAbort {
			return r.abortedBy(a), true
		}
		if c != nil && c.Status == Escalated && r.st.Status == Escalated {
			return r.decided(id, a)
		}
	case typeInterrupted:
		if c != nil && (c.Status == InProgress || c.Status == Validating) {
			return r.afterInterruption(id, c, a)
		}
	}
	return p, false
}

// approvalAnswered is what an answer about the checkpoints as a whole causes.
func (r *reading) approvalAnswered(a *answer) (p engine.Plan, ok bool) {
	switch a.Response {
	case optApprove:
		return r.approves()
	case optChanges:
		return r.changesAsked()
	case optReject:
		return r.abortedBy(a), true
	}
	return p, false
}

// answersTo are the answers to open requests of some types, in the order in
// which these were opened.
func (r *reading) answersTo(types ...string) []*answer {
	var list []*answer
	for _, id := range r.openIDs() {
		if slices.Contains(types, r.st.Requests[id].Type) {
			if a := r.answerFor(id); a != nil {
				list = append(list, a)
			}
		}
	}
	return list
}

// answerOf is the first answer to a type of request that names an option, or
// any for "".
func (r *reading) answerOf(typ, option string) *answer {
	for _, a := range r.answersTo(typ) {
		if option == "" || a.Response == option {
			return a
		}
	}
	return nil
}

// problem says why an answer cannot be used though its options are in order.
func (a *answer) problem() string {
	if a.Response != optRetryMore {
		return ""
	}
	if n, _, ok := a.attempts(0); !ok {
		return fmt.Sprintf("cannot use the answer: attempts is %s: expected a whole number from 1 to 20", n)
	}
	return ""
}

// mostAttempts is how many attempts one answer can add.
const mostAttempts = 20

// firstLine is how a comment says the number of attempts.
var firstLine = regexp.MustCompile(`(?i)^\s*attempts:[ \t]*(\S+)[ \t]*(?:\n|$)`)

// attempts is how many attempts retry_more asks for, and the rest of the
// comment; ok is false where the number cannot be used, which is then returned
// as it stands.
func (a *answer) attempts(builtIn int) (number, note string, ok bool) {
	number, note = strconv.Itoa(builtIn), a.Comment
	comment := strings.ReplaceAll(a.Comment, "\r\n", "\n")
	if m := firstLine.FindStringSubmatch(comment); m != nil {
		number, note = m[1], strings.TrimSpace(comment[len(m[0]):])
	}
	if raw := a.Extra.Raw("attempts"); !raw.Null() {
		number = string(raw)
		if t, isText := raw.Text(); isText {
			number = t
		}
	}
	if number == "0" && builtIn == 0 {
		return number, note, firstLine.FindString(comment) == "" && a.Extra.Raw("attempts").Null()
	}
	n, err := strconv.Atoi(number)
	return number, note, err == nil && n >= 1 && n <= mostAttempts
}

// answers are the edges that answers about checkpoints cause.
func (r *reading) answers() (p engine.Plan, ok bool) {
	for _, a := range r.answersTo(typeClarification, typeEscalation, typeInterrupted) {
		if p, ok = r.carryOut(a); ok {
			return p, true
		}
	}
	return p, false
}

func (r *reading) clarified(id string, c *Checkpoint, a *answer) (p engine.Plan, ok bool) {
	switch a.Response {
	case optAnswer:
		m := r.checkpointMove(id, answered, InProgress, a.why(), nil).take(a)
		q := m.c.asked(a.id)
		q.Answer, q.AnsweredBy, q.AnsweredAt = text(a.Comment), text(a.By.User), m.now
		return m.plan(), true
	case optValidate:
		return r.validating(id, a.why(), map[string]engine.Digest{}).take(a).plan(), true
	case optEscalate:
		m := r.checkpointMove(id, unanswerable, Escalated, a.why(), nil).take(a)
		m.c.Worker = nil
		m.escalate(Escalation{
			At: m.now, Iteration: c.Iteration, Route: routeUnclear, FailureType: testoutput.Unknown,
			Reason:   r.escalationReason(c, nil, routeUnclear, c.asked(a.id).Text),
			Question: text(c.asked(a.id).Text),
		})
		return m.plan(), true
	}
	return p, false
}

// decided is what a person makes of an escalated checkpoint.
func (r *reading) decided(id string, a *answer) (p engine.Plan, ok bool) {
	switch a.Response {
	case optRetryMore:
		m := r.checkpointMove(id, retryMore, Retrying, a.why(), nil).take(a)
		number, note, _ := a.attempts(r.cfg.RetryMore)
		n, _ := strconv.Atoi(number)
		m.st.Requests[a.id].Attempts = n
		m.again(n, note)
		return m.plan(), true
	case optRedesign:
		m := r.checkpointMove(id, redesign, Pending, a.why(), nil).take(a)
		m.c.MaxIterations, m.c.Epoch = m.c.Iteration+r.cfg.MaxIterations, m.c.Epoch+1
		m.note(a.Comment)
		m.st.Pause = &Pause{Reason: pauseDesign, At: m.now, By: text(a.By.User)}
		m.close("", superseded, "the design is looked at again", typeApproval)
		return m.plan(), true
	case optEnvFixed:
		m := r.checkpointMove(id, envFixed, Validating, a.why(), map[string]engine.Digest{}).take(a)
		m.c.Epoch++
		m.run()
		return m.plan(), true
	case optSkip, optSkipForced:
		event, how := skip, skipPlain
		if a.Response == optSkipForced {
			event, how = skipForcedEvent, skipForced
		}
		m := r.checkpointMove(id, event, Aborted, a.why(), nil).take(a)
		m.c.Skip, m.c.AbortedBecause, m.c.FinishedAt = text(how), becauseSkipped, m.now
		m.halt()
		return m.plan(), true
	}
	return p, false
}

// afterInterruption is what a person makes of a command that was lost.
func (r *reading) afterInterruption(id string, c *Checkpoint, a *answer) (p engine.Plan, ok bool) {
	t := r.try(id, c)
	switch {
	case a.Response == optRunAgain && c.Status == Validating:
		return r.runAgain(id, a.why(), map[string]engine.Digest{}).take(a).plan(), true
	case a.Response == optRunAgain:
		m := r.checkpointMove(id, workerRestart, InProgress, a.why(), nil).take(a)
		m.restart()
		return m.plan(), true
	case a.Response == optValidate && c.Status == InProgress:
		return r.validating(id, a.why(), map[string]engine.Digest{}).take(a).plan(), true
	case a.Response == optFailed && c.Status == Validating:
		v := r.judgeLost(id, c, t)
		m := r.checkpointMove(id, fail, v.Route.status(), a.why(), nil).take(a)
		m.verdict(v)
		return m.plan(), true
	case a.Response == optFailed:
		v := r.judgeWorkerRun(id, c, t, testoutput.EnvIssue)
		m := r.checkpointMove(id, workerFailed, v.Route.status(), a.why(), nil).take(a)
		m.verdict(v)
		return m.plan(), true
	}
	return p, false
}

// standNotes says, in the folder of a closed request and in one that nobody
// opened, why an answer that stands there moves nothing.
func (r *reading) standNotes() {
	for _, f := range r.folders {
		id := f.ID
		q := r.st.Requests[id]
		switch {
		case q == nil && f.Receipt == nil && !f.BadReceipt:
			// A crash can leave a form whose request never became fact. It may
			// have been edited: it stays.
			if r.after(f, gate.Receipt{RequestID: id}) != "" {
				r.Notes.Add(f.Dir+"/problem.md", "this answer moves nothing: the session asks nothing under this id; answer a request that is open, and remove this folder")
			}
		case q != nil && q.Status != open && f.Receipt != nil:
			if words := r.after(f, q.receipt(id)); words != "" {
				r.Notes.Add(f.Dir+"/problem.md", words)
			}
		}
	}
}

// after says what answers a folder holds besides the one of its receipt, ""
// for none.
func (r *reading) after(f *gate.Folder, rc gate.Receipt) string {
	asked := gate.Asked{Dir: f.Dir, Docs: f.Docs, Now: r.Snap.Now, Torn: reader.Torn}
	if f.Request != nil {
		asked.Request = *f.Request
	}
	return gate.After(rc, asked)
}

// receipt is what became of a request.
func (q *Request) receipt(id string) gate.Receipt {
	rc := gate.Receipt{
		SchemaVersion: 1, RequestID: id, Result: q.Status, Response: string(q.Option), Selected: q.Selected, Comment: string(q.Comment),
		ProvidedBy: gate.By{User: "placet", Source: gate.SourceFile}, KnownAs: q.KnownAs, Digest: engine.Digest(q.View),
		ReceivedAt: string(q.ClosedAt), DecidedAt: string(q.ClosedAt), Reason: string(q.Reason),
		SupersededBy: string(q.SupersededBy), Revision: q.ClosedRevision,
	}
	if q.Attempts > 0 {
		rc.Extra = schemas.Object{{Name: "attempts", Value: q.Attempts}}
	}
	if q.Status == accepted {
		rc.ProvidedBy = gate.By{User: string(q.AnsweredBy), Source: string(q.Source)}
		rc.Answer = &gate.Answered{Path: string(q.Answer), SHA256: engine.Digest(q.ResponseDigest).Hex()}
	}
	return rc
}
