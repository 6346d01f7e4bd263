package asks

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/cmd/placet/announce"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/layout"
	"placet/schemas"
)

// Asks is a workspace opened to ask people. Its loop moves only the asks that [Asks.Find] has
// found. Its methods may be called concurrently.
type Asks struct {
	Workspace *workspace.Workspace
	asks      *foundRuns
	events    chan struct{}
	source    watch.Source // nil if the system gives no events
	passing   sync.Mutex   // held during a pass
	serves    atomic.Bool  // Serve makes the passes
	// KeepsWaiting makes Wait note files that have changed since they were asked about, and go
	// on.
	KeepsWaiting bool
	// Ephemeral says that the questions for which this process waits are worth nothing without it.
	Ephemeral bool

	mu      sync.Mutex
	changed chan struct{}        // closed when asks may have changed, then replaced
	trouble error                // of the last pass of Serve
	wanted  map[string]ask.Asked // questions of this process, by id
}

// foundRuns is the layout of a family that lists only some of its runs.
type foundRuns struct {
	layout.Family
	mu   sync.Mutex
	runs []layout.Run
}

// Runs implements [layout.Family].
func (l *foundRuns) Runs(layout.Lister) ([]layout.Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.runs), nil
}

// add lists a run, and reports whether it was not listed before.
func (l *foundRuns) add(run layout.Run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.runs, func(r layout.Run) bool { return r.ID == run.ID }) {
		return false
	}
	l.runs = append(l.runs, run)
	return true
}

// drop stops listing a run.
func (l *foundRuns) drop(run layout.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = slices.DeleteFunc(l.runs, func(r layout.Run) bool { return r.ID == run.ID })
}

// Open opens the workspace to ask people.
func Open(ctx context.Context, w *console.Env) (*Asks, error) {
	a := &Asks{asks: &foundRuns{}, events: make(chan struct{}, 1), changed: make(chan struct{}), wanted: map[string]ask.Asked{}}
	b, err := workspace.Open(w, workspace.Setup{Family: "ask", Live: true, Remembers: true, Attach: []func(*loop.Options){func(o *loop.Options) {
		for i := range o.Families {
			a.asks.Family, o.Families[i].Layout = o.Families[i].Layout, a.asks
		}
	}}})
	switch {
	case err != nil:
		return nil, err
	case len(b.Families) == 0:
		return nil, console.Usage("workspace.ask.off").Try("workspace.ask.enable")
	}
	a.Workspace = b
	go b.Changing.Poll(ctx, func() {})
	source, err := watch.Notify(watch.Sink{Event: func(watch.Event) { a.wake() }, Broken: func(error) { a.wake() }})
	if err == nil {
		a.source = source
		context.AfterFunc(ctx, func() { _ = source.Close() })
	}
	return a, nil
}

func (a *Asks) wake() {
	select {
	case a.events <- struct{}{}:
	default: // the last event is still unread
	}
}

// Named returns the ask that a word names: by its id, its run or its request, whole or
// shortened, with or without what was shown. "" names the only open one. A word that names none
// is an id, which need not exist.
func (a *Asks) Named(word string) (loop.Found, error) {
	name, _, err := view.CutDigest(word)
	if err != nil {
		return loop.Found{}, err
	}
	run, request, _ := strings.Cut(name, ":")
	all, err := a.all()
	if err != nil {
		return loop.Found{}, err
	}
	fit := view.FitsAsk(a.Workspace, all, run, request, ask.RequestID)
	if word == "" {
		fit = slices.DeleteFunc(all, func(f loop.Found) bool { return a.Workspace.Loop.Summarize(f).Status != ask.Open })
	}
	switch {
	case len(fit) == 1:
		return a.Find(fit[0].Run.ID)
	case len(fit) > 1:
		return loop.Found{}, view.FitsSeveral(word, "count.runs", fit, func(f loop.Found) string { return f.Key().String() }).Try("workspace.fits.unique")
	case word == "":
		return loop.Found{}, console.Usage("workspace.open.none", "workspace", a.Workspace.Root).Try("workspace.open.none.try")
	}
	return a.Find(run)
}

// all returns all asks of the workspace.
func (a *Asks) all() (all []loop.Found, err error) {
	runs, err := a.asks.Family.Runs(a.Workspace.Store.List)
	for _, run := range runs {
		all = append(all, loop.Found{Run: run, Family: a.Workspace.Families[0]})
	}
	return all, err
}

// Find returns the ask of an id, which need not exist.
func (a *Asks) Find(id string) (loop.Found, error) {
	run, ok := a.asks.At(path.Join(a.Workspace.Ask.Root, strings.TrimPrefix(id, "ask/"), "ask.json"))
	if !ok {
		return loop.Found{}, console.Usage("workspace.ask.id", "id", strconv.Quote(console.OneLine(id))).Try("workspace.asks.try")
	}
	if a.asks.add(run) && a.serves.Load() {
		a.wake()
	}
	return loop.Found{Run: run, Family: a.Workspace.Families[0]}, nil
}

// State returns the state of an ask as a pass would judge it. ok is false without a state that
// a waiting caller may see: see [StateOf] and [Asks.Refused].
func (a *Asks) State(f loop.Found) (st ask.State, ok bool) {
	if j := judgeAsk(a.Workspace, f); j.Begun && !j.Changed && a.differs(j.State).IsNone() {
		return j.State, true
	}
	return st, false
}

// StateOf returns the state of an ask, read only. ok is false if no state counts, or if the
// state is of another question than the one that was asked here: anybody may have written
// state.json, and it may belong to an earlier question.
func StateOf(b *workspace.Workspace, f loop.Found) (st ask.State, ok bool) {
	if j := judgeAsk(b, f); j.Begun && !j.Changed && differsFromRecord(b, j.State).IsNone() {
		return j.State, true
	}
	return st, false
}

func judgeAsk(b *workspace.Workspace, f loop.Found) ask.Judged {
	snap, err := b.SettledRun(f, false)
	if err != nil {
		return ask.Judged{}
	}
	return ask.Judge(snap)
}

// Pass makes one pass over the asks that were found. It does nothing in a git hook, while git
// rewrites the tree, and beside another placet, which makes the pass.
func (a *Asks) Pass(ctx context.Context) error {
	if a.Workspace.Env.InGitHook() {
		return nil
	}
	a.passing.Lock()
	defer a.passing.Unlock()
	unlock, err := a.Workspace.LockWorkspace()
	if errors.Is(err, fs.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	if _, held := a.Workspace.Store.Paused(); held {
		return nil
	}
	_, err = a.Workspace.Loop.Once(ctx)
	return err
}

// askPoll is how often an ask is read that causes no events.
const askPoll = 2 * time.Second

// Await waits until one of the asks that were found may have changed.
func (a *Asks) Await(ctx context.Context, states []ask.State) {
	runs, _ := a.asks.Runs(nil)
	for _, r := range runs {
		a.listen(foldersOf(r)...)
	}
	wait := askPoll
	for _, st := range states {
		for _, f := range st.Ask.Artifacts {
			a.listen(path.Dir(f.Path))
		}
		if at, err := time.Parse(time.RFC3339, st.Ask.Deadline); err == nil && !st.IsFinal() {
			wait = min(wait, max(at.Sub(a.Workspace.Env.Now()), 50*time.Millisecond))
		}
	}
	select {
	case <-ctx.Done():
	case <-a.events:
	case <-time.After(wait):
	}
}

// foldersOf returns the folders in which files of an ask change.
func foldersOf(r layout.Run) []string {
	return []string{r.Dir, path.Dir(layout.RequestPath(r.Dir, ask.RequestID(r.ID), "form.md"))}
}

// Serve makes passes over the found asks that are open, until the context is done. Callers wait
// for them by [Asks.Changed].
func (a *Asks) Serve(ctx context.Context) {
	a.serves.Store(true)
	announcer := announce.Asks(ctx, a.Workspace)
	defer announcer.Wait()
	waiting := a.newWaiters(false)
	defer waiting.end()
	for ctx.Err() == nil {
		waiting.serve(a.named())
		a.publish(a.Trouble()) // a daemon that holds the lock may have made the pass
		err := a.Pass(ctx)
		open := a.keepOpen(announcer)
		a.publish(err)
		if runs, _ := a.asks.Runs(nil); len(runs) > 0 {
			a.Await(ctx, open)
			continue
		}
		select {
		case <-ctx.Done():
		case <-a.events:
		}
	}
}

// named returns the asks that were found.
func (a *Asks) named() (found []loop.Found) {
	runs, _ := a.asks.Runs(nil)
	for _, r := range runs {
		found = append(found, loop.Found{Run: r, Family: a.Workspace.Families[0]})
	}
	return found
}

// keepOpen drops the asks that have ended, and returns the others. It reports both to the
// announcer.
func (a *Asks) keepOpen(people *announce.AskAnnouncer) (open []ask.State) {
	runs, _ := a.asks.Runs(nil)
	for _, r := range runs {
		f := loop.Found{Run: r, Family: a.Workspace.Families[0]}
		st, begun := a.State(f)
		if begun {
			people.Asked([]loop.Found{f}, []ask.State{st})
		}
		if !st.IsFinal() && (begun || a.IsAsked(f)) {
			open = append(open, st)
			continue
		}
		a.asks.drop(r)
		for _, dir := range foldersOf(r) {
			if a.source != nil {
				_ = a.source.Remove(filepath.Join(a.Workspace.Root, filepath.FromSlash(dir))) // it may not have been watched
			}
		}
	}
	return open
}

// publish tells all waiting callers that asks may have changed.
func (a *Asks) publish(trouble error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.changed)
	a.changed, a.trouble = make(chan struct{}), trouble
}

// Changed returns a channel that is closed when asks may have changed. A caller must get it
// before it reads an ask.
func (a *Asks) Changed() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

// Trouble returns the error that stopped the last pass of Serve, or nil.
func (a *Asks) Trouble() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trouble
}

func (a *Asks) listen(dirs ...string) {
	for _, dir := range dirs {
		if a.source != nil {
			_ = a.source.Add(filepath.Join(a.Workspace.Root, filepath.FromSlash(dir))) // it is polled all the same
		}
	}
}

// CountOpen counts the open asks, up to most.
func (a *Asks) CountOpen(most int) (open int) {
	all, err := a.asks.Family.Runs(a.Workspace.Store.List)
	if err != nil || len(all) < most {
		return len(all)
	}
	for _, run := range all {
		if open == most {
			break
		}
		if a.Workspace.Loop.Summarize(loop.Found{Run: run, Family: a.Workspace.Families[0]}).Status == ask.Open {
			open++
		}
	}
	return open
}

// Create writes a document of an ask that must not exist. created is false if another one does.
func (a *Asks) Create(f loop.Found, name string, body []byte) (created bool, err error) {
	kind, _ := layout.Ask{}.File(f.Run, name)
	defer a.wake()
	defer a.asks.add(f.Run)
	err = a.Workspace.Store.Write(engine.Document{Path: path.Join(f.Run.Dir, name), Kind: kind.Kind, Body: body})
	if errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// IsAsked reports whether an id has a question.
func (a *Asks) IsAsked(f loop.Found) bool { return a.Workspace.Store.Exists(f.Run.Dir + "/ask.json") }

// Refused returns the reason why a question is not asked, nil if it is or will be.
func (a *Asks) Refused(f loop.Found) error {
	switch j := judgeAsk(a.Workspace, f); {
	case j.Begun:
		d := a.differs(j.State)
		if j.Changed && d.IsNone() {
			d = ask.AnotherQuestion
		}
		if d.IsNone() {
			return nil
		}
		return a.unlike(f, j.State.Ask, d)
	case !a.IsAsked(f):
		return console.Refused("workspace.ask.gone", "ask", console.Brief(f.Key()))
	}
	for _, n := range view.Of(a.Workspace, f).Notes {
		if path.Base(n.Path) == "ask.json.problem.md" {
			return console.Refused("workspace.ask.refused", "ask", console.Brief(f.Key()), "why", n.Text)
		}
	}
	return nil
}

// TakeBack takes back a question that was asked and has no answer.
func (a *Asks) TakeBack(ctx context.Context, f loop.Found, w ask.Withdraw) error {
	switch st, begun := a.State(f); {
	case w.Reason == "":
		return console.Usage("workspace.withdraw.reason", "ask", console.Brief(f.Key())).Try("workspace.withdraw.reason.try")
	case st.IsFinal():
		return console.Refused("workspace.withdraw.final", "ask", console.Brief(f.Key()), "status", st.Status)
	case !begun && !a.IsAsked(f):
		return console.Usage("workspace.ask.none", "id", strconv.Quote(f.Run.ID)).Try("workspace.asks.try")
	}
	return a.Withdraw(ctx, f, w)
}

// awaitEnd waits, for five seconds, until an ask that was taken back has ended.
func (a *Asks) awaitEnd(ctx context.Context, f loop.Found) (st ask.State) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for st, _ = a.State(f); !st.IsFinal() && ctx.Err() == nil; st, _ = a.State(f) {
		a.Await(ctx, nil)
		_ = a.Pass(ctx) // the state has the outcome
	}
	return st
}

// Withdraw takes a question back, in favour of another ask if one is named.
func (a *Asks) Withdraw(ctx context.Context, f loop.Found, w ask.Withdraw) error {
	name := console.Brief(f.Key())
	body, err := schemas.Encode(w)
	if err = cmp.Or(err, schemas.Decode("ask/withdraw", "withdraw.json", body, &w)); err != nil {
		return console.Usage("workspace.withdraw", "ask", name, "error", err)
	}
	switch created, err := a.Create(f, "withdraw.json", body); {
	case err != nil:
		return console.Refused("workspace.withdraw", "ask", name, "error", err)
	case !created:
		return console.Refused("workspace.withdraw.there", "ask", name, "path", f.Run.Dir+"/withdraw.json").Try("say.text", "text", console.Typed("show --why", name))
	}
	return a.Pass(ctx)
}
