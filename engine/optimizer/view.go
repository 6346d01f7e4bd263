package optimizer

import (
	"path"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// cycle is a run of the family, with everything it reads besides its state.
type cycle struct {
	run *run.Run[State, *cycle]
	cfg settings

	trigger   engine.Document
	trig      Trigger // from the file until the cycle has begun, then from the state
	triggerOK bool
	stop      *Stop

	found *Findings // context.json
	audit ledger
}

// family describes the optimizer to the kernel.
var family = kernel{
	Layout: layout.Optimizer{},
	Stamp:  run.Seconds,
	Folder: "optimizer/",
	Anew:   "optimizer.anew",
	Format: run.Format[State]{Decode: decodeState, Encode: jsonState.Encode, Head: (*State).head, Unfit: unfit},
	Read:   readCycle, Rules: rules, Final: final, Summary: summary, New: unbegun,
	Questions: questions,
	Raised:    askUnknown, Foreign: (*cycle).foreign, Outputs: (*cycle).outputs,
	Posts: func(r *cycle, w *run.Outputs) { post.Plan(r.run, w, post.Said{}) },
	Notes: (*cycle).notes, Needs: (*cycle).needs, Watch: (*cycle).watch, Keeps: (*cycle).keeps, Late: heardLate,
	Absent: (*cycle).absent, Explain: (*cycle).explain, Tell: (*cycle).tell, Fabrications: (*cycle).fabrications,
}

// readCycle reads what every status needs. It only judges whether documents are usable.
func readCycle(k *run.Run[State, *cycle]) *cycle {
	r := &cycle{run: k}
	if !r.run.Usable() {
		return r
	}
	readTrigger(r)
	r.cfg = run.Config(r.run.Snap, DefaultConfig).settle(r.workflow())
	if r.run.Begun {
		if !final(r.run.State.Status) {
			r.stop = run.ReadWish[Stop](&k.Input, k.Snap.In("stop.json"), "optimizer/stop")
		}
		readFindings(r)
		r.audit = readAudit(r)
	}
	return r
}

// runID returns the run's own id, without its root.
func (r *cycle) runID() string { return layout.OptimizerRunID(r.run.Snap.Dir) }

// workflow returns the workflow that the cycle is or will be about.
func (r *cycle) workflow() string {
	if r.run.Begun {
		return r.run.State.WorkflowName
	}
	return r.trig.WorkflowName
}

// later returns the time that is d from now.
func (r *cycle) later(d time.Duration) text { return run.Seconds(r.run.Snap.Now.Add(d)) }

// unfit returns why a readable state does not belong to the run, or nil.
func unfit(r *run.Input, st State) error {
	if id := layout.OptimizerRunID(r.Snap.Dir); st.RunID != id {
		return templates.Errorf("optimizer.problem.runid", "have", run.QuoteID(st.RunID), "folder", strconv.Quote(id))
	}
	return run.CheckIDs(st.Requests)
}

// readTrigger reads the trigger. Once the cycle has begun, the state holds its content; a changed
// trigger gets a note and has no effect.
func readTrigger(r *cycle) {
	r.trigger = r.run.Snap.In("trigger.json")
	d := r.trigger
	if r.run.Begun {
		r.trig = r.run.State.trig
		if !d.Unsettled() && !(d.Present() && string(d.Sum) == string(r.run.State.TriggerDigest)) {
			r.run.Notes.Beside(d.Path, r.words("note.trigger"))
		}
		return
	}
	r.triggerOK = r.run.Read(d, func() (err error) {
		if r.trig, err = decodeTrigger("trigger.json", d.Body); err == nil {
			_, err = triggerMetrics(r.trig.CurrentMetrics)
		}
		return err
	})
}

// readFindings reads context.json, which only placet writes. A file from another run or from a
// cycle of another workflow is ignored with a note.
func readFindings(r *cycle) {
	d := r.run.Snap.In("context.json")
	f, _ := run.Load[Findings](&r.run.Input, d, "optimizer/context")
	if f != nil && (f.RunID != r.run.State.RunID || f.WorkflowName != r.run.State.WorkflowName) {
		r.run.Notes.Beside(d.Path, r.words("note.context",
			"workflow", templates.Cut(f.WorkflowName, shownField), "run", templates.Cut(f.RunID, shownField)))
		f = nil
	}
	r.found = f
}

// watch returns the folders in which others may write files that move the run.
func (r *cycle) watch() []string {
	if !r.run.Begun {
		return []string{r.run.Snap.Dir}
	}
	switch r.run.State.Status {
	case Context, Deciding, Running:
		return []string{r.run.Path("inputs")}
	case Reached:
		if r.run.State.Goal != nil && r.run.State.Goal.ApprovedBy == byTimeout && r.run.State.RequestID != "" {
			return []string{r.run.Path("requests/" + string(r.run.State.RequestID))}
		}
	}
	return nil
}

// notes reads every file that others may write in this status, so that all of them get their notes.
func (r *cycle) notes() {
	switch r.run.State.Status {
	case Deciding:
		r.inputs()
	case Running:
		levelError(r)
		r.data()
		r.suggestions()
	case Awaiting:
		if q := r.run.Open(typeHITL); q == nil || r.run.Answer(q) == nil {
			goalFree(r, goalOf(r.run.State, nil))
		}
	}
	noteLateStop(r)
	noteEarlier(r)
}

// noteLateStop writes a note beside a stop.json that came after the end of the cycle: it has no
// effect.
func noteLateStop(r *cycle) {
	d := r.run.Snap.In("stop.json")
	if !final(r.run.State.Status) || d.Absent() || d.Unsettled() || r.run.State.Last.Event == stopped {
		return
	}
	key := "note.stop.goal"
	if r.run.State.Status == Failed {
		key = "note.stop.failed"
	}
	r.run.Notes.Beside(d.Path, r.words(key))
}

// head returns the members of a state that the kernel reads and writes.
func (st *State) head() run.Head {
	return run.Head{Version: &st.SchemaVersion, Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Requests: &st.Requests, Language: &st.Lang, Extra: &st.Extra}
}

// Machine is the family of the workflow optimizer's cycles.
type Machine struct{ *kernel }

type kernel = run.Family[State, *cycle]

// New returns the machine.
func New() Machine { return Machine{&family} }

var (
	_ engine.Classed     = Machine{}
	_ engine.PeerMachine = Machine{}
)

// Step implements [engine.Machine].
func (Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	switch s.Class {
	case layout.OptimizerArchived:
		return engine.Plan{}, nil
	case layout.OptimizerMisnamed:
		return stepMisnamed(s), nil
	}
	return family.Step(s)
}

// Account implements [engine.Machine].
func (Machine) Account(s engine.Snapshot) engine.RunView {
	switch s.Class {
	case layout.OptimizerArchived:
		return accountArchived(s)
	case layout.OptimizerMisnamed:
		return accountMisnamed(s)
	}
	return family.Account(s)
}

// summary implements [run.Family.Summary]. A cycle that nobody answered in time still accepts a
// late answer.
func summary(body []byte) engine.Summary {
	var st struct {
		Status   engine.Status `json:"status"`
		Goal     *Goal         `json:"goal"`
		Requests []struct {
			Status   string `json:"status"`
			OpenedAt text   `json:"opened_at"`
		} `json:"requests"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Summary{}
	}
	p := engine.Summary{Status: st.Status, Final: final(st.Status), Touched: true}
	if p.Final {
		p.Final = st.Goal == nil || st.Goal.ApprovedBy != byTimeout
		return p
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			p.Ask(q.OpenedAt.Time())
		}
	}
	return p
}

// SummarizeClass implements [engine.Classed]. An archived run never moves and asks nobody, whatever
// its status was.
func (m Machine) SummarizeClass(class string, state []byte) (p engine.Summary, ok bool) {
	if class != layout.OptimizerArchived {
		return p, false
	}
	p = engine.Summary{Status: cutOff, Final: true}
	if at := m.Summarize(state).Status; final(at) {
		p.Status = at
	}
	return p, true
}

// Statuses that only a view has.
const (
	unbegun   engine.Status = "new"                // a trigger exists or is about to; no state yet
	wrongName engine.Status = "misnamed"           // the folder's name is not a run id
	cutOff    engine.Status = "cut off in archive" // archived before its cycle had ended
)

// absent reports whether a run has no cycle.
func (r *cycle) absent(a *engine.RunView) bool {
	if !r.trigger.Absent() {
		return false
	}
	a.Why = []string{r.words("why.absent")}
	a.Unblock = []engine.UnblockingFile{{Path: r.run.Path("trigger.json"), Content: r.words("unblock.begin")}}
	return true
}

// tell adds facts, levels and findings to the view of a cycle.
func (r *cycle) tell(a *engine.RunView) {
	a.Facts, a.Parts = r.facts(), r.parts()
	a.Findings = append(a.Findings, r.findings()...)
	if argv := r.cfg.argv(levelOf(r)); stopsForTrust(r, argv) {
		a.Untrusted = []engine.Untrusted{{Digest: CommandDigest(argv), Text: run.OneLine(strings.Join(argv, " ")), Stops: true}}
	}
}

// levelOf returns the level that the cycle works on, 0 for none.
func levelOf(r *cycle) int {
	if r.run.State.Level == nil {
		return 0
	}
	return r.run.State.Level.Current
}

// stopsForTrust reports whether the cycle waits only because nobody has agreed to the command of its
// level.
func stopsForTrust(r *cycle, argv []string) bool {
	st := r.run.State
	waits := st.Status == Running && levelOf(r) >= 20 && st.Level.Retrieved == "" && r.stop == nil && r.run.Open(typeUnknown) == nil
	return waits && len(argv) > 0 && !r.run.Snap.Facts.Trusted[CommandDigest(argv)] && r.run.Snap.In("retrieved.jsonl").Absent()
}

// misnamed says why no cycle begins in a folder whose name is not a run id.
func misnamed(s engine.Snapshot) templates.Message {
	return templates.NewMessage("optimizer.why.misnamed", "id", strconv.Quote(layout.OptimizerRunID(s.Dir)), "pattern", layout.OptimizerRunIDPattern)
}

// stepMisnamed writes the note about such a folder.
func stepMisnamed(s engine.Snapshot) (p engine.Plan) {
	r := run.NewInput(s)
	if d := s.In("trigger.json"); !d.Absent() {
		r.Bad(d, phrase(r.Lang, "note.misnamed", "problem", misnamed(s)))
	}
	r.Notes.Plan(s, &p, nil)
	return p
}

func accountMisnamed(s engine.Snapshot) engine.RunView {
	a := engine.RunView{Key: s.Key, Class: "served", ShortID: s.Key.ID, Status: wrongName, Blocked: true}
	d := s.In("trigger.json")
	if d.Absent() {
		a.Status, a.Blocked, a.Absent = engine.StatusAbsent, false, true
		return a
	}
	r := run.NewInput(s)
	problem := misnamed(s).In(r.Lang)
	a.Why = []string{problem}
	a.Await(r.Say("optimizer.wait.runid"))
	a.Unblock = []engine.UnblockingFile{{Path: layout.OptimizerInActive(s.Dir, "<YYYYMMDD>-<key>-<slug>", "trigger.json"), Content: r.Say("optimizer.unblock.misnamed", "file", d.Path)}}
	a.Findings = []engine.Finding{{Severity: "error", Path: d.Path, Text: problem}}
	return a
}

// accountArchived describes an archived cycle, which never moves again.
func accountArchived(s engine.Snapshot) engine.RunView {
	all, r := family.View(s)
	a := engine.RunView{Key: s.Key, Class: "archived", ShortID: s.Key.ID, Status: engine.StatusAbsent, Final: true, Facts: r.facts(), Log: all.Log}
	switch {
	case r.run.Problem != "":
		a.Status = all.Status
		a.Why = []string{r.run.Problem}
		a.Findings = []engine.Finding{{Severity: "warning", Path: r.run.Doc.Path, Text: r.run.Problem}}
	case r.run.Begun && final(r.run.State.Status):
		a.Status = r.run.State.Status
		a.Why = []string{r.words("why.archived.final", "status", a.Status)}
	case r.run.Begun || !r.trigger.Absent():
		a.Status = cutOff
		key := "why.archived"
		if r.run.Begun {
			key = "why.archived.in"
		}
		a.Why = []string{r.words(key, "status", r.run.State.Status)}
		back := layout.OptimizerInActive(r.run.Snap.Dir, r.runID(), "")
		a.Unblock = []engine.UnblockingFile{{Path: path.Dir(back), Content: r.words("unblock.archived")}}
	default:
		a.Absent = true
	}
	return a
}

// How many bytes of a text are shown. The source document has all of it.
const (
	shownField = 80
	shownName  = 200
)

// phrase returns a word or sentence with its {names} filled in from pairs of name and value. It
// does not look for names in the values.
func phrase(lang, key string, pairs ...any) string {
	return templates.Phrase(lang, "optimizer."+key, pairs...)
}
