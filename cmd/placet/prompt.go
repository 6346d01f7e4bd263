package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/engine/gate"
)

// prompt shows a request the way FABER's own prompt does and reads the answer:
// a number, an option or, where it is asked for in words, a line of text. It
// writes to stderr: the answer of the command is what became of it.
func (w *world) prompt(ctx context.Context, t target, r *reply) error {
	p := w.newPrompter()
	defer p.close()
	fmt.Fprint(w.err, promptText(t))
	err := p.ask(ctx, promptLine{text: "Your choice: "}, func(text string) (again string) {
		var ok bool
		if r.option, ok = choice(t, text); !ok {
			return fmt.Sprintf("%q is none of the options: %s", cut(line(text), shownAnswer), offers(t))
		}
		return ""
	})
	if err != nil {
		return err
	}
	if err := p.askItems(ctx, t, r); err != nil {
		return err
	}
	return p.askComment(ctx, t, r)
}

// choice resolves what was typed: an option's number or its word.
func choice(t target, text string) (string, bool) {
	if t.FreeText {
		return text, true
	}
	if id, ok := gate.Match(options(t.Asked), text); ok {
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
func (p *prompter) askItems(ctx context.Context, t target, r *reply) error {
	if len(t.Items) == 0 || len(r.selected) > 0 {
		return nil
	}
	q := promptLine{"Which of " + list(items(t.Asked)) + " (empty for none): ", true}
	return p.ask(ctx, q, func(text string) (again string) {
		r.selected = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		if err := chooseItems(t, r.selected, &gate.Response{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

// askComment asks for the comment that an option needs, and once for one that
// may be left out.
func (p *prompter) askComment(ctx context.Context, t target, r *reply) error {
	q := promptLine{text: "Your comment: "}
	switch needed := slices.Contains(t.CommentRequired, r.option); {
	case r.comment != "" || !needed && t.Default == "":
		return nil
	case !needed:
		q = promptLine{"Your comment (empty for none): ", true}
	}
	return p.ask(ctx, q, func(text string) (again string) { r.comment = text; return "" })
}

// promptText is the prompt of FABER's guide, word for word where it has words.
func promptText(t target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", brief(t.Run), reference(t.Asked))
	fmt.Fprintf(&b, "🎯 %s: Feedback Required\n", strings.ToUpper(line(t.Run.Family)))
	b.WriteString(strings.Repeat("─", 39) + "\n\n")
	switch phase, step, both := strings.Cut(line(t.Where), ":"); {
	case t.Run.Family != "faber":
		fmt.Fprintf(&b, "At: %s\n", line(t.Where))
	case both:
		fmt.Fprintf(&b, "Phase: %s → %s\n", title(phase), step)
	default:
		fmt.Fprintf(&b, "Phase: %s\n", phase)
	}
	fmt.Fprintf(&b, "Type: %s\n\n%s\n\n", title(t.Type), paragraph(t.Prompt))
	if t.Summary != "" {
		fmt.Fprintf(&b, "**Summary**: %s\n", paragraph(t.Summary))
	}
	for _, a := range t.Artifacts {
		fmt.Fprintf(&b, "**Artifact**: %s\n", line(a))
	}
	if t.Summary != "" || len(t.Artifacts) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(promptOptions(t))
	return b.String()
}

func promptOptions(t target) string {
	if t.FreeText {
		return ""
	}
	var b strings.Builder
	b.WriteString("Options:\n")
	for i, o := range t.Options {
		fmt.Fprintf(&b, "  %d. %s", i+1, line(o.ID))
		b.WriteString(suffix(" - ", line(o.Says())))
		b.WriteString("\n")
	}
	if len(t.Items) > 0 {
		b.WriteString("\nTo select from:\n")
	}
	for _, it := range t.Items {
		fmt.Fprintf(&b, "  %s - %s\n", line(it.ID), line(it.Label))
	}
	return b.String() + "\n"
}
