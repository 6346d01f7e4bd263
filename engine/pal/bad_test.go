package pal

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/internal/badinput"
	"placet/internal/enginetest"
	"placet/layout"
)

// badSpec is the spec of the port B in the workspaces of bad files.
const badSpec = "# Port: Orders\n\n| Item | Value |\n|---|---|\n| Depends on | A |\n"

// settledAs returns a workspace after placet has settled each tree in turn.
func settledAs(t *testing.T, trees ...enginetest.Tree) enginetest.Tree {
	t.Helper()
	s := enginetest.NewScramble(t, laws())
	for _, tree := range trees {
		for p, body := range tree {
			s.Put(p, body)
		}
		s.Look()
	}
	return s.Disk.Tree()
}

// inRun returns a tree with one file of the run.
func inRun(rel, body string) enginetest.Tree { return enginetest.Tree{path.Join(dir, rel): body} }

// badDocument is a document of the run shop.
func badDocument(begin enginetest.Tree, rel, body string) enginetest.Input {
	return enginetest.Input{Name: rel, Path: path.Join(dir, rel), Good: badinput.Good{Body: body}, Begin: begin, Run: dir}
}

func deviate(in *enginetest.Input, o enginetest.Outcome, reason string, kinds ...string) {
	if in.Deviates == nil {
		in.Deviates = map[string]enginetest.Deviation{}
	}
	for _, k := range kinds {
		in.Deviates[k] = enginetest.Deviation{Outcome: o, Reason: reason}
	}
}

const goodOrchestration = `{"title": "Shop", "id": "shop", "max_concurrency": 1, "ports": [{"port_id": "A", "depends_on": [], "body": "do it"}, {"port_id": "B", "spec": "ports/orders.md"}]}`

// sourcesOfOthers are the source documents of an orchestration.
func sourcesOfOthers() []enginetest.Input {
	spec := enginetest.Tree{"ports/orders.md": badSpec}

	o := badDocument(spec, "orchestration.json", goodOrchestration)
	o.Required, o.Text, o.Number, o.ID = "title", "title", "max_concurrency", "id"
	deviate(&o, enginetest.Found, "plan.json says so, too", "id with control and bidi characters", "id with ..", "id with a slash", "id of 300 characters", "id of half a megabyte")

	s := badDocument(inRun("orchestration.json", goodOrchestration), "", badSpec)
	s.Name, s.Path, s.Note, s.Format = "a spec", "ports/orders.md", path.Join(dir, "problems/ports--orders.md.problem.md"), badinput.Markdown
	s.All = &enginetest.Deviation{Outcome: enginetest.Found, Reason: "plan.json says so, too"}
	deviate(&s, enginetest.Found, "orchestration.json names the file", "missing")
	deviate(&s, enginetest.Taken, "a spec need say nothing of itself", "empty", "blanks only", "conflict markers in a form")
	deviate(&s, enginetest.Taken, "editors put one before the first line, and it decides nothing", "byte order mark")
	deviate(&s, enginetest.Taken, "it is text", "CRLF", "doubly encoded UTF-8", "sync-conflict copy")

	c := badDocument(inRun("orchestration.json", goodOrchestration), "", "orchestration:\n  max_concurrency: 2\n")
	c.Begin["ports/orders.md"], c.Begin[configYAML] = badSpec, "[]\n"
	c.Name, c.Path, c.Note, c.Format = "config.yaml", configYAML, path.Join(dir, "problems/.pal--config.yaml.problem.md"), badinput.YAML
	c.Alone = true
	deviate(&c, enginetest.Taken, "without it what is built in holds", "missing")
	return []enginetest.Input{o, s, c}
}

// handInsOfOthers are the documents that others write while ports run.
func handInsOfOthers(t *testing.T) []enginetest.Input {
	running := settledAs(t, enginetest.Tree{"ports/orders.md": badSpec}, inRun("orchestration.json", goodOrchestration))
	testing := settledAs(t, running, inRun(layout.PalResultFile("A", 1), resultOf))

	control := badDocument(running, "control.json", `{"want": "pause", "by": "kim", "reason": "lunch"}`)
	control.Required, control.Text, control.Word = "want", "by", "want"

	result := badDocument(running, layout.PalResultFile("A", 1), `{"status": "ready", "summary": "done", "changed_files": ["api/x.go"], "try": 1, "session_id": "shop/build/A/impl"}`)
	result.Required, result.Text, result.Word, result.Number, result.ID = "summary", "summary", "status", "try", "session_id"

	feedback := badDocument(testing, layout.PalFeedbackFile("A", 1), `{"success": false, "failed_tests": [{"name": "TestTotal"}], "metrics": {"total": 9, "passed": 8}, "try": 1, "session_id": "shop/build/A/test"}`)
	feedback.Required, feedback.Text, feedback.Number, feedback.ID = "success", "failed_tests", "metrics.total", "session_id"

	filed := badDocument(running, layout.PalFiledFile("build", 1), `{"type": "decision", "title": "which?", "severity": "low", "port_id": "A"}`)
	filed.Required, filed.Text, filed.Word, filed.ID = "type", "title", "type", "port_id"

	message := badDocument(running, layout.PalMessageFile("A", "0001-impl-query"),
		`{"from_session": "shop/build/A/impl", "to_session": "shop/build/A/test", "type": "query", "payload": "which?", "id": "A/0001-impl-query"}`)
	message.Required, message.Text, message.Word, message.ID = "payload", "from_session", "type", "id"
	return []enginetest.Input{control, result, feedback, filed, message}
}

// recordsOfPlacet are the answer to an escalation, and the state itself.
func recordsOfPlacet(t *testing.T) []enginetest.Input {
	open := settledAs(t, enginetest.Tree{"ports/orders.md": badSpec}, inRun("orchestration.json", goodOrchestration), inRun(layout.PalFiledFile("build/A/impl", 1), `{"type": "question", "title": "which?"}`))
	folder := path.Dir(open.Find(dir + "/requests/*/request.json"))
	if folder == "." {
		t.Fatalf("nothing is asked: %q", open.Paths())
	}
	id := path.Base(folder)

	answer := badDocument(open, "requests/"+id+"/response.json", `{"request_id": "`+id+`", "response": "retry", "comment": "the left one", "provided_by": {"user": "kim", "source": "cli"}}`)
	answer.Name = "response.json"
	answer.Required, answer.Text, answer.Word, answer.ID, answer.Note = "provided_by", "comment", "response", "request_id", folder+"/problem.md"
	deviate(&answer, enginetest.Taken, "a second answer that is alike is the same answer", "sync-conflict copy")

	state := badDocument(open, "state.json", open[dir+"/state.json"])
	state.Required, state.Text, state.Word, state.Number, state.ID = "status", "language", "status", "revision", "id"
	state.Late = enginetest.Tree{answer.Path: answer.Body}
	deviate(&state, enginetest.Noted, "the journal says which state was written", "missing", "doubly encoded UTF-8")
	return []enginetest.Input{answer, state}
}

func TestEveryKindOfBadFileOfEveryDocument(t *testing.T) {
	beside := enginetest.Beside{
		Comes: enginetest.Tree{".pal/orchestrations/beside/orchestration.json": orchestrationOf("A")},
		Taken: func(tree enginetest.Tree) bool {
			return strings.Contains(tree[".pal/orchestrations/beside/state.json"], `"running"`)
		},
	}
	enginetest.BadFiles(t, laws(), beside, slices.Concat(sourcesOfOthers(), handInsOfOthers(t), recordsOfPlacet(t)))
}

// badRow is a row of section 9 of the format page: a file that does not count. Other files precede
// it; a note explains it, and nothing else happens until the file is repaired.
type badRow struct {
	name   string
	before [][2]string
	file   string
	body   string
	says   string // "" without a note
	mended string // the file that counts instead, or ""
}

var badRows = []badRow{
	{name: "a result of another try", file: layout.PalResultFile("A", 1), body: `{"status": "ready", "summary": "s", "changed_files": [], "try": 2}`, says: "/try: is 2, the try is 1", mended: otherFiles},
	{name: "a result of another session", file: layout.PalResultFile("A", 1), body: `{"status": "ready", "summary": "s", "changed_files": [], "session_id": "shop/build/B/impl"}`, says: `/session_id: is "shop/build/B/impl"`, mended: otherFiles},
	{name: "a path out of the workspace", file: layout.PalResultFile("A", 1), body: `{"status": "ready", "summary": "s", "changed_files": ["../x"]}`, says: `/changed_files/0: "../x" is no path in the workspace`, mended: otherFiles},
	{name: "a result without its files", file: layout.PalResultFile("A", 1), body: `{"status": "ready", "summary": "s"}`, says: "changed_files", mended: otherFiles},
	{name: "half of a result", file: layout.PalResultFile("A", 1), body: `{"status": "ready", "summ`, says: "result-1.json", mended: otherFiles},
	{name: "a result for a later try", file: layout.PalResultFile("A", 2), body: otherFiles},
	{name: "a result for a port that waits", file: layout.PalResultFile("B", 1), body: otherFiles},
	{
		name: "a result for a blocked port", before: [][2]string{{layout.PalFiledFile("build/A/impl", 1), `{"type": "decision", "title": "which?"}`}},
		file: layout.PalResultFile("A", 1), body: otherFiles,
	},
	{
		name: "a result that changed", before: [][2]string{{layout.PalResultFile("A", 1), otherFiles}},
		file: layout.PalResultFile("A", 1), body: resultOf, says: "not counted: it was changed after it was taken in",
	},
	{
		name: "a result for an earlier try that was never taken", before: [][2]string{
			{layout.PalFiledFile("build/A/impl", 1), `{"type": "decision", "title": "which?"}`}, {"?decision", `"retry", "comment": "the left one"`},
		},
		file: layout.PalResultFile("A", 1), body: otherFiles, says: "not counted: try 1 of port A is over",
	},
	{
		name: "a result for a final port", before: [][2]string{{layout.PalResultFile("A", 1), otherFiles}, {layout.PalFeedbackFile("A", 1), good}},
		file: layout.PalResultFile("A", 2), body: otherFiles, says: "not counted: port A is complete",
	},
	{name: "a number with a zero before it", file: "sessions/build/A/impl/result-01.json", body: otherFiles, says: "the name is result-<try>.json"},
	{name: "a feedback beside the results", file: "sessions/build/A/impl/feedback-1.json", body: good, says: "the name is result-<try>.json"},
	{name: "no name of a message", file: "channels/A/messages/hello.json", body: `{}`, says: "the name must be like 0001-impl-query.json"},
	{name: "a filed escalation without a title", file: layout.PalFiledFile("build/A/impl", 1), body: `{"type": "general"}`, says: "title"},
	{name: "an unknown severity", file: layout.PalFiledFile("build/A/impl", 1), body: `{"type": "general", "title": "t", "severity": "huge"}`, says: "severity"},
	{name: "an unknown port", file: layout.PalFiledFile("build", 1), body: `{"type": "general", "title": "t", "port_id": "Z"}`, says: `/port_id: there is no port "Z"`},
	{
		name: "a final port", before: [][2]string{{layout.PalResultFile("A", 1), otherFiles}, {layout.PalFeedbackFile("A", 1), good}},
		file: layout.PalFiledFile("build", 1), body: `{"type": "general", "title": "t", "port_id": "A"}`, says: "port A is complete",
	},
	{
		name: "what was filed changed", before: [][2]string{{layout.PalFiledFile("build/A/impl", 1), `{"type": "general", "title": "t"}`}},
		file: layout.PalFiledFile("build/A/impl", 1), body: `{"type": "general", "title": "other"}`, says: "not counted: it was changed after it was taken in",
	},
	{name: "a session of an unknown port", file: "sessions/build/Z/helper/session.json", body: `{"type": "worker"}`, says: `there is no port "Z"`},
	{name: "a session of another parent", file: "sessions/build/A/helper/session.json", body: `{"type": "worker", "parent_id": "shop/build/B"}`, says: "/parent_id"},
	{name: "a session of another id", file: "sessions/build/A/helper/session.json", body: `{"type": "worker", "id": "shop/build/A/other"}`, says: "/id"},
	{name: "a session below a worker", file: "sessions/build/A/impl/helper/session.json", body: `{"type": "worker"}`, says: "nothing stands below a worker or a test session"},
	{name: "progress beyond its end", file: "sessions/build/A/impl/progress.json", body: `{"progress": 1.2}`, says: "/progress"},
	{name: "negative tokens", file: "sessions/build/A/impl/progress.json", body: `{"progress": 0.5, "tokens_used": -1}`, says: "/tokens_used"},
	{name: "progress that is no JSON", file: "sessions/build/A/test/progress.json", body: `half`, says: "progress.json"},
	{name: "much progress", file: "sessions/build/A/impl/progress.json", body: `{"progress": 0.5, "x": "` + strings.Repeat("x", 17<<10) + `"}`, says: "progress.json"},
	{name: "progress of the operator", file: "sessions/build/A/progress.json", body: `{"progress": 1.2}`, says: "/progress"},
	{name: "a wish for running", file: "control.json", body: `{"want": "running"}`, says: `unknown word "running": expected one of "run"`},
	{
		name: "pausing what has ended", before: [][2]string{{"control.json", `{"want": "abort", "by": "kim"}`}},
		file: "control.json", body: `{"want": "pause", "by": "kim"}`, says: "the orchestration is cancelled, and that is final",
	},
	{name: "an editor's file", file: "sessions/build/A/impl/result-1.json~", body: otherFiles},
	{name: "a temporary file", file: "sessions/build/A/impl/result-1.json.tmp", body: otherFiles},
	{name: "an unknown file", file: "sessions/build/A/impl/notes.txt", body: "hm"},
}

func TestWhatIsNotCounted(t *testing.T) {
	for _, c := range badRows {
		t.Run(c.name, func(t *testing.T) {
			at(t, story(c.name, orchestrationOf("A", "B:A", "C")), func(d desk) {
				for _, b := range c.before {
					if typ, ok := strings.CutPrefix(b[0], "?"); ok {
						id := d.open(typ)
						b = [2]string{"requests/" + id + "/response.json", `{"request_id": "` + id + `", "provided_by": {"user": "kim", "source": "file"}, "response": ` + b[1] + `}`}
					}
					d.put(b[0], b[1])
				}
				revision := d.state().Revision
				d.Pass(time.Second)
				d.put(c.file, c.body)
				if c.says == "" {
					d.unnoted(c.file)
				} else {
					d.noted(c.file, c.says)
				}
				d.wants("the revision", d.state().Revision, revision)
				if !isFinal(d.state().Status) {
					d.wants("another port goes on", d.result("C", 1, resultOf), []string{"loop result_taken"})
				}
				switch revision = d.state().Revision; {
				case c.mended != "":
					d.put(c.file, c.mended)
					d.wants("mended, the revision", d.state().Revision, revision+1)
				case c.says != "":
					d.Remove(path.Join(dir, c.file))
					d.settle()
				}
				d.unnoted(c.file)
			})
		})
	}
}

// TestWhatCannotBeStarted has the rows about sources.
func TestWhatCannotBeStarted(t *testing.T) {
	for name, c := range map[string]struct {
		files      enginetest.Tree
		note, says string
	}{
		"a spec that is missing":   {enginetest.Tree{dir + "/orchestration.json": `{"title": "t", "ports": ["A"]}`}, dir + "/problems/ports--A.md.problem.md", "ports/A.md is missing"},
		"no ports at once":         {enginetest.Tree{dir + "/orchestration.json": orchestrationOf("A"), configYAML: "orchestration:\n  max_concurrency: 0\n"}, dir + "/problems/.pal--config.yaml.problem.md", "max_concurrency"},
		"ports that wait for each": {enginetest.Tree{dir + "/orchestration.json": orchestrationOf("A:B", "B:A")}, dir + "/orchestration.json.problem.md", "ports wait for each other: A → B → A"},
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.AtDesk(t, laws(), enginetest.Case{Now: now, Files: c.files}, func(d *enginetest.Desk) {
				d.Settle()
				d.Pass(11 * time.Second)
				d.Settle()
				if d.Has(dir + "/state.json") {
					t.Error("it was taken in")
				}
				if body := strings.Join(strings.Fields(d.Read(c.note)), " "); !strings.Contains(body, c.says) {
					t.Errorf("the note says %q, expected %q", body, c.says)
				}
				d.Put("ports/A.md", "# Port: A\n")
				d.Put(dir+"/orchestration.json", orchestrationOf("A"))
				d.Remove(configYAML)
				d.Settle()
				d.Pass(time.Minute)
				d.Settle()
				if d.Has(c.note) || !d.Has(dir+"/state.json") {
					t.Errorf("mended, it does not start; there are %q", d.Tree().Paths())
				}
			})
		})
	}
}
