package optimizer

import (
	"fmt"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reader"
	"placet/layout"
	"placet/templates"
)

// reading is one run as a snapshot shows it, decoded once per step.
type reading struct {
	reader.Reader
	cfg settings

	doc      engine.Document // state.json
	st       State
	stateErr string
	// unaccounted is the digest of a state that the journal does not account for.
	unaccounted engine.Digest
	// torn is true while the state may still be being written.
	torn bool
	// begun is true where a state stands, or ought to.
	begun bool
	seq   int // of the last line of events.jsonl

	trigger    engine.Document
	trig       Trigger // of the file, valid where triggerOK
	triggerOK  bool
	stop       *Stop
	stopSum    engine.Digest
	unsureStop bool // whether the cycle is stopped cannot be told now

	found   *Findings // context.json
	folders []*gate.Folder
	audit   ledger

	// factWaits is true while an answer whose receipt stands cannot be carried out
	// yet: nothing passes it.
	factWaits bool

	given map[string]*answer // answers found so far, by request
	seen  map[string]any     // what was read so far, by name
}

// once reads something once per step, so that a note says a thing once.
func once[T any](r *reading, name string, read func() T) T {
	if v, known := r.seen[name]; known {
		return v.(T)
	}
	v := read()
	r.seen[name] = v
	return v
}

// read decodes what every status asks for. It judges nothing but whether
// documents are usable.
func read(s engine.Snapshot) *reading {
	r := &reading{Reader: reader.Reader{Snap: s}, doc: s.In("state.json"), given: map[string]*answer{}, seen: map[string]any{}}
	r.folders = gate.Folders(s)
	r.readState()
	if r.torn || r.stateErr != "" {
		return r
	}
	r.readTrigger()
	r.cfg = r.config().settle(r.workflow())
	if r.begun && !final(r.st.Status) {
		r.readStop()
	}
	if r.begun {
		r.readFindings()
		r.audit = r.readAudit()
		r.askUnknown()
	}
	return r
}

func (r *reading) config() Config {
	if c, ok := r.Snap.Facts.Config.Family.(Config); ok {
		return c
	}
	return DefaultConfig()
}

// runID is the run's own id, without its root.
func (r *reading) runID() string { return layout.OptimizerRunID(r.Snap.Dir) }

// workflow is the workflow that the cycle is about, or will be.
func (r *reading) workflow() string {
	if r.begun {
		return r.st.WorkflowName
	}
	return r.trig.WorkflowName
}

// beginAnew is what helps where the record is torn apart.
const beginAnew = "restore it from git, together with events.jsonl, or remove state.json and all else but trigger.json, inputs/, retrieved.jsonl and suggestions.json to begin the cycle anew"

func (r *reading) readState() {
	if r.doc.Absent() {
		r.torn = slices.ContainsFunc(r.folders, (*gate.Folder).Unsettled)
		r.Held = r.torn
		if !r.torn && (!r.Snap.In("events.jsonl").Absent() || slices.ContainsFunc(r.folders, beyondFirst)) {
			r.stateErr = "state.json is gone while events.jsonl or requests/ is there: " + beginAnew
		}
		return
	}
	record := r.State(r.doc, beginAnew, func(body []byte) (int, string, error) {
		st, err := decodeState("state.json", body)
		if err != nil {
			return 0, "", err
		}
		unfit := st.unfit(r.runID())
		if unfit == "" {
			r.st, r.begun = st, true
		}
		return st.Revision, unfit, nil
	})
	r.seq, r.torn, r.stateErr, r.unaccounted = record.Seq, record.Torn, record.Problem, record.Unaccounted
}

// beyondFirst reports whether a request folder is of a cycle that had a state. What a
// crash leaves of the first transition is a request of revision 1, and no more.
func beyondFirst(f *gate.Folder) bool {
	return f.Request == nil || f.Request.Revision != 1 || f.Receipt != nil || f.BadReceipt
}

// unfit is why a state that can be read is none of the run's, "" if it is. Ids
// become names of folders: one that no folder can have is another's doing.
func (st State) unfit(run string) string {
	if st.RunID != run {
		return fmt.Sprintf("/run_id: is %q, the folder is %q", templates.Cut(st.RunID, shownField), run)
	}
	for i, q := range st.Requests {
		if !layout.IsRequestID(q.ID) {
			return fmt.Sprintf("/requests/%d/id: %q cannot name a request", i, templates.Cut(q.ID, shownField))
		}
	}
	return ""
}

// readTrigger reads what begins the cycle. Once it has begun, the state holds
// what the trigger said: another one is noted and changes nothing.
func (r *reading) readTrigger() {
	r.trigger = r.Snap.In("trigger.json")
	d := r.trigger
	if r.begun {
		r.trig = r.st.trig
		if d.Unsettled() || d.Present() && string(d.Sum) == string(r.st.TriggerDigest) {
			return
		}
		r.Notes.Beside(d.Path, "trigger.json was changed or removed after the cycle began: the cycle goes on with what it said then; restore it, and use a new run for another cycle")
		return
	}
	r.triggerOK = r.Read(d, func() (err error) {
		if r.trig, err = decodeTrigger("trigger.json", d.Body); err == nil {
			_, err = triggerMetrics(r.trig.CurrentMetrics)
		}
		return err
	})
}

func (r *reading) readStop() {
	var s Stop
	held := r.Held
	r.Held = false
	d := r.Snap.In("stop.json")
	if r.Decode(d, "optimizer/stop", &s) {
		r.stop, r.stopSum = &s, d.Sum
	}
	r.unsureStop, r.Held = r.Held, r.Held || held
}

// lateStop says beside a stop.json that stands at the end of a cycle, which it did not
// bring about, that it moves nothing.
func (r *reading) lateStop() {
	d := r.Snap.In("stop.json")
	if !final(r.st.Status) || d.Absent() || d.Unsettled() || r.st.Last.Edge == stopped {
		return
	}
	end := "has its goal"
	if r.st.Status == Failed {
		end = "has failed"
	}
	r.Notes.Beside(d.Path, "the cycle "+end+" already: stop.json moves nothing any more; remove it")
}

// readFindings reads context.json, which only placet writes. One that was copied from
// another run, or was left by a cycle of another workflow, decides nothing here.
func (r *reading) readFindings() {
	d := r.Snap.In("context.json")
	var f Findings
	switch {
	case !r.Decode(d, "optimizer/context", &f):
	case f.RunID != r.st.RunID || f.WorkflowName != r.st.WorkflowName:
		r.Notes.Beside(d.Path, fmt.Sprintf("this file was made for %s in run %s, not for this cycle: remove it, and what is known is collected anew",
			templates.Cut(f.WorkflowName, shownField), templates.Cut(f.RunID, shownField)))
	default:
		r.found = &f
	}
}

// document is a file of placet's own in the run's folder.
func (r *reading) document(rel string, body []byte) engine.Document {
	f, _ := layout.Optimizer{}.File(layout.Run{}, rel)
	return engine.Document{Path: r.Path(rel), Kind: f.Kind, Body: body}
}

// cause names a file as the family's documents do: relative to the folder that
// holds the run directory.
func cause(rel string) string { return "optimizer/" + rel }

// request is one that the state has; nil where it has none of that id.
func (st State) request(id string) *Request {
	for _, q := range st.Requests {
		if q.ID == id {
			return q
		}
	}
	return nil
}

// openRequest is the open request of a type, nil for none.
func (st State) openRequest(typ string) *Request {
	for _, q := range st.Requests {
		if q.Type == typ && q.Status == open {
			return q
		}
	}
	return nil
}

// folder is the folder of a request.
func (r *reading) folder(id string) *gate.Folder { return gate.Find(r.folders, r.Snap.Dir, id) }
