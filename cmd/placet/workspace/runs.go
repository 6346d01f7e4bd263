package workspace

import (
	"cmp"
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// Narrow are the runs of an optional argument, a family or a run, and those of
// the same family that it leaves out. A word that names both is the family; the
// run's whole name is <family>/<id>.
func Narrow(b *Workspace, args []string) (found, rest []loop.Found, err error) {
	all := b.Runs()
	if len(args) == 0 {
		return all, nil, nil
	}
	if b.Serves(args[0]) {
		return ofFamily(all, args[0]), nil, nil
	}
	one, err := oneRunOf(b, all, args[0])
	if p, ok := err.(*console.Problem); ok && len(p.Fits) == 0 {
		return nil, nil, p.Try("workspace.narrow", "families", templates.List(b.Env.Lang, "list.or", b.FamilyNames()))
	} else if err != nil {
		return nil, nil, err
	}
	for _, f := range ofFamily(all, one.Run.Family) {
		if f.Key() != one.Key() {
			rest = append(rest, f)
		}
	}
	return []loop.Found{one}, rest, nil
}

// FamilyNames are the families that are enabled.
func (b *Workspace) FamilyNames() []string {
	var names []string
	for _, f := range b.Families {
		names = append(names, f.Layout.Name())
	}
	return names
}

// CountUses counts how many runs use the id of each request shown: an id alone names
// one only where no other run uses it, shown or not. Those of two families differ.
func CountUses(b *Workspace, open []engine.OpenRequest, rest []loop.Found) map[string]int {
	uses := map[string]int{}
	for _, a := range open {
		uses[a.Request]++
	}
	for id := range uses {
		for _, f := range rest {
			if HasRequest(b, f, id) {
				uses[id]++
			}
		}
	}
	return uses
}

// longestJournal is how much of a journal log reads, from its end, in bytes.
const longestJournal = 64 << 20

// readJournals reads the journals whole of which no more than the end decides.
func readJournals(b *Workspace, f loop.Found, docs []engine.Document) []engine.Document {
	docs = slices.Clone(docs)
	for i, d := range docs {
		file, ok := f.Family.Layout.File(f.Run, strings.TrimPrefix(d.Path, f.Run.Dir+"/"))
		if !ok || file.End == 0 || !d.Present() {
			continue
		}
		file.End = longestJournal
		// What the store remembers of the file is its end.
		if whole := store.New(fs.OS(b.Root), store.Options{Now: b.Env.Now}).Read(d.Path, file); whole.Present() {
			docs[i] = whole
		}
	}
	return docs
}

// View is one run as it was seen.
type View struct {
	engine.RunView
	Found loop.Found
	// Notes are the problem notes that stand in the run's folder.
	Notes []Note
	// Since is when the run came to stand where it stands, as far as its
	// documents tell.
	Since time.Time
	// awaited is the first thing that the run waits for besides answers, "" for nothing, and
	// awaitedToo how many more there are.
	awaited    string
	awaitedToo int
	// due are the problem notes that the next pass writes.
	due []Note
	// held are the files that may still be being written.
	held []heldFile
	// stray are the paths in the run's folder that nobody knows.
	stray []string
	// unsettled says that something was still being written, and that the run is to be
	// looked at again.
	unsettled bool
	// late: the account took too long, and the state document alone was looked at.
	late bool
	lang string // in which the run is spoken of
	Err  error
}

// Note is a problem note that stands, or what else is wrong with a run.
type Note struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Troubled reports whether something about the run needs a person who mends.
func (v View) Troubled() bool {
	if v.Err != nil || v.Blocked || len(v.Notes) > 0 || len(v.Urgent()) > 0 {
		return true
	}
	return slices.ContainsFunc(v.Open, func(a engine.OpenRequest) bool { return a.Problem != "" })
}

// Urgent are the findings that every list of runs tells, where no note does.
func (v View) Urgent() (all []Note) {
	noted := v.stateNote() != ""
	for _, f := range v.Findings {
		if f.Urgent && !(noted && f.Code == engine.CodeFabrication) {
			all = append(all, Note{f.Path, f.Text})
		}
	}
	return all
}

// Runs finds the runs of the workspace. Folders that cannot be listed are
// named; what lies in the others is there all the same.
func (b *Workspace) Runs() []loop.Found {
	found, err := b.Loop.Runs()
	if err != nil {
		b.Env.Note("say.text", "text", console.Lines(templates.In(b.Env.Lang, err)))
		b.Unlisted = true
	}
	return found
}

// patience is how long a verb waits for documents to stand still before it
// shows what there is, and heldPatience how long check waits for files that may be
// half of a write.
const patience, heldPatience = 2500 * time.Millisecond, 2 * time.Second

// Views takes snapshots of runs, several at a time, and asks the machines how
// they stand. What is still being written is looked at again. Folders that turn
// out to be no runs are left out.
func Views(b *Workspace, found []loop.Found) []View {
	return slices.DeleteFunc(viewRuns(b, found, listTime), func(v View) bool { return v.Absent })
}

// ViewOf looks at one run, be it none at all.
func ViewOf(b *Workspace, f loop.Found) View {
	return viewRuns(b, []loop.Found{f}, runTime)[0]
}

// listTime and runTime are how long an account may take: of each run in a list, and
// of the one that a person asks about. Documents of others must not keep anybody
// waiting for what the other runs do.
const listTime, runTime = 5 * time.Second, 30 * time.Second

func viewRuns(b *Workspace, found []loop.Found, limit time.Duration) []View {
	views := make([]View, len(found))
	todo := make([]int, len(found))
	for i := range found {
		todo[i] = i
	}
	for began := time.Now(); ; time.Sleep(150 * time.Millisecond) {
		viewEach(b, found, views, todo, limit)
		waited := time.Since(began)
		todo = slices.DeleteFunc(todo, func(i int) bool {
			return !(views[i].unsettled && waited < patience || b.WaitsForHeld && len(views[i].held) > 0 && waited < heldPatience)
		})
		if len(todo) == 0 {
			return views
		}
	}
}

// viewEach looks at the runs in todo.
func viewEach(b *Workspace, found []loop.Found, views []View, todo []int, limit time.Duration) {
	round := b.Loop.Stored()
	each(len(todo), func(n int) {
		i := todo[n]
		views[i] = viewIn(b, limit, found[i], func() View { return seeRun(b, round, found[i]) })
		views[i].lang = b.Env.Lang
		for k := range views[i].Open {
			refer(b, &views[i].Open[k])
		}
		if why := readHeldUp(b)[found[i].Run.State]; why != "" {
			views[i].Notes = append(views[i].Notes, Note{found[i].Run.State, b.Env.Text("workspace.heldup", "why", why)})
		}
	})
}

// viewIn has look look at a run for so long and no longer. A machine is a pure
// function, which cannot be interrupted: one that takes longer is left to itself.
func viewIn(b *Workspace, limit time.Duration, f loop.Found, look func() View) View {
	done := make(chan View, 1)
	go func() { done <- look() }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case v := <-done:
		return v
	case <-t.C:
		return lateView(b, f, limit)
	}
}

// lateView is a run whose account takes too long, by its state document alone.
func lateView(b *Workspace, f loop.Found, limit time.Duration) View {
	p := b.Loop.Summarize(f)
	v := View{Found: f, late: true}
	v.Err = templates.Errorf("workspace.late", "limit", limit, "most", runTime)
	v.Key, v.ShortID, v.Status, v.Final = f.Key(), f.Run.ID, p.Status, p.Final
	return v
}

// seeRun looks at one run.
func seeRun(b *Workspace, round *loop.Stored, f loop.Found) View {
	if b.Brief {
		if v, ok := findStoredView(b, round, f); ok {
			return v
		}
	}
	v := View{Found: f}
	seen, err := b.Loop.Look(f)
	if err != nil {
		v.Key, v.Err = f.Key(), err
		return v
	}
	snap := seen.Snap
	v.stray, v.unsettled = seen.Stray, !seen.Again.IsZero()
	if b.Journals {
		snap.Docs = readJournals(b, f, snap.Docs)
	}
	v.RunView = f.Family.Machine.Account(snap)
	v.Key = f.Key()
	v.Since = since(v.RunView, snap.Doc(f.Run.State))
	if n := len(v.WaitsFor); n > 0 {
		v.awaited, v.awaitedToo = console.Cut(v.WaitsFor[0], shownWait), n-1
	}
	v.addNotes(b.Env.Lang, seen)
	v.addUnreadable(seen)
	if b.Brief && len(v.held) == 0 {
		storeView(b, f, seen, v)
	}
	return v
}

// addNotes adds to a view the problem notes that stand in a look, those that are due,
// what became of requests, and how often an answer was used.
func (v *View) addNotes(lang string, seen loop.Seen) {
	var entries []engine.Entry
	for _, d := range seen.Snap.Docs {
		switch {
		case !d.Present():
		case d.Kind == layout.KindProblem:
			v.Notes = append(v.Notes, Note{Path: d.Path, Text: engine.NoteBody(string(d.Body))})
		case d.Kind == layout.KindReceipt:
			entries = append(entries, receiptEntry(seen.Snap, d)...)
		case d.Kind == layout.KindReuse && v.Final:
			if u, err := ask.ReadReuse(d); err == nil {
				entries = append(entries, u.Entry(lang))
			}
		}
	}
	v.Log = mergeLog(v.Log, entries)
	for _, d := range seen.Notes {
		v.due = append(v.due, Note{Path: d.Path, Text: engine.NoteBody(string(d.Body))})
	}
}

// receiptEntry is what became of a request, for the run's log: an answer that was
// refused or overtaken must be found there. It is none where the receipt cannot be
// read.
func receiptEntry(snap engine.Snapshot, d engine.Document) []engine.Entry {
	r, err := gate.ReadReceipt(d.Path, d.Body)
	if err != nil {
		return nil
	}
	at, _ := time.Parse(time.RFC3339, r.DecidedAt)
	e := engine.Entry{At: at, Event: "receipt_" + r.Result, Who: r.ProvidedBy.Shown("", r.KnownAs), Message: r.RequestID}
	for _, edit := range r.Edits {
		e.Message += console.Suffix(": ", edit.Path+" changed")
	}
	for _, more := range []string{r.Response, r.Comment, r.Reason, unverified(snap, d, r)} {
		e.Message += console.Suffix(": ", more)
	}
	return []engine.Entry{e}
}

// mergeLog puts entries into a log by their times, each behind what the log has of
// the same moment. The log's own order stays.
func mergeLog(log, entries []engine.Entry) []engine.Entry {
	slices.SortStableFunc(entries, func(a, b engine.Entry) int { return a.At.Compare(b.At) })
	all := make([]engine.Entry, len(log)+len(entries))
	for i := len(all); len(entries) > 0; {
		i--
		if n, m := len(log), len(entries); n > 0 && log[n-1].At.After(entries[m-1].At) {
			all[i], log = log[n-1], log[:n-1]
		} else {
			all[i], entries = entries[m-1], entries[:m-1]
		}
	}
	copy(all, log)
	return all
}

// unverified says of a receipt in a snapshot that it is not to be believed, "" of one
// that is.
func unverified(snap engine.Snapshot, d engine.Document, r gate.Receipt) string {
	return templates.In("", gate.Unverified(snap.Facts.Config, snap.Key.Family, snap.Doc(path.Join(path.Dir(d.Path), "request.json")), d, r))
}

// since is when a run came to stand where it stands: what is asked, else the
// last event, else the last change of the state document.
func since(a engine.RunView, state engine.Document) time.Time {
	switch {
	case len(a.Open) > 0 && !a.Open[0].RequestedAt.IsZero():
		return a.Open[0].RequestedAt
	case len(a.Log) > 0 && !a.Log[len(a.Log)-1].At.IsZero():
		return a.Log[len(a.Log)-1].At
	}
	return state.Changed
}

// Live returns the runs that can still move, and counts the others by status. A run
// whose state document says that it has ended, and beside which a note stands, is
// among the first: somebody may have written that.
func Live(b *Workspace, found []loop.Found) ([]loop.Found, map[engine.Status]int) {
	all := make([]engine.Summary, len(found))
	noted := make([]bool, len(found))
	each(len(found), func(i int) {
		all[i] = b.Loop.Summarize(found[i])
		noted[i] = all[i].Final && b.Store.Exists(found[i].Run.State+layout.ProblemSuffix)
	})
	final := map[engine.Status]int{}
	var live []loop.Found
	for i, f := range found {
		if all[i].Final && !noted[i] {
			final[all[i].Status]++
		} else {
			live = append(live, f)
		}
	}
	return live, final
}

// each calls f for 0 … n-1, as many at a time as there are processors.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// uuidPrefix is how many characters of a run's last part name it at least.
const uuidPrefix = 4

// Fits returns the runs that an argument names: a whole name alone, else all
// that the shorter forms fit.
func Fits(b *Workspace, found []loop.Found, arg string) []loop.Found {
	for _, f := range found {
		if arg == f.Run.ID || arg == f.Key().String() || arg != "" && arg == alias(f) {
			return []loop.Found{f}
		}
	}
	if work, ok := strings.CutPrefix(arg, "#"); ok {
		return runsWithWork(b, found, work)
	}
	if b.Serves(arg) {
		return ofFamily(found, arg)
	}
	return slices.DeleteFunc(slices.Clone(found), func(f loop.Found) bool { return !beginsWith(f, arg) })
}

// ofFamily returns the runs of one family.
func ofFamily(found []loop.Found, name string) []loop.Found {
	return slices.DeleteFunc(slices.Clone(found), func(f loop.Found) bool { return f.Run.Family != name })
}

// runsWithWork returns the runs for a work item, as their families tell it.
func runsWithWork(b *Workspace, found []loop.Found, work string) []loop.Found {
	var fit []loop.Found
	label := templates.NewMessage("faber.fact.work")
	for _, v := range Views(b, found) {
		if slices.ContainsFunc(v.Facts, func(f engine.Fact) bool { return f.Value == "#"+work && label.Says(f.Label) }) {
			fit = append(fit, v.Found)
		}
	}
	return fit
}

// beginsWith reports whether an argument is the beginning of a run's last part,
// alone or after the parts before it.
func beginsWith(f loop.Found, arg string) bool {
	for _, id := range []string{f.Run.ID, f.Key().String(), path.Base(f.Run.ID)} {
		if strings.HasPrefix(id, arg) && len(arg)-len(id)+len(path.Base(id)) >= uuidPrefix {
			return true
		}
	}
	return false
}

// OneRun resolves a run argument. Where several fit nothing is chosen.
func OneRun(b *Workspace, arg string) (loop.Found, error) { return oneRunOf(b, b.Runs(), arg) }

// oneRunOf resolves a run argument to one of some runs.
func oneRunOf(b *Workspace, found []loop.Found, arg string) (loop.Found, error) {
	fit := Fits(b, found, arg)
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return loop.Found{}, noRun(b, arg)
	}
	return loop.Found{}, ambiguous(arg, fit)
}

// noRun is the problem that an argument names no run.
func noRun(b *Workspace, arg string) *console.Problem {
	return console.Usage("workspace.run.none", "name", strconv.Quote(console.OneLine(arg)), "workspace", console.OneLine(b.Root)).Try("workspace.status.try")
}

// ambiguous lists the runs that an argument fits.
func ambiguous(arg string, fit []loop.Found) *console.Problem {
	p := fits(arg, templates.NewMessage("count.runs", "n", len(fit))).Try("workspace.fits.unique")
	for _, f := range fit {
		p.Fits = append(p.Fits, f.Key().String())
	}
	return p
}

// Chosen are the runs of an optional argument: all of them, or the one named.
func Chosen(b *Workspace, args []string) ([]loop.Found, error) {
	if len(args) == 0 {
		return b.Runs(), nil
	}
	one, err := OneRun(b, args[0])
	return []loop.Found{one}, err
}

// OldestFirst sorts requests by when they were asked, then by run.
func OldestFirst(a, b engine.OpenRequest) int {
	return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.Run.String(), b.Run.String()), cmp.Compare(a.Request, b.Request))
}

// HasRequest reports whether a run's folder holds a request of this id.
func HasRequest(b *Workspace, f loop.Found, request string) bool {
	if !layout.IsRequestID(request) {
		return false
	}
	_, err := os.Lstat(filepath.Join(b.Root, filepath.FromSlash(layout.RequestPath(f.Run.Dir, request, "request.json"))))
	return err == nil
}

// Peers are what the runs of a family say of themselves for each other, by run. Those
// that are still being written are named and left out.
func (b *Workspace) Peers(family string) (map[string][]byte, error) {
	peers, err := b.Loop.Entries(family)
	if errors.Is(err, engine.ErrUnsettled) {
		b.Env.Note("say.text", "text", err)
		err = nil
	}
	return peers, err
}

// HasDaemon reports whether a daemon runs here. Where none does it says with a sentence what
// to run, to do what is left.
func (b *Workspace) HasDaemon(sentence templates.Key) bool {
	if DaemonRuns(b.Root) {
		return true
	}
	b.Env.Note(sentence)
	return false
}

// SettledRun reads the documents of a run, once its state document stands still; of a
// whole one, once all of them do. It waits no longer than [Workspace.Settled].
func (b *Workspace) SettledRun(f loop.Found, whole bool) (engine.Snapshot, error) {
	for end := time.Now().Add(patience); ; time.Sleep(130 * time.Millisecond) {
		seen, err := b.Loop.Look(f)
		moves := seen.Snap.Doc(f.Run.State).Unsettled() || whole && slices.ContainsFunc(seen.Snap.Docs, engine.Document.Unsettled)
		if err != nil || !moves || time.Now().After(end) {
			return seen.Snap, err
		}
	}
}

// ReadDocument reads a document in a run's folder, once it stands still.
func (b *Workspace) ReadDocument(f loop.Found, name string) engine.Document {
	kind, _ := f.Family.Layout.File(f.Run, name)
	return b.Settled(path.Join(f.Run.Dir, name), kind)
}
