package afl

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// currentDelegation is where upstream's hooks say what they are at.
const currentDelegation = ".afl/state/current-delegation.json"

// needs are the files outside the session's folder that every session reads.
var needs = []string{currentDelegation, upstreamJSON, upstreamYAML}

// session is a run of the family, with what it reads besides its state.
type session struct {
	*run.Run[State]
	cfg    settings
	cfgBad bool

	meta    Meta
	control Control
	// unsureControl is true while it cannot be told what a person wishes.
	unsureControl bool
	specs         specs
	folded        map[string]int // see foldedIDs
	// signal is what upstream's hooks say, nil where it names no attempt here.
	signal *Delegation

	defs  map[string]*Definition // approved, by id
	order []string               // all checkpoints, in definition order
	tries map[string]*attempt    // attempts looked at so far, by checkpoint
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
}

// Delegation is what placet believes of current-delegation.json.
type Delegation struct {
	SessionID  string `json:"sessionId"`
	Checkpoint string `json:"currentCheckpoint"`
	Iteration  int    `json:"iteration"`
	Status     string `json:"status"`
}

// family is AFL as the kernel has it.
var family = run.Family[State, *session]{
	Name: "afl", Noun: "session",
	File:  func(rel string) (layout.File, bool) { return layout.AFL{}.File(layout.Run{}, rel) },
	Stamp: millis,
	Cause: func(rel string) string { return rel },
	Anew:  "restore it from git, together with events.jsonl, or remove state.json, events.jsonl and requests/ to begin the session anew",
	Format: run.Format[State]{
		Decode: DecodeState, Encode: State.encode, Clone: State.clone, Head: (*State).head,
		Unfit: func(r *run.Run[State], st State) string { return st.unfit(r.Snap.Key.ID) },
	},
	Parts: &run.Parts[State, *session]{
		Of: ofCheckpoint, All: func(r *session) []string { return r.order }, Status: (*session).partStatus, Enter: enter,
	},
	Read: readSession, Rules: rules, Final: final, New: "new", Always: stampAll,
	Questions: questions, BadSettings: (*session).badSettings, Undecidable: func(r *session) bool { return r.unsureControl },
	Foreign: func(_ *session, d engine.Document) bool { return foreign(d) }, Outputs: (*session).outputs, Actions: (*session).actions,
	Notes: (*session).notes, Needs: (*session).needs, Watch: (*session).watch,
	Keeps:  func(r *session, id string) bool { return !r.Snap.Facts.Alive[id] },
	Absent: func(*session, *engine.Account) bool { return false }, Explain: (*session).explain, Tell: (*session).tell,
}

// partStatus is where a checkpoint stands, "" where the state does not know it.
func (r *session) partStatus(id string) engine.Status {
	if c := r.checkpoint(id); c != nil {
		return c.Status
	}
	return ""
}

// enter has a checkpoint go to a status.
func enter(c *change, id string, to engine.Status) {
	cp := c.State.Checkpoints[id]
	if cp == nil {
		cp = &Checkpoint{}
		c.State.Checkpoints[id] = cp
	}
	if cp.Status != to {
		cp.Status, cp.Since = to, Since{Revision: c.Revision, At: c.Now}
	}
	cp.Revision = c.Revision
}

// stampAll notes when a session changed, and when it ended.
func stampAll(c *change) {
	st := c.State
	st.UpdatedAt = c.Now
	if final(st.Status) && st.FinishedAt == "" {
		st.FinishedAt = c.Now
	}
}

// isSession reports whether a folder is one at all.
func isSession(s engine.Snapshot) bool {
	return slices.ContainsFunc([]string{"meta.json", specsYAML, "state.json"}, func(name string) bool { return !s.In(name).Absent() })
}

// readSession reads what every status asks for. It judges nothing but whether documents
// are usable.
func readSession(k *run.Run[State]) *session {
	r := &session{Run: k, defs: map[string]*Definition{}, tries: map[string]*attempt{}}
	// Without upstream's files, which a final session does not read any more.
	r.cfg, _ = r.config().settle(nil)
	if !r.Usable() {
		return r
	}
	r.index()
	if final(r.State.Status) {
		return r
	}
	r.readConfig()
	r.readMeta()
	r.readControl()
	r.specs = r.readSpecs()
	r.readSignal()
	return r
}

func (r *session) sessionID() string { return r.Snap.Key.ID }

// index notes the approved definitions and the order of the checkpoints.
func (r *session) index() {
	st := r.State
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

func (r *session) config() Config {
	if c, ok := r.Snap.Facts.Config.Family.(Config); ok {
		return c
	}
	return DefaultConfig()
}

// readConfig merges the settings. Where one cannot be used no session moves: a
// limit is never replaced by a guess.
func (r *session) readConfig() {
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

// badSettings reports whether the settings cannot be used.
func (r *session) badSettings() (notes []string, bad bool) {
	return []string{r.Note(upstreamYAML), r.Note(upstreamJSON)}, r.cfgBad
}

func (r *session) readMeta() {
	d := r.Snap.In("meta.json")
	m, _ := run.Load[Meta](&r.Input, d, "afl/meta")
	switch {
	case m == nil:
	case m.SessionID != "" && m.SessionID != r.sessionID():
		r.Bad(d, fmt.Sprintf("cannot use meta.json: /sessionId: is %q, the folder is %q", m.SessionID, r.sessionID()))
	default:
		r.meta = *m
	}
}

func (r *session) readControl() {
	c, got := run.Load[Control](&r.Input, r.Snap.In("control.json"), "afl/control")
	if c != nil {
		r.control = *c
	}
	r.unsureControl = got == run.Pending
}

// readSignal believes of upstream's file that a worker has stopped, no more.
func (r *session) readSignal() {
	d := r.Snap.Doc(currentDelegation)
	c, _ := run.Load[Delegation](&r.Input, d, "afl/current-delegation")
	switch {
	case c == nil:
	case !layout.IsAFLSession(c.SessionID):
		r.Bad(d, fmt.Sprintf("cannot use %s: /sessionId: %q is no session's id", path.Base(d.Path), c.SessionID))
	case c.SessionID != r.sessionID() || c.Checkpoint == "" || r.State.Approved == nil:
	case r.State.Checkpoints[c.Checkpoint] == nil:
		r.Bad(d, fmt.Sprintf("cannot use %s: /currentCheckpoint: the session has no checkpoint %q", path.Base(d.Path), c.Checkpoint))
	default:
		r.signal = c
	}
}

// needs are what the session reads outside its folder.
func (r *session) needs() []string {
	if final(r.State.Status) {
		return nil
	}
	return needs
}

// watch are the folders in which others may write what moves the session.
func (r *session) watch() []string {
	if final(r.State.Status) {
		return nil
	}
	dirs := []string{r.Path("specs"), r.Path("checkpoints")}
	for _, id := range r.order {
		switch c := r.checkpoint(id); r.partStatus(id) {
		case InProgress, Waiting, Validating:
			dirs = append(dirs, r.Path("delegations/"+id), r.Path(place(id, c.Iteration, "")))
		}
	}
	return dirs
}

// notes looks at every attempt, so that the notes are about all of them, whatever came
// first.
func (r *session) notes() {
	if final(r.State.Status) {
		return
	}
	for _, id := range r.inStatus(InProgress, Waiting, Validating) {
		r.try(id, r.checkpoint(id))
	}
	if v := r.State.Review; v != nil && v.Status == run.Open && v.Mode == reviewExternal && r.State.Status != Delegating {
		r.reviewFile(v.Round)
	}
	r.findingNotes()
}

// checkpoint is one that the state has; nil where it has none of that id.
func (r *session) checkpoint(id string) *Checkpoint { return r.State.Checkpoints[id] }

// place is the path of a file of an attempt, relative to the session's folder.
func place(cp string, n int, name string) string { return layout.AFLIteration(cp, n, name) }

// later is a moment so much later than now.
func (r *session) later(d time.Duration) text { return millis(r.Snap.Now.Add(d)) }

// Machine is the AFL family. The zero value is ready for use.
type Machine struct{}

// New returns the machine.
func New() Machine { return Machine{} }

// Family implements [engine.Machine].
func (Machine) Family() string { return family.Name }

// Edges implements [engine.Machine].
func (Machine) Edges() []engine.Edge { return family.Edges() }

// Step implements [engine.Machine].
func (Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	if isVacant(s) {
		// The definitions may come at any time, into a folder that may be there.
		return engine.Plan{Follow: []string{path.Join(s.Dir, "specs")}}, nil
	}
	return family.Step(s)
}

// Account implements [engine.Machine].
func (Machine) Account(s engine.Snapshot) engine.Account {
	if isVacant(s) {
		return engine.Account{
			Key: s.Key, Class: "served", Short: s.Key.ID, Status: engine.StatusAbsent, Absent: true,
			Why: []string{"this folder is no session: it has neither meta.json nor " + specsYAML + " nor state.json"},
		}
	}
	return family.Account(s)
}

// isVacant reports whether a folder is no session, nor was one.
func isVacant(s engine.Snapshot) bool {
	return !isSession(s) && s.In("events.jsonl").Absent() && len(s.Under("requests")) == 0
}

// Peek implements [engine.Machine].
func (Machine) Peek(body []byte) engine.Peek {
	var st struct {
		Status   engine.Status `json:"status"`
		Requests map[string]struct {
			Status   string `json:"status"`
			OpenedAt text   `json:"opened_at"`
		} `json:"requests"`
		Checkpoints map[string]struct {
			Status engine.Status `json:"status"`
		} `json:"checkpoints"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Peek{}
	}
	p := engine.Peek{Status: st.Status, Final: final(st.Status), Touched: true}
	for _, c := range st.Checkpoints {
		// An aborted session ends its checkpoints one by one.
		p.Final = p.Final && over(c.Status)
	}
	for _, q := range st.Requests {
		if q.Status == run.Open && !p.Final {
			p.Ask(q.OpenedAt.Time())
		}
	}
	return p
}
