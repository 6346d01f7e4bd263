// Package upstreamflow does what FABER's own programs do when somebody answers: it
// knows who writes which file in which order. The flows are data,
// testdata/upstream-flows, taken from upstream's scripts and from the protocols that
// its agents follow.
//
// No program contains it: tests of the machine run the flows in memory, at every
// interleaving, and tests of the real program run them on disk.
package upstreamflow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine/jsonedit"
)

// Flow is the writes of one of upstream's programs when a request is answered.
type Flow struct {
	Name   string  `json:"-"`
	About  string  `json:"about"`
	Writes []Write `json:"writes"`
}

// Write is one command of a flow: an event that is emitted, or a new state.json.
type Write struct {
	// Emit is the type of an event, and Event is its content besides number,
	// type, time and run.
	Emit  string          `json:"emit"`
	Event json.RawMessage `json:"event"`
	// State are the edits of state.json, made by one write.
	State []Edit `json:"state"`
	// For lists the request types and responses that the command is for; empty: all.
	For []string `json:"for"`
}

// Edit is one change of state.json at a JSON pointer.
type Edit struct {
	Set    string `json:"set"`
	Remove string `json:"remove"`
	Append string `json:"append"`
	Value  any    `json:"value"`
}

// Answer is an answer to a request of a type.
type Answer struct{ RequestID, Type, Response, Phase, Step, RunID string }

// Files are the files of a run, by path in its folder.
type Files interface {
	Read(name string) string
	Write(name, body string)
	// Events returns the names of the files of events/, without .json.
	Events() []string
}

// Step is one write that others can see. It reports whether the flow continues.
type Step struct {
	Name string
	Do   func(f Files, now time.Time) (more bool)
}

// Load reads the flows below the repository's root, sorted by name.
func Load(root string) ([]Flow, error) {
	paths, err := filepath.Glob(filepath.Join(root, "testdata/upstream-flows/*.json"))
	if err != nil {
		return nil, err
	}
	var flows []Flow
	for _, p := range paths {
		f := Flow{Name: strings.TrimSuffix(filepath.Base(p), ".json")}
		body, err := os.ReadFile(p)
		if err == nil {
			err = json.Unmarshal(body, &f)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", p, err)
		}
		flows = append(flows, f)
	}
	return flows, nil
}

// Steps returns the writes of a flow for an answer. The first checks that the request
// is still asked, as upstream does before it begins, and ends the flow if it is not.
func (f Flow) Steps(a Answer) []Step {
	var steps []Step
	for _, w := range f.Writes {
		if len(w.For) > 0 && !slices.Contains(w.For, a.Type) && !slices.Contains(w.For, a.Response) {
			continue
		}
		if w.Emit != "" {
			steps = append(steps, Step{"event " + w.Emit, w.emit(a)}, Step{"last_event_id", noteLastEvent})
			continue
		}
		steps = append(steps, Step{"state", w.edit(a)})
	}
	first := steps[0].Do
	steps[0].Do = func(f Files, now time.Time) bool { return asks(f, a.RequestID) && first(f, now) }
	return steps
}

// asks reports whether state.json waits for an answer to a request.
func asks(f Files, id string) bool {
	var st struct {
		Status   string `json:"status"`
		Feedback struct {
			RequestID string `json:"request_id"`
		} `json:"feedback_request"`
	}
	return json.Unmarshal([]byte(f.Read("state.json")), &st) == nil && st.Status == "awaiting_feedback" && st.Feedback.RequestID == id
}

// emit writes an event under the next number, as emit-event.sh does: the event, then
// .next-id, both under the lock of .next-id.
func (w Write) emit(a Answer) func(Files, time.Time) bool {
	return func(f Files, now time.Time) bool {
		n, err := strconv.Atoi(strings.TrimSpace(f.Read("events/.next-id")))
		if err != nil {
			panic("events/.next-id: " + err.Error())
		}
		head := fmt.Sprintf(`{"event_id": %d, "type": %q, "timestamp": %q, "run_id": %q, `, n, w.Emit, now.UTC().Format("2006-01-02T15:04:05.000Z"), a.RunID)
		body := head + strings.TrimPrefix(strings.TrimSpace(a.fill(string(w.Event), now)), "{")
		f.Write(fmt.Sprintf("events/%03d-%s.json", n, w.Emit), body+"\n")
		f.Write("events/.next-id", strconv.Itoa(n+1)+"\n")
		return true
	}
}

// noteLastEvent writes the number of the newest event into state.json, as
// emit-event.sh does after each event, without any lock.
func noteLastEvent(f Files, _ time.Time) bool {
	next, err := strconv.Atoi(strings.TrimSpace(f.Read("events/.next-id")))
	if err != nil {
		panic("events/.next-id: " + err.Error())
	}
	return rewrite(f, jsonedit.Edit{Pointer: "/last_event_id", Op: jsonedit.Set, Value: next - 1})
}

// edit writes state.json anew, as jq and an agent's Write tool do.
func (w Write) edit(a Answer) func(Files, time.Time) bool {
	return func(f Files, now time.Time) bool {
		var edits []jsonedit.Edit
		for _, e := range w.State {
			value, err := json.Marshal(e.Value)
			if err != nil {
				panic(err)
			}
			edits = append(edits, edit(f, e, json.RawMessage(a.fill(string(value), now)))...)
		}
		return rewrite(f, edits...)
	}
}

// edit returns one edit of the present state. A missing value needs no removal, and a
// missing array is created.
func edit(f Files, e Edit, value json.RawMessage) []jsonedit.Edit {
	var state map[string]json.RawMessage
	if err := json.Unmarshal([]byte(f.Read("state.json")), &state); err != nil {
		panic("state.json: " + err.Error())
	}
	switch {
	case e.Set != "":
		return []jsonedit.Edit{{Pointer: e.Set, Op: jsonedit.Set, Value: value}}
	case e.Append != "" && state[e.Append[1:]] != nil:
		return []jsonedit.Edit{{Pointer: e.Append, Op: jsonedit.Append, Value: value}}
	case e.Append != "":
		return []jsonedit.Edit{{Pointer: e.Append, Op: jsonedit.Set, Value: []any{value}}}
	case state[e.Remove[1:]] != nil:
		return []jsonedit.Edit{{Pointer: e.Remove, Op: jsonedit.Remove}}
	}
	return nil
}

func rewrite(f Files, edits ...jsonedit.Edit) bool {
	body, err := jsonedit.Apply([]byte(f.Read("state.json")), edits...)
	if err != nil {
		panic("state.json: " + err.Error())
	}
	f.Write("state.json", string(body))
	return true
}

// fill puts an answer into a text.
func (a Answer) fill(text string, now time.Time) string {
	return strings.NewReplacer("$REQUEST", a.RequestID, "$TYPE", a.Type, "$RESPONSE", a.Response,
		"$PHASE", a.Phase, "$STEP", a.Step, "$NOW", now.UTC().Format(time.RFC3339)).Replace(text)
}
