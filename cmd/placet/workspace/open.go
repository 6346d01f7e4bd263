// Package workspace opens a workspace: it finds the settings that count, and sets up store,
// loop and runner for the families that are served. The packages above it view runs, give
// answers and ask people.
package workspace

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"os"
	"path"
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

// Permit refuses a command if the owner of the workspace does not, or no longer, agree to it
// with the files that it names in the folder where it is about to run.
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
	// The files are read once more here, whatever their times say.
	if files := exec.NewContents(b.Root).WithEnv(b.Env.Getenv).Of(dir, a.Command.Agreed()); !now.Permits(runOf(a), digest, files) {
		return templates.Errorf("workspace.permit.untrusted")
	}
	return nil
}

// runOf returns the run of an action, "family/id".
func runOf(a engine.Action) string {
	family, rest, _ := strings.Cut(a.ID, "/")
	return family + "/" + path.Dir(rest)
}

// Workspace is one workspace with everything set up to read its runs. It is the only place
// where families, store and loop meet.
type Workspace struct {
	Env  *console.Env
	Root string
	config.Settings
	Store *store.Store
	// StateDir is nil without a state folder. Stateless is the reason, nil if none had to be
	// made yet.
	StateDir  *statedir.Dir
	Stateless error
	// References names what people are shown.
	References statedir.References
	Families   []loop.Family
	Loop       *loop.Loop
	// tryNow is when things that wait for a time are tried at once, zero for never.
	tryNow time.Time
	// Journals makes the loop read whole journals of a run, not only their ends.
	Journals bool
	// Brief allows views that an earlier placet has stored, which hold no more than status,
	// inbox and check show.
	Brief bool
	// WaitsForHeld makes views wait for files that may be half written.
	WaitsForHeld bool
	// Unlisted says that a folder that may hold runs cannot be listed.
	Unlisted bool
	// heldUpRuns is the result of [ReadHeldUp], which heldUpOnce guards.
	heldUpRuns map[string]string
	heldUpOnce sync.Once
	Changing   *config.Live // nil if the settings never change
	// Runner carries out commands; nil if this process does not.
	Runner *exec.Runner
	// alive returns the IDs of the commands under way.
	alive func() map[string]bool
	// ended returns how actions without an outcome document ended. Only the process that
	// carries them out knows any.
	ended func() map[string]engine.Ended
	// ChecksBegun counts the actions that were begun and end with placet.
	ChecksBegun atomic.Int64
	// Grace is how long the actions that were begun and outlive placet are waited for, as a
	// [time.Duration]: the longest of them.
	Grace atomic.Int64
	// who is the person for whom documents are written, as a gate knows it; "" is the owner of
	// this process. source is the surface that writes them; "" is the command line.
	who, source string
}

// Viewer returns the workspace for one call of a surface: no other call sees what it records
// about its own reading. It writes documents for the caller; the zero Identity is the owner of
// this process at the command line.
func (b *Workspace) Viewer(who facade.Identity) *Workspace {
	quiet := *b.Env
	quiet.Out, quiet.Err, quiet.Colour = io.Discard, io.Discard, false
	return &Workspace{
		Env: &quiet, Root: b.Root, Settings: b.Current(), Store: b.Store, StateDir: b.StateDir, Stateless: b.Stateless, References: b.References,
		Families: b.Families, Loop: b.Loop, Changing: b.Changing, Runner: b.Runner, alive: b.alive, ended: b.ended,
		who: who.Known, source: who.Source,
	}
}

// Whole returns the workspace with all its families, for reading. It shares the store, because
// two stores of one process would take each other's temporary files for those of a crash.
func (b *Workspace) Whole() *Workspace {
	w := b.Viewer(facade.Identity{})
	w.Env, w.Families = b.Env, served(b.Settings, "")
	workers, waiting, _ := sideBySide()
	w.Loop = loop.New(loopOptions(w, Setup{Log: slog.New(console.NewLogHandler(b.Env.Err, slog.LevelWarn))}, workers, waiting))
	return w
}

// Setup says for what a workspace is opened, besides reading.
type Setup struct {
	Log   *slog.Logger
	Moved func(layout.Run, engine.Transition)
	// Attach adds observers to the options of the loop.
	Attach []func(*loop.Options)
	// Acts carries out commands, and writes into databases.
	Acts bool
	// Cached reads runs from what an earlier placet has stored.
	Cached bool
	// Remembers waits for the state folder while the machine is in trouble: a document that was
	// written without it would later seem to be somebody else's.
	Remembers bool
	// Live reads the settings again when they change.
	Live bool
	// NoCommands takes the commands out of the settings, so that no attempt is recorded that
	// nobody would begin.
	NoCommands bool
	// TryNow tries rows that the audit database lacks at once, before their time.
	TryNow bool
	// Family is the only family that is served, "" for all.
	Family string
}

// Look opens the workspace for reading. A folder without a mark counts as one only if it has
// runs.
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

// New sets everything up on a state folder, nil for none.
func New(w *console.Env, root string, conf config.Settings, s Setup, state *statedir.Dir) *Workspace {
	commandLog := s.Log
	if s.Log == nil {
		s.Log = slog.New(console.NewLogHandler(w.Err, slog.LevelWarn))
	}
	if s.NoCommands {
		conf = conf.ReadOnly()
	}
	w.Root = root
	b := &Workspace{Env: w, Root: root, Settings: conf, StateDir: state}
	if state != nil {
		b.References, _ = state.References() // without a key, whole digests are the names
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

// loopOptions returns the options of the loop.
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
			b.Grace.Store(max(b.Grace.Load(), int64(a.Command.Grace)))
			b.Runner.Begin(a)
		}
		b.alive, b.ended = b.Runner.Alive, b.Runner.Ended
	}
	for _, attach := range s.Attach {
		attach(&o)
	}
	return o
}

// newRunner returns the runner that carries out the actions of a workspace. It checks again,
// just before a command begins, that its owner still agrees to it.
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

// Sender returns a sender to people outside this machine, which reads the secrets for that.
func (b *Workspace) Sender() *send.Sender { return send.New(b.Root, b.Env.Getenv) }

// Record returns the record in which the store remembers its writes; nil without a state
// folder.
func (b *Workspace) Record() store.Record {
	if b.StateDir == nil {
		return nil
	}
	return b.StateDir
}

// layouts returns the layouts of the families that are served.
func layouts(b *Workspace) []layout.Family {
	var all []layout.Family
	for _, f := range b.Families {
		all = append(all, f.Layout)
	}
	return all
}

// StateRoot returns the state folder, nil without one.
func (b *Workspace) StateRoot() *os.Root {
	if b.StateDir == nil {
		return nil
	}
	return b.StateDir.Root()
}

// served returns the families that the settings enable, or only one of them.
func served(conf config.Settings, only string) (list []loop.Family) {
	for _, f := range family.All {
		if s := &conf.File.Settings; f.Enabled(s) && (only == "" || only == f.Name) {
			list = append(list, loop.Family{Layout: f.Layout(s), Machine: f.Machine()})
		}
	}
	return list
}

// Current returns the settings that apply at this moment.
func (b *Workspace) Current() config.Settings {
	if b.Changing != nil {
		return b.Changing.Get()
	}
	return b.Settings
}

// Environment returns the input of a family's machine besides documents and live commands.
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
	return engine.Environment{Config: conf, Trusted: s.Trusted, Changed: s.Changed}
}

// LanguageOf returns the language of a run: that of its state, else that of the settings.
func (b *Workspace) LanguageOf(f loop.Found) string {
	var state struct {
		Language string `json:"language"`
	}
	name := strings.TrimPrefix(f.Run.State, f.Run.Dir+"/")
	_ = schemas.Decode("", name, b.ReadDocument(f, name).Body, &state) // a state that cannot be read has no language
	return cmp.Or(state.Language, b.Environment(f.Run.Family).Config.Language)
}

// factsNow returns a family's environment, with the commands that run and those that have
// ended.
func factsNow(b *Workspace, family string) engine.Environment {
	facts := b.Environment(family)
	// The order matters: a command that ends between the two is not missed.
	facts.Alive, facts.Ended = b.alive(), b.ended()
	for id := range facts.Alive {
		if _, over := facts.Ended[id]; over {
			delete(facts.Alive, id)
		}
	}
	return facts
}

// OnlyLooks makes the workspace ask the disk which commands run, because another placet may
// carry them out.
func (b *Workspace) OnlyLooks() {
	b.alive = func() map[string]bool { return exec.Alive(b.StateRoot()) }
	b.ended = func() map[string]engine.Ended { return exec.Stopped(b.StateRoot()) }
}

// Serves reports whether a word is the name of an enabled family.
func (b *Workspace) Serves(family string) bool {
	for _, f := range b.Families {
		if f.Layout.Name() == family {
			return true
		}
	}
	return false
}
