package faber

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// fabricated returns the places of the fabrications once the run has been quiet for long enough.
func (w *world) fabricated() string {
	w.T.Helper()
	w.stand()
	return w.claims()
}

// claims returns the places of the current fabrications.
func (w *world) claims() string {
	w.T.Helper()
	s, _ := w.Full()
	var list []string
	for _, f := range w.Machine.Account(s).Findings {
		if f.Code == engine.CodeFabrication {
			list = append(list, fmt.Sprintf("%s%s for %q", strings.TrimPrefix(f.Path, w.Run.Dir+"/"), f.Pointer, f.Request))
		}
	}
	return strings.Join(list, "; ")
}

// event writes an event of upstream's.
func (w *world) event(n int, typ, step string, more string) {
	w.Put(w.In(fmt.Sprintf("events/%03d-%s.json", n, typ)), fmt.Sprintf(
		`{"event_id": %d, "type": %q, "timestamp": "2025-12-06T18:0%d:00.000Z", "run_id": "r", "phase": "release", "step": %q%s}`, n, typ, n%10, step, more))
}

// mayAnswer sets who may answer.
func (w *world) mayAnswer(who ...string) {
	w.Facts.Config.Gates = map[string]engine.Gate{"*": {Level: "file", Approvers: who}}
}

const done = `"phases": {"release": {"steps": [{"id": "ship", "status": "completed"}, {"id": "note", "status": "completed"}]}}`

// A claim of upstream's is reported only if the record certainly contradicts it: each case has an
// honest run beside it that looks similar.
func TestFabrications(t *testing.T) {
	state := func(body string) func(*world) {
		return func(w *world) { w.Put(w.Run.State, `{"revision": 1, `+body+`}`) }
	}
	approves := func(w *world) {
		w.Respond("fr-1", map[string]any{"response": "approve"})
		w.settle()
	}
	history := func(user string) string {
		return `"feedback_history": [{"request_id": "fr-1", "request_type": "review", "response": "approve", "provided_by": {"user": "` + user + `", "source": "cli"}, "received_at": "2025-12-06T18:01:00Z"}]`
	}
	for name, c := range map[string]struct {
		before func(*world) // before it asks
		does   []func(*world)
		says   string
	}{
		"completed while it asks": {does: []func(*world){state(`"status": "completed"`)}, says: `state.json/status for "fr-1"`},
		"completed in the same breath": {does: []func(*world){func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"awaiting_feedback"`, `"completed"`, 1))
		}}, says: `state.json/status for "fr-1"`},
		"completed after its answer": {does: []func(*world){approves, func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"in_progress"`, `"completed"`, 1))
		}}},
		"answered elsewhere, completed": {does: []func(*world){state(`"status": "completed", ` + history("kim"))}},
		"told by an event, completed": {does: []func(*world){
			func(w *world) {
				w.event(7, "feedback_received", "ship", `, "metadata": {"request_id": "fr-1", "response": "approve"}`)
			}, state(`"status": "completed"`),
		}},
		"taken back":                  {does: []func(*world){state(`"status": "in_progress"`)}},
		"taken back, completed later": {does: []func(*world){state(`"status": "in_progress"`), func(w *world) { w.stand() }, state(`"status": "completed"`)}},
		"given up":                    {does: []func(*world){func(w *world) { w.Put(w.In("cancel.json"), `{"by": "kim", "reason": "enough"}`) }}},
		"aborted by upstream":         {does: []func(*world){state(`"status": "aborted"`)}},
		"an older state put back": {does: []func(*world){func(w *world) {
			w.Put(w.Run.State, `{"status": "completed", "revision": 0, "updated_at": "2025-12-06T17:00:00Z"}`)
		}}},
		"not asked by this machine": {does: []func(*world){func(w *world) {
			w.Put(w.In("requests/fr-1/request.json"), w.Files[w.In("requests/fr-1/request.json")]+" ")
		}, state(`"status": "completed"`)}},
		"a step that cannot be undone": {before: destructive, does: []func(*world){state(`"status": "in_progress", ` + done), func(w *world) { w.event(7, "step_complete", "ship", "") }}, says: `state.json/phases/release/steps/0/status for "fr-1"`},
		"one that was done before":     {before: func(w *world) { destructive(w); w.event(1, "step_complete", "ship", "") }, does: []func(*world){state(`"status": "in_progress", ` + done)}},
		"one that was approved":        {before: destructive, does: []func(*world){approves, func(w *world) { w.event(9, "step_complete", "ship", "") }}},
		"one that can be undone":       {does: []func(*world){state(`"status": "in_progress", ` + done), func(w *world) { w.event(7, "step_complete", "ship", "") }}},
		"answered by another":          {before: func(w *world) { w.mayAnswer("kim") }, does: []func(*world){state(`"status": "in_progress", ` + history("kim"))}, says: `state.json/feedback_history/0 for "fr-1"`},
		"answered by anybody":          {does: []func(*world){state(`"status": "in_progress", ` + history("kim"))}},
		"gates that came later":        {does: []func(*world){state(`"status": "in_progress", ` + history("kim")), func(w *world) { w.stand(); w.mayAnswer("kim") }}},
		"granted by an event":          {does: []func(*world){func(w *world) { w.event(7, "approval_granted", "ship", `, "metadata": {"request_id": "fr-1"}`) }}, says: `events/007-approval_granted.json/type for "fr-1"`},
		"granted by placet":            {does: []func(*world){approves}},
		"granted by upstream, in writing": {does: []func(*world){
			func(w *world) {
				w.event(7, "feedback_received", "ship", `, "metadata": {"request_id": "fr-1", "response": "approve"}`)
				w.event(8, "approval_granted", "ship", `, "metadata": {"request_id": "fr-1"}`)
			},
			state(`"status": "in_progress", ` + history("kim")),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plainDir)
			if c.before != nil {
				c.before(w)
			}
			w.ask()
			if got := w.fabricated(); got != "" {
				t.Fatalf("while it asks: %s", got)
			}
			for _, do := range c.does {
				do(w)
			}
			if got := w.fabricated(); got != c.says {
				t.Errorf("%q, want %q", got, c.says)
			}
			if noted := strings.Contains(w.Files[w.Run.State+".problem.md"], "placet undoes nothing"); noted != (c.says != "") {
				t.Errorf("the note: %s", w.Files[w.Run.State+".problem.md"])
			}
		})
	}
}

func destructive(w *world) {
	w.config(func(c *Config) { c.DestructiveSteps = []string{"ship"} })
}

// ask makes the run ask whether to ship.
func (w *world) ask() {
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "release", "current_step": "ship", "updated_at": "2025-12-06T18:00:00Z",
  "phases": {"release": {"steps": [{"id": "ship", "status": "in_progress"}]}},
  "feedback_request": {"request_id": "fr-1", "type": "review", "prompt": "Ship it?", "requested_at": "2025-12-06T18:00:00Z"}
}`)
	w.settle()
}

// Upstream's record is compared with its state where upstream keeps such records at all.
func TestUnrecordedWork(t *testing.T) {
	type event struct{ typ, step string }
	whole := []event{{"workflow_start", ""}, {"step_start", "ship"}, {"step_complete", "ship"}, {"step_start", "note"}, {"step_complete", "note"}, {"workflow_complete", ""}}
	without := func(gone event) (list []event) {
		for _, e := range whole {
			if e != gone {
				list = append(list, e)
			}
		}
		return list
	}
	for name, c := range map[string]struct {
		events []event
		says   string
	}{
		"recorded whole":               {events: whole},
		"not recorded":                 {},
		"its end alone is not there":   {events: without(event{"workflow_complete", ""}), says: `state.json/status for ""`},
		"neither beginning nor end":    {events: whole[1:5]},
		"a step's end is not there":    {events: without(event{"step_complete", "ship"}), says: `state.json/phases/release/steps/0/status for ""`},
		"a step is not recorded":       {events: append(without(event{"step_complete", "ship"})[:1:1], whole[3:]...)},
		"ends of steps are not":        {events: []event{whole[0], whole[1], whole[3], whole[5]}},
		"an event that cannot be read": {events: append(without(event{"workflow_complete", ""}), event{"workflow_complete", "\""})},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plainDir)
			for i, e := range c.events {
				w.event(i+1, e.typ, e.step, "")
				if e.step == "\"" {
					w.Put(w.In(fmt.Sprintf("events/%03d-%s.json", i+1, e.typ)), "{}")
				}
			}
			w.Put(w.Run.State, `{"status": "completed", `+done+`}`)
			if got := w.claims(); got != "" {
				t.Errorf("it is told while upstream may still be writing: %s", got)
			}
			if got := w.fabricated(); got != c.says {
				t.Errorf("%q, want %q", got, c.says)
			}
		})
	}
}

// The receipt of a request that was passed over says so, and a person may accept that.
func TestAPassedRequestIsCancelled(t *testing.T) {
	w := newWorld(t, plainDir)
	w.ask()
	w.Put(w.Run.State, `{"status": "completed", "revision": 1}`)
	w.stand()
	receipt := w.Files[w.In("requests/fr-1/receipt.json")]
	if !strings.Contains(receipt, `"result": "cancelled"`) || !strings.Contains(receipt, "another program set completed while this was asked") {
		t.Errorf("the receipt: %s", receipt)
	}
	s, _ := w.Full()
	for _, f := range w.Machine.Account(s).Findings {
		if f.Code == engine.CodeFabrication {
			w.Facts.Trusted[f.Adoption] = true
		}
	}
	if got := w.fabricated(); got != "" || w.Has("state.json.problem.md") {
		t.Errorf("adopted, and yet: %s, %s", got, w.Files[w.Run.State+".problem.md"])
	}
}

// Once status, inbox and check told the claim again only after the pass that closed its request.
func TestAFabricationIsToldBeforeItsRequestIsClosed(t *testing.T) {
	w := newWorld(t, plainDir)
	w.ask()
	w.Put(w.Run.State, `{"revision": 1, "status": "completed"}`)
	w.settle()
	w.Now = w.Now.Add(11 * time.Second)
	if got, want := w.claims(), `state.json/status for "fr-1"`; got != want || w.Has("requests/fr-1/receipt.json") {
		t.Errorf("%q, want %q", got, want)
	}
}
