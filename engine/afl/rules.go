package afl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// Statuses of a session.
const (
	Designing  engine.Status = "designing"  // checkpoints not approved
	Approving  engine.Status = "approved"   // definitions being applied
	Delegating engine.Status = "delegating" // attempts may start, also during a review
	Paused     engine.Status = "paused"     // nothing starts
	Escalated  engine.Status = "escalated"  // of a session or a checkpoint: a person must decide
	Completed  engine.Status = "completed"  // of a session: final; of a checkpoint: passed, a review may reopen it
	Aborted    engine.Status = "aborted"    // final
)

// Statuses of a checkpoint, besides escalated, completed and aborted.
const (
	Pending    engine.Status = "pending"           // waits for dependencies, a slot or the session
	InProgress engine.Status = "in_progress"       // a worker has the attempt
	Validating engine.Status = "validating"        // the attempt awaits its verdict
	Retrying   engine.Status = "retrying"          // the next attempt starts at retry_at
	Waiting    engine.Status = "waiting_for_human" // the worker asked
)

// What moves.
const (
	ofSession    = "session"
	ofCheckpoint = "checkpoint"
)

// Events of a session.
const (
	seen             = "seen"
	adopted          = "adopted" // of a checkpoint, too
	specsRead        = "specs_read"
	approvalAsked    = "approval_asked"
	changesRequested = "changes_requested"
	approvedEvent    = "approved"
	delegate         = "delegate"
	pauseEvent       = "pause"
	specsChanged     = "specs_changed"
	resume           = "resume"
	escalate         = "escalate"
	resolve          = "resolve"
	reviewOpened     = "review_opened"
	reviewBlocking   = "review_blocking"
	complete         = "complete"
	nothingLeft      = "nothing_left"
	abort            = "abort"
)

// Events of a checkpoint.
const (
	defined           = "defined"
	redefined         = "redefined"
	removed           = "removed"
	sessionAborted    = "session_aborted"
	dependencyAborted = "dependency_aborted"
	start             = "start"
	workerDone        = "worker_done"
	question          = "question"
	workerFailed      = "worker_failed"
	answered          = "answered"
	unanswerable      = "unanswerable"
	workerRestart     = "worker_restart"
	workerLost        = "worker_lost"
	trusted           = "trusted"
	rerun             = "rerun"
	runLost           = "run_lost"
	awaitAnalysis     = "await_analysis"
	pass              = "pass"
	fail              = "fail"
	retryDue          = "retry_due"
	retryMore         = "retry_more"
	redesign          = "redesign"
	envFixed          = "env_fixed"
	skip              = "skip"
	skipForcedEvent   = "skip_forced"
	reopenedEvent     = "reopened"
	revalidate        = "revalidate"
)

type (
	rule   = run.Rule[State, *session]
	move   = run.Move[State]
	change = run.Change[State]
	status = []engine.Status
)

var (
	// asking are the statuses of a session in which checkpoints may await approval.
	asking = status{Designing, Paused, Escalated}
	// working are those of a checkpoint that a worker has in hand.
	working    = status{InProgress, Waiting}
	unfinished = status{Pending, InProgress, Validating, Retrying, Waiting, Escalated}
	afterFail  = status{Retrying, Escalated}
)

func ofS(from status, event string, to status, when func(*session, run.On) *move) rule {
	return rule{Of: ofSession, From: from, Event: event, To: to, When: when}
}

func ofC(from status, event string, to status, when func(*session, run.On) *move) rule {
	return rule{Of: ofCheckpoint, From: from, Event: event, To: to, When: when}
}

// by has a rule be taken by an answer.
func by(r rule, typ, option string) rule {
	r.Asked, r.Option = typ, option
	return r
}

// rules are the transition table. The first group of which a rule applies moves; within
// it the first request, and then the first checkpoint.
var rules = [][]rule{
	{ofS(status{""}, adopted, status{Completed}, (*session).adoptsCompleted)},
	{ofS(status{""}, seen, status{Designing}, (*session).begins)},
	// An aborted session has no way out, yet its checkpoints end one by one.
	{{Of: ofCheckpoint, From: unfinished, Event: sessionAborted, To: status{Aborted}, When: (*session).endsWithSession, Ended: true}},

	{ofS(status{Designing, Approving, Delegating, Paused, Escalated}, abort, status{Aborted}, (*session).abortsAsWished)},
	{
		by(ofS(status{Designing, Approving, Delegating, Paused, Escalated}, abort, status{Aborted}, (*session).abortsAsTold), typeEscalation, optAbort),
		by(ofS(status{Designing, Approving, Delegating, Paused, Escalated}, abort, status{Aborted}, (*session).abortsAsTold), typeApproval, optReject),
	},

	// The design.
	{ofS(asking, specsRead, nil, (*session).readsSpecs)},
	{ofS(status{Delegating}, specsChanged, status{Paused}, (*session).pausesForSpecs), ofS(status{Escalated}, specsChanged, nil, (*session).pausesForSpecs)},
	{
		{Of: ofSession, From: status{Paused}, Event: resume, To: status{Delegating}, When: (*session).resumes, Awaits: (*session).awaitsResume},
		{Of: ofSession, From: status{Escalated}, Event: resume, When: (*session).resumes, Awaits: (*session).awaitsResume},
	},
	{{Of: ofSession, From: asking, Event: approvedEvent, To: status{Approving}, Asked: typeApproval, Option: optApprove, Or: true, When: (*session).approves}},
	{by(ofS(asking, changesRequested, nil, (*session).notesChanges), typeApproval, optChanges)},
	{{Of: ofSession, From: asking, Event: approvalAsked, When: (*session).asksApproval, Awaits: (*session).awaitsDesign}},
	{
		ofC(status{""}, adopted, status{Completed}, (*session).adopts),
		ofC(status{""}, defined, status{Pending}, (*session).defines),
		ofC(append(status{Completed}, unfinished...), redefined, status{Pending}, (*session).redefines),
		ofC(unfinished, removed, status{Aborted}, (*session).removes),
	},
	{ofS(status{Approving}, delegate, status{Delegating}, (*session).delegates)},

	// What people answer about checkpoints.
	{
		{Of: ofCheckpoint, From: status{Waiting}, Event: answered, To: status{InProgress}, Asked: typeClarification, Option: optAnswer, When: (*session).clarifies, Awaits: (*session).awaitsAnswer},
		by(ofC(working, workerDone, status{Validating}, (*session).validatesAsTold), typeClarification, optValidate),
		by(ofC(status{Waiting}, unanswerable, status{Escalated}, (*session).escalatesQuestion), typeClarification, optEscalate),
		{Of: ofCheckpoint, From: status{Escalated}, Event: retryMore, To: status{Retrying}, Asked: typeEscalation, Option: optRetryMore, When: (*session).triesAgain, Awaits: (*session).awaitsAnswer},
		by(ofC(status{Escalated}, redesign, status{Pending}, (*session).redesigns), typeEscalation, optRedesign),
		by(ofC(status{Escalated}, envFixed, status{Validating}, (*session).validatesFixed), typeEscalation, optEnvFixed),
		by(ofC(status{Escalated}, skip, status{Aborted}, (*session).skips), typeEscalation, optSkip),
		by(ofC(status{Escalated}, skipForcedEvent, status{Aborted}, (*session).skips), typeEscalation, optSkipForced),
		by(ofC(status{Validating}, rerun, nil, (*session).rerunsAsTold), typeInterrupted, optRunAgain),
		by(ofC(status{InProgress}, workerRestart, nil, (*session).restartsAsTold), typeInterrupted, optRunAgain),
		by(ofC(status{InProgress}, workerDone, status{Validating}, (*session).validatesAsTold), typeInterrupted, optValidate),
		by(ofC(status{Validating}, fail, afterFail, (*session).failsLost), typeInterrupted, optFailed),
		by(ofC(status{InProgress}, workerFailed, afterFail, (*session).failsWorker), typeInterrupted, optFailed),
	},

	// What happens in an attempt: what is handed in first, then what became of commands.
	{
		ofC(working, workerDone, status{Validating}, (*session).worksDone),
		ofC(working, workerFailed, afterFail, (*session).worksInVain),
		ofC(working, question, status{Waiting}, (*session).worksAsk),
		ofC(working, workerDone, status{Validating}, (*session).resultsCome),
		ofC(working, question, status{Waiting}, (*session).hooksAsk),
		ofC(status{InProgress}, workerDone, status{Validating}, (*session).signals),
		ofC(status{InProgress}, workerRestart, nil, (*session).restarts),
		ofC(status{InProgress}, workerLost, nil, (*session).losesWorker),
		{Of: ofCheckpoint, From: working, Event: workerDone, To: status{Validating}, When: (*session).commandsEnd, Awaits: (*session).awaitsWorker},
		ofC(working, workerFailed, afterFail, (*session).commandsFail),
		ofC(status{Validating}, trusted, nil, (*session).trusts),
		ofC(status{Validating}, rerun, nil, (*session).reruns),
		ofC(status{Validating}, runLost, nil, (*session).losesRun),
		ofC(status{Validating}, awaitAnalysis, nil, (*session).waitsForAnalysis),
		{Of: ofCheckpoint, From: status{Validating}, Event: pass, To: status{Completed}, When: (*session).passes, Awaits: (*session).awaitsVerdict},
		ofC(status{Validating}, fail, afterFail, (*session).fails),
	},

	// What follows for the session, and from it.
	{ofS(status{Delegating, Paused}, escalate, status{Escalated}, (*session).escalates)},
	{ofS(status{Escalated}, resolve, status{Delegating, Paused}, (*session).resolves)},
	{
		ofS(status{Delegating}, pauseEvent, status{Paused}, (*session).pauses),
		ofS(status{Escalated}, pauseEvent, nil, (*session).pauses),
	},
	{ofC(status{Pending}, dependencyAborted, status{Aborted}, (*session).endsWithDependency)},
	{ofC(status{Completed}, reopenedEvent, status{Retrying}, (*session).reopens)},
	{{Of: ofCheckpoint, From: status{Retrying}, Event: retryDue, To: status{InProgress}, When: (*session).retries, Awaits: (*session).awaitsRetry}},
	{ofC(status{Completed}, revalidate, status{Validating}, (*session).revalidates)},
	{{Of: ofCheckpoint, From: status{Pending}, Event: start, To: status{InProgress}, When: (*session).starts, Awaits: (*session).awaitsStart}},

	// The end, and the look at the whole before it.
	{ofS(status{Delegating}, nothingLeft, status{Aborted}, (*session).endsEmpty)},
	{ofS(status{Delegating}, complete, status{Completed}, (*session).completesUnreviewed)},
	{ofS(status{Delegating}, reviewOpened, nil, (*session).opensReview)},
	{
		by(ofS(status{Delegating}, complete, status{Completed}, (*session).acceptedByPerson), typeReview, ""),
		by(ofS(status{Delegating}, reviewBlocking, nil, (*session).blockedByPerson), typeReview, ""),
	},
	{{Of: ofSession, From: status{Delegating}, Event: complete, To: status{Completed}, When: (*session).acceptedByReport, Awaits: (*session).awaitsReview}},
	{ofS(status{Delegating}, reviewBlocking, nil, (*session).blockedByReport)},
}

// final reports whether a session's status has no way out.
func final(s engine.Status) bool { return s == Completed || s == Aborted }

// over reports whether a checkpoint needs nothing more.
func over(s engine.Status) bool { return s == Completed || s == Aborted }

// adoptsCompleted makes the first state of a session that upstream has completed.
func (r *session) adoptsCompleted(run.On) *move {
	if r.meta.Status != string(Completed) {
		return nil
	}
	return r.firstState("upstream has completed it", func(c *change) { c.State.Adopted = true })
}

// begins makes the first state of a session whose checkpoints wait for approval.
func (r *session) begins(run.On) *move { return r.firstState("found", func(*change) {}) }

func (r *session) firstState(why string, then func(*change)) *move {
	if r.Held {
		return nil
	}
	return &move{Reason: why, Then: func(c *change) {
		st := c.State
		st.SchemaVersion, st.Family, st.SessionID, st.Language, st.CreatedAt = 1, "afl", r.sessionID(), r.language(), c.Now
		then(c)
	}}
}

// language is that of a session which begins now.
func (r *session) language() string {
	if r.Snap.Facts.Config.Language == "ko" {
		return "ko"
	}
	return "en"
}

// wished is a move that control.json asks for.
func (r *session) wished(otherwise string, then func(*change)) *move {
	return &move{
		Reason: orWord(r.control.Reason, otherwise), Causes: []engine.Document{r.Snap.In("control.json")}, Actor: engine.Person(r.control.By), Then: then,
	}
}

// abortsAsWished is the end that control.json asks for.
func (r *session) abortsAsWished(run.On) *move {
	if r.control.Want != wantAbort {
		return nil
	}
	return r.wished("control.json wants abort", func(c *change) { cancelOwn(c) })
}

// abortsAsTold is the end that an answer asks for.
func (r *session) abortsAsTold(on run.On) *move {
	return &move{Reason: on.Answer.Why(), Then: func(c *change) { cancelOwn(c) }}
}

// cancelOwn closes the requests of the session itself.
func cancelOwn(c *change) { closeOf(c, "", gate.Cancelled, "the session was aborted") }

// closeOf closes the open requests of a checkpoint, or the session's own for "", of the
// given types or all.
func closeOf(c *change, cp, result, reason string, types ...string) {
	for _, q := range c.Requests() {
		if q.Status == run.Open && string(q.Subject) == cp && (len(types) == 0 || slices.Contains(types, q.Type)) {
			c.Close(q, result, reason)
		}
	}
}

// mayBeApproved reports whether checkpoints may await approval.
func (r *session) mayBeApproved() bool {
	switch p := r.State.Pause; {
	case r.State.Status == Designing:
		return true
	case r.State.Status == Paused || r.State.Status == Escalated:
		return p != nil && p.Reason != pausePerson
	}
	return false
}

// changed reports whether the files hold another design than the approved one.
func (r *session) changed() bool {
	return r.specs.readable && r.State.Approved != nil && string(r.specs.digest) != string(r.State.Approved.Digest)
}

// readsSpecs notes the checkpoints as the files have them now.
func (r *session) readsSpecs(run.On) *move {
	was := r.State.Specs
	same := string(r.specs.digest) == string(was.Digest) &&
		slices.Equal(ids(r.specs.findings, true), was.Errors) && slices.Equal(ids(r.specs.findings, false), was.Warnings)
	if !r.mayBeApproved() || !r.specs.readable || same || r.undone() {
		return nil
	}
	return &move{Reason: "checkpoints read", Causes: r.specs.causes, Then: func(c *change) {
		r.noteSpecs(c)
		closeOf(c, "", gate.Superseded, "the checkpoints changed", typeApproval)
	}}
}

// noteSpecs notes the checkpoints as the files have them.
func (r *session) noteSpecs(c *change) {
	s, now := &c.State.Specs, r.specs
	if string(now.digest) != string(s.Digest) || s.SeenAt == "" {
		s.SeenAt = c.Now
	}
	s.Layout, s.Digest = text(now.layout), text(now.digest)
	s.Errors, s.Warnings = ids(now.findings, true), ids(now.findings, false)
}

// undone reports whether a change that paused the session was taken back.
func (r *session) undone() bool {
	p := r.State.Pause
	return p != nil && p.Reason == pauseChanged && r.specs.readable && !r.changed()
}

func (r *session) pausesForSpecs(run.On) *move {
	if r.State.Pause != nil || !r.changed() {
		return nil
	}
	return &move{Reason: "the checkpoints differ from those approved", Causes: r.specs.causes, Then: func(c *change) {
		c.State.Pause = &Pause{Reason: pauseChanged, At: c.Now}
	}}
}

func (r *session) resumes(run.On) *move {
	pause := r.State.Pause
	switch {
	case pause == nil:
		return nil
	case pause.Reason == pausePerson && r.control.Want == wantRun:
		return r.wished("control.json wants run", func(c *change) { c.State.Pause = nil })
	case r.undone():
		const why = "the checkpoints are those approved again"
		return &move{Reason: why, Causes: r.specs.causes, Then: func(c *change) {
			c.State.Pause = nil
			r.noteSpecs(c)
			closeOf(c, "", gate.Cancelled, why, typeApproval)
		}}
	}
	return nil
}

// approval says where a valid approval of the present design comes from.
type approval struct {
	source, by string
	// file is the one that carries a stamp.
	file string
}

// stamped finds a valid approval besides an answer, section 4.6 of the page; nil for
// none.
func (r *session) stamped() *approval {
	at, known := r.stampedAt()
	after := func(since text) bool { return known && at.After(since.Time()) }
	if wish := r.State.Specs.ChangesRequested; wish != nil && wish.Digest == r.State.Specs.Digest {
		if after(wish.At) && (r.State.Pause == nil || after(r.State.Pause.At)) {
			return r.stamp()
		}
		return nil
	}
	switch p := r.State.Pause; {
	case p != nil && after(p.At):
		return r.stamp()
	case p != nil:
		return nil
	case r.meta.Approved:
		return r.stampIn(approval{source: "meta", file: "meta.json"})
	case r.specs.approvedAt != "" || r.specs.approvedBy != "":
		return r.stamp()
	}
	return nil
}

func (r *session) stamp() *approval {
	return r.stampIn(approval{source: "stamp", by: r.specs.approvedBy, file: specsYAML})
}

// stampIn is the approval that a file carries in itself. Whoever can write the file can
// write that as well: nil, with a note, where the gate asks for more.
func (r *session) stampIn(a approval) *approval {
	d := r.Snap.In(a.file)
	c := gate.Claim{Source: gate.FromStamp, Place: d.Path, Saved: d.Changed}
	c.Response, c.By.User = optApprove, a.by
	asked := gate.Asked{Gate: r.Snap.Facts.Config.GateFor("afl", typeApproval)}
	if open := r.Open(typeApproval); open != nil {
		asked.Present = r.Folder(open.ID).Dir + "/form.md"
	}
	if _, problem := gate.Verify(c, asked); problem != "" {
		r.Notes.Beside(d.Path, problem)
		return nil
	}
	return &a
}

// stampedAt is when the file says that it was approved, for a stamp that must be
// later than something: one without a zone, from the future, or that stood
// there at the last approval, tells nothing of that.
func (r *session) stampedAt() (time.Time, bool) {
	if a := r.State.Approved; a != nil && string(a.Stamp) == r.specs.approvedAt {
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

// approves takes an approval: the answer of a person, or a stamp in a file.
func (r *session) approves(on run.On) *move {
	s := r.State.Specs
	if !r.mayBeApproved() || !r.specs.readable || len(ids(r.specs.findings, true)) > 0 || string(r.specs.digest) != string(s.Digest) {
		return nil
	}
	m := &move{}
	a := &approval{source: "request"}
	if on.Answer != nil {
		a.by = on.Answer.By.User
	} else {
		if a = r.stamped(); a == nil {
			return nil
		}
		m.Causes, m.Actor = []engine.Document{r.Snap.In(a.file)}, "upstream"
		if a.by != "" {
			m.Actor = engine.Person(a.by)
		}
	}
	m.Reason = "approved by " + a.source
	m.Then = func(c *change) {
		closeOf(c, "", gate.Superseded, "approved elsewhere", typeApproval)
		st := c.State
		st.Pause, st.Specs.ChangesRequested = nil, nil
		voidReview(c)
		st.Approved = &Approved{
			Digest: text(r.specs.digest), At: c.Now, By: text(templates.Cut(a.by, engine.LongestReason)), Source: a.source,
			Stamp:       text(templates.Cut(r.specs.approvedAt, engine.LongestReason)),
			Definitions: r.specs.definitions(), Prerequisites: r.specs.pre,
		}
	}
	return m
}

// notesChanges keeps that a person wants other checkpoints.
func (r *session) notesChanges(on run.On) *move {
	if !r.mayBeApproved() {
		return nil
	}
	a := on.Answer
	return &move{Reason: a.Why(), Then: func(c *change) {
		c.State.Specs.ChangesRequested = &ChangesRequested{Digest: c.State.Specs.Digest, At: c.Now, By: text(a.By.User), Comment: text(a.Comment)}
	}}
}

// asksApproval asks once nobody has touched the checkpoints for a while, so
// that half-saved ones are not asked about.
func (r *session) asksApproval(run.On) *move {
	s := r.State.Specs
	wished := s.ChangesRequested != nil && s.ChangesRequested.Digest == s.Digest
	if !r.mayBeApproved() || r.Held || s.Digest == "" || !r.specs.readable || r.Open(typeApproval) != nil || wished {
		return nil
	}
	due := s.SeenAt.Time().Add(r.cfg.ApprovalQuiet)
	if r.State.Pause != nil {
		if after := r.State.Pause.At.Time().Add(r.cfg.ApprovalQuiet); after.After(due) {
			due = after
		}
	}
	if r.Snap.Now.Before(due) {
		r.WakeAt(due)
		return nil
	}
	return &move{Reason: "the checkpoints wait for approval", Then: func(c *change) { r.ask(c, typeApproval, "") }}
}

// delegates lets the session begin once the approved definitions are applied.
func (r *session) delegates(run.On) *move {
	return &move{Reason: "the definitions are applied", Then: func(c *change) {
		if c.State.StartedAt == "" {
			c.State.StartedAt = c.Now
		}
	}}
}

// voidReview ends a review of checkpoints that change.
func voidReview(c *change) {
	if v := c.State.Review; v != nil {
		v.Status, v.Reopen = void, nil
		closeOf(c, "", gate.Superseded, "the checkpoints changed", typeReview)
	}
}

func (r *session) escalates(run.On) *move {
	if list := r.inStatus(Escalated); len(list) > 0 {
		return &move{Reason: "a person must decide: " + strings.Join(list, ", ")}
	}
	return nil
}

func (r *session) resolves(run.On) *move {
	if len(r.inStatus(Escalated)) > 0 {
		return nil
	}
	m := &move{To: Delegating, Reason: "no checkpoint is escalated any more"}
	if r.State.Pause != nil {
		m.To = Paused
	}
	return m
}

func (r *session) pauses(run.On) *move {
	if r.State.Pause != nil || r.control.Want != wantPause {
		return nil
	}
	return r.wished("control.json wants pause", func(c *change) {
		c.State.Pause = &Pause{Reason: pausePerson, At: c.Now, By: text(templates.Cut(r.control.By, engine.LongestReason))}
	})
}

// inStatus are the checkpoints of some statuses.
func (r *session) inStatus(statuses ...engine.Status) []string {
	var list []string
	for _, id := range r.order {
		if slices.Contains(statuses, r.statusOf(id)) {
			list = append(list, id)
		}
	}
	return list
}

// finished reports whether every checkpoint is over, and how many passed.
func (r *session) finished() (all bool, done int) {
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

func (r *session) endsEmpty(run.On) *move {
	if all, done := r.finished(); all && done == 0 {
		return &move{Reason: "every checkpoint was aborted"}
	}
	return nil
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
