package afl

import (
	"strings"
	"testing"
	"time"

	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// fuzzSuite is what the judge needs to know of the family.
func fuzzSuite() enginetest.Suite { return enginetest.Suite{Layout: layout.AFL{}} }

// points are sessions at several points of their progress.
func points(f testing.TB) map[string]*world {
	all := map[string]*world{}
	all["designing"] = newWorld(f)
	all["designing"].Write(specsYAML, design("", cp{id: "a"}))
	all["asked"] = newWorld(f)
	all["asked"].Write(specsYAML, design("", cp{id: "a"}, cp{id: "b", after: []string{"a"}}))
	all["asked"].settle()
	all["asked"].pass(time.Minute)
	all["in progress"] = oneInProgress(f)
	all["validating"] = oneInProgress(f)
	all["validating"].trust()
	all["validating"].done("a")
	all["waiting"] = oneInProgress(f)
	all["waiting"].workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
	all["retrying"] = oneInProgress(f)
	all["retrying"].trust()
	all["retrying"].failOnce("a", "1 failing\nAssertionError: no")
	all["escalated"] = escalatedWorld(f, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	all["second layout"] = newWorld(f)
	all["second layout"].Write("meta.json", "{}")
	all["second layout"].Write("checkpoints/b.json", `{"id": "b", "validation": {"command": "run b"}}`)
	all["reviewed"] = approvedWorld(f, cp{id: "a"})
	all["reviewed"].config(func(c *Config) { c.Review = ptr(reviewExternal) })
	all["reviewed"].untilBegun()
	all["reviewed"].trust()
	all["reviewed"].passOnce("a")
	for _, w := range all {
		w.settle()
	}
	return all
}

// copyOf returns a copy of a stage for a test of its own, with a judge.
func copyOf(t *testing.T, w *world) *world {
	s := *w.Stage
	s.Files = enginetest.Tree(s.Files).Clone()
	s.Changed, s.Owner, s.Unsettled = map[string]time.Time{}, map[string]string{}, map[string]bool{}
	s.Facts.Alive, s.Begun, s.Ended = map[string]bool{}, nil, nil
	s.Machine = New()
	return &world{enginetest.Fuzzed(t, &s, fuzzSuite())}
}

// FuzzState puts any content in the place of placet's own documents: each step is legal, the
// session settles, an unreadable state stays unchanged, and a revision never falls back.
func FuzzState(f *testing.F) {
	for _, w := range points(f) {
		request, receipt := w.find("/request.json"), w.find("/receipt.json")
		f.Add(w.Files[w.In("state.json")], w.Files[w.In("events.jsonl")], w.Files[request], w.Files[receipt], true)
		f.Add(w.Files[w.In("state.json")], w.Files[w.In("events.jsonl")]+"{", "", "", false)
	}
	f.Add(`{"schema_version": 1}`, `{"seq": 1}`+"\n", "{}", "{}", true)
	f.Add("", "\n", "", "", false)
	f.Fuzz(func(t *testing.T, state, events, request, receipt string, specs bool) {
		w := copyOf(t, newWorld(t))
		put := func(rel, body string) {
			if body != "" {
				w.Write(rel, body)
			}
		}
		if specs {
			w.Write(specsYAML, design(approvedHead, cp{id: "a"}, cp{id: "b", after: []string{"a"}}))
		}
		put("state.json", state)
		put("events.jsonl", events)
		id := "question-0123456789ab"
		if q, err := schemas.Members([]byte(request)); err == nil {
			if named, ok := q.Raw("request_id").Text(); ok && layout.IsRequestID(named) {
				id = named
			}
		}
		put("requests/"+id+"/request.json", request)
		put("requests/"+id+"/receipt.json", receipt)
		w.Calm()
		checkSession(t, w, state, events)
	})
}

// find returns the path of the first file with a suffix.
func (w *world) find(suffix string) string {
	for _, p := range (enginetest.Tree)(w.Files).Paths() {
		if strings.HasSuffix(p, suffix) {
			return p
		}
	}
	return ""
}

// checkSession asserts what must be true of a settled session.
func checkSession(t *testing.T, w *world, state, events string) {
	t.Helper()
	after := w.Files[w.In("state.json")]
	was, err := DecodeState("state.json", []byte(state))
	if state != "" && err != nil && after != state {
		t.Fatalf("a state that cannot be read was changed from\n%s\nto\n%s", state, after)
	}
	if state == "" && events != "" && after != "" {
		t.Fatalf("a session began anew beside a journal: %s", after)
	}
	if after == "" || after == state {
		return
	}
	is, err := DecodeState("state.json", []byte(after))
	if err != nil {
		t.Fatalf("the state became unreadable: %v\n%s", err, after)
	}
	if is.Revision <= was.Revision {
		t.Fatalf("revision %d became %d", was.Revision, is.Revision)
	}
	journal := w.Files[w.In("events.jsonl")]
	if whole := events[:strings.LastIndexByte(events, '\n')+1]; !strings.HasPrefix(journal, whole) {
		t.Fatalf("lines are lost: %q became %q", events, journal)
	}
}

// handIns are the documents that others write, with the point of a session at which they count.
var handIns = []struct{ at, rel, body string }{
	{"in progress", attemptOne + "worker.json", `{"status": "completed"}`},
	{"in progress", attemptOne + "worker.json", `{"status": "failed", "message": "no such host", "changed_files": ["a.go"]}`},
	{"in progress", attemptOne + "result.json", `{"iteration": 1, "exitCode": 1, "output": "1 failing"}`},
	{"in progress", "delegations/a/pending-question.json", `{"timestamp": "2026-01-01T00:00:00Z", "checkpoint": "a", "question": "{\"tool_input\": {\"questions\": [{\"question\": \"Which?\", \"options\": [{\"label\": \"this\"}]}]}}"}`},
	{"in progress", "control.json", `{"want": "abort", "by": "kim", "reason": "enough"}`},
	{"in progress", "meta.json", `{"sessionId": "abc12345", "title": "A", "status": "completed", "checkpointsApproved": true}`},
	{"designing", "meta.json", `{"sessionId": "abc12345", "checkpointsApproved": true}`},
	{"second layout", "checkpoints/a.json", `{"id": "a", "validation": {"command": "run a"}}`},
	{"validating", attemptOne + "analysis.json", `{"failure_type": "ENV_ISSUE", "causes": ["c"], "suggestions": [{"file": "a", "line": 3, "before": "x", "after": "y", "why": "z"}]}`},
	{"validating", attemptOne + "validation.json", `{"iteration": 1, "run": 1}`},
	{"reviewed", "review.json", `{"reviewer": "r", "findings": [{"checkpoint": "a", "severity": "blocking", "title": "t"}]}`},
	{"waiting", attemptOne + "worker.json", `{"status": "question", "question": "Another?"}`},
	{"in progress", "../../state/current-delegation.json", `{"sessionId": "abc12345", "currentCheckpoint": "a", "iteration": 1, "status": "validating"}`},
}

// FuzzHandIns puts any content in the place of a document that others write. An unreadable one
// moves nothing and gets a note, and the file never changes.
func FuzzHandIns(f *testing.F) {
	for i, h := range handIns {
		f.Add(uint8(i), h.body)
		f.Add(uint8(i), h.body[:len(h.body)/2])
		f.Add(uint8(i), strings.Replace(h.body, `"`, `"\u202e`, 3))
	}
	at := points(f)
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		h := handIns[int(which)%len(handIns)]
		w := copyOf(t, at[h.at])
		w.Calm() // everything that waits for a time is due
		before, p := w.Files[w.In("state.json")], w.In(h.rel)
		w.Put(p, body)
		w.Calm()
		if w.Files[p] != body {
			t.Fatalf("%s was %q and is %q", p, body, w.Files[p])
		}
		if schemas.Decode("", p, []byte(body), nil) == nil {
			return
		}
		if after := w.Files[w.In("state.json")]; after != before {
			t.Fatalf("%q in %s moved the session from\n%s\nto\n%s", body, p, before, after)
		}
		if len(w.notes()) == 0 {
			t.Fatalf("nobody says that %q in %s cannot be read", body, p)
		}
	})
}

// FuzzUpstream puts any content into upstream's configuration files. If they are unusable no
// session moves, no limit leaves its bounds, and a file that nobody has agreed to loosens no
// policy.
func FuzzUpstream(f *testing.F) {
	f.Add("feedback_loop: {max_iterations: 3, mode: auto}\nagents: {impl_reviewer: false}\n", `{"feedbackRouting": {"runImplReviewerOnPass": false, "maxIterations": 9}}`)
	f.Add("validation: {method: manual, timeout: 1000}\n", `{"delegation": {"parallelWorkers": 2.5}}`)
	f.Add("feedback_loop: {retry_delay: 99999999999999999999}\n", "{")
	f.Add("a: &x [*x]\n", `{"feedbackLoop": {"maxIterations": 0, "MAXITERATIONS": 9}}`)
	begun := oneInProgress(f)
	f.Fuzz(func(t *testing.T, yaml, json string) {
		w := copyOf(t, begun)
		before := w.Files[w.In("state.json")]
		w.Put(upstreamYAML, yaml)
		w.Put(upstreamJSON, json)
		w.done("a")
		w.Calm()
		s, _ := w.Full()
		r := read(s)
		moved := w.Files[w.In("state.json")] != before
		if r.cfgBad && (moved || len(w.notes()) == 0) {
			t.Fatalf("a configuration that cannot be used: moved %v, notes %q", moved, w.notes())
		}
		if r.cfgBad {
			return
		}
		c := r.cfg
		if !moved || c.MaxIterations < 1 || c.MaxIterations > 50 || c.Workers < 1 || c.Workers > 32 || c.PatternAfter < 2 || c.PatternAfter > 20 ||
			c.RetryDelay < 0 || c.RetryDelay > 24*time.Hour || c.ValidationTimeout < time.Second || c.ValidationTimeout > 24*time.Hour {
			t.Fatalf("moved %v, settings %+v", moved, c)
		}
		if c.Review != reviewPerson || c.Validation != validateCommand || c.WorkerCommand != "" || c.Interrupted != interruptedAsk {
			t.Fatalf("nobody has agreed to %+v", c)
		}
	})
}
