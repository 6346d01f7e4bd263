package faber

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Machine is the FABER family. The zero value is not ready for use; see [New].
type Machine struct{ *machine }

type machine = run.Family[State, *view]

// New returns the machine.
func New() Machine { return Machine{&family} }

var family = machine{
	Layout: layout.Faber{},
	Format: run.Format[State]{Decode: decodeState, Encode: State.encode, Head: (*State).head, Unfit: isFit},
	Shared: &run.Shared[*view]{Document: document, MayNote: (*view).mayNote, Asks: (*view).asks, Contradictions: contradictions},
	Stamp:  run.Millis,
	Read:   read, Rules: rules, Final: final, New: engine.StatusAbsent,
	Outputs: outputs, Posts: func(r *view, w *run.Outputs) { post.Plan(r.run, w, post.Said{}) },
	Notes: notes,
	Keeps: func(*view, string) bool { return true }, // an agent continues until it ends
	Needs: needs, Watch: watch,
	Absent:  func(*view, *engine.RunView) bool { return false },
	Explain: explain, Tell: tell, Fabrications: fabrications,
}

// document returns the state document of a run: state.json, or a file among others in one of
// upstream's later layouts.
func document(s engine.Snapshot) engine.Document {
	if s.Class == layout.FaberSuffix {
		return s.Doc(s.Key.ID)
	}
	return s.In("state.json")
}

// Step implements [engine.Machine].
func (m Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	switch s.Class {
	case layout.FaberSuffix:
		return engine.Plan{}, nil
	case layout.FaberCoordinator:
		return coordinators.Step(s)
	}
	return m.machine.Step(s)
}

// Account implements [engine.Machine].
func (m Machine) Account(s engine.Snapshot) engine.RunView {
	if s.Class == layout.FaberCoordinator {
		return coordinators.Account(s)
	}
	return m.machine.Account(s)
}

// Edges implements [engine.Machine].
func (m Machine) Edges() []engine.Edge {
	return slices.Concat(m.machine.Edges(), stepEdges(), coordinators.Edges())
}

// SummarizeClass implements [engine.Classed].
func (Machine) SummarizeClass(class string, state []byte) (p engine.Summary, ok bool) {
	if class != layout.FaberCoordinator {
		return p, false
	}
	return coordinators.Summarize(state), true
}

// Summarize implements [engine.Machine].
func (Machine) Summarize(body []byte) engine.Summary {
	var st struct {
		Status    string      `json:"status"`
		UpdatedAt schemas.Raw `json:"updated_at"`
		Last      schemas.Raw `json:"last_transition"`
		Feedback  schemas.Raw `json:"feedback_request"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Summary{}
	}
	s, _ := status(st.Status)
	p := engine.Summary{Status: s, Final: final(s), Waiting: s == Awaiting, Touched: !st.Last.Null()}
	if p.Waiting && !st.Feedback.Null() {
		p.Open, p.Asked = 1, askedAt(st.Feedback, st.UpdatedAt)
	}
	return p
}

// askedAt returns when a feedback_request was made, or the zero time. Step reports what is wrong
// with the request.
func askedAt(feedback, updatedAt schemas.Raw) time.Time {
	var q struct {
		RequestedAt schemas.Raw `json:"requested_at"`
	}
	_ = schemas.Decode("", "state.json", feedback, &q)
	return moment(cmp.Or(word(q.RequestedAt), word(updatedAt))).UTC()
}

// view is one run in a snapshot: the decoded documents beside the state.
type view struct {
	*run.Input
	// run is the run as the kernel reads it; state and doc are its state document.
	run   *run.Run[State, *view]
	state *State
	doc   engine.Document
	cfg   Config
	meta  Metadata
	// badMetadata is why metadata.json says nothing about the run, or "". It is a warning of
	// `check` and never stops the run.
	badMetadata string
	events      eventLog
}

// read reads the documents beside the state. It only judges whether documents are usable.
func read(k *run.Run[State, *view]) *view {
	r := &view{Input: &k.Input, run: k, state: &k.State, doc: k.Doc, cfg: config(k.Snap)}
	if k.Problem != "" && !k.Torn {
		// A person can still cancel the run, and the inbox still shows its requests.
		r.state.unfit, k.Problem, k.Begun = templates.Errorf("say.text", "text", k.Problem), "", true
	}
	r.Held = r.Held || r.doc.Absent()
	r.readMetadata()
	r.events = readEvents(r)
	r.Unsure = r.events.open
	r.refuseFoldedID()
	r.state.rev = revision(r)
	return r
}

// foreign reports whether the run is in a place where placet only answers.
func (r *view) foreign() bool { return r.Snap.Class != layout.FaberRun }

func (r *view) readMetadata() {
	d := r.Snap.In("metadata.json")
	if !d.Present() {
		r.badMetadata = r.Say("faber.metadata.missing")
		return
	}
	meta, err := engine.Parse(d, decodeMetadata)
	if r.meta = *meta; err != nil {
		r.badMetadata = r.Say("run.invalid", "error", err)
	}
}

func decodeMetadata(_ string, body []byte) (m Metadata, err error) {
	err = schemas.Decode("faber/metadata", "metadata.json", body, &m)
	return m, err
}

// refuseFoldedID refuses a request whose id differs only in case from an earlier one. A file system
// that folds case would put both into one folder, and the new question in the place of the answered
// one. The rule applies on every disk, because workspaces travel.
func (r *view) refuseFoldedID() {
	f := r.state.Feedback
	if r.state.unfit != nil || f == nil || len(r.run.Folder(f.RequestID).Docs) > 0 {
		return
	}
	if i := slices.IndexFunc(r.run.Folders, func(a *gate.Folder) bool { return strings.EqualFold(a.ID, f.RequestID) }); i >= 0 {
		problem := templates.Errorf("faber.unfit.case", "id", strconv.Quote(f.RequestID), "other", strconv.Quote(r.run.Folders[i].ID))
		r.state.unfit = templates.Errorf("faber.unfit", "problem", problem)
	}
}

// revision returns the revision of state.json. Upstream's copies do not contain it. If the asked
// request has a receipt of revision r, the state is an older copy and counts as r-1. Otherwise it
// counts as the highest revision of placet's events, less one if the state lacks their transition.
func revision(r *view) int {
	if r.state.Revision != nil {
		return *r.state.Revision
	}
	asked := ""
	if f := r.state.Feedback; f != nil {
		asked = f.RequestID
		if a := r.run.Folder(asked); a.Receipt != nil {
			return a.Receipt.Revision - 1
		}
	}
	highest := 0
	for _, e := range r.events.marked {
		highest = max(highest, e.Metadata.Placet.Revision)
	}
	if slices.ContainsFunc(r.events.marked, func(e *event) bool { return e.Metadata.Placet.Revision == highest && ahead(r, e, asked) }) {
		return max(0, highest-1)
	}
	return highest
}

// ahead reports whether an event records a transition that the state lacks: a crash came between
// the two, or somebody restored an older state.
func ahead(r *view, e *event, asked string) bool {
	id := e.Metadata.RequestID
	switch {
	case !e.ours():
		return false
	case e.Type == "workflow_cancelled":
		return r.state.status != Cancelled
	case id == "":
		return false
	case id == asked:
		return true
	case e.Type == "decision_point":
		return r.run.Folder(id).Receipt == nil && r.state.answerTo(id) == nil // it opened a gate
	}
	return r.state.status == Failed && forStatus(r.run.Folder(id)) == Failed
}

// short returns the name that people type: the first 8 characters of the uuid.
func (r *view) short() string {
	base := path.Base(r.Snap.Key.ID)
	if r.Snap.Class == layout.FaberRun && len(base) > 8 {
		return base[:8]
	}
	return r.Snap.Key.ID
}

// isBusy reports whether a file that may decide is unreadable at the moment: it is still being
// written, or the system refuses for now. A folder or a loop of links does not count, because it
// never becomes readable. If placet lacks the permission, a note beside state.json says what waits,
// because nothing moves until somebody grants it.
func (r *view) isBusy(d engine.Document, waits templates.Key) bool {
	var errno syscall.Errno
	refused := !d.Absent() && errors.As(d.Err, &errno) && errno != syscall.ELOOP && errno != syscall.EISDIR
	if refused {
		r.WakeAt(r.Snap.Now.Add(retry))
	}
	if refused && errors.Is(d.Err, fs.ErrPermission) {
		r.Notes.Beside(r.doc.Path, r.Say(waits, "error", d.Err))
	}
	return refused || d.Unsettled()
}

// retry is the delay before placet reads a refused file again.
const retry = time.Second

// anyBusy reports whether one of several files is busy; see [view.isBusy].
func (r *view) anyBusy(files []engine.Document, waits templates.Key) bool {
	busy := false
	for _, d := range files {
		busy = r.isBusy(d, waits) || busy
	}
	return busy
}

// put plans a document that placet replaces. It leaves an unreadable one alone, because its content
// is unknown.
func (r *view) put(p *engine.Plan, name, kind string, body []byte) {
	if d := r.Snap.In(name); (d.Err == nil || d.Absent()) && d.Sum != engine.Sum(body) {
		p.Writes = append(p.Writes, engine.Document{Path: d.Path, Kind: kind, Body: body, Over: d.Sum})
	}
}

// watch returns the folders in which the agent asks whether it may go on and shows that it continues,
// and in which comments arrive.
func watch(r *view) (dirs []string) {
	if !r.run.Begun || r.isClosed() || r.foreign() || final(r.state.status) {
		return nil
	}
	if r.resumes() {
		dirs = append(dirs, r.Path("events"))
	}
	if r.isAnnounced() {
		dirs = append(dirs, r.Path(layout.FaberComments))
	}
	return append(dirs, r.Path(layout.FaberGates))
}

// needs returns the files outside the run's folder that the state calls for.
func needs(r *view) []string {
	if r.state.status == "" || final(r.state.status) {
		return nil
	}
	needs := append(r.definitions().needs(), channelNeeds(r)...)
	if r.state.status == Failed && r.cfg.AskFailed != askAll && !r.foreign() {
		needs = append(needs, coordinatorNeeds()...)
	}
	if q := r.question(); q != nil {
		for _, d := range q.artifactDocs() {
			needs = append(needs, "still:"+d.Path) // what is shown must be settled
		}
	}
	if r.goesOn() && !r.foreign() {
		needs = append(needs, contextNeeds(r)...)
	}
	if len(r.Snap.Lacks(needs)) > 0 || r.events.open {
		return needs
	}
	if o := dueGate(r); o != nil {
		for _, d := range o.q.artifactDocs() {
			needs = append(needs, "still:"+d.Path)
		}
	}
	if need := r.committedNeed(); need != "" {
		if needs = append(needs, need); !r.Snap.Has(need) {
			return needs
		}
	}
	return append(needs, resumeNeeds(r)...)
}

// resumeNeeds returns the files that resume.md depends on if an answer is carried out now.
func resumeNeeds(r *view) []string {
	spec := r.state.spec()
	if a := r.answered(); !layout.Safe(spec) || r.foreign() || a == nil || a.effect.outcome == nil || a.effect.to != InProgress {
		return nil
	}
	return []string{spec}
}
