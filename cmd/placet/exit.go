package main

import (
	"errors"
	"fmt"
)

// Exit codes, the same for every verb.
const (
	exitFine    = 0 // nothing to report
	exitProblem = 1 // a note stands, a run does not settle, an answer was refused
	exitUsage   = 2 // usage or configuration
	exitOpen    = 3 // once, status, inbox: no problem, but a request is open
	// A prompt was interrupted, or nobody answered it: what a shell gives for SIGINT.
	exitInterrupted = 130
)

// problem is an error as a person reads it: what cannot be done, and what to
// do next. Every hint must be a thing that the reader can do now.
type problem struct {
	code int
	text string
	hint string
	// fits are the candidates, where several things fit one name.
	fits []string
	// cause is the error behind the problem, nil for none.
	cause error
}

func (p *problem) Error() string { return p.text }

func (p *problem) Unwrap() error { return p.cause }

// usage is a problem with the command line or the configuration.
func usage(format string, args ...any) *problem {
	return newProblem(exitUsage, format, args)
}

// refused is a problem with what was asked for.
func refused(format string, args ...any) *problem {
	return newProblem(exitProblem, format, args)
}

// newProblem words a problem. Its cause is the last error among the arguments: whoever
// may wait must see that the machine is behind it.
func newProblem(code int, format string, args []any) *problem {
	p := &problem{code: code, text: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			p.cause = err
		}
	}
	return p
}

// try adds the next thing to do.
func (p *problem) try(format string, args ...any) *problem {
	p.hint = fmt.Sprintf(format, args...)
	return p
}

// exit is an exit code without a message: the verb has said all there is.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// outcome is the exit of a verb that looks at runs. A problem outranks an
// open request.
func outcome(problem, open bool) error {
	switch {
	case problem:
		return exit(exitProblem)
	case open:
		return exit(exitOpen)
	}
	return nil
}

// report says on stderr what went wrong and returns the exit code. An error
// from before a verb began is a matter of usage.
func (w *world) report(err error, begun bool) int {
	if err == nil {
		return exitFine
	}
	var code exit
	if errors.As(err, &code) {
		return int(code)
	}
	p := &problem{code: exitProblem, text: err.Error()}
	if !errors.As(err, &p) && !begun {
		p.code, p.hint = exitUsage, "placet help"
	}
	fmt.Fprintf(w.err, "placet: %s\n", paragraph(p.text))
	for _, fit := range p.fits {
		fmt.Fprintf(w.err, "  %s\n", line(fit))
	}
	if p.hint != "" {
		fmt.Fprintf(w.err, "  → %s\n", line(p.hint))
	}
	return p.code
}
