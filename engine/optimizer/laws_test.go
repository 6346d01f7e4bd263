package optimizer

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/schemas"
)

func TestLaws(t *testing.T)        { enginetest.Run(t, laws()) }
func TestCrash(t *testing.T)       { enginetest.Crash(t, some(laws())) }
func TestErrors(t *testing.T)      { enginetest.Errors(t, some(laws())) }
func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, some(laws())) }
func TestLanguages(t *testing.T)   { enginetest.Languages(t, laws()) }

// some keeps the cases that differ in what they write, because all of them with faults at every
// call take too long. PLACET_LAWS=all runs all cases except two kinds that have tests of their own:
// those of commands, whose end a crash may lose, and that of a locked database, which a slower run
// tries more often.
func some(s enginetest.Suite) enginetest.Suite {
	all := os.Getenv("PLACET_LAWS") == "all"
	s.Cases = slices.DeleteFunc(slices.Clone(s.Cases), func(c enginetest.Case) bool {
		return strings.HasPrefix(c.Name, "command") || strings.HasPrefix(c.Name, "locked") || !all && !slices.Contains(inShort, c.Name)
	})
	return s
}

// inShort are the cases that always run with faults.
var inShort = []string{"answered", "silence, then a late answer"}

// laws are the cases of cycles for the shared suite.
func laws() enginetest.Suite {
	s := suiteOf(func(c *Config) {
		w := Workflow{Evaluation: evaluate, Analysis: analyse, CriteriaFixed: true}
		c.Workflows = map[string]Workflow{"with commands": w}
	})
	s.EveryRow = true
	s.Asks = []string{typeHITL, typeCap, typeUnknown}
	s.Lengths = clocksAside
	s.After = eachRowOnce
	s.Rows = nil
	s.Speak = func(conf *engine.Config, lang string) {
		c := conf.Family.(Config)
		c.Language = lang
		conf.Family = c
	}
	s.Cases = slices.Concat(cycleCases(), stopCases(), reentryCases(), commandCases())
	return s
}

// clocksAside removes from a tree how long a cycle took, times in the database's format, and
// whether a row was found in the database or inserted: a crash between the two may turn one into
// the other, and change the digest of the state.
func clocksAside(t enginetest.Tree) enginetest.Tree {
	for p, body := range t {
		switch path.Base(p) {
		case "audit.json", "audit-pending.jsonl":
			body = tookSeconds.ReplaceAllString(databaseTimes.ReplaceAllString(body, "<time>"), "$1<length>")
			t[p] = strings.ReplaceAll(body, `"outcome": "inserted"`, `"outcome": "present"`)
		case "state.json", "events.jsonl":
			t[p] = digestOfState.ReplaceAllString(strings.ReplaceAll(body, "audit row inserted", "audit row present"), "$1<digest>")
		}
	}
	return t
}

var (
	databaseTimes = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	digestOfState = regexp.MustCompile(`("state":"sha256:)[0-9a-f]{64}`)
	tookSeconds   = regexp.MustCompile(`(\\?"duration_sec\\?": ?)\d+`)
)

// eachRowOnce checks that the database has exactly the rows that the files call inserted or
// present, each once.
func eachRowOnce(t enginetest.Tree, rows map[string][]engine.Row) error {
	in, owed := map[string]int{}, map[string]bool{}
	for _, list := range rows {
		for _, row := range list {
			in[row.ID]++
		}
	}
	for p, body := range t {
		if !strings.HasSuffix(p, "/audit.json") {
			continue
		}
		var a Audit
		if err := schemas.Decode("optimizer/audit", p, []byte(body), &a); err != nil {
			return err
		}
		for _, row := range a.Rows {
			owed[row.ID] = true
			settled := row.Outcome == rowInserted || row.Outcome == rowPresent
			if settled != (in[row.ID] == 1) && row.Outcome != rowRefused {
				return fmt.Errorf("%s: the row %s is %s, and %d times in the database", p, row.ID, row.Outcome, in[row.ID])
			}
		}
	}
	for id, n := range in {
		if n != 1 || !owed[id] {
			return fmt.Errorf("the row %s is %d times in the database, owed: %t", id, n, owed[id])
		}
	}
	return nil
}

// story returns a case about runA, whose inputs allow a level and are complete.
func story(name string, level int, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{Name: name, Now: storyNow, Steps: steps, Files: enginetest.Tree{
		dirOf(runA) + "/inputs/assets.json": assetsOf(level),
		dirOf(runA) + "/retrieved.jsonl":    retrievedLines,
		dirOf(runA) + "/suggestions.json":   threeSuggestions,
		dirOf(runA) + "/trigger.json":       triggerOf(flow),
	}}
}

// without leaves files out of the beginning of a case.
func without(c enginetest.Case, rels ...string) enginetest.Case {
	for _, rel := range rels {
		delete(c.Files, dirOf(runA)+"/"+rel)
	}
	return c
}

// beginning changes the trigger of a case.
func beginning(c enginetest.Case, fields ...string) enginetest.Case {
	c.Files[dirOf(runA)+"/trigger.json"] = triggerOf(flow, fields...)
	return c
}

// put returns the step in which somebody writes a file of the run.
func put(rel, body string) enginetest.Step { return enginetest.Write(dirOf(runA)+"/"+rel, body) }

// ticks returns the step in which a reviewer ticks items of the form of hitl.
func ticks(items ...string) enginetest.Step {
	return enginetest.Step{Name: "tick " + strings.Join(items, ", "), Do: func(t enginetest.Tree) {
		for _, item := range items {
			t.Replace(dirOf(runA)+"/requests/hitl-*/form.md", "- [ ] "+item, "- [x] "+item)
		}
	}}
}

// responds returns the step in which somebody answers a request of a type.
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

// also adds another file to the beginning of a case.
func also(c enginetest.Case, rel, body string) enginetest.Case {
	c.Files[dirOf(runA)+"/"+rel] = body
	return c
}

// troubledFrom says that another case shows faults before a step of this one.
func troubledFrom(step int, c enginetest.Case) enginetest.Case {
	c.TroubleFrom = step
	return c
}

// withNotes says that a case ends with problem notes.
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

// stopsIt returns the step in which somebody abandons a cycle.
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

// manifestAt returns the manifest of a completed run.
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

// byCommand returns a case in which a command carries out the level.
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
