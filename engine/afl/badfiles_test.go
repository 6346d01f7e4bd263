package afl

import (
	"path"
	"strings"
	"testing"

	"placet/engine"
	"placet/internal/badinput"
	"placet/internal/enginetest"
	"placet/layout"
)

const besideSession = ".afl/sessions/beside00"

// besideRun returns a session that receives an approved design.
func besideRun() enginetest.Beside {
	return enginetest.Beside{
		Begin: enginetest.Tree{besideSession + "/meta.json": "{}"},
		Comes: enginetest.Tree{besideSession + "/" + specsYAML: design(approvedHead, cp{id: "z"})},
		Taken: func(t enginetest.Tree) bool { return strings.Contains(t[besideSession+"/state.json"], `"delegating"`) },
	}
}

// deviates returns the deviations of several kinds for one reason.
func deviates(o enginetest.Outcome, reason string, kinds ...string) map[string]enginetest.Deviation {
	m := map[string]enginetest.Deviation{}
	for _, k := range kinds {
		m[k] = enginetest.Deviation{Outcome: o, Reason: reason}
	}
	return m
}

// input is a document that others write and that counts at some point.
func input(w *world, rel, body string) enginetest.Input {
	p := w.In(rel)
	if strings.HasPrefix(rel, "/") {
		p = rel[1:]
	}
	in := enginetest.Input{Name: strings.TrimPrefix(rel, "/"), Path: p, Good: badinput.Good{Body: body}, Begin: w.Files, Run: w.Run.Dir}
	if p == rel[1:] {
		in.Note = path.Join(w.Run.Dir, "problems", strings.ReplaceAll(p, "/", "--")+layout.ProblemSuffix)
	}
	return in
}

// badInputs are the documents of AFL that others write.
func badInputs(t *testing.T) []enginetest.Input {
	at := points(t)
	working, waiting := at["in progress"], at["waiting"]
	done := enginetest.Tree{working.In(attemptOne + "worker.json"): `{"status": "completed"}`}
	shown := &enginetest.Deviation{Outcome: enginetest.Silent, Reason: "it is shown in prompts and decides nothing"}

	state := input(working, "state.json", working.Read("state.json"))
	state.Required, state.Text, state.Word, state.Number, state.ID, state.Late = "status", "updated_at", "status", "revision", "session_id", done
	state.Deviates = deviates(enginetest.Noted, "the journal holds the digest of every byte: somebody else changed it", "doubly encoded UTF-8")
	state.Deviates["missing"] = enginetest.Deviation{Outcome: enginetest.Noted, Reason: "the page: gone while events.jsonl is there"}

	meta := input(at["designing"], "meta.json", `{"sessionId": "abc12345", "checkpointsApproved": true}`)
	meta.Text, meta.ID = "sessionId", "sessionId"

	specs := input(at["designing"], specsYAML, design(approvedHead, cp{id: "a"}))
	specs.Format = badinput.YAML

	second := input(at["second layout"], "checkpoints/a.json", `{"id": "a", "name": "A", "validation": {"command": "run a"}}`)
	second.Text, second.ID = "name", "id"
	second.Deviates = deviates(enginetest.Found, "the page: finding E9, which the state keeps",
		"id with control and bidi characters", "id with ..", "id with a slash", "id of 300 characters", "id of half a megabyte")

	control := input(working, "control.json", `{"want": "pause", "by": "kim"}`)
	control.Required, control.Text, control.Word = "want", "by", "want"

	review := input(at["reviewed"], "review.json", `{"reviewer": "r", "findings": [{"checkpoint": "a", "severity": "blocking", "title": "t"}]}`)
	review.Required, review.Text = "findings", "reviewer"

	question := input(working, "delegations/a/pending-question.json", `{"timestamp": "2026-01-01T00:00:00Z", "checkpoint": "a", "question": "Which?"}`)
	question.Required, question.Text, question.ID = "question", "question", "checkpoint"

	worker := input(working, attemptOne+"worker.json", `{"status": "completed", "iteration": 1, "checkpoint": "a", "message": "m"}`)
	worker.Required, worker.Text, worker.Word, worker.Number, worker.ID = "status", "message", "status", "iteration", "checkpoint"

	outcome := input(working, attemptOne+"result.json", `{"iteration": 1, "exitCode": 1, "output": "1 failing"}`)
	outcome.Required, outcome.Text, outcome.Number = "exitCode", "output", "iteration"
	outcome.Deviates = deviates(enginetest.Taken, "the page: a result has 16 MiB", "10 MB")

	analysis := input(at["validating"], attemptOne+"analysis.json", `{"failure_type": "ENV_ISSUE", "causes": ["c"]}`)
	analysis.Required, analysis.Text, analysis.Word, analysis.Calm = "failure_type", "causes", "failure_type", true

	signal := input(working, "/"+currentDelegation, `{"sessionId": "abc12345", "currentCheckpoint": "a", "iteration": 1, "status": "validating"}`)
	signal.Required, signal.Text, signal.Number, signal.ID = "sessionId", "status", "iteration", "currentCheckpoint"

	yaml := input(working, "/"+upstreamYAML, "feedback_loop: {max_iterations: 4}\n")
	yaml.Format, yaml.Alone, yaml.Late = badinput.YAML, true, done

	json := input(working, "/"+upstreamJSON, `{"feedbackLoop": {"maxIterations": 4, "mode": "auto"}}`)
	json.Text, json.Word, json.Alone, json.Late = "feedbackLoop.maxIterations", "feedbackLoop.mode", true, done

	id := waiting.open(typeClarification)
	answer := input(waiting, "requests/"+id+"/response.json", jsonText(map[string]any{
		"request_id": id, "response": "answer", "comment": "this way", "provided_by": map[string]any{"user": "kim", "source": "cli"},
	}))
	answer.Required, answer.Text, answer.Word, answer.ID, answer.Note = "response", "response", "response", "request_id", waiting.In("requests/"+id+"/problem.md")
	answer.Deviates = deviates(enginetest.Taken, "a second answer that is alike is the same answer", "sync-conflict copy")

	asked := input(waiting, "requests/"+id+"/request.json", waiting.Read("requests/"+id+"/request.json"))
	asked.Required, asked.Text, asked.Number, asked.ID = "options", "prompt", "revision", "request_id"
	asked.Late = enginetest.Tree{answer.Path: answer.Body}
	asked.Deviates = deviates(enginetest.Noted, "the digest is of every character: what was asked is not what was shown", "doubly encoded UTF-8")
	asked.Deviates["missing"] = enginetest.Deviation{Outcome: enginetest.Mended, Reason: "a request that is gone is written again"}

	form := copyOfForm(waiting, id)
	form.Deviates = deviates(enginetest.Mended, "a form that is gone is written again", "missing")
	form.Deviates["doubly encoded UTF-8"] = enginetest.Deviation{Outcome: enginetest.Noted, Reason: "only ticks and the comment may differ from what placet wrote"}
	form.Deviates["byte order mark"] = enginetest.Deviation{Outcome: enginetest.Taken, Reason: "editors put one before the first line, and it decides nothing"}

	all := []enginetest.Input{state, meta, specs, second, control, review, question, worker, outcome, analysis, signal, yaml, json, answer, asked, form}
	for _, rel := range []string{"specs/contracts.md", "specs/architecture.md", "contracts/a/api.md"} {
		text := input(working, rel, "# Contracts\n\nOf a.\n")
		text.Format, text.Calm, text.All = badinput.Markdown, true, shown
		all = append(all, text)
	}
	return all
}

// copyOfForm returns the answered form of a request.
func copyOfForm(w *world, id string) enginetest.Input {
	rel := "requests/" + id + "/form.md"
	body := strings.Replace(w.Read(rel), "- [ ] validate", "- [x] validate", 1)
	in := input(w, rel, strings.Replace(body, "- [ ] submit", "- [x] submit", 1))
	in.Format, in.Note = badinput.Markdown, w.In("requests/"+id+"/problem.md")
	return in
}

func TestEveryKindOfBadFileOfEveryDocument(t *testing.T) {
	s := fuzzSuite()
	s.Machine, s.Config = New(), engine.Config{Language: "en", Family: lawConfig(func(c *Config) { c.Review = ptr(reviewExternal) })}
	enginetest.BadFiles(t, s, besideRun(), badInputs(t))
}
