package run

import (
	"maps"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// Run is one run as a snapshot shows it.
type Run[S any] struct {
	Input
	// State is what the state document says. It is valid where Begun.
	State S
	// Begun is true where a state stands that can be used.
	Begun bool
	// Record says why the state cannot be used, or that it may be half of a write.
	Record
	// Doc is the state document.
	Doc engine.Document
	// Folders are the run's request folders.
	Folders []*gate.Folder
	// Unwritable is why a transition or an output cannot be written, nil where all can.
	Unwritable error

	head    Head
	asker   asker
	name    string
	cause   func(rel string) string
	answers map[string]*Answer
	memo    map[string]any
}

// asker knows the questions of a family.
type asker interface {
	// request is what a person is asked, as the state has it.
	request(*Request) gate.Request
	// form renders a request; see [gate.Form].
	form(req gate.Request, q *Request, view engine.Digest) ([]byte, error)
	// stands, remakes and check are [Question.Stands], [Question.Remakes] and
	// [Question.Check].
	stands(*Request) (problem string, ok bool)
	remakes(*Request) bool
	check(*Answer) string
	// lapses is [Question.Lapses].
	lapses(*Request) bool
	// gate is what an answer to a request must be worth.
	gate(*Request) engine.Gate
	// complete adds what else bears on an answer.
	complete(a *gate.Evaluation, q *Request)
}

// bound is a run with its family's view.
type bound[S, V any] struct {
	*Run[S]
	f *Family[S, V]
	v V
}

// open reads a run: its state, and then what the family reads.
func (f *Family[S, V]) open(s engine.Snapshot) *bound[S, V] {
	r := f.newRun(s, gate.Folders(s))
	f.readState(r)
	b := f.bind(r)
	if b.Usable() && r.Doc.Issued != nil { // where this machine wrote none, it may be a clone
		if r.Problem = f.unproven(b); r.Problem != "" {
			r.Begun = false // for all that is known, what the state says never was
			return f.bind(r)
		}
	}
	return b
}

// after is the run as it stands once a transition is fact, in the same snapshot.
// found is what the transition found out; see [Change.Keep].
func (f *Family[S, V]) after(before *Run[S], st S, found map[string]any) *bound[S, V] {
	r := f.newRun(before.Snap, before.Folders)
	maps.Copy(r.memo, found)
	r.facts = before.facts
	r.State, r.Begun, r.Doc = st, true, before.Doc
	r.Seq = *f.Format.Head(&st).Revision
	return f.bind(r)
}

func (f *Family[S, V]) newRun(s engine.Snapshot, folders []*gate.Folder) *Run[S] {
	doc := s.In(stateFile)
	if f.Shared != nil {
		doc = f.Shared.Document(s)
	}
	return &Run[S]{
		Input: NewInput(s), Doc: doc, Folders: folders, name: f.Name, cause: f.Cause,
		answers: map[string]*Answer{}, memo: map[string]any{},
	}
}

func (f *Family[S, V]) bind(r *Run[S]) *bound[S, V] {
	r.head = f.Format.Head(&r.State)
	if r.head.Language != nil {
		r.speak(*r.head.Language)
	}
	b := &bound[S, V]{Run: r, f: f}
	r.asker = b
	b.v = f.Read(r)
	if f.Raised != nil && r.Begun {
		if q := f.Raised(b.v); q != nil {
			r.raise(q)
		}
	}
	return b
}

// stateFile is the name of the state document in a run's folder, journalFile that of
// the journal that accounts for it.
const (
	stateFile   = "state.json"
	journalFile = "events.jsonl"
)

// readState reads the state document and the journal beside it.
func (f *Family[S, V]) readState(r *Run[S]) {
	if r.Doc.Absent() {
		f.missing(r)
		return
	}
	read := r.ReadState
	if !f.hasJournal() {
		read = r.ReadStateAlone
	}
	r.Record = read(r.Doc, f.Anew, func([]byte) (int, error, error) {
		read, err := engine.Parse(r.Doc, func(_ string, body []byte) (S, error) {
			if f.Format.DecodeOwn != nil && r.Doc.IssuedHere() {
				return f.Format.DecodeOwn(body)
			}
			return f.Format.Decode(stateFile, body)
		})
		if err != nil {
			return 0, nil, err
		}
		st := *read // others read the same content: nothing that it points to is changed
		if requests := f.Format.Head(&st).Requests; requests != nil {
			*requests = slices.Clip(*requests)
		}
		unfit := f.Format.Unfit(r, st)
		if unfit == nil {
			r.State, r.Begun = st, true
			if lang := f.Format.Head(&st).Language; lang != nil {
				r.speak(*lang)
			}
		}
		return *f.Format.Head(&st).Revision, unfit, nil
	})
	if f.Shared == nil && r.Begun && r.Usable() && r.Doc.IsOlder() {
		r.Problem, r.Unaccounted = r.Say("run.state.older", "run", r.Snap.Key, "digest", r.Doc.Sum.Hex()), r.Doc.Sum
		r.Begun = f.hasJournal() // without one nothing else says where the run stands
	}
}

// hasJournal reports whether a journal beside the state accounts for it.
func (f *Family[S, V]) hasJournal() bool {
	var st S
	return f.Shared == nil && f.Format.Head(&st).History == nil
}

// recordFiles names the files that say where a run stands.
func (b *bound[S, V]) recordFiles() string {
	if b.f.hasJournal() {
		return templates.List(b.Lang, "list.or", []string{stateFile, journalFile})
	}
	return stateFile
}

// missing judges a folder without a state document: nothing has begun in it, or
// somebody removed the document.
func (f *Family[S, V]) missing(r *Run[S]) {
	if f.Shared != nil {
		return // the other program removes it as it likes
	}
	r.Torn = slices.ContainsFunc(r.Folders, (*gate.Folder).Unsettled)
	r.Held = r.Torn
	if !r.Torn && (hasRecord(r.Snap.In(journalFile)) || slices.ContainsFunc(r.Folders, f.isBeyondFirst)) {
		key := templates.Key("run.state.gone")
		if !f.hasJournal() {
			key += ".requests"
		}
		r.Problem = r.withHelp(r.Say(key), f.Anew)
	}
}

// hasRecord reports whether anything was written to a journal. The first commit makes it
// empty, so a crash may leave it like that before there is a state.
func hasRecord(journal engine.Document) bool {
	return !journal.Absent() && (journal.Err != nil || len(journal.Body) > 0)
}

// isBeyondFirst reports whether a request folder is of a run that had a state. What a
// crash leaves of the first transition is a request of revision 1, and no more; without
// a journal beside it, one that this machine wrote.
func (f *Family[S, V]) isBeyondFirst(dir *gate.Folder) bool {
	return dir.Request == nil || dir.Request.Revision != 1 || dir.Receipt != nil || dir.BadReceipt || !f.hasJournal() && !dir.Doc.IssuedHere()
}

// Usable reports whether the run can be judged at all: its state, if there is one, can
// be used.
func (r *Run[S]) Usable() bool { return !r.Torn && r.Problem == "" }

func (r *Run[S]) status() engine.Status {
	if !r.Begun {
		return ""
	}
	return *r.head.Status
}

func (r *Run[S]) revision() int { return *r.head.Revision }

// CannotWrite says beside the state why a transition or an output cannot be written. A
// transition that is being made is not made then.
func (r *Run[S]) CannotWrite(err error) {
	r.Unwritable = err
	r.Notes.Beside(r.Doc.Path, templates.In(r.Lang, err))
}

// Due reports whether a moment has come. If not, the run is looked at when it does.
func (r *Run[S]) Due(at Text) bool {
	t := at.Time()
	if t.IsZero() || !r.Snap.Now.Before(t) {
		return true
	}
	r.WakeAt(t)
	return false
}

// Once computes a value once for a run, so that a note says a thing once.
func Once[S, T any](r *Run[S], name string, compute func() T) T {
	if v, known := r.memo[name]; known {
		return v.(T)
	}
	v := compute()
	r.memo[name] = v
	return v
}

// document is placet's own document of the run at a path relative to its folder.
func (f *Family[S, V]) document(r *Run[S], rel string, body []byte) engine.Document {
	file, _ := f.File(rel)
	return engine.Document{Path: r.Path(rel), Kind: file.Kind, Body: body}
}

// CheckIDs says which request of a state has an id that no folder can have, nil if none.
// Ids become names of folders: such an id is another's doing.
func CheckIDs(all []*Request) error {
	for i, q := range all {
		if !layout.IsRequestID(q.ID) {
			return templates.Errorf("run.unfit.request", "i", i, "id", QuoteID(q.ID))
		}
	}
	return nil
}
