package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

const (
	// tries is how often a question is asked.
	tries = 3
	// pasteGap is how long nothing may follow a line that a person typed. The lines of a
	// paste arrive together, and a signal that was sent before a line arrives by then.
	pasteGap = 100 * time.Millisecond
)

// Prompter asks a person at a terminal. The terminal stays in the mode in which it
// was found, so that there is nothing to restore. What was typed before the first
// question or stays unread after the last is dropped: it is neither an answer nor
// for the shell.
type Prompter struct {
	in     io.Reader
	out    io.Writer
	lines  chan string // closed where the input ends
	closed chan struct{}
}

// NewPrompter reads lines until the input ends. The reads are beside the verb, so
// that a signal ends the wait for one.
func (w *Env) NewPrompter() *Prompter {
	dropTyped(w.In)
	p := &Prompter{in: w.In, out: w.Err, lines: make(chan string), closed: make(chan struct{})}
	go func() {
		defer close(p.lines)
		for in := bufio.NewReader(p.in); ; {
			text, err := in.ReadString('\n')
			if err != nil {
				return // a line without its end was not sent
			}
			select {
			case p.lines <- text:
			case <-p.closed:
				return
			}
		}
	}()
	return p
}

func (p *Prompter) Close() {
	close(p.closed)
	dropTyped(p.in)
}

// PromptLine is what a person is asked for. Nothing is an answer to an optional one
// alone.
type PromptLine struct {
	Text     string
	Optional bool
}

// Ask asks until accept takes what was typed, which else says what is wrong with it.
func (p *Prompter) Ask(ctx context.Context, q PromptLine, accept func(text string) (again string)) error {
	for range tries {
		text, err := p.readLine(ctx, q.Text)
		if err != nil {
			return err
		}
		again := unclear(text)
		if again == "" {
			if text = strings.TrimSpace(text); text == "" && !q.Optional {
				return unanswered("nothing was written")
			}
			again = accept(text)
		}
		if again == "" {
			return nil
		}
		fmt.Fprintln(p.out, again)
	}
	return Refused("cannot take what was typed for an answer; nothing was written")
}

// readLine reads one line that is no paste.
func (p *Prompter) readLine(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.out, question)
	var text string
	ended, pasted := false, false
	select {
	case next, ok := <-p.lines:
		text, ended = next, !ok
	case <-ctx.Done():
	}
	if !ended {
		select {
		case _, pasted = <-p.lines:
		case <-ctx.Done():
		case <-time.After(pasteGap):
		}
	}
	switch {
	case ended || ctx.Err() != nil:
		fmt.Fprintln(p.out)
		return "", unanswered("nothing was written")
	case pasted:
		return "", unanswered("several lines arrived at once, and nothing was written").Try("type the answer in one line, or give it with the command")
	}
	return text, nil
}

// unclear says why a line may not be what a person meant to type, "" where it is
// clear.
func unclear(text string) string {
	switch text = strings.TrimRight(text, "\r\n"); {
	case len(text) >= longestLine:
		return fmt.Sprintf("The line may be cut: a terminal hands over %d bytes at most. Give long text with -m, or in the form.", longestLine)
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }):
		return "The line holds control characters, such as those of an arrow key. Type it again."
	}
	return ""
}

// AtTerminal reports whether a person sees a question and can type the answer.
func (w *Env) AtTerminal() bool { return IsTerminal(w.In) && IsTerminal(w.Err) }

// Agreed asks a question to which "y" and "yes" alone agree.
func (p *Prompter) Agreed(ctx context.Context, text string) error {
	agreed := false
	if err := p.Ask(ctx, PromptLine{Text: text}, func(text string) (again string) {
		agreed = strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")
		return ""
	}); err != nil {
		return err
	}
	if !agreed {
		return unanswered("nothing was written")
	}
	return nil
}

// unanswered is the end of a prompt at which nobody answered.
func unanswered(text string) *Problem {
	return newProblem(ExitInterrupted, "no answer was given; %s", []any{text})
}
