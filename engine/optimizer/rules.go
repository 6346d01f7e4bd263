package optimizer

import (
	"cmp"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// Statuses of a cycle.
const (
	Context   engine.Status = "context"        // begun; placet collects what is known, or a person decides whether to go on
	Deciding  engine.Status = "deciding"       // waits for the assets, then decides the level
	Running   engine.Status = "running"        // the level is carried out, by a command or by an agent
	Reporting engine.Status = "reporting"      // the report is written, its audit row is on the way
	Awaiting  engine.Status = "awaiting_human" // a person judges the report
	Reached   engine.Status = "goal"           // final: goal.json is written
	Failed    engine.Status = "failed"         // final: level 10 failed, or the cycle was stopped
)

// ofCycle names what moves in every row.
const ofCycle = "cycle"

// Events.
const (
	triggered   = "triggered"
	collected   = "collected"
	continued   = "continued"
	declined    = "declined"
	decided     = "decided"
	retrieved   = "retrieved"
	retried     = "retried"
	demoted     = "demoted"
	levelFailed = "level_failed"
	reported    = "reported"
	recorded    = "recorded"
	answered    = "answered"
	timedOut    = "timed_out"
	stopped     = "stopped"
)

type (
	rule   = run.Rule[State, *cycle]
	move   = run.Move[State, *cycle]
	change = run.Change[State, *cycle]
	to     = []engine.Status
)

// rules is the transition table. The first rule that applies wins.
var rules = [][]rule{
	{{Of: ofCycle, From: to{""}, Event: triggered, To: to{Context}, When: begins, Awaits: awaitsTrigger}},
	{{Of: ofCycle, From: to{Awaiting}, Event: answered, To: to{Reached}, Asked: typeHITL, When: answers, Awaits: awaitsAnswer}},
	{{Of: ofCycle, From: to{Context, Deciding, Running, Reporting, Awaiting}, Event: stopped, To: to{Failed}, When: stops}},
	{{Of: ofCycle, From: to{Context}, Event: declined, To: to{Failed}, Asked: typeCap, Option: optStop, When: declines}},
	{{Of: ofCycle, From: to{Context}, Event: continued, To: to{Deciding}, Asked: typeCap, Option: optContinue, When: continues, Awaits: awaitsDecision}},
	{{Of: ofCycle, From: to{Context}, Event: collected, To: to{Deciding}, When: collects, Awaits: awaitsContext}},
	{{Of: ofCycle, From: to{Deciding}, Event: decided, To: to{Running}, When: decides, Awaits: awaitsInputs}},
	{{Of: ofCycle, From: to{Running}, Event: levelFailed, To: to{Failed}, When: fails}},
	{{Of: ofCycle, From: to{Running}, Event: demoted, To: to{Running}, When: demotes}},
	{{Of: ofCycle, From: to{Running}, Event: demoted, To: to{Running}, Asked: typeUnknown, Option: optDemote, When: demotesAsTold}},
	{{Of: ofCycle, From: to{Running}, Event: retried, To: to{Running}, Asked: typeUnknown, Option: optRetry, When: retries}},
	{{Of: ofCycle, From: to{Running}, Event: retrieved, To: to{Running}, When: retrieves, Awaits: awaitsData}},
	{{Of: ofCycle, From: to{Running}, Event: reported, To: to{Reporting}, When: reports, Awaits: awaitsSuggestions}},
	{{Of: ofCycle, From: to{Reporting}, Event: recorded, To: to{Awaiting}, When: records, Awaits: awaitsRow}},
	{{Of: ofCycle, From: to{Awaiting}, Event: timedOut, To: to{Reached}, Expires: typeHITL, When: timesOut}},
}

// final reports whether a status has no way out.
func final(s engine.Status) bool { return s == Reached || s == Failed }

// begins creates the first state.
func begins(r *cycle, _ run.On) *move {
	if !r.triggerOK || r.run.Held {
		return nil
	}
	return &move{
		Reason: "trigger.json (" + r.trig.TriggerType + ")", Causes: []engine.Document{r.trigger},
		Then: func(c *change) {
			st := c.State
			st.SchemaVersion, st.RunID, st.WorkflowName, st.BeganAt, st.Lang = 1, r.runID(), r.trig.WorkflowName, c.Now, r.cfg.Language
			st.Trigger, st.TriggerDigest, st.TimeoutReentries, st.trig = r.trigger.Body, text(r.trigger.Sum), r.trig.TimeoutReentries, r.trig
			if r.trig.TimeoutReentries > r.cfg.MaxTimeoutReentries {
				r.ask(c, typeCap, typeCap, "", "")
			}
		},
	}
}

// stops abandons the cycle if stop.json asks for it.
func stops(r *cycle, _ run.On) *move {
	if r.stop == nil {
		return nil
	}
	reason := r.words("reason.stopped", "reason", r.stop.Reason)
	return run.Wished(r.run.Snap.In("stop.json"), string(r.stop.By), reason, func(c *change) { fail(r, c, r.stop.Reason) })
}

// longestError is how much of an error the state keeps, in bytes.
const longestError = 4 << 10

// fail ends the cycle without a goal. It cancels the open requests, and calls for an audit row
// unless the state already has one.
func fail(r *cycle, c *change, reason string) {
	c.State.Error = text(templates.Cut(reason, longestError))
	c.CloseAll(gate.Cancelled, r.words("reason.ended"))
	if c.State.AuditID == "" {
		c.State.AuditID = newRowID(r, c, auditPrefix, purposeAudit)
	}
}

// newRowID returns the id of an audit row that a transition calls for.
func newRowID(r *cycle, c *change, prefix, purpose string) text {
	return text(rowID(prefix, r.run.Snap.Key.ID, c.Revision, purpose, c.Now))
}

// declines ends a cycle that began although nobody answered the previous ones, because a person
// decided so.
func declines(r *cycle, on run.On) *move {
	why := on.Answer.Why()
	return &move{Reason: why, Then: func(c *change) { fail(r, c, r.words("reason.declined", "why", why)) }}
}

// continues lets such a cycle go on.
func continues(r *cycle, on run.On) *move {
	switch {
	case r.found == nil && on.Answer.HasReceipt():
		return &move{Blocks: true} // no rule may pass an answer that has a receipt
	case r.found == nil:
		return nil
	}
	return &move{
		Reason: on.Answer.Why(), Causes: []engine.Document{r.run.Snap.In("context.json")},
		Then: func(c *change) {
			c.State.TimeoutReentries = 0
			c.State.InputsUntil = r.later(r.cfg.InputsWait)
		},
	}
}

// collects moves on once context.json is complete.
func collects(r *cycle, _ run.On) *move {
	capped := r.run.State.TimeoutReentries > r.cfg.MaxTimeoutReentries && slices.ContainsFunc(r.run.State.Requests, func(q *run.Request) bool { return q.Type == typeCap })
	if r.found == nil || r.run.Open(typeCap) != nil || capped {
		return nil
	}
	return &move{
		Reason: "context.json", Causes: []engine.Document{r.run.Snap.In("context.json")},
		Then: func(c *change) { c.State.InputsUntil = r.later(r.cfg.InputsWait) },
	}
}

// decides chooses the level from the three signals and the previous goal.
func decides(r *cycle, _ run.On) *move {
	in := r.inputs()
	if r.found == nil || !in.ok {
		return nil
	}
	a, whyA, sure := signalA(in.assets, r.cfg, r.run.Due(r.run.State.InputsUntil))
	if !sure {
		return nil
	}
	kpi := mergeKPI(r.run.State.trig, in.kpi, in.usage, r.cfg.GateThreshold)
	b, whyB := signalB(kpi)
	c, whyC := signalC(r.found.Feedback)
	goal := r.found.PreviousGoal
	if goal != nil && goal.ApprovedBy == byTimeout && r.found.LateAnswer != nil {
		goal = nil // somebody did answer, and the signals hear it
	}
	d := decide(Signals{A: a, B: b, C: c}, &reasons{A: whyA, B: whyB, C: whyC}, goal, r.run.State.Lang)
	m := &move{
		Reason: r.words("level", "level", d.AutomationLevel), Causes: []engine.Document{r.run.Snap.In("context.json")},
		Then: func(c *change) {
			c.State.Decision, c.State.KPI, c.State.Level = &d, kpi, &Level{Current: d.AutomationLevel}
		},
	}
	for _, rel := range []string{"inputs/assets.json", "inputs/kpi.json"} {
		if d := r.run.Snap.In(rel); d.Present() {
			m.Causes = append(m.Causes, d)
		}
	}
	return m
}

// fails ends a cycle whose lowest level failed.
func fails(r *cycle, _ run.On) *move {
	why, because := r.failure()
	if why == "" || r.run.State.Level.Current > lowest {
		return nil
	}
	return &move{Reason: r.words("reason.failed", "level", lowest, "why", why), Causes: because, Then: func(c *change) { fail(r, c, why) }}
}

// demotes goes on one level lower when the current level failed.
func demotes(r *cycle, _ run.On) *move {
	why, because := r.failure()
	if why == "" || r.run.State.Level.Current == lowest {
		return nil
	}
	return lower(r, why, because...)
}

// demotesAsTold demotes because a person asked for it, after an attempt with an unknown result.
func demotesAsTold(r *cycle, on run.On) *move {
	if unsureLevel(r, on.Answer) {
		return nil
	}
	return lower(r, r.words("outcome.unknown", "command", commandName(r)))
}

func lower(r *cycle, why string, because ...engine.Document) *move {
	level := r.run.State.Level.Current
	return &move{
		Reason: r.words("reason.failed", "level", level, "why", why), Causes: because,
		Then: func(c *change) {
			c.CloseAll(gate.Superseded, r.words("reason.demoted"))
			st, lower := c.State, level-stride
			st.Demotions = append(st.Demotions, Demotion{From: level, To: lower, Error: why, At: c.Now})
			st.Level, st.SuggestionsUntil = &Level{Current: lower}, ""
			if lower == lowest {
				st.Decision.EscalationNeeded = true
			}
		},
	}
}

// retries allows one more attempt because a person asked for it.
func retries(r *cycle, on run.On) *move {
	if unsureLevel(r, on.Answer) {
		return nil
	}
	return &move{Reason: r.words("reason.retry"), Then: func(c *change) { c.State.Level.ExtraAttempts++ }}
}

// retrieves accepts the data of the level.
func retrieves(r *cycle, _ run.On) *move {
	if r.run.State.Level.Current < 20 || r.run.State.Level.Retrieved != "" || unsureLevel(r, nil) {
		return nil
	}
	v, d := r.data(), r.run.Snap.In("retrieved.jsonl")
	if !v.ok {
		return nil
	}
	return &move{
		Reason: r.words("reason.records", "n", len(v.list)), Causes: []engine.Document{d},
		Then: func(c *change) {
			c.State.Level.Retrieved = text(d.Sum)
			c.State.SuggestionsUntil = r.later(r.cfg.InputsWait)
			c.CloseAll(gate.Superseded, r.words("reason.retrieved"))
		},
	}
}

// reports makes the report of the level.
func reports(r *cycle, _ run.On) *move {
	s := r.suggestions()
	if r.found == nil || !s.ok || unsureLevel(r, nil) {
		return nil
	}
	in, causes, ok := reportInputs(r, s)
	if !ok || !reportFree(r) {
		return nil
	}
	level := r.run.State.Level.Current
	return &move{
		Reason: r.words("level", "level", level), Causes: causes,
		Then: func(c *change) {
			c.CloseAll(gate.Superseded, r.words("reason.reported"))
			st := c.State
			st.Suggestions, st.Issues = st.suggestionsOffered(s.Suggestions), r.found.OpenIssues
			st.AuditID = newRowID(r, c, auditPrefix, purposeAudit)
			st.Report = &Report{
				Path: r.run.Path(layout.OptimizerReportName(level)), At: c.Now, Inputs: map[string]engine.Digest{"context.json": r.run.Snap.In("context.json").Sum},
			}
			for _, d := range causes {
				st.Report.Inputs[r.run.Snap.Rel(d.Path)] = d.Sum
			}
			st.Report.SHA256 = engine.Sum(reportMD(*st, *r.found, in, c.Revision)).Hex()
		},
	}
}

// reportInputs returns what the report is made from besides the context; ok is false while it waits
// for some of it.
func reportInputs(r *cycle, s proposed) (in inputs, causes []engine.Document, ok bool) {
	in.Suggestions = s.Suggestions
	if r.run.State.Level.Current >= 20 {
		v := r.data()
		if r.run.State.Level.Retrieved == "" || !v.ok || !s.there && !r.run.Due(r.run.State.SuggestionsUntil) {
			return in, nil, false
		}
		in.Records = v.list
		causes = append(causes, r.run.Snap.In("retrieved.jsonl"))
	}
	if s.there {
		causes = append(causes, r.run.Snap.In("suggestions.json"))
	}
	return in, causes, true
}

// reportFree reports whether the report's path is free of other people's files.
func reportFree(r *cycle) bool {
	d := r.run.Snap.In(layout.OptimizerReportName(r.run.State.Level.Current))
	if d.Absent() || r.ours(d) {
		return true
	}
	if d.Unsettled() {
		r.run.Held = true
	} else {
		r.run.Notes.Beside(d.Path, r.notOurs(d))
	}
	return false
}

// records asks the person once the audit row is in the database, or is known to wait for it.
func records(r *cycle, _ run.On) *move {
	row := r.audit.row(string(r.run.State.AuditID))
	if row == nil || row.Outcome == rowOwed {
		return nil
	}
	if problem, ok := reportStands(r); !ok {
		if problem != "" {
			r.run.Notes.Beside(r.run.State.Report.Path, problem)
		}
		return nil
	}
	if r.found == nil && !r.run.Snap.In("context.json").Absent() {
		return nil // the request shows context.json, which is unusable now
	}
	return &move{
		Reason: r.words("reason.row", "outcome", row.Outcome), Causes: []engine.Document{r.run.Snap.In("audit.json")},
		Then: func(c *change) {
			if r.cfg.HITLTimeout > 0 {
				c.State.Deadline = r.later(r.cfg.HITLTimeout)
			}
			q := r.ask(c, typeHITL, typeHITL, "", c.State.Deadline)
			c.State.RequestID, c.State.Deadline = text(q.ID), q.Deadline
		},
	}
}

// answers makes a goal of the person's answer.
func answers(r *cycle, on run.On) *move {
	a := on.Answer
	g := Given{Response: cmp.Or(a.Response, optAppropriate), Selected: a.Selected, Comment: a.Comment, By: By(a.By)}
	if !a.HasReceipt() && !goalFree(r, goalOf(r.run.State, &g)) {
		return nil
	}
	return &move{
		Reason: a.Why(),
		Then: func(c *change) {
			goal := goalOf(*c.State, &g)
			c.State.Answer, c.State.Goal = &g, &goal
			c.State.FeedbackID = newRowID(r, c, feedbackPrefix, purposeFeedback)
		},
	}
}

// timesOut sets the fallback goal. An answer that waits until somebody moves a foreign goal.json
// away still wins over the timeout.
func timesOut(r *cycle, on run.On) *move {
	a := on.Answer
	if !a.HasReceipt() && !goalFree(r, goalOf(r.run.State, nil)) {
		return nil
	}
	return &move{
		Reason: a.Decision.Why(r.words("reason.silence", "at", a.Request.Deadline)),
		Then: func(c *change) {
			goal := goalOf(*c.State, nil)
			c.State.Goal = &goal
		},
	}
}

// goalFree reports whether the path of goal.json is free of other people's files. A file with the
// content that placet would write counts as placet's own: a power cut may keep it and lose the
// receipt.
func goalFree(r *cycle, would Goal) bool {
	d := r.run.Snap.In("goal.json")
	if d.Absent() || d.Present() && d.Sum == engine.Sum(run.Encoded(would)) {
		return true
	}
	if d.Unsettled() {
		r.run.Held = true
		return false
	}
	if q := r.run.Open(typeHITL); q != nil && r.run.IsDecided(q) {
		return true
	}
	r.run.Notes.Beside(d.Path, r.words("note.goal"))
	return false
}
