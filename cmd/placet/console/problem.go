package console

import (
	"errors"
	"fmt"

	"placet/templates"
)

// Exit codes, the same for every verb.
const (
	ExitFine    = 0 // nothing to report
	ExitProblem = 1 // a note stands, a run does not settle, an answer was refused
	ExitUsage   = 2 // usage or configuration
	ExitOpen    = 3 // once, status, inbox: no problem, but a request is open
	ExitChanged = 7 // what was asked about is not what is there now
	// A prompt was interrupted, or nobody answered it: what a shell gives for SIGINT.
	ExitInterrupted = 130
)

// Problem is an error as a person reads it: what cannot be done, and what to
// do next. Every hint must be a thing that the reader can do now.
type Problem struct {
	Code int
	// text says what is wrong, hint what to do next, without a key where nothing is known.
	text, hint templates.Message
	// Fits are the candidates, where several things fit one name.
	Fits []string
	// Kind is a word for programs, "" for none: one of the Kinds.
	Kind string
	// cause is the error behind the problem, nil for none.
	cause error
}

// Kinds of problems that programs tell apart.
const (
	KindInPlace     = "answer_in_place" // another answer stands there
	KindChanged     = "changed"         // what is asked about is not what is there now
	KindNotApprover = "not_an_approver" // the gate does not let this person answer
	KindBusy        = "being_written"   // somebody else is writing there
	KindInTheWay    = "in_the_way"      // what stands there is no file that can be replaced
	KindUnwritable  = "unwritable"      // the machine cannot write there
)

// Error is the problem in English, as logs show it.
func (p *Problem) Error() string { return p.text.String() }

// In is the problem in a language.
func (p *Problem) In(lang string) string { return p.text.In(lang) }

// Hint is what to do next, in a language; "" where nothing is known.
func (p *Problem) Hint(lang string) string { return p.hint.In(lang) }

func (p *Problem) Unwrap() error { return p.cause }

// Usage is a problem with the command line or the configuration.
func Usage(key templates.Key, pairs ...any) *Problem {
	return newProblem(ExitUsage, key, pairs)
}

// Refused is a problem with what was asked for.
func Refused(key templates.Key, pairs ...any) *Problem {
	return newProblem(ExitProblem, key, pairs)
}

// Changed is a problem with what is not as it was when it was asked about.
func Changed(key templates.Key, pairs ...any) *Problem {
	return newProblem(ExitChanged, key, pairs)
}

// ProblemOf is a problem with what was asked for that an error describes: the error
// itself, where it is one.
func ProblemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return newProblem(ExitProblem, "say.text", []any{"text", err})
}

// newProblem words a problem. Its cause is the last error among the values: whoever
// may wait must see that the machine is behind it.
func newProblem(code int, key templates.Key, pairs []any) *Problem {
	p := &Problem{Code: code, text: templates.NewMessage(key, pairs...)}
	for _, arg := range pairs {
		if err, ok := arg.(error); ok {
			p.cause = err
		}
	}
	return p
}

// Kinded names the problem for programs.
func (p *Problem) Kinded(kind string) *Problem {
	p.Kind = kind
	return p
}

// Try adds the next thing to do.
func (p *Problem) Try(key templates.Key, pairs ...any) *Problem {
	p.hint = templates.NewMessage(key, pairs...)
	return p
}

// exit is an exit code without a message: the verb has said all there is.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit ends the process with a code, and without a message.
func Exit(code int) error { return exit(code) }

// Outcome is the exit of a verb that looks at runs. A problem outranks an
// open request.
func Outcome(problem, open bool) error {
	switch {
	case problem:
		return exit(ExitProblem)
	case open:
		return exit(ExitOpen)
	}
	return nil
}

// Report says on stderr what went wrong and returns the exit code. An error
// from before a verb began is a matter of usage.
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
