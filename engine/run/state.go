package run

import (
	"maps"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// Run is one run, read from a snapshot.
type Run[S, V any] struct {
	Input
	// State is the content of the state document. It is valid if Begun is true.
	State S
	// Begun is true if a usable state exists.
	Begun bool
	// Record says why the state cannot be used, or that it may be half written.
	Record
	// Doc is the state document.
	Doc engine.Document
	// Folders are the run's request folders.
	Folders []*gate.Folder
	// Unwritable is why a transition or an output cannot be written, nil if all can.
	Unwritable error

	f      *Family[S, V]
	v      V // the family's view
	head   Head
	issues map[*Request]*issue[S, V]
	memo   map[string]any
}

// open reads a run: its state, and then what the family reads.
func (f *Family[S, V]) open(s engine.Snapshot) *Run[S, V] {
	r := f.newRun(s, gate.Folders(s))
	f.readState(r)
	r.settle()
	if r.Usable() && r.Doc.Issued != nil { // if this machine wrote none, it may be a clone
		if r.Problem = unproven(r); r.Problem != "" {
			r.Begun = false // the state may record what never happened
			r.settle()
		}
	}
	return r
}

// After returns the run with the changes so far, in the same snapshot.
func (c *Change[S, V]) After() *Run[S, V] {
	before := c.Before
	r := before.f.newRun(before.Snap, before.Folders)
	maps.Copy(r.memo, c.found)
	r.facts = before.facts
	r.State, r.Begun, r.Doc = *c.State, true, before.Doc
	r.Seq = *c.head.Revision
	r.settle()
	return r
}

func (f *Family[S, V]) newRun(s engine.Snapshot, folders []*gate.Folder) *Run[S, V] {
	doc := s.In(stateFile)
	if f.Shared != nil {
		doc = f.Shared.Document(s)
	}
	return &Run[S, V]{Input: NewInput(s), Doc: doc, Folders: folders, f: f, issues: map[*Request]*issue[S, V]{}, memo: map[string]any{}}
}

// settle lets the family read its documents once the state is known.
func (r *Run[S, V]) settle() {
	r.head = r.f.Format.Head(&r.State)
	if r.head.Language != nil {
		r.speak(*r.head.Language)
	}
	clear(r.issues)
	r.v = r.f.Read(r)
	if r.f.Raised != nil && r.Begun {
		if q := r.f.Raised(r.v); q != nil {
			r.raise(q)
		}
	}
}

// stateFile is the name of the state document in a run's folder, journalFile that of the
// journal that accounts for it.
const (
	stateFile   = "state.json"
	journalFile = "events.jsonl"
)

// readState reads the state document and the journal beside it.
func (f *Family[S, V]) readState(r *Run[S, V]) {
	if r.Doc.Absent() {
		f.missing(r)
		return
	}
	r.Record = ReadState(&r.Input, r.Doc, f.Anew, f.hasJournal(), func() (int, error, error) {
		read, err := engine.Parse(r.Doc, func(_ string, body []byte) (S, error) {
			if f.Format.DecodeOwn != nil && r.Doc.IssuedHere() {
				return f.Format.DecodeOwn(body)
			}
			return f.Format.Decode(stateFile, body)
		})
		if err != nil {
			return 0, nil, err
		}
		st := *read // later steps share the content, so nothing that it points to is changed
		if requests := f.Format.Head(&st).Requests; requests != nil {
			*requests = slices.Clip(*requests)
		}
		unfit := f.Format.Unfit(&r.Input, st)
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
		r.Begun = f.hasJournal() // without a journal nothing else records the status of the run
	}
}

// hasJournal reports whether a journal beside the state accounts for it.
func (f *Family[S, V]) hasJournal() bool {
	var st S
	return f.Shared == nil && f.Format.Head(&st).History == nil
}

// recordFiles names the files that record the status of a run.
func (f *Family[S, V]) recordFiles(lang string) string {
	if f.hasJournal() {
		return templates.List(lang, "list.or", []string{stateFile, journalFile})
	}
	return stateFile
}

// missing judges a folder without a state document: nothing has begun in it, or
// somebody removed the document.
func (f *Family[S, V]) missing(r *Run[S, V]) {
	if f.Shared != nil {
		return // the other program may remove it at any time
	}
	r.Torn = slices.ContainsFunc(r.Folders, (*gate.Folder).Unsettled)
	r.Held = r.Torn
	if !r.Torn && (hasRecord(r.Snap.In(journalFile)) || slices.ContainsFunc(r.Folders, f.isBeyondFirst)) {
		key := templates.Key("run.state.gone")
		if !f.hasJournal() {
			key += ".requests"
		}
		r.Problem = withHelp(&r.Input, r.Say(key), f.Anew)
	}
}

// hasRecord reports whether anything was written to a journal. The first commit creates it
// empty, so a crash may leave an empty journal without a state.
func hasRecord(journal engine.Document) bool {
	return !journal.Absent() && (journal.Err != nil || len(journal.Body) > 0)
}

// isBeyondFirst reports whether a request folder belongs to a run that had a state. A crash
// in the first transition leaves only a request of revision 1; without a journal beside it,
// one that this machine wrote.
func (f *Family[S, V]) isBeyondFirst(dir *gate.Folder) bool {
	return dir.Request == nil || dir.Request.Revision != 1 || dir.Receipt != nil || dir.BadReceipt || !f.hasJournal() && !dir.Doc.IssuedHere()
}

// Usable reports whether the run can be judged: its state, if it exists, can be used.
func (r *Run[S, V]) Usable() bool { return !r.Torn && r.Problem == "" }

func (r *Run[S, V]) status() engine.Status {
	if !r.Begun {
		return ""
	}
	return *r.head.Status
}

func (r *Run[S, V]) revision() int { return *r.head.Revision }

// CannotWrite notes beside the state why a transition or an output cannot be written. The
// transition in progress is then abandoned.
func (r *Run[S, V]) CannotWrite(err error) {
	r.Unwritable = err
	r.Notes.Beside(r.Doc.Path, templates.In(r.Lang, err))
}

// Once computes a named value once for a run, so that the computation adds its notes only
// once.
func Once[S, V, T any](r *Run[S, V], name string, compute func() T) T {
	if v, known := r.memo[name]; known {
		return v.(T)
	}
	v := compute()
	r.memo[name] = v
	return v
}

// CheckIDs returns an error for the first request of a state whose id no folder can have,
// or nil. Ids become names of folders, so placet never writes such an id.
func CheckIDs(all []*Request) error {
	for i, q := range all {
		if !layout.IsRequestID(q.ID) {
			return templates.Errorf("run.unfit.request", "i", i, "id", QuoteID(q.ID))
		}
	}
	return nil
}
