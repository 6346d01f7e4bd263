package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// RunnerOptions are what a [Runner] may be told; the zero value has defaults.
type RunnerOptions struct {
	// Now is the clock of recorded times; nil means the system's.
	Now func() time.Time
	Log *slog.Logger
	// Environ is the environment that commands get a scrubbed copy of; nil
	// means this process's own.
	Environ []string
	// Allow names further variables that may pass.
	Allow []string
	// Permit is asked once more when a command is about to begin, with the folder,
	// relative to the workspace, in which it will; its error becomes the reason why
	// it was not started. nil permits everything.
	Permit func(a engine.Action, dir string) error
	// Record remembers what is written; nil remembers nothing.
	Record store.Record
	// State is the state folder of the workspace, where commands under way are
	// recorded and have folders of their own; without one no command can begin.
	State *os.Root
	// Families say which documents are outcomes.
	Families []layout.Family
	// Told is called when it is known how an action without Outcome ended, after
	// [Runner.Ended] holds it; nil: nobody wants to know.
	Told func(id string)
	// Database carries out one action for a database and says how it ended. It is
	// called for one action at a time of each database's path. nil: there is no
	// database here, and every such action has failed.
	Database func(engine.Database) engine.Ended
	// Rested is told a database's path when nothing more waits for it, before the
	// end of the last action is told.
	Rested func(path string)
	// Grace is how long a command may take to end after SIGTERM; zero means
	// five seconds.
	Grace time.Duration
}

// Runner carries out actions and records how they ended. Its methods may be
// called from several goroutines.
type Runner struct {
	root  string
	store *store.Store
	o     RunnerOptions

	mu      sync.Mutex
	begun   map[string]bool     // every ID that began in this process
	alive   map[string]*attempt // those without a recorded outcome
	ended   ends
	queues  map[string][]*attempt // for each database at work what waits for it
	trouble map[string]string     // why a database could not be used the last time
	stopped bool
	leaving chan struct{} // closed when placet stops
	home    *os.Root      // the workspace, once it was opened
}

// attempt is an action under way.
type attempt struct {
	action engine.Action
	quit   chan struct{} // closed when it shall end
	once   sync.Once
	// revoked says that it shall end because nobody agrees to it any more.
	revoked atomic.Bool
	over    chan struct{} // closed when its outcome is recorded, or given up
}

func (t *attempt) end() { t.once.Do(func() { close(t.quit) }) }

// NewRunner returns a Runner for the workspace at root, which records outcomes
// through st.
func NewRunner(root string, st *store.Store, o RunnerOptions) *Runner {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Told == nil {
		o.Told = func(string) {}
	}
	if o.Database == nil {
		o.Database = func(engine.Database) engine.Ended {
			return engine.Ended{Result: failed, Reason: "this placet knows no databases"}
		}
	}
	if o.Rested == nil {
		o.Rested = func(string) {}
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	return &Runner{
		root: root, store: st, o: o,
		begun: map[string]bool{}, alive: map[string]*attempt{}, ended: ends{of: map[string]engine.Ended{}},
		queues: map[string][]*attempt{}, trouble: map[string]string{}, leaving: make(chan struct{}),
	}
}

// Begin starts an action whose attempt is already recorded, and returns at
// once. An action begins once per process, however often it is asked for.
//
// The end of one without Outcome is kept in memory until [Runner.End] is told that
// it is not wanted any more; see [Runner.Ended]. Those for one database are carried
// out one after the other, in the order in which they began.
//
// One whose attempt an earlier commit recorded ([engine.Action].Recorded) is
// never started: its outcome is "lost", unless this process began it or took
// it over. While placet stops, that is left to the next one.
func (r *Runner) Begin(a engine.Action) {
	t, stopping := r.take(a)
	switch {
	case t == nil:
	case stopping && (a.Recorded || a.Outcome == ""):
		r.drop(t)
	case a.Database != nil:
		r.queue(t)
	case a.Recorded:
		r.conclude(t, r.o.Now(), ending{word: lost, reason: "an earlier placet recorded the attempt, and nobody knows what became of it"})
	case stopping:
		defer r.drop(t)
		if err := r.write(a, r.o.Now(), refused(a)); err != nil {
			r.o.Log.Error("cannot record that a command was not started", "action", a.ID, "error", err)
		}
	default:
		if err := r.expect(a); err != nil {
			r.conclude(t, r.o.Now(), notStarted(err))
			return
		}
		go r.carryOut(t)
	}
}

// expect notes that this machine is about to find the outcome of an action out: what
// it did not write itself under that path from now on is no outcome.
func (r *Runner) expect(a engine.Action) error { return r.issue(a, nil) }

// issue records the content of an outcome that is about to be written.
func (r *Runner) issue(a engine.Action, body []byte) error {
	if a.Outcome == "" || r.o.Record == nil {
		return nil
	}
	for _, family := range r.o.Families {
		if run, ok := family.At(a.Outcome); ok {
			return r.o.Record.Issue(run.Dir, []engine.Document{{Path: a.Outcome, Kind: a.Kind, Body: body}})
		}
	}
	return nil
}

// Revoke ends the commands under way to which, as gone says, nobody agrees any more.
// Their outcome is "stopped" with that reason, or "revoked" without an outcome
// document.
func (r *Runner) Revoke(gone func(engine.Action) bool) {
	for _, t := range r.all() {
		if t.action.Database == nil && !t.revoked.Load() && gone(t.action) {
			t.revoked.Store(true)
			t.end()
			r.o.Log.Warn("ends a command: "+revokedReason, "action", t.action.ID)
		}
	}
}

// refused is the ending of an action that comes when placet is stopping. A
// check starts again unasked; about an agent a person must know.
func refused(a engine.Action) ending {
	if a.Outlives() {
		return notStarted(errors.New("placet was stopping"))
	}
	return ending{word: stopped}
}

// conclude records an ending that is known already. Where that cannot be done
// at once it is tried again beside.
func (r *Runner) conclude(t *attempt, from time.Time, e ending) {
	if t.action.Outcome == "" {
		r.tell(t, r.endedBy(t.action, from, e, nil))
		return
	}
	if err := r.write(t.action, from, e); err == nil {
		r.drop(t)
		return
	}
	go func() {
		defer r.drop(t)
		r.insist(t.action, from, e)
	}()
}

// take enters an action among those alive. It returns nil if it began before.
func (r *Runner) take(a engine.Action) (t *attempt, stopping bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun[a.ID] {
		return nil, false
	}
	r.begun[a.ID] = true
	r.ended.forget(a.ID) // it was stopped before this process, and begins again
	t = &attempt{action: a, quit: make(chan struct{}), over: make(chan struct{})}
	r.alive[a.ID] = t
	return t, r.stopped
}

// drop takes an attempt off those alive.
func (r *Runner) drop(t *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.alive, t.action.ID)
	close(t.over)
}

// Alive returns the IDs of the actions that are under way: from Begin until
// the outcome is recorded.
func (r *Runner) Alive() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make(map[string]bool, len(r.alive))
	for id := range r.alive {
		ids[id] = true
	}
	return ids
}

// End ends a command that nobody wants any more; its outcome is "stopped". An end
// that is kept in memory is forgotten. What is done to a database is done to its
// end; another ID that is not alive is ignored.
func (r *Runner) End(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended.forget(id)
	if t := r.alive[id]; t != nil {
		t.end()
	}
}

// Wait returns when no check and nothing for a database is under way, or with the context's error.
func (r *Runner) Wait(ctx context.Context) error { return r.waitFor(ctx, r.checks) }

// waitFor returns when there are no such attempts any more.
func (r *Runner) waitFor(ctx context.Context, some func() []*attempt) error {
	for {
		left := some()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-left[0].over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// all returns the attempts under way.
func (r *Runner) all() []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.alive))
}

// checks returns what is under way and ends with placet: commands, and what is done
// to databases.
func (r *Runner) checks() []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	var checks []*attempt
	for _, t := range r.alive {
		if !t.action.Outlives() {
			checks = append(checks, t)
		}
	}
	return checks
}

// Stop is the orderly stop: every check is asked to end and recorded as
// "stopped", agents are left running. What is being done to a database is done to
// its end; what waits for that is not done. Nothing begins afterwards. It returns
// when all that is recorded, or with the checks that are left when ctx ends.
func (r *Runner) Stop(ctx context.Context) error {
	r.mu.Lock()
	if !r.stopped {
		r.stopped = true
		close(r.leaving)
	}
	r.mu.Unlock()
	for _, t := range r.checks() {
		t.end()
	}
	// Agents too: one whose attempt is recorded must have been started before
	// placet ends. Once it runs it is left, so none is waited for long.
	if err := r.waitFor(ctx, r.all); err != nil {
		return fmt.Errorf("cannot stop %q in time: %w", r.names(r.all()), err)
	}
	return nil
}

func (r *Runner) names(attempts []*attempt) []string {
	var ids []string
	for _, t := range attempts {
		ids = append(ids, t.action.ID)
	}
	slices.Sort(ids)
	return ids
}

// open returns the workspace's folder. It stays the one that was there at first:
// what takes its name later is not placet's to write in.
func (r *Runner) open() (*os.Root, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.home == nil {
		root, err := os.OpenRoot(r.root)
		if err != nil {
			return nil, err
		}
		r.home = root
	}
	return r.home, nil
}

// abs is the absolute path of a folder of the workspace.
func (r *Runner) abs(dir string) string { return filepath.Join(r.root, filepath.FromSlash(dir)) }
