package console

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"placet/templates"
)

const (
	// tries is how often a question is asked.
	tries = 3
	// pasteGap is how long nothing may follow a line that a person typed. The lines of a
	// paste arrive together, and a signal that was sent before a line arrives by then: the
	// time passes in turns, of which each takes longer on a machine that has no time for
	// this process.
	pasteGap, pasteTurns = 100 * time.Millisecond, 10
)

// Prompter asks a person at a terminal. The terminal stays in the mode in which it
// was found, so that there is nothing to restore. What was typed before the first
// question or stays unread after the last is dropped: it is neither an answer nor
// for the shell.
type Prompter struct {
	env    *Env
	lines  chan string // closed where the input ends
	closed chan struct{}
}

// NewPrompter reads lines until the input ends. The reads are beside the verb, so
// that a signal ends the wait for one.
func (w *Env) NewPrompter() *Prompter {
	dropTyped(w.In)
	p := &Prompter{env: w, lines: make(chan string), closed: make(chan struct{})}
	go func() {
		defer close(p.lines)
		for in := bufio.NewReader(w.In); ; {
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
	dropTyped(p.env.In)
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

// readLine reads one line that is no paste.
func (p *Prompter) readLine(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.env.Err, question)
	var text string
	ended, pasted := false, false
	select {
	case next, ok := <-p.lines:
		text, ended = next, !ok
	case <-ctx.Done():
	}
	for turn := 0; turn < pasteTurns && !ended && !pasted && ctx.Err() == nil; turn++ {
		select {
		case _, pasted = <-p.lines:
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

// unclear says why a line may not be what a person meant to type, "" where it is
// clear.
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
		return unanswered("console.prompt.unanswered")
	}
	return nil
}

// unanswered is the end of a prompt at which nobody answered.
func unanswered(key templates.Key) *Problem {
	return newProblem(ExitInterrupted, key, nil)
}
