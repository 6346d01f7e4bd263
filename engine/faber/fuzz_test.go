package faber_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/faber"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// stageOf returns a run with some files on a stage.
func stageOf(t testing.TB, files enginetest.Tree) *enginetest.Stage {
	run, ok := layout.Faber{}.At(lawState)
	if !ok {
		t.Fatal("the layout does not know the run")
	}
	config := faber.DefaultConfig()
	config.AskFailed = "all"
	s := enginetest.NewStage(t, faber.New(), layout.Faber{}, run, engine.Config{Language: "en", Family: config})
	for p, body := range files {
		s.Put(p, body)
	}
	return s
}

// told holds the files of a run at several points of a case: asked, answered, taken up.
func told(f *testing.F, typ, options, response, comment string) (points []enginetest.Tree) {
	s := stageOf(f, asking(typ, "build", "make", options))
	s.Settle()
	points = append(points, enginetest.Tree(s.Files).Clone())
	s.Respond("fr-1", map[string]any{"response": response, "comment": comment})
	points = append(points, enginetest.Tree(s.Files).Clone())
	s.Settle()
	return append(points, enginetest.Tree(s.Files).Clone())
}

const lawRequest = lawDir + "/requests/fr-1/"

// stories are the types of request with an answer to each.
var stories = [][4]string{
	{"approval", "", "approve", "Looks good"}, {"confirmation", "", "cancel", ""}, {"review", "", "request_changes", "Use UTF-8"},
	{"error_resolution", "", "skip", ""}, {"selection", `, "options": ["option-a", "option-b"]`, "option-b", ""}, {"clarification", "", "so", ""},
}

// FuzzState puts any content in the place of the documents that move a run: each step is legal, the
// run settles, and every recorded answer is one that was offered.
func FuzzState(f *testing.F) {
	for _, story := range stories {
		points := told(f, story[0], story[1], story[2], story[3])
		for _, p := range points {
			f.Add(p[lawState], p[lawRequest+"request.json"], p[lawRequest+"response.json"], p[lawRequest+"receipt.json"], p[lawRequest+"form.md"])
		}
		// An older state beside its own consequences.
		f.Add(points[0][lawState], points[2][lawRequest+"request.json"], points[2][lawRequest+"response.json"], points[2][lawRequest+"receipt.json"], points[2][lawRequest+"form.md"])
	}
	for _, s := range []string{"pending", "in_progress", "paused", "failed", "completed", "cancelled", "thinking"} {
		f.Add(fmt.Sprintf(`{"status": %q, "current_phase": "build", "current_step": "make", "phases": {"build": {"steps": ["make"]}}}`, s), "", "", "", "")
	}
	f.Fuzz(func(t *testing.T, state, request, response, receipt, form string) {
		s := enginetest.Fuzzed(t, stageOf(t, nil), laws())
		put := func(p, body string) {
			if body != "" {
				s.Put(p, body)
			}
		}
		put(lawState, state)
		put(lawRequest+"request.json", request)
		put(lawRequest+"response.json", response)
		put(lawRequest+"receipt.json", receipt)
		put(lawRequest+"form.md", form)
		others := enginetest.Tree(s.Files).Clone()
		s.Calm()
		checkRecord(t, s, others, receipt)
	})
}

// checkRecord asserts what must be true of a settled run, whatever its files were before.
func checkRecord(t *testing.T, s *enginetest.Stage, before enginetest.Tree, receipt string) {
	t.Helper()
	for p, body := range before {
		if name := path.Base(p); (name == "response.json" || name == "form.md") && s.Files[p] != body {
			t.Fatalf("%s was %q and is %q", p, body, s.Files[p])
		}
	}
	var was, is faber.State
	if schemas.Decode("faber/state", "state.json", []byte(before[lawState]), &was) != nil {
		if cancelled := s.Has("cancel.json"); s.Files[lawState] != before[lawState] && !cancelled {
			t.Fatalf("a state that cannot be read was changed from\n%s\nto\n%s", before[lawState], s.Files[lawState])
		}
		return
	}
	if err := schemas.Decode("faber/state", "state.json", []byte(s.Files[lawState]), &is); err != nil {
		t.Fatalf("the state became unreadable: %v\n%s", err, s.Files[lawState])
	}
	checkUnknown(t, before[lawState], s.Files[lawState])
	if len(is.History) > len(was.History)+1 {
		t.Fatalf("%d answers of one request: %+v", len(is.History)-len(was.History), is.History)
	}
	if len(is.History) > len(was.History) && was.Feedback != nil && receipt == "" {
		last := is.History[len(is.History)-1]
		if last.RequestID != was.Feedback.RequestID {
			t.Fatalf("the request %q is answered as %q", was.Feedback.RequestID, last.RequestID)
		}
		if options := was.Feedback.Options; len(options) > 0 && !slices.Contains(options, last.Response) {
			t.Fatalf("%q was not offered: %q", last.Response, options)
		}
	}
}

// ours are the members of state.json that placet changes.
var ours = []string{
	"status", "last_event_id", "updated_at", "completed_at", "phases", "steps", "steps_completed", "feedback_request", "resume_point",
	"feedback_history", "errors", "cancellation_reason", "revision", "last_transition", "current_step",
}

// checkUnknown asserts that members which placet does not change keep their
// bytes.
func checkUnknown(t *testing.T, before, after string) {
	t.Helper()
	was, errWas := schemas.Members([]byte(before))
	is, errIs := schemas.Members([]byte(after))
	if errWas != nil || errIs != nil {
		t.Fatal(errWas, errIs)
	}
	for _, m := range was.Without(ours...) {
		if got := is.Raw(m.Name); string(got) != string(m.Value.(schemas.Raw)) {
			t.Fatalf("/%s was %s and is %s", m.Name, m.Value, got)
		}
	}
}

// FuzzEvents puts any content and any names into events/. Other people's files stay unchanged,
// placet's own events have unused numbers, and an event only gives an answer that was offered.
func FuzzEvents(f *testing.F) {
	received := `{"event_id": 2, "type": "feedback_received", "timestamp": "2025-12-06T18:10:00.000Z", "run_id": "x", "user": "kim", "metadata": {"request_id": "fr-1", "response": "approve"}}`
	f.Add("002-feedback_received.json", received, "003-step_start.json", `{"event_id": 3, "type": "step_start", "timestamp": "2025-12-06T18:11:00.000Z", "run_id": "x"}`, "4\n")
	f.Add("002-feedback_received.json", strings.Replace(received, "approve", "lgtm", 1), "002-step_error.json", "{", "0\n")
	f.Add("999999999-step_start.json", received, "000-workflow_start.json", received, "999999999\n")
	f.Add("002-feedback_request.json", `{"event_id": 2, "type": "feedback_request", "timestamp": "2099-12-06T18:10:00.000Z", "run_id": "x", "metadata": {"request_id": "fr-1", "placet": {"revision": 7, "key": "000000000000"}}}`, "x.json", "", "-1\n")
	f.Add("002-feedback_received.json", strings.Replace(received, `"response"`, `"placet": {"revision": 9, "key": "0123456789ab"}, "response"`, 1), "003-workflow_cancelled.json", `{"event_id": 3, "type": "workflow_cancelled", "timestamp": "x", "run_id": "", "metadata": []}`, "many\n")
	f.Fuzz(func(t *testing.T, name, body, name2, body2, next string) {
		s := enginetest.Fuzzed(t, stageOf(t, asking("approval", "build", "make", "")), laws())
		put := func(name, body string) {
			if name != "" && name != "." && name != ".." && len(name) < 256 && !strings.ContainsAny(name, "/\x00") {
				s.Write("events/"+name, body)
			}
		}
		put(name, body)
		put(name2, body2)
		put(".next-id", next)
		others := enginetest.Tree(s.Files).Clone()
		s.Calm()
		for p, was := range others {
			if p != lawState && path.Base(p) != ".next-id" && s.Files[p] != was {
				t.Fatalf("%s was %q and is %q", p, was, s.Files[p])
			}
		}
		checkRecord(t, s, others, "")
		checkNumbers(t, s, others)
	})
}

// checkNumbers asserts that placet's events have numbers after all existing ones, each once.
func checkNumbers(t *testing.T, s *enginetest.Stage, before enginetest.Tree) {
	t.Helper()
	highest := 0
	for p := range before {
		if path.Dir(p) == lawDir+"/events" {
			n, _, _ := layout.FaberEventName(path.Base(p))
			highest = max(highest, n)
		}
	}
	seen := map[int]string{}
	for p, body := range s.Files {
		n, _, ok := layout.FaberEventName(path.Base(p))
		if _, was := before[p]; was || path.Dir(p) != lawDir+"/events" || !ok {
			continue
		}
		if n <= highest || seen[n] != "" {
			t.Fatalf("%s is numbered as if %q were not there, highest before: %d", p, seen[n], highest)
		}
		seen[n] = p
		if err := schemas.Decode("faber/event", p, []byte(body), nil); err != nil {
			t.Fatalf("an event of ours cannot be read: %v\n%s", err, body)
		}
	}
}
