package afl

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// currentDelegation is the file in which upstream's hooks report their progress.
const currentDelegation = ".afl/state/current-delegation.json"

// session is a run of the family, with everything it reads besides its state.
type session struct {
	run    *run.Run[State, *session]
	cfg    settings
	cfgBad bool

	meta    Meta
	control run.Control
	specs   specs
	// signal is the report of upstream's hooks, nil if it names no attempt of this session.
	signal *Delegation

	checkpoints map[string]*checkpoint
	order       []string // all checkpoints, in definition order
}

// family describes AFL to the kernel.
var family = kernel{
	Layout: layout.AFL{},
	Stamp:  run.Millis,
	Anew:   "afl.anew",
	Format: run.Format[State]{
		Decode: DecodeState, Encode: State.encode, Head: (*State).head,
		Unfit: func(r *run.Input, st State) error { return st.unfit(r.Snap.Key.ID) },
	},
	Parts: []run.Parts[State, *session]{{
		Of: ofCheckpoint, All: func(r *session) []string { return r.order }, Enter: enter,
		Status: func(r *session, on run.On) engine.Status { return r.checkpoint(on.Subject).Status },
	}},
	Read: readSession, Rules: rules, Final: isFinal, New: "new", Summary: summarize, Always: stampAll,
	Questions: questions, BadSettings: badSettings,
	Foreign: func(_ *session, d engine.Document) bool { return isForeign(d) }, Outputs: outputs, Actions: actions,
	Posts: func(r *session, w *run.Outputs) { post.Plan(r.run, w, post.Said{}) },
	Notes: notes, Needs: needs, Watch: watch,
	Keeps:  func(r *session, id string) bool { return !r.run.Snap.Facts.Alive[id] },
	Absent: absent, Explain: explain, Tell: tellSession, Fabrications: fabrications,
}

// enter moves a checkpoint to a status.
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

// stampAll sets when a session changed, and when it ended.
func stampAll(c *change) {
	st := c.State
	st.UpdatedAt = c.Now
	if isFinal(st.Status) && st.FinishedAt == "" {
		st.FinishedAt = c.Now
	}
}

// readSession reads what every status needs. It only judges whether documents are usable.
func readSession(k *run.Run[State, *session]) *session {
	r := &session{run: k, checkpoints: map[string]*checkpoint{}}
	r.cfg, _ = run.Config(r.run.Snap, DefaultConfig).settle(nil) // a final session no longer reads upstream's files
	if !r.run.Usable() || r.isVacant() {
		return r
	}
	indexCheckpoints(r)
	if isFinal(r.run.State.Status) {
		return r
	}
	readConfig(r)
	readMeta(r)
	r.control = *cmp.Or(run.ReadWish[run.Control](&r.run.Input, r.run.Snap.In("control.json"), "afl/control"), &run.Control{})
	r.specs = readSpecs(r)
	readSignal(r)
	return r
}

func (r *session) id() string { return r.run.Snap.Key.ID }

// say returns a [phrase] in the language of the session.
func (r *session) say(key string, pairs ...any) string { return phrase(r.run.Lang, key, pairs...) }

// indexCheckpoints fills in the checkpoints and their order.
func indexCheckpoints(r *session) {
	r.order = r.run.State.order()
	for _, id := range r.order {
		r.checkpoints[id] = &checkpoint{Checkpoint: cmp.Or(r.run.State.Checkpoints[id], &Checkpoint{}), r: r, id: id}
	}
	for i, def := range r.run.State.definitions() {
		r.checkpoints[def.ID].def = &r.run.State.Approved.Definitions[i]
	}
}

// readConfig merges the settings. An unusable setting stops every session, because no guess may
// replace a limit.
func readConfig(r *session) {
	below, ok := readUpstream(r)
	if r.cfgBad = !ok; r.cfgBad {
		return
	}
	var bad *badSetting
	if r.cfg, bad = run.Config(r.run.Snap, DefaultConfig).settle(r.run.Snap.Facts.Trusted, below...); bad != nil {
		r.cfgBad = true
		if bad.file != "" {
			r.run.Notes.Add(r.run.Note(bad.file), r.say("bad.settings", "file", bad.file, "key", bad.key, "problem", bad.text))
		}
	}
}

// badSettings reports whether the settings are unusable, with the paths of their notes.
func badSettings(r *session) (notes []string, bad bool) {
	return []string{r.run.Note(upstreamYAML), r.run.Note(upstreamJSON)}, r.cfgBad
}

func readMeta(r *session) {
	d := r.run.Snap.In("meta.json")
	m, _ := run.Load[Meta](&r.run.Input, d, "afl/meta")
	switch {
	case m == nil:
	case m.SessionID != "" && m.SessionID != r.id():
		r.run.Bad(d, r.say("bad.meta", "id", strconv.Quote(m.SessionID), "folder", strconv.Quote(r.id())))
	default:
		r.meta = *m
	}
}

// readSignal reads upstream's file. placet believes only that a worker has stopped.
func readSignal(r *session) {
	d := r.run.Snap.Doc(currentDelegation)
	c, _ := run.Load[Delegation](&r.run.Input, d, "afl/current-delegation")
	switch {
	case c == nil:
	case !layout.IsAFLSession(c.SessionID):
		r.run.Bad(d, r.say("bad.signal.session", "file", path.Base(d.Path), "id", strconv.Quote(c.SessionID)))
	case c.SessionID != r.id() || c.Checkpoint == "" || r.run.State.Approved == nil:
	case r.run.State.Checkpoints[c.Checkpoint] == nil:
		r.run.Bad(d, r.say("bad.signal.checkpoint", "file", path.Base(d.Path), "checkpoint", strconv.Quote(c.Checkpoint)))
	default:
		r.signal = c
	}
}

// needs returns the files outside the session's folder that it reads.
func needs(r *session) []string {
	if isFinal(r.run.State.Status) || r.isVacant() {
		return nil
	}
	return append([]string{currentDelegation, upstreamJSON, upstreamYAML}, changedPaths(r)...)
}

// watch returns the folders in which others may write files that move the session.
func watch(r *session) []string {
	if isFinal(r.run.State.Status) {
		return nil
	}
	if r.isVacant() {
		return []string{r.run.Path("specs")} // definitions may appear at any time
	}
	dirs := []string{r.run.Path("specs"), r.run.Path("checkpoints")}
	for _, id := range r.inStatus(InProgress, Waiting, Validating, Completed) {
		if cp := r.checkpoint(id); cp.Status == Completed && !cp.inReview() {
			continue
		}
		dirs = append(dirs, r.run.Path("delegations/"+id), r.run.Path(r.checkpoint(id).file("")))
	}
	return dirs
}

// notes reads every attempt, so that all of them get their notes, whichever rule applied first.
func notes(r *session) {
	if isFinal(r.run.State.Status) {
		return
	}
	for _, id := range r.inStatus(InProgress, Waiting, Validating) {
		r.checkpoint(id).attempt()
	}
	if v := r.run.State.Review; v != nil && v.Status == run.Open && v.Mode == reviewExternal && r.run.State.Status != Delegating {
		reviewReport(r, v.Round)
	}
	for _, f := range r.specs.findings {
		if f.blocks() {
			r.run.Notes.Beside(r.run.Path(f.file), r.say("bad.design", "text", f.text, "finding", f.id+" "+f.name+" "+f.file+f.place, "mend", f.suggestion))
		}
	}
}

// later returns the time that is d from now.
func (r *session) later(d time.Duration) text { return run.Millis(r.run.Snap.Now.Add(d)) }

// adoptCompleted creates the state of a session that upstream has completed.
func adoptCompleted(r *session, _ run.On) *move {
	if r.meta.Status != string(Completed) {
		return nil
	}
	return firstState(r, "move.upstream_completed", true)
}

// begin creates the first state of a session, whose checkpoints wait for approval.
func begin(r *session, _ run.On) *move { return firstState(r, "move.seen", false) }

func firstState(r *session, why string, adopted bool) *move {
	if r.run.Held || r.isVacant() {
		return nil
	}
	return &move{Reason: r.say(why), Then: func(c *change) {
		st := c.State
		st.SchemaVersion, st.Family, st.SessionID, st.Language, st.CreatedAt, st.Adopted = 1, "afl", r.id(), cmp.Or(r.run.Lang, templates.English), c.Now, adopted
	}}
}

// wished returns the move that control.json asks for. otherwise is the key of the reason if the
// person gives none.
func wished(r *session, otherwise string, then func(*change)) *move {
	return run.Wished(r.run.Snap.In("control.json"), cmp.Or(r.control.By, "unknown"), orWord(r.control.Reason, r.say(otherwise)), then)
}

// abortAsWished aborts the session because control.json asks for it.
func abortAsWished(r *session, _ run.On) *move {
	if r.control.Want != run.WantAbort {
		return nil
	}
	return wished(r, "move.abort", cancelOwn)
}

// abortAsTold aborts the session because an answer asks for it.
func abortAsTold(_ *session, on run.On) *move {
	return &move{Reason: on.Answer.Why(), Then: cancelOwn}
}

// cancelOwn closes the requests of the session itself.
func cancelOwn(c *change) {
	why := phrase(c.State.Language, "move.aborted")
	closeOf(c, "", gate.Cancelled, why)
	cancelPassReviews(c, why)
}

// escalateSession escalates a session while a person has to decide about one of its checkpoints.
func escalateSession(r *session, _ run.On) *move {
	if list := r.inStatus(Escalated); len(list) > 0 {
		return &move{Reason: r.say("move.escalate", "checkpoints", strings.Join(list, ", "))}
	}
	return nil
}

// resolve continues a session once people have decided about all escalated checkpoints.
func resolve(r *session, _ run.On) *move {
	if len(r.inStatus(Escalated)) > 0 {
		return nil
	}
	m := &move{To: Delegating, Reason: r.say("move.resolve")}
	if r.run.State.Pause != nil {
		m.To = Paused
	}
	return m
}

type kernel = run.Family[State, *session]

// New returns the machine.
func New() engine.Machine { return &family }

// isVacant reports whether the folder neither is nor was a session.
func (r *session) isVacant() bool {
	s := r.run.Snap
	return len(s.Under("requests")) == 0 && !slices.ContainsFunc([]string{"meta.json", specsYAML, "state.json", "events.jsonl"}, func(name string) bool { return !s.In(name).Absent() })
}

// absent reports whether the folder is no session, and says so in the view.
func absent(r *session, a *engine.RunView) bool {
	if r.isVacant() {
		a.Why, a.Findings = []string{r.say("why.absent", "file", specsYAML)}, append(a.Findings, misnamed(r)...)
	}
	return r.isVacant()
}

// summarize implements [run.Family.Summary]. An aborted session ends its checkpoints one by one,
// and is final once all have ended.
func summarize(body []byte) engine.Summary {
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
		return engine.Summary{}
	}
	p := engine.Summary{Status: st.Status, Final: isFinal(st.Status), Touched: true}
	for _, c := range st.Checkpoints {
		p.Final = p.Final && isFinal(c.Status)
	}
	for _, q := range st.Requests {
		if q.Status == run.Open && !p.Final {
			p.Ask(q.OpenedAt.Time())
		}
	}
	return p
}

// orWord returns s, or other if s is blank.
func orWord(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
