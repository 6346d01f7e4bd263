package optimizer

import (
	"cmp"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Types of requests.
const (
	typeHITL    = "hitl"
	typeCap     = "reentry_cap"
	typeUnknown = "attempt_unknown"
)

// Options of requests.
const (
	optAppropriate = "appropriate"
	optRaise       = "raise"
	optLower       = "lower"
	optContinue    = "continue"
	optStop        = "stop"
	optRetry       = "retry"
	optDemote      = "demote"
)

// byDeadline is the default that the deadline takes.
const byDeadline = "timeout_fallback"

// requestID is the id of a request that a revision opens.
func (r *cycle) requestID(typ string, revision int, purpose string) string {
	return typ + "-" + id(r.run.Snap.Key.ID, revision, purpose)
}

// ask opens a request, whose id is a function of the transition that opens it.
func (r *cycle) ask(c *change, typ, purpose, subject string, deadline text) *run.Request {
	return c.Ask(run.Request{ID: r.requestID(typ, c.Revision, purpose), Type: typ, Subject: text(subject), Deadline: deadline})
}

// askUnknown is the request about an attempt whose end nobody knows: no transition opens
// it, the attempt's own documents do.
func askUnknown(r *cycle) *run.Request {
	t := unknownAttempt(r)
	if t == nil {
		return nil
	}
	what := t.name()
	q := &run.Request{
		ID: r.requestID(typeUnknown, r.run.State.Revision, typeUnknown+":"+what), Type: typeUnknown, Revision: r.run.State.Revision,
		OpenedAt: t.outcome.EndedAt, Status: run.Open, Subject: text(what),
	}
	// Where the level has its data, whoever wrote them, there is nothing to ask about.
	if needless := !r.run.Snap.In("retrieved.jsonl").Absent() && r.run.Folder(q.ID).Doc.Absent(); needless || r.run.Request(q.ID) != nil {
		return nil
	}
	return q
}

// hitl is the request that asks a person about the report, nil before it is asked.
func (r *cycle) hitl() *run.Request {
	if r.run.State.RequestID == "" {
		return nil
	}
	return r.run.Request(string(r.run.State.RequestID))
}

// words is a sentence of the family in the language of the cycle.
func (r *cycle) words(key string, pairs ...any) string { return phrase(r.run.Lang, key, pairs...) }

func (r *cycle) title(q *run.Request) gate.Texts {
	return gate.Texts{Lang: r.run.State.Lang, Title: r.words("title." + q.Type)}
}

// offer adds options with their words: what each is, and what it does.
func offer(r *cycle, req *gate.Request, ids ...string) {
	for _, id := range ids {
		req.Options = append(req.Options, gate.Option{ID: id, Description: r.words("option." + id), Effect: r.words("effect." + id)})
	}
}

// askHITL is the question about the report: the level, the suggestions, a comment.
func askHITL(r *cycle, _ *run.Request, req *gate.Request) schemas.Object {
	st := r.run.State
	req.Options = st.levelOptions()
	req.Items = offered(st)
	b := blockOf(st)
	req.Block, req.Prompt = &b, b.Prompt(req.Items)
	req.Artifacts = []gate.Artifact{{Path: st.Report.Path, SHA256: st.Report.SHA256, Binding: true}}
	if req.Deadline != "" {
		req.Default = byDeadline
	}
	f := cmp.Or(r.found, &Findings{})
	return schemas.Object{
		{Name: "escalation_needed", Value: st.Decision.EscalationNeeded}, {Name: "recommended_level", Value: st.Decision.RecommendedLevel},
		{Name: "signal_level", Value: st.Decision.SignalLevel}, {Name: "goal_level", Value: st.Decision.GoalLevel},
		{Name: "demotions", Value: st.Demotions},
		{Name: "open_issues", Value: f.OpenIssues}, {Name: "late_answer", Value: f.LateAnswer}, {Name: "warnings", Value: f.Warnings},
	}
}

func tellHITL(r *cycle, _ *run.Request, a *engine.OpenRequest) {
	a.Where = r.words("level", "level", r.run.State.Level.Current)
	a.Summary = r.words("asked.summary", "workflow", r.run.State.WorkflowName, "escalation", escalationWords(r.run.State.Decision))
	a.NoReject = r.words("asked.reject")
}

// askCap is the question whether cycles go on that nobody answers.
func askCap(r *cycle, _ *run.Request, req *gate.Request) schemas.Object {
	req.Prompt = r.words("ask.reentry_cap", "workflow", r.run.State.WorkflowName, "n", r.run.State.TimeoutReentries)
	offer(r, req, optContinue, optStop)
	return schemas.Object{{Name: "timeout_reentries", Value: r.run.State.TimeoutReentries}, {Name: "last_run_id", Value: r.run.State.trig.LastRunID}}
}

// askAttempt is the question about an attempt whose end nobody knows: which command it
// was, as one line, and when it began. Both are its own document's words.
func askAttempt(r *cycle, q *run.Request, req *gate.Request) schemas.Object {
	var a Attempt
	for _, t := range r.allAttempts() {
		if t.isRead && t.name() == string(q.Subject) {
			a = t.attempt
		}
	}
	command := text(templates.Line(strings.Join(a.Argv, " "), shownName))
	req.Prompt = r.words("ask.attempt_unknown", "attempt", string(q.Subject), "command", string(command), "started", string(a.StartedAt))
	offer(r, req, optRetry, optDemote)
	return schemas.Object{
		{Name: "attempt", Value: q.Subject}, {Name: "level", Value: r.run.State.Level.Current},
		{Name: "command", Value: command}, {Name: "started_at", Value: a.StartedAt},
	}
}

func tellAttempt(r *cycle, q *run.Request, a *engine.OpenRequest) {
	a.Where = r.words("asked.attempt", "attempt", q.Subject)
}

// reportStands reports whether the report is the one that was asked about; why
// not is said in the request's note.
func reportStands(r *cycle) (problem string, ok bool) {
	name := layout.OptimizerReportName(r.run.State.Level.Current)
	d := r.run.Snap.Doc(r.run.State.Report.Path)
	switch {
	case d.Unsettled():
		r.run.Held = true
		return "", false
	case run.IsUnreadable(d):
		return r.words("note.report.unreadable", "error", d.Err, "file", name), false
	case d.Absent():
		return r.words("note.report.gone", "file", name), false
	case d.Sum.Hex() != r.run.State.Report.SHA256:
		return r.words("note.report.changed", "file", name), false
	}
	return "", true
}

// expiredRequest is the request hitl if nobody answered it in time, nil where it is not so.
func expiredRequest(r *cycle) *run.Request {
	if q := r.hitl(); q != nil && q.Status == gate.Expired {
		return q
	}
	return nil
}

// lateFile is late.json of a request, relative to the run.
func lateFile(q *run.Request) string { return "requests/" + q.ID + "/late.json" }

// lateAnswer is late.json, nil while there is none.
func lateAnswer(r *cycle) *Late {
	q := expiredRequest(r)
	if q == nil {
		return nil
	}
	return run.Once(r.run, "late", func() *Late {
		late, _ := run.Load[Late](&r.run.Input, r.run.Snap.In(lateFile(q)), "optimizer/late")
		return late
	})
}

// unsureLate reports whether there is a late.json that cannot be used now: then nobody
// knows all rows that are owed.
func unsureLate(r *cycle) bool {
	q := expiredRequest(r)
	return q != nil && !r.run.Snap.In(lateFile(q)).Absent() && lateAnswer(r) == nil
}

// heardLate is what is said of an answer that came after the deadline.
func heardLate(r *cycle, q *run.Request) string {
	if q.Type == typeHITL && q.Status == gate.Expired && lateAnswer(r) != nil {
		return r.words("late.kept")
	}
	return ""
}

// hearsLate reports whether nobody answered in time, and a late answer would still
// be heard.
func hearsLate(r *cycle) bool { return expiredRequest(r) != nil && lateAnswer(r) == nil }

// levelWords are the Korean words for an answer about the level, accepted
// beside its id whatever language the cycle speaks.
var levelWords = map[string][]string{
	optAppropriate: {"적절"}, optRaise: {"상향", "상향 권장"}, optLower: {"하향", "하향 권장"},
}

// blockOf are the facts and the three questions of the request hitl.
func blockOf(st State) gate.Block {
	ask := func(key string) string { return phrase(st.Lang, "block."+key) }
	return gate.Block{
		Head: ask("head"),
		Facts: []engine.Fact{
			{Label: ask("workflow"), Value: st.WorkflowName},
			{Label: ask("level"), Value: strconv.Itoa(st.Level.Current)},
			{Label: ask("report"), Value: st.Report.Path},
		},
		Title:   ask("title"),
		Options: ask("options"), Items: ask("items"), Comment: ask("comment"),
		None: ask("none"),
	}
}

// levelOptions are the answers about the level: what each is, and the level that the
// goal takes with it.
func (st State) levelOptions() []gate.Option {
	var options []gate.Option
	for _, id := range []string{optAppropriate, optRaise, optLower} {
		options = append(options, gate.Option{
			ID: id, Description: phrase(st.Lang, "block."+id), Words: levelWords[id],
			Effect: phrase(st.Lang, "effect.level", "level", strconv.Itoa(st.levelAfter(id))),
		})
	}
	return options
}

// offered are the suggestions as items of the request hitl.
func offered(st State) []gate.Item {
	var items []gate.Item
	for _, s := range st.Suggestions {
		items = append(items, gate.Item{ID: s.ID, Label: s.Text, Priority: s.Priority})
	}
	return items
}
