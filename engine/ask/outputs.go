package ask

import (
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// outputs are what a final state calls for besides the receipt.
func (r *view) outputs(w *run.Outputs) {
	if !r.Begun || !r.State.IsFinal() {
		return
	}
	r.output(w, "answer.json", run.Must(schemas.Encode(r.State.AnswerFile())))
	r.output(w, "answer.md", []byte(r.answerText()))
}

// output plans a document that is written once. One that differs is left alone.
func (r *view) output(w *run.Outputs, name string, body []byte) {
	w.Once(name, true, func() []byte { return body })
	if d := r.Snap.In(name); !w.Fresh && d.Present() && d.Sum != engine.Sum(body) {
		r.Notes.Beside(d.Path, r.Say("ask.output"))
	}
}

// AnswerFile is answer.json: what became of the question.
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
		{Name: "asked_at", Value: st.AskedAt}, {Name: "closed_at", Value: st.Last.At}, {Name: "reason", Value: string(reason)}, {Name: "artifacts", Value: st.Ask.artifactsAtEnd()},
		{Name: "request_id", Value: st.RequestID}, {Name: "superseded_by", Value: st.SupersededBy},
		{Name: "correlation", Value: st.Ask.Correlation}, {Name: "idempotency_key", Value: st.Ask.IdempotencyKey},
	}
}

// artifactsAtEnd are the files as they were when the question was asked and when it was closed.
func (a Ask) artifactsAtEnd() []schemas.Object {
	list := []schemas.Object{}
	for _, f := range a.Artifacts {
		list = append(list, schemas.Object{{Name: "path", Value: f.Path}, {Name: "sha256", Value: text(f.SHA256)}, {Name: "now", Value: f.atEnd()}})
	}
	return list
}

// atEnd is the digest of the file when the ask was closed, "" where it was missing.
func (f Artifact) atEnd() text {
	if f.Now != nil {
		return *f.Now
	}
	return text(f.SHA256)
}

// answerText is answer.md: the same for people.
func (r *view) answerText() string {
	st, at := r.State, strings.NewReplacer("T", " ", "Z", " UTC").Replace(string(r.State.Last.At))
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
	body, err := templates.Render(st.Lang, "ask/answer", data)
	return string(run.Must([]byte(body), err))
}

func digestWord(sum text, lang string) string {
	if sum == "" {
		return templates.Text(lang, "form.missing")
	}
	return "sha256:" + string(sum)
}

// heading is how answer.md begins.
func heading(question string) string { return "# " + templates.Inline(title(question)) + "\n" }
