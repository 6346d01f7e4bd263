package faber

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// owesContext reports whether context.md is absent or of another revision.
func (r *handover) owesContext() bool {
	if r.foreign() || !r.goesOn() {
		return false
	}
	d := r.Snap.In("context.md")
	return !strings.HasPrefix(string(d.Body), r.viewLine()) && !d.Unsettled()
}

func (r *handover) viewLine() string {
	return "<!-- placet faber " + r.runID() + " r" + strconv.Itoa(r.State.rev) + " -->"
}

// contextNeeds are the files and facts that context.md quotes, and, while an answer
// waits to be taken up, those that decide whether the agent must stop and ask.
func (r *handover) contextNeeds() []string {
	var needs []string
	owes := r.owesContext()
	if owes {
		needs = []string{r.gitLog(), "git:diffstat", r.Path("session-summaries/*")}
	}
	if spec := r.spec(); layout.Safe(spec) && (owes || r.resumes()) {
		needs = append(needs, spec)
	}
	return needs
}

func (r *handover) gitLog() string { return fmt.Sprintf("git:log/%d", r.cfg.Context.Commits) }

func (r *sources) spec() string { return strings.TrimPrefix(r.State.Artifacts.Spec(), "/") }

// resumeBusy reports whether a file that decides whether resume.md says to stop
// cannot be read at this moment. The answer waits for it: whoever sees the run in
// progress must find resume.md as it is to stay.
func (r *sources) resumeBusy() bool {
	sources := []engine.Document{r.Snap.In("issue.json")}
	if spec := r.spec(); layout.Safe(spec) {
		sources = append(sources, r.Snap.Doc(path.Clean(spec)))
	}
	return r.anyBusy(sources, "the run does not go on, and neither resume.md nor context.md is written")
}

// contextBusy reports whether a source of context.md cannot be read at this
// moment: what is written once must not call it missing.
func (r *handover) contextBusy() bool {
	sources := append([]engine.Document{r.Snap.In("metadata.json")}, r.Snap.Under("session-summaries")...)
	return r.anyBusy(sources, "context.md is not written") || r.resumeBusy()
}

// anyBusy reports whether a file of several cannot be read at this moment; waits says
// what waits for one that placet may not read.
func (r *sources) anyBusy(sources []engine.Document, waits string) bool {
	busy := false
	for _, d := range sources {
		if r.unknown(d) {
			busy = true
			r.locked(d, waits)
		}
	}
	return busy
}

// specLimit is how much of a specification is quoted, in bytes.
const specLimit = 64 << 10

// Severities of a part that is missing or bad.
const (
	info     = "info"
	warning  = "warning"
	severe   = "error"
	critical = "critical"
)

// context gathers context.md.
func (r *handover) context() []byte {
	sections := []templates.ContextSection{
		r.stateSection(), r.specSection(), r.issueSection(), r.branchSection(),
		r.summarySection(), r.eventSection(), r.feedbackSection(),
	}
	return r.render("faber/context", templates.ContextData{RunID: r.runID(), Revision: r.State.rev, Sections: sections})
}

// stop is the line that tells the agent to stop where a part of context.md cannot be
// had that it must not do without, else "". Documents alone decide it.
func (r *handover) stop() string {
	for _, s := range []templates.ContextSection{r.specSection(), r.issueSection(), r.feedbackSection()} {
		if s.Severity == severe {
			return templates.Text(r.language(), "faber.resume.stop")
		}
	}
	return ""
}

func missing(title, severity, body string) templates.ContextSection {
	return templates.ContextSection{Title: title, Severity: severity, Body: body}
}

func (r *handover) stateSection() templates.ContextSection {
	s := templates.ContextSection{Title: "State and metadata"}
	lines := []string{
		"- status: " + templates.Inline(r.State.Status),
		"- phase: " + templates.Inline(r.State.CurrentPhase) + ", step: " + templates.Inline(r.State.CurrentStep),
	}
	if id := numbered(r.State.WorkID); id != "" {
		lines = append(lines, "- work item: "+templates.Inline(id))
	}
	if id := r.workflowID(); id != "" {
		lines = append(lines, "- workflow: "+templates.Inline(id))
	}
	if !r.Snap.In("metadata.json").Present() {
		s.Severity = warning
		lines = append(lines, "- metadata.json: missing or unreadable")
	}
	s.Body = strings.Join(lines, "\n")
	return s
}

func (r *handover) specSection() templates.ContextSection {
	const title = "Specification"
	p := r.spec()
	if p == "" {
		return missing(title, info, "No specification is named.")
	}
	name := "`" + templates.Inline(p) + "`"
	if !layout.Safe(p) {
		return missing(title, severe, name+" lies outside the workspace.")
	}
	d := r.Snap.Doc(path.Clean(p))
	switch {
	case d.Absent():
		return missing(title, warning, name+" does not exist.")
	case d.Err != nil && !d.Unsettled():
		return missing(title, severe, name+": "+templates.Inline(d.Err.Error()))
	}
	body := string(d.Body)
	if len(body) > specLimit {
		body = body[:specLimit] + "\n… cut at 64 KiB"
	}
	return templates.ContextSection{Title: title, Body: name + "\n\n" + templates.Fence(body)}
}

func (r *handover) issueSection() templates.ContextSection {
	const title = "Issue"
	if text(r.State.WorkID) == "" && text(r.meta.WorkID) == "" {
		return missing(title, info, "No work item is named.")
	}
	var issue Issue
	if !r.Decode(r.Snap.In("issue.json"), "faber/issue", &issue) {
		return missing(title, warning, "issue.json is missing.")
	}
	if issue.Error == "auth" {
		return missing(title, severe, "The issue cannot be read: the forge refused the credentials.")
	}
	s := templates.ContextSection{Title: title, Body: "**" + templates.Inline("#"+text(issue.Number)+" "+issue.Title) + "**\n\n" + templates.Quote(issue.Body) + commentText(issue.Comments)}
	if issue.Error != "" {
		s.Severity = warning
	}
	return s
}

// commentLimit is how much of an issue's comments is quoted, in bytes: the newest that
// fit.
const commentLimit = 64 << 10

// commentText quotes the comments of an issue, in their order.
func commentText(comments []IssueComment) string {
	text, left := "", commentLimit
	for i := len(comments) - 1; i >= 0; i-- {
		c := comments[i]
		one := "\n\n" + strings.TrimSpace("**"+templates.Inline(c.Author)+"** "+templates.Inline(c.CreatedAt)) + "\n\n" + templates.Quote(c.Body)
		if left -= len(one); left < 0 {
			return fmt.Sprintf("\n\n… older comments left out: %d", i+1) + text
		}
		text = one + text
	}
	return text
}

func (r *handover) branchSection() templates.ContextSection {
	const title = "Branch"
	log, stat := r.Snap.Doc(r.gitLog()), r.Snap.Doc("git:diffstat")
	if !log.Present() {
		return missing(title, warning, "Local git says nothing: "+templates.Inline(reason(log)))
	}
	body := templates.Fence(string(log.Body))
	if stat.Present() && len(stat.Body) > 0 {
		body += "\n\n" + templates.Fence(string(stat.Body))
	}
	return templates.ContextSection{Title: title, Body: body}
}

func reason(d engine.Document) string {
	if d.Err != nil {
		return d.Err.Error()
	}
	return "no answer"
}

func (r *handover) summarySection() templates.ContextSection {
	const title = "Session summaries"
	var newest engine.Document
	for _, d := range r.Snap.Under("session-summaries") {
		if d.Present() && d.Path > newest.Path {
			newest = d
		}
	}
	if newest.Path == "" {
		return missing(title, info, "None.")
	}
	return templates.ContextSection{Title: title, Body: "`" + templates.Inline(path.Base(newest.Path)) + "`\n\n" + templates.Fence(string(newest.Body))}
}

func (r *handover) eventSection() templates.ContextSection {
	title := fmt.Sprintf("Last %d events", r.cfg.Context.Events)
	if len(r.events) == 0 {
		return missing(title, info, "None.")
	}
	events := r.events
	if n := r.cfg.Context.Events; len(events) > n {
		events = events[len(events)-n:]
	}
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("- %03d %s %s %s", e.Number, templates.Inline(e.Timestamp), templates.Inline(e.Type),
			templates.Inline(strings.TrimSpace(placeOf(e)+" "+e.Message))))
	}
	s := templates.ContextSection{Title: title, Body: strings.Join(lines, "\n")}
	if len(r.badEvents()) > 0 {
		s.Severity = warning
	}
	return s
}

func placeOf(e *event) string {
	if e.Step == "" {
		return e.Phase
	}
	return where(e.Phase, e.Step)
}

func (r *handover) feedbackSection() templates.ContextSection {
	const title = "Feedback and resume point"
	rp := r.State.ResumePoint
	h := r.State.answerTo(rp.RequestID)
	if h == nil {
		return missing(title, severe, "feedback_history has no entry for request "+templates.Inline(rp.RequestID)+".")
	}
	lines := []string{
		"- request: " + templates.Inline(rp.RequestID),
		"- response: " + templates.Inline(oneLine(h.Response, 200)) + " by " + templates.Inline(h.ProvidedBy.User),
		"- resume point: " + templates.Inline(where(rp.Phase, rp.Step)) + ", position " + templates.Inline(rp.Position) + ", action " + templates.Inline(rp.Action),
	}
	body := strings.Join(lines, "\n")
	if h.Comment != "" {
		body += "\n\n" + templates.Quote(h.Comment)
	}
	return templates.ContextSection{Title: title, Body: body}
}
