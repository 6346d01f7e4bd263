package afl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// text is a string that state.json writes as null if it is empty.
type text = schemas.OrNull

// stamp is the format of times: RFC 3339 in UTC with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z"

// State is state.json. Nobody but placet writes it.
type State struct {
	SchemaVersion int           `json:"schema_version"`
	Family        string        `json:"family"`
	SessionID     string        `json:"session_id"`
	Revision      int           `json:"revision"`
	Status        engine.Status `json:"status"`
	Adopted       bool          `json:"adopted"`
	// Language is the language of the session's texts, fixed when it begins.
	Language   string    `json:"language"`
	CreatedAt  text      `json:"created_at"`
	UpdatedAt  text      `json:"updated_at"`
	StartedAt  text      `json:"started_at"`
	FinishedAt text      `json:"finished_at"`
	Pause      *Pause    `json:"pause"`
	Specs      Specs     `json:"specs"`
	Approved   *Approved `json:"approved"`
	// Checkpoints holds all checkpoints that were ever defined, by id.
	Checkpoints map[string]*Checkpoint `json:"checkpoints"`
	// Requests holds all requests. Stored holds their form in the document, by id.
	Requests []*run.Request         `json:"-"`
	Stored   map[string]requestJSON `json:"requests"`
	Review   *Review                `json:"review"`
	Last     *run.Last              `json:"last_transition"`
	// Extra holds the members of later versions unchanged.
	Extra schemas.Object `json:"-"`
}

// Reasons of a pause.
const (
	pausePerson  = "person"
	pauseDesign  = "redesign"
	pauseChanged = "specs_changed"
)

// Pause says why nothing starts.
type Pause struct {
	Reason string `json:"reason"`
	At     text   `json:"at"`
	By     text   `json:"by"`
}

// Specs describes the definitions as last read from the files.
type Specs struct {
	Layout           text              `json:"layout"` // v1 or v2
	Digest           text              `json:"digest"`
	SeenAt           text              `json:"seen_at"`
	Errors           []string          `json:"errors"`   // ids of findings that block an approval
	Warnings         []string          `json:"warnings"` // ids of findings that do not
	ChangesRequested *ChangesRequested `json:"changes_requested"`
}

// ChangesRequested is a person's request to change the checkpoints.
type ChangesRequested struct {
	Digest  text `json:"digest"` // of the specs to be changed
	At      text `json:"at"`
	By      text `json:"by"`
	Comment text `json:"comment"`
}

// Approved holds the definitions that a person approved. The machine works from these, never from
// the files.
type Approved struct {
	Digest        text           `json:"digest"`
	At            text           `json:"at"`
	By            text           `json:"by"`
	Source        string         `json:"source"` // meta, stamp or request
	Stamp         text           `json:"stamp"`  // approved_at as in the file
	Definitions   []Definition   `json:"definitions"`
	Prerequisites []Prerequisite `json:"prerequisites"`
}

// Definition describes a checkpoint.
type Definition struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Type         string   `json:"type"`
	Description  text     `json:"description"`
	Dependencies []string `json:"dependencies"`
	Criteria     []string `json:"criteria"`
	Command      text     `json:"command"`
	Expected     text     `json:"expected"`
	TimeoutMS    *int64   `json:"timeout_ms"`
}

// Prerequisite is something that the session needs besides the code. placet shows it and never runs
// it.
type Prerequisite struct {
	ID     string `json:"id"`
	Name   text   `json:"name"`
	Type   text   `json:"type"`
	Script text   `json:"script"`
}

// Since says when a checkpoint entered its status.
type Since struct {
	Revision int  `json:"revision"`
	At       text `json:"at"`
}

// Reasons why a checkpoint was aborted.
const (
	becauseSkipped    = "skipped"
	becauseDependency = "dependency"
	becauseRemoved    = "removed"
	becauseSession    = "session"
)

// Ways in which a checkpoint was skipped.
const (
	skipPlain  = "plain"
	skipForced = "forced"
)

// Checkpoint is the progress of one checkpoint.
type Checkpoint struct {
	Status engine.Status `json:"status"`
	Since  Since         `json:"since"`
	// Revision is the revision of the last transition that changed the checkpoint.
	Revision         int         `json:"revision"`
	DefinitionDigest text        `json:"definition_digest"`
	Iteration        int         `json:"iteration"`      // the last attempt started, 0 for none
	MaxIterations    int         `json:"max_iterations"` // the number of the last attempt allowed
	Epoch            int         `json:"epoch"`          // how often a person gave it another chance
	StartedAt        text        `json:"started_at"`
	LastAttemptAt    text        `json:"last_attempt_at"`
	FinishedAt       text        `json:"finished_at"`
	RetryAt          text        `json:"retry_at"`
	AnalysisUntil    text        `json:"analysis_until"`
	ExtraFeedback    text        `json:"extra_feedback"`
	Skip             text        `json:"skip"`
	AbortedBecause   text        `json:"aborted_because"`
	Worker           *Worker     `json:"worker"`
	Run              *Run        `json:"run"`
	Seen             Seen        `json:"seen"`
	Questions        []Question  `json:"questions"`
	Escalation       *Escalation `json:"escalation"`
	History          []Judged    `json:"history"`
	// Feedback lists the attempts that have a feedback.md.
	Feedback []Feedback `json:"feedback"`
	// Stopped is the last question about changed files that kept the validation command from
	// running, nil if there was none.
	Stopped *Stopped `json:"stopped,omitzero"`
	// Oracle is the last start of the command that analyses the failed run, nil for none.
	Oracle *SideRun `json:"oracle,omitzero"`
	// Review is the review of the last attempt that passed, nil for none.
	Review *PassReview `json:"review,omitzero"`
}

// SideRun is a start of a command beside the worker and the validation.
type SideRun struct {
	Number        int  `json:"number"` // only grows within an attempt
	Run           int  `json:"run"`    // the run that the command is about
	StartedAt     text `json:"started_at"`
	Deadline      text `json:"deadline"`
	CommandDigest text `json:"command_digest"`
}

// PassReview is the review of one checkpoint that passed.
type PassReview struct {
	Mode      string `json:"mode"`   // person or command
	Status    string `json:"status"` // open, accepted, reopened or void
	RequestID text   `json:"request_id"`
	// Command is the start of the reviewer's command, nil if a person is asked.
	Command *SideRun `json:"command"`
	// Seen is the digest of a report that existed before.
	Seen  text   `json:"seen"`
	Notes []Note `json:"notes"`
}

// Modes of a worker and of a run.
const (
	modeCommand = "command"
	modeOutside = "outside"
	modeResult  = "result"
)

// Worker describes who makes the current attempt.
type Worker struct {
	Mode      string `json:"mode"` // command or outside
	Number    int    `json:"number"`
	StartedAt text   `json:"started_at"`
	Deadline  text   `json:"deadline"`
	// CommandDigest is the digest of the worker command as it was trusted.
	CommandDigest text `json:"command_digest"`
	// Answers is how many questions had answers when the worker started.
	Answers int `json:"answers"`
}

// Run is a validation of the current attempt.
type Run struct {
	Number        int    `json:"number"`
	Mode          string `json:"mode"` // command or result
	StartedAt     text   `json:"started_at"`
	TimeoutMS     int64  `json:"timeout_ms"`
	CommandDigest text   `json:"command_digest"`
}

// Seen holds the digests of documents that are not news: they existed at the start of the attempt,
// or were used already.
type Seen struct {
	Result   []text `json:"result"`
	Worker   []text `json:"worker"`
	Question []text `json:"question"`
}

// Question is a worker's question in the current attempt.
type Question struct {
	Number     int    `json:"number"`
	Text       string `json:"text"`
	Source     string `json:"source"` // hook or worker
	RequestID  string `json:"request_id"`
	Answer     text   `json:"answer"`
	AnsweredBy text   `json:"answered_by"`
	AnsweredAt text   `json:"answered_at"`
}

// Escalation hands a checkpoint to a person.
type Escalation struct {
	At            text            `json:"at"`
	Iteration     int             `json:"iteration"`
	MaxIterations int             `json:"max_iterations"`
	Run           *int            `json:"run"`
	Route         Route           `json:"route"`
	FailureType   testoutput.Type `json:"failure_type"`
	Reason        string          `json:"reason"`
	RequestID     string          `json:"request_id"`
	// Question is the question that nobody could answer, "" if a verdict escalated.
	Question text `json:"question"`
}

// Stopped says why a validation command did not run: files that it names differ from those that
// were agreed to.
type Stopped struct {
	RequestID string `json:"request_id"`
	Command   string `json:"command"`
	// CommandDigest is the digest under which trust in the command is recorded.
	CommandDigest text          `json:"command_digest"`
	Files         []ChangedFile `json:"files"`
	// MayChange says that the answer may also cover later changes.
	MayChange bool `json:"may_change"`
}

// ChangedFile is a file as a person was asked about it.
type ChangedFile struct {
	Path string `json:"path"`
	Was  text   `json:"was"` // digest of the content that was agreed to
	Now  text   `json:"now"` // digest of the content that would run
	// Difference is the difference of the two as lines, "" if it is not known.
	Difference text `json:"difference"`
}

// Results of a verdict.
const (
	passed = "passed"
	failed = "failed"
)

// Judged is one verdict in the history.
type Judged struct {
	Iteration      int      `json:"iteration"`
	Run            int      `json:"run"`
	Epoch          int      `json:"epoch"`
	Result         string   `json:"result"` // passed or failed
	Route          Route    `json:"route"`
	FailureType    text     `json:"failure_type"`
	Rule           text     `json:"rule"`
	Signature      text     `json:"signature"`
	FailedCriteria []string `json:"failed_criteria"`
	Timestamp      text     `json:"timestamp"`
	DurationMS     int64    `json:"duration_ms"`
	Source         string   `json:"source"` // validation, result or worker
}

// Feedback names an attempt whose feedback goes to the next one.
type Feedback struct {
	Iteration int `json:"iteration"`
	// Note is the remark of a person or reviewer.
	Note text `json:"note"`
}

// requestJSON is a request in the form of state.json.
type requestJSON struct {
	Type       string   `json:"type"`
	Checkpoint text     `json:"checkpoint"`
	Revision   int      `json:"revision"` // of the transition that opened the request
	OpenedAt   text     `json:"opened_at"`
	Digest     text     `json:"digest"` // of request.json as issued
	Status     string   `json:"status"`
	Option     text     `json:"option"`
	Selected   []string `json:"selected"`
	Comment    text     `json:"comment"`
	AnsweredBy text     `json:"answered_by"`
	// Source, KnownAs, Answer and View are the rest of the receipt.
	Source         text     `json:"source"`
	KnownAs        []string `json:"known_as"`
	Answer         text     `json:"answer"`
	ResponseDigest text     `json:"response_digest"`
	View           text     `json:"view"`
	SupersededBy   text     `json:"superseded_by"`
	Reason         text     `json:"reason"`
	ClosedAt       text     `json:"closed_at"`
	ClosedRevision int      `json:"closed_revision"`
	// Attempts is how many attempts retry_more added.
	Attempts int `json:"attempts"`
}

// requestOf converts a request into the form of state.json.
func requestOf(q *run.Request) requestJSON {
	j := requestJSON{
		Type: q.Type, Checkpoint: q.Subject, Revision: q.Revision, OpenedAt: q.OpenedAt, Digest: q.Digest, Status: q.Status,
		Option: q.Response, Selected: q.Selected, Comment: q.Comment, KnownAs: q.KnownAs, Answer: q.Answer, ResponseDigest: q.AnswerDigest,
		View: q.View, SupersededBy: q.SupersededBy, Reason: q.Reason, ClosedAt: q.ClosedAt, ClosedRevision: q.ClosedRevision,
	}
	if q.By != nil {
		j.AnsweredBy, j.Source = text(q.By.User), text(q.By.Source)
	}
	if n, ok := q.Extra.Get("attempts").(int); ok {
		j.Attempts = n
	}
	return j
}

// request converts a request from the form of state.json.
func (j requestJSON) request(id string) *run.Request {
	q := &run.Request{
		ID: id, Type: j.Type, Subject: j.Checkpoint, Revision: j.Revision, OpenedAt: j.OpenedAt, Digest: j.Digest, Status: j.Status,
		Response: j.Option, Selected: j.Selected, Comment: j.Comment, KnownAs: j.KnownAs, Answer: j.Answer, AnswerDigest: j.ResponseDigest,
		View: j.View, SupersededBy: j.SupersededBy, Reason: j.Reason, ReceivedAt: j.ClosedAt, ClosedAt: j.ClosedAt, ClosedRevision: j.ClosedRevision,
	}
	if q.Status == gate.Accepted {
		q.By = &run.By{User: string(j.AnsweredBy), Source: string(j.Source)}
	}
	if j.Attempts > 0 {
		q.Extra = schemas.Object{{Name: "attempts", Value: j.Attempts}}
	}
	return q
}

// Statuses of a review besides open.
const (
	reopened = "reopened"
	void     = "void"
)

// Review is the review of the whole once every checkpoint is final.
type Review struct {
	Round     int      `json:"round"` // only grows
	Mode      string   `json:"mode"`
	Status    string   `json:"status"` // open, accepted, reopened or void
	RequestID text     `json:"request_id"`
	Reopen    []string `json:"reopen"`
	Notes     []Note   `json:"notes"`
	// Seen is the digest of a report that existed before the round began.
	Seen text `json:"seen"`
}

// Note is a reviewer's remark.
type Note struct {
	Checkpoint text   `json:"checkpoint"`
	Severity   text   `json:"severity"`
	Text       string `json:"text"`
}

// head returns the members of a state that the kernel reads and writes.
func (st *State) head() run.Head {
	return run.Head{Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Requests: &st.Requests, Language: &st.Language}
}

// definitions returns the approved definitions.
func (st State) definitions() []Definition {
	if st.Approved == nil {
		return nil
	}
	return st.Approved.Definitions
}

// DecodeState reads a state.json.
func DecodeState(path string, body []byte) (st State, err error) {
	if err = schemas.Decode("afl/state", path, body, &st); err != nil {
		return State{}, err
	}
	for _, id := range slices.Sorted(maps.Keys(st.Stored)) {
		st.Requests = append(st.Requests, st.Stored[id].request(id))
	}
	slices.SortStableFunc(st.Requests, func(a, b *run.Request) int { return cmp.Compare(a.OpenedAt, b.OpenedAt) })
	st.Stored = nil
	st.Extra, err = schemas.Rest(body, &st)
	return st, err
}

// unfit returns why a readable state does not belong to the session, or nil. The ids in a state
// become names of folders, so somebody else must have written an id that no folder can have.
func (st State) unfit(session string) error {
	if st.SessionID != session {
		return templates.Errorf("afl.state.session", "id", run.QuoteID(st.SessionID), "folder", strconv.Quote(session))
	}
	for _, q := range st.Requests {
		if !layout.IsRequestID(q.ID) {
			return templates.Errorf("afl.state.request", "id", run.QuoteID(q.ID))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(st.Checkpoints)) {
		if !layout.IsAFLCheckpoint(id) {
			return templates.Errorf("afl.state.checkpoint", "place", "/checkpoints", "id", run.QuoteID(id))
		}
	}
	for i, d := range st.definitions() {
		if !layout.IsAFLCheckpoint(d.ID) {
			return templates.Errorf("afl.state.checkpoint", "place", fmt.Sprintf("/approved/definitions/%d/id", i), "id", run.QuoteID(d.ID))
		}
	}
	return nil
}

// encode returns the content of state.json.
func (st State) encode() ([]byte, error) {
	st.Stored = make(map[string]requestJSON, len(st.Requests))
	for _, q := range st.Requests {
		st.Stored[q.ID] = requestOf(q)
	}
	return schemas.Encode(append(schemas.Struct(st), st.Extra...))
}
