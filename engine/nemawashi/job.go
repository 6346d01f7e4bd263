package nemawashi

import (
	"cmp"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

const worker = "worker" // the actor of a job's transitions

// cannotStart returns why the approved parts cannot be carried out now, as a code and a reason; ""
// if they can.
func (r *view) cannotStart() (code, why string) {
	parts := r.approved()
	if file := r.changed(); file != "" {
		return "draft_changed", r.say("start.changed", "file", file)
	}
	if parts == nil {
		return "draft_changed", r.say("start.request", "request", r.run.State.ApprovalRequestID)
	}
	for _, p := range parts {
		if isOtherProvider(r, p) {
			return "provider_changed", r.say("start.provider", "part", p.Part, "provider", p.by())
		}
		if err := r.conf().Configured(p); err != nil {
			return "not_configured", templates.In(r.run.Lang, err)
		}
	}
	if problem := untrusted(r, parts); problem != "" {
		return "untrusted_provider", problem
	}
	return "", ""
}

// isHome reports whether the answer that started or may start the job was given on this machine. A
// clone neither sends nor concludes anything.
func (r *view) isHome() bool {
	if broughtHome(r) {
		return true
	}
	if len(r.run.Doc.Issued) == 0 {
		return false // the author of this state may have written its receipts, too
	}
	ids := []string{string(r.run.State.ApprovalRequestID)}
	if job := r.run.State.job(); job != nil {
		for _, q := range r.run.Requests() {
			if q.Type == typeRetry && q.Status == gate.Accepted {
				ids = append(ids, q.ID)
			}
		}
	}
	for _, id := range ids {
		if q := r.run.Request(id); q != nil && r.run.HasReceipt(q) {
			return true
		}
	}
	return false
}

// starts begins the job of an approval.
func starts(r *view, _ run.On) *move {
	cmd := r.commandTo(cmdExecute)
	if cmd == nil && !(r.conf().ExecuteOnApprove && r.isHome()) {
		return nil
	}
	if code, _ := r.cannotStart(); code != "" || !isProven(r) {
		return nil
	}
	m := &move{Reason: r.say("reason.approved"), Causes: []engine.Document{r.run.Folder(string(r.run.State.ApprovalRequestID)).ReceiptDoc}}
	if cmd != nil {
		m.Reason, m.Actor, m.Causes = cmd.why(r), engine.Person(cmd.Actor.User), append(m.Causes, cmd.doc)
	}
	m.Then = func(c *change) {
		job := &Job{}
		if cmd != nil {
			job.Simulated = cmd.SimulateFailure
			if _, isSame, err := override(r, *cmd); !cmd.Calendar.Null() && err == nil && !isSame {
				job.Override = cmd.Calendar
			}
		}
		for _, p := range r.approved() {
			job.Parts = append(job.Parts, &JobPart{Part: p.Part, Status: partOpen})
		}
		begin(r, c, job, "job", string(c.State.ApprovalRequestID))
		handle(r, c, cmd, accepted, "", "")
	}
	return m
}

// isProven reports whether the approval counts: its receipt exists and says so. If the gate has
// approvers, this machine must also have written the receipt, or the answer must still be present.
func isProven(r *view) bool {
	q := r.run.Request(string(r.run.State.ApprovalRequestID))
	if q == nil || q.Status != gate.Accepted || q.Response != optApprove {
		return false
	}
	f := r.run.Folder(q.ID)
	if f.Receipt == nil || f.Receipt.Result != gate.Accepted || f.Receipt.Response != optApprove {
		return false
	}
	if len(approvers(r)) == 0 || r.run.HasReceipt(q) && len(r.run.Doc.Issued) > 0 {
		return true
	}
	a := r.run.LateAnswer(q)
	return a != nil && a.Response == optApprove
}

// begin adds a job to the state.
func begin(r *view, c *change, job *Job, purpose ...string) {
	st := c.State
	job.ID, job.Approval, job.CreatedAt = st.newID("job-", purpose...), string(st.ApprovalRequestID), c.Now
	st.Jobs = append(st.Jobs, job)
	st.ExecutionJobID, st.ExecutionStatus, st.OpenRequest = text(job.ID), "executing", nil
	detail := []schemas.Member{st.ofAction()}
	if job.RetryOf != "" {
		detail = append(detail, schemas.Member{Name: "retry_of", Value: job.RetryOf})
	}
	if job.Simulated {
		detail = append(detail, schemas.Member{Name: "simulated", Value: true})
	}
	st.event(c, evStarted, worker, job.ID, detail...)
}

// lowestOpen returns the part to carry out now, nil if none is left or an unclear part comes first.
func (r *view) lowestOpen() *progress {
	list := r.progress()
	for i := range list {
		switch list[i].status {
		case partUnclear:
			return nil
		case partOpen:
			return &list[i]
		}
	}
	return nil
}

// unclear asks a person what happened to a part.
func unclear(r *view, _ run.On) *move {
	if !r.isHome() || r.run.State.OpenRequest != nil {
		return nil
	}
	for _, g := range r.progress() {
		if g.status != partUnclear {
			continue
		}
		return &move{Reason: r.say("reason.unclear", "part", g.Part.Part, "problem", g.problem), Causes: []engine.Document{r.run.Snap.In(g.OutcomeFile(g.Attempts))}, Then: func(c *change) {
			st := c.State
			job := st.job()
			settle(r, c)
			st.event(c, evUnclear, worker, job.ID, schemas.Member{Name: "part", Value: g.Part.Part})
			openAbout(r, c, typeOutcome, "out-", job, g.Part.Part)
		}}
	}
	return nil
}

// openAbout opens a request about a job.
func openAbout(r *view, c *change, typ, prefix string, job *Job, part int) {
	st := c.State
	purpose, subject := []string{typ, job.ID}, text("")
	if part > 0 {
		purpose, subject = append(purpose, strconv.Itoa(part)), text(strconv.Itoa(part))
	}
	q := c.Ask(run.Request{ID: st.newID(prefix, purpose...), Type: typ, Subject: subject})
	st.OpenRequest = &OpenRequest{q.ID, typ, job.ID, part}
}

// settle copies the status of the job's parts into the state.
func settle(r *view, c *change) {
	job := c.State.job()
	for _, g := range r.progress() {
		job.part(g.Part.Part).Status = g.status
	}
}

// clears applies a person's answer about an unclear part.
func clears(r *view, on run.On) *move {
	a := on.Answer
	return &move{Reason: a.Why(), Then: func(c *change) {
		st := c.State
		n, _ := strconv.Atoi(string(a.Request.Subject))
		if p := st.job().part(n); p != nil {
			p.ResolvedBy = a.Request.ID
			if p.Status = partFailed; a.Response == optHappened {
				p.Status = partSucceeded
			}
		}
		st.OpenRequest = nil
		answered(r, c, a)
		st.answerEvent(c, a, string(st.ExecutionJobID))
	}}
}

// answerEvent adds the journal's line about an answer to a request about a job.
func (st *State) answerEvent(c *change, a *run.Answer, job string) {
	st.event(c, evFeedback, a.By.User, job, schemas.Member{Name: "request_id", Value: a.Request.ID}, schemas.Member{Name: "response", Value: a.Response},
		schemas.Member{Name: "feedback", Value: text(a.Comment)})
}

// ended returns the parts if all of them have ended, and else nil.
func ended(r *view) []progress {
	list := r.progress()
	for _, g := range list {
		if g.status != partSucceeded && g.status != partFailed {
			return nil
		}
	}
	if !r.isHome() {
		return nil
	}
	return list
}

// failures returns the errors of the failed parts in a language, "" if none failed.
func failures(r *view, list []progress, lang string) string {
	var all []string
	for _, g := range list {
		switch {
		case g.status != partFailed:
		case g.problem.Key == "":
			all = append(all, templates.Phrase(lang, "nemawashi.failed"))
		default:
			all = append(all, g.problem.In(lang))
		}
	}
	if len(all) > 0 && r.run.State.job().Simulated {
		return all[0]
	}
	return strings.Join(all, "; ")
}

func succeeds(r *view, _ run.On) *move {
	list := ended(r)
	if list == nil || failures(r, list, r.run.Lang) != "" {
		return nil
	}
	return &move{Reason: r.say("reason.succeeded"), Causes: outcomes(r, list), Then: func(c *change) {
		st := c.State
		settle(r, c)
		st.ExecutionStatus = "executed"
		st.event(c, evSucceeded, worker, string(st.ExecutionJobID), st.ofAction())
	}}
}

func fails(r *view, _ run.On) *move {
	list := ended(r)
	words := failures(r, list, r.run.Lang)
	if words == "" {
		return nil
	}
	return &move{Reason: words, Causes: outcomes(r, list), Then: func(c *change) {
		st := c.State
		settle(r, c)
		st.ExecutionStatus = "failed"
		st.event(c, evFailed, worker, string(st.ExecutionJobID), st.ofAction(), schemas.Member{Name: "error", Value: failures(r, list, templates.English)})
		openAbout(r, c, typeRetry, "rty-", st.job(), 0)
	}}
}

// outcomes returns the last outcome of each part.
func outcomes(r *view, list []progress) (docs []engine.Document) {
	for _, g := range list {
		if g.Last != nil {
			docs = append(docs, r.run.Snap.In(g.OutcomeFile(g.Attempts)))
		}
	}
	return docs
}

// retries begins a new job for the parts that did not succeed.
func retries(r *view, on run.On) *move {
	a := on.Answer
	return &move{Reason: a.Why(), Then: func(c *change) {
		st := c.State
		before := st.job()
		job := &Job{RetryOf: text(before.ID), Override: before.Override}
		for _, p := range before.Parts {
			if p.Status != partSucceeded {
				job.Parts = append(job.Parts, &JobPart{Part: p.Part, Status: partOpen})
			}
		}
		answered(r, c, a)
		st.answerEvent(c, a, before.ID)
		begin(r, c, job, "retry", before.ID)
	}}
}

func givesUp(r *view, on run.On) *move {
	a := on.Answer
	return &move{Reason: a.Why(), Then: func(c *change) {
		st := c.State
		st.IsApproved, st.OpenRequest = false, nil
		answered(r, c, a)
		st.answerEvent(c, a, string(st.ExecutionJobID))
		st.event(c, evCanceled, a.By.User, st.about(), st.ofAction(), schemas.Member{Name: "reason", Value: text(a.Comment)})
	}}
}

// overridden returns a payload with another payload for its only meeting.
func overridden(payload, calendar schemas.Raw) schemas.Raw {
	members, err := schemas.Members(payload)
	if err != nil || members.Raw("actions") == nil {
		return calendar
	}
	actions, err := schemas.Elements(members.Raw("actions"))
	if err != nil {
		return calendar
	}
	for i, raw := range actions {
		part, err := schemas.Members(raw)
		kind, _ := part.Raw("type").Text()
		other, _ := part.Raw("action_type").Text()
		if err != nil || cmp.Or(kind, other) != meetingRequest {
			continue
		}
		part = append(part.Without("payload"), schemas.Member{Name: "payload", Value: calendar})
		actions[i] = run.Must(schemas.Line(part))
	}
	return run.Must(schemas.Line(append(members.Without("actions"), schemas.Member{Name: "actions", Value: actions})))
}
