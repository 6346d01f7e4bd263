// Package view shows runs and requests to people, the same for every surface: the status of a
// run and the reason for it, the question and the outcome of a request, and what a name means.
// It decides nothing, and prints nothing but notes on the environment of its workspace.
package view

import (
	"slices"
	"syscall"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// Run is the view of one run.
type Run struct {
	engine.RunView
	Found loop.Found
	// Notes are the problem notes in the run's folder.
	Notes []Note
	// Since is when the run came into its present state, as far as its documents tell.
	Since time.Time
	// awaited is the first thing that the run waits for besides answers, "" for nothing, and
	// awaitedToo the number of others.
	awaited    string
	awaitedToo int
	// due are the problem notes that the next pass writes.
	due []Note
	// held are the files that may still be half written.
	held []heldFile
	// stray are the unknown paths in the run's folder.
	stray []string
	// unsettled says that a document was still being written, so the run must be read again.
	unsettled bool
	// late says that the machine's account took too long, and only the state document was read.
	late bool
	// snap holds the documents that the view was made from, if it is the view of one run.
	snap *engine.Snapshot
	lang string    // language of texts about the run
	now  time.Time // when it was looked at
	Err  error
}

// Note is a problem note, or another trouble of a run.
type Note struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Troubled reports whether something about the run needs a person to mend it.
func (v Run) Troubled() bool {
	if v.Err != nil || v.Blocked || len(v.Notes) > 0 || len(v.Urgent()) > 0 {
		return true
	}
	return slices.ContainsFunc(v.Open, func(a engine.OpenRequest) bool { return a.Problem != "" })
}

// Troubles returns all troubles of the run: its notes, and urgent findings without a note.
func (v Run) Troubles() []Note { return slices.Concat(v.Notes, v.Urgent()) }

// Urgent returns the findings that every list of runs shows, unless a note says the same.
func (v Run) Urgent() (all []Note) {
	noted := v.stateNote() != ""
	for _, f := range v.Findings {
		if f.Urgent && !(noted && f.Code == engine.CodeFabrication) {
			all = append(all, Note{f.Path, f.Text})
		}
	}
	return all
}

// Runs takes snapshots of runs, several at a time, and asks the machines for their accounts. It
// reads runs with unsettled documents again. It leaves out folders that turn out to be no runs.
func Runs(b *workspace.Workspace, found []loop.Found) []Run {
	return slices.DeleteFunc(viewRuns(b, found, listTime), func(v Run) bool { return v.Absent })
}

// Of views one run, even one that does not exist.
func Of(b *workspace.Workspace, f loop.Found) Run {
	return viewRuns(b, []loop.Found{f}, runTime)[0]
}

// lookAgain is the pause before an unsettled run is read again. Waits are counted in these
// pauses, as [workspace.Patience] says.
const lookAgain = 150 * time.Millisecond

// heldPatience is how long check waits for files that may be half written.
const heldPatience = 2 * time.Second

// listTime and runTime limit the time of an account: of each run in a list, and of the one that
// a person asks about. Slow documents of one run must not keep anybody from seeing the others.
// listTime is processor time, because on a busy machine every account is slow.
const listTime, runTime = 5 * time.Second, 30 * time.Second

func viewRuns(b *workspace.Workspace, found []loop.Found, limit time.Duration) []Run {
	views := make([]Run, len(found))
	todo := make([]int, len(found))
	for i := range found {
		todo[i] = i
	}
	for waited := time.Duration(0); ; waited += lookAgain {
		viewEach(b, found, views, todo, limit)
		todo = slices.DeleteFunc(todo, func(i int) bool {
			return !(views[i].unsettled && waited < workspace.Patience || b.WaitsForHeld && len(views[i].held) > 0 && waited < heldPatience)
		})
		if len(todo) == 0 {
			return views
		}
		time.Sleep(lookAgain)
	}
}

// viewEach views the runs in todo.
func viewEach(b *workspace.Workspace, found []loop.Found, views []Run, todo []int, limit time.Duration) {
	round := b.Loop.Stored()
	each(len(todo), func(n int) {
		i := todo[n]
		views[i] = viewIn(b, limit, found[i], func() Run { return seeRun(b, round, found[i]) })
		views[i].lang, views[i].now = b.Env.Lang, b.Env.Now()
		if len(found) > 1 {
			views[i].snap = nil // the documents of many runs would fill the memory
		}
		for k := range views[i].Open {
			refer(b, &views[i].Open[k])
			addWaiters(b, &views[i].Open[k])
		}
		if why := workspace.ReadHeldUp(b)[found[i].Run.State]; why != "" {
			views[i].Notes = append(views[i].Notes, Note{found[i].Run.State, b.Env.Text("workspace.heldup", "why", why)})
		}
	})
}

// addWaiters adds to the request of an ask whether anybody waits for its answer.
func addWaiters(b *workspace.Workspace, a *engine.OpenRequest) {
	if a.Run.Family != "ask" {
		return
	}
	if dir := config.PathDir(b.Env, b.Root); dir != nil {
		defer dir.Close()
		is := dir.Served(a.Run.ID)
		if a.Waited = is.Now; !is.Now {
			a.NobodyWaits = is.Until
		}
	}
}

// viewIn waits for look until the process has computed for limit, and no longer than runTime. A
// machine is a pure function, which cannot be interrupted: one that takes longer goes on by itself.
func viewIn(b *workspace.Workspace, limit time.Duration, f loop.Found, look func() Run) Run {
	done := make(chan Run, 1)
	began, used := time.Now(), processorTime()
	go func() { done <- look() }()
	for pause := limit; ; pause = lookAgain {
		select {
		case v := <-done:
			return v
		case <-time.After(pause):
		}
		if processorTime()-used >= limit || time.Since(began) >= runTime {
			return lateView(b, f, limit)
		}
	}
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other error than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// lateView returns a run whose account takes too long, by its state document alone.
func lateView(b *workspace.Workspace, f loop.Found, limit time.Duration) Run {
	p := b.Loop.Summarize(f)
	v := Run{Found: f, late: true}
	v.Err = templates.Errorf("workspace.late", "limit", limit, "most", runTime)
	v.Key, v.ShortID, v.Status, v.Final = f.Key(), f.Run.ID, p.Status, p.Final
	return v
}

// seeRun views one run.
func seeRun(b *workspace.Workspace, round *loop.Stored, f loop.Found) Run {
	if b.Brief {
		if v, ok := findStoredView(b, round, f); ok {
			return v
		}
	}
	v := Run{Found: f}
	seen, err := b.Loop.Look(f)
	if err != nil {
		v.Key, v.Err = f.Key(), err
		return v
	}
	snap := seen.Snap
	v.snap = &seen.Snap
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

// addNotes adds to a view the problem notes of a run, those that are due, the outcomes of
// requests, and how often an answer was used.
func (v *Run) addNotes(lang string, seen loop.Seen) {
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

// since returns when a run came into its present state: the time of the open request, else of
// the last event, else of the last change of the state document.
func since(a engine.RunView, state engine.Document) time.Time {
	switch {
	case len(a.Open) > 0 && !a.Open[0].RequestedAt.IsZero():
		return a.Open[0].RequestedAt
	case len(a.Log) > 0 && !a.Log[len(a.Log)-1].At.IsZero():
		return a.Log[len(a.Log)-1].At
	}
	return state.Changed
}
