package faber

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
)

// reading is one run as a snapshot shows it, decoded once per step.
type reading struct {
	snap     engine.Snapshot
	cfg      Config
	doc      engine.Document // state.json
	st       State
	status   engine.Status // "" where state.json cannot be used
	stateErr string        // why not
	torn     bool          // it may still be being written
	meta     Metadata
	shape    shape
	events   []event
	askeds   map[string]*asked
	rev      int
	flow     workflow
	notes    engine.Notes
	wake     time.Time
	// held is true while a file that could decide is still being written:
	// no default and no deadline passes over it.
	held bool
	// eventsOpen is true while an event may still be being written. It may be
	// one of placet's own, from before a crash: nothing is decided, or the same
	// event would be written twice.
	eventsOpen bool
	// editErr is why a transition cannot be written into state.json.
	editErr error
}

// asked is one request folder.
type asked struct {
	id      string
	dir     string
	docs    []engine.Document
	doc     engine.Document // request.json
	request *gate.Request
	extra   requestExtra
	receipt *gate.Receipt
	badRcpt bool
}

// requestExtra are the family's own members of request.json.
type requestExtra struct {
	ResumePoint *ResumePoint `json:"resume_point"`
	Gate        *Gate        `json:"gate"`
	ForStatus   string       `json:"for_status"`
	OpenedBy    string       `json:"opened_by"`
}

// torn is how long content that does not parse is taken for half-written.
const torn = 10 * time.Second

// read decodes a snapshot. It judges nothing but whether documents are usable.
func read(s engine.Snapshot) *reading {
	r := &reading{snap: s, cfg: config(s), doc: s.In("state.json"), askeds: map[string]*asked{}}
	if s.Class == layout.FaberSuffix {
		r.doc = s.Doc(s.Key.ID)
	}
	r.readState()
	r.readMetadata()
	r.readEvents()
	r.readRequests()
	r.rev = r.revision()
	return r
}

// foreign reports whether the run lies where placet answers at most.
func (r *reading) foreign() bool { return r.snap.Class != layout.FaberRun }

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
		r.torn, r.held = true, true
		return
	case d.Err != nil:
		r.stateErr = fmt.Sprintf("cannot read state.json: %v", d.Err)
		return
	}
	if err := schemas.Decode("faber/state", "state.json", d.Body, &r.st); err != nil {
		r.stateErr = "cannot read " + err.Error()
		r.torn = r.young(d, err)
		r.readStatus(d)
		return
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

// young reports whether content that does not parse may still be being
// written, and has the run looked at when it cannot be any more.
func (r *reading) young(d engine.Document, err error) bool {
	var bad *schemas.Error
	if !errors.As(err, &bad) || !bad.Torn {
		return false
	}
	until := d.Changed.Add(torn)
	if !r.snap.Now.Before(until) {
		return false
	}
	r.wakeAt(until)
	return true
}

func (r *reading) wakeAt(t time.Time) {
	if r.wake.IsZero() || t.Before(r.wake) {
		r.wake = t
	}
}

// decode reads a document that gives a sign when it is valid. Where it is not,
// it counts as absent and earns a note. ok is false also while it is absent.
func (r *reading) decode(d engine.Document, schema string, into any) (ok bool) {
	name := path.Base(d.Path)
	switch {
	case d.Absent():
		return false
	case d.Unsettled():
		r.held = true
		return false
	case d.Err != nil:
		r.notes.Beside(d.Path, fmt.Sprintf("cannot read %s: %v", name, d.Err))
		return false
	}
	err := schemas.Decode(schema, name, d.Body, into)
	if err == nil {
		return true
	}
	if r.young(d, err) {
		r.held = true
		return false
	}
	r.notes.Beside(d.Path, "cannot read "+err.Error())
	return false
}

func (r *reading) readMetadata() {
	d := r.snap.In("metadata.json")
	if d.Present() {
		// A bad metadata.json is a warning of check, never a stop.
		_ = schemas.Decode("faber/metadata", "metadata.json", d.Body, &r.meta)
	}
}

func (r *reading) readRequests() {
	for _, d := range r.snap.Under(layout.RequestsDir) {
		dir := path.Dir(d.Path)
		id := path.Base(dir)
		a := r.askeds[id]
		if a == nil {
			a = &asked{id: id, dir: dir, doc: engine.Document{Path: dir + "/request.json", Err: engine.ErrAbsent}}
			r.askeds[id] = a
		}
		a.docs = append(a.docs, d)
		switch {
		case d.Kind == layout.KindRequest:
			r.readRequest(a, d)
		case d.Kind == layout.KindReceipt:
			a.readReceipt(d)
		}
	}
}

func (r *reading) readRequest(a *asked, d engine.Document) {
	a.doc = d
	if !d.Present() {
		return
	}
	q, err := gate.ReadRequest(d.Path, d.Body)
	if err != nil {
		return
	}
	if schemas.Decode("", d.Path, d.Body, &a.extra) == nil {
		a.request = &q
	}
}

func (a *asked) readReceipt(d engine.Document) {
	if !d.Present() {
		a.badRcpt = !d.Absent()
		return
	}
	rc, err := gate.ReadReceipt(d.Path, d.Body)
	if err != nil {
		a.badRcpt = true
		return
	}
	a.receipt = &rc
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
		if a := r.askeds[asked]; a != nil && a.receipt != nil {
			return a.receipt.Revision - 1
		}
	}
	highest, fact := 0, true
	for _, e := range r.events {
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
func (r *reading) ahead(e event, asked string) bool {
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
func (r *reading) runID() string { return r.snap.Key.ID }

// path of a file in the run's folder, relative to the workspace.
func (r *reading) path(rel string) string { return path.Join(r.snap.Dir, rel) }
