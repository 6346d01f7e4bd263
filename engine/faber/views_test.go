package faber

import (
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// answeredExample returns the example after its approval.
func answeredExample(t *testing.T, change func(w *world)) *world {
	w := example(t)
	if change != nil {
		change(w)
	}
	w.Respond(exampleID, map[string]any{"response": "approve", "comment": "Looks good"})
	w.settle()
	return w
}

// resume.md begins with the seed's four lines, byte for byte.
func TestResumeHasTheSeedsLines(t *testing.T) {
	w := answeredExample(t, nil)
	want := "Resume workflow run fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34 from step build:implement.\n" +
		"User feedback received: approve.\nContinue executing workflow steps. Follow workflow definition.\nDo NOT diverge from the planned workflow.\n"
	if got := w.Files[w.In("resume.md")]; !strings.Contains(got, want) || !strings.Contains(got, "> Looks good") {
		t.Errorf("resume.md:\n%s", got)
	}
}

// resume.md has the rules that keep the agent on the plan.
func TestResumeHasTheRules(t *testing.T) {
	w := answeredExample(t, nil)
	const rules = "## Rules\n\n- Execute only planned steps, in their order, beginning with this one.\n- Add no new step.\n- Propose no alternatives.\n" +
		"- Do not execute a step that is completed or skipped.\n- Ask only by a feedback request. Never guess.\n"
	if got := w.Files[w.In("resume.md")]; !strings.Contains(got, rules) {
		t.Errorf("resume.md:\n%s", got)
	}
}

// Each part of context.md says what is missing, and how severe that is. An error makes resume.md
// begin with a stop, and no command runs.
func TestContextSeverities(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world)
		want   string
		stop   bool
	}{
		{"no spec", func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `{"spec_path": "specs/WORK-00258-design.md"}`, `{}`, 1))
		}, "No specification is named.", false},
		{"spec gone", func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `{"spec_path": "specs/WORK-00258-design.md"}`, `{"specification": "/specs/none.md"}`, 1))
		}, "does not exist", false},
		{"spec unreadable", func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `{"spec_path": "specs/WORK-00258-design.md"}`, `{"spec_path": "specs/bad.md"}`, 1))
			w.Put("specs/bad.md", "unusable:is a folder; expected a regular file")
		}, "is a folder", true},
		{"spec outside", func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `{"spec_path": "specs/WORK-00258-design.md"}`, `{"spec_path": "../x.md"}`, 1))
		}, "outside the workspace", true},
		{"long spec", func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `{"spec_path": "specs/WORK-00258-design.md"}`, `{"spec_path": "specs/long.md"}`, 1))
			w.Put("specs/long.md", strings.Repeat("x", 70<<10))
		}, "cut at 64 KiB", false},
		{"issue refused", func(w *world) { w.Put(w.In("issue.json"), `{"number": 258, "title": "t", "error": "auth"}`) }, "refused the credentials", true},
		{"issue", func(w *world) { w.Put(w.In("issue.json"), `{"number": 258, "title": "CSV export", "body": "Please."}`) }, "CSV export", false},
		{"comments", func(w *world) {
			w.Put(w.In("issue.json"), `{"number": 258, "title": "CSV export", "body": "Please.", "comments": [{"author": "mika", "body": "old", "created_at": "2025-12-01T10:00:00Z"}, {"author": "keiko", "body": "With a header\nand UTF-8.", "created_at": "2025-12-02T10:00:00Z"}]}`)
		}, "> old\n\n**keiko** 2025-12-02T10:00:00Z\n\n> With a header\n> and UTF-8.\n", false},
		{"many comments", func(w *world) {
			long := strings.Repeat("x", 40<<10)
			w.Put(w.In("issue.json"), `{"number": 258, "title": "CSV export", "comments": [{"author": "mika", "body": "`+long+`"}, {"author": "keiko", "body": "`+long+`"}]}`)
		}, "… older comments left out: 1\n\n**keiko**", false},
		{"summaries", func(w *world) { w.Put(w.In("session-summaries/2.md"), "What was done.") }, "What was done.", false},
		{"bad event", func(w *world) { w.Put(w.In("events/003-step_error.json"), "{}") }, "Last 20 events", false},
		{"no metadata", func(w *world) {
			delete(w.Files, w.In("metadata.json"))
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"status"`, `"workflow_id": "default", "status"`, 1))
		}, "metadata.json: missing or unreadable", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv := []string{"agent"}
			w := answeredExample(t, func(w *world) {
				c.change(w)
				w.config(func(cfg *Config) { cfg.Resume.Command = argv })
				w.Facts.Trusted[CommandDigest(argv)] = true
			})
			if got := w.Files[w.In("context.md")]; !strings.Contains(got, c.want) {
				t.Errorf("context.md does not say %q:\n%s", c.want, got)
			}
			if stops := strings.Contains(w.Files[w.In("resume.md")], "Stop here"); stops != c.stop || (len(w.Begun) == 0) != c.stop {
				t.Errorf("stop %v, began %d:\n%s", stops, len(w.Begun), w.Files[w.In("resume.md")])
			}
		})
	}
}

// context.md is not written while a source is unreadable, because it would call that source missing
// for good.
func TestContextWaitsForItsSources(t *testing.T) {
	w := answeredExample(t, func(w *world) { w.Unsettled[w.In("metadata.json")] = true })
	if w.Has("context.md") {
		t.Fatal("written over an unsettled metadata.json")
	}
	delete(w.Unsettled, w.In("metadata.json"))
	if w.settle(); !w.Has("context.md") {
		t.Error("never written")
	}
}

// `explain` says what blocks a run and what each answer would do.
func TestExplain(t *testing.T) {
	account := func(w *world) string {
		s, _ := w.Full()
		a := New().Account(s)
		var text []string
		text = append(text, a.Why...)
		for _, m := range a.Unblock {
			text = append(text, m.Path+" | "+m.Content)
		}
		return strings.Join(text, "\n")
	}
	w := example(t)
	for _, want := range []string{
		"waits for an answer at architect:design-review", "ticking approve and submit goes on with build:implement",
		"ticking reject and submit stops the whole run for good", "ticking request_changes and submit repeats architect:design-review with your words", "cancel.json",
	} {
		if got := account(w); !strings.Contains(got, want) {
			t.Errorf("explain does not say %q:\n%s", want, got)
		}
	}
	w.Put("specs/WORK-00258-design.md", "# Another\n")
	w.settle()
	if got := account(w); !strings.Contains(got, "specs/WORK-00258-design.md changed since it was shown") {
		t.Error(got)
	}
	w.Respond(exampleID, map[string]any{"response": "lgtm"})
	w.settle()
	if got := account(w); !strings.Contains(got, "does not count") {
		t.Error(got)
	}

	w = failedRun(t)
	if got := account(w); !strings.Contains(got, "ticking retry and submit repeats evaluate:test") || !strings.Contains(got, "ticking skip and submit leaves evaluate:test out and goes on") {
		t.Error(got)
	}
	w.Respond("fr-1", map[string]any{"response": "retry"})
	if got := account(w); !strings.Contains(got, "it is taken at the next pass") {
		t.Error(got)
	}
	w.settle()
	if got := account(w); !strings.Contains(got, "an agent goes on at evaluate:test") {
		t.Error(got)
	}

	w = newWorld(t, plainDir)
	if got := account(w); !strings.Contains(got, "there is no state.json") {
		t.Error(got)
	}
	w.Put(w.Run.State, "{")
	if got := account(w); !strings.Contains(got, "still being written") {
		t.Error(got)
	}
}

// `show` reports an agent that has been silent for an hour, retries, and the plan with the current
// step and the gates marked.
func TestAccountFactsAndGraph(t *testing.T) {
	w := example(t)
	s, _ := w.Full()
	a := New().Account(s)
	marks := map[string]engine.Node{}
	for _, n := range a.Graph {
		marks[n.ID] = n
	}
	if !marks["architect:design-review"].Current || !marks["release:merge-pr"].Gate || marks["frame:fetch-issue"].Status != Completed || marks["build:implement"].Status != Pending {
		t.Errorf("graph %+v", a.Graph)
	}
	if len(a.Log) != 15 || a.Log[14].Event != "feedback_request" || a.ShortID != "3f2b8c1e" {
		t.Errorf("log %d, short %s", len(a.Log), a.ShortID)
	}
	w.Respond(exampleID, map[string]any{"response": "request_changes", "comment": "again"})
	w.settle()
	w.Now = w.Now.Add(2 * time.Hour)
	s, _ = w.Full()
	facts := map[string]string{}
	for _, f := range New().Account(s).Facts {
		facts[f.Label] = f.Value
	}
	if facts["quiet"] == "" || facts["retries"] != "1" || facts["work item"] != "#258" {
		t.Errorf("facts %v", facts)
	}
}

// The commit that continues the run also writes resume.md. The answer waits while a file is
// unreadable that determines resume.md.
func TestResumeIsWrittenWithTheState(t *testing.T) {
	for _, source := range []string{"specs/x.md", plainDir + "/issue.json"} {
		w := waitingRun(t)
		w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"status"`, `"work_id": 1, "artifacts": {"spec_path": "specs/x.md"}, "status"`, 1))
		w.Put("specs/x.md", "# X\n")
		w.Put(w.In("issue.json"), `{"number": 1, "title": "t"}`)
		w.Unsettled[source] = true
		w.Respond("fr-1", map[string]any{"response": "request_changes", "comment": "Use UTF-8"})
		if taken := w.settle(); len(taken) > 0 || w.Has("resume.md") {
			t.Errorf("%s is being written: took %v", source, taken)
		}
		delete(w.Unsettled, source)
		var writes []string
		_, p := w.Full()
		for _, d := range p.Writes {
			writes = append(writes, w.Snapshot(nil).Rel(d.Path))
		}
		if len(p.Transitions) == 0 || !slices.Contains(writes, "resume.md") || !slices.Contains(writes, "state.json") {
			t.Errorf("%s: transitions %v, writes %q", source, p.Transitions, writes)
		}
		w.settle()
		for _, d := range p.Writes {
			if d.Path == w.In("resume.md") && w.Files[d.Path] != string(d.Body) {
				t.Errorf("resume.md is written twice:\n%s\n%s", d.Body, w.Files[d.Path])
			}
		}
	}
}
