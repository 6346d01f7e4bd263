package nemawashi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/schemas"
	"placet/templates"
)

const ofAction = "action"

// Events of transitions. All of them are also events of the audit, except those marked "journal
// only".
const (
	evActionRegistered = "action_registered" // journal only
	evDraftRegistered  = "draft_registered"  // journal only
	evDraftRevised     = "draft_revised"     // journal only
	evUnclear          = "execution_unclear" // journal only
	evPosted           = "approval_posted"   // journal only
	evRequested        = "approval_requested"
	evApproved         = "approval_approved"
	evRejected         = "approval_rejected"
	evFeedback         = "human_feedback_received"
	evExpired          = "approval_expired"
	evCanceled         = "approval_canceled"
	evStarted          = "execution_started"
	evSucceeded        = "execution_succeeded"
	evFailed           = "execution_failed"
	evRetried          = "execution_retried"  // transition only
	evGivenUp          = "execution_given_up" // transition only
)

type (
	rule   = run.Rule[State, *view]
	move   = run.Move[State, *view]
	change = run.Change[State, *view]
	from   = []engine.Status
	to     = []engine.Status
)

// rules is the transition table, in order of precedence.
var rules = [][]rule{
	{{Of: ofAction, From: from{""}, Event: evActionRegistered, To: to{Pending}, When: registers, Awaits: awaitsAction}},
	{{Of: ofAction, From: from{Pending, Drafted, ApprovalPending, Approved}, Event: evCanceled, To: to{Canceled}, When: cancels}},
	{
		{Of: ofAction, From: from{ApprovalPending}, Event: evApproved, To: to{Approved}, Asked: typeApproval, Option: optApprove, When: approves, Awaits: awaitsAnswer},
		{Of: ofAction, From: from{ApprovalPending}, Event: evRejected, To: to{Rejected}, Asked: typeApproval, Option: optReject, When: rejects},
		{Of: ofAction, From: from{ApprovalPending}, Event: evFeedback, To: to{Drafted}, Asked: typeApproval, Option: optSteer, When: steers},
		{Of: ofAction, From: from{Executing}, Event: evFeedback, To: to{Executing}, Asked: typeOutcome, When: clears},
		{Of: ofAction, From: from{Failed}, Event: evRetried, To: to{Executing}, Asked: typeRetry, Option: optRetry, When: retries, Awaits: awaitsAnswer},
		{Of: ofAction, From: from{Failed}, Event: evGivenUp, To: to{Canceled}, Asked: typeRetry, Option: optGiveUp, When: givesUp},
	},
	{
		{Of: ofAction, From: from{ApprovalPending}, Event: evExpired, To: to{Expired}, Expires: typeApproval, When: expires},
		{Of: ofAction, From: from{Pending, Drafted}, Event: evExpired, To: to{Expired}, When: lapses},
	},
	{{Of: ofAction, From: from{Drafted, ApprovalPending, Approved}, Event: evDraftRevised, To: to{Drafted}, When: revises}},
	{{Of: ofAction, From: from{Pending}, Event: evDraftRegistered, To: to{Drafted}, When: drafts, Awaits: awaitsDraft}},
	{{Of: ofAction, From: from{Drafted}, Event: evRequested, To: to{ApprovalPending}, When: asks, Awaits: awaitsAsking}},
	{{Of: ofAction, From: from{Approved}, Event: evStarted, To: to{Executing}, When: starts, Awaits: awaitsStart}},
	{{Of: ofAction, From: from{Executing}, Event: evUnclear, To: to{Executing}, When: unclear, Awaits: awaitsParts}},
	{{Of: ofAction, From: from{Executing}, Event: evFailed, To: to{Failed}, When: fails}},
	{{Of: ofAction, From: from{Executing}, Event: evSucceeded, To: to{Executed}, When: succeeds}},
	{{Of: ofAction, From: from{ApprovalPending}, Event: evPosted, To: to{ApprovalPending}, When: postsApproval}},
}

// event adds a line to the journal.
func (st *State) event(c *change, typ, actor, correlation string, detail ...schemas.Member) {
	st.EventSeq++
	c.Event(schemas.Object{
		{Name: "seq", Value: st.EventSeq}, {Name: "event_type", Value: typ}, {Name: "actor", Value: actor}, {Name: "correlation_id", Value: correlation},
		{Name: "detail", Value: schemas.Object(detail)}, {Name: "created_at", Value: c.Now},
	})
}

func (st *State) ofAction() schemas.Member {
	return schemas.Member{Name: "action_id", Value: st.ActionID}
}

// registers begins the action.
func registers(r *view, _ run.On) *move {
	if r.action == nil {
		return nil
	}
	a := r.action
	return &move{Reason: actionFile, Causes: []engine.Document{r.actionDoc}, Then: func(c *change) {
		st := c.State
		st.SchemaVersion, st.Language, st.ActionDigest = 1, cmp.Or(r.run.Lang, templates.English), r.actionDoc.Sum
		st.ActionID, _ = strconv.Atoi(r.run.Snap.Key.ID) // layout admits only numbers
		st.ThreadID, st.CreatedAt = ThreadID(st.ActionID), c.Now
		st.Type, st.Summary, st.ProjectID, st.Severity, st.Mode = a.Type, a.Summary, a.ProjectID, a.Severity, a.Mode
		if st.Payload = a.Payload; !a.Payload.Null() {
			st.PayloadSource = "action"
		}
		st.event(c, evActionRegistered, a.RequestedBy, st.ThreadID, schemas.Member{Name: "type", Value: a.Type})
	}}
}

// firstPayload returns the payload in the last line of the first draft, or nil. The draft can be
// registered if got is run.Good.
func firstPayload(r *view) (payload schemas.Raw, got run.Reading) {
	d := r.run.Snap.In(draftPath(1))
	if r.run.Undecidable(r.actionDoc) || r.actionDoc.Sum != r.run.State.ActionDigest {
		return nil, run.Bad
	}
	got = r.run.Judge(d, func() (err error) {
		if err = CheckDraft(d.Body); err != nil {
			return refuse("at", "at", draftPath(1), "error", err)
		}
		if !r.run.State.Payload.Null() {
			return nil
		}
		if payload, _, err = LiftPayload(string(d.Body)); err == nil {
			err = CheckPayload(r.run.State.Type, payload)
		}
		return err
	})
	return payload, got
}

// drafts registers the first draft.
func drafts(r *view, _ run.On) *move {
	payload, got := firstPayload(r)
	if got != run.Good || r.action == nil {
		return nil
	}
	d := r.run.Snap.In(draftPath(1))
	return &move{Reason: draftPath(1), Causes: []engine.Document{d}, Then: func(c *change) {
		st := c.State
		st.Drafts = []Draft{{Version: 1, Digest: d.Sum, Origin: originAgent, Actor: r.action.RequestedBy, At: c.Now}}
		if st.Payload.Null() {
			st.Payload = payload
			if string(payload) != "{}" {
				st.PayloadSource = "draft_line"
			}
		}
		st.event(c, evDraftRegistered, r.action.RequestedBy, st.ThreadID, schemas.Member{Name: "version", Value: 1}, schemas.Member{Name: "origin", Value: originAgent})
	}}
}

// asksByItself reports whether placet requests the approval of a draft without a command.
func asksByItself(r *view) bool {
	switch {
	case r.run.State.NextRequest != nil:
		return true
	case r.action == nil:
		return false
	}
	return cmp.Or(r.action.RequestApproval, r.conf().RequestApproval) == "auto"
}

// asks requests an approval.
func asks(r *view, _ run.On) *move {
	cmd := r.commandTo(cmdRequest)
	if cmd == nil && !asksByItself(r) {
		return nil
	}
	if code, _ := cannotAsk(r); code != "" || r.run.Held {
		return nil
	}
	draft, _ := r.run.State.current()
	next := NextRequest{r.action.RequestedBy, r.run.State.Summary}
	m := &move{Reason: r.say("reason.draft"), Causes: []engine.Document{{Path: r.run.Path(draftPath(draft.Version)), Sum: draft.Digest}}}
	switch {
	case r.run.State.NextRequest != nil:
		next = *r.run.State.NextRequest
		m.Reason = next.why(r)
	case cmd != nil:
		next.RequestedBy, m.Reason, m.Actor = cmd.Actor.User, cmd.why(r), engine.Person(cmd.Actor.User)
	}
	if cmd != nil {
		m.Causes = append(m.Causes, cmd.doc)
	}
	m.Then = func(c *change) {
		st := c.State
		id := st.newID("apr-", "approval", string(draft.Digest), string(payloadDigest(st.Payload)))
		st.RequestedBy, st.RequestedAt, st.NextRequest, st.MayAnswer = text(next.RequestedBy), c.Now, nil, approvers(r)
		st.ApprovalRequestID, st.Slack = text(id), nil
		for i := range st.Superseded {
			st.Superseded[i].SupersededBy = cmp.Or(st.Superseded[i].SupersededBy, text(id))
		}
		q := c.Ask(run.Request{ID: id, Type: typeApproval, Deadline: deadline(r)})
		st.ApprovalDigest, st.RequestedAt, st.ExpiresAt = q.Digest, q.OpenedAt, q.Deadline
		st.event(c, evRequested, next.RequestedBy, id, st.ofAction(), schemas.Member{Name: "summary", Value: next.Summary})
		handle(r, c, cmd, accepted, "", "")
	}
	return m
}

// postsApproval records where in Slack the approval is, once it is there.
func postsApproval(r *view, _ run.On) *move {
	id := string(r.run.State.ApprovalRequestID)
	at := post.At(r.run, id)
	if at == nil || r.slack() == *at {
		return nil
	}
	return &move{Reason: r.say("reason.posted", "channel", at.Channel), Then: func(c *change) {
		c.State.Slack = run.Encoded(at)
		c.State.event(c, evPosted, "placet", id, schemas.Member{Name: "channel", Value: at.Channel}, schemas.Member{Name: "message_ts", Value: at.MessageTS})
	}}
}

// slack returns where the newest question is in Slack according to the state.
func (r *view) slack() (at post.Place) {
	_ = schemas.DecodeValue(r.run.State.Slack, &at) // null is no place
	return at
}

func payloadDigest(payload schemas.Raw) engine.Digest {
	body, err := Canonical(payload)
	if err != nil {
		body = payload
	}
	return engine.Sum(body)
}

// deadline returns when an approval that is requested now expires, "" for never.
func deadline(r *view) text {
	at := r.action.ExpiresAt.Time()
	if ttl, err := time.ParseDuration(r.conf().ApprovalTTL); err == nil && ttl > 0 {
		if end := r.run.Snap.Now.Add(ttl); at.IsZero() || end.Before(at) {
			at = end
		}
	}
	if at.IsZero() {
		return ""
	}
	return run.Seconds(at)
}

// cannotAsk returns why no approval can be requested now, as a code and a reason; "" if one can.
func cannotAsk(r *view) (code, why string) {
	if file := r.changed(); file != "" {
		return "draft_changed", r.say("ask.changed", "file", file)
	}
	parts, err := resolveNow(r)
	if err != nil {
		return "not_configured", templates.In(r.run.Lang, err)
	}
	if problem := tooLong(r, parts); problem != "" {
		return "not_configured", problem
	}
	if problem := untrusted(r, parts); problem != "" {
		return "untrusted_provider", problem
	}
	if slices.Contains(approvers(r), gate.Nobody) {
		return "nobody_may_answer", r.say("ask.nobody",
			"gates", names(r, r.run.Snap.Facts.Config.GateFor("nemawashi", typeApproval).Approvers), "approvers", names(r, r.conf().Approvers), "ids", names(r, r.conf().ApproverIDs))
	}
	return "", ""
}

func names(r *view, list []string) string {
	if len(list) == 0 {
		return r.say("who.everybody")
	}
	return strings.Join(list, ", ")
}

// resolveNow returns the parts according to the current settings.
func resolveNow(r *view) ([]Part, error) {
	return Resolve(r.run.State.Type, r.run.State.Payload, r.body(), r.conf(), r.run.Snap.Now)
}

// untrusted returns the message about a provider of the parts that the owner has not agreed to, or
// "".
func untrusted(r *view, parts []Part) string {
	for _, key := range r.conf().Untrusted {
		block, _, _ := strings.Cut(key, ".")
		if slices.ContainsFunc(parts, func(p Part) bool { return p.Block() == block }) {
			return r.say("ask.untrusted", "key", key)
		}
	}
	return ""
}

func decide(r *view, c *change, a *run.Answer) {
	c.State.Decision = &Decision{a.Request.ID, a.Response, a.By.User, a.Known, c.Now}
}

// answered records an answer's idempotency keys; the request holds the rest.
func answered(r *view, c *change, a *run.Answer) {
	c.State.keep(a.Keys()...)
}

func comment(a *run.Answer) []schemas.Member {
	if a.Comment == "" {
		return nil
	}
	return []schemas.Member{{Name: "comment", Value: a.Comment}}
}

func approves(r *view, on run.On) *move {
	return &move{Reason: on.Answer.Why(), Then: func(c *change) {
		st := c.State
		st.IsApproved = true
		decide(r, c, on.Answer)
		answered(r, c, on.Answer)
		st.event(c, evApproved, on.Answer.By.User, on.Answer.Request.ID, append([]schemas.Member{st.ofAction()}, comment(on.Answer)...)...)
	}}
}

func rejects(r *view, on run.On) *move {
	return &move{Reason: on.Answer.Why(), Then: func(c *change) {
		st := c.State
		decide(r, c, on.Answer)
		answered(r, c, on.Answer)
		st.event(c, evRejected, on.Answer.By.User, on.Answer.Request.ID, append([]schemas.Member{st.ofAction()}, comment(on.Answer)...)...)
	}}
}

// plan returns the plan that an answer selects, or "".
func plan(a *run.Answer) string {
	for _, word := range a.Selected {
		if letter, ok := Plan(word); ok {
			return letter
		}
	}
	return ""
}

// steers makes the next draft from a person's words and requests its approval.
func steers(r *view, on run.On) *move {
	a := on.Answer
	current, _ := r.run.State.current()
	before, ok := r.draftText(current)
	if !ok {
		return nil
	}
	return &move{Reason: a.Why(), Then: func(c *change) {
		st := c.State
		addDraft(r, c, NextDraft(before, a.Comment, plan(a)),
			Draft{Origin: originSteer, Actor: a.By.User, Feedback: Feedback(a.Comment), SelectedPlan: text(plan(a))})
		answered(r, c, a)
		askAgain(r, c, NextRequest{a.By.User, steerUpdate}, originSteer)
		st.event(c, evFeedback, a.By.User, a.Request.ID, schemas.Member{Name: "feedback", Value: Feedback(a.Comment)}, schemas.Member{Name: "selected_plan", Value: text(plan(a))})
	}}
}

// addDraft adds the next version of the draft.
func addDraft(r *view, c *change, words string, d Draft) {
	d.Version, d.Digest, d.At = len(c.State.Drafts)+1, engine.Sum([]byte(words)), c.Now
	c.State.Drafts = append(c.State.Drafts, d)
}

// Summaries of repeated requests, as documents hold them.
const (
	steerUpdate  = "steer update"
	revisedDraft = "revised draft"
)

// why returns why the approval of a draft is requested again.
func (n NextRequest) why(r *view) string {
	switch n.Summary {
	case steerUpdate:
		return r.say("reason.steered")
	case revisedDraft:
		return r.say("reason.revised")
	}
	return n.Summary
}

// askAgain makes a new request replace the open or given approval.
func askAgain(r *view, c *change, next NextRequest, reason string) {
	st := c.State
	st.Superseded = append(st.Superseded, Supersession{ApprovalRequestID: string(st.ApprovalRequestID), Reason: reason, At: c.Now})
	st.NextRequest = &next
	st.IsApproved, st.Decision, st.MayAnswer = false, nil, nil
	st.ApprovalRequestID, st.ApprovalDigest, st.RequestedBy, st.RequestedAt, st.ExpiresAt = "", "", "", "", ""
}

// revises replaces the draft or payload by a creator's, or by the payload of an override that a
// person has to approve.
func revises(r *view, _ run.On) *move {
	cmd := r.commandTo(cmdRevise)
	if cmd == nil {
		if cmd = r.commandTo(cmdExecute); cmd == nil || !asksAnew(r, *cmd) {
			return nil
		}
		return reapproves(r, cmd)
	}
	return cmd.move(r, func(c *change) {
		st := c.State
		if cmd.Draft != nil {
			addDraft(r, c, *cmd.Draft, Draft{Origin: originRevise, Actor: cmd.Actor.User})
		}
		if !cmd.Payload.Null() {
			st.Payload, st.PayloadSource = cmd.Payload, originRevise
		}
		revised(r, c, cmd, originRevise)
		handle(r, c, cmd, accepted, "", "")
	})
}

// reapproves requests the approval of an override before it is carried out.
func reapproves(r *view, cmd *command) *move {
	return cmd.move(r, func(c *change) {
		st := c.State
		st.Payload, st.PayloadSource = overridden(st.Payload, cmd.Calendar), "override"
		revised(r, c, cmd, "override")
		handle(r, c, cmd, refused, OverrideNeedsApproval, r.say("refused.override"))
	})
}

// revised closes the requests about the previous draft.
func revised(r *view, c *change, cmd *command, reason string) {
	st := c.State
	c.CloseAll(gate.Superseded, cmd.why(r))
	if st.ApprovalRequestID != "" {
		askAgain(r, c, NextRequest{cmd.Actor.User, revisedDraft}, reason)
	}
	draft, _ := st.current()
	st.event(c, evDraftRevised, cmd.Actor.User, st.ThreadID, schemas.Member{Name: "version", Value: draft.Version}, schemas.Member{Name: "origin", Value: reason})
}

// about returns the correlation id of an event: the approval, or else the thread.
func (st *State) about() string { return cmp.Or(string(st.ApprovalRequestID), st.ThreadID) }

func cancels(r *view, _ run.On) *move {
	cmd := r.commandTo(cmdCancel)
	if cmd == nil {
		return nil
	}
	return cmd.move(r, func(c *change) {
		st := c.State
		c.CloseAll(gate.Cancelled, cmd.why(r))
		st.IsApproved = false
		st.event(c, evCanceled, cmd.Actor.User, st.about(), st.ofAction(), schemas.Member{Name: "reason", Value: cmd.Reason})
		handle(r, c, cmd, accepted, "", "")
	})
}

func expires(r *view, on run.On) *move {
	return &move{Reason: on.Answer.Decision.Why(r.say("reason.silence")), Then: func(c *change) { expire(r, c) }}
}

// lapses ends an action that expired before its approval was requested.
func lapses(r *view, _ run.On) *move {
	if r.action == nil || r.action.ExpiresAt == "" || !r.run.Due(r.action.ExpiresAt) {
		return nil
	}
	return &move{Reason: r.say("reason.lapsed", "time", r.action.ExpiresAt), Then: func(c *change) { expire(r, c) }}
}

func expire(r *view, c *change) {
	st := c.State
	at := st.ExpiresAt
	if at == "" && r.action != nil {
		at = r.action.ExpiresAt
	}
	st.event(c, evExpired, "placet", st.about(), st.ofAction(), schemas.Member{Name: "expires_at", Value: at})
}

// entry converts a line of the journal for people.
func entry(line []byte) (engine.Entry, bool) {
	var e Event
	if schemas.Decode("", "events.jsonl", line, &e) != nil || e.Type == "" {
		return engine.Entry{}, false
	}
	return engine.Entry{At: e.CreatedAt.Time(), Number: e.Seq, Event: e.Type, Where: e.CorrelationID, Who: e.Actor, Message: e.Words()}, true
}

// Event is a line of events.jsonl.
type Event struct {
	Seq           int            `json:"seq"`
	Type          string         `json:"event_type"`
	Actor         string         `json:"actor"`
	CorrelationID string         `json:"correlation_id"`
	Detail        schemas.Object `json:"detail"`
	CreatedAt     text           `json:"created_at"`
	Revision      int            `json:"revision"`
}

// JournalOnly reports whether an event is not part of the audit.
func (e Event) JournalOnly() bool {
	return slices.Contains([]string{evActionRegistered, evDraftRegistered, evDraftRevised, evUnclear, evPosted}, e.Type)
}

// Words returns the detail on one line.
func (e Event) Words() string {
	var words []string
	for _, m := range e.Detail {
		raw := e.Detail.Raw(m.Name)
		if m.Name == "action_id" || raw.Null() {
			continue
		}
		value, isText := raw.Text()
		if !isText {
			value = string(raw)
		}
		words = append(words, m.Name+": "+templates.Cut(value, engine.LongestReason))
	}
	return strings.Join(words, "; ")
}
