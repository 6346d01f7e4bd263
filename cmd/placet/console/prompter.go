package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"placet/templates"
)

const (
	// tries is how often a question is asked.
	tries = 3
	// pasteGap is how long nothing may follow a line that a person typed. The lines of a
	// paste arrive together, and a signal sent before a line arrives within it. The wait
	// is split into pasteTurns pauses, each of which takes longer on a machine that has no
	// time for this process.
	pasteGap, pasteTurns = 100 * time.Millisecond, 10
)

// Prompter asks a person at a terminal. It leaves the terminal in the mode in which it
// found it, so that nothing has to be restored. It drops what was typed before the first
// question or is unread after the last: that is neither an answer nor for the shell.
type Prompter struct{ env *Env }

// NewPrompter returns a prompter for the next questions. All prompters of a process share one
// reader, because a reader that waits for a line takes it from any other.
func (w *Env) NewPrompter() *Prompter {
	dropTyped(w.In)
	if w.typed == nil {
		w.typed = readLines(w.In)
		return &Prompter{w}
	}
	select {
	case <-w.typed: // since the last question
	default:
	}
	return &Prompter{w}
}

// readLines reads lines until the input ends, which closes the channel. A goroutine reads, so
// that a signal ends the wait for a line.
func readLines(from io.Reader) chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewReader(from); ; {
			text, err := in.ReadString('\n')
			if err != nil {
				return // a line without its end was not sent
			}
			lines <- text
		}
	}()
	return lines
}

func (p *Prompter) Close() { dropTyped(p.env.In) }

// PromptLine is what a person is asked for. Only an optional one accepts an empty line.
type PromptLine struct {
	Text     string
	Optional bool
}

// Ask asks until accept returns "". Otherwise accept returns what is wrong with the
// typed text.
func (p *Prompter) Ask(ctx context.Context, q PromptLine, accept func(text string) (again string)) error {
	for range tries {
		text, err := p.readLine(ctx, q.Text)
		if err != nil {
			return err
		}
		again := p.unclear(text)
		if again == "" {
			if text = strings.TrimSpace(text); text == "" && !q.Optional {
				return unanswered("console.prompt.unanswered")
			}
			again = accept(text)
		}
		if again == "" {
			return nil
		}
		fmt.Fprintln(p.env.Err, again)
	}
	return Refused("console.prompt.refused")
}

// readLine reads one line that is not part of a paste.
func (p *Prompter) readLine(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.env.Err, question)
	var text string
	ended, pasted := false, false
	select {
	case next, ok := <-p.env.typed:
		text, ended = next, !ok
	case <-ctx.Done():
	}
	for turn := 0; turn < pasteTurns && !ended && !pasted && ctx.Err() == nil; turn++ {
		select {
		case _, pasted = <-p.env.typed:
		case <-ctx.Done():
		case <-time.After(pasteGap / pasteTurns):
		}
	}
	switch {
	case ended || ctx.Err() != nil:
		fmt.Fprintln(p.env.Err)
		return "", unanswered("console.prompt.unanswered")
	case pasted:
		return "", unanswered("console.prompt.pasted").Try("console.prompt.pasted.try")
	}
	return text, nil
}

// Typed returns the next line that a person types, without a question; "" if the context ends
// first. The error is io.EOF if the input ends.
func (p *Prompter) Typed(ctx context.Context) (string, error) {
	select {
	case text, ok := <-p.env.typed:
		if !ok {
			return "", io.EOF
		}
		return text, nil
	case <-ctx.Done():
		return "", nil
	}
}

// unclear says why a line may not be what a person meant to type, "" if it is clear.
func (p *Prompter) unclear(text string) string {
	switch text = strings.TrimRight(text, "\r\n"); {
	case len(text) >= longestLine:
		return p.env.Text("console.prompt.cut", "bytes", longestLine)
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }):
		return p.env.Text("console.prompt.control")
	}
	return ""
}

// AtTerminal reports whether a person sees a question and can type the answer.
func (w *Env) AtTerminal() bool { return IsTerminal(w.In) && IsTerminal(w.Err) }

// Agreed asks a question to which only "y" and "yes" agree.
func (p *Prompter) Agreed(ctx context.Context, text string) error {
	agreed := false
	if err := p.Ask(ctx, PromptLine{Text: text}, func(text string) (again string) {
		agreed = strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")
		return ""
	}); err != nil {
		return err
	}
	if !agreed {
		return Declined
	}
	return nil
}

// Declined is the error of a question to which a person did not agree.
var Declined error = unanswered("console.prompt.unanswered")

// unanswered returns the problem of a prompt that nobody answered.
func unanswered(key templates.Key) *Problem {
	return newProblem(ExitInterrupted, key, nil)
}
