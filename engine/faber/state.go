package faber

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// State is the part of state.json that placet reads. The file belongs to upstream, too, so placet
// only patches it (engine/jsonedit) and never decodes and encodes it as a whole.
type State struct {
	Status        string         `json:"status"`
	RunID         string         `json:"run_id"`
	WorkID        schemas.Raw    `json:"work_id"`
	WorkflowID    string         `json:"workflow_id"`
	CurrentPhase  string         `json:"current_phase"`
	CurrentStep   string         `json:"current_step"`
	Executor      string         `json:"executor"`
	Phases        schemas.Raw    `json:"phases"`
	Steps         schemas.Raw    `json:"steps"`
	StepsComplete schemas.Raw    `json:"steps_completed"`
	UpdatedAt     string         `json:"updated_at"`
	LastEventID   schemas.Raw    `json:"last_event_id"`
	CompletedAt   string         `json:"completed_at"`
	Feedback      *Feedback      `json:"feedback_request"`
	ResumePoint   *ResumePoint   `json:"resume_point"`
	History       []HistoryEntry `json:"feedback_history"`
	Errors        schemas.Raw    `json:"errors"`
	Artifacts     schemas.Raw    `json:"artifacts"`
	Cancellation  string         `json:"cancellation_reason"`
	Revision      *int           `json:"revision"`
	Last          *run.Last      `json:"last_transition"`

	// status is the meaning of Status, "" if it has none.
	status engine.Status
	// unfit is why the state is unusable, except for cancelling the run.
	unfit error
	shape shape
	// artifacts are the members of Artifacts that placet reads.
	artifacts StateArtifacts
	// rev is the revision, even if the document is a copy without one.
	rev int
	// last is the transition in the making, and patch holds its changes.
	last  *run.Last
	patch patch
}

// decodeState reads a state document. It returns an error only if the document may be incomplete.
func decodeState(name string, body []byte) (st State, err error) {
	var bad *schemas.Error
	if err = schemas.Decode("faber/state", name, body, &st); errors.As(err, &bad) && bad.Torn {
		return State{}, err
	}
	if err != nil {
		st.unfit = templates.Errorf("run.invalid", "error", err)
		st.readLeast(body)
		return st, nil
	}
	if st.Feedback != nil {
		st.Feedback.shown = readContext(st.Feedback.Context)
	}
	if !st.Artifacts.Null() {
		_ = schemas.DecodeValue(st.Artifacts, &st.artifacts) // the schema says what they are
	}
	st.shape = shapeOf(st)
	if p := st.problem(); p != nil {
		st.unfit = templates.Errorf("faber.unfit", "problem", p)
	}
	// The status is kept even if the request is bad, so that cancel.json still works.
	st.status, _ = status(st.Status)
	return st, nil
}

// readLeast reads from an unusable state what cancelling the run needs.
func (st *State) readLeast(body []byte) {
	var least struct {
		Status   string `json:"status"`
		Revision *int   `json:"revision"`
	}
	if schemas.Decode("", "state.json", body, &least) == nil {
		st.status, _ = status(least.Status)
		st.Status, st.Revision = least.Status, least.Revision
	}
}

func isFit(*run.Input, State) error { return nil }

// head implements [run.Format].
func (st *State) head() run.Head {
	return run.Head{Status: &st.status, Revision: &st.rev, Last: &st.last}
}

// StateArtifacts holds the artifacts that state.json names, in both spellings.
type StateArtifacts struct {
	SpecPath      string `json:"spec_path"`
	Specification string `json:"specification"`
	BranchName    string `json:"branch_name"`
	Branch        string `json:"branch"`
}

// Spec is the path of the specification, "" if none is named.
func (a StateArtifacts) Spec() string {
	return cmp.Or(a.SpecPath, a.Specification)
}

// Feedback is the feedback_request in state.json: the question to a person.
type Feedback struct {
	RequestID    string        `json:"request_id"`
	Type         string        `json:"type"`
	Prompt       string        `json:"prompt"`
	Options      []string      `json:"options"`
	Context      schemas.Raw   `json:"context"`
	RequestedAt  string        `json:"requested_at"`
	Notification *Notification `json:"notification_sent"`
	ResumePoint  *ResumePoint  `json:"resume_point"`

	shown FeedbackContext // the part of Context that placet reads
}

// FeedbackContext holds the members of a request's context that placet reads.
type FeedbackContext struct {
	Summary       string   `json:"summary"`
	ArtifactPath  string   `json:"artifact_path"`
	ArtifactPaths []string `json:"artifact_paths"`
	Deadline      string   `json:"deadline"`
	// Error is what a failed run records, in placet's own question about it.
	Error string `json:"error"`
	Gate  *Gate  `json:"gate"`
}

// Gate names what a request guards.
type Gate struct {
	Kind    string `json:"kind"`
	Phase   string `json:"phase"`
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
}

// Notification says where a request was announced.
type Notification struct {
	IssueComment bool   `json:"issue_comment"`
	CommentURL   string `json:"comment_url"`
	Form         string `json:"form"`
	Reason       string `json:"reason"` // why the request was not posted
}

// ResumePoint is where the run continues. Position and the later members are placet's.
type ResumePoint struct {
	Phase     string `json:"phase"`
	Step      string `json:"step"`
	StepIndex *int   `json:"step_index"`
	Position  string `json:"position"`
	Action    string `json:"action"`
	RequestID string `json:"request_id"`
}

// HistoryEntry is an answer in the history of state.json.
type HistoryEntry struct {
	RequestID   string  `json:"request_id"`
	RequestType string  `json:"request_type"`
	Response    string  `json:"response"`
	ProvidedBy  gate.By `json:"provided_by"`
	ReceivedAt  string  `json:"received_at"`
	Comment     string  `json:"comment,omitzero"`
	Action      string  `json:"action"`
	Gate        *Gate   `json:"gate,omitzero"`
}

// Metadata is the part of metadata.json that placet reads.
type Metadata struct {
	RunID       string      `json:"run_id"`
	WorkID      schemas.Raw `json:"work_id"`
	WorkflowID  string      `json:"workflow_id"`
	Environment struct {
		GitBranch string `json:"git_branch"`
	} `json:"environment"`
	Autonomy string `json:"autonomy"`
}

// Cancel is cancel.json: a person cancels the run.
type Cancel struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Posted is posted.json: where a request was announced as a comment.
type Posted struct {
	CommentURL string `json:"comment_url"`
	PostedAt   string `json:"posted_at"`
	// View is the digest of what was posted, "" if the writer does not say.
	View engine.Digest `json:"view"`
}

// Issue is the part of issue.json that placet reads.
type Issue struct {
	Number schemas.Raw `json:"number"`
	Title  string      `json:"title"`
	Body   string      `json:"body"`
	Error  string      `json:"error"`
	// Comments are in the order in which they were made.
	Comments []IssueComment `json:"comments"`
	// FetchedBy is "placet" if the poller wrote the document. It replaces no other.
	FetchedBy string `json:"fetched_by"`
}

// IssueComment is one comment on the issue.
type IssueComment struct {
	Author    string `json:"author"`
	Body      string `json:"body"`
	CreatedAt string `json:"created_at"`
}

// text reads a member that upstream writes as a string or a number, without a
// leading "#".
func text(raw schemas.Raw) string {
	s, isText := raw.Text()
	if !isText && !raw.Null() {
		s = strings.TrimSpace(string(raw))
	}
	return strings.TrimPrefix(s, "#")
}

// problem returns why a state that was read is unusable, or nil.
func (st State) problem() error {
	s, ok := status(st.Status)
	switch f := st.Feedback; {
	case !ok:
		return templates.Errorf("faber.unfit.status", "status", strconv.Quote(st.Status))
	case f == nil && s == Awaiting:
		return templates.Errorf("faber.unfit.missing")
	case f == nil:
		return nil
	case s != Awaiting:
		return templates.Errorf("faber.unfit.early", "status", strconv.Quote(st.Status))
	default:
		return f.problem()
	}
}

// longestRequest is the maximum size of the text of a request, in bytes. request.json encodes each
// byte as at most six, and must stay small enough to be read.
const longestRequest = 128 << 10

// problem returns why a request cannot be opened, or nil.
func (f Feedback) problem() error {
	for _, m := range [][2]string{{"request_id", f.RequestID}, {"type", f.Type}, {"prompt", f.Prompt}} {
		if m[1] == "" {
			return templates.Errorf("faber.unfit.member", "member", m[0])
		}
	}
	size := len(f.Type) + len(f.Prompt) + len(f.Context) + len(strings.Join(f.Options, ""))
	switch err := gate.CheckOptions(f.Options); {
	case !layout.IsRequestID(f.RequestID):
		return templates.Errorf("faber.unfit.id", "id", strconv.Quote(f.RequestID))
	case err != nil:
		return templates.Errorf("faber.unfit.options", "error", err)
	case size > longestRequest:
		return templates.Errorf("faber.unfit.long", "size", size, "most", longestRequest)
	case f.Type == "selection" && len(f.Options) == 0:
		return templates.Errorf("faber.unfit.selection")
	}
	return nil
}

// readContext reads the members of a request's context that placet knows. A context of other types
// is upstream's own: placet shows it unchanged and writes no note.
func readContext(context schemas.Raw) (c FeedbackContext) {
	if len(context) > 0 {
		_ = schemas.DecodeValue(context, &c)
	}
	return c
}

// artifacts returns the paths of what the request shows, without a leading slash. Paths that leave
// the workspace stay unchanged.
func (c FeedbackContext) artifacts() []string {
	var paths []string
	for _, p := range append([]string{c.ArtifactPath}, c.ArtifactPaths...) {
		if p = strings.TrimPrefix(p, "/"); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// at returns where the run is: the resume point of state.json, else that of the request, else
// current_phase and current_step.
func (st State) at() (phase, step string) {
	for _, rp := range []*ResumePoint{st.ResumePoint, st.requestPoint()} {
		if rp != nil && rp.Phase != "" && rp.Step != "" {
			return rp.Phase, rp.Step
		}
	}
	return st.CurrentPhase, st.CurrentStep
}

func (st State) requestPoint() *ResumePoint {
	if st.Feedback == nil {
		return nil
	}
	return st.Feedback.ResumePoint
}

// failedStep returns the step that failed, else the current one.
func (st State) failedStep() (phase, step string) {
	for _, s := range st.shape.steps {
		if st.shape.status(s.Phase, s.ID) == Failed {
			return s.Phase, s.ID
		}
	}
	return st.CurrentPhase, st.CurrentStep
}

// pointed reports whether the state says that the run continues from an answer.
func (st State) pointed() bool {
	rp := st.ResumePoint
	return st.unfit == nil && st.status == InProgress && rp != nil && rp.RequestID != "" && rp.Action != ""
}

// workID returns the work item of the run, "" if none is named.
func (r *view) workID() string { return cmp.Or(text(r.state.WorkID), text(r.meta.WorkID)) }

// branch returns the branch on which the run works, "" if nothing names one.
func (r *view) branch() string {
	return cmp.Or(r.state.artifacts.BranchName, r.state.artifacts.Branch, r.meta.Environment.GitBranch)
}

// spec returns the path of the specification, "" if none is named.
func (st State) spec() string { return strings.TrimPrefix(st.artifacts.Spec(), "/") }

// twiceAnswered returns the requests that have several entries in the history, sorted.
func (st State) twiceAnswered() []string {
	var ids []string
	seen := map[string]bool{"": true}
	for _, h := range st.History {
		if seen[h.RequestID] && h.RequestID != "" {
			ids = append(ids, h.RequestID)
		}
		seen[h.RequestID] = true
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// answerTo returns the history entry of a request, nil if there is none.
func (st State) answerTo(requestID string) *HistoryEntry {
	for i := len(st.History) - 1; i >= 0; i-- {
		if st.History[i].RequestID == requestID {
			return &st.History[i]
		}
	}
	return nil
}

func set(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Set, Value: value}
}

func push(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Append, Value: value}
}

func remove(pointer string) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Remove}
}

// patch holds a transition's changes to state.json besides status, revision and origin of the
// transition. It appends new members to the document in this order.
type patch struct {
	body []byte // state.json as it was read
	// lastEvent is the number of the last event; nil if the run keeps no events.
	lastEvent *int
	moves     []jsonedit.Edit
	// reason is the full reason of the transition.
	reason  string
	history []jsonedit.Edit
}

// encode returns state.json after a transition. Every byte that the transition does not change
// stays as it was. A state whose members lack the shape that an edit needs is bad input.
func (st State) encode() ([]byte, error) {
	edits := []jsonedit.Edit{set("/status", string(st.status))}
	if st.patch.lastEvent != nil {
		edits = append(edits, set("/last_event_id", *st.patch.lastEvent))
	}
	edits = append(edits, set("/updated_at", string(st.last.At)))
	edits = append(edits, st.patch.moves...)
	edits = append(edits, set("/revision", st.rev), set("/last_transition", schemas.Object{
		{Name: "edge", Value: st.last.Event}, {Name: "at", Value: st.last.At}, {Name: "actor", Value: st.last.Actor},
		{Name: "reason", Value: st.patch.reason}, {Name: "cause", Value: st.last.Cause},
	}))
	body, err := jsonedit.Apply(st.patch.body, append(edits, st.patch.history...)...)
	if err != nil {
		return nil, templates.Errorf("faber.note.edit", "error", err)
	}
	return body, nil
}

// closeEdits remove the request and set the resume point; nil removes the resume point, too.
func closeEdits(point *ResumePoint) []jsonedit.Edit {
	if point == nil {
		return []jsonedit.Edit{remove("/feedback_request"), remove("/resume_point")}
	}
	return []jsonedit.Edit{remove("/feedback_request"), set("/resume_point", *point)}
}

// cancelEdits record when and why the run was cancelled.
func cancelEdits(at, reason string) []jsonedit.Edit {
	return append([]jsonedit.Edit{set("/completed_at", at), set("/cancellation_reason", reason)}, closeEdits(nil)...)
}

// resolveError marks a step's newest entry of errors as resolved by a retry.
func (st State) resolveError(phase, step string) []jsonedit.Edit {
	type failure struct {
		Phase string `json:"phase"`
		Step  string `json:"step"`
	}
	pointer := ""
	match := func(value schemas.Raw, name string) {
		var f failure
		if schemas.DecodeValue(value, &f) == nil && f.Step == step && (f.Phase == "" || f.Phase == phase) {
			pointer = "/errors/" + escape(name) + "/resolved"
		}
	}
	for i, e := range elements(st.Errors) {
		match(e, strconv.Itoa(i))
	}
	for name, value := range members(st.Errors) {
		match(value, name)
	}
	if pointer == "" {
		return nil
	}
	return []jsonedit.Edit{set(pointer, retries.action)}
}
