package faber

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// contextPause is how long context.md stays as it is: an agent that writes many events does not
// have it written anew with each.
const contextPause = 10 * time.Second

// contextHead returns the first line of context.md. It names what the file was made of, so that the
// file is made anew when that has changed.
func contextHead(r *view) string {
	made := fmt.Sprintf("%d", r.events.newest().Number)
	sources := []engine.Document{r.doc, r.Snap.In("metadata.json"), r.Snap.Doc(r.gitLog())}
	if issue := r.Snap.In("issue.json"); run.Peek[Issue](issue, "faber/issue") != nil {
		sources = append(sources, issue)
	}
	if spec := r.state.spec(); layout.Safe(spec) {
		sources = append(sources, r.Snap.Doc(path.Clean(spec)))
	}
	for _, d := range sources {
		made += "\n" + string(d.Sum)
	}
	return fmt.Sprintf("<!-- placet faber %s r%d c%s -->", r.Snap.Key.ID, r.state.rev, engine.Sum([]byte(made)).Hex()[:12])
}

// isContextDue reports whether context.md must be written: it is absent, of another revision, or
// made of what has changed since.
func isContextDue(r *view) bool {
	d := r.Snap.In("context.md")
	if r.foreign() || !r.goesOn() || d.Unsettled() {
		return false
	}
	head, _, _ := strings.Cut(string(d.Body), "\n")
	revision := fmt.Sprintf("<!-- placet faber %s r%d c", r.Snap.Key.ID, r.state.rev)
	switch again := d.Changed.Add(contextPause); {
	case head == contextHead(r):
		return false
	case strings.HasPrefix(head, revision) && r.Snap.Now.Before(again) && !d.Changed.After(r.Snap.Now):
		r.WakeAt(again)
		return false
	}
	return true
}

// contextNeeds returns the files and facts that decide what is in context.md, and if it must be
// written also those that it only quotes. While an agent has not acted on an answer yet, some also
// decide whether the agent must stop and ask.
func contextNeeds(r *view) []string {
	needs := []string{r.gitLog()}
	if spec := r.state.spec(); layout.Safe(spec) {
		needs = append(needs, spec)
	}
	if len(r.Snap.Lacks(needs)) == 0 && isContextDue(r) {
		needs = append(needs, contextQuotes(r)...)
	}
	return needs
}

// contextQuotes returns what context.md quotes besides.
func contextQuotes(r *view) []string {
	return []string{r.gitDiffstat(), r.Path("session-summaries/*")}
}

// gitLog and gitDiffstat return the needs for what git knows of the run's branch.
func (r *view) gitLog() string { return r.ofBranch(r.cfg.gitLog()) }

func (r *view) gitDiffstat() string { return r.ofBranch("git:diffstat") }

// ofBranch returns a need about HEAD as one about the run's branch, if it names one.
func (r *view) ofBranch(need string) string {
	if branch := r.branch(); engine.IsBranch(branch) {
		return need + "/" + branch
	}
	return need
}

// contextBusy reports whether a source of context.md is unreadable at the moment. context.md is
// written once, so it must not call such a source missing.
func contextBusy(r *view) bool {
	sources := append([]engine.Document{r.Snap.In("metadata.json")}, r.Snap.Under("session-summaries")...)
	return r.anyBusy(sources, "faber.locked.context") || r.resumeBusy()
}

// specLimit is how much of a specification context.md quotes, in bytes.
const specLimit = 64 << 10

// Severities of a missing or bad part.
const (
	info    = "info"
	warning = "warning"
	severe  = "error"
)

type section = templates.ContextSection

// part returns a section of context.md. Its severity is "" if nothing is missing or bad.
func part(title, severity string, body ...string) section {
	return section{Title: title, Severity: severity, Body: strings.Join(body, "\n\n")}
}

// contextFile returns the content of context.md.
func contextFile(r *view) []byte {
	return render(r, "faber/context", templates.ContextData{RunID: r.Snap.Key.ID, Head: contextHead(r), Sections: []section{
		stateSection(r), specSection(r), issueSection(r), branchSection(r),
		summarySection(r), eventSection(r), feedbackSection(r),
	}})
}

// Context returns the text of context.md for a run in any status. As long as the snapshot lacks
// something that the text quotes, it returns what it needs instead.
func (m Machine) Context(s engine.Snapshot) (text []byte, needs []string) {
	_, r := m.View(s)
	needs = append(contextNeeds(r), contextQuotes(r)...)
	if len(s.Lacks(needs)) > 0 {
		return nil, needs
	}
	return contextFile(r), nil
}

// stop returns the line that tells the agent to stop if context.md lacks a part that the agent
// needs, and else "". It depends on documents alone.
func stop(r *view) string {
	for _, s := range []section{specSection(r), issueSection(r), feedbackSection(r)} {
		if s.Severity == severe {
			return r.Say("faber.resume.stop")
		}
	}
	return ""
}

func stateSection(r *view) section {
	body := "- status: " + templates.Inline(r.state.Status) +
		"\n- phase: " + templates.Inline(r.state.CurrentPhase) + ", step: " + templates.Inline(r.state.CurrentStep)
	add := func(label, value string) {
		if value != "" {
			body += "\n- " + label + ": " + templates.Inline(oneLine(value, longestError))
		}
	}
	if id := r.workID(); id != "" {
		add("work item", "#"+id)
	}
	add("workflow", r.workflowID())
	for name, value := range members(r.state.Artifacts) {
		add("artifact "+name, plain(value))
	}
	errors := r.state.recordedErrors()
	for _, e := range errors[max(0, len(errors)-shownErrors):] {
		add("error", strings.Join(strings.Fields(e.at+" "+e.where+" "+e.text), " "))
	}
	metadata := r.Snap.In("metadata.json")
	if !metadata.Present() {
		return part("State and metadata", warning, body+"\n- metadata.json: missing or unreadable")
	}
	known, _ := schemas.Members(metadata.Body)
	for _, name := range metadataMembers {
		add("metadata "+name, plain(known.Raw(name)))
	}
	return part("State and metadata", "", body)
}

// shownErrors is how many of the recorded errors context.md quotes, the newest.
const shownErrors = 5

// metadataMembers are the members of metadata.json that context.md quotes.
var metadataMembers = []string{
	"run_id", "work_id", "target", "workflow_id", "autonomy", "source_type", "phases", "created_at", "created_by", "relationships", "environment",
}

// plain returns a value of a document for people: a text as it is, and everything else as JSON.
func plain(value schemas.Raw) string {
	if said, isText := value.Text(); isText || value.Null() {
		return said
	}
	return string(value)
}

func specSection(r *view) section {
	const title = "Specification"
	p := r.state.spec()
	name, d := "`"+templates.Inline(p)+"`", r.Snap.Doc(path.Clean(p))
	switch {
	case p == "":
		return part(title, info, "No specification is named.")
	case !layout.Safe(p):
		return part(title, severe, name+" lies outside the workspace.")
	case d.Absent():
		return part(title, warning, name+" does not exist.")
	case d.Err != nil && !d.Unsettled():
		return part(title, severe, name+": "+templates.Inline(d.Err.Error()))
	}
	body := string(d.Body)
	if len(body) > specLimit {
		body = body[:specLimit] + "\n… cut at 64 KiB"
	}
	return part(title, "", name, templates.Fence(body))
}

func issueSection(r *view) section {
	const title = "Issue"
	if r.workID() == "" {
		return part(title, info, "No work item is named.")
	}
	var issue Issue
	severity := ""
	switch good := r.Decode(r.Snap.In("issue.json"), "faber/issue", &issue); {
	case !good:
		return part(title, warning, "issue.json is missing.")
	case issue.Error == "auth":
		return part(title, severe, "The issue cannot be read: the forge refused the credentials.")
	case issue.Error != "":
		severity = warning
	}
	return part(title, severity, "**"+templates.Inline("#"+text(issue.Number)+" "+issue.Title)+"**", templates.Quote(issue.Body)+commentText(issue.Comments))
}

// commentLimit is how much of an issue's comments context.md quotes, in bytes. The newest ones have
// precedence.
const commentLimit = 64 << 10

// commentText quotes the comments of an issue, in their order.
func commentText(comments []IssueComment) string {
	text, left := "", commentLimit
	for i, c := range slices.Backward(comments) {
		one := "\n\n" + strings.TrimSpace("**"+templates.Inline(c.Author)+"** "+templates.Inline(c.CreatedAt)) + "\n\n" + templates.Quote(c.Body)
		if left -= len(one); left < 0 {
			return fmt.Sprintf("\n\n… older comments left out: %d", i+1) + text
		}
		text = one + text
	}
	return text
}

func branchSection(r *view) section {
	title := "Branch"
	branch := r.branch()
	if branch != "" {
		title += " " + templates.Inline(oneLine(branch, 200))
	}
	if branch != "" && !engine.IsBranch(branch) {
		return part(title, warning, "The run names no branch that can be looked up.")
	}
	log, stat := r.Snap.Doc(r.gitLog()), r.Snap.Doc(r.gitDiffstat())
	if !log.Present() {
		return part(title, warning, "Local git says nothing: "+templates.Inline(cmp.Or(log.Err, errors.New("no answer")).Error()))
	}
	body := []string{templates.Fence(string(log.Body))}
	if stat.Present() && len(stat.Body) > 0 {
		body = append(body, templates.Fence(string(stat.Body)))
	}
	return part(title, "", body...)
}

func summarySection(r *view) section {
	const title = "Session summaries"
	for _, d := range slices.Backward(r.Snap.Under("session-summaries")) {
		if d.Present() {
			return part(title, "", "`"+templates.Inline(path.Base(d.Path))+"`", templates.Fence(string(d.Body)))
		}
	}
	return part(title, info, "None.")
}

func eventSection(r *view) section {
	title := fmt.Sprintf("Last %d events", r.cfg.Context.Events)
	if len(r.events.all) == 0 {
		return part(title, info, "None.")
	}
	var lines []string
	for _, e := range r.events.all[max(0, len(r.events.all)-r.cfg.Context.Events):] {
		lines = append(lines, fmt.Sprintf("- %03d %s %s %s", e.Number, templates.Inline(e.Timestamp), templates.Inline(e.Type),
			templates.Inline(strings.TrimSpace(e.place()+" "+e.Message))))
	}
	severity := ""
	if len(r.events.badEvents()) > 0 {
		severity = warning
	}
	return part(title, severity, strings.Join(lines, "\n"))
}

func feedbackSection(r *view) section {
	const title = "Feedback and resume point"
	rp := r.state.ResumePoint
	if rp == nil || rp.RequestID == "" {
		return part(title, info, "None.")
	}
	h := r.state.answerTo(rp.RequestID)
	if h == nil {
		return part(title, severe, "feedback_history has no entry for request "+templates.Inline(rp.RequestID)+".")
	}
	body := []string{"- request: " + templates.Inline(rp.RequestID) +
		"\n- response: " + templates.Inline(oneLine(h.Response, 200)) + " by " + templates.Inline(h.ProvidedBy.User) +
		"\n- resume point: " + templates.Inline(where(rp.Phase, rp.Step)) + ", position " + templates.Inline(rp.Position) + ", action " + templates.Inline(rp.Action)}
	if h.Comment != "" {
		body = append(body, templates.Quote(h.Comment))
	}
	return part(title, "", body...)
}

func render(r *view, name string, data any) []byte {
	text, err := templates.Render(r.Lang, name, data)
	if err != nil {
		panic("faber: cannot render " + name + ": " + err.Error())
	}
	return []byte(text)
}

// longestError limits how much of a recorded error is shown, in characters.
const longestError = 500

// recordedError is an error that a run records.
type recordedError struct {
	at, where, kind, text string
	resolved              bool
}

// readError reads an entry of errors; a text alone is an error without a place.
func readError(value schemas.Raw) (e recordedError) {
	var m map[string]schemas.Raw
	if value.Kind() != '{' || schemas.DecodeValue(value, &m) != nil {
		return recordedError{text: word(value)}
	}
	e.at, e.kind, e.text = word(m["timestamp"]), word(m["type"]), cmp.Or(word(m["error"]), word(m["message"]))
	if e.where = word(m["phase"]); word(m["step"]) != "" {
		e.where = where(e.where, word(m["step"]))
	}
	resolved := m["resolved"]
	e.resolved = !resolved.Null() && string(resolved) != "false"
	return e
}

// recordedErrors returns the entries of errors that say something, oldest first.
func (st State) recordedErrors() (all []recordedError) {
	values := slices.Clone(elements(st.Errors))
	for _, value := range members(st.Errors) {
		values = append(values, value)
	}
	for _, value := range values {
		if e := readError(value); e.text != "" {
			all = append(all, e)
		}
	}
	return all
}

// phaseError returns the error that a phase records, "" if none does. The last phase decides.
func (st State) phaseError() (text string) {
	note := func(phase schemas.Raw) {
		var p struct {
			Error schemas.Raw `json:"error"`
		}
		if phase.Kind() == '{' && schemas.DecodeValue(phase, &p) == nil && !p.Error.Null() {
			text = cmp.Or(readError(p.Error).text, text)
		}
	}
	for _, phase := range elements(st.Phases) {
		note(phase)
	}
	for _, phase := range members(st.Phases) {
		note(phase)
	}
	return text
}

// lastError returns the error of the newest event that has one, "" if none has.
func (l *eventLog) lastError() string {
	for _, e := range slices.Backward(l.all) {
		if strings.HasSuffix(e.Type, "_error") {
			return cmp.Or(readError(e.Error).text, e.Message)
		}
	}
	return ""
}

// failureOf returns the error for which the run failed, on one line: the newest unresolved entry of
// errors, else what a phase records, else the newest event of an error.
func failureOf(r *view) string {
	text := ""
	for _, e := range r.state.recordedErrors() {
		if !e.resolved {
			text = e.text
		}
	}
	text = cmp.Or(text, r.state.phaseError(), r.events.lastError())
	return cmp.Or(oneLine(text, longestError), r.Say("faber.failed.unrecorded"))
}
