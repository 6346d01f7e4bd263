package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// askReply shows a request as FABER's own prompt does, and reads the answer: a number, an
// option or, for a request in words, a line of text. It writes to stderr, because the outcome
// is the answer of the command.
func askReply(ctx context.Context, w *console.Env, p *console.Prompter, t view.Request, r *answer.Reply, command string) error {
	if err := showWhole(w, t, promptText(w, t), command); err != nil {
		return err
	}
	err := p.Ask(ctx, console.PromptLine{Text: w.Text("cli.prompt.choice")}, func(text string) (again string) {
		var ok bool
		if r.Option, ok = choice(t, text); !ok {
			return w.Text("cli.prompt.unknown", "word", strconv.Quote(console.Cut(console.OneLine(text), view.ShownAnswer)), "options", answer.Offers(t))
		}
		return ""
	})
	if err != nil {
		return err
	}
	if err := askItems(ctx, w, p, t, r); err != nil {
		return err
	}
	return askComment(ctx, w, p, t, r)
}

// choice resolves the typed text: an option's number or its word.
func choice(t view.Request, text string) (string, bool) {
	if t.FreeText {
		return text, true
	}
	if id, ok := gate.Match(answer.Options(t.OpenRequest), text); ok {
		return id, true
	}
	for i, o := range t.Options {
		if strings.Trim(text, "[].") == strconv.Itoa(i+1) {
			return o.ID, true
		}
	}
	labelled := slices.DeleteFunc(slices.Clone(t.Options), func(o engine.RequestOption) bool { return gate.Fold(o.Description) != gate.Fold(text) })
	if len(labelled) == 1 && strings.TrimSpace(text) != "" {
		return labelled[0].ID, true
	}
	return "", false
}

// askItems asks which items are picked, if none was named on the command line.
func askItems(ctx context.Context, w *console.Env, p *console.Prompter, t view.Request, r *answer.Reply) error {
	if len(t.Items) == 0 || len(r.Selected) > 0 {
		return nil
	}
	q := console.PromptLine{Text: w.Text("cli.prompt.items", "items", answer.List(answer.Items(t.OpenRequest))), Optional: true}
	return p.Ask(ctx, q, func(text string) (again string) {
		r.Selected = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		if err := answer.ChooseItems(t, r.Selected, &gate.Response{}); err != nil {
			return templates.In(w.Lang, err)
		}
		return ""
	})
}

// askComment asks for the comment that an option needs, and once for an optional one.
func askComment(ctx context.Context, w *console.Env, p *console.Prompter, t view.Request, r *answer.Reply) error {
	q := console.PromptLine{Text: w.Text("cli.prompt.comment")}
	switch needed := slices.Contains(t.CommentRequired, r.Option); {
	case r.Comment != "" || !needed && t.Default == "":
		return nil
	case !needed:
		q = console.PromptLine{Text: w.Text("cli.prompt.comment.optional"), Optional: true}
	}
	return p.Ask(ctx, q, func(text string) (again string) { r.Comment = text; return "" })
}

// promptText returns the prompt of FABER's guide.
func promptText(w *console.Env, t view.Request) string {
	return viewText(w, "prompt", t)
}

// place returns the place of a request in its run, in the words of the guide.
func place(w *console.Env, a engine.OpenRequest) string {
	of, _ := family.Named(a.Run.Family)
	switch phase, step, both := strings.Cut(console.OneLine(a.Where), ":"); {
	case !of.Phases:
		return w.Text("cli.prompt.at", "place", a.Where)
	case both:
		return w.Text("cli.prompt.phase", "phase", console.Title(phase)+" → "+step)
	default:
		return w.Text("cli.prompt.phase", "phase", phase)
	}
}

// typeName returns a request's type as a heading, in the words of the forms if they have any.
func typeName(w *console.Env, name string) string {
	key := "faber.type." + name
	if text := templates.Text(w.Lang, key); text != key {
		return text
	}
	return console.Title(name)
}
