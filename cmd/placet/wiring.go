package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/afl"
	"placet/engine/exec"
	"placet/engine/faber"
	"placet/engine/optimizer"
	"placet/engine/recall"
	"placet/engine/reconcile"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/layout"
)

// bench is one workspace with everything set up to look at its runs: the only
// place where families, store and loop meet.
type bench struct {
	w    *world
	root string
	settings
	store *store.Store
	// stateDir is nil where there is none; stateless says why, nil where none was
	// to be made yet.
	stateDir  *statedir.Dir
	stateless error
	families  []reconcile.Family
	loop      *reconcile.Loop
	// journals says that a look takes in all of a run's journals, not their
	// ends alone.
	journals bool
	// brief says that views may be those of an earlier placet, which hold no
	// more than status, inbox and check show.
	brief bool
	// waitsForHeld says that views wait for files that may be half of a write.
	waitsForHeld bool
	// unlisted says that a folder in which runs may lie cannot be listed.
	unlisted bool
	// heldUpRuns is what heldUp returns.
	heldUpRuns map[string]string
	heldUpOnce sync.Once
	changing   *live // nil: the settings never change
	// alive returns the IDs of the commands under way.
	alive func() map[string]bool
	// ended returns how actions without an outcome document ended; nobody knows of
	// any but who carries them out.
	ended func() map[string]engine.Ended
	// checks counts what was begun that ends with placet.
	checks atomic.Int64
}

// setup says what a bench does besides looking.
type setup struct {
	log   *slog.Logger
	moved func(layout.Run, engine.Transition)
	// refused says which answers do not count; nil says nothing.
	refused *refusalLog
	// metrics count what the loop does; nil counts nothing.
	metrics *metrics
	// runner carries out commands; nil for a bench that only looks.
	runner func(*bench) *exec.Runner
	// recall has runs recalled from an earlier look.
	recall bool
	// remembers says that the state folder is waited for while the machine is in trouble:
	// what is written without it passes for somebody else's later.
	remembers bool
	// live reads the settings again when they change.
	live bool
	// noCommands takes the commands out of the settings, so that no attempt is
	// recorded which nobody would begin.
	noCommands bool
	// tryNow has what the audit database does not have yet tried at once, not
	// when its time comes.
	tryNow bool
	// only is the one family that is served, "" for all.
	only string
}

// garbage is how much a verb that looks and ends may leave lying, in percent of
// what it uses: collecting it at the usual pace costs half as much as looking.
// Above garbageLimit bytes it is collected all the same.
const (
	garbage      = 800
	garbageLimit = 256 << 20
)

// look opens the workspace to look at it. A folder without a mark is one only where
// there are runs.
func (w *world) look() (*bench, error) {
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(garbageLimit)
	b, err := w.open(setup{recall: true})
	if err != nil || isMarked(b.root) {
		return b, err
	}
	if found, err := b.loop.Runs(); err == nil && len(found) == 0 {
		return nil, noWorkspace(w.flags.workspace, b.root)
	}
	return b, nil
}

// open finds the workspace, reads the settings and sets everything up.
func (w *world) open(s setup) (*bench, error) {
	root, err := w.root()
	if err != nil {
		return nil, err
	}
	conf, err := load(w.sources(root))
	if err != nil {
		return nil, err
	}
	state, err := w.stateDir(root, s.runner != nil)
	if s.remembers && reconcile.OfMachine(err) {
		return nil, fmt.Errorf("%w (XDG_STATE_HOME can name another place)", err)
	}
	b := w.bench(root, conf, s, state)
	b.stateless = err
	return b, nil
}

// bench sets everything up over a state folder, nil for none.
func (w *world) bench(root string, conf settings, s setup, state *statedir.Dir) *bench {
	if s.log == nil {
		s.log = slog.New(newSpeech(w.err, slog.LevelWarn))
	}
	if s.noCommands {
		conf = conf.still()
	}
	if s.tryNow {
		conf.Optimizer.TryNow = w.now()
	}
	b := &bench{w: w, root: root, settings: conf, stateDir: state}
	b.onlyLooks()
	if s.live {
		b.changing = newLive(w.sources(root), conf, s.log, w.now)
	}
	workers, waiting, files := sideBySide()
	b.store = store.New(store.OS(root), store.Options{Now: w.now, Log: s.log, Parallel: files, Record: b.record()})
	if b.changing != nil {
		b.changing.away = b.store.Away
	}
	b.families = served(conf, s.only)
	options := reconcile.Options{
		Store: b.store, Families: b.families, Lookup: exec.Git(root),
		Facts: func(family string) engine.Facts {
			facts := b.facts(family)
			// In this order: what ends between the two is not missed.
			facts.Alive, facts.Ended = b.alive(), b.ended()
			for id := range facts.Alive {
				if _, over := facts.Ended[id]; over {
					delete(facts.Alive, id)
				}
			}
			return facts
		},
		Begin: func(engine.Action) {}, Workers: workers, Waiting: waiting, Now: w.now, Log: s.log, Moved: s.moved,
	}
	if who, ok := mark(); ok && s.recall && b.stateDir != nil {
		options.Recall = recall.Open(b.store, b.stateDir, who)
	}
	if b.changing != nil {
		options.Changed = b.changing.news
	}
	if s.runner != nil {
		runner := s.runner(b)
		options.End = runner.End
		options.Begin = func(a engine.Action) {
			if !a.Outlives() {
				b.checks.Add(1)
			}
			runner.Begin(a)
		}
		b.alive, b.ended = runner.Alive, runner.Ended
	}
	if s.refused != nil {
		options.Committed = s.refused.committed
	}
	if s.metrics != nil {
		s.metrics.attach(&options)
	}
	b.loop = reconcile.New(options)
	return b
}

// record is where the store remembers what it writes; nil without a state folder.
func (b *bench) record() store.Record {
	if b.stateDir == nil {
		return nil
	}
	return b.stateDir
}

// layouts are those of the families that are served.
func (b *bench) layouts() []layout.Family {
	var all []layout.Family
	for _, f := range b.families {
		all = append(all, f.Layout)
	}
	return all
}

// stateRoot is the state folder as a place for files, nil where there is none.
func (b *bench) stateRoot() *os.Root {
	if b.stateDir == nil {
		return nil
	}
	return b.stateDir.Root()
}

// served are the families that the settings enable, or only one of them.
func served(conf settings, only string) []reconcile.Family {
	var list []reconcile.Family
	add := func(enabled bool, l layout.Family, m engine.Machine) {
		if enabled && (only == "" || only == m.Family()) {
			list = append(list, reconcile.Family{Layout: l, Machine: m})
		}
	}
	add(conf.Faber.Enabled, layout.Faber{Folders: conf.Faber.Roots}, faber.New())
	add(conf.Afl.Enabled, layout.AFL{}, afl.New())
	add(conf.Optimizer.Enabled, layout.Optimizer{Folders: conf.Optimizer.Roots}, optimizer.New())
	return list
}

// current are the settings that hold at this moment.
func (b *bench) current() settings {
	if b.changing != nil {
		return b.changing.get()
	}
	return b.settings
}

// facts are what the machines learn besides documents and what is alive.
func (b *bench) facts(family string) engine.Facts {
	s := b.current()
	config := engine.Config{Language: s.Language, Gates: s.gates(), GatesSince: s.agreed.gatesSince()}
	own := ""
	switch family {
	case "faber":
		config.Family, own = s.Faber, s.Faber.Language
	case "afl":
		config.Family, own = s.Afl, s.Afl.Language
	case "optimizer":
		s.Optimizer.TryNow = b.settings.Optimizer.TryNow // no file says it
		config.Family, own = s.Optimizer, s.Optimizer.Language
	}
	config.Language = cmp.Or(own, config.Language)
	return engine.Facts{Config: config, Trusted: s.trusted}
}

// onlyLooks has the bench ask the disk what is under way: another placet may
// carry commands out.
func (b *bench) onlyLooks() {
	b.alive = func() map[string]bool { return exec.Alive(b.stateRoot()) }
	b.ended = func() map[string]engine.Ended { return exec.Stopped(b.stateRoot()) }
}

// commandDigest is what trust in an action's command is recorded under. ok is
// false where the command is not the one that the attempt was recorded with.
func commandDigest(a engine.Action) (digest engine.Digest, ok bool) {
	switch family, _, _ := strings.Cut(a.ID, "/"); family {
	case "afl":
		return afl.CommandDigest(a)
	case "optimizer":
		return optimizer.CommandDigest(a.Command.Argv), true
	}
	return faber.CommandDigest(a.Command.Argv), true
}

// serves reports whether a word is the name of a family that is enabled.
func (b *bench) serves(family string) bool {
	for _, f := range b.families {
		if f.Layout.Name() == family {
			return true
		}
	}
	return false
}

// lockFile is the daemon's lock, relative to the workspace.
const lockFile = ".placet/lock"

// daemonRuns reports whether a daemon holds the workspace. It asks for a
// shared lock and gives it back at once, and creates nothing.
func daemonRuns(root string) bool {
	if info, err := os.Lstat(filepath.Join(root, store.PrivateDir)); err != nil || !info.IsDir() {
		return false // a link leads to the lock of another workspace
	}
	f, err := os.OpenFile(filepath.Join(root, lockFile), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// lockTries and lockPause bound how long a lock that is held is asked for
// again: a verb that asks whether a daemon runs holds it for a moment.
const (
	lockTries = 4
	lockPause = 50 * time.Millisecond
)

// lockWorkspace takes the daemon's lock. The error is store.ErrBusy where
// another placet works here.
func (b *bench) lockWorkspace() (unlock func(), err error) {
	err = whileBusy(func() (err error) {
		unlock, err = b.store.LockWorkspace()
		return err
	})
	if err != nil && !errors.Is(err, store.ErrBusy) {
		return nil, fmt.Errorf("cannot lock the workspace %q: %w", b.root, err)
	}
	return unlock, err
}

// whileBusy tries to take a lock again while it is held, a few times.
func whileBusy(try func() error) (err error) {
	for range lockTries {
		if err = try(); !errors.Is(err, store.ErrBusy) {
			break
		}
		time.Sleep(lockPause)
	}
	return err
}

// keepLock looks once a second whether the lock of the workspace still has its name:
// whatever cleans the folder takes it, and a second daemon could begin. Where one has,
// end is called with the reason.
func (b *bench) keepLock(ctx context.Context, log *slog.Logger, end context.CancelCauseFunc) {
	said := ""
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var anew bool
		err := whileBusy(func() (err error) {
			anew, err = b.store.KeepWorkspace()
			return err
		})
		switch {
		case errors.Is(err, store.ErrBusy):
			end(refused("cannot go on: %s was removed, and another placet serves %q by now", lockFile, b.root))
			return
		case err != nil && err.Error() != said:
			log.Warn("the lock of the workspace is gone and cannot be taken anew; trying again", "err", err)
		case anew:
			log.Warn("the lock of the workspace was removed; it is taken anew", "path", lockFile)
		}
		if said = ""; err != nil {
			said = err.Error()
		}
	}
}
