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

var questions = map[string]run.Question[*cycle]{
	typeHITL: {
		Fill: askHITL, Title: (*cycle).title, Brief: true, Default: optAppropriate, Hint: "optimizer.hint", AtDeadline: "optimizer.at.deadline",
		Stands: func(r *cycle, _ *run.Request) (string, bool) { return reportStands(r) }, Tell: tellHITL,
	},
	typeCap:     {Fill: askCap, Title: (*cycle).title, Brief: true},
	typeUnknown: {Fill: askAttempt, Title: (*cycle).title, Brief: true, Tell: tellAttempt},
}

// byDeadline is the default option, the one that an expired deadline chooses.
const byDeadline = "timeout_fallback"

// requestID returns the id of a request that a revision opens.
func (r *cycle) requestID(typ string, revision int, purpose string) string {
	return typ + "-" + id(r.run.Snap.Key.ID, revision, purpose)
}

// ask opens a request. Its id is a function of the transition that opens it.
func (r *cycle) ask(c *change, typ, purpose, subject string, deadline text) *run.Request {
	return c.Ask(run.Request{ID: r.requestID(typ, c.Revision, purpose), Type: typ, Subject: text(subject), Deadline: deadline})
}

// askUnknown returns the request about an attempt whose result is unknown. The attempt's own
// documents open it, not a transition.
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
	// The request is needless if the level has its data, whoever wrote them.
	if needless := !r.run.Snap.In("retrieved.jsonl").Absent() && r.run.Folder(q.ID).Doc.Absent(); needless || r.run.Request(q.ID) != nil {
		return nil
	}
	return q
}

// hitl returns the request that asks a person about the report, or nil before it is asked.
func (r *cycle) hitl() *run.Request {
	if r.run.State.RequestID == "" {
		return nil
	}
	return r.run.Request(string(r.run.State.RequestID))
}

// words returns a sentence of the family in the language of the cycle.
func (r *cycle) words(key string, pairs ...any) string { return phrase(r.run.Lang, key, pairs...) }

func (r *cycle) title(q *run.Request) gate.Texts {
	return gate.Texts{Lang: r.run.State.Lang, Title: r.words("title." + q.Type)}
}

// offer adds options with their descriptions and effects.
func offer(r *cycle, req *gate.Request, ids ...string) {
	for _, id := range ids {
		req.Options = append(req.Options, gate.Option{ID: id, Description: r.words("option." + id), Effect: r.words("effect." + id)})
	}
}

// askHITL fills in the request about the report: the level, the suggestions, a comment.
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

// askCap fills in the request whether cycles that nobody answers should go on.
func askCap(r *cycle, _ *run.Request, req *gate.Request) schemas.Object {
	req.Prompt = r.words("ask.reentry_cap", "workflow", r.run.State.WorkflowName, "n", r.run.State.TimeoutReentries)
	offer(r, req, optContinue, optStop)
	return schemas.Object{{Name: "timeout_reentries", Value: r.run.State.TimeoutReentries}, {Name: "last_run_id", Value: r.run.State.trig.LastRunID}}
}

// askAttempt fills in the request about an attempt whose result is unknown. It shows the command on
// one line and when it began, both from the attempt's document.
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

// reportStands reports whether the report is still the one that the person is asked about. If not,
// problem is the sentence for the note.
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

// expiredRequest returns the request hitl if nobody answered it in time, and else nil.
func expiredRequest(r *cycle) *run.Request {
	if q := r.hitl(); q != nil && q.Status == gate.Expired {
		return q
	}
	return nil
}

// lateFile returns the path of a request's late.json, relative to the run.
func lateFile(q *run.Request) string { return "requests/" + q.ID + "/late.json" }

// lateAnswer returns the content of late.json, or nil.
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

// unsureLate reports whether a late.json exists but is unusable now. Then the list of rows for the
// database is not complete.
func unsureLate(r *cycle) bool {
	q := expiredRequest(r)
	return q != nil && !r.run.Snap.In(lateFile(q)).Absent() && lateAnswer(r) == nil
}

// heardLate returns what a request says of an answer that came after its deadline.
func heardLate(r *cycle, q *run.Request) string {
	if q.Type == typeHITL && q.Status == gate.Expired && lateAnswer(r) != nil {
		return r.words("late.kept")
	}
	return ""
}

// hearsLate reports whether nobody answered in time and a late answer still counts.
func hearsLate(r *cycle) bool { return expiredRequest(r) != nil && lateAnswer(r) == nil }

// levelWords are the Korean words for an answer about the level. Cycles of every language accept
// them as well as the option's id.
var levelWords = map[string][]string{
	optAppropriate: {"적절"}, optRaise: {"상향", "상향 권장"}, optLower: {"하향", "하향 권장"},
}

// blockOf returns the facts and the three questions of the request hitl.
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

// levelOptions returns the options about the level. Each effect names the level that the goal would
// get.
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

// shownIssue is how many bytes of an open issue its item shows; the context has all of it.
const shownIssue = 300

// offered returns the items of the request hitl: the suggestions, and the open issues, each of which
// is settled by picking it.
func offered(st State) []gate.Item {
	var items []gate.Item
	for _, s := range st.Suggestions {
		items = append(items, gate.Item{ID: s.ID, Label: s.Text, Priority: s.Priority})
	}
	for at, issue := range st.Issues {
		items = append(items, gate.Item{ID: issueID(at), Label: phrase(st.Lang, "block.issue", "issue", templates.Line(issue, shownIssue))})
	}
	return items
}
