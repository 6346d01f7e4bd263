package afl

import (
	"strings"
	"testing"
	"time"
)

// badCase is one row of section 9 of the page: a bad file, its note, and its repair.
type badCase struct {
	name string
	// begin makes the session; nil means one checkpoint in progress.
	begin func(t testing.TB) *world
	// spoil writes the bad input.
	spoil func(w *world)
	// note is the path of the note, relative to the session's folder, and says is a part of its
	// text.
	note, says string
	// mend removes the cause.
	mend func(w *world)
	// goes is true if the session continues as soon as the input is repaired.
	goes bool
}

// askedFor is a state with a request whose id no folder can have.
func askedFor(id string) badCase {
	var kept string
	return badCase{
		name: "state with the request " + id, note: "state.json.problem.md", says: "/requests",
		begin: func(t testing.TB) *world {
			w := oneInProgress(t)
			w.workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
			w.settle()
			return w
		},
		spoil: func(w *world) {
			kept = w.Read("state.json")
			w.Write("state.json", strings.Replace(kept, `"`+w.open(typeClarification)+`": {`, `"`+id+`": {`, 1))
		},
		mend: func(w *world) { w.Write("state.json", kept) },
	}
}

// putBad returns a case that spoils one file of the session's folder; removing it is the repair.
func putBad(name, rel, body, says string) badCase {
	return badCase{
		name: name, note: rel + ".problem.md", says: says,
		spoil: func(w *world) { w.Write(rel, body) },
		mend:  func(w *world) { delete(w.Files, w.In(rel)) },
	}
}

const attemptOne = "delegations/a/iterations/1/"

func oneInProgress(t testing.TB) *world {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.untilBegun()
	return w
}

func badCases() []badCase {
	designing := func(t testing.TB) *world {
		w := newWorld(t)
		w.Write("meta.json", `{}`)
		w.settle()
		return w
	}
	reviewing := func(t testing.TB) *world {
		w := approvedWorld(t, cp{id: "a"})
		w.config(func(c *Config) { c.Review = ptr("external") })
		w.untilBegun()
		w.trust()
		w.passOnce("a")
		return w
	}
	validating := func(t testing.TB) *world {
		w := oneInProgress(t)
		w.trust()
		w.done("a")
		w.settle()
		return w
	}
	yaml := func(name, body, says string) badCase {
		c := putBad(name, specsYAML, body, says)
		c.begin = designing
		c.mend = func(w *world) { w.Write(specsYAML, design(approvedHead, cp{id: "a"})) }
		c.goes = true
		return c
	}
	stateCase := func(name string, spoil func(w *world), says string) badCase {
		var kept, events string
		return badCase{
			name: name, note: "state.json.problem.md", says: says,
			spoil: func(w *world) {
				kept, events = w.Read("state.json"), w.Read("events.jsonl")
				spoil(w)
			},
			mend: func(w *world) { w.Write("state.json", kept); w.Write("events.jsonl", events) },
		}
	}
	outside := func(name, p, body, says string) badCase {
		return badCase{
			name: name, note: "problems/" + strings.ReplaceAll(p, "/", "--") + ".problem.md", says: says,
			spoil: func(w *world) { w.Put(p, body) }, mend: func(w *world) { delete(w.Files, p) },
		}
	}
	stale := putBad("stale analysis", attemptOne+"analysis.json", `{"failure_type": "LOGIC_ERROR", "of": "sha256:`+strings.Repeat("0", 64)+`"}`, "stale")
	stale.begin = func(t testing.TB) *world {
		w := validating(t)
		w.config(func(c *Config) { c.OracleWait = ptr("1h") })
		w.validated("a", outcome{exit: 1})
		w.settle()
		return w
	}
	badReview := putBad("review blocks an unknown checkpoint", "review.json", `{"findings": [{"checkpoint": "zzz", "severity": "blocking", "title": "x"}]}`, "zzz")
	badReview.begin = reviewing
	tornReview := putBad("review no JSON", "review.json", `{"findings": [`, "review.json")
	tornReview.begin = reviewing
	badAnalysis := putBad("bad analysis", attemptOne+"analysis.json", `{"failure_type": "NONE"}`, "failure_type")
	badAnalysis.begin = validating
	badValidation := putBad("validation of another command", attemptOne+"validation.json", `{"iteration": 1, "run": 1, "command_digest": "sha256:`+strings.Repeat("0", 64)+`", "shell": ["bash", "-c"], "cwd": ".", "started_at": "2025-12-06T18:15:00.120Z", "finished_at": "2025-12-06T18:15:00.120Z", "duration_ms": 0, "outcome": "finished", "exit_code": 0, "timed_out": false, "stdout": {"bytes": 0, "head": "", "tail": "", "truncated": false}, "stderr": {"bytes": 0, "head": "", "tail": "", "truncated": false}, "matched_expected": null, "failing_marker": null}`, "another command")
	badValidation.begin = validating
	gone := stateCase("state.json gone", func(w *world) { delete(w.Files, w.In("state.json")) }, "state.json is gone")
	hook := putBad("result of a hook", attemptOne+"result.json", result(1, 0, "", ""), "hook event")
	return []badCase{
		yaml("no YAML", "checkpoints: [\n", "specs/checkpoints.yaml"),
		yaml("a tag", "checkpoints: !!binary x\n", "line 1"),
		yaml("a doubled key", "checkpoints: []\ncheckpoints: []\n", "checkpoints"),
		yaml("a schema error", "checkpoints: {a: b}\n", "/checkpoints"),
		yaml("E findings", design(approvedHead, cp{id: "a", after: []string{"x"}}), "cannot begin"),
		stateCase("state no JSON", func(w *world) { w.Write("state.json", "no\n") }, "restore it from git"),
		stateCase("state against its schema", func(w *world) { w.Write("state.json", `{"schema_version": 1}`) }, "restore it from git"),
		stateCase("state behind its journal", func(w *world) {
			w.Write("events.jsonl", w.Read("events.jsonl")+`{"seq": 99}`+"\n")
		}, "events.jsonl ends with 99"),
		stateCase("state of another session", func(w *world) {
			w.Write("state.json", strings.Replace(w.Read("state.json"), `"session_id": "abc12345"`, `"session_id": "other"`, 1))
		}, "/session_id"),
		stateCase("state with a path for a checkpoint", func(w *world) {
			w.Write("state.json", strings.Replace(w.Read("state.json"), `"a": {`, `"../../../x": {`, 1))
		}, "/checkpoints"),
		stateCase("state with a path for a definition", func(w *world) {
			w.Write("state.json", strings.Replace(w.Read("state.json"), `"id": "a"`, `"id": "a/b"`, 1))
		}, "/approved/definitions/0/id"),
		askedFor("../../../x"), askedFor("appr[ve-0123456789ab"),
		gone, hook,
		putBad("result half-written", attemptOne+"result.json", `{"iteration": 1, "exitCode": `, "result.json"),
		putBad("result of wrong types", attemptOne+"result.json", `{"iteration": 1, "exitCode": "0", "output": "x"}`, "exitCode"),
		putBad("result of another iteration", attemptOne+"result.json", result(2, 0, "ok", ""), "/iteration"),
		putBad("worker of unknown status", attemptOne+"worker.json", `{"status": "done"}`, "status"),
		putBad("worker with an empty question", attemptOne+"worker.json", `{"status": "question", "question": " "}`, "question"),
		putBad("worker without a question", attemptOne+"worker.json", `{"status": "question"}`, "question"),
		putBad("worker of another iteration", attemptOne+"worker.json", `{"status": "completed", "iteration": 2}`, "/iteration"),
		putBad("worker of another checkpoint", attemptOne+"worker.json", `{"status": "completed", "checkpoint": "b"}`, "/checkpoint"),
		badAnalysis, stale, badReview, tornReview, badValidation,
		putBad("meta broken", "meta.json", `{"sessionId": 5}`, "sessionId"),
		putBad("meta of another session", "meta.json", `{"sessionId": "other"}`, "/sessionId"),
		putBad("question broken", "delegations/a/pending-question.json", `{"checkpoint": "a"}`, "question"),
		putBad("question of another checkpoint", "delegations/a/pending-question.json", `{"timestamp": "2026-01-01T00:00:00Z", "checkpoint": "../b", "question": "x"}`, "/checkpoint"),
		putBad("control broken", "control.json", `{"want": "stop"}`, "want"),
		outside("signal broken", currentDelegation, `[]`, "current-delegation.json"),
		outside("signal with a path", currentDelegation, `{"sessionId": "../x", "currentCheckpoint": "a", "status": "validating"}`, "/sessionId"),
		outside("signal for an unknown checkpoint", currentDelegation, `{"sessionId": "abc12345", "currentCheckpoint": "../a", "iteration": 1, "status": "validating"}`, "/currentCheckpoint"),
		outside("configuration broken", upstreamYAML, "feedback_loop: [\n", "afl.yaml"),
		outside("configuration no JSON", upstreamJSON, "{", "config.json"),
		outside("value out of range", upstreamYAML, "feedback_loop: {max_iterations: 0}\n", "no AFL session moves"),
		outside("mode not served", upstreamYAML, "feedback_loop: {mode: manual}\n", `set mode = "auto"`),
		outside("value of a wrong type", upstreamJSON, `{"delegation": {"parallelWorkers": 2.5}}`, "parallelWorkers"),
	}
}

// Scenario 21, every row of section 9: the note appears, the state is unchanged byte for byte, and
// after the repair the note disappears and the session continues.
func TestScenario21BadInputMovesNothing(t *testing.T) {
	for _, c := range badCases() {
		t.Run(c.name, func(t *testing.T) {
			begin := c.begin
			if begin == nil {
				begin = oneInProgress
			}
			w := begin(t)
			before := w.Read("state.json")
			c.spoil(w)
			spoiled := w.Files[w.In("state.json")]
			w.pass(11 * time.Second) // no file counts as incomplete any more
			w.settle()
			note := w.Read(c.note)
			if !strings.Contains(note, c.says) {
				t.Errorf("the note does not say %q:\n%s", c.says, note)
			}
			if got := w.Files[w.In("state.json")]; got != before && got != spoiled && c.name != "E findings" {
				t.Errorf("the state moved:\n%s", got)
			}
			if taken := w.settle(); len(taken) > 0 {
				t.Errorf("it never rests: %v", taken)
			}
			c.mend(w)
			w.settle()
			if w.Has(c.note) {
				t.Errorf("the note still stands:\n%s", w.Read(c.note))
			}
			if c.goes {
				w.status(Delegating, "a=in_progress")
			}
			for p := range w.Files {
				if strings.HasSuffix(p, ".problem.md") {
					t.Errorf("%s still stands", p)
				}
			}
		})
	}
}

// An approved session continues with its approved definitions, whatever happens to the file.
func TestAnApprovedSessionNeedsItsFileNoMore(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"broken":  func(w *world) { w.Write(specsYAML, "checkpoints: [\n") },
		"deleted": func(w *world) { delete(w.Files, w.In(specsYAML)) },
	} {
		w := oneInProgress(t)
		w.trust()
		spoil(w)
		w.pass(11 * time.Second)
		w.passOnce("a")
		w.status(Delegating, "a=completed", "b=in_progress")
		if got := w.Has(specsYAML + ".problem.md"); got != (name == "broken") {
			t.Errorf("%s: note %v", name, got)
		}
	}
}

// placet waits for a file that may be incomplete, without a note.
func TestHalfOfAWriteIsWaitedFor(t *testing.T) {
	w := oneInProgress(t)
	w.Write(attemptOne+"worker.json", `{"status": "comp`)
	if taken := w.settle(); len(taken) > 0 || len(w.notes()) > 0 {
		t.Errorf("took %v, notes %v", taken, w.notes())
	}
	if _, p := w.Full(); p.Wake.IsZero() {
		t.Error("nobody looks again")
	}
	w.done("a")
	took(t, w.settle(), "a:worker_done")
}

// Files that are not placet's stay unchanged and get a note.
func TestForeignFilesStay(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	foreign := map[string]string{"delegations/status.json": "{}", "delegations/a/routing.json": "{}"}
	for rel, body := range foreign {
		w.Write(rel, body)
	}
	w.untilBegun()
	foreign[attemptOne+"prompt.md"] = "somebody's\n" // otherwise the first attempt would take the next free number
	w.Write(attemptOne+"prompt.md", foreign[attemptOne+"prompt.md"])
	w.settle()
	for rel, body := range foreign {
		if w.Read(rel) != body || !w.Has(rel+".problem.md") {
			t.Errorf("%s was overwritten, or has no note", rel)
		}
	}
}

// A missing or overwritten document is written again.
func TestOwedFilesComeBack(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b"})
	w.answer(typeEscalation, "retry_more", map[string]any{"comment": "again"})
	w.settle()
	before := map[string]string{}
	for p, body := range w.Files {
		before[p] = body
	}
	for p := range before {
		rel := strings.TrimPrefix(p, sessionDir+"/")
		switch {
		case rel == "state.json" || rel == "events.jsonl" || rel == specsYAML:
			continue
		case strings.HasPrefix(rel, "requests/") && !strings.HasSuffix(rel, "receipt.json"), rel == attemptOne+"prompt.md":
			continue // an ended session calls only for the record
		case strings.HasSuffix(rel, "worker.json"), strings.HasSuffix(rel, "validation.json"), strings.HasSuffix(rel, "response.json"):
			continue
		}
		delete(w.Files, p)
		w.settle()
		if w.Files[p] != before[p] {
			t.Errorf("%s came back as\n%s\nwas\n%s", rel, w.Files[p], before[p])
		}
	}
	if _, p := w.Full(); len(p.Writes) > 0 {
		t.Errorf("still owed: %+v", p.Writes)
	}
}
