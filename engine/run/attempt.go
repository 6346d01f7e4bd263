package run

import (
	"fmt"

	"placet/engine"
)

// An attempt to do something outside the run's documents, such as a command or a send, is
// recorded before it begins, in the state or in a document of its own. Begin and Resume are
// for attempts with a document; [Family.Actions] returns those that the state names.

// Begin plans an action with the document that records its attempt, so that the record is
// durable before the action starts.
func (w *Outputs) Begin(a engine.Action, record string, body []byte) {
	w.Put(record, body)
	w.Plan.Actions = append(w.Plan.Actions, a)
}

// Resume plans an action whose attempt an earlier commit recorded. If this process did not
// begin it, nobody can tell how it ended, and its outcome is "lost".
func (w *Outputs) Resume(a engine.Action) {
	a.Recorded = true
	w.Plan.Actions = append(w.Plan.Actions, a)
}

// ActionID returns the id of an action. The parts distinguish it from the run's other
// actions, so a run that begins again under the same name must pass other parts.
func ActionID[S, V any](r *Run[S, V], parts ...any) string {
	var words []byte
	for i, p := range parts {
		if i > 0 {
			words = append(words, '\n')
		}
		words = fmt.Append(words, p)
	}
	return r.Actions() + engine.Sum(words).Hex()[:16]
}

// CommandEnd holds the members that every outcome document has about the end of a command.
type CommandEnd struct {
	Outcome  string `json:"outcome"` // [engine.CommandFinished] or another of its words
	ExitCode *int   `json:"exit_code"`
	Reason   string `json:"reason"`
}

// IsLost reports whether nobody knows the result of the command: placet stopped it, or cannot
// tell how it ended.
func (e CommandEnd) IsLost() bool {
	return e.Outcome == engine.CommandLost || e.Outcome == engine.CommandStopped
}

// CommandOutput is the kept part of one output of a command.
type CommandOutput struct {
	Head      string `json:"head"`
	Tail      string `json:"tail"`
	Truncated bool   `json:"truncated"`
}

// Text returns the kept output, with a line that marks where something is missing.
func (o CommandOutput) Text() string {
	if o.Truncated {
		return o.Head + "\n…\n" + o.Tail
	}
	return o.Head + o.Tail
}
