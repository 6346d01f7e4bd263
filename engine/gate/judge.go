package gate

import (
	"errors"
	"slices"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// Answer is an answer that counts.
type Answer struct {
	// Response is the option as the request spells it, or the free text; of
	// several options the first in the request's order. Where the answer names
	// none it is [Asked.Default].
	Response string
	// Selected are all chosen options that may be chosen together
	// ([Request.Several]), and then the picked items, both in the request's
	// order.
	Selected []string
	Comment  string
	// Outside are the places besides the comment section from which words of the
	// comment come.
	Outside []string
	// Extra are the further members of response.json, nil where there are
	// none and for a form.
	Extra schemas.Object
	By    By
	// Known says who answered and how that is known, each "how:who"; where a
	// gate lists approvers, only what fits them.
	Known []string
	// Path is the answer file's, relative to the workspace, Sum its digest.
	Path string
	Sum  engine.Digest
	// Digest is that of what the reviewer was shown.
	Digest engine.Digest
}

// Asked is an open request with all that bears on its answer.
type Asked struct {
	Request Request
	// Dir is the request's folder, relative to the workspace, and Docs are
	// the documents in it.
	Dir  string
	Docs []engine.Document
	// View is the digest of what is shown now, "" while that cannot be told;
	// Issued is that of what was shown when the request was issued, which an answer
	// means that names no digest; "" where nobody can vouch for it.
	View, Issued engine.Digest
	// Present is the path of the present form, relative to the workspace.
	Present string
	// Rendered returns what a form of the view may have been written as, once for
	// each language; none where it cannot be rendered now. It is called only for a
	// form that is sent.
	Rendered func() [][]byte
	// Stale says in one sentence what changed since the request was issued.
	Stale string
	// Default is the id of the option that stands for none: with it, an answer
	// need not name an option where it picks an item or comments. "" where an
	// answer must name one.
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
	// Revision is that of the state, and Altered why request.json is not what was
	// issued, "" where it is or is gone: both are asked of a receipt that this
	// machine did not write.
	Revision int
	Altered  string
	// Torn is how long a file that cannot be read may be half of a write.
	Torn time.Duration
}

// Rendered is [Asked.Rendered] of a form that is written in one language alone.
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
	// Holding are the answers that may still be being written.
	Holding []engine.Holding
}

// Judge says which answer of a request counts.
//
// response.json, a synchroniser's copies of it and the forms whose first line
// carries the present digest rank alike. Those that are valid and alike (the
// same options and items) are one answer; its comment is the first of them,
// response.json before the form, and so are its further members. Valid ones that differ count for nothing, all
// of them, until one goes.
func Judge(a Asked) Verdict {
	readings := a.readings()
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
	answer, problem := one(a.Request, answers)
	if problem != "" {
		problems = append(problems, problem)
	}
	return Verdict{Answer: answer, Problem: note(a, problems)}
}

// reading is what one file of a request folder says.
type reading struct {
	answer  *Decision
	problem string
	// wait is the file where it may be half of a write, nil where it is none.
	wait *engine.Holding
}

// waiting returns the verdict while anything may be half of a write.
func waiting(a Asked, readings []reading) (Verdict, bool) {
	v := Verdict{Wait: a.View == ""}
	for _, r := range readings {
		if r.wait != nil {
			v.Wait, v.Holding = true, append(v.Holding, *r.wait)
		}
	}
	return v, v.Wait
}

// one makes one answer of those that are alike; where they differ, it says so.
func one(r Request, answers []Decision) (*Decision, string) {
	if len(answers) == 0 {
		return nil, ""
	}
	first := answers[0]
	for _, other := range answers[1:] {
		if !alike(r, first, other) {
			return nil, differ(answers)
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
// text, and pick the same items. Both are spelled and ordered as the request
// has them.
func alike(r Request, a, b Decision) bool {
	return sameResponse(r, a.Response, b.Response) && slices.Equal(a.Selected, b.Selected)
}

// sameResponse compares options as they match, and texts by what they say: the
// blanks around them and the kind of line end say nothing.
func sameResponse(r Request, a, b string) bool {
	if r.FreeText() {
		return plainText(a) == plainText(b)
	}
	return Fold(r.spelled(a)) == Fold(r.spelled(b))
}

// readings reads the answer files: response.json first, then its copies, then
// the forms.
func (a Asked) readings() []reading {
	var all []reading
	for _, kind := range []string{layout.KindResponse, layout.KindResponseCopy, layout.KindForm} {
		for _, d := range a.Docs {
			if d.Kind == kind && !d.Absent() {
				all = append(all, a.reading(d))
			}
		}
	}
	return all
}

func (a Asked) reading(d engine.Document) reading {
	if d.Kind == layout.KindForm {
		return a.judgeForm(d)
	}
	return a.judgeResponse(d)
}

// unusable says what becomes of a file that cannot be used: it is waited for
// while it may be half of a write, and then earns a problem.
func (a Asked) unusable(d engine.Document, err error) reading {
	if d.Unsettled() {
		return reading{wait: &engine.Holding{Path: d.Path}}
	}
	if until, young := a.young(d, err); young {
		return reading{wait: &engine.Holding{Path: d.Path, Until: until}}
	}
	return reading{problem: unusableProblem(d.Path, err)}
}

// young reports whether a torn file changed so lately that it may still be
// being written, and until when. A file from a future further away than that
// says nothing: the clock was set back.
func (a Asked) young(d engine.Document, err error) (time.Time, bool) {
	var e *schemas.Error
	if !errors.As(err, &e) || !e.Torn || d.Changed.IsZero() {
		return time.Time{}, false
	}
	until := d.Changed.Add(a.Torn)
	return until, a.Now.Before(until) && !a.Now.Before(d.Changed.Add(-a.Torn))
}
