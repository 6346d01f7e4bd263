package faber_test

import (
	"fmt"
	"strings"
	"testing"

	"placet/internal/badinput"
	"placet/internal/enginetest"
	"placet/layout"
)

const besideDir = ".fractary/faber/runs/acme/web/00000000-0000-4000-8000-000000000002"

// besideRun returns a run that asks for an approval and gets it.
func besideRun() enginetest.Beside {
	begin := enginetest.Tree{}
	for p, body := range asking("approval", "build", "make", "") {
		begin[strings.Replace(p, lawDir, besideDir, 1)] = body
	}
	return enginetest.Beside{
		Begin: begin,
		Comes: enginetest.Tree{besideDir + "/requests/fr-1/response.json": answerOf("approve")},
		Taken: func(t enginetest.Tree) bool {
			return strings.Contains(t[besideDir+"/state.json"], "answered_continue")
		},
	}
}

func answerOf(word string) string {
	return fmt.Sprintf("{\n  \"request_id\": \"fr-1\",\n  \"response\": %q,\n  \"provided_by\": {\"user\": \"kim\", \"source\": \"file\"}\n}\n", word)
}

// all returns the deviations of several kinds for one reason.
func all(o enginetest.Outcome, reason string, kinds ...string) map[string]enginetest.Deviation {
	m := map[string]enginetest.Deviation{}
	for _, k := range kinds {
		m[k] = enginetest.Deviation{Outcome: o, Reason: reason}
	}
	return m
}

// badInputs are the documents of FABER that others write.
func badInputs(t *testing.T) []enginetest.Input {
	asked := asking("approval", "build", "make", "")
	note := lawRequest + "problem.md"
	stage := stageOf(t, asked)
	stage.Settle()
	form := stage.Files[lawForm]
	request := stage.Files[lawRequest+"request.json"]
	ticked := enginetest.Tree{lawForm: form}
	tick(lawForm, "approve").Do(ticked)
	stage.Respond("fr-1", map[string]any{"response": "approve"})
	stage.Settle()
	answered := enginetest.Tree(stage.Files).Clone()
	response := enginetest.Tree{lawRequest + "response.json": answerOf("approve")}
	warning := &enginetest.Deviation{Outcome: enginetest.Silent, Reason: "the page: a warning of check, never a stop"}
	in := func(name, path, body string, begin enginetest.Tree) enginetest.Input {
		return enginetest.Input{Name: name, Path: path, Good: badinput.Good{Body: body}, Begin: begin, Run: lawDir}
	}

	state := in("state.json", lawState, asked[lawState], asked)
	state.Required, state.Text, state.Word, state.Number, state.ID = "status", "current_phase", "status", "last_event_id", "feedback_request.request_id"
	state.Late = response
	state.Deviates = all(enginetest.Taken, "the page: state documents have 16 MiB", "10 MB")

	metadata := in("metadata.json", lawDir+"/metadata.json", `{"run_id": "x", "workflow_id": "none"}`, asked)
	metadata.Text, metadata.Calm, metadata.All = "workflow_id", true, warning

	event := in("event", lawDir+"/events/007-step_start.json", `{"event_id": 7, "type": "step_start", "timestamp": "2025-12-06T17:00:00.000Z", "run_id": "x"}`, asked)
	event.Required, event.Text, event.Number, event.Calm, event.All = "type", "run_id", "event_id", true, warning
	event.Deviates = all(enginetest.Noted, "it may be an event of placet's own, from before a crash", "no permission")
	event.Note = lawState + ".problem.md"

	next := in(".next-id", lawDir+"/events/.next-id", "3\n", asked)
	next.Format, next.Calm = badinput.Markdown, true
	next.All = &enginetest.Deviation{Outcome: enginetest.Mended, Reason: "the page: the next event takes the highest number + 1; the file is shared"}
	next.Deviates = all(enginetest.Silent, "what cannot be read is left alone, and check names it",
		"10 MB", "NUL tail", "a folder in its place", "a FIFO", "a link out of the workspace", "a link loop", "no permission")

	cancel := in("cancel.json", lawDir+"/cancel.json", "{\n \"by\": \"kim\",\n \"reason\": \"not needed\"\n}\n", asked)
	cancel.Required, cancel.Text = "by", "reason"

	issue := in("issue.json", lawDir+"/issue.json", `{"number": 258, "title": "t", "body": "b", "state": "open", "labels": [], "comments": [], "url": "u", "fetched_at": "2025-12-06T17:00:00Z"}`, answered)
	issue.Required, issue.Text, issue.Calm = "number", "title", true

	issue.Deviates = map[string]enginetest.Deviation{"no permission": {Outcome: enginetest.Silent, Reason: "context.md stands already"}}

	posted := in("posted.json", lawRequest+"posted.json", `{"comment_url": "https://example.invalid/1", "posted_at": "2025-12-06T18:20:00Z"}`, asked)
	posted.Required, posted.Text, posted.Calm = "comment_url", "comment_url", true

	reply := in("response.json", lawRequest+"response.json", answerOf("approve"), asked)
	reply.Required, reply.Text, reply.Word, reply.ID, reply.Note = "response", "response", "response", "request_id", note
	reply.Deviates = all(enginetest.Taken, "a second answer that is alike is the same answer", "sync-conflict copy")

	paper := in("form.md", lawForm, ticked[lawForm], asked)
	paper.Format, paper.Note = badinput.Markdown, note
	paper.Deviates = all(enginetest.Mended, "a form that is gone is written again", "missing")
	paper.Deviates["doubly encoded UTF-8"] = enginetest.Deviation{Outcome: enginetest.Noted, Reason: "only ticks and the comment may differ from what placet wrote"}
	paper.Deviates["byte order mark"] = enginetest.Deviation{Outcome: enginetest.Taken, Reason: "editors put one before the first line, and it decides nothing"}

	ask := in("request.json", lawRequest+"request.json", request, asked)
	ask.Required, ask.Text, ask.Number, ask.ID = "options", "prompt", "revision", "request_id"
	ask.Late = response
	ask.Deviates = all(enginetest.Noted, "the digest is of every character: what was asked is not what was shown", "doubly encoded UTF-8")
	ask.Deviates["missing"] = enginetest.Deviation{Outcome: enginetest.Mended, Reason: "a request that is gone is written again"}

	plan := in("workflow definition", ".fractary/faber/workflows/default.json", `{"id": "default", "phases": {"build": {"steps": [{"id": "make"}]}}}`, asked)
	plan.Required, plan.Text, plan.Calm, plan.All = "id", "id", true, warning
	return []enginetest.Input{state, metadata, event, next, cancel, issue, posted, reply, paper, ask, plan}
}

func TestEveryKindOfBadFileOfEveryDocument(t *testing.T) {
	enginetest.BadFiles(t, laws(), besideRun(), badInputs(t))
}

// scrambled is a workspace with one run.
func scrambled(t *testing.T, files enginetest.Tree) *enginetest.Scramble {
	s := enginetest.NewScramble(t, laws())
	for p, body := range files {
		s.Put(p, body)
	}
	s.Look()
	return s
}

// placet waits for a source of context.md that it may not read, and says so.
func TestWhatMayNotBeReadIsSaid(t *testing.T) {
	s := scrambled(t, asking("approval", "build", "make", ""))
	issue, note := lawDir+"/issue.json", lawState+".problem.md"
	s.Put(issue, `{"number": 258, "title": "t"}`)
	s.Disk.Chmod(issue, 0, 0, 0)
	s.Put(lawRequest+"response.json", answerOf("approve"))
	s.Look()
	if text, _ := s.Disk.Get(note); !strings.Contains(text, "issue.json") || !strings.Contains(text, "permission denied") {
		t.Errorf("nobody says why the agent gets nothing: %q", text)
	}
	s.Disk.Chmod(issue, 0o644, 0, 0)
	s.Look()
	if text, stands := s.Disk.Get(note); stands {
		t.Errorf("the note still stands: %q", text)
	}
	if _, written := s.Disk.Get(lawDir + "/resume.md"); !written {
		t.Error("resume.md is not written")
	}
}

// The longest readable answer is carried out once, and the documents made from it are readable.
func TestTheLongestAnswerIsTakenOnce(t *testing.T) {
	long := strings.Repeat("x", layout.LimitJSON-200)
	s := scrambled(t, asking("review", "build", "make", ""))
	form, _ := s.Disk.Get(lawForm)
	hidden := enginetest.Tree{lawForm: strings.Replace(form, "\n\n- [ ] submit", "\n\n"+strings.Repeat("\x01", layout.LimitText/2)+"\n\n- [ ] submit", 1)}
	tick(lawForm, "reject").Do(hidden)
	for name, answer := range map[string]enginetest.Tree{
		"response": {lawRequest + "response.json": strings.Replace(answerOf("reject"), `"response"`, `"comment": "`+long+`", "response"`, 1)},
		"form":     hidden,
	} {
		s := scrambled(t, asking("review", "build", "make", ""))
		for p, body := range answer {
			s.Put(p, body)
		}
		s.Look()
		s.Look()
		tree := enginetest.Tree(s.Disk.Tree())
		taken := strings.Contains(tree[lawState], `"cancelled"`)
		if _, refused := tree[lawRequest+"problem.md"]; taken == refused {
			t.Errorf("%s: taken %t, refused %t", name, taken, refused)
		}
		received := 0
		for p, body := range tree {
			if strings.HasSuffix(p, "feedback_received.json") {
				received++
			}
			if strings.HasSuffix(p, ".json") && len(body) > layout.LimitJSON && p != lawState {
				t.Errorf("%s: %s has %d bytes: nobody reads it again", name, p, len(body))
			}
		}
		if taken != (received == 1) {
			t.Errorf("%s: taken %t, %d events", name, taken, received)
		}
	}
}

// A request that is too long makes the state that asks it unusable.
func TestARequestThatIsTooLongIsNotAsked(t *testing.T) {
	files := asking("review", "build", "make", "")
	files[lawState] = strings.Replace(files[lawState], "Well?", strings.Repeat("x", 2*layout.LimitJSON), 1)
	s := scrambled(t, files)
	tree := enginetest.Tree(s.Disk.Tree())
	if len(tree[lawRequest+"request.json"]) > layout.LimitJSON || tree[lawState] != files[lawState] || tree[lawState+".problem.md"] == "" {
		t.Errorf("request.json has %d bytes, the state moved: %t, note %.300q", len(tree[lawRequest+"request.json"]), tree[lawState] != files[lawState], tree[lawState+".problem.md"])
	}
}
