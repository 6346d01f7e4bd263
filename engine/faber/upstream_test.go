package faber

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"placet/engine/gate"
	"placet/internal/upstreamflow"
)

// upstreamAnswers are the answers to every type of request, each with the one that somebody else
// gives in response.json at the same time.
var upstreamAnswers = []struct{ typ, options, response, other string }{
	{"approval", "", "approve", "reject"},
	{"approval", "", "reject", "approve"},
	{"confirmation", "", "confirm", "cancel"},
	{"confirmation", "", "cancel", "confirm"},
	{"selection", `, "options": ["option-a", "option-b"]`, "option-a", "option-b"},
	{"clarification", "", "Use UTF-8.", "Use Latin-1."},
	{"review", "", "approve", "reject"},
	{"review", "", "request_changes", "approve"},
	{"review", "", "reject", "approve"},
	{"error_resolution", "", "retry", "abort"},
	{"error_resolution", "", "skip", "retry"},
	{"error_resolution", "", "abort", "retry"},
}

// runFiles returns the files of a world's run as upstream's programs see them.
type runFiles struct{ *world }

func (f runFiles) Read(name string) string { return f.Files[f.In(name)] }
func (f runFiles) Write(name, body string) { f.Put(f.In(name), body) }
func (f runFiles) Events() []string        { return f.events() }

// upstreamRun is an opened run that asks a request, with upstream's answer. The changes are made
// before it is opened.
func upstreamRun(t *testing.T, typ, options, response string, changes ...func(*world)) (*world, upstreamflow.Answer) {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, fmt.Sprintf(`{
  "status": "awaiting_feedback",
  "current_phase": "build",
  "current_step": "make",
  "last_event_id": 1,
  "updated_at": "2025-12-06T18:00:00Z",
  "phases": {"build": {"steps": [{"name": "make", "status": "in_progress"}]}},
  "feedback_request": {"request_id": "fr-1", "type": %q, "prompt": "Well?", "requested_at": "2025-12-06T18:00:00Z"%s},
  "resume_point": {"phase": "build", "step": "make", "step_index": 0}
}
`, typ, options))
	w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "build", "make"))
	w.Put(w.In("events/.next-id"), "2\n")
	for _, change := range changes {
		change(w)
	}
	w.settle()
	w.Now = w.Now.Add(time.Minute)
	return w, upstreamflow.Answer{RequestID: "fr-1", Type: typ, Response: response, Phase: "build", Step: "make", RunID: w.Run.ID}
}

// interleaving runs every order of upstream's writes, passes of placet and another answer. It
// continues only once from equal worlds.
type interleaving struct {
	steps  []upstreamflow.Step
	other  act   // without name if nobody else answers
	passes []act // each one a pass of placet, or the plans of a pass one by one
	pause  time.Duration
	seen   map[string]bool
	end    func(w *world, way string)
}

// act is something that happens in a world.
type act struct {
	name string
	do   func(w *world)
}

// byFile is an answer in response.json.
func byFile(id, response string) act {
	return act{"response.json", func(w *world) { w.Respond(id, map[string]any{"response": response, "comment": "as said"}) }}
}

var wholePass = act{"pass", func(w *world) { w.settle() }}

func (i *interleaving) walk(w *world, at int, answered bool, way string) {
	key := fmt.Sprintf("%d %t %v %v %v", at, answered, w.Now, w.Files, w.Changed)
	if i.seen[key] {
		return
	}
	i.seen[key] = true
	for _, pass := range i.passes {
		passed := w.clone()
		if pass.do(passed); !maps.Equal(passed.Files, w.Files) {
			i.walk(passed, at, answered, way+", "+pass.name)
		}
	}
	if !answered && i.other.name != "" {
		c := w.clone()
		i.other.do(c)
		i.walk(c, at, true, way+", "+i.other.name)
	}
	if at < len(i.steps) {
		c := w.clone()
		c.Now = c.Now.Add(i.pause)
		if i.steps[at].Do(runFiles{c}, c.Now) {
			i.walk(c, at+1, answered, way+", "+i.steps[at].Name)
			return
		}
	}
	if answered || i.other.name == "" {
		i.end(w, way)
	}
}

// start walks from a world, and fails the test for what is wrong at the end of a way.
func (i *interleaving) start(w *world, wrong func(w *world) []string) {
	w.T.Helper()
	ends := 0
	i.seen, i.pause = map[string]bool{}, 300*time.Millisecond
	i.end = func(w *world, way string) {
		ends++
		w.stand()
		for _, text := range wrong(w) {
			w.T.Errorf("%s: %s", way, text)
		}
	}
	if i.walk(w, 0, false, ""); ends == 0 {
		w.T.Error("no order was walked to its end")
	}
}

func (w *world) clone() *world { return &world{w.Stage.Clone()} }

// stand leaves the run unchanged until no file counts as incomplete any more.
func (w *world) stand() []string {
	w.T.Helper()
	taken := w.settle()
	w.Now = w.Now.Add(11 * time.Second)
	return append(taken, w.settle()...)
}

// An answer that upstream records in its own writes is carried out once, whatever the order of
// placet's passes and an answer in response.json: one entry of the history, one event of a kind,
// one receipt, one end.
func TestUpstreamAnswersAtEveryInterleaving(t *testing.T) {
	flows, err := upstreamflow.Load("../..")
	if err != nil || len(flows) != 5 {
		t.Fatalf("%d flows: %v", len(flows), err)
	}
	for _, f := range flows {
		for _, a := range upstreamAnswers {
			for _, other := range []string{"", a.response, a.other} {
				t.Run(f.Name+" "+a.typ+" "+a.response+" "+other, func(t *testing.T) {
					w, answer := upstreamRun(t, a.typ, a.options, a.response)
					walk := interleaving{steps: f.Steps(answer), passes: []act{wholePass}}
					if other != "" {
						walk.other = byFile("fr-1", other)
					}
					walk.start(w, func(w *world) []string { return upstreamflow.Wrong(runFiles{w}, "fr-1") })
				})
			}
		}
	}
}

// Upstream's session may end after any of its writes: what it wrote counts after ten seconds, once.
func TestUpstreamStopsHalfway(t *testing.T) {
	flows, err := upstreamflow.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flows {
		for _, a := range upstreamAnswers {
			_, answer := upstreamRun(t, a.typ, a.options, a.response)
			for n := range f.Steps(answer) {
				w, answer := upstreamRun(t, a.typ, a.options, a.response)
				for _, step := range f.Steps(answer)[:n+1] {
					step.Do(runFiles{w}, w.Now)
				}
				if w.settle(); w.Has("requests/fr-1/receipt.json") {
					t.Errorf("%s %s after %d writes: taken at once", f.Name, a.response, n+1)
				}
				w.stand()
				if rc := w.Files[w.In("requests/fr-1/receipt.json")]; !strings.Contains(rc, `"accepted"`) || !strings.Contains(rc, "keiko") {
					t.Errorf("%s %s after %d writes: receipt %s", f.Name, a.response, n+1, rc)
				}
			}
		}
	}
}

// Upstream's record counts two seconds after its last write if event, history and state agree, and
// ten seconds after it otherwise. A pass at any other time, as after a restart, changes nothing,
// and a clock that was set back does not block it for ever.
func TestClaimsCountOnceTheRunStandsStill(t *testing.T) {
	const said = `{"request_id": "fr-1", "request_type": "review", "response": "approve", "provided_by": {"user": "keiko", "source": "cli"}, "received_at": "2025-12-06T18:10:00Z"}`
	event := `{"event_id": 2, "type": "feedback_received", "timestamp": "2025-12-06T18:10:00.000Z", "run_id": "x", "metadata": {"request_id": "fr-1", "response": %q}}`
	cleared := func(w *world, history string) {
		w.Put(w.Run.State, `{"status": "in_progress", "revision": 1, "phases": {}, "feedback_history": [`+history+`]}`)
	}
	asking := func(w *world, history string) {
		w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"status"`, `"feedback_history": [`+history+`], "status"`, 1))
	}
	for _, c := range []struct {
		name  string
		write func(w *world)
		after time.Duration
	}{
		{"all three", func(w *world) {
			w.Write("events/002-feedback_received.json", fmt.Sprintf(event, "approve"))
			cleared(w, said)
		}, 2 * time.Second},
		{"event and state differ", func(w *world) {
			w.Write("events/002-feedback_received.json", fmt.Sprintf(event, "reject"))
			cleared(w, said)
		}, 10 * time.Second},
		{"history and cleared", func(w *world) { cleared(w, said) }, 10 * time.Second},
		{"event and cleared", func(w *world) {
			w.Write("events/002-feedback_received.json", fmt.Sprintf(event, "approve"))
			cleared(w, "")
		}, 10 * time.Second},
		{"cleared", func(w *world) { cleared(w, "") }, 10 * time.Second},
		{"event", func(w *world) { w.Write("events/002-feedback_received.json", fmt.Sprintf(event, "approve")) }, 10 * time.Second},
		{"history", func(w *world) { asking(w, said) }, 10 * time.Second},
		{"event and history", func(w *world) {
			w.Write("events/002-feedback_received.json", fmt.Sprintf(event, "approve"))
			asking(w, said)
		}, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := waitingRun(t)
			w.Now = w.Now.Add(time.Minute)
			c.write(w)
			at := w.Now.Add(c.after)
			late := w.clone() // runs its first pass long after, as after a restart
			late.Now = at
			back := w.clone()
			back.Now = w.Now.Add(-time.Hour)
			for range 3 {
				if _, p := w.Full(); !p.Empty() || !p.Wake.Equal(at) || len(p.Pending) == 0 {
					t.Fatalf("at %v: wake %v, holding %v, writes %d", w.Now, p.Wake, p.Pending, len(p.Writes))
				}
				w.Now = w.Now.Add(c.after / 3)
			}
			for _, at := range []*world{late, back} {
				if at.settle(); !at.Has("requests/fr-1/receipt.json") {
					t.Error("not taken when it stood still")
				}
			}
		})
	}
}

// A run that upstream continues although placet cancelled it is an error until it is cancelled
// again.
func TestRevivedRunIsAnError(t *testing.T) {
	findings := func(w *world) (errors []string) {
		snap, _ := w.Full()
		for _, f := range w.Machine.Account(snap).Findings {
			if f.Severity == "error" {
				errors = append(errors, f.Text)
			}
		}
		return errors
	}
	for name, cancel := range map[string]func(w *world){
		"answer": func(w *world) { w.Respond("fr-1", map[string]any{"response": "reject", "comment": "no"}) },
		"file":   func(w *world) { w.Write("cancel.json", `{"by": "jmcwilliam", "reason": "no"}`) },
	} {
		w := waitingRun(t)
		w.Write("events/.next-id", "2\n")
		cancel(w)
		if w.settle(); len(findings(w)) > 0 {
			t.Fatalf("%s: cancelled: %q", name, findings(w))
		}
		delete(w.Files, w.In("cancel.json"))
		ended := w.Files[w.Run.State]
		for _, body := range []string{strings.Replace(ended, `"cancelled"`, `"in_progress"`, 1), `{"status": "running"}`} {
			w.Put(w.Run.State, body)
			w.stand()
			if got := findings(w); len(got) != 1 || !strings.Contains(got[0], "cancelled by jmcwilliam") {
				t.Errorf("%s: %s: %q", name, w.state().Status, got)
			}
		}
		w.Put(w.Run.State, ended)
		if got := findings(w); len(got) > 0 {
			t.Errorf("%s: cancelled again: %q", name, got)
		}
	}
}

// Upstream's writers name the author of an answer in three ways, and placet reads all of them.
// Other members of the metadata hide none.
func TestWhoAnsweredByUpstreamsEvents(t *testing.T) {
	for author, source := range map[string]string{
		`"provided_by": {"user": "keiko", "source": "cli"}`:                             "cli",
		`"provided_by": "keiko", "source": "parallel_coordination"`:                     "parallel_coordination",
		`"user": "keiko", "source": "issue_comment"`:                                    "issue_comment",
		`"user": "keiko", "source": "cli", "comment": 7, "request_type": [], "x": [{}]`: "cli",
	} {
		w := waitingRun(t)
		w.Write("events/002-feedback_received.json", `{"event_id": 2, "type": "feedback_received", "timestamp": "2025-12-06T18:10:00.000Z", "run_id": "x", "metadata": {"request_id": "fr-1", "response": "approve", `+author+`}}`)
		w.stand()
		if st := w.state(); len(st.History) != 1 || st.History[0].ProvidedBy != (gate.By{User: "keiko", Source: source}) {
			t.Errorf("%s: history %+v", author, st.History)
		}
	}
}

// If the plan does not know a step, upstream's number for it counts.
func TestStepIndexOfUpstreamIsKept(t *testing.T) {
	for point, want := range map[string]string{
		`"resume_point": {"phase": "build", "step": "make", "step_index": 2}`:                                           `"step_index": 2`,
		`"current_phase": "build", "current_step": "make", "resume_point": {"phase": "build", "step": "make"}`:          `"step_index": null`,
		`"resume_point": {"phase": "build", "step": "make", "step_index": 2}, "phases": {"build": {"steps": ["make"]}}`: `"step_index": 0`,
	} {
		w := newWorld(t, plainDir)
		w.Put(w.Run.State, `{"status": "awaiting_feedback", `+point+`, "feedback_request": {"request_id": "fr-1", "type": "review", "prompt": "?"}}`)
		w.settle()
		w.Respond("fr-1", map[string]any{"response": "request_changes", "comment": "Use UTF-8"})
		w.settle()
		if st := w.Files[w.Run.State]; !strings.Contains(st, want) || !strings.Contains(st, "answered_revise") {
			t.Errorf("%s: %s", point, st)
		}
	}
}

// An upstream session that pauses for longer than placet waits continues what placet has ended:
// nothing moves a second time, and `check` names what exists twice.
func TestUpstreamGoesOnAfterAPause(t *testing.T) {
	flows, err := upstreamflow.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flows {
		for response, want := range map[string]string{"approve": "several entries for request", "reject": "the run was cancelled by keiko"} {
			w, answer := upstreamRun(t, "approval", "", response)
			steps := f.Steps(answer)
			steps[0].Do(runFiles{w}, w.Now)
			if taken := w.stand(); len(taken) != 1 {
				t.Fatalf("%s %s: took %v", f.Name, response, taken)
			}
			receipt := w.Files[w.In("requests/fr-1/receipt.json")]
			for _, step := range steps[1:4] {
				step.Do(runFiles{w}, w.Now)
				if taken := w.stand(); len(taken) > 0 {
					t.Errorf("%s %s: took %v", f.Name, response, taken)
				}
			}
			snap, _ := w.Full()
			if found := fmt.Sprint(w.Machine.Account(snap).Findings); !strings.Contains(found, want) {
				t.Errorf("%s %s: %s", f.Name, response, found)
			}
			if w.Files[w.In("requests/fr-1/receipt.json")] != receipt {
				t.Errorf("%s %s: the receipt changed", f.Name, response)
			}
		}
	}
}
