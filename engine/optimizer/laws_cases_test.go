package optimizer

import (
	"fmt"
	"strings"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
)

// story is a case about the run in hand, whose inputs allow a level and are all
// there.
func story(name string, level int, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{Name: name, Now: storyNow, Steps: steps, Files: enginetest.Tree{
		dirOf(runA) + "/inputs/assets.json": assetsOf(level),
		dirOf(runA) + "/retrieved.jsonl":    retrievedLines,
		dirOf(runA) + "/suggestions.json":   threeSuggestions,
		dirOf(runA) + "/trigger.json":       triggerOf(flow),
	}}
}

// without leaves files out of a case's beginning.
func without(c enginetest.Case, rels ...string) enginetest.Case {
	for _, rel := range rels {
		delete(c.Files, dirOf(runA)+"/"+rel)
	}
	return c
}

// beginning changes a case's trigger.
func beginning(c enginetest.Case, fields ...string) enginetest.Case {
	c.Files[dirOf(runA)+"/trigger.json"] = triggerOf(flow, fields...)
	return c
}

// put is the step in which somebody writes a file of the run in hand.
func put(rel, body string) enginetest.Step { return enginetest.Write(dirOf(runA)+"/"+rel, body) }

// ticks is the step in which a reviewer ticks items of the form of hitl.
func ticks(items ...string) enginetest.Step {
	return enginetest.Step{Name: "tick " + strings.Join(items, ", "), Do: func(t enginetest.Tree) {
		for _, item := range items {
			t.Replace(dirOf(runA)+"/requests/hitl-*/form.md", "- [ ] "+item, "- [x] "+item)
		}
	}}
}

// responds is the step in which a request of a type is answered.
func responds(typ, word string) enginetest.Step {
	return enginetest.Step{Name: "answer " + word, Do: func(t enginetest.Tree) {
		dir := strings.TrimSuffix(t.Find(dirOf(runA)+"/requests/"+typ+"-*/request.json"), "request.json")
		if dir == "" {
			panic("nothing of the type " + typ + " is asked")
		}
		id := dir[strings.Index(dir, "/"+typ+"-")+1 : len(dir)-1]
		t[dir+"response.json"] = fmt.Sprintf(`{"request_id": %q, "response": %q, "provided_by": {"user": "kim", "source": "file"}}`, id, word)
	}}
}

// also puts another file into a case's beginning.
func also(c enginetest.Case, rel, body string) enginetest.Case {
	c.Files[dirOf(runA)+"/"+rel] = body
	return c
}

// troubledFrom says that trouble before a step of a case is what another one shows.
func troubledFrom(step int, c enginetest.Case) enginetest.Case {
	c.TroubleFrom = step
	return c
}

// withNotes says that a case ends with problem notes standing.
func withNotes(c enginetest.Case) enginetest.Case {
	c.Notes = true
	return c
}

func cycleCases() []enginetest.Case {
	pass := enginetest.Pass
	return []enginetest.Case{
		story("answered", 20, ticks("raise", "s1", "submit")),
		troubledFrom(1, withNotes(story("silence, then a late answer", 10, pass(49*time.Hour), ticks("raise", "s2", "submit")))),
		without(story("inputs one by one", 30,
			put("inputs/kpi.json", `{"metrics": [{"name": "precision", "value": 70}]}`), put("inputs/assets.json", assetsOf(30)), put("retrieved.jsonl", retrievedLines),
			put("suggestions.json", threeSuggestions), ticks("lower", "submit"),
		), "inputs/assets.json", "retrieved.jsonl", "suggestions.json"),
		without(story("nothing comes", 20, pass(11*time.Minute), pass(49*time.Hour)), "inputs/assets.json", "retrieved.jsonl", "suggestions.json"),
		without(story("down to level 10", 30,
			put("inputs/level-error.json", `{"level": 30, "error": "no criteria"}`), put("inputs/level-error.json", `{"level": 20, "error": "no script"}`), ticks("appropriate", "submit"),
		), "retrieved.jsonl"),
		also(story("level 10 cannot be done", 10, pass(time.Hour)), "inputs/level-error.json", `{"level": 10, "error": "no data"}`),
		story("locked database", 10, enginetest.Lock(theDB), ticks("raise", "submit"),
			pass(time.Second), pass(5*time.Second), pass(25*time.Second), pass(2*time.Minute), enginetest.Unlock(theDB), pass(11*time.Minute)),
		withNotes(also(also(story("bad input, mended", 20,
			put("inputs/kpi.json", `{}`), put("suggestions.json", threeSuggestions), ticks("raise", "lower", "submit"), responds(typeHITL, "no such word"),
		), "inputs/kpi.json", `{"metrics": 7}`), "suggestions.json", `{"suggestions": [{"text": " "}]}`)),
	}
}

// stopsIt is the step in which a cycle is given up.
var stopsIt = put("stop.json", `{"reason": "nobody needs it", "by": "kim"}`)

func stopCases() []enginetest.Case {
	return []enginetest.Case{
		beginning(story("stopped in context", 10, stopsIt), `"timeout_reentries": 4`),
		without(story("stopped while deciding", 10, stopsIt), "inputs/assets.json"),
		without(story("stopped while running", 20, stopsIt), "retrieved.jsonl"),
		without(story("locked database, stopped while reporting", 10, enginetest.Lock(theDB), put("inputs/assets.json", assetsOf(10)), stopsIt, enginetest.Unlock(theDB), enginetest.Pass(time.Minute)), "inputs/assets.json"),
		story("stopped while a person is asked", 20, stopsIt, enginetest.Pass(49*time.Hour)),
	}
}

// manifestAt is a manifest of a run that completed.
func manifestAt(at string) string {
	return fmt.Sprintf(`{"status": "completed", "completed_at": %q, "tags": ["workflow:%s"]}`, at, flow)
}

func reentryCases() []enginetest.Case {
	next := enginetest.Write(".mso-context/active/"+runB+"/manifest.json", manifestAt("2026-03-05T00:00:00Z"))
	again := enginetest.Write(".mso-context/active/"+runC+"/manifest.json", manifestAt("2026-03-05T00:00:01Z"))
	return []enginetest.Case{
		story("the next run takes the goal up", 10, enginetest.Pass(72*time.Hour), next, again),
		beginning(story("a person has it go on", 10, responds(typeCap, optContinue), ticks("raise", "submit")), `"timeout_reentries": 4`, `"last_run_id": "20260101-msowd-x"`),
		beginning(story("a person ends it", 10, responds(typeCap, optStop)), `"timeout_reentries": 9`),
	}
}

// byCommand is a case whose level a command does.
func byCommand(name string, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{
		Name: "command: " + name, Now: storyNow, Steps: steps, Trusted: []engine.Digest{CommandDigest(evaluate), CommandDigest(analyse)},
		Files: enginetest.Tree{dirOf(runA) + "/trigger.json": triggerOf("with commands"), dirOf(runA) + "/suggestions.json": threeSuggestions},
	}
}

func commandCases() []enginetest.Case {
	end := enginetest.EndCommand
	return []enginetest.Case{
		byCommand("succeeds", end("level/30-1", exited(0, retrievedLines)), ticks("raise", "submit")),
		byCommand("both fail", end("level/30-1", exited(2, "")), end("level/20-1", engine.Ended{Result: "timed_out"}), enginetest.Pass(49*time.Hour)),
		byCommand("lost, and begun once more", end("level/30-1", engine.Ended{Result: "lost"}), responds(typeUnknown, optRetry), end("level/30-2", exited(0, retrievedLines))),
		byCommand("lost, and given up", end("level/30-1", engine.Ended{Result: "lost"}), responds(typeUnknown, optDemote), end("level/20-1", exited(0, retrievedLines))),
	}
}
