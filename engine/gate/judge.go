package gate

import (
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
	// Response is the option as the request spells it, or the free text; of
	// several options the first in the request's order. Where the answer names
	// none it is [Evaluation.Default].
	Response string
	// Selected are all chosen options that may be chosen together
	// ([Request.Several]), and then the picked items, both in the request's
	// order.
	Selected []string
	Comment  string
	// Edits are the texts that the reviewer changed.
	Edits []Edit
	// Outside are the places besides the comment section from which words of the
	// comment come.
	Outside []templates.Message
	// Extra are the further members of response.json, nil where there are
	// none and for a form.
	Extra schemas.Object
	By    By
	// Named is the source that a response names and that this machine has not recorded, ""
	// for none.
	Named string
	// Known says who answered and how that is known, each "how:who"; where a
	// gate lists approvers, only what fits them.
	Known []string
	// Path is the answer file's, relative to the workspace, Sum its digest.
	Path string
	Sum  engine.Digest
	// Digest is that of what the reviewer was shown.
	Digest engine.Digest
}

// Evaluation is an open request with all that bears on its answer.
type Evaluation struct {
	// Lang is the language in which problems are worded.
	Lang    string
	Request Request
	// Dir is the request's folder, relative to the workspace, and Docs are
	// the documents in it.
	Dir  string
	Docs []engine.Document
	// View is the digest of what is shown now, "" while it is not known. Issued is the
	// digest of what was shown when the request was issued, "" if nobody can vouch for
	// it; an answer without a digest refers to it.
	View, Issued engine.Digest
	// Present is the path of the present form, relative to the workspace.
	Present string
	// Rendered returns what a form of the view may have been written as, once for
	// each language; none where it cannot be rendered now. It is called only for a
	// form that is sent.
	Rendered func() [][]byte
	// Rewritten is a file that the answer is bound to and that was written again since the
	// request was issued, nil for none.
	Rewritten *Rewritten
	// Stale says in one sentence what changed since the request was issued.
	Stale string
	// Default is the id of the option of an answer that names no option but picks an
	// item or comments; "" if an answer must name one.
	Default string
	// Lapses says that the deadline closes the request without a default, too.
	Lapses bool
	// Hint says in problem notes what may be answered, such as "tick a level, or
	// write a comment"; "" for a general sentence.
	Hint string
	// Members are the names of further members of response.json that the family reads.
	Members []string
	Gate    engine.Gate
	Now     time.Time
	// Asked is when the request was issued, the zero time where that is not known.
	Asked time.Time
	// Fact is what local git says to a need; ok is false where it has to be asked first.
	// nil: nothing came by git.
	Fact func(need string) (fact engine.Document, ok bool)
	// Revision is that of the state, asked of a receipt that this machine did not write,
	// and Altered why request.json is not what was issued, "" where it is or is gone:
	// then no receipt is of this request.
	Revision int
	Altered  string
	// PartialWriteGrace is how long a file that cannot be read may be half of a write.
	PartialWriteGrace time.Duration
}

// Rendered is [Evaluation.Rendered] of a form that is written in one language alone.
func Rendered(form func() ([]byte, error)) func() [][]byte {
	return func() [][]byte {
		text, err := form()
		if err != nil {
			return nil
		}
		return [][]byte{text}
	}
}

// Verdict is what the files of a request folder amount to.
type Verdict struct {
	// Answer is the one that counts, nil if none does.
	Answer *Decision
	// Problem is the text of problem.md, "" for none. It may stand beside an
	// answer: what cannot be used is passed over.
	Problem string
	// Wait says that an answer may still be being written: decide nothing,
	// let no deadline pass and leave a problem note as it stands, until the
	// file changes or one of Holding cannot be half of a write any more.
	Wait bool
	// Pending are the answers that may still be being written.
	Pending []engine.PendingFile
}

// Judge says which answer of a request counts.
//
// response.json, a synchroniser's copies of it and the forms whose first line
// carries the present digest rank alike. Those that are valid and alike (the
// same options and items) are one answer; its comment is the first of them,
// response.json before the form, and so are its further members. Valid ones that differ count for nothing, all
// of them, until one goes.
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

// read says what one file of the request's folder answers.
func (a Evaluation) read(d engine.Document) reading {
	if d.Kind == layout.KindForm {
		return a.judgeForm(d)
	}
	return a.judgeResponse(d)
}

// reading is what one file of a request folder says.
type reading struct {
	answer  *Decision
	problem string
	// wait names the file if it may be half of a write; otherwise it is nil.
	wait *engine.PendingFile
}

// waiting returns the verdict while anything may be half of a write.
func waiting(a Evaluation, readings []reading) (Verdict, bool) {
	v := Verdict{Wait: a.View == ""}
	for _, r := range readings {
		if r.wait != nil {
			v.Wait, v.Pending = true, append(v.Pending, *r.wait)
		}
	}
	return v, v.Wait
}

// one makes one answer of those that are alike; where they differ, it says so.
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

// alike reports whether two answers name the same options, or give the same
// text, pick the same items and change texts alike. Both are spelled and ordered as the request
// has them; the blanks around a text and the kind of its line ends say nothing.
func alike(r Request, a, b Decision) bool {
	same := a.Response == b.Response || r.FreeText() && plainText(a.Response) == plainText(b.Response)
	return same && slices.Equal(a.Selected, b.Selected) && slices.Equal(a.Edits, b.Edits)
}

// answerFiles are the documents that may answer: response.json first, then its copies,
// then the forms.
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

// unusable says what becomes of a file that cannot be used: it is waited for
// while it may be half of a write, and then earns a problem.
func (a Evaluation) unusable(d engine.Document, err error) reading {
	if d.Unsettled() {
		return reading{wait: &engine.PendingFile{Path: d.Path}}
	}
	if until, partial := a.maybePartial(d, err); partial {
		return reading{wait: &engine.PendingFile{Path: d.Path, Until: until}}
	}
	return reading{problem: unusableProblem(a, d.Path, err)}
}

// maybePartial reports whether a torn file changed so lately that it may still be
// being written, and until when. A file from a future further away than that
// says nothing: the clock was set back.
func (a Evaluation) maybePartial(d engine.Document, err error) (time.Time, bool) {
	var e *schemas.Error
	if !errors.As(err, &e) || !e.Torn || d.Changed.IsZero() {
		return time.Time{}, false
	}
	until := d.Changed.Add(a.PartialWriteGrace)
	return until, a.Now.Before(until) && !a.Now.Before(d.Changed.Add(-a.PartialWriteGrace))
}

// Limits of an answer. States, receipts and events repeat it, each byte as six at worst,
// and must stay files that can be read.
const (
	// LongestAnswer is how many bytes of text an answer may hold, its response and its
	// comment together.
	LongestAnswer = 64 << 10
	// LongestUser is how many characters the name of who answers may have.
	LongestUser = 100
)

// CheckName says what is wrong with the name of who answers, nil if nothing is: it is one
// line that can be seen, of no more than LongestUser characters.
func CheckName(user string) error {
	return schemas.CheckValue("kernel/response#/properties/provided_by/properties/user", user)
}

// CheckLimits says which limit an answer exceeds, nil for none. Whatever else holds a
// person's words and name is held to the same limits.
func CheckLimits(place string, a Answer) error {
	if n := len(a.Response) + len(a.Comment); n > LongestAnswer {
		return templates.Errorf("gate.limit.text", "file", code(place), "n", n, "most", LongestAnswer)
	}
	if err := CheckName(a.By.User); a.By.User != "" && err != nil {
		return templates.Errorf("gate.limit.name", "file", code(place), "problem", err)
	}
	return nil
}

// Check holds a response.json against the request before it is written: it returns
// the answer that [Judge] will find in it, or says why it would not count.
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

// EvaluationOf returns the request that [Evaluation.OpenRequest] made the view of, as far as an answer in
// response.json is checked against it. An answer without a digest refers to what is
// shown now.
func EvaluationOf(told engine.OpenRequest, g engine.Gate) Evaluation {
	a := Evaluation{
		Lang:    told.Lang,
		Request: Request{RequestID: told.Request, Type: told.Type, CommentRequired: told.CommentRequired, Several: told.Several, ItemsMax: told.ItemsMax, ItemsWith: told.ItemsWith},
		View:    told.Digest, Issued: told.Digest, Present: told.Form, Default: told.Default, Members: told.Members, Gate: g,
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

// OpenRequest returns the view of an open request for people: what it asks, where it is
// answered, and until when. The family adds what the request is about, and what is
// wrong with an answer.
func (a Evaluation) OpenRequest() engine.OpenRequest {
	r := a.Request
	told := engine.OpenRequest{
		Request: r.RequestID, Type: r.Type, Prompt: r.Prompt, FreeText: r.FreeText(), Default: a.Default,
		Form: a.Present, Response: a.Dir + "/response.json", Digest: a.View,
		RequestedAt: schemas.OrNull(r.RequestedAt).Time(), Deadline: schemas.OrNull(r.Deadline).Time(), CommentRequired: r.CommentRequired, Several: r.Several,
		Members: a.Members, ItemsMax: r.ItemsMax, ItemsWith: r.ItemsWith, Lang: a.Lang, Binding: r.Binding(), Editable: r.Editable(),
		Details: r.Details(a.Lang), Unread: r.Unread(),
	}
	told.Overdue = !told.Deadline.IsZero() && !a.Now.Before(told.Deadline)
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
