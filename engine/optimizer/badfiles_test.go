package optimizer

import (
	"path"
	"strings"
	"testing"

	"placet/engine"
	"placet/internal/badinput"
	"placet/internal/enginetest"
	"placet/layout"
)

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

// badSuite is the family without a wait for inputs: what is not there is replaced by
// its default at once, and what is there and bad holds that up.
func badSuite() enginetest.Suite {
	config := configOf(func(c *Config) { c.InputsWait = "0s" })
	return enginetest.Suite{Machine: New(), Layout: layout.Optimizer{}, Config: engine.Config{Language: "en", Family: config}}
}

// came are the files of a cycle as far as they have come, by their names in it.
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

// settled is a workspace after placet has looked at it, each tree being put into
// place after the one before was settled.
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

// openCycle is a cycle whose request is open, and the request's folder.
func openCycle(t *testing.T) (tree enginetest.Tree, dir string) {
	t.Helper()
	tree = settled(t, came("trigger.json", "inputs/assets.json", "inputs/kpi.json", "retrieved.jsonl", "suggestions.json"))
	dir = path.Dir(tree.Find(badRun + "/requests/*/request.json"))
	if dir == "." {
		t.Fatalf("nothing is asked: %q", tree.Paths())
	}
	return tree, dir
}

// goodAnswer is a good answer to a request.
func goodAnswer(dir string) string {
	return `{"request_id": "` + path.Base(dir) + `", "response": "raise", "selected": ["s1"], "comment": "look again", "provided_by": {"user": "kim", "source": "cli"}}`
}

// badInput is a document of the cycle that others write.
func badInput(begin enginetest.Tree, rel, body string) enginetest.Input {
	return enginetest.Input{Name: rel, Path: path.Join(badRun, rel), Good: badinput.Good{Body: body}, Begin: begin, Run: badRun}
}

// holding is a document that holds its own default up: where it counts, a bad one
// lies there already.
func holding(rel, body string, before ...string) enginetest.Input {
	in := badInput(came(before...), rel, body)
	in.Begin[in.Path] = "[]\n"
	deviate(&in, enginetest.Taken, "without it its default holds", "missing")
	return in
}

// deviate has an input treat kinds otherwise, for one reason.
func deviate(in *enginetest.Input, o enginetest.Outcome, reason string, kinds ...string) {
	if in.Deviates == nil {
		in.Deviates = map[string]enginetest.Deviation{}
	}
	for _, k := range kinds {
		in.Deviates[k] = enginetest.Deviation{Outcome: o, Reason: reason}
	}
}

// badInputs are the documents of a cycle that others write before it is asked about.
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

// badUsage is the usage document of the workflow: of it the front matter alone is
// read.
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
	deviate(&request, enginetest.Noted, "the digest is of every byte: what was asked is not what was shown", "CRLF", "doubly encoded UTF-8")
	deviate(&request, enginetest.Mended, "a request that is gone is written again", "missing")

	state := badInput(tree, "state.json", tree[badRun+"/state.json"])
	state.Required, state.Text, state.Word, state.Number, state.ID = "status", "began_at", "status", "revision", "run_id"
	state.Late = request.Late
	deviate(&state, enginetest.Noted, "the journal holds the digest of every byte: somebody else changed it", "doubly encoded UTF-8")
	deviate(&state, enginetest.Noted, "the page: gone while events.jsonl is there", "missing")

	return []enginetest.Input{answer, form, request, state, badManifest(t, tree, request.Late)}
}

// badManifest is the manifest of a run that takes up the goal of the cycle that was
// asked about and answered.
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
