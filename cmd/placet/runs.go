package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reconcile"
	"placet/layout"
)

// view is one run as it was seen.
type view struct {
	engine.Account
	found reconcile.Found
	// notes are the problem notes that stand in the run's folder.
	notes []standing
	// since is when the run came to stand where it stands, as far as its
	// documents tell.
	since time.Time
	// waits is what the run waits for besides answers, "" for nothing.
	waits string
	// due are the problem notes that the next pass writes.
	due []standing
	// held are the files that may still be being written.
	held []heldFile
	// stray are the paths in the run's folder that nobody knows.
	stray []string
	// unsettled says that something was still being written, and that the run is to be
	// looked at again.
	unsettled bool
	// late: the account took too long, and the state document alone was looked at.
	late bool
	err  error
}

// standing is a problem note that stands.
type standing struct{ Path, Text string }

// troubled reports whether something about the run needs a person who mends.
func (v view) troubled() bool {
	if v.err != nil || v.Stands || len(v.notes) > 0 || len(v.urgent()) > 0 {
		return true
	}
	return slices.ContainsFunc(v.Open, func(a engine.Asked) bool { return a.Problem != "" })
}

// urgent are the findings that every list of runs tells.
func (v view) urgent() (all []standing) {
	for _, f := range v.Findings {
		if f.Urgent {
			all = append(all, standing{f.Path, f.Text})
		}
	}
	return all
}

// runs finds the runs of the workspace. Folders that cannot be listed are
// named; what lies in the others is there all the same.
func (b *bench) runs() []reconcile.Found {
	found, err := b.loop.Runs()
	if err != nil {
		b.w.note("%s", paragraph(err.Error()))
		b.unlisted = true
	}
	return found
}

// patience is how long a verb waits for documents to stand still before it
// shows what there is, and heldPatience how long check waits for files that may be
// half of a write.
const patience, heldPatience = 2500 * time.Millisecond, 2 * time.Second

// views takes snapshots of runs, several at a time, and asks the machines how
// they stand. What is still being written is looked at again. Folders that turn
// out to be no runs are left out.
func (b *bench) views(found []reconcile.Found) []view {
	return slices.DeleteFunc(b.allViews(found, listTime), func(v view) bool { return v.Absent })
}

// viewOf looks at one run, be it none at all.
func (b *bench) viewOf(f reconcile.Found) view { return b.allViews([]reconcile.Found{f}, runTime)[0] }

// listTime and runTime are how long an account may take: of each run in a list, and
// of the one that a person asks about. Documents of others must not keep anybody
// waiting for what the other runs do.
const listTime, runTime = 5 * time.Second, 30 * time.Second

func (b *bench) allViews(found []reconcile.Found, limit time.Duration) []view {
	views := make([]view, len(found))
	todo := make([]int, len(found))
	for i := range found {
		todo[i] = i
	}
	for began := time.Now(); ; time.Sleep(150 * time.Millisecond) {
		b.viewEach(found, views, todo, limit)
		waited := time.Since(began)
		todo = slices.DeleteFunc(todo, func(i int) bool {
			return !(views[i].unsettled && waited < patience || b.waitsForHeld && len(views[i].held) > 0 && waited < heldPatience)
		})
		if len(todo) == 0 {
			return views
		}
	}
}

// viewEach looks at the runs in todo.
func (b *bench) viewEach(found []reconcile.Found, views []view, todo []int, limit time.Duration) {
	round := b.loop.Recall()
	each(len(todo), func(n int) {
		i := todo[n]
		views[i] = b.viewIn(limit, found[i], func() view { return b.view(round, found[i]) })
		if why := b.heldUp()[found[i].Run.State]; why != "" {
			views[i].notes = append(views[i].notes, standing{found[i].Run.State, "the daemon cannot go on with this run and tries again within a minute: " + why})
		}
	})
}

// viewIn has look look at a run for so long and no longer. A machine is a pure
// function, which cannot be interrupted: one that takes longer is left to itself.
func (b *bench) viewIn(limit time.Duration, f reconcile.Found, look func() view) view {
	done := make(chan view, 1)
	go func() { done <- look() }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case v := <-done:
		return v
	case <-t.C:
		return b.late(f, limit)
	}
}

// late is a run whose account takes too long, by its state document alone.
func (b *bench) late(f reconcile.Found, limit time.Duration) view {
	p := b.loop.Peek(f)
	v := view{found: f, late: true}
	v.err = fmt.Errorf("cannot say within %v how the run stands: its documents are too large. Try placet explain, which takes up to %v", limit, runTime)
	v.Key, v.Short, v.Status, v.Final = f.Key(), f.Run.ID, p.Status, p.Final
	return v
}

// view looks at one run.
func (b *bench) view(round *reconcile.Recall, f reconcile.Found) view {
	if b.brief {
		if v, ok := b.recalled(round, f); ok {
			return v
		}
	}
	v := view{found: f}
	seen, err := b.loop.Look(f)
	if err != nil {
		v.Key, v.err = f.Key(), err
		return v
	}
	snap := seen.Snap
	v.stray, v.unsettled = seen.Stray, !seen.Again.IsZero()
	if b.journals {
		snap.Docs = b.wholeJournals(f, snap.Docs)
	}
	v.Account = f.Family.Machine.Account(snap)
	v.Key = f.Key()
	v.since, v.waits = since(v.Account, snap.Doc(f.Run.State)), awaited(v.Waits)
	v.addNotes(seen)
	v.addUnreadable(seen)
	if b.brief && len(v.held) == 0 {
		b.loop.Keep(f, seen, packView(v))
	}
	return v
}

// addNotes adds to a view the problem notes that stand in a look, those that are due,
// and what became of requests.
func (v *view) addNotes(seen reconcile.Seen) {
	var receipts []engine.Entry
	for _, d := range seen.Snap.Docs {
		switch {
		case !d.Present():
		case d.Kind == layout.KindProblem:
			v.notes = append(v.notes, standing{Path: d.Path, Text: noteBody(string(d.Body))})
		case d.Kind == layout.KindReceipt:
			receipts = append(receipts, receiptEntry(seen.Snap, d)...)
		}
	}
	v.Log = mergeLog(v.Log, receipts)
	for _, d := range seen.Notes {
		v.due = append(v.due, standing{Path: d.Path, Text: noteBody(string(d.Body))})
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
	e := engine.Entry{At: at, Event: "receipt_" + r.Result, Who: r.ProvidedBy.Shown(r.KnownAs), Message: r.RequestID}
	for _, more := range []string{r.Response, r.Comment, r.Reason, unverified(snap, d, r)} {
		e.Message += suffix(": ", more)
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
	return gate.Unverified(snap.Facts.Config, snap.Key.Family, snap.Doc(path.Join(path.Dir(d.Path), "request.json")), d, r)
}

// since is when a run came to stand where it stands: what is asked, else the
// last event, else the last change of the state document.
func since(a engine.Account, state engine.Document) time.Time {
	switch {
	case len(a.Open) > 0 && !a.Open[0].RequestedAt.IsZero():
		return a.Open[0].RequestedAt
	case len(a.Log) > 0 && !a.Log[len(a.Log)-1].At.IsZero():
		return a.Log[len(a.Log)-1].At
	}
	return state.Changed
}

// noteBody is what a problem note says, without heading and closing line.
func noteBody(text string) string {
	text = strings.TrimPrefix(strings.TrimSpace(text), "# Problem")
	text, _, _ = strings.Cut(text, "\n\nplacet wrote this note")
	return strings.TrimSpace(text)
}

// live returns the runs that can still move, and counts the others by status. A run
// whose state document says that it has ended, and beside which a note stands, is
// among the first: somebody may have written that.
func (b *bench) live(found []reconcile.Found) ([]reconcile.Found, map[engine.Status]int) {
	peeks := make([]engine.Peek, len(found))
	noted := make([]bool, len(found))
	each(len(found), func(i int) {
		peeks[i] = b.loop.Peek(found[i])
		noted[i] = peeks[i].Final && peeks[i].Touched && b.store.There(found[i].Run.State+layout.ProblemSuffix)
	})
	final := map[engine.Status]int{}
	var live []reconcile.Found
	for i, f := range found {
		if peeks[i].Final && !noted[i] {
			final[peeks[i].Status]++
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

// fits returns the runs that an argument names: a whole name alone, else all
// that the shorter forms fit.
func (b *bench) fits(found []reconcile.Found, arg string) []reconcile.Found {
	for _, f := range found {
		if arg == f.Run.ID || arg == f.Key().String() {
			return []reconcile.Found{f}
		}
	}
	if work, ok := strings.CutPrefix(arg, "#"); ok {
		return b.withWork(found, work)
	}
	if b.serves(arg) {
		return ofFamily(found, arg)
	}
	return slices.DeleteFunc(slices.Clone(found), func(f reconcile.Found) bool { return !beginsWith(f, arg) })
}

// ofFamily returns the runs of one family.
func ofFamily(found []reconcile.Found, family string) []reconcile.Found {
	return slices.DeleteFunc(slices.Clone(found), func(f reconcile.Found) bool { return f.Run.Family != family })
}

// withWork returns the runs for a work item, as their families tell it.
func (b *bench) withWork(found []reconcile.Found, work string) []reconcile.Found {
	var fit []reconcile.Found
	for _, v := range b.views(found) {
		if slices.Contains(v.Facts, engine.Fact{Label: "work item", Value: "#" + work}) {
			fit = append(fit, v.found)
		}
	}
	return fit
}

// beginsWith reports whether an argument is the beginning of a run's last part,
// alone or after the parts before it.
func beginsWith(f reconcile.Found, arg string) bool {
	for _, id := range []string{f.Run.ID, f.Key().String(), path.Base(f.Run.ID)} {
		if strings.HasPrefix(id, arg) && len(arg)-len(id)+len(path.Base(id)) >= uuidPrefix {
			return true
		}
	}
	return false
}

// oneRun resolves a run argument. Where several fit nothing is chosen.
func (b *bench) oneRun(arg string) (reconcile.Found, error) { return b.oneOf(b.runs(), arg) }

// oneOf resolves a run argument to one of some runs.
func (b *bench) oneOf(found []reconcile.Found, arg string) (reconcile.Found, error) {
	fit := b.fits(found, arg)
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return reconcile.Found{}, usage("cannot find a run %q in %s", line(arg), line(b.root)).try("placet status --all lists the runs")
	}
	return reconcile.Found{}, ambiguous(arg, fit)
}

// ambiguous lists the runs that an argument fits.
func ambiguous(arg string, fit []reconcile.Found) *problem {
	p := usage("%q fits %s", line(arg), many(len(fit), "run", "runs")).try("name one of them, by as much of it as is unique")
	for _, f := range fit {
		p.fits = append(p.fits, f.Key().String())
	}
	return p
}

// chosen are the runs of an optional argument: all of them, or the one named.
func (b *bench) chosen(args []string) ([]reconcile.Found, error) {
	if len(args) == 0 {
		return b.runs(), nil
	}
	one, err := b.oneRun(args[0])
	return []reconcile.Found{one}, err
}

// onRun is a verb about the one run that its first argument names.
func (w *world) onRun(do func(*bench, reconcile.Found) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		b, err := w.look()
		if err != nil {
			return err
		}
		f, err := b.oneRun(args[0])
		if err != nil {
			return err
		}
		return do(b, f)
	}
}

// oldestFirst sorts requests by when they were asked, then by run.
func oldestFirst(a, b engine.Asked) int {
	return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.Run.String(), b.Run.String()), cmp.Compare(a.Request, b.Request))
}

// has reports whether a run's folder holds a request of this id.
func (b *bench) has(f reconcile.Found, request string) bool {
	if !layout.IsRequestID(request) {
		return false
	}
	_, err := os.Lstat(filepath.Join(b.root, filepath.FromSlash(layout.RequestPath(f.Run.Dir, request, "request.json"))))
	return err == nil
}
