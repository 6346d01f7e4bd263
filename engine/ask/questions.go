package ask

import (
	"cmp"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// questions has the same question for each type.
var questions = map[string]run.Question[*view]{approval: question, review: question, choice: question, multi: question, freeText: question}

var question = run.Question[*view]{
	Fill: (*view).fillRequest, Title: (*view).title, Stands: (*view).stands, Lapses: true, MayAnswer: func(r *view, _ *run.Request) []string { return r.run.State.Ask.MayAnswer },
	Tell: func(r *view, _ *run.Request, a *engine.OpenRequest) { a.Where = r.where() },
}

func (r *view) fillRequest(_ *run.Request, req *gate.Request) schemas.Object {
	a := r.run.State.Ask
	req.Prompt, req.Default, req.MayAnswer = a.Question, a.Default, a.MayAnswer
	for _, o := range a.Options {
		req.Options = append(req.Options, gate.Option{ID: o.ID, Description: o.Description, Effect: r.effect(o.ID)})
		if o.Comment {
			req.CommentRequired = append(req.CommentRequired, o.ID)
		}
		if a.Type == multi && gate.Fold(o.ID) != gate.Fold(none) {
			req.Several = append(req.Several, o.ID)
		}
	}
	for _, f := range a.Artifacts {
		req.Artifacts = append(req.Artifacts, gate.Artifact{Path: f.Path, SHA256: f.SHA256, Binding: f.IsBinding(), Editable: f.Editable})
	}
	members := schemas.Object{
		{Name: "asked_by", Value: a.AskedBy}, {Name: "tags", Value: a.Tags}, {Name: "parent", Value: text(a.Parent)}, {Name: "correlation", Value: a.Correlation},
		{Name: "sensitivity", Value: cmp.Or(a.Sensitivity, "normal")}, {Name: "supersedes", Value: text(a.Supersedes)},
	}
	if before := r.run.State.Round; before != nil {
		req.Since = before.Since
		members = append(members, schemas.Member{Name: "round", Value: schemas.Struct(*before).Without("since")})
	}
	req.Extra = schemas.Object{{Name: "ask", Value: members}}
	if a.Context == "" {
		return schemas.Object{}
	}
	return schemas.Object{{Name: "markdown", Value: a.Context}}
}

// effect says what choosing an option does.
func (r *view) effect(id string) string {
	key := "ask.effect"
	switch {
	case own[r.run.State.Ask.Type] == nil:
	case id == "approve":
		key += ".yes"
	default:
		key += ".no"
	}
	return r.run.Say(templates.Key(key), "who", r.who(), "id", id)
}

// who returns the name of the asker, or a word for an asker without a name.
func (r *view) who() string {
	if by := r.run.State.Ask.AskedBy; by != nil {
		return by.Name
	}
	return r.run.Say("ask.who")
}

// where says who asks, and in which round.
func (r *view) where() string {
	if r.run.State.Round == nil {
		return r.who()
	}
	return r.run.Say("ask.round.where", "who", r.who(), "n", r.run.State.Round.N)
}

// title returns the first line of a question.
func title(question string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(templates.Clean(question)), "\n")
	return templates.Cut(line, 300)
}

func (r *view) title(*run.Request) gate.Texts {
	words := title(r.run.State.Ask.Question)
	if r.run.State.Ask.AskedBy != nil {
		words = r.run.Say("ask.title", "title", words, "who", r.who())
	}
	return gate.Texts{Lang: r.run.Lang, Title: words}
}

// stands reports whether the binding files are as the person was shown them.
func (r *view) stands(*run.Request) (problem string, ok bool) {
	for _, f := range r.run.State.Ask.Artifacts {
		d := r.run.Snap.Doc(f.Path)
		switch {
		case !f.IsBinding():
		case d.Unsettled():
			r.run.Held = true
			return "", false
		case !d.Matches(f.SHA256):
			return r.run.Say("ask.artifact.changed", "file", f.Path), false
		}
	}
	return "", true
}
