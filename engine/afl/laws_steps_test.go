package afl

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/internal/enginetest"
)

// Steps of the laws' cases: what others do to a session. A step that the tree does not allow
// panics, because the case would not be the intended one.

const lawState = sessionDir + "/state.json"

// do returns a step that changes files of the session according to its state.
func do(name string, change func(st State, put func(rel, body string))) enginetest.Step {
	return enginetest.Step{Name: name, Do: func(t enginetest.Tree) {
		change(lawStateOf(t), func(rel, body string) { t[sessionDir+"/"+rel] = body })
	}}
}

func lawStateOf(t enginetest.Tree) State {
	st, err := DecodeState(lawState, []byte(t[lawState]))
	if err != nil {
		panic(err)
	}
	return st
}

// lawPut writes a file of the session.
func lawPut(rel, body string) enginetest.Step { return enginetest.Write(sessionDir+"/"+rel, body) }

// lawRemove removes a file of the session.
func lawRemove(rel string) enginetest.Step { return enginetest.Remove(sessionDir + "/" + rel) }

// stands checks that the case is at the intended point: the session's status, and checkpoints as
// "id=status". It changes nothing.
func stands(session engine.Status, checkpoints ...string) enginetest.Step {
	name := "all stands: " + strings.Join(append([]string{string(session)}, checkpoints...), " ")
	return do(name, func(st State, _ func(rel, body string)) {
		if st.Status != session {
			panic(fmt.Sprintf("the session is %s, expected %s", st.Status, session))
		}
		for _, want := range checkpoints {
			id, status, _ := strings.Cut(want, "=")
			if c := st.Checkpoints[id]; c == nil || string(c.Status) != status {
				panic(fmt.Sprintf("expected %s: it is %+v", want, c))
			}
		}
	})
}

// handsIn returns the step in which a worker writes worker.json in the current attempt.
func handsIn(id string, fields map[string]any) enginetest.Step {
	return do(fmt.Sprintf("%s hands in %v", id, fields["status"]), func(st State, put func(rel, body string)) {
		c := st.Checkpoints[id]
		if c == nil || c.Status != InProgress && c.Status != Waiting {
			panic(fmt.Sprintf("%s has no attempt in hand: %+v", id, c))
		}
		put(place(id, c.Iteration, "worker.json"), jsonText(fields))
	})
}

func completes(id string) enginetest.Step { return handsIn(id, map[string]any{"status": "completed"}) }

func jsonText(fields map[string]any) string {
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(body) + "\n"
}

// runEnds writes the outcome of the current run as the acting half does.
func runEnds(id string, o outcome) enginetest.Step {
	return do("the run of "+id+" ends", func(st State, put func(rel, body string)) {
		rel, body, err := o.document(st, id, lawNow)
		if err != nil {
			panic(err)
		}
		put(rel, body)
	})
}

// passes and fails write outcomes of the current run of a checkpoint that expects only exit code 0.
func passes(id string) enginetest.Step { return runEnds(id, outcome{stdout: "ok\n"}) }

func fails(id string) enginetest.Step {
	return runEnds(id, outcome{exit: 1, stdout: "FAILED " + id + "_test.py::totals\n"})
}

// breaks writes a failure that no attempt can fix.
func breaks(id string) enginetest.Step {
	return runEnds(id, outcome{exit: 127, stderr: "no such tool\n"})
}

// workerEnds writes the outcome of the current worker command.
func workerEnds(id, how, exit string) enginetest.Step {
	return do("the worker of "+id+" ends: "+how, func(st State, put func(rel, body string)) {
		c := st.Checkpoints[id]
		if c == nil || c.Worker == nil || c.Worker.Mode != modeCommand {
			panic(id + " has no worker command")
		}
		put(place(id, c.Iteration, numbered("worker-run", c.Worker.Number)), fmt.Sprintf(
			`{"number": %d, "command_digest": %q, "started_at": "2025-12-06T18:15:00.120Z", "finished_at": "2025-12-06T18:16:00.120Z", "outcome": %q, "exit_code": %s, "tail": "bye\n"}`+"\n",
			c.Worker.Number, c.Worker.CommandDigest, how, exit))
	})
}

// outside writes an outside validator's result of the current attempt.
func outside(id string, exit int, output, more string) enginetest.Step {
	return do("a result of "+id, func(st State, put func(rel, body string)) {
		c := st.Checkpoints[id]
		put(place(id, c.Iteration, "result.json"), result(c.Iteration, exit, output, more)+"\n")
	})
}

// hookAsks writes a question as upstream's hook does.
func hookAsks(id, words string) enginetest.Step {
	return lawPut("delegations/"+id+"/pending-question.json", jsonText(map[string]any{
		"timestamp": "2025-12-06T18:00:00Z", "checkpoint": id, "question": words,
	}))
}

func wants(wish string) enginetest.Step {
	return lawPut("control.json", fmt.Sprintf(`{"want": %q, "by": "kim"}`+"\n", wish))
}

// lawOpen returns the id of the only open request of a type for a checkpoint.
func lawOpen(st State, typ, cp string) string {
	for _, q := range st.Requests {
		if q.Status == run.Open && q.Type == typ && string(q.Subject) == cp {
			return q.ID
		}
	}
	panic(fmt.Sprintf("no request of type %s for %q is open", typ, cp))
}

// responds answers an open request with response.json.
func responds(typ, cp, response, comment string) enginetest.Step {
	return do("answer "+cp+" "+response, func(st State, put func(rel, body string)) {
		id := lawOpen(st, typ, cp)
		put("requests/"+id+"/response.json", jsonText(map[string]any{
			"request_id": id, "response": response, "comment": comment, "provided_by": map[string]any{"user": "kim", "source": "cli"},
		}))
	})
}

// ticks answers an open request with its form, as an editor saves it, with or without a comment.
func ticks(typ, cp, option, comment string) enginetest.Step {
	return enginetest.Step{Name: "tick " + cp + " " + option, Do: func(t enginetest.Tree) {
		form := sessionDir + "/requests/" + lawOpen(lawStateOf(t), typ, cp) + "/form.md"
		t.Replace(form, "- [ ] "+option+":", "- [x] "+option+":")
		t.Replace(form, "- [ ] submit", comment+"\n\n- [x] submit")
	}}
}

// redesigns writes V1's file as the architect saves it anew.
func redesigns(head string, checkpoints ...cp) enginetest.Step {
	return lawPut(specsYAML, design(head, checkpoints...))
}

// restamps writes a design with a stamp later than the event that requires one.
func restamps(checkpoints ...cp) enginetest.Step {
	return do("approve by stamp", func(st State, put func(rel, body string)) {
		var asked time.Time
		if st.Pause != nil {
			asked = st.Pause.At.Time()
		}
		if c := st.Specs.ChangesRequested; c != nil && c.At.Time().After(asked) {
			asked = c.At.Time()
		}
		head := fmt.Sprintf("approved_at: %s\napproved_by: kim\n", run.Millis(asked.Add(time.Millisecond)))
		put(specsYAML, design(head, checkpoints...))
	})
}
