package faber

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// defaultOptions maps the request types that have options of their own to these options.
var defaultOptions = map[string][]string{
	"approval":         {"approve", "reject"},
	"confirmation":     {"confirm", "cancel"},
	"review":           {"approve", "request_changes", "reject"},
	"error_resolution": {"retry", "skip", "abort"},
}

// forStatus returns the status in which a past request was asked, "" if its file does not say.
func forStatus(a *gate.Folder) engine.Status {
	if a.Request == nil {
		return ""
	}
	return engine.Status(word(a.Request.Extra.Raw("for_status")))
}

// question is a question to a person. It comes from the feedback_request in state.json, or from a
// failed run.
type question struct {
	Feedback
	view        *view
	phase, step string
	gate        Gate
	// ownGate is true if the request itself names its gate.
	ownGate bool
	// undated is true if the state does not say when it was asked. The time of the state, which
	// moves on, replaces it.
	undated   bool
	forStatus engine.Status // the status in which it is asked
	openedBy  string
}

// question returns the question that the state asks now, nil if it asks none or none that can be
// opened.
func (r *view) question() *question {
	return run.Once(r.run, "question", func() *question {
		switch {
		case r.state.unfit != nil || r.run.Torn:
			return nil
		case r.state.status == Awaiting && r.state.Feedback != nil:
			return r.stateQuestion()
		case r.state.status == Failed && !r.foreign() && (r.cfg.AskFailed == askAll || r.coordinated()):
			return r.failedQuestion()
		}
		return nil
	})
}

// asks reports whether the state asks a request, so that its answer is carried out.
func (r *view) asks(id string) bool {
	q := r.question()
	return q != nil && q.RequestID == id
}

func (r *view) stateQuestion() *question {
	q := &question{Feedback: *r.state.Feedback, view: r, forStatus: Awaiting, openedBy: "state.json"}
	q.phase, q.step = r.state.at()
	q.gate = Gate{Kind: "step", Phase: q.phase, Step: q.step, Attempt: 1}
	if g := q.shown.Gate; g != nil && g.Kind != "" {
		q.gate, q.ownGate = *g, true
	}
	if q.undated = q.RequestedAt == ""; q.undated {
		q.RequestedAt = r.state.UpdatedAt
	}
	return q
}

// failedQuestion returns the question about a failed run. Its id is a function of the state, so a
// repeated pass gives the same id.
func (r *view) failedQuestion() *question {
	q := &question{view: r, forStatus: Failed, openedBy: "placet", undated: true}
	q.phase, q.step = r.state.failedStep()
	if q.phase == "" || q.step == "" {
		return nil
	}
	q.gate = Gate{Kind: "failure", Phase: q.phase, Step: q.step, Attempt: 1}
	q.Type, q.Options = "error_resolution", []string{"retry", "abort"}
	q.RequestedAt = r.state.UpdatedAt
	q.RequestID = r.requestID(q.gate)
	asked := r.run.Folder(q.RequestID).Request
	if failed := moment(r.state.UpdatedAt); asked == nil && !failed.IsZero() && r.Snap.Now.Sub(failed) > longAgo {
		return nil
	}
	prompt := templates.NewMessage("faber.ask.failed", "step", where(q.phase, q.step))
	q.Prompt = prompt.In(r.Lang)
	if asked != nil && prompt.Says(asked.Prompt) {
		q.Prompt = asked.Prompt // in the language in which it was asked
	}
	q.Context = run.Must(schemas.Object{{Name: "error", Value: failureOf(r)}}.MarshalJSON())
	if asked != nil && isErrorContext(asked.Context) {
		q.Context = asked.Context // what was recorded when it was asked
	}
	q.shown = readContext(q.Context)
	return q
}

// longAgo is how long ago a run may have failed if a person is asked about it: whoever begins to
// use placet is not asked about all failures of the past.
const longAgo = 30 * 24 * time.Hour

// isErrorContext reports whether a context may be that of the question about a failed run: it names
// the error, or nothing, as older versions of placet wrote it.
func isErrorContext(context schemas.Raw) bool {
	all, err := schemas.Members(context)
	if err != nil || len(all) == 0 {
		return err == nil
	}
	_, isText := all.Raw("error").Text()
	return len(all) == 1 && isText
}

// requestID returns fr-YYYYMMDD-xxxxxx. The date is the UTC date of updated_at as read. The rest
// are six hex digits of SHA-256 over run id, revision, gate kind, phase, step and attempt, the next
// six if another request of the run has them.
func (r *view) requestID(g Gate) string {
	day := "00000000"
	if at := moment(r.state.UpdatedAt); !at.IsZero() {
		day = at.UTC().Format("20060102")
	}
	hex := engine.Sum([]byte(fmt.Sprintf("%s\n%d\n%s\n%s\n%s\n%d\n", r.Snap.Key.ID, r.state.rev, g.Kind, g.Phase, g.Step, g.Attempt))).Hex()
	for i := 0; i+6 <= len(hex); i += 6 {
		id := "fr-" + day + "-" + hex[i:i+6]
		if a := r.run.Folder(id); len(a.Docs) == 0 || forStatus(a) == Failed && a.Request.Revision == r.state.rev || isMade(r, a, g) {
			return id
		}
	}
	return "fr-" + day + "-" + hex[:6]
}

// options returns the options of the request: its own, else those of its type.
func (q *question) options() []string {
	if len(q.Options) > 0 || q.Type == "clarification" {
		return q.Options
	}
	return defaultOptions[q.Type]
}

// build returns request.json for a question, with the current artifacts. The caller sets the
// revision.
func (q *question) build() gate.Request {
	req := gate.Request{
		SchemaVersion: 1, RequestID: q.RequestID, Family: "faber", Run: q.view.Snap.Key.ID, Type: q.Type, Prompt: q.Prompt,
		Context: q.Context, Artifacts: q.artifacts(),
		RequestedAt: q.RequestedAt,
		MayAnswer:   q.view.Snap.Facts.Config.GateFor("faber", q.Type).Approvers,
	}
	req.Carry(func(a gate.Artifact) (string, bool) { return q.view.run.Text(q.RequestID, a) })
	req.Options = q.describe(q.view.Lang)
	for i := range req.Options {
		o := &req.Options[i]
		o.Effect = q.effect(req, o.ID).message().In(q.view.Lang)
		if gate.Fold(o.ID) == gate.Fold("request_changes") {
			req.CommentRequired = append(req.CommentRequired, o.ID)
		}
	}
	opened := ""
	req.Deadline, req.Default, opened = q.deadline(req.Options)
	req.Extra = schemas.Object{
		{Name: "run_id", Value: q.view.Snap.Key.ID},
		{Name: "resume_point", Value: schemas.Object{
			{Name: "phase", Value: q.phase}, {Name: "step", Value: q.step},
			{Name: "step_index", Value: q.view.plan().index(q.phase, q.step)},
		}},
		{Name: "gate", Value: q.gate},
		{Name: "for_status", Value: q.forStatus},
		{Name: "opened_by", Value: q.openedBy},
	}
	if opened != "" {
		req.Extra = append(req.Extra, schemas.Member{Name: openedAt, Value: opened})
	}
	return req
}

// describe gives each option the description of its word in a language, whatever the type of the
// request.
func (q *question) describe(lang string) []gate.Option {
	next := q.nextPhase()
	options := []gate.Option{}
	for _, id := range q.options() {
		o := gate.Option{ID: id}
		i := slices.IndexFunc(optionWords, func(word string) bool { return gate.Fold(id) == gate.Fold(word) })
		switch {
		case i == 0 && next != "":
			o.Description = templates.Phrase(lang, "faber.option.approve.phase", "next", capital(next))
		case i == 0 && q.ownGate:
			o.Description = templates.Phrase(lang, "faber.option.confirm")
		case i >= 0:
			o.Description = templates.Phrase(lang, "faber.option."+optionWords[i])
		}
		options = append(options, o)
	}
	return options
}

// nextPhase returns the phase to which an approval leads, "" if it leads to none or is not known.
func (q *question) nextPhase() string {
	switch {
	case !q.ownGate:
		return q.view.plan().nextPhase(q.phase, q.step)
	case q.gate.Kind == phaseEntry:
		return q.phase
	}
	return ""
}

// optionWords are the words that have descriptions of their own.
var optionWords = []string{"approve", "reject", "confirm", "cancel", "request_changes", "retry", "skip", "abort"}

// openedAt is the member of request.json that says when a request with a deadline was opened.
const openedAt = "opened_at"

// opened returns when the request was first opened: as its file says, else as its event does, else
// now. It is "" for a file of an older version of placet, whose deadline counts from requested_at.
func (q *question) opened() string {
	if asked := q.view.run.Folder(q.RequestID).Request; asked != nil {
		return word(asked.Extra.Raw(openedAt))
	}
	if e := q.view.events.about("feedback_request", q.RequestID); e != nil && e.ours() {
		return e.Timestamp
	}
	return string(run.Millis(q.view.events.notBefore(q.view.Snap.Now)))
}

// deadline returns when the default of the request applies, which option that is, and when the
// request was opened. Without a deadline no default ever applies: silence is not consent. A length
// counts from the opening, because nobody saw the form before; a moment before the opening, which
// was past before anybody could answer, only marks the request as overdue.
func (q *question) deadline(offered []gate.Option) (at, option, opened string) {
	at = q.shown.Deadline
	if moment(at).IsZero() {
		at = ""
	}
	length, limited := q.view.cfg.Deadline[q.Type]
	if at == "" && !limited {
		return "", "", ""
	}
	opened = q.opened()
	from := moment(cmp.Or(opened, q.RequestedAt))
	if at == "" && !from.IsZero() {
		at = seconds(from.Add(time.Duration(length)))
	}
	if at == "" || q.view.cfg.OnDeadline == escalate || opened != "" && !moment(at).After(from) {
		return at, "", opened
	}
	option, _ = gate.Match(offered, q.view.cfg.OnDeadline)
	return at, option, opened
}

// artifactDocs returns the artifacts of a question that are inside the workspace.
func (q *question) artifactDocs() (docs []engine.Document) {
	for _, p := range q.shown.artifacts() {
		if layout.Safe(p) {
			docs = append(docs, q.view.Snap.Doc(path.Clean(p)))
		}
	}
	return docs
}

// artifacts returns the question's artifacts with their current digests. A missing artifact, or one
// outside the workspace, has none.
func (q *question) artifacts() []gate.Artifact {
	list := []gate.Artifact{}
	for _, p := range q.shown.artifacts() {
		list = append(list, gate.Artifact{Path: p, SHA256: q.view.digestOf(p), Binding: true})
	}
	return list
}

// digestNow returns the current digest of an artifact of a request, or the listed one if only the
// line ends differ.
func (r *view) digestNow(a gate.Artifact) string {
	if layout.Safe(a.Path) && r.Snap.Doc(path.Clean(a.Path)).Matches(a.SHA256) {
		return a.SHA256
	}
	return r.digestOf(a.Path)
}

// digestOf returns the current hex digest of an artifact, "" if it is missing.
func (r *view) digestOf(p string) string {
	if d := r.Snap.Doc(path.Clean(p)); layout.Safe(p) && d.Present() {
		return d.Sum.Hex()
	}
	return ""
}

// artifactsBusy reports whether the content of an artifact is unknown at the moment: the file is
// not settled yet, or the system refuses to read it.
func (q *question) artifactsBusy() bool {
	return q.view.anyBusy(q.artifactDocs(), "faber.locked.artifact")
}

// sums returns the digests of a request's binding artifacts, as listed in it and as they are now.
func (r *view) sums(req gate.Request) (issued, now []string) {
	for _, a := range req.Artifacts {
		if a.Binding {
			issued = append(issued, a.SHA256)
			now = append(now, r.digestNow(a))
		}
	}
	return issued, now
}

// renderForm renders the form of a request for a view of its artifacts.
func (q *question) renderForm(lang string, req gate.Request, view engine.Digest) ([]byte, error) {
	at := where(q.phase, q.step)
	texts := gate.Texts{Lang: lang, Title: q.view.short() + " · " + at, Where: at}
	if s := q.shown.Summary; s != "" {
		texts.Lines = []string{fmt.Sprintf("- **%s**: %s", templates.Text(lang, "faber.summary"), templates.Inline(s))}
	}
	if s := q.shown.Error; s != "" && q.forStatus == Failed {
		texts.Lines = append(texts.Lines, fmt.Sprintf("- **%s**: %s", templates.Text(lang, "faber.error"), templates.Inline(s)))
	}
	return gate.Form(req, view, run.Noticed(texts, q.view.run.Folder(req.RequestID).Voids))
}

// rendered returns the forms of a request as its request.json shows it, one for each language:
// another machine's settings may have chosen the language.
func (q *question) rendered(req gate.Request, view engine.Digest) func() [][]byte {
	return func() [][]byte {
		var all [][]byte
		for _, lang := range templates.Languages() {
			if body, err := q.renderForm(lang, req, view); err == nil {
				all = append(all, body)
			}
		}
		return all
	}
}
