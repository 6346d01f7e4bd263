package faber

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Machine is the FABER family. The zero value is not ready for use; see [New].
type Machine struct{ *kernel }

type kernel = run.Family[State, *view]

// New returns the machine.
func New() Machine { return Machine{&family} }

var family = kernel{
	Name: "faber",
	File: func(rel string) (layout.File, bool) {
		return layout.Faber{}.File(layout.Run{Class: layout.FaberRun}, rel)
	},
	Format: run.Format[State]{Decode: decodeState, Encode: State.encode, Head: (*State).head, Unfit: isFit},
	Shared: &run.Shared[*view]{Document: document, MayNote: (*view).mayNote, Asks: (*view).asks, Contradictions: (*view).contradictions},
	Stamp:  func(t time.Time) run.Text { return run.Text(millis(t)) }, Cause: func(rel string) string { return rel },
	Read: read, Rules: rules, Final: final, New: engine.StatusAbsent,
	Undecidable: func(r *view) bool { return r.eventsOpen }, Outputs: (*view).outputs, Notes: (*view).notes,
	Keeps: func(*view, string) bool { return true }, // an agent goes on until it ends
	Needs: (*view).needs, Watch: (*view).watch,
	Absent:  func(*view, *engine.RunView) bool { return false },
	Explain: (*view).explain, Tell: (*view).tell, Fabrications: (*view).fabrications,
}

// document is the state document of a run: state.json, or a file beside others' in one of
// upstream's later layouts.
func document(s engine.Snapshot) engine.Document {
	if s.Class == layout.FaberSuffix {
		return s.Doc(s.Key.ID)
	}
	return s.In("state.json")
}

// Step implements [engine.Machine].
func (m Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	if s.Class == layout.FaberSuffix {
		return engine.Plan{}, nil
	}
	return m.kernel.Step(s)
}

// Edges implements [engine.Machine].
func (m Machine) Edges() []engine.Edge { return append(m.kernel.Edges(), stepEdges()...) }

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

// askedAt is when a feedback_request was made, the zero time where it does not
// tell. What is wrong with it is for Step to say.
func askedAt(feedback, updatedAt schemas.Raw) time.Time {
	var q struct {
		RequestedAt schemas.Raw `json:"requested_at"`
	}
	_ = schemas.Decode("", "state.json", feedback, &q)
	return moment(cmp.Or(word(q.RequestedAt), word(updatedAt))).UTC()
}

// view is one run as a snapshot shows it. Each part of it knows those below it:
//
//	sources    what stands beside the state, decoded
//	eventLog   events/: what has happened, numbering, the revision
//	planner    the workflow: what comes next
//	questions  what the state asks
//	requests   the folder of what it asks
//	answers    what counts as an answer, and what it does
//	closings   what became of requests that the state asks no longer
//	handover   what an agent goes on by
type view struct{ *handover }

// sources are the documents of a run as they were read.
type sources struct {
	*run.Run[State]
	cfg  Config
	meta Metadata
	// badMetadata is why metadata.json says nothing of the run, "" where it does: a warning
	// of check, never a stop.
	badMetadata string
}

// read reads what stands beside the state. It judges nothing but whether documents are
// usable.
func read(k *run.Run[State]) *view {
	events := &eventLog{sources: &sources{Run: k, cfg: config(k.Snap)}}
	r := &view{&handover{&closings{&answers{&requests{&questions{&planner{events}}}}}}}
	if r.Problem != "" && !r.Torn {
		// The run can still be given up, and its requests told of.
		r.State.unfit, r.Problem, r.Begun = templates.Errorf("say.text", "text", r.Problem), "", true
	}
	r.Held = r.Held || r.Doc.Absent()
	r.readMetadata()
	r.readEvents()
	r.checkFolder()
	r.State.rev = r.revision()
	return r
}

// foreign reports whether the run lies where placet answers at most.
func (r *sources) foreign() bool { return r.Snap.Class != layout.FaberRun }

func (r *sources) readMetadata() {
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

// checkFolder refuses a request whose id differs only in case from that of an earlier
// one: a disk that folds case would have both in one folder, and the new question in
// the place of the answered one. It holds on every disk, since workspaces travel.
func (r *sources) checkFolder() {
	f := r.State.Feedback
	if r.State.unfit != nil || f == nil || len(r.Folder(f.RequestID).Docs) > 0 {
		return
	}
	if i := slices.IndexFunc(r.Folders, func(a *gate.Folder) bool { return strings.EqualFold(a.ID, f.RequestID) }); i >= 0 {
		problem := templates.Errorf("faber.unfit.case", "id", strconv.Quote(f.RequestID), "other", strconv.Quote(r.Folders[i].ID))
		r.State.unfit = templates.Errorf("faber.unfit", "problem", problem)
	}
}

// revision is the revision of state.json. Upstream's copies do not carry it:
// where the asked request has a receipt of revision r, the state is an older
// copy and counts as r-1; else as the highest revision of placet's events, less
// one while the transition that they belong to is not in the state.
func (r *eventLog) revision() int {
	if r.State.Revision != nil {
		return *r.State.Revision
	}
	asked := ""
	if f := r.State.Feedback; f != nil {
		asked = f.RequestID
		if a := r.Folder(asked); a.Receipt != nil {
			return a.Receipt.Revision - 1
		}
	}
	highest := 0
	for _, e := range r.marked {
		highest = max(highest, e.Metadata.Placet.Revision)
	}
	if slices.ContainsFunc(r.marked, func(e *event) bool { return e.Metadata.Placet.Revision == highest && r.ahead(e, asked) }) {
		return max(0, highest-1)
	}
	return highest
}

// ahead reports whether an event tells of a transition that the state does not
// show: a crash came between the two, or an older state was put back.
func (r *eventLog) ahead(e *event, asked string) bool {
	id := e.Metadata.RequestID
	switch {
	case !e.ours():
		return false
	case e.Type == "workflow_cancelled":
		return r.State.status != Cancelled
	case id == "":
		return false
	case id == asked:
		return true
	}
	return r.State.status == Failed && forStatus(r.Folder(id)) == Failed
}
