package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
)

// askReply shows a request the way FABER's own prompt does and reads the answer:
// a number, an option or, where it is asked for in words, a line of text. It
// writes to stderr: the answer of the command is what became of it.
func askReply(ctx context.Context, w *console.Env, t workspace.Request, r *workspace.Reply) error {
	p := w.NewPrompter()
	defer p.Close()
	fmt.Fprint(w.Err, promptText(t))
	err := p.Ask(ctx, console.PromptLine{Text: "Your choice: "}, func(text string) (again string) {
		var ok bool
		if r.Option, ok = choice(t, text); !ok {
			return fmt.Sprintf("%q is none of the options: %s", console.Cut(console.OneLine(text), workspace.ShownAnswer), workspace.Offers(t))
		}
		return ""
	})
	if err != nil {
		return err
	}
	if err := askItems(ctx, p, t, r); err != nil {
		return err
	}
	return askComment(ctx, p, t, r)
}

// choice resolves what was typed: an option's number or its word.
func choice(t workspace.Request, text string) (string, bool) {
	if t.FreeText {
		return text, true
	}
	if id, ok := gate.Match(workspace.Options(t.OpenRequest), text); ok {
		return id, true
	}
	for i, o := range t.Options {
		if strings.Trim(text, "[].") == strconv.Itoa(i+1) {
			return o.ID, true
		}
	}
	return "", false
}

// askItems asks which items are picked, where none was named on the command
// line.
func askItems(ctx context.Context, p *console.Prompter, t workspace.Request, r *workspace.Reply) error {
	if len(t.Items) == 0 || len(r.Selected) > 0 {
		return nil
	}
	q := console.PromptLine{Text: "Which of " + workspace.List(workspace.Items(t.OpenRequest)) + " (empty for none): ", Optional: true}
	return p.Ask(ctx, q, func(text string) (again string) {
		r.Selected = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		if err := workspace.ChooseItems(t, r.Selected, &gate.Response{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

// askComment asks for the comment that an option needs, and once for one that
// may be left out.
func askComment(ctx context.Context, p *console.Prompter, t workspace.Request, r *workspace.Reply) error {
	q := console.PromptLine{Text: "Your comment: "}
	switch needed := slices.Contains(t.CommentRequired, r.Option); {
	case r.Comment != "" || !needed && t.Default == "":
		return nil
	case !needed:
		q = console.PromptLine{Text: "Your comment (empty for none): ", Optional: true}
	}
	return p.Ask(ctx, q, func(text string) (again string) { r.Comment = text; return "" })
}

// promptText is the prompt of FABER's guide.
func promptText(t workspace.Request) string {
	var b strings.Builder
	show(&console.Env{Out: &b, Err: &b}, "prompt", t)
	return b.String()
}

// place is where a request stands in its run, as the guide says it.
func place(a engine.OpenRequest) string {
	of, _ := family.Named(a.Run.Family)
	switch phase, step, both := strings.Cut(console.OneLine(a.Where), ":"); {
	case !of.Phases:
		return "At: " + console.OneLine(a.Where)
	case both:
		return "Phase: " + console.Title(phase) + " → " + step
	default:
		return "Phase: " + phase
	}
}
