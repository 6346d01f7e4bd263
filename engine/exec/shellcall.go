package exec

import (
	"path"
	"slices"
	"strings"
)

// readCall reads a simple command: it finds the words that may be files that are run, and
// those that are the texts of shells. The words after the program, or after the script of
// an interpreter, are data.
func (r *shellReader) readCall(call []shellWord, report, runs bool, depth int) {
	s := callState{r: r, report: report, head: true}
	for i, w := range call {
		if s.text {
			r.readRuns(w, report, depth)
		} else if s.head || runs {
			r.mayRun(w, report, depth)
		}
		if s.text {
			s.text, s.head = false, false
			if slices.ContainsFunc(w.values, func(v string) bool { return !strings.HasPrefix(v, "-") && !valueOption.MatchString(v) }) {
				r.readText(w, report, depth+1)
				continue
			}
			s.text, s.head = true, true
		}
		for _, value := range w.values {
			for _, field := range strings.Fields(value) {
				s.next(field)
			}
		}
		if s.eval {
			r.readEval(call[i+1:], report, depth)
			return
		}
		if s.assigns && i+1 < len(call) {
			for _, name := range call[i+1:] {
				for _, value := range name.values {
					r.assign(value, anyText)
				}
			}
			s.assigns = false
		}
	}
}

// readEval reads the arguments of eval as one text.
func (r *shellReader) readEval(args []shellWord, report bool, depth int) {
	texts := []string{""}
	for _, w := range args {
		r.mayRun(w, report, depth)
		texts = r.cross(r.cross(texts, []string{" "}), w.values)
	}
	r.readText(shellWord{values: texts}, report, depth+1)
}

// callState is how far a simple command has been read.
type callState struct {
	r *shellReader
	// head says that the next word may be a program or a script, skip that it is the value
	// of an option, and text that it is the text of a shell.
	report, head, skip, text bool
	// shell, script and runner say what the program is: a shell, a program that runs a
	// script, or one that runs another program.
	shell, script, runner bool
	// eval says that the following words are a text, assigns that they are variables, and
	// moves that the next one is a folder.
	eval, assigns, moves bool
}

// next reads a value of the next word.
func (s *callState) next(value string) {
	name := path.Base(value)
	switch {
	case s.r.other && loading.MatchString(value): // set -x PATH bin $PATH
		s.r.assign(value, anyText)
	case handing.MatchString(name):
		s.r.assign("@", anyText)
	case s.moves:
		s.r.away = s.r.away || strings.ContainsAny(value, wildcard)
	case assigning.MatchString(name) && s.head:
		s.assigns = true
	case moving.MatchString(name) && s.head:
		s.moves = true
	}
	switch {
	case s.skip:
		s.skip = false
	case strings.ContainsAny(value, wildcard) || assignedWord.MatchString(value) || number.MatchString(value):
	case s.head && s.shell && valueOption.MatchString(value):
		s.skip = true
		s.text = s.text || strings.Contains(value, "c")
	case s.shell && textOption.MatchString(value):
		s.text = true
	case s.head && strings.HasPrefix(value, "-"):
		s.skip = s.runner
	case name == "eval":
		s.eval = true
	case name == "trap" && s.head:
		s.text = true
	case shells.MatchString(name):
		s.r.other = s.r.other || name == "zsh" || name == "fish"
		s.head, s.shell, s.script, s.runner = true, true, true, false
	case interpreters.MatchString(name):
		s.r.sourced = s.r.sourced || name == "source" || name == "."
		s.head, s.shell, s.script, s.runner = true, false, true, false
	case runners.MatchString(name):
		s.head, s.shell, s.script, s.runner = true, false, false, true
	default:
		if s.head && s.report && s.r.away && !path.IsAbs(value) && (s.script || strings.Contains(value, "/")) {
			s.r.cannotTell(anyText+"/"+value, shellWord{values: []string{value}})
		}
		s.head = false
	}
}
