package faber

import (
	"fmt"
	"sort"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// reading is one run as a snapshot shows it, decoded once per step.
type reading struct {
	run.Input
	cfg      Config
	doc      engine.Document // state.json
	st       State
	status   engine.Status // "" where state.json cannot be used
	stateErr string        // why not
	torn     bool          // it may still be being written
	meta     Metadata
	shape    shape
	*history
	folders []*gate.Folder
	askeds  map[string]*asked // by the ids of folders
	rev     int
	flow    workflow
	// registrations are upstream's; nil: not asked for yet.
	registrations []registration
	// eventsOpen is true while an event may still be being written. It may be
	// one of placet's own, from before a crash: nothing is decided, or the same
	// event would be written twice.
	eventsOpen bool
	// eventsGone is true while there is no events/ although the state says that
	// there were events.
	eventsGone bool
	// members are the names at the root of state.json; nil: not asked for yet.
	members map[string]bool
	// editErr is why a transition cannot be written into state.json.
	editErr error
}

// asked is one request folder, with the family's own members of its request.
type asked struct {
	*gate.Folder
	extra requestExtra
}

// requestExtra are the family's own members of request.json.
type requestExtra struct {
	ResumePoint *ResumePoint `json:"resume_point"`
	Gate        *Gate        `json:"gate"`
	ForStatus   string       `json:"for_status"`
	OpenedBy    string       `json:"opened_by"`
}

// read decodes a snapshot. It judges nothing but whether documents are usable.
func read(s engine.Snapshot) *reading {
	r := &reading{Input: run.Input{Snap: s}, cfg: config(s), doc: s.In("state.json"), askeds: map[string]*asked{}}
	if s.Class == layout.FaberSuffix {
		r.doc = s.Doc(s.Key.ID)
	}
	r.readState()
	r.readMetadata()
	r.readEvents()
	r.readRequests()
	r.checkFolder()
	r.rev = r.revision()
	return r
}

// foreign reports whether the run lies where placet answers at most.
func (r *reading) foreign() bool { return r.Snap.Class != layout.FaberRun }

// answerable reports whether placet may write into the run's folder.
func (r *reading) answerable() bool {
	return !r.foreign() || r.status == Awaiting && r.st.Feedback != nil && r.stateErr == ""
}

func (r *reading) readState() {
	d := r.doc
	switch {
	case d.Absent():
		return
	case d.Unsettled():
		r.torn, r.Held = true, true
		return
	case d.Err != nil:
		r.stateErr = fmt.Sprintf("cannot read state.json: %v", d.Err)
		return
	}
	if err := schemas.Decode("faber/state", "state.json", d.Body, &r.st); err != nil {
		r.stateErr = "cannot read " + err.Error()
		r.torn = r.MaybePartial(d, err)
		r.readStatus(d)
		return
	}
	if f := r.st.Feedback; f != nil {
		c := f.context()
		f.known = &c
	}
	r.shape = shapeOf(r.st)
	if p := r.st.problem(); p != "" {
		r.stateErr = "cannot use state.json: " + p
	}
	// The status stands even where the request is bad: cancel.json still works.
	r.status, _ = status(r.st.Status)
}

// readStatus takes from a state that cannot be used as a whole what it takes
// to give the run up: cancel.json still works.
func (r *reading) readStatus(d engine.Document) {
	var least struct {
		Status   string `json:"status"`
		Revision *int   `json:"revision"`
	}
	if schemas.Decode("", "state.json", d.Body, &least) == nil {
		r.status, _ = status(least.Status)
		r.st.Status, r.st.Revision = least.Status, least.Revision
	}
}

func (r *reading) readMetadata() {
	d := r.Snap.In("metadata.json")
	if d.Present() {
		// A bad metadata.json is a warning of check, never a stop.
		_ = schemas.Decode("faber/metadata", "metadata.json", d.Body, &r.meta)
	}
}

// readExtra reads the family's own members of a request.json.
func readExtra(path string, body []byte) (extra requestExtra, err error) {
	err = schemas.Decode("", path, body, &extra)
	return extra, err
}

func (r *reading) readRequests() {
	r.folders = gate.Folders(r.Snap)
	for _, f := range r.folders {
		a := &asked{Folder: f}
		if f.Request != nil {
			extra, err := engine.Parse(f.Doc, readExtra)
			if a.extra = *extra; err != nil {
				f.Request = nil
			}
		}
		r.askeds[f.ID] = a
	}
}

// checkFolder refuses a request whose id differs only in case from that of an earlier
// one: a disk that folds case would have both in one folder, and the new question in
// the place of the answered one. It holds on every disk, since workspaces travel.
func (r *reading) checkFolder() {
	f := r.st.Feedback
	if r.stateErr != "" || f == nil || r.askeds[f.RequestID] != nil {
		return
	}
	for _, id := range r.ids() {
		if strings.EqualFold(id, f.RequestID) {
			r.stateErr = fmt.Sprintf("cannot use state.json: /feedback_request/request_id: %q differs only in case from %q, which was asked before: give the new question an id of its own", f.RequestID, id)
			return
		}
	}
}

// ids returns the ids of the request folders, sorted.
func (r *reading) ids() []string {
	ids := make([]string, 0, len(r.askeds))
	for id := range r.askeds {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// revision is the revision of state.json. Upstream's copies do not carry it:
// where the asked request has a receipt of revision r, the state is an older
// copy and counts as r-1; else as the highest revision of placet's events, less
// one while the transition that they belong to is not in the state.
func (r *reading) revision() int {
	if r.st.Revision != nil {
		return *r.st.Revision
	}
	asked := ""
	if f := r.st.Feedback; f != nil {
		asked = f.RequestID
		if a := r.askeds[asked]; a != nil && a.Receipt != nil {
			return a.Receipt.Revision - 1
		}
	}
	highest, fact := 0, true
	for _, e := range r.marked {
		switch rev := e.Metadata.Placet.Revision; {
		case rev > highest:
			highest, fact = rev, !r.ahead(e, asked)
		case rev == highest:
			fact = fact && !r.ahead(e, asked)
		}
	}
	if highest > 0 && !fact {
		return highest - 1
	}
	return highest
}

// ahead reports whether an event tells of a transition that the state does not
// show: a crash came between the two, or an older state was put back.
func (r *reading) ahead(e *event, asked string) bool {
	id := e.Metadata.RequestID
	switch {
	case !e.ours():
		return false
	case e.Type == "workflow_cancelled":
		return r.status != Cancelled
	case id == "":
		return false
	case id == asked:
		return true
	}
	a := r.askeds[id]
	return r.status == Failed && a != nil && a.extra.ForStatus == forFailed
}

// runID is the run's id by its path: what a document says about it is checked,
// never believed.
func (r *reading) runID() string { return r.Snap.Key.ID }
