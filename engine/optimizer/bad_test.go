package optimizer

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/internal/badinput"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// TestLanguages and the bad files of the shared suite show what the schemas say about the inputs;
// this test shows what they cannot say. A bad input blocks the decision that it belongs to, even
// after the wait for the inputs is over.
func TestBadInputsBlockTheDecision(t *testing.T) {
	const usage = "../../../../docs/usage/" + flow + ".md"
	for name, test := range map[string]struct{ rel, body, note, says string }{
		"a metric twice":      {"inputs/kpi.json", `{"metrics": [{"name": "m"}, {"name": "m"}]}`, "inputs/kpi.json.problem.md", "/metrics/1/name"},
		"bad front matter":    {usage, "---\nkpi: {gate_threshold: high}\n---\n", "usage.problem.md", "gate_threshold"},
		"a gated count there": {usage, "---\nkpi: {metrics: {m: {unit: number, gate: true}}}\n---\n", "usage.problem.md", "gate"},
		"an anchor":           {usage, "---\nkpi: &k {gate_threshold: 80}\n---\n", "usage.problem.md", "docs/usage"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(10)
				d.write(test.rel, test.body)
				d.trigger()
				d.pass(15 * time.Second)
				d.goes(triggered, collected)
				d.pass(time.Hour)
				d.goes()
				d.noted(test.note, test.says)
				d.unlink(test.rel)
				d.goes(decided, reported, recorded)
				d.noted()
			})
		})
	}
}

func TestBadDataKeepTheLevelRunning(t *testing.T) {
	good := `{"record_id": "r1", "metric": "m", "value": 1}` + "\n"
	each(t, map[string][2]string{"no JSON": {good + "{\n", "line 2"}, "no final newline": {good[:len(good)-1], "newline"}}, func(d *desk, bad [2]string) {
		d.assets(20)
		d.write("retrieved.jsonl", bad[0])
		d.trigger()
		d.pass(15 * time.Second)
		d.goes(triggered, collected, decided)
		d.pass(time.Hour)
		d.goes()
		d.noted("retrieved.jsonl.problem.md", bad[1])
		d.write("retrieved.jsonl", good)
		d.goes(retrieved)
	})
}

// A bad level-error.json or stop.json gets a note and counts as absent.
func TestBadSignalsCountAsAbsent(t *testing.T) {
	for rel, body := range map[string]string{"inputs/level-error.json": `{"level": 20, "error": " "}`, "stop.json": `{"reason": " "}`} {
		t.Run(rel+" "+body, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.write(rel, body)
				d.trigger()
				d.pass(15 * time.Second)
				d.goes(triggered, collected, decided)
				d.noted(rel+".problem.md", "")
				d.write("retrieved.jsonl", retrievedLines)
				d.write("suggestions.json", threeSuggestions)
				d.goes(retrieved, reported, recorded)
			})
		})
	}
}

// A foreign state is never overwritten, and the run does not move. The kinds of bad files include
// an unreadable one.
func TestBadStatesStandStill(t *testing.T) {
	for name, change := range map[string]func(d *desk){
		"of another run": func(d *desk) { d.write("state.json", strings.Replace(d.read("state.json"), runA, runB, 1)) },
		"a later version": func(d *desk) {
			d.write("state.json", strings.Replace(d.read("state.json"), `"schema_version": 1`, `"schema_version": 2`, 1))
		},
		"an older one": func(d *desk) {
			d.write("state.json", strings.Replace(d.read("state.json"), `"revision": 6`, `"revision": 3`, 1))
		},
		"a journal ahead":  func(d *desk) { d.write("events.jsonl", d.read("events.jsonl")+`{"seq": 9}`+"\n") },
		"a journal behind": func(d *desk) { d.write("events.jsonl", `{"seq": 2}`+"\n") },
		"a torn journal":   func(d *desk) { d.write("events.jsonl", d.read("events.jsonl")+"{\n") },
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				d.tick("raise", "submit")
				good := d.Tree()
				change(d)
				d.pass(15 * time.Second)
				d.goes()
				d.pass(100 * time.Hour)
				d.goes()
				d.noted("state.json.problem.md", "state.json")
				for _, rel := range []string{"state.json", "events.jsonl"} {
					d.write(rel, good[d.in(rel)])
				}
				d.goes(answered)
			})
		})
	}
}

const (
	activeRuns = ".mso-context/active/"
	badRun     = activeRuns + "20260302-msowd-sop-masking/optimizer"
)

// The documents of a good cycle at level 20.
const (
	goodTrigger     = `{"workflow_name": "sop", "trigger_type": "direct", "optimization_goal": "fewer misses", "timeout_reentries": 0}`
	goodAssets      = `{"analysis_script": "scripts/analyse.py", "criteria_fixed": false}`
	goodKPI         = `{"gate_threshold": 85, "metrics": [{"name": "precision", "value": 87}]}`
	goodRetrieved   = `{"record_id": "r1", "metric": "precision", "value": 87}` + "\n" + `{"record_id": "r2", "metric": "precision", "value": 88}` + "\n"
	goodSuggestions = `{"suggestions": [{"text": "one"}, {"text": "two", "priority": "high"}], "summary": "s"}`
)

// badSuite is the family without a wait for inputs: a missing input gets its default at once, and a
// bad one blocks that.
func badSuite() enginetest.Suite {
	config := configOf(func(c *Config) { c.InputsWait = "0s" })
	return enginetest.Suite{Machine: New(), Layout: layout.Optimizer{}, Config: engine.Config{Language: "en", Family: config}}
}

// came holds the files of a cycle so far, by their names in it.
func came(names ...string) enginetest.Tree {
	bodies := map[string]string{
		"trigger.json": goodTrigger, "inputs/assets.json": goodAssets, "inputs/kpi.json": goodKPI,
		"retrieved.jsonl": goodRetrieved, "suggestions.json": goodSuggestions,
	}
	tree := enginetest.Tree{}
	for _, name := range names {
		tree[path.Join(badRun, name)] = bodies[name]
	}
	return tree
}

// settled returns a workspace after placet has settled each tree in turn.
func settled(t *testing.T, trees ...enginetest.Tree) enginetest.Tree {
	t.Helper()
	s := enginetest.NewScramble(t, badSuite())
	for _, tree := range trees {
		for p, body := range tree {
			s.Put(p, body)
		}
		s.Look()
	}
	return s.Disk.Tree()
}

// openCycle returns a cycle whose request is open, and the request's folder.
func openCycle(t *testing.T) (tree enginetest.Tree, dir string) {
	t.Helper()
	tree = settled(t, came("trigger.json", "inputs/assets.json", "inputs/kpi.json", "retrieved.jsonl", "suggestions.json"))
	dir = path.Dir(tree.Find(badRun + "/requests/*/request.json"))
	if dir == "." {
		t.Fatalf("nothing is asked: %q", tree.Paths())
	}
	return tree, dir
}

// goodAnswer returns a valid answer to a request.
func goodAnswer(dir string) string {
	return `{"request_id": "` + path.Base(dir) + `", "response": "raise", "selected": ["s1"], "comment": "look again", "provided_by": {"user": "kim", "source": "cli"}}`
}

// badInput is a document of the cycle that others write.
func badInput(begin enginetest.Tree, rel, body string) enginetest.Input {
	return enginetest.Input{Name: rel, Path: path.Join(badRun, rel), Good: badinput.Good{Body: body}, Begin: begin, Run: badRun}
}

// holding is a document that blocks its own default: a bad file exists when it starts to count.
func holding(rel, body string, before ...string) enginetest.Input {
	in := badInput(came(before...), rel, body)
	in.Begin[in.Path] = "[]\n"
	deviate(&in, enginetest.Taken, "without it its default holds", "missing")
	return in
}

// deviate makes an input treat some kinds differently, for one reason.
func deviate(in *enginetest.Input, o enginetest.Outcome, reason string, kinds ...string) {
	if in.Deviates == nil {
		in.Deviates = map[string]enginetest.Deviation{}
	}
	for _, k := range kinds {
		in.Deviates[k] = enginetest.Deviation{Outcome: o, Reason: reason}
	}
}

// badInputs are the documents that others write before a cycle asks.
func badInputs() []enginetest.Input {
	trigger := badInput(nil, "trigger.json", goodTrigger)
	trigger.Required, trigger.Text, trigger.Word, trigger.Number, trigger.ID = "workflow_name", "optimization_goal", "trigger_type", "timeout_reentries", "workflow_name"

	assets := holding("inputs/assets.json", goodAssets, "trigger.json")
	assets.Text = "analysis_script"

	kpi := holding("inputs/kpi.json", goodKPI, "trigger.json")
	kpi.Text, kpi.Number = "metrics", "gate_threshold"

	retrieved := badInput(came("trigger.json", "inputs/assets.json"), "retrieved.jsonl", goodRetrieved)
	retrieved.Format = badinput.Markdown
	deviate(&retrieved, enginetest.Noted, "every line is a record", "doubly encoded UTF-8")

	suggestions := holding("suggestions.json", goodSuggestions, "trigger.json", "inputs/assets.json", "retrieved.jsonl")
	suggestions.Required, suggestions.Text = "suggestions", "summary"

	levelError := badInput(came("trigger.json", "inputs/assets.json"), "inputs/level-error.json", `{"level": 20, "error": "no data"}`)
	levelError.Required, levelError.Text, levelError.Number = "error", "error", "level"

	stop := badInput(came("trigger.json"), "stop.json", `{"reason": "not needed", "by": "kim"}`)
	stop.Required, stop.Text = "reason", "by"

	return []enginetest.Input{trigger, assets, kpi, retrieved, suggestions, levelError, stop, badUsage()}
}

// badUsage is the usage document of the workflow. placet reads only its front matter.
func badUsage() enginetest.Input {
	in := badInput(came("trigger.json"), "", "---\nowner: kim\nkpi:\n  gate_threshold: 80\n---\n# SOP\n")
	in.Name, in.Path, in.Note, in.Format = "usage document", "docs/usage/sop.md", path.Join(badRun, "usage.problem.md"), badinput.Markdown
	in.Begin[in.Path] = "---\nkpi: none\n---\n"
	deviate(&in, enginetest.Taken, "without it its default holds", "missing")
	deviate(&in, enginetest.Taken, "a usage document needs no front matter", "empty", "blanks only")
	deviate(&in, enginetest.Taken, "editors put one before the first line, and it decides nothing", "byte order mark")
	deviate(&in, enginetest.Noted, "the second line is in the front matter, and is no YAML there", "doubly encoded UTF-8")
	return in
}

// badAnswers are the documents of a cycle whose request is open.
func badAnswers(t *testing.T) []enginetest.Input {
	tree, dir := openCycle(t)
	rel := func(name string) string { return strings.TrimPrefix(dir, badRun+"/") + "/" + name }

	answer := badInput(tree, rel("response.json"), goodAnswer(dir))
	answer.Required, answer.Text, answer.Word, answer.ID, answer.Note = "provided_by", "comment", "response", "request_id", dir+"/problem.md"
	deviate(&answer, enginetest.Taken, "a second answer that is alike is the same answer", "sync-conflict copy")

	form := badInput(tree, rel("form.md"), strings.NewReplacer("- [ ] raise", "- [x] raise", "- [ ] submit", "- [x] submit").Replace(tree[dir+"/form.md"]))
	form.Format, form.Note = badinput.Markdown, dir+"/problem.md"
	deviate(&form, enginetest.Mended, "a form that is gone is written again", "missing")
	deviate(&form, enginetest.Taken, "editors put one before the first line, and it decides nothing", "byte order mark")
	deviate(&form, enginetest.Noted, "only ticks and the comment may differ from what placet wrote", "doubly encoded UTF-8")

	request := badInput(tree, rel("request.json"), tree[dir+"/request.json"])
	request.Required, request.Text, request.Number, request.ID = "options", "prompt", "revision", "request_id"
	request.Late = enginetest.Tree{answer.Path: answer.Body}
	deviate(&request, enginetest.Noted, "the digest is of every character: what was asked is not what was shown", "doubly encoded UTF-8")
	deviate(&request, enginetest.Mended, "a request that is gone is written again", "missing")

	state := badInput(tree, "state.json", tree[badRun+"/state.json"])
	state.Required, state.Text, state.Word, state.Number, state.ID = "status", "began_at", "status", "revision", "run_id"
	state.Late = request.Late
	deviate(&state, enginetest.Noted, "the journal holds the digest of every byte: somebody else changed it", "doubly encoded UTF-8")
	deviate(&state, enginetest.Noted, "the page: gone while events.jsonl is there", "missing")

	return []enginetest.Input{answer, form, request, state, badManifest(t, tree, request.Late)}
}

// badManifest is the manifest of a run that takes up the goal of the answered cycle.
func badManifest(t *testing.T, tree, answer enginetest.Tree) enginetest.Input {
	const dir = activeRuns + "20260303-msowd-sop-masking"
	in := badInput(settled(t, tree, answer), "", `{"status": "completed", "completed_at": "2026-03-05T00:00:00Z", "run_id": "x"}`)
	in.Name, in.Path, in.Run = "manifest.json", dir+"/manifest.json", dir+"/optimizer"
	in.Text, in.Word = "completed_at", "status"
	for _, k := range badinput.Kinds {
		switch k.Name {
		case "missing", "CRLF", "doubly encoded UTF-8", "sync-conflict copy":
		default:
			deviate(&in, enginetest.Silent, "the page: a torn or empty manifest says not completed yet, and gets no note", k.Name)
		}
	}
	return in
}

func TestEveryKindOfBadFileOfEveryDocument(t *testing.T) {
	const other = activeRuns + "20260302-msowd-beside/optimizer"
	beside := enginetest.Beside{
		Begin: enginetest.Tree{path.Join(other, "inputs/assets.json"): goodAssets, path.Join(other, "retrieved.jsonl"): goodRetrieved},
		Comes: enginetest.Tree{path.Join(other, "trigger.json"): `{"workflow_name": "other"}`},
		Taken: func(tree enginetest.Tree) bool {
			return strings.Contains(tree[other+"/state.json"], `"awaiting_human"`)
		},
	}
	enginetest.BadFiles(t, badSuite(), beside, append(badInputs(), badAnswers(t)...))
}

// spoil puts a kind of bad file into a place and reports whether the kind applies there.
func spoil(s *enginetest.Scramble, k badinput.Kind, p string, good badinput.Good) bool {
	switch {
	case k.Copy || k.Missing:
		return false
	case k.Closed:
		s.Odd(p, fs.ModeIrregular) // so that an error is expected
		s.Disk.Delete(p)
		s.Put(p, good.Body)
		s.Disk.Chmod(p, 0, 0, 0)
	case k.Odd != 0:
		s.Odd(p, k.Odd)
	default:
		bad, applies := k.Spoil(good)
		if !applies {
			return false
		}
		s.Put(p, bad)
	}
	return true
}

// Bad files of upstream's observer and of earlier cycles cause at most a warning, and the cycle
// continues.
func TestNoBadFileOfOthersHoldsACycleUp(t *testing.T) {
	const earlier = ".mso-context/archive/2026-02/20260202-msowd-sop-masking/optimizer"
	trigger := `{"workflow_name": "sop", "last_run_id": "20260202-msowd-sop-masking"}`
	goal := `{"next_automation_level": 30, "optimization_directives": ["d"], "carry_over_issues": ["i"], "approved_by": "human_feedback"}`
	callback := path.Dir(badRun) + "/60_observability/callback-1.json"
	for p, good := range map[string]badinput.Good{
		callback:                               {Body: `{"event_type": "anomaly_detected", "message": "m"}`, Required: "event_type", Text: "message"},
		earlier + "/goal.json":                 {Body: goal, Required: "approved_by", Text: "carry_over_issues", Word: "approved_by", Number: "next_automation_level"},
		earlier + "/state.json":                {Body: `{"status": "goal"}`, Required: "status"},
		earlier + "/audit.json":                {Body: `{"db": "x", "rows": []}`, Required: "db", Text: "db"},
		earlier + "/trigger.json":              {Body: goodTrigger, Required: "workflow_name", Word: "trigger_type", ID: "workflow_name"},
		earlier + "/requests/hitl-1/late.json": {Body: `{"request_id": "hitl-1"}`, ID: "request_id"},
		path.Dir(earlier) + "/manifest.json":   {Body: `{"status": "completed"}`, Word: "status"},
	} {
		t.Run(path.Base(p), func(t *testing.T) {
			t.Parallel()
			for i, k := range badinput.Kinds {
				if testing.Short() && (i%5 != 0 || k.Name == "10 MB") {
					continue
				}
				s := enginetest.NewScramble(t, badSuite())
				s.Put(path.Join(badRun, "inputs/assets.json"), goodAssets)
				s.Put(earlier+"/goal.json", goal)
				if !spoil(s, k, p, good) {
					continue
				}
				s.Put(path.Join(badRun, "trigger.json"), trigger)
				s.Look()
				if k.Closed && p != callback && path.Base(p) != "audit.json" {
					// The cycle behind this one may decide once it is readable.
					if state := s.Disk.Tree()[badRun+"/state.json"]; !strings.Contains(state, `"status": "context"`) {
						t.Errorf("%s: the cycle does not wait:\n%s", k.Name, state)
					}
					continue
				}
				tree := enginetest.Tree(s.Disk.Tree())
				var st State
				if err := schemas.Decode("optimizer/state", "state.json", []byte(tree[badRun+"/state.json"]), &st); err != nil || st.Status != Running {
					t.Errorf("%s: the cycle is %q, %v", k.Name, st.Status, err)
				}
				for p := range tree {
					if strings.HasSuffix(p, layout.ProblemSuffix) {
						t.Errorf("%s: there is a note: %s\n%s", k.Name, p, tree[p])
					}
				}
				var f Findings
				if err := schemas.Decode("optimizer/context", "context.json", []byte(tree[badRun+"/context.json"]), &f); err != nil {
					t.Errorf("%s: %v", k.Name, err)
				}
				switch k.Name {
				case "CRLF", "doubly encoded UTF-8": // only look bad
					continue
				}
				said := strings.Join(f.Warnings, "\n")
				if p == callback && k.Odd != fs.ModeDir && (len(f.Callbacks) > 0 || !strings.Contains(said, "callback-1.json")) {
					t.Errorf("%s: callbacks %v, warnings %q", k.Name, f.Callbacks, said)
				}
				if strings.HasSuffix(p, "/goal.json") && (f.PreviousGoal != nil || !strings.Contains(said, "20260202-msowd-sop-masking")) {
					t.Errorf("%s: goal %v, warnings %q", k.Name, f.PreviousGoal, said)
				}
			}
		})
	}
}

// Whatever replaces a document that placet wrote: the cycle settles, its state does not fall back,
// nothing ends in a bug, and nothing is lost once the document is restored.
func TestNoBadFileInThePlaceOfPlacetsOwnEndsInABug(t *testing.T) {
	open, dir := openCycle(t)
	request, err := gate.ReadRequest("request.json", []byte(open[dir+"/request.json"]))
	if err != nil {
		t.Fatal(err)
	}
	seen, err := json.Marshal(request.Binding()) // once a file was rewritten, an answer has to name what it was given to
	if err != nil {
		t.Fatal(err)
	}
	answer := enginetest.Tree{dir + "/response.json": strings.TrimSuffix(strings.TrimSpace(goodAnswer(dir)), "}") + `, "artifacts": ` + string(seen) + "}"}
	over := settled(t, open, answer)
	for name, tree := range map[string]enginetest.Tree{"asked": open, "over": over} {
		for _, p := range tree.Paths() {
			rel, inside := strings.CutPrefix(p, badRun+"/")
			f, known := layout.Optimizer{}.File(layout.Run{}, rel)
			alsoInput := name == "asked" && slices.Contains([]string{"state.json", "request.json", "form.md"}, path.Base(p)) // see badAnswers
			if !inside || !known || alsoInput || f.Writer != layout.Placet && f.Kind != layout.KindForm || f.Kind == layout.KindProblem {
				continue
			}
			t.Run(name+" "+rel, func(t *testing.T) {
				t.Parallel()
				for i, k := range badinput.Kinds {
					_, shown := open[p] // while the request was open, with every kind
					if testing.Short() && (i%5 != 0 || k.Name == "10 MB") || name == "over" && shown && i%3 != 0 {
						continue
					}
					putBack(t, tree, answer, p, k)
				}
			})
		}
	}
}

// putBack plays one case: a bad file replaces a document, and then the document is restored.
func putBack(t *testing.T, tree, answer enginetest.Tree, p string, k badinput.Kind) {
	s := enginetest.NewScramble(t, badSuite())
	for q, body := range tree {
		s.Put(q, body)
	}
	s.Look()
	good := badinput.Good{Body: tree[p]}
	if !strings.HasSuffix(p, ".json") {
		good.Format = badinput.Markdown
	}
	if k.Missing {
		s.Disk.Delete(p)
	} else if !spoil(s, k, p, good) {
		return
	}
	there, _ := s.Disk.Get(p)
	s.Look()
	if now, _ := s.Disk.Get(p); now != there && !k.Missing && !rewritten(p, k) {
		t.Errorf("%s: it was written over", k.Name)
	}
	if (k.Odd != 0 || k.Closed) && noted(s.Disk.Tree()) == unread(tree, p) {
		t.Errorf("%s: a note stands: %t", k.Name, !unread(tree, p))
	}
	if state := s.Disk.Tree()[badRun+"/state.json"]; p != badRun+"/state.json" && state != tree[badRun+"/state.json"] {
		t.Errorf("%s: the state is another:\n%s", k.Name, state)
	}
	s.Disk.Delete(p)
	s.Put(p, tree[p])
	for q, body := range answer {
		s.Put(q, body)
	}
	s.Look()
	after := enginetest.Tree(s.Disk.Tree())
	var st State
	if err := schemas.Decode("optimizer/state", "state.json", []byte(after[badRun+"/state.json"]), &st); err != nil || st.Status != Reached {
		t.Errorf("%s: once it is back, the cycle is %q, %v", k.Name, st.Status, err)
	}
	for q, body := range after {
		if strings.HasSuffix(q, "problem.md") {
			t.Errorf("%s: once it is back, there is a note: %s\n%s", k.Name, q, body)
		}
	}
}

// rewritten reports whether placet may rewrite an existing document: a file that only looks bad has
// the same content, and the end of a journal is cut and written again.
func rewritten(p string, k badinput.Kind) bool {
	return k.Name == "CRLF" || k.Name == "doubly encoded UTF-8" || path.Base(p) == "events.jsonl"
}

// unread reports whether nobody reads a document any more: what the person saw who has answered.
func unread(tree enginetest.Tree, p string) bool {
	over := strings.Contains(tree[badRun+"/state.json"], `"status": "goal"`)
	return over && slices.Contains([]string{"request.json", "form.md", "level20_report.md"}, path.Base(p))
}

// noted reports whether the cycle has a problem note.
func noted(tree enginetest.Tree) bool {
	return slices.ContainsFunc(tree.Paths(), func(p string) bool { return strings.HasPrefix(p, badRun+"/") && strings.HasSuffix(p, "problem.md") })
}

// Suggestions that the schema allows still block the report if they are duplicate, blank, or more
// than a request can show.
func TestBadSuggestionsBlockTheReport(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{
		"doubles":   {`{"suggestions": [{"text": "a"}, {"text": "b"}, {"text": "a"}]}`, "/suggestions/2/text"},
		"blank":     {`{"suggestions": [{"text": "  "}]}`, "/suggestions/0/text"},
		"too large": {`{"suggestions": [{"text": "` + large(400<<10) + `"}]}`, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(10)
				d.write("retrieved.jsonl", retrievedLines)
				d.write("suggestions.json", test.body)
				d.trigger()
				d.pass(15 * time.Second)
				d.Settle()
				d.pass(time.Hour)
				d.goes()
				d.noted("suggestions.json.problem.md", test.says)
				d.write("suggestions.json", threeSuggestions)
				d.goes(reported, recorded)
			})
		})
	}
}
