package faber

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// Statuses of a coordinator.
const (
	Collecting engine.Status = "collecting" // waits until all runs have stopped
	Asking     engine.Status = "asking"     // a prompt is open
	Closed     engine.Status = "closed"     // final: every run is completed or cancelled
)

// UnknownRun is the status of a run of a coordinator that does not exist.
const UnknownRun engine.Status = "unknown"

// Limits of a coordinator.
const (
	mostAsked   = 50 // runs in a prompt; the others follow in the next round
	mostPrompts = 20 // prompts in a round; later views are answered in their forms
	// MostCoordinated is how many runs a coordinator may have.
	MostCoordinated = 200
)

// Coordinator is coordinator.json: which runs belong together.
type Coordinator struct {
	ID        string   `json:"coordinator_id"`
	Runs      []string `json:"runs"`
	CreatedBy string   `json:"created_by,omitempty"`
}

// CoordinatorState is the state.json of a coordinator.
type CoordinatorState struct {
	SchemaVersion int           `json:"schema_version"`
	CoordinatorID string        `json:"coordinator_id"`
	Status        engine.Status `json:"status"`
	Round         int           `json:"round"`
	Runs          []Member      `json:"runs"`
	// Prompts are those of the round, the first view first, and Answers the answers to them.
	Prompts  []Prompt       `json:"prompts"`
	Answers  []TakenAnswer  `json:"answers"`
	Revision int            `json:"revision"`
	Last     *run.Last      `json:"last_transition"`
	History  []run.Past     `json:"history"`
	Extra    schemas.Object `json:"-"`
}

// Member is a run of a coordinator, as it was at the coordinator's last transition.
type Member struct {
	RunID  string        `json:"run_id"`
	WorkID run.Text      `json:"work_id"`
	Status engine.Status `json:"status"`
}

// TakenAnswer is an answer that a coordinator has passed on to its run.
type TakenAnswer struct {
	RunID     string `json:"run_id"`
	RequestID string `json:"request_id"`
	Response  string `json:"response"`
	Comment   string `json:"comment"`
	User      string `json:"user"`
}

func (st *CoordinatorState) head() run.Head {
	return run.Head{Version: &st.SchemaVersion, Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Extra: &st.Extra, History: &st.History}
}

type (
	coordinatorRule = run.Rule[CoordinatorState, *coordinator]
	coordinatorMove = run.Move[CoordinatorState, *coordinator]

	coordinatorChange = run.Change[CoordinatorState, *coordinator]
)

const ofCoordinator = "coordinator"

// coordinatorRules are the transition table of a coordinator. Answers come first: what a crash left
// unrecorded is recorded before the round ends.
var coordinatorRules = [][]coordinatorRule{
	{{Of: ofCoordinator, From: from{""}, Event: "adopted", To: to{Collecting}, When: adopts, Awaits: awaitsMembers}},
	{{Of: ofCoordinator, From: from{Asking}, Event: "answers_taken", To: to{Asking}, When: takesAnswers}},
	{{Of: ofCoordinator, From: from{Collecting, Asking}, Event: "all_final", To: to{Closed}, When: closes}},
	{{Of: ofCoordinator, From: from{Asking}, Event: "round_over", To: to{Collecting}, When: endsRound, Awaits: awaitsAnswers}},
	{{Of: ofCoordinator, From: from{Asking}, Event: "prompt_renewed", To: to{Asking}, When: renewsPrompt}},
	{{Of: ofCoordinator, From: from{Collecting}, Event: "all_stopped", To: to{Asking}, When: asksAll, Awaits: awaitsStops}},
}

// coordinators is the machine of coordinators. It reads its runs as their own machine does.
var coordinators = run.Family[CoordinatorState, *coordinator]{
	Layout: layout.Coordinators{},
	Format: run.JSONState("faber/coordinator-state", (*CoordinatorState).head, func(*run.Input, CoordinatorState) error { return nil }),
	Stamp:  run.Millis, Anew: "faber.coordinator.anew", New: Collecting,
	Final: func(s engine.Status) bool { return s == Closed },
	Read:  readCoordinator, Rules: coordinatorRules,
	Outputs: (*coordinator).outputs, Posts: func(*coordinator, *run.Outputs) {},
	Notes: func(c *coordinator) {
		for _, problem := range c.judged().problems {
			c.Notes.Add(c.problemFile(), problem)
		}
	},
	Needs:   (*coordinator).needs,
	Watch:   (*coordinator).watch,
	Absent:  func(c *coordinator, _ *engine.RunView) bool { return c.Snap.In("coordinator.json").Absent() },
	Explain: func(*coordinator, *run.Waiting) {},
	Tell:    (*coordinator).tell,
}

// coordinator is a coordinator in a snapshot.
type coordinator struct {
	*run.Input
	run     *run.Run[CoordinatorState, *coordinator]
	state   *CoordinatorState
	said    *Coordinator // nil if coordinator.json cannot be used
	members []*member
}

func readCoordinator(k *run.Run[CoordinatorState, *coordinator]) *coordinator {
	c := &coordinator{Input: &k.Input, run: k, state: &k.State}
	c.NotePath = func(p string) string {
		if p == c.Path("coordinator.json") {
			return c.problemFile()
		}
		return ""
	}
	var ids []string
	if c.said, _ = run.Load[Coordinator](c.Input, c.Snap.In("coordinator.json"), "faber/coordinator"); k.Begun {
		for _, m := range k.State.Runs {
			ids = append(ids, m.RunID)
		}
	} else if c.said != nil {
		for _, id := range c.said.Runs {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	c.members = run.Once(k, "members", func() []*member { return c.readMembers(ids) })
	for _, m := range c.members {
		if m.isBusy() {
			c.Unsure, c.Held = true, true
			c.WakeAt(m.view.Wake)
		}
	}
	if slices.ContainsFunc(c.Snap.Docs, run.IsUnreadable) {
		c.WakeAt(c.Snap.Now.Add(retry))
	}
	return c
}

// watch returns the folders in which others answer.
func (c *coordinator) watch() []string {
	if c.state.Status == Closed {
		return nil
	}
	return []string{c.Snap.Dir, c.Path("replies")}
}

// file returns the path of a file of the round, relative to the coordinator's folder.
func (c *coordinator) file(format string) string { return fmt.Sprintf(format, max(c.state.Round, 1)) }

func (c *coordinator) problemFile() string { return c.Path(c.file("problem-%03d.md")) }

// member is a run of a coordinator.
type member struct {
	id     string
	label  string   // what people call it: #124, #124@3f2b8c1e, 3f2b8c1e
	workID string   // "" if it cannot be used in an answer
	view   *view    // nil if no run can have this id
	ask    *request // the request that it waits for, once that is open
}

// readMembers reads the runs. They are asked although failed runs are not asked about elsewhere.
func (c *coordinator) readMembers(ids []string) (all []*member) {
	cfg := config(c.Snap)
	cfg.AskFailed = askAll
	runs, s := layout.Faber{Folders: cfg.Roots}, c.Snap
	s.Facts.Config.Family, s.Docs = cfg, slices.Clone(s.Docs)
	for i, d := range s.Docs {
		if r, ok := runs.At(d.Path); ok && r.Class == layout.FaberRun {
			file, _ := runs.File(r, strings.TrimPrefix(d.Path, r.Dir+"/"))
			s.Docs[i].Kind = file.Kind
		}
	}
	works := map[string]int{}
	for _, id := range ids {
		m := &member{id: id}
		for _, dir := range runs.Places(id) {
			if there := !s.Doc(dir + "/state.json").Absent(); there || m.view == nil {
				at := s
				at.Key, at.Dir, at.Class = engine.Key{Family: "faber", ID: id}, dir, layout.FaberRun
				m.view, _ = family.Judge(at)
				if there {
					break // the earlier root has precedence
				}
			}
		}
		m.read()
		works[strings.ToLower(m.workID)]++
		all = append(all, m)
	}
	for _, m := range all {
		switch short := m.short(); {
		case m.workID == "":
			m.label = short
		case works[strings.ToLower(m.workID)] > 1:
			m.label = "#" + m.workID + "@" + short
		default:
			m.label = "#" + m.workID
		}
	}
	return all
}

func (m *member) read() {
	if m.view == nil {
		return
	}
	if id := m.view.workID(); workID.MatchString(id) {
		m.workID = id
	}
	o := m.view.asked()
	if o != nil && o.q.isOpen() && o.folder.Doc.Present() && string(o.body) == string(o.folder.Doc.Body) && !has(o.folder, "receipt.json") {
		m.ask = o
	}
}

// short returns the name that people type for a run without a work id.
func (m *member) short() string {
	base := path.Base(m.id)
	return base[:min(8, len(base))]
}

// status returns the run's status, UnknownRun or run.StatusUnreadable.
func (m *member) status() engine.Status {
	switch {
	case m.view == nil || m.view.doc.Absent():
		return UnknownRun
	case m.view.state.unfit != nil && !final(m.view.state.status):
		return run.StatusUnreadable
	}
	return m.view.state.status
}

// isBusy reports whether a file that may decide is still being written.
func (m *member) isBusy() bool {
	return m.view != nil && (m.view.run.Torn || m.ask != nil && (m.ask.folder.Unsettled() || m.ask.q.artifactsBusy()))
}

// hasStopped reports whether the run goes on only if somebody acts. A run that asks has stopped once
// its request is open.
func (m *member) hasStopped() bool {
	switch m.status() {
	case Pending, InProgress:
		return false
	case Awaiting, Failed:
		return m.ask != nil || m.view.question() == nil
	}
	return !m.isRefused()
}

// isRefused reports whether the system refuses to read the run's state at the moment.
func (m *member) isRefused() bool { return m.view != nil && run.IsUnreadable(m.view.doc) }

// folder returns the folder of one of the run's requests.
func (m *member) folder(request string) (dir string, docs []engine.Document) {
	f := m.view.run.Folder(request)
	return f.Dir, f.Docs
}

func (c *coordinator) member(id string) *member {
	if i := slices.IndexFunc(c.members, func(m *member) bool { return m.id == id }); i >= 0 {
		return c.members[i]
	}
	return &member{id: id}
}

// needs returns the documents of the runs: what they ask, what became of what they were asked, and
// what that shows.
func (c *coordinator) needs() (needs []string) {
	if c.state.Status == Closed {
		return nil
	}
	folders := layout.Faber{Folders: config(c.Snap).Roots}
	for _, m := range c.members {
		for _, dir := range folders.Places(m.id) {
			needs = append(needs, dir+"/state.json")
		}
		if m.view == nil || m.view.doc.Absent() {
			continue
		}
		needs = append(needs, m.view.Path("metadata.json"))
		if q := m.view.question(); q != nil {
			needs = append(needs, layout.RequestPath(m.view.Snap.Dir, q.RequestID, "*"))
			for _, d := range q.artifactDocs() {
				needs = append(needs, "still:"+d.Path)
			}
		}
	}
	for _, p := range c.state.Prompts {
		for _, e := range p.Asked {
			if m := c.member(e.RunID); m.view != nil {
				needs = append(needs, layout.RequestPath(m.view.Snap.Dir, e.RequestID, "*"))
			}
		}
	}
	return needs
}

// coordinated reports whether an open coordinator asks about the run, although the settings do not.
func (r *view) coordinated() bool {
	all := engine.Snapshot{Dir: layout.FaberCoordinators, Docs: r.Snap.Docs}
	return slices.ContainsFunc(all.Under("."), func(d engine.Document) bool {
		var st CoordinatorState
		said := run.Peek[Coordinator](d, "faber/coordinator")
		if path.Base(d.Path) != "coordinator.json" || said == nil || !slices.Contains(said.Runs, r.Snap.Key.ID) {
			return false
		}
		state := all.Doc(path.Dir(d.Path) + "/state.json")
		return !state.Present() || schemas.Decode("", state.Path, state.Body, &st) == nil && st.Status != Closed
	})
}

// coordinatorNeeds are the documents in which [view.coordinated] looks.
func coordinatorNeeds() []string {
	return []string{layout.FaberCoordinators + "/*/coordinator.json", layout.FaberCoordinators + "/*/state.json"}
}

// moves returns a transition.
func (c *coordinator) moves(reason string, then func(*coordinatorChange)) *coordinatorMove {
	return &coordinatorMove{Reason: reason, Causes: []engine.Document{c.Snap.In("coordinator.json")}, Then: func(change *coordinatorChange) {
		change.Keep("members", c.members)
		then(change)
	}}
}

// noteRuns notes how the runs stand.
func (c *coordinator) noteRuns(change *coordinatorChange) {
	change.State.Runs = []Member{}
	for _, m := range c.members {
		change.State.Runs = append(change.State.Runs, Member{m.id, run.Text(m.workID), m.status()})
	}
}

func adopts(c *coordinator, _ run.On) *coordinatorMove {
	if c.said == nil {
		return nil
	}
	return c.moves(c.Say("faber.coordinator.adopted", "n", len(c.members)), func(change *coordinatorChange) {
		st := change.State
		c.noteRuns(change)
		st.SchemaVersion, st.CoordinatorID, st.Prompts, st.Answers = 1, path.Base(c.Snap.Dir), []Prompt{}, []TakenAnswer{}
	})
}

// asksAll begins a round once all runs have stopped and one of them asks.
func asksAll(c *coordinator, _ run.On) *coordinatorMove {
	all := c.live(func(*member) bool { return true })
	if len(all) == 0 || slices.ContainsFunc(c.members, func(m *member) bool { return !m.hasStopped() }) {
		return nil
	}
	return c.moves(c.Say("faber.coordinator.stopped", "n", len(all)), func(change *coordinatorChange) {
		st := change.State
		st.Round++
		c.noteRuns(change)
		st.Prompts, st.Answers = []Prompt{c.prompt(st.Round, all, true)}, []TakenAnswer{}
		change.Write(c.document(fmt.Sprintf("aggregations/%03d.json", st.Round), c.aggregation(change.Now)))
	})
}

// renewsPrompt adds a prompt once a run of the round asks something else, or shows another view.
func renewsPrompt(c *coordinator, _ run.On) *coordinatorMove {
	live := c.live(c.isInRound)
	if c.covered(live) || len(c.state.Prompts) >= mostPrompts {
		return nil
	}
	next := c.prompt(c.state.Round, live, false)
	return c.moves(c.Say("faber.coordinator.renewed", "file", next.File), func(change *coordinatorChange) {
		change.State.Prompts = append(change.State.Prompts, next)
	})
}

// covered reports whether one prompt of the round shows all that is asked now.
func (c *coordinator) covered(live []Asked) bool {
	return slices.ContainsFunc(c.state.Prompts, func(p Prompt) bool {
		return !slices.ContainsFunc(live, func(e Asked) bool { return !slices.ContainsFunc(p.Asked, e.same) })
	})
}

// isInRound reports whether a prompt of the round shows a run.
func (c *coordinator) isInRound(m *member) bool {
	return slices.ContainsFunc(c.state.Prompts, func(p Prompt) bool {
		return slices.ContainsFunc(p.Asked, func(e Asked) bool { return e.RunID == m.id })
	})
}

// pending returns the runs that still ask a request of the round, or may.
func (c *coordinator) pending() (all []*member) {
	for _, m := range c.members {
		asks := func(e Asked) bool {
			return m.view != nil && e.RunID == m.id && (m.isRefused() || m.view.asks(e.RequestID))
		}
		if slices.ContainsFunc(c.state.Prompts, func(p Prompt) bool { return slices.ContainsFunc(p.Asked, asks) }) {
			all = append(all, m)
		}
	}
	return all
}

func takesAnswers(c *coordinator, _ run.On) *coordinatorMove {
	taken := c.judged().taken
	if len(taken) == 0 {
		return nil
	}
	move := c.moves(c.Say("faber.coordinator.taken", "n", len(taken)), func(change *coordinatorChange) {
		for _, t := range taken {
			change.State.Answers = append(change.State.Answers, t.answer)
			if t.response != nil {
				change.Write(*t.response)
			}
		}
	})
	move.Actor, move.Causes = engine.Person(taken[0].answer.User), nil
	for _, t := range taken {
		if !slices.ContainsFunc(move.Causes, func(d engine.Document) bool { return d.Path == t.source.Path }) {
			move.Causes = append(move.Causes, t.source)
		}
	}
	return move
}

func endsRound(c *coordinator, _ run.On) *coordinatorMove {
	if len(c.pending()) > 0 || c.owesOutcome() {
		return nil
	}
	return c.moves(c.Say("faber.coordinator.over", "n", len(c.state.Answers)), c.writeReceipt)
}

func closes(c *coordinator, _ run.On) *coordinatorMove {
	if slices.ContainsFunc(c.members, func(m *member) bool { return !final(m.status()) }) || c.owesOutcome() {
		return nil
	}
	return c.moves(c.Say("faber.coordinator.final"), func(change *coordinatorChange) {
		if c.noteRuns(change); c.state.Status == Asking {
			c.writeReceipt(change)
		}
	})
}

// owesOutcome reports whether an answer that was passed on is about a request that its run has not
// closed: somebody else may have answered it first.
func (c *coordinator) owesOutcome() bool {
	return c.state.Status == Asking && slices.ContainsFunc(c.state.Answers, func(a TakenAnswer) bool {
		m := c.member(a.RunID)
		if m.view == nil || m.view.doc.Absent() || m.view.state.unfit != nil {
			return false
		}
		f := m.view.run.Folder(a.RequestID)
		return f.Request != nil && f.Receipt == nil && !f.BadReceipt
	})
}

// isPassedOver reports whether the run was answered by somebody else than the coordinator.
func (c *coordinator) isPassedOver(a TakenAnswer) bool {
	m := c.member(a.RunID)
	if m.view == nil {
		return false
	}
	rc := m.view.run.Folder(a.RequestID).Receipt
	return rc != nil && !(rc.Result == gate.Accepted && gate.Fold(rc.Response) == gate.Fold(a.Response) && rc.ProvidedBy == gate.By{User: a.User, Source: gate.SourceCoordination})
}

// writeReceipt records how the round ended, with the answers that were carried out.
func (c *coordinator) writeReceipt(change *coordinatorChange) {
	c.noteRuns(change)
	var files []string
	for _, p := range c.state.Prompts {
		files = append(files, p.File)
	}
	change.Write(c.document(c.file("receipt-%03d.json"), run.Encoded(schemas.Object{
		{Name: "coordinator_id", Value: c.state.CoordinatorID}, {Name: "round", Value: c.state.Round}, {Name: "prompts", Value: files},
		{Name: "answers", Value: slices.DeleteFunc(slices.Clone(c.state.Answers), c.isPassedOver)}, {Name: "closed_at", Value: change.Now}, {Name: "revision", Value: change.Revision},
	})))
}

// document returns a file of the coordinator that replaces what a crash left.
func (c *coordinator) document(rel string, body []byte) engine.Document {
	file, _ := layout.Coordinators{}.File(layout.Run{}, rel)
	return engine.Document{Path: c.Path(rel), Kind: file.Kind, Body: body, Over: c.Snap.In(rel).Sum}
}

// outputs plans the prompts of the round, and the responses to its answers, that are missing.
func (c *coordinator) outputs(w *run.Outputs) {
	if c.state.Status != Asking {
		return
	}
	for _, p := range c.state.Prompts {
		if c.Snap.In(p.File).Absent() {
			w.Put(p.File, p.render(c.state))
		}
	}
	if !w.Fresh {
		w.Plan.Writes = append(w.Plan.Writes, c.judged().lost...)
	}
}

// aggregation is aggregations/NNN.json, in the form of upstream's program.
func (c *coordinator) aggregation(now run.Text) []byte {
	counts := map[engine.Status]int{}
	runs, requests := []schemas.Object{}, []schemas.Object{}
	for _, m := range c.members {
		counts[m.status()]++
		o := schemas.Object{{Name: "run_id", Value: m.id}, {Name: "work_id", Value: run.Text(m.workID)}}
		if m.ask != nil {
			req := m.ask.req
			requests = append(requests, append(slices.Clip(o), schemas.Member{Name: "request", Value: schemas.Object{
				{Name: "request_id", Value: req.RequestID}, {Name: "type", Value: req.Type}, {Name: "prompt", Value: req.Prompt}, {Name: "options", Value: m.ask.q.options()},
			}}))
		}
		var members schemas.Object
		var phase, step string
		if m.view != nil {
			members, _ = schemas.Members(m.view.doc.Body)
			phase, step = m.view.state.CurrentPhase, m.view.state.CurrentStep
		}
		runs = append(runs, append(o, schemas.Object{
			{Name: "status", Value: m.status()}, {Name: "current_phase", Value: run.Text(phase)}, {Name: "current_step", Value: run.Text(step)},
			{Name: "feedback_request", Value: members.Raw("feedback_request")}, {Name: "artifacts", Value: members.Raw("artifacts")},
		}...))
	}
	n := len(c.members)
	sum := schemas.Object{
		{Name: "total", Value: n}, {Name: "completed", Value: counts[Completed]}, {Name: "awaiting_feedback", Value: counts[Awaiting]},
		{Name: "in_progress", Value: counts[InProgress] + counts[Pending]}, {Name: "error", Value: counts[Failed]}, {Name: "cancelled", Value: counts[Cancelled]},
		{Name: "unknown", Value: counts[UnknownRun] + counts[run.StatusUnreadable] + counts[Paused]},
	}
	return run.Encoded(schemas.Object{
		{Name: "coordinator_id", Value: c.state.CoordinatorID}, {Name: "status", Value: "success"}, {Name: "aggregated_at", Value: now}, {Name: "summary", Value: sum},
		{Name: "all_stopped", Value: true}, {Name: "needs_feedback", Value: true}, {Name: "runs", Value: runs}, {Name: "feedback_requests", Value: requests},
	})
}

func awaitsMembers(c *coordinator, w *run.Waiting) {
	if !w.Bad("coordinator.json", "coordinator.json", c.Say("run.who.person"), c.Say("faber.coordinator.unblock")) {
		w.Written("coordinator.json")
	}
}

func awaitsStops(c *coordinator, w *run.Waiting) {
	for _, m := range c.members {
		if !final(m.status()) && m.ask == nil {
			w.For("faber.coordinator.wait.stop", "run", m.label, "status", m.status())
		}
	}
	w.Why("faber.coordinator.why.collecting")
	if !w.Waits() {
		w.Written("state.json")
	}
}

func awaitsAnswers(c *coordinator, w *run.Waiting) {
	if len(c.state.Prompts) == 0 {
		w.Written("state.json")
		return
	}
	newest := c.state.Prompts[len(c.state.Prompts)-1].File
	for _, m := range c.pending() {
		w.For("faber.coordinator.wait.answer", "run", m.label, "file", newest)
	}
	if !w.Waits() {
		w.Written("state.json")
	}
	w.Why("faber.coordinator.why.asking", "file", c.Path(newest))
	w.Unblock(newest, c.Say("faber.coordinator.unblock.prompt"))
	if problem := c.Notes.Text(c.problemFile()); problem != "" {
		w.Why("run.why.held", "note", problem)
	}
}

func (c *coordinator) tell(a *engine.RunView) {
	a.Class = layout.FaberCoordinator
	facts := run.NewFacts(c.Lang, "faber")
	if c.run.Begun {
		facts.Add("round", fmt.Sprint(c.state.Round))
	}
	for i, m := range c.members {
		status := m.status()
		if c.state.Status == Closed {
			status = c.state.Runs[i].Status
		}
		facts.Add("run", c.Say("faber.coordinator.member", "run", m.label, "id", m.id, "status", status))
	}
	a.Facts = facts.List
}
