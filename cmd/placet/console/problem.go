package console

import (
	"errors"
	"fmt"

	"placet/templates"
)

// These exit codes are the same for every verb.
const (
	ExitFine    = 0 // nothing to report
	ExitProblem = 1 // a note is open, a run does not settle, an answer was refused
	ExitUsage   = 2 // usage or configuration
	ExitOpen    = 3 // once, status, inbox: no problem, but a request is open
	ExitChanged = 7 // the thing that was asked about has changed
	// A prompt was interrupted, or nobody answered it: the code is the shell's for
	// SIGINT.
	ExitInterrupted = 130
)

// Problem is an error in words for people: what cannot be done, and what to do next.
// Every hint must be a step that the reader can do now.
type Problem struct {
	Code int
	// text says what is wrong, and hint what to do next; hint has no key if nothing is
	// known.
	text, hint templates.Message
	// Fits are the candidates if several things fit one name.
	Fits []string
	// Kind is a word for programs, one of the Kinds, or "" for none.
	Kind string
	// cause is the error behind the problem, nil for none.
	cause error
}

// These are the kinds of problems that programs distinguish.
const (
	KindInPlace     = "answer_in_place" // another answer exists already
	KindChanged     = "changed"         // the thing that was asked about has changed
	KindNotApprover = "not_an_approver" // the gate does not let this person answer
	KindBusy        = "being_written"   // somebody else is writing the file
	KindInTheWay    = "in_the_way"      // the path holds something that is no replaceable file
	KindUnwritable  = "unwritable"      // the machine cannot write the file
	KindUnusable    = "unusable"        // the answer could not count
)

// Error returns the problem in English, as logs show it.
func (p *Problem) Error() string { return p.text.String() }

// In returns the problem in a language.
func (p *Problem) In(lang string) string { return p.text.In(lang) }

// Hint returns what to do next, in a language; "" if nothing is known.
func (p *Problem) Hint(lang string) string { return p.hint.In(lang) }

func (p *Problem) Unwrap() error { return p.cause }

// Usage returns a problem with the command line or the configuration.
func Usage(key templates.Key, pairs ...any) *Problem {
	return newProblem(ExitUsage, key, pairs)
}

// Refused returns a problem with what was asked for.
func Refused(key templates.Key, pairs ...any) *Problem {
	return newProblem(ExitProblem, key, pairs)
}

// Changed returns a problem with a thing that has changed since it was asked about.
func Changed(key templates.Key, pairs ...any) *Problem {
	return newProblem(ExitChanged, key, pairs)
}

// ProblemOf returns err itself if it is a Problem, otherwise a problem with the text
// of err.
func ProblemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return newProblem(ExitProblem, "say.text", []any{"text", err})
}

// newProblem returns a problem. Its cause is the last error among the values, so that
// a caller who may wait can see that the machine caused it.
func newProblem(code int, key templates.Key, pairs []any) *Problem {
	p := &Problem{Code: code, text: templates.NewMessage(key, oneLined(key, pairs)...)}
	for _, arg := range pairs {
		if err, ok := arg.(error); ok {
			p.cause = err
		}
	}
	return p
}

// Kinded sets the kind of the problem for programs.
func (p *Problem) Kinded(kind string) *Problem {
	p.Kind = kind
	return p
}

// Try adds the next thing to do.
func (p *Problem) Try(key templates.Key, pairs ...any) *Problem {
	p.hint = templates.NewMessage(key, oneLined(key, pairs)...)
	return p
}

// exit is an exit code without a message, for a verb that has printed everything.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit returns an error that ends the process with a code, without a message.
func Exit(code int) error { return exit(code) }

// Outcome returns the exit of a verb that reads runs. A problem outranks an open
// request.
func Outcome(problem, open bool) error {
	switch {
	case problem:
		return exit(ExitProblem)
	case open:
		return exit(ExitOpen)
	}
	return nil
}

// Report prints what went wrong on stderr and returns the exit code. An error from
// before a verb began is an error of usage.
func (w *Env) Report(err error, begun bool) int {
	if err == nil {
		return ExitFine
	}
	var code exit
	if errors.As(err, &code) {
		return int(code)
	}
	p := ProblemOf(err)
	if !errors.As(err, new(*Problem)) && !begun {
		p.Code = ExitUsage
		p.Try("say.text", "text", "placet help")
	}
	fmt.Fprintf(w.Err, "placet: %s\n", Lines(p.In(w.Lang)))
	for _, fit := range p.Fits {
		fmt.Fprintf(w.Err, "  %s\n", OneLine(fit))
	}
	if hint := p.Hint(w.Lang); hint != "" {
		fmt.Fprintf(w.Err, "  → %s\n", OneLine(hint))
	}
	return p.Code
}
