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
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// handover is what an agent goes on by.
type handover struct{ *closings }

// resumes reports whether an answer waits to be taken up: the run goes on from
// a resume point that placet set, and no event of upstream says that it did.
func (r *handover) resumes() bool { return r.goesOn() && !r.takenUp(r.State.ResumePoint.RequestID) }

// goesOn reports whether the run is on its way from an answer to the next request or its
// end. An agent may have to take it up again at any moment of it.
func (r *handover) goesOn() bool { return r.pointed() && r.proven(r.State.ResumePoint.RequestID) }

// pointed reports whether the state says that the run goes on from an answer.
func (r *handover) pointed() bool {
	rp := r.State.ResumePoint
	return r.State.unfit == nil && r.State.status == InProgress && rp != nil && rp.RequestID != "" && rp.Action != ""
}

// proven reports whether placet may act on the answer to a request of the past: whoever
// writes the state can write an answer into it, so a gate that asks for more than that
// asks for placet's own receipt.
func (r *handover) proven(id string) bool {
	c, a := r.Snap.Facts.Config, r.Folder(id)
	if !gate.Demands(gate.GateOf(c, "faber", a.Doc)) {
		return true
	}
	return a.Receipt != nil && gate.Unverified(c, "faber", a.Doc, a.ReceiptDoc, *a.Receipt) == nil
}

// takenUp reports whether an event by others, numbered after the answer's
// events, shows that an agent went on.
func (r *eventLog) takenUp(requestID string) bool {
	after := 0
	for _, e := range r.marked {
		if e.Type == "feedback_received" && e.Metadata.RequestID == requestID || e.ours() && e.Metadata.Placet.Revision == r.State.rev {
			after = max(after, e.Number)
		}
	}
	if after == 0 {
		return false
	}
	for _, e := range slices.Backward(r.events) {
		if e.Number <= after {
			return false
		}
		if !e.ours() && (slices.Contains(takingUp, e.Type) || strings.HasPrefix(e.Type, "workflow_")) {
			return true
		}
	}
	return false
}

// takingUp are the events, besides those of the workflow, by which an agent goes on.
var takingUp = []string{"step_start", "step_complete", "step_error", "phase_start", "phase_complete"}

// resume renders resume.md.
func (r *handover) resume() []byte {
	rp := r.State.ResumePoint
	data := templates.ResumeData{
		RunID: r.Snap.Key.ID, Revision: r.State.rev, Phase: rp.Phase, Step: rp.Step, Feedback: "none",
		Action: rp.Action, Position: rp.Position, Stop: r.stop(),
	}
	if h := r.State.answerTo(rp.RequestID); h != nil {
		data.Feedback, data.Comment = oneLine(h.Response, 200), h.Comment
		if disagrees(h) {
			data.Refused = r.Say("faber.resume.refused", "response", templates.Code(oneLine(h.Response, 200)))
		}
		if a := r.Folder(rp.RequestID); a.Request != nil && a.Request.FreeText() && data.Comment == "" {
			data.Comment = h.Response
		}
	}
	return r.render("faber/resume", data)
}

// viewOutputs are resume.md and the resume command, while an answer waits to be taken
// up, and context.md for as long as the run goes on from it: an agent whose session
// ends has nothing else to go by.
func (r *handover) viewOutputs(p *engine.Plan) {
	if r.foreign() {
		return
	}
	resumes := r.resumes()
	if !resumes {
		r.removeView(p, "resume.md")
	}
	if !r.goesOn() {
		r.removeView(p, "context.md")
		return
	}
	if r.resumeBusy() {
		return
	}
	if resumes {
		r.put(p, "resume.md", layout.FaberResume, r.resume())
	}
	if r.contextBusy() {
		return
	}
	if r.isContextDue() {
		r.put(p, "context.md", layout.FaberContext, r.context())
	}
	if resumes {
		r.resumeCommand(p)
	}
}

// removeView plans the end of a view that is placet's: its first line says so.
func (r *handover) removeView(p *engine.Plan, name string) {
	if d := r.Snap.In(name); d.Present() && strings.HasPrefix(string(d.Body), "<!-- placet faber ") {
		p.Removes = append(p.Removes, d.Path)
	}
}

// resumeLimit is how long a resume command may run.
const resumeLimit = 24 * time.Hour

// resumeCommand begins the configured command once per revision, behind trust.
// The attempt is recorded first; an attempt without outcome is never repeated.
func (r *handover) resumeCommand(p *engine.Plan) {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || r.stop() != "" || !r.Snap.Facts.Trusted[CommandDigest(argv)] {
		return
	}
	dir := fmt.Sprintf("actions/resume-r%d", r.State.rev)
	attempt := r.Snap.In(dir + "/attempt.json")
	if !attempt.Absent() {
		return
	}
	rp := r.State.ResumePoint
	started := schemas.Object{
		{Name: "revision", Value: r.State.rev}, {Name: "request_id", Value: rp.RequestID}, {Name: "argv", Value: argv},
		{Name: "started_at", Value: millis(r.Snap.Now)}, {Name: "deadline", Value: seconds(r.Snap.Now.Add(resumeLimit))},
	}
	p.Writes = append(p.Writes, engine.Document{Path: attempt.Path, Kind: layout.FaberAttempt, Body: run.Must(schemas.Encode(started))})
	p.Actions = append(p.Actions, engine.Action{
		ID:      r.actionID(dir),
		Outcome: r.Path(dir + "/outcome.json"),
		Kind:    layout.FaberOutcome,
		Fields:  []engine.Field{{Name: "revision", Value: r.State.rev}},
		Command: engine.Command{
			Argv: argv, Dir: ".", Stdin: r.resume(), Timeout: resumeLimit, Agent: true,
			Env: []string{
				"PLACET_RUN_ID=" + r.Snap.Key.ID, "PLACET_RUN_DIR=" + r.Snap.Dir, "PLACET_PHASE=" + rp.Phase,
				"PLACET_STEP=" + rp.Step, "PLACET_ACTION=" + rp.Action,
			},
		},
	})
}

// actionID is that of the command whose attempt is recorded in a folder.
func (r *handover) actionID(dir string) string { return r.Actions() + path.Base(dir) }

// lostAttempts are attempts of the resume command that have no outcome and do
// not run: a person has to look.
func (r *handover) lostAttempts() (lost []string) {
	for _, d := range r.Snap.Under("actions") {
		dir := path.Dir(d.Path)
		if d.Kind == layout.FaberAttempt && r.Snap.Doc(dir+"/outcome.json").Absent() && !r.Snap.Facts.Alive[r.actionID(dir)] {
			lost = append(lost, d.Path)
		}
	}
	return lost
}

// watch is where the agent shows that it goes on.
func (r *view) watch() []string {
	if r.Begun && !r.isClosed() && !r.foreign() && r.resumes() {
		return []string{r.Path("events")}
	}
	return nil
}

// needs are the files outside the run's folder that the state calls for.
func (r *view) needs() []string {
	if r.State.status == "" || final(r.State.status) {
		return nil
	}
	needs := r.definitionNeeds()
	if q, ok := r.question(); ok {
		for _, d := range r.artifactDocs(q) {
			needs = append(needs, "still:"+d.Path) // what is shown must have stood still
		}
	}
	if r.goesOn() && !r.foreign() {
		needs = append(needs, r.contextNeeds()...)
	}
	if len(r.Snap.Lacks(needs)) > 0 || r.eventsOpen {
		return needs
	}
	if need := r.committedNeed(); need != "" {
		if needs = append(needs, need); !r.Snap.Has(need) {
			return needs
		}
	}
	return append(needs, r.resumeNeeds()...)
}

// resumeNeeds are the files that resume.md hangs on where an answer is taken now.
func (r *view) resumeNeeds() []string {
	spec := r.spec()
	if a := r.answered(); !layout.Safe(spec) || r.foreign() || a == nil || a.e.outcome == nil || a.e.to != InProgress {
		return nil
	}
	return []string{spec}
}

func (r *handover) render(name string, data any) []byte {
	text, err := templates.Render(r.Lang, name, data)
	if err != nil {
		panic("faber: cannot render " + name + ": " + err.Error())
	}
	return []byte(text)
}

// isContextDue reports whether context.md is absent or of another revision.
func (r *handover) isContextDue() bool {
	d := r.Snap.In("context.md")
	first := fmt.Sprintf("<!-- placet faber %s r%d -->", r.Snap.Key.ID, r.State.rev)
	return !r.foreign() && r.goesOn() && !d.Unsettled() && !strings.HasPrefix(string(d.Body), first)
}

// contextNeeds are the files and facts that context.md quotes, and, while an answer
// waits to be taken up, those that decide whether the agent must stop and ask.
func (r *handover) contextNeeds() []string {
	var needs []string
	owes := r.isContextDue()
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
	return r.anyBusy(sources, "faber.locked.run")
}

// contextBusy reports whether a source of context.md cannot be read at this
// moment: what is written once must not call it missing.
func (r *handover) contextBusy() bool {
	sources := append([]engine.Document{r.Snap.In("metadata.json")}, r.Snap.Under("session-summaries")...)
	return r.anyBusy(sources, "faber.locked.context") || r.resumeBusy()
}

// anyBusy reports whether a file of several cannot be read at this moment; waits is
// the note on one that placet may not read.
func (r *sources) anyBusy(sources []engine.Document, waits templates.Key) bool {
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
	info    = "info"
	warning = "warning"
	severe  = "error"
)

type section = templates.ContextSection

// part is a section of context.md. Its severity is "" where nothing is missing or bad.
func part(title, severity string, body ...string) section {
	return section{Title: title, Severity: severity, Body: strings.Join(body, "\n\n")}
}

// context gathers context.md.
func (r *handover) context() []byte {
	return r.render("faber/context", templates.ContextData{RunID: r.Snap.Key.ID, Revision: r.State.rev, Sections: []section{
		r.stateSection(), r.specSection(), r.issueSection(), r.branchSection(),
		r.summarySection(), r.eventSection(), r.feedbackSection(),
	}})
}

// stop is the line that tells the agent to stop where a part of context.md cannot be
// had that it must not do without, else "". Documents alone decide it.
func (r *handover) stop() string {
	for _, s := range []section{r.specSection(), r.issueSection(), r.feedbackSection()} {
		if s.Severity == severe {
			return r.Say("faber.resume.stop")
		}
	}
	return ""
}

func (r *handover) stateSection() section {
	body := "- status: " + templates.Inline(r.State.Status) +
		"\n- phase: " + templates.Inline(r.State.CurrentPhase) + ", step: " + templates.Inline(r.State.CurrentStep)
	if id := numbered(r.State.WorkID); id != "" {
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

func (r *handover) specSection() section {
	const title = "Specification"
	p := r.spec()
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

func (r *handover) issueSection() section {
	const title = "Issue"
	if text(r.State.WorkID) == "" && text(r.meta.WorkID) == "" {
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

// commentLimit is how much of an issue's comments is quoted, in bytes: the newest that
// fit.
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

func (r *handover) branchSection() section {
	const title = "Branch"
	log, stat := r.Snap.Doc(r.gitLog()), r.Snap.Doc("git:diffstat")
	if !log.Present() {
		return part(title, warning, "Local git says nothing: "+templates.Inline(cmp.Or(log.Err, errors.New("no answer")).Error()))
	}
	body := []string{templates.Fence(string(log.Body))}
	if stat.Present() && len(stat.Body) > 0 {
		body = append(body, templates.Fence(string(stat.Body)))
	}
	return part(title, "", body...)
}

func (r *handover) summarySection() section {
	const title = "Session summaries"
	for _, d := range slices.Backward(r.Snap.Under("session-summaries")) {
		if d.Present() {
			return part(title, "", "`"+templates.Inline(path.Base(d.Path))+"`", templates.Fence(string(d.Body)))
		}
	}
	return part(title, info, "None.")
}

func (r *handover) eventSection() section {
	title := fmt.Sprintf("Last %d events", r.cfg.Context.Events)
	if len(r.events) == 0 {
		return part(title, info, "None.")
	}
	var lines []string
	for _, e := range r.events[max(0, len(r.events)-r.cfg.Context.Events):] {
		lines = append(lines, fmt.Sprintf("- %03d %s %s %s", e.Number, templates.Inline(e.Timestamp), templates.Inline(e.Type),
			templates.Inline(strings.TrimSpace(e.place()+" "+e.Message))))
	}
	severity := ""
	if len(r.badEvents()) > 0 {
		severity = warning
	}
	return part(title, severity, strings.Join(lines, "\n"))
}

func (r *handover) feedbackSection() section {
	const title = "Feedback and resume point"
	rp := r.State.ResumePoint
	h := r.State.answerTo(rp.RequestID)
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
