package faber

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
)

// inStep returns a run that asks inside a step of the default plan, whose entry has a status and
// whose start an event may record.
func inStep(t *testing.T, typ, status string, started bool, options string) *world {
	w := newWorld(t, plainDir)
	w.Put(".fractary/faber/workflows/default.json", readFile(t, "testdata/default.json"))
	if started {
		w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "build", "implement"))
	}
	w.Put(w.Run.State, fmt.Sprintf(`{"status": "awaiting_feedback", "workflow_id": "default", "updated_at": "2025-12-06T18:00:00Z",
  "phases": {"build": {"status": "in_progress", "steps": [{"id": "implement", "status": %q}]}},
  "feedback_request": {"request_id": "fr-1", "type": %q, "prompt": "?", "options": %s},
  "resume_point": {"phase": "build", "step": "implement"}}`, status, typ, options))
	w.settle()
	return w
}

// Scenario F28: the answer to what a step asks before it has ended goes to that step, which is not
// completed by it. An approval and a review complete it, as before.
func TestScenarioF28AnswersInsideAStep(t *testing.T) {
	const inside, after, license = "goes on with build:implement, knowing your answer", "completed", "lets the step run"
	for _, c := range []struct {
		typ, status string
		started     bool
		options     string
		answer      string
		want        string
	}{
		{"clarification", "in_progress", true, `[]`, "UTF-8", inside},
		{"clarification", "pending", false, `[]`, "UTF-8", inside},
		{"selection", "in_progress", false, `["a", "b"]`, "b", inside},
		{"selection", "pending", true, `["a", "b"]`, "b", inside},
		{"selection", "pending", false, `["a", "b"]`, "b", "goes on with b"},
		{"selection", "completed", false, `["a", "b"]`, "b", after},
		{"of-upstream", "in_progress", true, `["a", "b"]`, "a", inside},
		{"confirmation", "in_progress", true, `[]`, "confirm", inside},
		{"confirmation", "pending", false, `[]`, "confirm", license},
		{"selection", "in_progress", true, `["approve", "b"]`, "approve", after},
		{"approval", "in_progress", true, `[]`, "approve", after},
		{"review", "in_progress", true, `[]`, "approve", after},
	} {
		t.Run(fmt.Sprint(c.typ, c.status, c.started, c.answer), func(t *testing.T) {
			w := inStep(t, c.typ, c.status, c.started, c.options)
			if effect := w.effects()[c.answer]; c.options != "[]" && c.want != after && effect != c.want {
				t.Errorf("the form says %q, want %q", effect, c.want)
			}
			w.Respond("fr-1", map[string]any{"response": c.answer})
			w.settle()
			st := w.state()
			point := st.ResumePoint
			if point == nil {
				t.Fatalf("no resume point: %s", w.Files[w.Run.State])
			}
			completed := strings.Contains(w.Files[w.Run.State], `"implement", "status": "completed"`)
			if at := where(point.Phase, point.Step); (c.want == after) != (completed && at != "build:implement") {
				t.Errorf("completed %v, goes on at %s: %s", completed, at, w.Files[w.Run.State])
			}
			if c.want != after && (point.Position != "at" || point.Action != "continue") {
				t.Errorf("resume point %+v", point)
			}
		})
	}
}

// A form that an older version of placet wrote shows what it did, and that is carried out.
func TestAnOlderFormIsCarriedOutAsShown(t *testing.T) {
	w := inStep(t, "selection", "in_progress", true, `["a", "b"]`)
	request := w.In("requests/fr-1/request.json")
	w.Put(request, strings.Replace(w.Files[request], "goes on with build:implement, knowing your answer", "goes on with b", 2))
	w.Issue(w.document(request))
	w.Respond("fr-1", map[string]any{"response": "b"})
	w.settle()
	if !strings.Contains(w.Files[w.Run.State], `"implement", "status": "completed"`) {
		t.Errorf("%s\n%s", w.Files[w.Run.State], w.Files[w.In("requests/fr-1/problem.md")])
	}
}

// document returns a file as placet would have written it.
func (w *world) document(p string) engine.Document {
	return engine.Document{Path: p, Kind: layout.KindRequest, Body: []byte(w.Files[p]), Sum: engine.Sum([]byte(w.Files[p]))}
}

// resumed returns a run that goes on from an answer with the resume command begun, and the account
// of it.
func resumed(t *testing.T) *world {
	return answeredExample(t, func(w *world) {
		argv := []string{"agent"}
		w.config(func(cfg *Config) { cfg.Resume.Command = argv })
		w.Facts.Trusted[CommandDigest(argv)] = true
	})
}

// ends ends the newest action: nothing of it runs any more, and its outcome says how it ended.
func (w *world) ends(outcome string) {
	a := w.Begun[len(w.Begun)-1]
	clear(w.Facts.Alive)
	if outcome != "" {
		w.Put(a.Outcome, outcome)
	}
}

func (w *world) required() []engine.RequiredAction {
	s, _ := w.Full()
	return New().Account(s).Required
}

// Scenario F29: a resume command that did not bring an agent to work is something that a person
// must do, until an agent continues or the person asks for the command again.
func TestScenarioF29AResumeCommandThatFails(t *testing.T) {
	const finished = `"finished_at": "2025-12-06T18:15:00Z", `
	for _, c := range []struct {
		name, outcome string
		wait          time.Duration
		want          string
	}{
		{"runs", "alive", 0, ""},
		{"failed", `{` + finished + `"outcome": "finished", "exit_code": 3, "stderr": {"head": "one\nno key\n"}}`, 0, "no agent goes on with build:implement: exit 3: no key"},
		{"late", `{` + finished + `"outcome": "timed_out", "exit_code": null}`, 0, "timed_out"},
		{"not started", `{` + finished + `"outcome": "not_started", "exit_code": null, "reason": "no such program"}`, 0, "not_started: no such program"},
		{"lost", `{` + finished + `"outcome": "lost", "exit_code": null}`, 0, "nobody knows how the command ended"},
		{"gone", "", 0, "nobody knows how the command ended"},
		{"ended well", `{` + finished + `"outcome": "finished", "exit_code": 0}`, 9 * time.Minute, ""},
		{"ended well long ago", `{` + finished + `"outcome": "finished", "exit_code": 0}`, 11 * time.Minute, "no agent has gone on with build:implement"},
		{"ended unseen", `{` + finished + `"outcome": "finished", "exit_code": null}`, 11 * time.Minute, "no agent has gone on with build:implement"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := resumed(t)
			if c.outcome != "alive" {
				w.ends(c.outcome)
			}
			_, p := w.Full()
			if w.Now = w.Now.Add(c.wait); strings.HasPrefix(c.name, "ended") && (p.Wake.IsZero() || p.Wake.After(w.Now.Add(10*time.Minute))) {
				t.Errorf("wakes at %v", p.Wake)
			}
			all := w.required()
			if c.want == "" {
				if len(all) != 0 {
					t.Fatalf("required: %+v", all)
				}
				return
			}
			if len(all) != 1 || !strings.Contains(all[0].Text, c.want) || all[0].Command != "faber again "+w.Run.ID+" resume-r2" || all[0].Since.IsZero() {
				t.Fatalf("required: %+v, want %q", all, c.want)
			}
			begun := len(w.Begun)
			w.Put(w.In("actions/resume-r2/again-1.json"), `{"by": "kim", "at": "2025-12-06T18:20:00Z"}`)
			if w.settle(); len(w.Begun) != begun+1 || !w.Has("actions/resume-r2.2/attempt.json") || len(w.required()) != 0 {
				t.Errorf("begun %d times, %+v", len(w.Begun), w.required())
			}
			w.ends(c.outcome)
			w.Put(w.In("events/018-step_start.json"), upstreamEvent(18, "step_start", "build", "implement"))
			if w.settle(); len(w.required()) != 0 {
				t.Errorf("an agent goes on, and required is %+v", w.required())
			}
		})
	}
}

// A command is begun at most twenty times, and never while an attempt runs.
func TestAgainHasALimit(t *testing.T) {
	w := resumed(t)
	for k := range 30 {
		w.Put(w.In(fmt.Sprintf("actions/resume-r2/again-%d.json", k+1)), `{"by": "kim", "at": "2025-12-06T18:20:00Z"}`)
	}
	if w.settle(); len(w.Begun) != 1 {
		t.Fatalf("begun %d times while the first attempt runs", len(w.Begun))
	}
	for range 30 {
		w.ends(`{"outcome": "finished", "exit_code": 1}`)
		w.settle()
	}
	if all := w.required(); len(w.Begun) != 21 || len(all) != 1 || all[0].Command != "" {
		t.Errorf("begun %d times, required %+v", len(w.Begun), all)
	}
}

// Scenario F30: context.md shows the run's own branch, everything that metadata.json says, and the
// newest errors; and it is made anew, though not at each event.
func TestScenarioF30ContextIsRenewed(t *testing.T) {
	w := answeredExample(t, func(w *world) {
		w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"errors": []`, `"errors": [{"timestamp": "t1", "phase": "build", "step": "implement", "error": "no compiler"}]`, 1))
		w.Put(w.In("metadata.json"), `{"workflow_id": "default", "work_id": "258", "target": "csv", "autonomy": "guarded", "environment": {"git_branch": "feat/258-csv", "hostname": "box"}}`)
		w.Put("git:log/10/feat/258-csv", "abc123 2025-12-06 begin\n")
		w.Put("git:diffstat/feat/258-csv", " a.go | 2 ++\n")
	})
	text := w.Files[w.In("context.md")]
	for _, want := range []string{
		"Branch feat/258-csv", "abc123 2025-12-06 begin", "a.go | 2 ++", "metadata target: csv", "metadata autonomy: guarded", `"hostname": "box"`,
		"artifact spec_path: specs/WORK-00258-design.md", "error: t1 build:implement no compiler",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("context.md does not say %q:\n%s", want, text)
		}
	}
	head := func() string {
		line, _, _ := strings.Cut(w.Files[w.In("context.md")], "\n")
		return line
	}
	first := head()
	w.Changed[w.In("context.md")] = w.Now
	w.Put(w.In("events/018-step_start.json"), upstreamEvent(18, "step_start", "build", "implement"))
	_, p := w.Full()
	if w.settle(); head() != first || p.Wake.IsZero() || p.Wake.After(w.Now.Add(contextPause)) {
		t.Errorf("renewed at once, or never: wakes at %v", p.Wake)
	}
	w.Now = w.Now.Add(contextPause)
	if w.settle(); head() == first || !strings.Contains(w.Files[w.In("context.md")], "018") {
		t.Errorf("not renewed: %s", head())
	}
	second := head()
	w.Changed[w.In("context.md")] = w.Now.Add(-time.Minute)
	w.Put("git:log/10/feat/258-csv", "def456 2025-12-07 more\n")
	if w.settle(); head() == second || !strings.Contains(w.Files[w.In("context.md")], "def456") {
		t.Errorf("not renewed after a commit on the branch: %s", head())
	}
}

// A branch that git does not have, and a name that git is not asked about, are said.
func TestContextSaysThatTheBranchIsAbsent(t *testing.T) {
	for branch, want := range map[string]string{"feat/none": "Local git says nothing", "--output=x": "no branch that can be looked up", "a..b": "no branch that can be looked up"} {
		w := answeredExample(t, func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `{"spec_path"`, `{"branch_name": "`+branch+`", "spec_path"`, 1))
		})
		text := w.Files[w.In("context.md")]
		if _, section, _ := strings.Cut(text, "## Branch "); !strings.Contains(section, want) || !strings.Contains(section, "warning") {
			t.Errorf("%s: %s", branch, text)
		}
	}
}

// failedPlain returns a run that failed at a step, without a request of upstream's.
func failedPlain(t *testing.T, updated, more string) *world {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, `{"status": "failed", "updated_at": "`+updated+`", "phases": {"build": {"status": "in_progress", "steps": [{"id": "implement", "status": "failed"}]}}`+more+`}`)
	w.settle()
	return w
}

// Scenario F31: a person is asked about a failed run, and sees its error; a run that failed long
// ago is only listed.
func TestScenarioF31TheErrorOfAFailedRun(t *testing.T) {
	form := func(w *world) string {
		for p, body := range w.Files {
			if strings.HasSuffix(p, "/form.md") {
				return body
			}
		}
		return ""
	}
	for _, c := range []struct{ name, more, want string }{
		{"errors", `, "errors": [{"error": "old"}, {"message": "compile error\nline 3"}, {"error": "done", "resolved": "retry"}]`, "compile error line 3"},
		{"errors as an object", `, "errors": {"a": {"error": "first"}, "b": {"error": "second"}}`, "second"},
		{"nothing", ``, "no error is recorded"},
		{"long", `, "errors": [{"error": "` + strings.Repeat("x", 600) + `"}]`, strings.Repeat("x", 500) + "…"},
		{"hostile", `, "errors": [{"error": "- [x] retry"}]`, `- [x] retry`},
	} {
		w := failedPlain(t, "2025-12-06T18:00:00Z", c.more)
		_, line, _ := strings.Cut(form(w), "- **Error**: ")
		if line, _, _ = strings.Cut(line, "\n"); strings.ReplaceAll(line, `\`, "") != c.want {
			t.Errorf("%s: the form says %q, want %q", c.name, line, c.want)
		}
	}
	w := newWorld(t, plainDir)
	w.Put(w.In("events/001-step_error.json"), `{"event_id": 1, "type": "step_error", "timestamp": "2025-12-06T17:00:00.000Z", "run_id": "x", "phase": "build", "step": "implement", "error": {"message": "out of memory"}}`)
	w.Put(w.Run.State, `{"status": "failed", "updated_at": "2025-12-06T18:00:00Z", "phases": {"build": {"error": null, "steps": [{"id": "implement", "status": "failed"}]}}}`)
	if w.settle(); !strings.Contains(form(w), "- **Error**: out of memory") {
		t.Errorf("the newest event of an error: %s", form(w))
	}
	old := failedPlain(t, "2025-10-27T18:00:00Z", "")
	s, _ := old.Full()
	if a := New().Account(s); form(old) != "" || len(a.Open) != 0 || !strings.Contains(strings.Join(a.Why, "\n"), "30 days") {
		t.Errorf("40 days old: %+v", a.Why)
	}
	// What is asked stays asked, and shows what it showed, however long nobody answers.
	w = failedPlain(t, "2025-12-06T18:00:00Z", `, "errors": [{"error": "first"}]`)
	shown := form(w)
	w.Now = w.Now.Add(60 * 24 * time.Hour)
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `[{"error": "first"}]`, `[{"error": "first"}, {"error": "second"}]`, 1))
	w.settle()
	if s, _ = w.Full(); form(w) != shown || len(New().Account(s).Open) != 1 {
		t.Errorf("after 60 days: %s", form(w))
	}
}

// Scenario F32: a deadline counts from the moment at which the request could be seen first; one
// that was past by then takes nothing.
func TestScenarioF32LateDeadline(t *testing.T) {
	ask := func(context string, hours time.Duration) *world {
		w := newWorld(t, plainDir)
		w.config(func(c *Config) {
			c.OnDeadline = "reject"
			if hours > 0 {
				c.Deadline = map[string]Duration{"approval": Duration(hours * time.Hour)}
			}
		})
		w.Put(w.Run.State, `{"status": "awaiting_feedback", "updated_at": "2025-12-01T18:00:00Z", "current_phase": "build", "current_step": "implement",
  "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?", "requested_at": "2025-12-01T18:00:00Z", "context": `+context+`}}`)
		w.settle()
		return w
	}
	w := ask(`{}`, 24)
	if got := w.state().Status; got != "awaiting_feedback" || !strings.Contains(w.Files[w.In("requests/fr-1/request.json")], `"opened_at": "2025-12-06T18:15:00.120Z"`) {
		t.Fatalf("%s, %s", got, w.Files[w.In("requests/fr-1/request.json")])
	}
	request := w.Files[w.In("requests/fr-1/request.json")]
	delete(w.Files, w.In("requests/fr-1/request.json"))
	w.Now = w.Now.Add(time.Hour)
	if w.settle(); w.Files[w.In("requests/fr-1/request.json")] != request {
		t.Errorf("a lost request.json comes back as %s", w.Files[w.In("requests/fr-1/request.json")])
	}
	w.Now = w.Now.Add(23 * time.Hour)
	if taken := w.settle(); !slices.Contains(taken, "expired") {
		t.Errorf("took %v after a day", taken)
	}
	w = ask(`{"deadline": "2025-12-02T00:00:00Z"}`, 0)
	w.Now = w.Now.Add(240 * time.Hour)
	if taken := w.settle(); len(taken) > 0 || w.state().Status != "awaiting_feedback" {
		t.Errorf("a deadline that was past when the request was opened took %v", taken)
	}
	s, _ := w.Full()
	if open := New().Account(s).Open; len(open) != 1 || !open[0].Overdue {
		t.Errorf("open: %+v", open)
	}
}
