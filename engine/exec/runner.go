package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
	"placet/templates"
)

// RunnerOptions configure a [Runner]; the zero value has defaults.
type RunnerOptions struct {
	// Now is the clock of recorded times; nil means the system's.
	Now func() time.Time
	Log *slog.Logger
	// Environ is the environment of which commands get a scrubbed copy; nil
	// means this process's own.
	Environ []string
	// Allow names further variables that commands get.
	Allow []string
	// Permit is called once more just before a command starts, with the folder in
	// which it will run, relative to the workspace. Its error becomes the reason
	// why the command was not started. nil permits everything.
	Permit func(a engine.Action, dir string) error
	// Record records what is written; nil records nothing.
	Record store.Record
	// State is the state folder of the workspace, where running commands are
	// recorded and have their own folders; without it no command can begin.
	State *os.Root
	// Families say which documents are outcomes.
	Families []layout.Family
	// OnEnd is called after [Runner.Ended] holds the end of an action without
	// Outcome. It may be nil.
	OnEnd func(id string)
	// Database carries out one action for a database and says how it ended. It is
	// called for one action at a time for each database path. If it is nil, every
	// such action fails.
	Database func(engine.Database) engine.Ended
	// OnIdle is called with a database's path when no action waits for it any more,
	// before the end of the last action is published.
	OnIdle func(path string)
	// Send carries out one send and says how it ended. It returns soon after its
	// context ends. If it is nil, every send is not_started.
	Send func(context.Context, engine.Send) engine.Sent
	// Grace is how long a command may take to end after SIGTERM; zero means
	// five seconds.
	Grace time.Duration
}

// Runner carries out actions and records how they ended. Its methods may be called
// from several goroutines.
type Runner struct {
	root  string
	store *store.Store
	o     RunnerOptions

	mu      sync.Mutex
	begun   map[string]bool         // every ID that began in this process
	alive   map[string]*attempt     // those without a recorded outcome
	ended   map[string]engine.Ended // replaced, never changed, because callers of Ended share it
	queues  map[string]*queue       // by the path of a database
	stopped bool
	leaving chan struct{} // closed when placet stops
	home    *os.Root      // the workspace, after it was first opened
}

// NewRunner returns a Runner for the workspace at root, which records outcomes
// through st.
func NewRunner(root string, st *store.Store, o RunnerOptions) *Runner {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnEnd == nil {
		o.OnEnd = func(string) {}
	}
	if o.Database == nil {
		o.Database = func(engine.Database) engine.Ended {
			return engine.Ended{Result: failed, Reason: "this placet knows no databases"}
		}
	}
	if o.OnIdle == nil {
		o.OnIdle = func(string) {}
	}
	if o.Send == nil {
		o.Send = func(context.Context, engine.Send) engine.Sent {
			return engine.Sent{Outcome: engine.SendNotStarted, Reason: "this placet sends nothing"}
		}
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	return &Runner{
		root: root, store: st, o: o, begun: map[string]bool{}, alive: map[string]*attempt{},
		ended: map[string]engine.Ended{}, queues: map[string]*queue{}, leaving: make(chan struct{}),
	}
}

// lostReason is why an outcome is "lost".
const lostReason = "an earlier placet recorded the attempt, and nobody knows what became of it"

// Begin starts an action whose attempt is already recorded, and returns at once. An
// action begins once per process, however often Begin is called for it.
//
// Begin keeps the end of an action without Outcome in memory until [Runner.End] is
// called for it; see [Runner.Ended]. The actions for one database run one after the
// other, in the order in which they began.
//
// An action whose attempt an earlier commit recorded ([engine.Action].Recorded) is
// never started: its outcome is "lost", unless this process began it or took it
// over. While placet stops, Begin leaves that to the next placet.
func (r *Runner) Begin(a engine.Action) {
	t, stopping := r.register(a)
	switch {
	case t == nil:
	case stopping && (a.Recorded || a.Outcome == ""):
		r.release(t)
	case a.Database != nil:
		r.enqueue(t)
	case a.Send != nil:
		beginSend(r, t, stopping)
	case a.Recorded:
		r.conclude(t, r.o.Now(), exitResult{word: lost, reason: lostReason})
	case stopping && a.Outlives(): // an agent's loss concerns people
		r.conclude(t, r.o.Now(), notStarted(errors.New("placet was stopping")))
	case stopping: // a check starts again unasked
		r.conclude(t, r.o.Now(), exitResult{word: stopped})
	default:
		if err := r.issue(a, nil); err != nil {
			r.conclude(t, r.o.Now(), notStarted(err))
			return
		}
		go r.execute(t)
	}
}

// Revoke ends the running commands to which nobody agrees any more, according to
// gone. Their outcome is "stopped" with that reason, or "revoked" without an outcome
// document.
func (r *Runner) Revoke(gone func(engine.Action) bool) {
	for _, t := range r.attempts(all) {
		if t.action.IsCommand() && !t.revoked.Load() && gone(t.action) {
			t.revoked.Store(true)
			t.end()
			r.o.Log.Warn("ends a command: "+revokedReason, "action", t.action.ID)
		}
	}
}

// Alive returns the IDs of the actions under way: from Begin until the outcome
// is recorded.
func (r *Runner) Alive() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make(map[string]bool, len(r.alive))
	for id := range r.alive {
		ids[id] = true
	}
	return ids
}

// Ended returns how the actions without Outcome ended, until [Runner.End]
// forgets them. An action appears here before it stops being alive. The map is
// shared: callers must change neither it nor the bytes in it.
func (r *Runner) Ended() map[string]engine.Ended {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// setEnded keeps how an action ended.
func (r *Runner) setEnded(id string, e engine.Ended) {
	r.ended = maps.Clone(r.ended)
	r.ended[id] = e
}

// forget removes the end of an action.
func (r *Runner) forget(id string) {
	if _, known := r.ended[id]; known {
		r.ended = maps.Clone(r.ended)
		delete(r.ended, id)
	}
}

// End ends a command that nobody wants any more; its outcome is "stopped". It
// forgets an end that is kept in memory. It does not interrupt an action for a
// database, and ignores any other ID that is not alive.
func (r *Runner) End(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(id)
	if t := r.alive[id]; t != nil {
		t.end()
	}
}

// all and endsWithPlacet choose attempts: all chooses every one, endsWithPlacet
// the commands that end with placet, the actions for databases and the sends.
func all(*attempt) bool              { return true }
func endsWithPlacet(t *attempt) bool { return !t.action.Outlives() }

// attempts returns the chosen attempts under way, sorted by ID.
func (r *Runner) attempts(choose func(*attempt) bool) (chosen []*attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.alive)) {
		if t := r.alive[id]; choose(t) {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// Wait returns when no check, no action for a database and no send is under way, or
// with the context's error.
func (r *Runner) Wait(ctx context.Context) error { return r.waitFor(ctx, endsWithPlacet) }

// WaitAll is Wait for agents, too.
func (r *Runner) WaitAll(ctx context.Context) error { return r.waitFor(ctx, all) }

// waitFor returns when no chosen attempt is under way any more.
func (r *Runner) waitFor(ctx context.Context, choose func(*attempt) bool) error {
	for left := r.attempts(choose); len(left) > 0; left = r.attempts(choose) {
		select {
		case <-left[0].over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Stop is the orderly stop: it asks every check to end and records it as "stopped",
// and leaves agents running. It lets the running action of a database finish and does
// not start those that wait. A send has ten seconds to end, then its context is
// canceled. Nothing begins afterwards. Stop returns when all that is recorded, or
// with the actions that are left when ctx ends.
func (r *Runner) Stop(ctx context.Context) error {
	r.mu.Lock()
	if !r.stopped {
		r.stopped = true
		close(r.leaving)
	}
	r.mu.Unlock()
	for _, t := range r.attempts(endsWithPlacet) {
		t.end()
	}
	// Stop waits for agents too: one whose attempt is recorded must have been
	// started before placet ends. A started agent is left running, so the wait
	// is short.
	if err := r.waitFor(ctx, all); err != nil {
		var ids []string
		for _, t := range r.attempts(all) {
			ids = append(ids, t.action.ID)
		}
		return templates.Errorf("exec.stop", "ids", fmt.Sprintf("%q", ids), "error", err)
	}
	return nil
}
