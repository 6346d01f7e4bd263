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

// What others do to a session, as steps of the laws' cases. A step that the
// tree does not allow panics: then the case is not played as it was meant.

const lawState = sessionDir + "/state.json"

// do is a step that changes files of the session by what its state says.
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

// stands checks that the case is where it is meant to be: the session's status,
// and checkpoints as "id=status". It changes nothing.
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

// handsIn is a worker's worker.json in the attempt in hand.
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

// runEnds is the outcome of the run in hand, as the acting half writes it.
func runEnds(id string, o outcome) enginetest.Step {
	return do("the run of "+id+" ends", func(st State, put func(rel, body string)) {
		rel, body, err := o.document(st, id, lawNow)
		if err != nil {
			panic(err)
		}
		put(rel, body)
	})
}

// passes and fails are outcomes of the run in hand of a checkpoint that expects
// nothing but exit code 0.
func passes(id string) enginetest.Step { return runEnds(id, outcome{stdout: "ok\n"}) }

func fails(id string) enginetest.Step {
	return runEnds(id, outcome{exit: 1, stdout: "FAILED " + id + "_test.py::totals\n"})
}

// breaks is a failure that no attempt can mend.
func breaks(id string) enginetest.Step {
	return runEnds(id, outcome{exit: 127, stderr: "no such tool\n"})
}

// workerEnds is the outcome of the worker command in hand.
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

// outside is an outside validator's result of the attempt in hand.
func outside(id string, exit int, output, more string) enginetest.Step {
	return do("a result of "+id, func(st State, put func(rel, body string)) {
		c := st.Checkpoints[id]
		put(place(id, c.Iteration, "result.json"), result(c.Iteration, exit, output, more)+"\n")
	})
}

// hookAsks is a question as upstream's hook stores it.
func hookAsks(id, words string) enginetest.Step {
	return lawPut("delegations/"+id+"/pending-question.json", jsonText(map[string]any{
		"timestamp": "2025-12-06T18:00:00Z", "checkpoint": id, "question": words,
	}))
}

func wants(wish string) enginetest.Step {
	return lawPut("control.json", fmt.Sprintf(`{"want": %q, "by": "kim"}`+"\n", wish))
}

// lawOpen is the id of the one open request of a type for a checkpoint.
func lawOpen(st State, typ, cp string) string {
	for _, q := range st.Requests {
		if q.Status == run.Open && q.Type == typ && string(q.Subject) == cp {
			return q.ID
		}
	}
	panic(fmt.Sprintf("no request of type %s for %q is open", typ, cp))
}

// responds answers an open request by response.json.
func responds(typ, cp, response, comment string) enginetest.Step {
	return do("answer "+cp+" "+response, func(st State, put func(rel, body string)) {
		id := lawOpen(st, typ, cp)
		put("requests/"+id+"/response.json", jsonText(map[string]any{
			"request_id": id, "response": response, "comment": comment, "provided_by": map[string]any{"user": "kim", "source": "cli"},
		}))
	})
}

// ticks answers an open request by its form, with a comment or without, as an
// editor saves it.
func ticks(typ, cp, option, comment string) enginetest.Step {
	return enginetest.Step{Name: "tick " + cp + " " + option, Do: func(t enginetest.Tree) {
		form := sessionDir + "/requests/" + lawOpen(lawStateOf(t), typ, cp) + "/form.md"
		t.Replace(form, "- [ ] "+option+":", "- [x] "+option+":")
		t.Replace(form, "- [ ] submit", comment+"\n\n- [x] submit")
	}}
}

// redesigns is V1's file as the architect saves it anew.
func redesigns(head string, checkpoints ...cp) enginetest.Step {
	return lawPut(specsYAML, design(head, checkpoints...))
}

// restamps is a design with a stamp that is later than what calls for one.
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
