package faber

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// isContextDue reports whether context.md is absent or of another revision.
func isContextDue(r *view) bool {
	d := r.Snap.In("context.md")
	first := fmt.Sprintf("<!-- placet faber %s r%d -->", r.Snap.Key.ID, r.state.rev)
	return !r.foreign() && r.goesOn() && !d.Unsettled() && !strings.HasPrefix(string(d.Body), first)
}

// contextNeeds returns the files and facts that context.md quotes. While an agent has not acted on
// an answer yet, it adds those that decide whether the agent must stop and ask.
func contextNeeds(r *view) []string {
	var needs []string
	owes := isContextDue(r)
	if owes {
		needs = []string{r.cfg.gitLog(), "git:diffstat", r.Path("session-summaries/*")}
	}
	if spec := r.state.spec(); layout.Safe(spec) && (owes || r.resumes()) {
		needs = append(needs, spec)
	}
	return needs
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
	return render(r, "faber/context", templates.ContextData{RunID: r.Snap.Key.ID, Revision: r.state.rev, Sections: []section{
		stateSection(r), specSection(r), issueSection(r), branchSection(r),
		summarySection(r), eventSection(r), feedbackSection(r),
	}})
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
	if id := numbered(r.state.WorkID); id != "" {
		body += "\n- work item: " + templates.Inline(id)
	}
	if id := r.workflowID(); id != "" {
		body += "\n- workflow: " + templates.Inline(id)
	}
	severity := ""
	if !r.Snap.In("metadata.json").Present() {
		severity = warning
		body += "\n- metadata.json: missing or unreadable"
	}
	return part("State and metadata", severity, body)
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
	if text(r.state.WorkID) == "" && text(r.meta.WorkID) == "" {
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
	const title = "Branch"
	log, stat := r.Snap.Doc(r.cfg.gitLog()), r.Snap.Doc("git:diffstat")
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
