package gate

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Answer is an answer that counts.
type Answer struct {
	// Response is the option as the request spells it, or the free text; of several options the first in the
	// request's order. If the answer names none, it is [Evaluation.Default].
	Response string
	// Selected are all chosen options that may be chosen together ([Request.Several]), and then the picked
	// items, both in the request's order.
	Selected []string
	Comment  string
	// Edits are the texts that the reviewer changed.
	Edits []Edit
	// Outside are the places outside the comment section from which the comment took text.
	Outside []templates.Message
	// Extra are the further members of response.json, nil if there are none and for a form.
	Extra schemas.Object
	By    By
	// Named is the source that a response names and that this machine has not recorded, "" for none.
	Named string
	// Known says who answered and how that is known, each "how:who"; if a gate lists approvers, only what
	// matches them.
	Known []string
	// Path is the path of the answer file, relative to the workspace, and Sum its digest.
	Path string
	Sum  engine.Digest
	// Digest is the digest of what the reviewer was shown.
	Digest engine.Digest
}

// Evaluation is an open request with everything that affects its answer.
type Evaluation struct {
	// Lang is the language in which problems are worded.
	Lang    string
	Request Request
	// Dir is the request's folder, relative to the workspace, and Docs are
	// the documents in it.
	Dir  string
	Docs []engine.Document
	// View is the digest of what is shown now, "" while it is not known. Issued is the digest of what was
	// shown when the request was issued, "" if this machine has no record of it; an answer without a digest
	// refers to it.
	View, Issued engine.Digest
	// Present is the path of the present form, relative to the workspace.
	Present string
	// Rendered returns the texts that placet may have written as the form of the view, one for each language;
	// none if the form cannot be rendered now. It is called only for a form that is sent.
	Rendered func() [][]byte
	// Rewritten is a file that the answer is bound to and that was written again since the request was issued,
	// nil for none.
	Rewritten *Rewritten
	// Stale says in one sentence what changed since the request was issued.
	Stale string
	// Default is the id of the option that counts if an answer names no option but picks an item or comments;
	// "" if an answer must name one.
	Default string
	// Lapses says that the deadline also closes the request without a default.
	Lapses bool
	// AtDeadline says what the deadline does if it is not what [Request.AtDeadline] says, ""
	// otherwise.
	AtDeadline string
	// Hint says in problem notes what may be answered, such as "tick a level, or
	// write a comment"; "" for a general sentence.
	Hint string
	// Members are the names of further members of response.json that the family reads.
	Members []string
	// AtCommandLine are the ids of the options that let a command run. What an agent can write does not
	// choose them: they count only in an answer that a person gave at the command line of this machine, to a
	// request.json that this machine wrote. Foreign says that it did not.
	AtCommandLine []string
	Foreign       bool
	// Irreversible says that the request is about something that cannot be undone.
	Irreversible bool
	Gate         engine.Gate
	Now          time.Time
	// Asked is when the request was issued, the zero time if that is not known.
	Asked time.Time
	// Fact returns what local git answers to a need; ok is false if git has to be asked first. nil: nothing
	// came by git.
	Fact func(need string) (fact engine.Document, ok bool)
	// Revision is the revision of the state, which a receipt that this machine did not write must follow.
	// Altered says why request.json is not what was issued, "" if it is or is gone: if it was altered, no
	// receipt belongs to this request.
	Revision int
	Altered  string
	// PartialWriteGrace is how long an unreadable file is assumed to be half written.
	PartialWriteGrace time.Duration
}

// Rendered returns an [Evaluation.Rendered] for a form that is written in only one language.
func Rendered(form func() ([]byte, error)) func() [][]byte {
	return func() [][]byte {
		text, err := form()
		if err != nil {
			return nil
		}
		return [][]byte{text}
	}
}

// Verdict is the result of judging the files of a request folder.
type Verdict struct {
	// Answer is the answer that counts, nil if none does.
	Answer *Decision
	// Problem is the text of problem.md, "" for none. There may be both a problem and an answer, because a
	// file that cannot be used is skipped.
	Problem string
	// Wait says that an answer may still be being written: decide nothing, let no deadline pass and leave a
	// problem note unchanged, until the file changes or one of Pending cannot be half written any more.
	Wait bool
	// Pending are the answers that may still be being written.
	Pending []engine.PendingFile
}

// Judge returns which answer of a request counts.
//
// response.json, a synchroniser's copies of it and the forms whose first line contains the present digest have
// equal rank. Valid ones that are alike (the same options and items) are one answer; its comment is the first
// one found, in response.json before the form, and so are its further members. If valid ones differ, none of
// them counts until one is removed.
func Judge(a Evaluation) Verdict {
	var readings []reading
	for _, d := range a.answerFiles() {
		readings = append(readings, a.read(d))
	}
	if v, wait := waiting(a, readings); wait {
		return v
	}
	var answers []Decision
	var problems []string
	for _, r := range readings {
		if r.problem != "" {
			problems = append(problems, r.problem)
		}
		if r.answer != nil {
			answers = append(answers, *r.answer)
		}
	}
	answer, problem := one(a.Lang, a.Request, answers)
	if problem != "" {
		problems = append(problems, problem)
	}
	return Verdict{Answer: answer, Problem: note(a, problems)}
}

// read judges one file of the request's folder.
func (a Evaluation) read(d engine.Document) reading {
	if d.Kind == layout.KindForm {
		return a.judgeForm(d)
	}
	return a.judgeResponse(d)
}

// reading is the result of reading one file of a request folder.
type reading struct {
	answer  *Decision
	problem string
	// wait names the file if it may be half written; otherwise it is nil.
	wait *engine.PendingFile
}

// waiting returns the verdict while any file may be half written.
func waiting(a Evaluation, readings []reading) (Verdict, bool) {
	v := Verdict{Wait: a.View == ""}
	for _, r := range readings {
		if r.wait != nil {
			v.Wait, v.Pending = true, append(v.Pending, *r.wait)
		}
	}
	return v, v.Wait
}

// one merges answers that are alike; if they differ, it returns a problem.
func one(lang string, r Request, answers []Decision) (*Decision, string) {
	if len(answers) == 0 {
		return nil, ""
	}
	first := answers[0]
	for _, other := range answers[1:] {
		if !alike(r, first, other) {
			return nil, differ(lang, answers)
		}
		if first.Comment == "" {
			first.Comment, first.Outside = other.Comment, other.Outside
		}
		if first.Extra == nil {
			first.Extra = other.Extra
		}
	}
	return &first, ""
}

// alike reports whether two answers name the same options, or give the same text, pick the same items and make
// the same edits. Both are already in the request's spelling and order; the blanks around a text and the kind
// of its line ends do not matter.
func alike(r Request, a, b Decision) bool {
	same := a.Response == b.Response || r.FreeText() && plainText(a.Response) == plainText(b.Response)
	return same && slices.Equal(a.Selected, b.Selected) && slices.Equal(a.Edits, b.Edits)
}

// answerFiles returns the documents that may answer: response.json first, then its copies, then the forms.
func (a Evaluation) answerFiles() (docs []engine.Document) {
	for _, kind := range []string{layout.KindResponse, layout.KindResponseCopy, layout.KindForm} {
		for _, d := range a.Docs {
			if d.Kind == kind && !d.Absent() {
				docs = append(docs, d)
			}
		}
	}
	return docs
}

// unusable returns the reading of a file that cannot be used: placet waits for it while it may be half
// written; after that it is a problem.
func (a Evaluation) unusable(d engine.Document, err error) reading {
	if d.Unsettled() {
		return reading{wait: &engine.PendingFile{Path: d.Path}}
	}
	if until, partial := a.maybePartial(d, err); partial {
		return reading{wait: &engine.PendingFile{Path: d.Path, Until: until}}
	}
	return reading{problem: unusableProblem(a, d.Path, err)}
}

// maybePartial reports whether a torn file changed so recently that it may still be being written, and until
// when. A change time further in the future than that says nothing: the clock was set back.
func (a Evaluation) maybePartial(d engine.Document, err error) (time.Time, bool) {
	var e *schemas.Error
	if !errors.As(err, &e) || !e.Torn || d.Changed.IsZero() {
		return time.Time{}, false
	}
	until := d.Changed.Add(a.PartialWriteGrace)
	return until, a.Now.Before(until) && !a.Now.Before(d.Changed.Add(-a.PartialWriteGrace))
}

// The limits of an answer. States, receipts and events repeat it, each byte as six at worst, and must remain
// small enough to be read.
const (
	// LongestAnswer is how many bytes of text an answer may have, its response and its comment together.
	LongestAnswer = 64 << 10
	// LongestUser is how many characters the name of an answer's author may have.
	LongestUser = 100
)

// CheckName returns what is wrong with the name of an answer's author, or nil. A name is one line of visible
// characters, no more than LongestUser.
func CheckName(user string) error {
	return schemas.CheckValue("kernel/response#/properties/provided_by/properties/user", user)
}

// CheckLimits returns which limit an answer exceeds, or nil. Other documents with a person's text and name
// have the same limits.
func CheckLimits(place string, a Answer) error {
	if n := len(a.Response) + len(a.Comment); n > LongestAnswer {
		return templates.Errorf("gate.limit.text", "file", code(place), "n", n, "most", LongestAnswer)
	}
	if err := CheckName(a.By.User); a.By.User != "" && err != nil {
		return templates.Errorf("gate.limit.name", "file", code(place), "problem", err)
	}
	return nil
}

// Check checks a response.json against the request before it is written: it returns the answer that [Judge]
// will find in it, or why it would not count.
func (a Evaluation) Check(d engine.Document) (Decision, string) {
	if n := len(d.Body); n > layout.LimitJSON {
		return Decision{}, a.say("limit.file", "file", code(d.Path), "n", n, "most", layout.LimitJSON)
	}
	switch r := a.judgeResponse(d); {
	case r.wait != nil:
		return Decision{}, a.say("pending", "file", code(d.Path))
	case r.answer == nil:
		return Decision{}, r.problem
	default:
		return *r.answer, ""
	}
}

// EvaluationOf returns the evaluation behind a view that [Evaluation.OpenRequest] made, as far as needed to
// check an answer in response.json. An answer without a digest refers to what is shown now.
func EvaluationOf(told engine.OpenRequest, g engine.Gate) Evaluation {
	a := Evaluation{
		Lang:    told.Lang,
		Request: Request{RequestID: told.Request, Type: told.Type, CommentRequired: told.CommentRequired, Several: told.Several, ItemsMax: told.ItemsMax, ItemsWith: told.ItemsWith},
		View:    told.Digest, Issued: told.Digest, Present: told.Form, Default: told.Default, Members: told.Members, Gate: g,
		AtCommandLine: told.AtCommandLine, Foreign: told.Foreign, Irreversible: told.Irreversible,
	}
	for _, o := range told.Options {
		a.Request.Options = append(a.Request.Options, Option(o))
	}
	for _, f := range told.Binding {
		artifact := Artifact{Path: f.Path, SHA256: f.SHA256, Binding: true}
		if i := slices.IndexFunc(told.Editable, func(e engine.EditableFile) bool { return e.Path == f.Path }); i >= 0 {
			artifact.Editable, artifact.Text = true, &told.Editable[i].Text
		}
		a.Request.Artifacts = append(a.Request.Artifacts, artifact)
	}
	for _, i := range told.Items {
		a.Request.Items = append(a.Request.Items, Item{ID: i.ID, Label: i.Label, Words: i.Words})
	}
	return a
}

// AtDeadline says in a few words what happens if nobody has answered by the deadline: the
// default is taken, the request is closed if it lapses, or it waits on.
func (r Request) AtDeadline(lang string, lapses bool) string {
	switch {
	case r.Default != "":
		return templates.Phrase(lang, "gate.deadline.default", "option", r.Default)
	case lapses:
		return templates.Text(lang, "gate.deadline.lapses")
	}
	return templates.Text(lang, "gate.deadline.waits")
}

// OpenRequest returns the view of an open request for people: what it asks, where it is answered, and until
// when. The family adds what the request is about, and what is wrong with an answer.
func (a Evaluation) OpenRequest() engine.OpenRequest {
	r := a.Request
	told := engine.OpenRequest{
		Request: r.RequestID, Type: r.Type, Prompt: r.Prompt, FreeText: r.FreeText(), Default: a.Default,
		Form: a.Present, Response: a.Dir + "/response.json", Digest: a.View,
		RequestedAt: schemas.OrNull(r.RequestedAt).Time(), Deadline: schemas.OrNull(r.Deadline).Time(), CommentRequired: r.CommentRequired, Several: r.Several,
		Members: a.Members, AtCommandLine: a.AtCommandLine, Foreign: a.Foreign, Irreversible: a.Irreversible, ItemsMax: r.ItemsMax, ItemsWith: r.ItemsWith, Lang: a.Lang, Binding: r.Binding(), Editable: r.Editable(),
		Details: r.Details(a.Lang), Unread: r.Unread(),
	}
	told.Overdue = !told.Deadline.IsZero() && !a.Now.Before(told.Deadline)
	if !told.Deadline.IsZero() {
		told.AtDeadline = cmp.Or(a.AtDeadline, r.AtDeadline(a.Lang, a.Lapses))
	}
	for _, o := range r.Options {
		told.Options = append(told.Options, engine.RequestOption(o))
	}
	for _, i := range r.Items {
		told.Items = append(told.Items, engine.RequestItem{ID: i.ID, Label: i.Label, Words: i.Words})
	}
	for _, artifact := range r.Artifacts {
		told.Artifacts = append(told.Artifacts, artifact.Path)
	}
	return told
}
