package run

import (
	"fmt"

	"placet/engine"
)

// An attempt to do something outside the run's documents, such as a command or a send, is
// recorded before it begins, in the state or in a document of its own. Begin and Resume are
// for those with a document; [Family.Actions] names those of the state.

// Begin plans an action with the document that records its attempt, so that the record is
// durable before anything of the action happens.
func (w *Outputs) Begin(a engine.Action, record string, body []byte) {
	w.Put(record, body)
	w.Plan.Actions = append(w.Plan.Actions, a)
}

// Resume plans an action whose attempt an earlier commit recorded. Where this process did not
// begin it nobody can tell how it ended, and its outcome is "lost".
func (w *Outputs) Resume(a engine.Action) {
	a.Recorded = true
	w.Plan.Actions = append(w.Plan.Actions, a)
}

// ActionID names an action of a run by what tells it from the run's others: a run that begins
// anew under its name has other ones.
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

// CommandEnd is what every outcome document says of the end of a command.
type CommandEnd struct {
	Outcome  string `json:"outcome"` // [engine.CommandFinished] or another of its words
	ExitCode *int   `json:"exit_code"`
	Reason   string `json:"reason"`
}

// IsLost reports whether nobody knows what the command came to: placet stopped it, or cannot
// tell how it ended.
func (e CommandEnd) IsLost() bool {
	return e.Outcome == engine.CommandLost || e.Outcome == engine.CommandStopped
}

// CommandOutput is what is kept of one output of a command.
type CommandOutput struct {
	Head      string `json:"head"`
	Tail      string `json:"tail"`
	Truncated bool   `json:"truncated"`
}

// Text is what is kept, with a line that says where something is missing.
func (o CommandOutput) Text() string {
	if o.Truncated {
		return o.Head + "\n…\n" + o.Tail
	}
	return o.Head + o.Tail
}
