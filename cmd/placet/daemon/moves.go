package daemon

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/layout"
)

// MoveLog prints transitions after they are committed. Several runs move at the same time, so
// it writes each line whole.
type MoveLog struct {
	mu   sync.Mutex
	w    *console.Env
	json *slog.Logger // nil for lines for people
	made []TransitionLine
}

// NewMoveLog returns a log that prints lines for people or, with --json, collects them.
func NewMoveLog(w *console.Env) *MoveLog { return &MoveLog{w: w} }

// Made returns the transitions that were collected.
func (m *MoveLog) Made() []TransitionLine { return m.made }

// TransitionLine is a transition as JSON.
type TransitionLine struct {
	Run string `json:"run"`
	engine.Transition
}

// Moved records one committed transition and prints it, unless --json collects them.
func (m *MoveLog) Moved(run layout.Run, t engine.Transition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := engine.Key{Family: run.Family, ID: run.ID}
	switch {
	case m.json != nil:
		m.json.Info("transition", "run", key.String(), "of", t.Of, "subject", t.Subject, "from", t.From, "to", t.To,
			"event", t.Event, "actor", t.Actor, "reason", t.Reason, "cause", causes(t))
	case m.w.Flags.JSON:
		m.made = append(m.made, TransitionLine{key.String(), t})
	default:
		fmt.Fprintln(m.w.Out, transitionText(m.w, m.w.Now(), key, t))
	}
}

// causes returns the files that caused a transition, never nil, which the log would print as
// null.
func causes(t engine.Transition) map[string]engine.Digest {
	if t.Cause == nil {
		return map[string]engine.Digest{}
	}
	return t.Cause
}

// transitionText returns a transition as one line: its time, run, states, edge and reason.
func transitionText(w *console.Env, now time.Time, key engine.Key, t engine.Transition) string {
	steps := console.OneLine(string(t.From)) + " → " + console.OneLine(string(t.To))
	if t.From == "" {
		steps = "→ " + console.OneLine(string(t.To))
	}
	if t.Subject != "" {
		steps = console.OneLine(t.Subject) + " " + steps
	}
	return fmt.Sprintf("%s %s  %s  %s%s", w.Paint(console.Faint, now.Local().Format("15:04:05")), w.Paint(console.Strong, console.Brief(key)), steps,
		w.Paint(console.Current, console.OneLine(t.Event)), console.Suffix("  ", console.Cut(console.OneLine(t.Reason), 160)))
}
