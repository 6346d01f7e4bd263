// Package workspace opens a workspace: it finds the settings that count, and sets up store,
// loop and runner over the families that are served. What is seen of runs, how answers are
// given and how people are asked stand in packages above it.
package workspace

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine"
	"placet/engine/exec"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/send"
	"placet/engine/sqlite"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Permit refuses a command that the owner of the workspace does not, or no longer,
// agree to with the files that it names in the folder where it is about to run.
func (b *Workspace) Permit(a engine.Action, dir string) error {
	now, away := b.Settings, ""
	if b.Changing != nil {
		now, away = b.Changing.Fresh(), b.Changing.Away()
	}
	digest, ok := config.CommandDigest(a)
	switch {
	case away != "":
		return errors.New(away)
	case !ok:
		return templates.Errorf("workspace.permit.other")
	case digest == "":
		return templates.Errorf("workspace.permit.text")
	}
	// The files are read once more, whatever their times say.
	if files := exec.NewContents(b.Root).WithEnv(b.Env.Getenv).Of(dir, a.Command.Argv); !now.Allowed[config.Seal(digest, files)] {
		return templates.Errorf("workspace.permit.untrusted")
	}
	return nil
}

// Workspace is one workspace with everything set up to look at its runs: the only
// place where families, store and loop meet.
type Workspace struct {
	Env  *console.Env
	Root string
	config.Settings
	Store *store.Store
	// StateDir is nil where there is none; stateless says why, nil where none was
	// to be made yet.
	StateDir  *statedir.Dir
	Stateless error
	// References name what people are shown.
	References statedir.References
	Families   []loop.Family
	Loop       *loop.Loop
	// tryNow is when what waits for a time is tried at once, zero for never.
	tryNow time.Time
	// Journals says that a look takes in all of a run's journals, not their
	// ends alone.
	Journals bool
	// Brief says that views may be those of an earlier placet, which hold no
	// more than status, inbox and check show.
	Brief bool
	// WaitsForHeld says that views wait for files that may be half of a write.
	WaitsForHeld bool
	// Unlisted says that a folder in which runs may lie cannot be listed.
	Unlisted bool
	// heldUpRuns is what heldUp returns.
	heldUpRuns map[string]string
	heldUpOnce sync.Once
	Changing   *config.Live // nil: the settings never change
	// Runner carries out commands; nil where they are not carried out here.
	Runner *exec.Runner
	// alive returns the IDs of the commands under way.
	alive func() map[string]bool
	// ended returns how actions without an outcome document ended; nobody knows of
	// any but who carries them out.
	ended func() map[string]engine.Ended
	// ChecksBegun counts what was begun that ends with placet.
	ChecksBegun atomic.Int64
	// who is for whom documents are written, as a gate knows it; "" is the owner of this
	// process. source is the surface that writes them; "" is the command line.
	who, source string
}

// Viewer is the same workspace for one call of a surface: what it notes of its own looks is
// seen by no other. It writes for who calls; the zero Identity is the owner of this process,
// at the command line.
func (b *Workspace) Viewer(who facade.Identity) *Workspace {
	quiet := *b.Env
	quiet.Out, quiet.Err, quiet.Colour = io.Discard, io.Discard, false
	return &Workspace{
		Env: &quiet, Root: b.Root, Settings: b.Current(), Store: b.Store, StateDir: b.StateDir, Stateless: b.Stateless, References: b.References,
		Families: b.Families, Loop: b.Loop, Changing: b.Changing, Runner: b.Runner, alive: b.alive, ended: b.ended,
		who: who.Known, source: who.Source,
	}
}

// Whole is the same workspace with all its families, to look at. It shares the store: two of
// one process would take each other's temporary files for those of a crash.
func (b *Workspace) Whole() *Workspace {
	w := b.Viewer(facade.Identity{})
	w.Env, w.Families = b.Env, served(b.Settings, "")
	workers, waiting, _ := sideBySide()
	w.Loop = loop.New(loopOptions(w, Setup{Log: slog.New(console.NewLogHandler(b.Env.Err, slog.LevelWarn))}, workers, waiting))
	return w
}

// Setup says what a workspace is opened for besides looking.
type Setup struct {
	Log   *slog.Logger
	Moved func(layout.Run, engine.Transition)
	// Attach adds to what the loop reports, and to whom.
	Attach []func(*loop.Options)
	// Acts has commands carried out, and what belongs into databases.
	Acts bool
	// Cached has runs taken as an earlier placet has stored them.
	Cached bool
	// Remembers says that the state folder is waited for while the machine is in trouble:
	// what is written without it passes for somebody else's later.
	Remembers bool
	// Live reads the settings again when they change.
	Live bool
	// NoCommands takes the commands out of the settings, so that no attempt is
	// recorded which nobody would begin.
	NoCommands bool
	// TryNow has what the audit database does not have yet tried at once, not
	// when its time comes.
	TryNow bool
	// Family is the one family that is served, "" for all.
	Family string
}

// Look opens the workspace to look at it. A folder without a mark is one only where
// there are runs.
func Look(w *console.Env) (*Workspace, error) {
	if w.CollectLater != nil {
		w.CollectLater()
	}
	b, err := Open(w, Setup{Cached: true})
	if err != nil || config.IsWorkspace(w.StateHome(), b.Root) {
		return b, err
	}
	if found, err := b.Loop.Runs(); err == nil && len(found) == 0 {
		return nil, config.NoWorkspace(w.Flags.Workspace, b.Root)
	}
	return b, nil
}

// Open finds the workspace, reads the settings and sets everything up.
func Open(w *console.Env, s Setup) (*Workspace, error) {
	root, err := config.FindRoot(w)
	if err != nil {
		return nil, err
	}
	conf, err := config.Load(config.SourcesOf(w, root))
	if err != nil {
		return nil, err
	}
	w.Lang = conf.Language
	state, err := config.StateDir(w, root, s.Acts || s.Remembers)
	if s.Remembers && loop.OfMachine(err) {
		return nil, templates.Errorf("workspace.statehome", "error", err)
	}
	b := New(w, root, conf, s, state)
	b.Stateless = err
	return b, nil
}

// New sets everything up over a state folder, nil for none.
func New(w *console.Env, root string, conf config.Settings, s Setup, state *statedir.Dir) *Workspace {
	commandLog := s.Log
	if s.Log == nil {
		s.Log = slog.New(console.NewLogHandler(w.Err, slog.LevelWarn))
	}
	if s.NoCommands {
		conf = conf.ReadOnly()
	}
	b := &Workspace{Env: w, Root: root, Settings: conf, StateDir: state}
	if state != nil {
		b.References, _ = state.References() // without a key the whole digests name things
	}
	if s.TryNow {
		b.tryNow = w.Now()
	}
	b.OnlyLooks()
	if s.Live {
		b.Changing = config.NewLive(config.SourcesOf(w, root), conf, s.Log, w.Now)
	}
	workers, waiting, files := sideBySide()
	b.Store = store.New(fs.OS(root), store.Options{Now: w.Now, Log: s.Log, Parallel: files, Record: b.Record()})
	if b.Changing != nil {
		b.Changing.Away = b.Store.Away
	}
	b.Families = served(conf, s.Family)
	if s.Acts {
		b.Runner = newRunner(b, commandLog)
	}
	b.Loop = loop.New(loopOptions(b, s, workers, waiting))
	return b
}

// loopOptions are what the loop works with.
func loopOptions(b *Workspace, s Setup, workers, waiting int) loop.Options {
	o := loop.Options{
		Store: b.Store, Families: b.Families, Lookup: exec.Git(b.Root, b.Env.Environ), Facts: func(family string) engine.Environment { return factsNow(b, family) },
		Begin: func(engine.Action) {}, Workers: workers, Waiting: waiting, Now: b.Env.Now, Log: s.Log, Observers: loop.Observers{{Moved: s.Moved}},
	}
	if who, ok := mark(); ok && s.Cached && b.StateDir != nil {
		o.Cache = statcache.Open(b.StateDir, who, b.Store.DiskNow)
	}
	if b.Changing != nil {
		o.Changed = b.Changing.News
	}
	for _, f := range family.All {
		if f.ProgressHz != nil && b.Serves(f.Name) {
			o.ProgressHz = max(o.ProgressHz, f.ProgressHz(&b.Settings.File.Settings))
		}
	}
	if b.Runner != nil {
		o.End = b.Runner.End
		o.Begin = func(a engine.Action) {
			if !a.Outlives() {
				b.ChecksBegun.Add(1)
			}
			b.Runner.Begin(a)
		}
		b.alive, b.ended = b.Runner.Alive, b.Runner.Ended
	}
	for _, attach := range s.Attach {
		attach(&o)
	}
	return o
}

// newRunner carries out the actions of a workspace. It asks once more, when a
// command is about to begin, whether its owner still agrees to it.
func newRunner(b *Workspace, log *slog.Logger) *exec.Runner {
	databases := sqlite.New(b.Root)
	return exec.NewRunner(b.Root, b.Store, exec.RunnerOptions{
		State: b.StateRoot(), Families: layouts(b), Database: databases.Do, OnIdle: databases.Release,
		Send: b.Sender().Send,
		Now:  b.Env.Now, Log: log, Environ: b.Env.Environ, Allow: b.Commands.Env,
		Permit: b.Permit, Record: b.Record(),
		OnEnd: func(id string) { b.Loop.ActionEnded(id) },
	})
}

// Sender gives things to people outside this machine, and reads the secrets for that.
func (b *Workspace) Sender() *send.Sender { return send.New(b.Root, b.Env.Getenv) }

// Record is where the store remembers what it writes; nil without a state folder.
func (b *Workspace) Record() store.Record {
	if b.StateDir == nil {
		return nil
	}
	return b.StateDir
}

// layouts are those of the families that are served.
func layouts(b *Workspace) []layout.Family {
	var all []layout.Family
	for _, f := range b.Families {
		all = append(all, f.Layout)
	}
	return all
}

// StateRoot is the state folder as a place for files, nil where there is none.
func (b *Workspace) StateRoot() *os.Root {
	if b.StateDir == nil {
		return nil
	}
	return b.StateDir.Root()
}

// served are the families that the settings enable, or only one of them.
func served(conf config.Settings, only string) (list []loop.Family) {
	for _, f := range family.All {
		if s := &conf.File.Settings; f.Enabled(s) && (only == "" || only == f.Name) {
			list = append(list, loop.Family{Layout: f.Layout(s), Machine: f.Machine()})
		}
	}
	return list
}

// Current are the settings that hold at this moment.
func (b *Workspace) Current() config.Settings {
	if b.Changing != nil {
		return b.Changing.Get()
	}
	return b.Settings
}

// Environment are what the machines of a family learn besides documents and what is alive.
func (b *Workspace) Environment(name string) engine.Environment {
	s := b.Current()
	conf := engine.Config{Language: s.Language, Gates: s.MachineGates(), GatesSince: s.Agreed.GatesSince(), Slack: s.Slack.Machine()}
	if f, ok := family.Named(name); ok {
		if f.TryNow != nil {
			f.TryNow(&s.File.Settings, b.tryNow)
		}
		var own string
		conf.Family, own = f.Config(&s.File.Settings)
		conf.Language = cmp.Or(own, conf.Language)
	}
	return engine.Environment{Config: conf, Trusted: s.Trusted}
}

// LanguageOf is the language of a run: its state's, before that the settings'.
func (b *Workspace) LanguageOf(f loop.Found) string {
	var state struct {
		Language string `json:"language"`
	}
	name := strings.TrimPrefix(f.Run.State, f.Run.Dir+"/")
	_ = schemas.Decode("", name, b.ReadDocument(f, name).Body, &state) // what cannot be read says none
	return cmp.Or(state.Language, b.Environment(f.Run.Family).Config.Language)
}

// factsNow are the facts of a family with what is under way, and what has ended.
func factsNow(b *Workspace, family string) engine.Environment {
	facts := b.Environment(family)
	// In this order: what ends between the two is not missed.
	facts.Alive, facts.Ended = b.alive(), b.ended()
	for id := range facts.Alive {
		if _, over := facts.Ended[id]; over {
			delete(facts.Alive, id)
		}
	}
	return facts
}

// OnlyLooks has the workspace ask the disk what is under way: another placet may
// carry commands out.
func (b *Workspace) OnlyLooks() {
	b.alive = func() map[string]bool { return exec.Alive(b.StateRoot()) }
	b.ended = func() map[string]engine.Ended { return exec.Stopped(b.StateRoot()) }
}

// Serves reports whether a word is the name of a family that is enabled.
func (b *Workspace) Serves(family string) bool {
	for _, f := range b.Families {
		if f.Layout.Name() == family {
			return true
		}
	}
	return false
}
