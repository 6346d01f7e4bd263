package faber

import (
	"fmt"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// quiet is how long an agent may be silent before show says so.
const quiet = time.Hour

// Account implements [engine.Machine].
func (Machine) Account(s engine.Snapshot) engine.Account {
	r := read(s)
	r.flow = r.plan()
	a := engine.Account{Key: s.Key, Class: "served", Short: r.short(), Status: r.status, Final: final(r.status)}
	if r.foreign() {
		a.Class = "foreign"
	}
	if r.status == "" {
		a.Status = "unreadable"
		if r.doc.Absent() {
			a.Status = "absent"
		}
	}
	o := r.standing()
	// Judging collects the notes; what they say is what holds the run.
	r.explain(&a, o)
	a.Stands = r.stateErr != "" && !r.torn || r.editErr != nil
	a.Facts = r.facts(o)
	if o != nil && o.a.receipt == nil {
		a.Open = []engine.Asked{r.askedOf(o)}
	}
	a.Graph, a.Findings, a.Untrusted, a.Log = r.graph(), r.findings(), r.untrusted(), r.log()
	return a
}

// standing is the request that the state asks, nil if it asks nothing.
func (r *reading) standing() *open {
	q, ok := r.question()
	if !ok || r.foreign() && !r.answerable() {
		return nil
	}
	return r.opened(q)
}

func (r *reading) facts(o *open) []engine.Fact {
	var list []engine.Fact
	add := func(label, value string) {
		if value != "" {
			list = append(list, engine.Fact{Label: label, Value: value})
		}
	}
	add("run", r.runID())
	if id := text(r.st.WorkID); id != "" {
		add("work item", "#"+id)
	}
	add("workflow", r.workflowID())
	add("shape", string(rune(r.shape.letter)))
	add("phase", r.st.CurrentPhase)
	add("step", r.st.CurrentStep)
	add("revision", fmt.Sprint(r.rev))
	add("updated", r.st.UpdatedAt)
	if retries := r.retries(); retries > 0 {
		add("retries", fmt.Sprint(retries))
	}
	if o != nil {
		add("request", o.a.id+" ("+o.req.Type+")")
	}
	if r.isQuiet() {
		add("quiet", "no event and no change for over an hour")
	}
	for _, p := range r.lostAttempts() {
		add("attempt without outcome", p)
	}
	return list
}

// retries is how often steps were taken up again.
func (r *reading) retries() int {
	n := 0
	for _, e := range r.events {
		if e.Type == "step_retry" {
			n++
		}
	}
	return n
}

// isQuiet reports whether an agent that should be at work shows no sign of it.
func (r *reading) isQuiet() bool {
	if r.status != InProgress {
		return false
	}
	newest, err := time.Parse(time.RFC3339, r.st.UpdatedAt)
	if err != nil {
		return false
	}
	return r.snap.Now.Sub(r.notBefore(newest)) > quiet
}

// explain says which rule holds the run, and which file would move it.
func (r *reading) explain(a *engine.Account, o *open) {
	why := func(format string, args ...any) { a.Why = append(a.Why, fmt.Sprintf(format, args...)) }
	move := func(p, content string) { a.Moves = append(a.Moves, engine.Move{Path: p, Content: content}) }
	switch {
	case r.doc.Absent():
		why("there is no state.json: nothing has begun")
	case r.torn:
		why("state.json is still being written: it is looked at again")
	case r.stateErr != "":
		why("%s", r.stateErr)
		move(r.doc.Path, "a state that can be read")
	case final(r.status):
		why("status %s is final: nothing moves this run", r.status)
	case o != nil:
		r.explainRequest(a, o)
	case r.resumes():
		why("answer %s was taken; an agent goes on at %s: %s", r.st.ResumePoint.RequestID, where(r.st.ResumePoint.Phase, r.st.ResumePoint.Step), r.path("resume.md"))
		move(r.path("events/"), "an event such as step_start by the agent that takes it up")
	case r.status == Paused:
		why("status paused: upstream holds the run until it sets another status")
	case r.status == Failed:
		why("status failed: ask_failed = %q does not ask about it", r.cfg.AskFailed)
	default:
		why("status %s: an agent works; placet acts when state.json asks for feedback", r.status)
	}
	if !final(r.status) && !r.foreign() && r.status != "" {
		move(r.path("cancel.json"), `{"by": "<you>", "reason": "<why>"} cancels the run`)
	}
}

// explainRequest says what a waiting run waits for, and what was looked for in
// vain.
func (r *reading) explainRequest(a *engine.Account, o *open) {
	why := func(format string, args ...any) { a.Why = append(a.Why, fmt.Sprintf(format, args...)) }
	if o.a.receipt != nil {
		why("request %s has a receipt already: a new question needs a new request_id", o.a.id)
		return
	}
	if !r.isOpen(o.q) {
		why("request %s is not opened yet: the daemon, or placet once, writes its form", o.a.id)
		return
	}
	why("request %s (%s) waits for an answer at %s", o.a.id, o.req.Type, where(o.q.phase, o.q.step))
	why("looked for: an entry in feedback_history, a feedback_received event, %s, %s", "response.json", o.present)
	if ans := r.evidence(o); ans != nil {
		why("an answer is there (%s by %s): it is taken at the next pass", ans.Response, ans.By.User)
	}
	if p := r.notes.Text(o.a.dir + "/problem.md"); p != "" {
		why("the answer in place does not count: %s", p)
	}
	if len(o.moved) > 0 {
		why("%s: answers must carry the digest of the present view", o.stale())
	}
	if at, ok := o.deadline(); ok {
		why("deadline %s, then: %s", seconds(at), orElse(o.req.Default, "the inbox marks it overdue, nothing moves"))
	}
	for _, opt := range o.req.Options {
		out := r.decide(o, probe(opt.ID, r.snap.Now))
		a.Moves = append(a.Moves, engine.Move{
			Path:    o.a.dir + "/" + o.present,
			Content: "ticking " + opt.ID + " and submit " + effect(out),
		})
	}
	if o.req.FreeText() {
		a.Moves = append(a.Moves, engine.Move{Path: o.a.dir + "/" + o.present, Content: "writing the answer into the comment section and ticking submit goes on"})
	}
}

func probe(option string, now time.Time) *answer {
	a := &answer{decidedAt: now}
	a.Response, a.By.User = option, "you"
	return a
}

// effect says in words what an answer would do.
func effect(out outcome) string {
	switch {
	case out.to == Cancelled:
		return "cancels the run"
	case out.point == nil:
		return "goes on"
	case out.point.Position == "after":
		return "goes on after " + where(out.point.Phase, out.point.Step)
	case out.action == actRevise:
		return "has " + where(out.point.Phase, out.point.Step) + " revised"
	case out.action == actRetry:
		return "tries " + where(out.point.Phase, out.point.Step) + " again"
	}
	return "goes on at " + where(out.point.Phase, out.point.Step)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// graph is the plan as phases and steps, the current one marked.
func (r *reading) graph() []engine.Node {
	steps := r.flow.steps
	var nodes []engine.Node
	phase, step, _ := r.st.at()
	var before string
	for _, s := range steps {
		n := engine.Node{ID: where(s.Phase, s.ID), Group: s.Phase, Label: s.ID, Status: r.shape.status(s.Phase, s.ID)}
		n.Current = s.Phase == phase && s.ID == step
		n.Gate = r.destructive(s.Phase, s.ID) || n.Current && r.status == Awaiting
		if n.Status == "" {
			n.Status = Pending
		}
		if before != "" {
			n.After = []string{before}
		}
		before = n.ID
		nodes = append(nodes, n)
	}
	return nodes
}

// findings are what check reports: problems first, then deviations.
func (r *reading) findings() []engine.Finding {
	var list []engine.Finding
	add := func(severity, p, format string, args ...any) {
		list = append(list, engine.Finding{Severity: severity, Path: p, Text: fmt.Sprintf(format, args...)})
	}
	if r.stateErr != "" && !r.torn {
		add("error", r.doc.Path, "%s", r.stateErr)
	}
	for _, d := range r.snap.Docs {
		if d.Kind == layout.KindProblem && d.Present() {
			add("error", d.Path, "%s", noteLine(string(d.Body)))
		}
		if d.Kind == layout.KindResponseCopy {
			add("warning", d.Path, "a synchroniser's second copy of an answer: remove the one that does not count")
		}
	}
	for _, b := range r.badEvents() {
		add("warning", r.path("events"), "%s", b)
	}
	for _, gap := range r.gaps() {
		add("warning", r.path("events"), "%s", gap)
	}
	if d := r.snap.In("events/.next-id"); d.Present() && r.nextID() == 0 {
		add("warning", d.Path, "is no number: the next event takes the highest number + 1")
	}
	if r.st.RunID != "" && r.st.RunID != r.runID() && !r.foreign() {
		add("warning", r.doc.Path, "/run_id: %s is not the run's path %s: the path counts", quote(r.st.RunID), quote(r.runID()))
	}
	if !r.snap.In("metadata.json").Present() && !r.foreign() {
		add("warning", r.path("metadata.json"), "missing or unreadable: context.md will say so")
	}
	if strings.HasPrefix(strings.TrimSpace(string(r.st.Errors)), "{") {
		add("warning", r.doc.Path, "/errors is an object: upstream's schema has an array")
	}
	if r.flow.problem != "" && !final(r.status) {
		add("warning", r.doc.Path, "plan not known from its definition: %s", r.flow.problem)
	}
	return list
}

// noteLine is what a problem note says, on one line.
func noteLine(body string) string {
	body = strings.TrimPrefix(strings.TrimSpace(body), "# Problem")
	if i := strings.LastIndex(body, "placet wrote this note"); i >= 0 {
		body = body[:i]
	}
	return oneLine(body, 300)
}

// gaps are numbers that no event has.
func (r *reading) gaps() []string {
	var gaps []string
	before := 0
	for _, e := range r.events {
		switch missing := e.Number - before - 1; {
		case missing == 1:
			gaps = append(gaps, fmt.Sprintf("no event has the number %03d", before+1))
		case missing > 1:
			gaps = append(gaps, fmt.Sprintf("no events have the numbers %03d to %03d", before+1, e.Number-1))
		}
		before = e.Number
	}
	return gaps
}

// untrusted is the resume command while nobody has agreed to it.
func (r *reading) untrusted() []engine.Untrusted {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || r.snap.Facts.Trusted[CommandDigest(argv)] {
		return nil
	}
	return []engine.Untrusted{{Name: "faber.resume", Digest: CommandDigest(argv), Text: strings.Join(argv, " ")}}
}

func (r *reading) log() []engine.Entry {
	var list []engine.Entry
	for _, e := range r.events {
		at, _ := time.Parse(time.RFC3339, e.Timestamp)
		list = append(list, engine.Entry{At: at, Number: e.Number, Event: e.Type, Where: placeOf(e), Who: e.User, Message: e.Message})
	}
	return list
}

// askedOf is a request for the inbox.
func (r *reading) askedOf(o *open) engine.Asked {
	q := engine.Asked{
		Request: o.a.id, Run: r.snap.Key, Type: o.req.Type, Where: where(o.q.phase, o.q.step), Prompt: o.req.Prompt,
		FreeText: o.req.FreeText(), Summary: o.q.context().Summary, Form: o.a.dir + "/" + o.present,
		Response: o.a.dir + "/response.json", Digest: o.view, CommentRequired: o.req.CommentRequired,
	}
	for _, opt := range o.req.Options {
		q.Options = append(q.Options, engine.AskedOption{ID: opt.ID, Description: opt.Description})
	}
	for _, a := range o.req.Artifacts {
		q.Artifacts = append(q.Artifacts, a.Path)
	}
	q.RequestedAt, _ = time.Parse(time.RFC3339, o.req.RequestedAt)
	if at, ok := o.deadline(); ok {
		q.Deadline, q.Overdue = at, !r.snap.Now.Before(at)
	}
	q.Problem = r.notes.Text(o.a.dir + "/problem.md")
	return q
}
