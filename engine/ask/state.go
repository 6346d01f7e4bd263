package ask

import (
	"fmt"
	"strconv"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// text is a string that a document writes as null while it is empty.
type text = schemas.OrNull

// Ask is a question: ask.json, and the registered copy of it in the state.
type Ask struct {
	Question       string     `json:"question"`
	Type           string     `json:"type"`
	Options        []Option   `json:"options,omitzero"`
	Context        string     `json:"context,omitzero"`
	Artifacts      []Artifact `json:"artifacts,omitzero"`
	Deadline       string     `json:"deadline,omitzero"`
	Default        string     `json:"default,omitzero"`
	MayAnswer      []string   `json:"may_answer,omitzero"`
	AskedBy        *AskedBy   `json:"asked_by,omitzero"`
	Tags           []string   `json:"tags,omitzero"`
	Parent         string     `json:"parent,omitzero"`
	Correlation    text       `json:"correlation,omitzero"`
	IdempotencyKey text       `json:"idempotency_key,omitzero"`
	Sensitivity    string     `json:"sensitivity,omitzero"`
	Supersedes     string     `json:"supersedes,omitzero"`
	RoundOf        string     `json:"round_of,omitzero"`
}

// Option is one of the words with which a person can answer.
type Option struct {
	ID          string `json:"id"`
	Description string `json:"description,omitzero"`
	Comment     bool   `json:"comment,omitzero"`
	Approves    bool   `json:"approves,omitzero"`
}

// Artifact is a file that the question is about.
type Artifact struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256,omitzero"`
	Binding *bool  `json:"binding,omitzero"` // nil means true
	// Editable says that a person may change its text, and approve what they made of it.
	Editable bool `json:"editable,omitzero"`
	// Now is its digest when the ask was closed, nil if that was SHA256, line ends aside.
	Now *text `json:"now,omitzero"`
}

// AskedBy names the asker, as they claim.
type AskedBy struct {
	Name    string `json:"name"`
	Session string `json:"session,omitzero"`
	Tool    string `json:"tool,omitzero"`
}

// Withdraw is the content of withdraw.json.
type Withdraw struct {
	Reason       string `json:"reason"`
	By           string `json:"by,omitzero"`
	SupersededBy text   `json:"superseded_by,omitzero"`
}

// Given is the answer of a person.
type Given struct {
	Response string   `json:"response"`
	Selected []string `json:"selected"`
	Comment  string   `json:"comment"`
	By       run.By   `json:"by"`
	KnownAs  []string `json:"known_as"`
	Late     bool     `json:"late"`
	// Edits are the texts that the person changed.
	Edits []gate.Edit `json:"edits,omitzero"`
}

// State is the content of state.json. Request, receipt and answer are functions of it.
type State struct {
	SchemaVersion int           `json:"schema_version"`
	AskID         string        `json:"ask_id"`
	Status        engine.Status `json:"status"`
	Revision      int           `json:"revision"`
	Last          *run.Last     `json:"last_transition"`
	Lang          string        `json:"lang"`
	AskDigest     text          `json:"ask_digest"`
	AskedAt       text          `json:"asked_at"`
	Ask           Ask           `json:"ask"`
	RequestID     text          `json:"request_id"`
	RequestDigest text          `json:"request_digest"`
	Answer        *Given        `json:"answer"`
	SupersededBy  text          `json:"superseded_by"`
	Round         *Round        `json:"round,omitempty"`
	History       []run.Past    `json:"history"`
	// Extra are members of a later version, which are kept unchanged.
	Extra schemas.Object `json:"-"`
	// requests holds the one request, derived from the rest.
	requests []*run.Request
}

var format = run.JSONState("ask/state", (*State).head, unfit)

// ReadState reads state.json.
func ReadState(path string, body []byte) (State, error) { return format.Decode(path, body) }

// unfit returns why a readable state does not belong to the ask, nil if it does.
func unfit(r *run.Input, st State) error {
	switch {
	case st.AskID != r.Snap.Key.ID:
		return templates.Errorf("ask.unfit.id", "id", run.QuoteID(st.AskID), "folder", strconv.Quote(r.Snap.Key.ID))
	case st.RequestID != "" && string(st.RequestID) != RequestID(st.AskID):
		return templates.Errorf("ask.unfit.request", "id", run.QuoteID(string(st.RequestID)), "expected", strconv.Quote(RequestID(st.AskID)))
	case st.Status == Answered && (st.Answer == nil || len(st.Last.Cause) != 1):
		return templates.Errorf("ask.unfit.answer")
	}
	return nil
}

// head implements [run.Format].
func (st *State) head() run.Head {
	st.requests = nil
	if st.RequestID != "" {
		st.requests = []*run.Request{st.request()}
	}
	return run.Head{Version: &st.SchemaVersion, Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Requests: &st.requests, Language: &st.Lang, Extra: &st.Extra, History: &st.History}
}

func isFinal(s engine.Status) bool { return results[s] != "" && s != Open }

// IsFinal reports whether the ask has ended.
func (st State) IsFinal() bool { return isFinal(st.Status) }

// results are the results of a receipt, by the status of the ask.
var results = map[engine.Status]string{
	Open: run.Open, Answered: gate.Accepted, Expired: gate.Expired, Withdrawn: gate.Cancelled, Superseded: gate.Superseded,
}

// request returns the request that the state describes.
func (st *State) request() *run.Request {
	q := &run.Request{
		ID: string(st.RequestID), Type: st.Ask.Type, Revision: 1, OpenedAt: st.AskedAt, Digest: st.RequestDigest,
		Deadline: text(st.Ask.Deadline), Status: results[st.Status],
	}
	if st.Status == Open {
		return q
	}
	q.ClosedAt, q.ReceivedAt, q.ClosedRevision, q.Reason = st.Last.At, st.Last.At, st.Revision, text(st.Last.Reason)
	switch {
	case st.Status == Expired:
		q.Response = text(st.Ask.Default)
	case st.Status == Superseded:
		q.SupersededBy = text(RequestID(string(st.SupersededBy)))
	case st.Answer != nil:
		a := st.Answer
		q.Response, q.Selected, q.Comment, q.By, q.KnownAs, q.Late = text(a.Response), a.Selected, text(a.Comment), &a.By, a.KnownAs, a.Late
		q.Edits = a.Edits
		for path, sum := range st.Last.Cause {
			q.Answer, q.AnswerDigest = text(path), text(sum)
		}
	}
	return q
}

// RequestID returns the id of the one request of an ask.
func RequestID(ask string) string {
	return "ask-" + engine.Sum(fmt.Appendf(nil, "ask\n%s\n1\nask", ask)).Hex()[:8]
}
