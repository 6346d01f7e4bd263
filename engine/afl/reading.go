package afl

import (
	"fmt"
	"path"
	"sort"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reader"
	"placet/layout"
)

// currentDelegation is where upstream's hooks say what they are at.
const currentDelegation = ".afl/state/current-delegation.json"

// needs are the files outside the session's folder that every session reads.
var needs = []string{currentDelegation, upstreamJSON, upstreamYAML}

// reading is one session as a snapshot shows it, decoded once per step.
type reading struct {
	reader.Reader
	cfg    settings
	cfgBad bool

	doc      engine.Document // state.json
	st       State
	known    map[string]*part // what is known of its checkpoints, by id
	stateErr string
	// unaccounted is the digest of a state that the journal does not account for.
	unaccounted engine.Digest
	// begins is true where nothing of a session stands but what others wrote.
	begins bool
	// torn is true while the state may still be being written.
	torn bool
	seq  int // of the last line of events.jsonl

	meta    Meta
	control Control
	specs   specs
	folded  map[string]int // see foldedIDs
	folders []*gate.Folder
	// signal is what upstream's hooks say, nil where it names no attempt here.
	signal *Delegation

	defs  map[string]*Definition // approved, by id
	order []string               // all checkpoints, in definition order
	given map[string]*answer     // answers found so far, by request
	tries map[string]*attempt    // attempts looked at so far, by checkpoint
	// verdicts are judgements of this step that no file holds yet.
	verdicts map[verdictKey]Verdict
}

// Meta is meta.json.
type Meta struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Status    string `json:"status"`
	Approved  bool   `json:"checkpointsApproved"`
}

// Wishes of control.json.
const (
	wantRun   = "run"
	wantPause = "pause"
	wantAbort = "abort"
)

// Control is control.json: a person's standing wish.
type Control struct {
	Want   string `json:"want"`
	By     string `json:"by"`
	Reason string `json:"reason"`
	sum    engine.Digest
	// held is true while the wish cannot be told: the file is being written, or
	// cannot be read.
	held bool
}

// Delegation is what placet believes of current-delegation.json.
type Delegation struct {
	SessionID  string `json:"sessionId"`
	Checkpoint string `json:"currentCheckpoint"`
	Iteration  int    `json:"iteration"`
	Status     string `json:"status"`
	sum        engine.Digest
}

// session reports whether a folder is one at all.
func session(s engine.Snapshot) bool {
	for _, name := range []string{"meta.json", specsYAML, "state.json"} {
		if !s.In(name).Absent() {
			return true
		}
	}
	return false
}

// read decodes a snapshot. It judges nothing but whether documents are usable.
func read(s engine.Snapshot) *reading {
	r := &reading{
		Reader: reader.Reader{Snap: s}, doc: s.In("state.json"), folders: gate.Folders(s),
		defs: map[string]*Definition{}, given: map[string]*answer{}, tries: map[string]*attempt{}, verdicts: map[verdictKey]Verdict{},
	}
	// Without upstream's files, which a final session does not read any more.
	r.cfg, _ = r.config().settle(nil)
	r.readState()
	if r.stateErr != "" || r.torn || final(r.st.Status) {
		return r
	}
	r.readConfig()
	r.readMeta()
	r.readControl()
	r.specs = r.readSpecs()
	r.readSignal()
	return r
}

func (r *reading) sessionID() string { return r.Snap.Key.ID }

// beginAnew is what helps where the record is torn apart.
const beginAnew = "restore it from git, together with events.jsonl, or remove state.json, events.jsonl and requests/ to begin the session anew"

func (r *reading) readState() {
	if r.doc.Absent() {
		r.begins = r.Snap.In("events.jsonl").Absent() && len(r.folders) == 0
		if !r.begins {
			r.stateErr = "state.json is gone while events.jsonl or requests/ is there: " + beginAnew
		}
		return
	}
	record := r.State(r.doc, beginAnew, func(body []byte) (int, string, error) {
		st, parts, err := decodeState("state.json", body)
		if err != nil {
			return 0, "", err
		}
		unfit := st.unfit(r.sessionID())
		if unfit == "" {
			r.st, r.known = st, parts
			r.index(st)
		}
		return st.Revision, unfit, nil
	})
	r.seq, r.torn, r.stateErr, r.unaccounted = record.Seq, record.Torn, record.Problem, record.Unaccounted
}

// index notes the approved definitions and the order of the checkpoints.
func (r *reading) index(st State) {
	r.defs, r.order = map[string]*Definition{}, nil
	if st.Approved != nil {
		for i := range st.Approved.Definitions {
			d := &st.Approved.Definitions[i]
			r.defs[d.ID] = d
			r.order = append(r.order, d.ID)
		}
	}
	var gone []string
	for id := range st.Checkpoints {
		if r.defs[id] == nil {
			gone = append(gone, id)
		}
	}
	sort.Strings(gone)
	r.order = append(r.order, gone...)
}

func (r *reading) config() Config {
	if c, ok := r.Snap.Facts.Config.Family.(Config); ok {
		return c
	}
	return DefaultConfig()
}

// readConfig merges the settings. Where one cannot be used no session moves: a
// limit is never replaced by a guess.
func (r *reading) readConfig() {
	below, ok := r.upstream()
	if !ok {
		r.cfgBad = true
		return
	}
	var bad *badSetting
	if r.cfg, bad = r.config().settle(below); bad != nil {
		r.cfgBad = true
		if bad.file != "" {
			r.Notes.Add(r.Note(bad.file), fmt.Sprintf("cannot use %s: %s: %s; no AFL session moves until it is mended", bad.file, bad.key, bad.text))
		}
	}
}

func (r *reading) readMeta() {
	d := r.Snap.In("meta.json")
	var m Meta
	if !r.Decode(d, "afl/meta", &m) {
		return
	}
	if m.SessionID != "" && m.SessionID != r.sessionID() {
		r.Bad(d, fmt.Sprintf("cannot use meta.json: /sessionId: is %q, the folder is %q", m.SessionID, r.sessionID()))
		return
	}
	r.meta = m
}

func (r *reading) readControl() {
	d := r.Snap.In("control.json")
	held := r.Held
	r.Held = false
	if r.Decode(d, "afl/control", &r.control) {
		r.control.sum = d.Sum
	} else {
		r.control = Control{}
	}
	r.control.held, r.Held = r.Held, r.Held || held
}

// readSignal believes of upstream's file that a worker has stopped, no more.
func (r *reading) readSignal() {
	d := r.Snap.Doc(currentDelegation)
	var c Delegation
	if !r.Decode(d, "afl/current-delegation", &c) {
		return
	}
	if !layout.IsAFLSession(c.SessionID) {
		r.Bad(d, fmt.Sprintf("cannot use %s: /sessionId: %q is no session's id", path.Base(d.Path), c.SessionID))
		return
	}
	if c.SessionID != r.sessionID() || c.Checkpoint == "" || r.st.Approved == nil {
		return
	}
	if r.st.Checkpoints[c.Checkpoint] == nil {
		r.Bad(d, fmt.Sprintf("cannot use %s: /currentCheckpoint: the session has no checkpoint %q", path.Base(d.Path), c.Checkpoint))
		return
	}
	c.sum = d.Sum
	r.signal = &c
}

// checkpoint is one that the state has; nil where it has none of that id.
func (r *reading) checkpoint(id string) *Checkpoint { return r.st.Checkpoints[id] }

// place is the path of a file of an attempt, relative to the session's folder.
func place(cp string, n int, name string) string { return layout.AFLIteration(cp, n, name) }
