package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"placet/engine/gate"
)

// tries is how often a choice that names nothing is asked for again.
const tries = 3

// prompt shows a request the way FABER's own prompt does and reads the answer:
// a number, an option or, where it is asked for in words, a line of text. It
// writes to stderr: the answer of the command is what became of it.
func (w *world) prompt(ctx context.Context, t target, r *reply) error {
	in := newInput(w.in)
	fmt.Fprint(w.err, promptText(t))
	for range tries {
		text, err := ask(ctx, in, w.err, "Your choice: ")
		if err != nil {
			return err
		}
		option, ok := choice(t, text)
		if !ok {
			fmt.Fprintf(w.err, "%q is none of the options: %s\n", line(text), offers(t))
			continue
		}
		r.option = option
		if err := askItems(ctx, t, r, in, w.err); err != nil {
			return err
		}
		return askComment(ctx, t, r, in, w.err)
	}
	return refused("cannot answer %s: no option was chosen; nothing was written", t.label())
}

// choice resolves what was typed: an option's number or its word.
func choice(t target, text string) (string, bool) {
	if t.FreeText {
		return text, text != ""
	}
	if text == "" && t.Default != "" {
		return "", true
	}
	if id, ok := gate.Match(options(t.Asked), text); ok {
		return id, true
	}
	n, err := strconv.Atoi(strings.Trim(text, "[]."))
	if err != nil || n < 1 || n > len(t.Options) {
		return "", false
	}
	return t.Options[n-1].ID, true
}

// askItems asks which items are picked, where none was named on the command
// line.
func askItems(ctx context.Context, t target, r *reply, in *input, out io.Writer) error {
	if len(t.Items) == 0 || len(r.selected) > 0 {
		return nil
	}
	for range tries {
		text, err := ask(ctx, in, out, "Which of "+list(items(t.Asked))+" (empty for none): ")
		if err != nil {
			return err
		}
		selected := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		if err := chooseItems(t, selected, &gate.Response{}); err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		r.selected = selected
		return nil
	}
	return refused("cannot answer %s: nothing that it has was selected; nothing was written", t.label())
}

// askComment asks for the comment that an option needs, and once for one that
// may be left out.
func askComment(ctx context.Context, t target, r *reply, in *input, out io.Writer) error {
	if t.Default != "" && r.comment == "" && !slices.Contains(t.CommentRequired, r.option) {
		text, err := ask(ctx, in, out, "Your comment (empty for none): ")
		r.comment = text
		return err
	}
	for range tries {
		if r.comment != "" || !slices.Contains(t.CommentRequired, r.option) {
			return nil
		}
		text, err := ask(ctx, in, out, "Your comment: ")
		if err != nil {
			return err
		}
		r.comment = text
	}
	return nil
}

// input is what a person types. It is read beside the verb, so that a signal
// ends it.
type input struct{ in *bufio.Reader }

func newInput(in io.Reader) *input { return &input{bufio.NewReader(in)} }

// ask reads one line.
func ask(ctx context.Context, in *input, out io.Writer, question string) (string, error) {
	fmt.Fprint(out, question)
	var text string
	var err error
	read := make(chan struct{})
	go func() {
		defer close(read)
		text, err = in.in.ReadString('\n')
	}()
	select {
	case <-read:
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", unanswered("nothing was written")
	}
	text = strings.TrimSpace(text)
	if errors.Is(err, io.EOF) && text == "" {
		fmt.Fprintln(out)
		return "", unanswered("nothing was written")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", refused("cannot read the answer: %v", err)
	}
	return text, nil
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
	if t.Default != "" {
		fmt.Fprintf(&b, "  (empty: %s, where you select or comment)\n", line(t.Default))
	}
	if len(t.Items) > 0 {
		b.WriteString("\nTo select from:\n")
	}
	for _, it := range t.Items {
		fmt.Fprintf(&b, "  %s - %s\n", line(it.ID), line(it.Label))
	}
	return b.String() + "\n"
}
