package ask

import (
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// outputs plans the documents that a final state requires besides the receipt.
func (r *view) outputs(w *run.Outputs) {
	if !r.run.Begun || !r.run.State.IsFinal() {
		return
	}
	for _, f := range r.run.State.Edited() {
		r.output(w, f.File, []byte(f.Text))
	}
	r.output(w, "answer.json", run.Encoded(r.run.State.AnswerFile()))
	r.output(w, "answer.md", []byte(r.answerText()))
}

// output plans a document that is written once. It leaves one that differs alone.
func (r *view) output(w *run.Outputs, name string, body []byte) {
	w.Once(name, true, func() []byte { return body })
	if d := r.run.Snap.In(name); !w.Fresh && d.Present() && d.Sum != engine.Sum(body) {
		r.run.Notes.Beside(d.Path, r.run.Say("ask.output"))
	}
}

// AnswerFile returns the content of answer.json, the outcome of the question.
func (st State) AnswerFile() schemas.Object {
	given := Given{}
	var by *run.By
	var response, reason text
	if st.Answer != nil {
		given, by = *st.Answer, &st.Answer.By
	}
	switch st.Status {
	case Answered:
		response = text(given.Response)
	case Expired:
		response, reason = text(st.Ask.Default), text(st.Last.Reason)
	default:
		reason = text(st.Last.Reason)
	}
	return schemas.Object{
		{Name: "schema_version", Value: 1}, {Name: "ask_id", Value: st.AskID}, {Name: "status", Value: st.Status}, {Name: "answered", Value: st.Status == Answered},
		{Name: "response", Value: response}, {Name: "selected", Value: given.Selected}, {Name: "comment", Value: given.Comment}, {Name: "by", Value: by},
		{Name: "known_as", Value: given.KnownAs}, {Name: "late", Value: given.Late}, {Name: "default_taken", Value: st.Status == Expired && response != ""},
		{Name: "asked_at", Value: st.AskedAt}, {Name: "closed_at", Value: st.Last.At}, {Name: "reason", Value: string(reason)}, {Name: "artifacts", Value: st.artifactsAtEnd()},
		{Name: "request_id", Value: st.RequestID}, {Name: "superseded_by", Value: st.SupersededBy},
		{Name: "correlation", Value: st.Ask.Correlation}, {Name: "idempotency_key", Value: st.Ask.IdempotencyKey},
	}
}

// Edited is a file of an ask that a person changed, and approved in the changed form.
type Edited struct {
	gate.Edit
	Asked string // the digest of what they were shown, 64 hex digits
	File  string // the path of the changed text in the folder of the ask
}

// Edited returns the files of the ask that a person changed and approved.
func (st State) Edited() (list []Edited) {
	if !st.isApproved() {
		return nil
	}
	for i, f := range st.Ask.Artifacts {
		for _, e := range st.Answer.Edits {
			if f.Editable && e.Path == f.Path {
				list = append(list, Edited{e, f.SHA256, layout.AskEdit(i+1, f.Path)})
			}
		}
	}
	return list
}

// isApproved reports whether a person approved what they were asked about.
func (st State) isApproved() bool {
	return st.Status == Answered && own[st.Ask.Type] != nil && st.Answer != nil && st.Answer.Response == "approve"
}

// artifactsAtEnd lists the digests of the files when the question was asked, when it was closed
// and, for files that a person could change, as they were approved.
func (st State) artifactsAtEnd() []schemas.Object {
	list, edited := []schemas.Object{}, st.Edited()
	for _, f := range st.Ask.Artifacts {
		o := schemas.Object{{Name: "path", Value: f.Path}, {Name: "sha256", Value: text(f.SHA256)}, {Name: "now", Value: f.atEnd()}}
		if f.Editable {
			var approved, file text
			at := slices.IndexFunc(edited, func(e Edited) bool { return e.Path == f.Path })
			switch {
			case at >= 0:
				approved, file = text(edited[at].SHA256()), text(edited[at].File)
			case st.isApproved():
				approved = text(f.SHA256)
			}
			o = append(o, schemas.Object{{Name: "approved", Value: approved}, {Name: "edited", Value: at >= 0}, {Name: "file", Value: file}}...)
		}
		list = append(list, o)
	}
	return list
}

// atEnd returns the digest of the file when the ask was closed, "" if it was missing.
func (f Artifact) atEnd() text {
	if f.Now != nil {
		return *f.Now
	}
	return text(f.SHA256)
}

// answerText returns answer.md, the outcome for people.
func (r *view) answerText() string {
	st, at := r.run.State, strings.NewReplacer("T", " ", "Z", " UTC").Replace(string(r.run.State.Last.At))
	data := templates.AskAnswerData{Title: title(st.Ask.Question), Line: templates.Phrase(st.Lang, "ask.no_answer", "reason", st.Last.Reason, "at", at)}
	if a := st.Answer; a != nil {
		words := a.Response
		if len(a.Selected) > 0 {
			words = strings.Join(a.Selected, ", ")
		}
		data.Comment = a.Comment
		data.Line = templates.Phrase(st.Lang, "ask.answer", "answer", templates.Cut(words, 2000), "user", a.By.User, "source", a.By.Source, "at", at)
	}
	for _, f := range st.Ask.Artifacts {
		data.Artifacts = append(data.Artifacts, templates.FormFact{Label: f.Path, Value: digestWord(f.atEnd(), st.Lang)})
	}
	for _, f := range st.Edited() {
		data.Artifacts = append(data.Artifacts, templates.FormFact{Label: templates.Phrase(st.Lang, "ask.edited", "file", f.Path), Value: f.File})
	}
	body, err := templates.Render(st.Lang, "ask/answer", data)
	return string(run.Must([]byte(body), err))
}

func digestWord(sum text, lang string) string {
	if sum == "" {
		return templates.Text(lang, "form.missing")
	}
	return "sha256:" + string(sum)
}

// heading returns the beginning of answer.md.
func heading(question string) string { return "# " + templates.Inline(title(question)) + "\n" }
