package optimizer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// stages are cycles at several points of their progress.
func stages(f testing.TB) map[string]*stage {
	all := map[string]*stage{}
	at := func(name string, prepare func(s *stage)) {
		s := newStage(f)
		prepare(s)
		s.rest()
		all[name] = s
	}
	level := func(level int) func(s *stage) {
		return func(s *stage) {
			s.Write("inputs/assets.json", assetsOf(level))
			s.Write("retrieved.jsonl", retrievedLines)
			s.Write("suggestions.json", threeSuggestions)
			s.Write("trigger.json", triggerOf(flow))
		}
	}
	at("asked", level(20))
	at("asked at 10", level(10))
	at("capped", func(s *stage) { s.Write("trigger.json", triggerOf(flow, `"timeout_reentries": 9`)) })
	at("running", func(s *stage) { level(30)(s); delete(s.Files, s.In("retrieved.jsonl")) })
	at("deciding", func(s *stage) { level(20)(s); s.Write("inputs/kpi.json", "{") })
	at("answered", func(s *stage) {
		level(20)(s)
		s.rest()
		s.Tick(enginetest.Tree(s.Files).Find(s.In("requests/hitl-*/form.md")), "raise", "s1", "submit")
	})
	at("silence", func(s *stage) {
		level(20)(s)
		s.rest()
		s.Now = s.Now.Add(49 * time.Hour)
	})
	at("failed", func(s *stage) { level(20)(s); s.Write("stop.json", `{"reason": "enough"}`) })
	return all
}

// FuzzState puts any content in the place of placet's own documents: each step is legal, the cycle
// settles, an unreadable state stays unchanged, and a revision never falls back.
func FuzzState(f *testing.F) {
	for _, s := range stages(f) {
		f.Add(s.Files[s.In("state.json")], s.Files[s.In("events.jsonl")], s.Files[s.find("request.json")], s.Files[s.find("receipt.json")], s.Files[s.In("goal.json")])
		f.Add(strings.Replace(s.Files[s.In("state.json")], "awaiting_human", "running", 1), s.Files[s.In("events.jsonl")]+"{", "", "", "{}")
	}
	f.Add(`{"schema_version": 1}`, `{"seq": 1}`+"\n", "{}", "{}", "")
	f.Add("", "\n", "", "", "")
	begun := stages(f)["asked"]
	f.Fuzz(func(t *testing.T, state, events, request, receipt, goal string) {
		s := copyOf(t, newStage(t))
		for _, rel := range []string{"trigger.json", "inputs/assets.json", "retrieved.jsonl", "suggestions.json", "context.json", "audit.json"} {
			s.put(rel, begun.Files[begun.In(rel)])
		}
		s.put("state.json", state)
		s.put("events.jsonl", events)
		s.put("goal.json", goal)
		id := "hitl-01234567"
		if q, err := schemas.Members([]byte(request)); err == nil {
			if named, ok := q.Raw("request_id").Text(); ok && layout.IsRequestID(named) {
				id = named
			}
		}
		s.put("requests/"+id+"/request.json", request)
		s.put("requests/"+id+"/receipt.json", receipt)
		s.rest()
		checkCycle(t, s, state, events)
	})
}

// checkCycle asserts what must be true of a settled cycle.
func checkCycle(t *testing.T, s *stage, state, events string) {
	t.Helper()
	after := s.Files[s.In("state.json")]
	was, err := decodeState("state.json", []byte(state))
	if state != "" && err != nil && after != state {
		t.Fatalf("a state that cannot be read was changed from\n%s\nto\n%s", state, after)
	}
	if after == "" || after == state {
		return
	}
	is, err := decodeState("state.json", []byte(after))
	if err != nil {
		t.Fatalf("the state became unreadable: %v\n%s", err, after)
	}
	if is.Revision <= was.Revision {
		t.Fatalf("revision %d became %d", was.Revision, is.Revision)
	}
	if whole := events[:strings.LastIndexByte(events, '\n')+1]; !strings.HasPrefix(s.Files[s.In("events.jsonl")], whole) {
		t.Fatalf("lines are lost: %q became %q", events, s.Files[s.In("events.jsonl")])
	}
}

// FuzzTrigger begins cycles with any trigger. An unreadable one begins nothing and gets a note; the
// state keeps the content of a readable one unchanged.
func FuzzTrigger(f *testing.F) {
	f.Add(triggerOf(flow))
	f.Add(triggerOf(flow, `"last_run_id": "`+runB+`"`, `"current_level": 20.0`, `"timeout_reentries": 4`, `"current_metrics": {"a": 1, "b": {"value": 2, "unit": "ratio"}}`))
	f.Add(`{"workflow_name": "a/b"}`)
	f.Add(`{"workflow_name": "\u202e", "optimization_directives": ["x"], "trigger_type": "milestone"}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := copyOf(t, newStage(t))
		s.Write("inputs/assets.json", assetsOf(10))
		s.Write("trigger.json", body)
		s.rest()
		if s.Read("trigger.json") != body {
			t.Fatalf("the trigger was %q and is %q", body, s.Read("trigger.json"))
		}
		if !s.Has("state.json") {
			if !s.Has("trigger.json.problem.md") {
				t.Fatalf("nobody says why %q begins nothing", body)
			}
			return
		}
		st, err := decodeState("state.json", []byte(s.Read("state.json")))
		if err != nil || st.Status != Awaiting && st.Status != Context {
			t.Fatalf("%q leads to %s, %v", body, st.Status, err)
		}
		want, err := decodeTrigger("trigger.json", []byte(body))
		if err != nil || st.WorkflowName != want.WorkflowName || st.trig.LastRunID != want.LastRunID || st.TriggerDigest != text(engine.Sum([]byte(body))) {
			t.Fatalf("%q became %+v, %v", body, st.trig, err)
		}
	})
}

// handIns are the documents that others write, with the status of a cycle in which they count.
var handIns = []struct{ at, rel, body string }{
	{"deciding", "inputs/assets.json", assetsOf(30)},
	{"deciding", "inputs/kpi.json", `{"gate_threshold": 80, "metrics": [{"name": "m", "value": 1, "unit": "ratio", "direction": "down", "gate": true}]}`},
	{"deciding", "../../../../docs/usage/" + flow + ".md", "---\nkpi: {gate_threshold: 80, metrics: {m: {value: 3}}}\n---\n"},
	{"running", "retrieved.jsonl", retrievedLines},
	{"running", "suggestions.json", threeSuggestions},
	{"running", "inputs/level-error.json", `{"level": 30, "error": "no"}`},
	{"running", "stop.json", `{"reason": "enough", "by": "kim"}`},
	{"asked", "stop.json", `{"reason": "enough", "by": null}`},
	{"asked", "suggestions.json", threeSuggestions},
	{"asked", "trigger.json", triggerOf(flow)},
}

// FuzzHandIns puts any content in the place of a document that others write. An unreadable one
// moves nothing, and the file never changes.
func FuzzHandIns(f *testing.F) {
	for i, h := range handIns {
		f.Add(uint8(i), h.body)
		f.Add(uint8(i), h.body[:len(h.body)/2])
		f.Add(uint8(i), strings.Replace(h.body, `"`, `"\u202e`, 3))
	}
	all := stages(f)
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		h := handIns[int(which)%len(handIns)]
		s := copyOf(t, all[h.at])
		if h.rel != "inputs/kpi.json" && h.at == "deciding" {
			delete(s.Files, s.In("inputs/kpi.json"))
			s.Write(h.rel, "{") // it still waits
			s.Calm()
		}
		before, p := s.Files[s.In("state.json")], s.In(h.rel)
		s.Put(p, body)
		s.rest()
		if s.Files[p] != body {
			t.Fatalf("%s was %q and is %q", p, body, s.Files[p])
		}
		if after := s.Files[s.In("state.json")]; after != before && strings.HasSuffix(p, ".json") && schemas.Decode("", p, []byte(body), nil) != nil {
			t.Fatalf("%q in %s moved the cycle from\n%s\nto\n%s", body, p, before, after)
		}
	})
}

// FuzzForm puts any content into the form and the response of the open request. Only a valid answer
// moves the cycle, and its goal is one that the page allows.
func FuzzForm(f *testing.F) {
	all := stages(f)
	asked := all["asked"]
	form := asked.Files[asked.find("form.md")]
	id := strings.Split(asked.find("form.md"), "/")[5]
	tick := func(items ...string) string {
		body := form
		for _, item := range items {
			body = strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
		}
		return body
	}
	f.Add(form, "", false)
	f.Add(tick("raise", "s1", "submit"), "", false)
	f.Add(tick("raise", "lower", "submit"), "", true)
	f.Add(tick("submit"), `{"request_id": "`+id+`", "selected": ["s2"], "provided_by": {"user": "kim", "source": "file"}}`, true)
	f.Add("", `{"request_id": "`+id+`", "response": "하향 권장", "comment": "c", "provided_by": {"user": "kim", "source": "file"}}`, false)
	f.Fuzz(func(t *testing.T, form, response string, late bool) {
		s := copyOf(t, all[map[bool]string{false: "asked", true: "silence"}[late]])
		goal := s.Files[s.In("goal.json")]
		dir := "requests/" + id + "/"
		s.put(dir+"form.md", form)
		s.put(dir+"response.json", response)
		s.rest()
		if form != "" && s.Read(dir+"form.md") != form {
			t.Fatalf("the form was changed from %q to %q", form, s.Read(dir+"form.md"))
		}
		st, err := decodeState("state.json", []byte(s.Read("state.json")))
		if err != nil {
			t.Fatal(err)
		}
		if late && s.Files[s.In("goal.json")] != goal {
			t.Fatal("a late answer changed the goal")
		}
		if late || st.Status == Awaiting {
			return
		}
		g, levels := st.Goal, []int{10, 20, 30}
		if st.Status != Reached || g.ApprovedBy != byHuman || !slices.Contains(levels, g.NextAutomationLevel) || len(g.OptimizationDirectives) > 3 || len(g.CarryOverIssues) > 1 {
			t.Fatalf("it came to %s with %+v", st.Status, g)
		}
	})
}

// FuzzContext puts any content in the place of context.json and audit.json while they count: the
// cycle settles, and an unreadable file stays unchanged.
func FuzzContext(f *testing.F) {
	all := stages(f)
	for _, name := range []string{"asked", "running", "answered", "silence"} {
		f.Add(name, all[name].Files[all[name].In("context.json")], all[name].Files[all[name].In("audit.json")])
	}
	f.Add("deciding", `{"schema_version": 1, "feedback": [{"id": "FB-1"}]}`, `{"db": "x", "rows": []}`)
	f.Add("answered", "{", `{"db": "../x", "rows": [{"id": "TASK-1", "table": "audit_logs", "row": {}, "outcome": "owed"}]}`)
	f.Fuzz(func(t *testing.T, name, context, audit string) {
		at := all[name]
		if at == nil {
			return
		}
		s := copyOf(t, at)
		state := s.Read("state.json")
		s.put("context.json", context)
		s.put("audit.json", audit)
		s.rest()
		var found Findings
		if context != "" && schemas.Decode("optimizer/context", "context.json", []byte(context), &found) != nil && s.Read("context.json") != context {
			t.Fatalf("a context.json that cannot be read was changed from %q to %q", context, s.Read("context.json"))
		}
		var a Audit
		if audit != "" && schemas.Decode("optimizer/audit", "audit.json", []byte(audit), &a) != nil && s.Read("audit.json") != audit {
			t.Fatalf("an audit.json that cannot be read was changed from %q to %q", audit, s.Read("audit.json"))
		}
		for _, begun := range s.Begun {
			if d := begun.Database; d != nil && d.Insert != nil && d.Insert.Table != auditLogs && d.Insert.Table != userFeedback {
				t.Fatalf("a row for the table %q", d.Insert.Table)
			}
		}
		checkCycle(t, s, state, "")
	})
}

// FuzzRelated makes entries of any shared files of three runs. The result for each run is a
// function of the entries, and no goal is taken up twice.
func FuzzRelated(f *testing.F) {
	done := stages(f)["silence"]
	in := func(rel string) string { return done.Files[done.In(rel)] }
	manifest := manifestAt("2026-04-01T00:00:00Z")
	f.Add(in("trigger.json"), in("state.json"), in("goal.json"), in("audit.json"), manifest, manifest)
	f.Add(in("trigger.json"), in("state.json"), in("goal.json"), in("audit.json"), `{"status": "completed", "updated_at": "2026-04-01T00:00:00Z"}`, `{"status": "active"}`)
	f.Add(triggerOf(flow, `"last_run_id": "`+runA+`"`), "{", "", "", "{", manifest)
	f.Fuzz(func(t *testing.T, trigger, state, goal, audit, second, third string) {
		m, entries := New(), map[string][]byte{}
		for run, files := range map[string]map[string]string{
			runA: {"trigger.json": trigger, "state.json": state, "goal.json": goal, "audit.json": audit}, runB: {"../manifest.json": second}, runC: {"../manifest.json": third},
		} {
			s := engine.Snapshot{Key: engine.Key{Family: "optimizer", ID: run}, Dir: dirOf(run)}
			for _, rel := range []string{"../manifest.json", "audit.json", "goal.json", "state.json", "trigger.json"} {
				if body := files[rel]; body != "" {
					d := &desk{run: run}
					s.Docs = append(s.Docs, engine.Document{Path: d.in(rel), Body: []byte(body), Sum: engine.Sum([]byte(body))})
				}
			}
			if e := m.Entry(s); e != nil {
				entries[run] = e
			}
		}
		told, byTag, bySlug := m.Relate(entries), 0, 0
		for run, body := range told {
			if again := m.Relate(entries)[run]; string(again) != string(body) {
				t.Fatalf("%s is told two things of equal entries: %s, %s", run, body, again)
			}
			s := readShared(body)
			if s.Goal != nil {
				byTag++
			}
			if s.Slug != nil {
				bySlug++
			}
		}
		if byTag > 1 || bySlug > 1 {
			t.Fatalf("%d runs take up the goal of one cycle, %d with slugs", byTag, bySlug)
		}
	})
}
