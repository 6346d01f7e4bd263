package setup

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/cli/nemawashi"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/exec"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// These are the verdicts of a diagnosis.
const (
	isFine    = "ok"
	isWarning = "warn"
	isProblem = "problem"
)

// diagnosis is one line of doctor.
type diagnosis struct {
	Verdict string `json:"verdict"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	// Do says what to do about it, "" for nothing.
	Do string `json:"do"`
}

// doctorLabels are the words for people for a verdict, and for a subject that is not a name.
var doctorLabels = map[string]templates.Key{
	isFine: "cli.doctor.ok", isWarning: "cli.doctor.warn", isProblem: "cli.doctor.problem",
	"workspace": "cli.doctor.workspace", "daemon": "cli.doctor.daemon", "files": "cli.doctor.files", "locks": "cli.doctor.locks",
	"config": "cli.doctor.config", "trust": "cli.doctor.trust", "notify": "cli.doctor.notify", "runs": "cli.doctor.runs",
	"environment": "cli.doctor.environment",
}

// examination collects diagnoses.
type examination struct {
	w     *console.Env
	root  string
	lines []diagnosis
}

func (e *examination) add(verdict, subject, do string, key templates.Key, pairs ...any) {
	e.lines = append(e.lines, diagnosis{verdict, subject, e.w.Text(key, pairs...), do})
}

// Examination is what doctor finds of a workspace and its machine.
type Examination struct {
	examination
	// Workspace is nil if the settings cannot be read.
	Workspace *workspace.Workspace
}

// Examine looks at a workspace and its machine.
func Examine(w *console.Env) (*Examination, error) {
	root, err := config.FindRoot(w)
	if err != nil {
		return nil, err
	}
	conf, err := loadSettings(w, root)
	e := &Examination{examination: examination{w: w, root: root}}
	e.workspace()
	e.git()
	e.daemon()
	e.fileSystem()
	e.inotify()
	if e.configuration(conf, err); err == nil {
		e.clients(conf.Hook)
		state, _ := config.StateDir(w, root, false) // configuration reported what is wrong with it
		e.Workspace = workspace.New(w, root, conf, workspace.Setup{}, state)
		e.runs(e.Workspace)
		if names := nemawashi.EnvironDiffers(conf.File, w.Getenv); len(names) > 0 {
			e.add(isWarning, "environment", nemawashi.EnvironHelp.In(e.w.Lang), "cli.doctor.environment.differs", "names", strings.Join(names, ", "))
		}
	}
	return e, nil
}

// Sick reports whether a line is a problem.
func (e *Examination) Sick() bool {
	return slices.ContainsFunc(e.lines, func(d diagnosis) bool { return d.Verdict == isProblem })
}

// Data returns the examination as JSON has it.
func (e *Examination) Data() map[string]any {
	return map[string]any{"workspace": e.root, "lines": e.lines}
}

// Print prints the lines as a table.
func (e *Examination) Print() {
	t := &console.Table{}
	styles := map[string]string{isFine: "", isWarning: console.Waiting, isProblem: console.Alarm}
	label := func(word string) string {
		if key, ok := doctorLabels[word]; ok {
			return e.w.Text(key)
		}
		return word
	}
	for _, d := range e.lines {
		t.Style([]string{styles[d.Verdict], console.Strong}, label(d.Verdict), label(d.Subject), console.OneLine(d.Text)+console.Suffix(" → ", console.OneLine(d.Do)))
	}
	t.Print(e.w, e.w.Out)
}

// workspace checks whether placet can write here at all.
func (e *examination) workspace() {
	if err := tryFile(fs.OS(e.root), func(string, fs.File) error { return nil }); err != nil {
		e.add(isProblem, "workspace", e.w.Text("cli.doctor.unwritable.do"), "cli.doctor.unwritable", "folder", e.root, "error", console.Plain(err))
		return
	}
	e.add(isFine, "workspace", "", "say.text", "text", e.root)
}

// tryFile makes a file in the workspace, following no link, calls try with it, and removes it.
func tryFile(disk fs.FS, try func(name string, f fs.File) error) error {
	name := layout.TempName(os.Getpid(), rand.Uint32())
	f, err := disk.Open(name, fs.ForCreating, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(try(name, f), f.Close(), disk.Remove(name))
}

func (e *examination) git() {
	version, err := exec.GitVersion(e.root, e.w.Environ)
	if err != nil {
		e.add(isWarning, "git", e.w.Text("cli.doctor.git.none.do"), "cli.doctor.git.none")
		return
	}
	path := excludeFile(e.w, e.root)
	if path == "" {
		e.add(isWarning, "git", e.w.Text("cli.doctor.git.outside.do"), "cli.doctor.git.outside", "version", version)
		return
	}
	body, _ := config.ReadSmall(path)
	missing := missingLines(string(body), Ignored)
	if len(missing) > 0 && !e.ignores(missing) {
		e.add(isWarning, "git", e.w.Text("cli.doctor.git.ignore.do", "file", path), "cli.doctor.git.ignore", "version", version, "names", templates.List(e.w.Lang, "list.and", missing))
		return
	}
	e.add(isFine, "git", "", "say.text", "text", version)
}

// ignores asks git itself whether it ignores what the lines mean.
func (e *examination) ignores(lines []string) bool {
	for _, l := range lines {
		probe := strings.ReplaceAll(strings.TrimSuffix(l, "/"), "*", "x")
		if strings.HasSuffix(l, "/") {
			probe += "/x"
		}
		if !exec.Ignores(e.root, e.w.Environ, probe) {
			return false
		}
	}
	return true
}

func (e *examination) daemon() {
	if workspace.DaemonRuns(e.root) {
		e.add(isFine, "daemon", "", "cli.doctor.daemon.one")
		return
	}
	e.add(isWarning, "daemon", e.w.Text("cli.doctor.daemon.none.do"), "cli.doctor.daemon.none")
}

// configuration checks the settings, or reports why they cannot be read.
func (e *examination) configuration(conf config.Settings, err error) {
	if err != nil {
		e.add(isProblem, "config", e.w.Text("cli.doctor.config.do"), "say.text", "text", err)
		return
	}
	if len(conf.Read) > 0 {
		e.add(isFine, "config", "", "say.text", "text", strings.Join(conf.Read, ", "))
	} else {
		e.add(isFine, "config", "", "cli.doctor.config.defaults")
	}
	for _, w := range conf.Warnings {
		e.add(isWarning, w.Subject, templates.In(e.w.Lang, w.Try), "say.text", "text", w.Text)
	}
	e.notify(conf)
	for _, s := range conf.Waiting {
		key := templates.Key("cli.doctor.trust.default")
		if config.HoldsTighter(s.Name()) {
			key = "cli.doctor.trust.tighter"
		}
		e.add(isWarning, "trust", "placet trust", key, "place", config.Layer{Path: s.Path}.Place(s.Line), "setting", s.Name())
	}
	if _, err := config.StateDir(e.w, e.root, false); err != nil {
		try := e.w.Text("cli.doctor.trust.nowhere.do")
		if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
			try = unusable.Try
		}
		e.add(isWarning, "trust", try, "cli.doctor.trust.nowhere", "error", err)
	}
}

// notify reports who is notified of waiting requests, and what prevents that.
func (e *examination) notify(conf config.Settings) {
	if !conf.Notify.Enabled() {
		return
	}
	e.add(isFine, "notify", "", "say.text", "text", strings.Join(conf.Notify.Targets(), ", "))
	if program := conf.Notify.MissingProgram(); program != "" {
		e.add(isWarning, "notify", e.w.Text("cli.doctor.notify.missing.do", "program", program), "cli.doctor.notify.missing", "program", program)
	}
}

// runs counts the runs that can be served.
func (e *examination) runs(b *workspace.Workspace) {
	if reason, held := b.Store.Paused(); held {
		e.add(isWarning, "git", e.w.Text("cli.doctor.git.busy.do"), "cli.doctor.git.busy", "reason", reason)
	} else if stale := b.Store.Stale(); stale != "" {
		e.add(isWarning, "git", e.w.Text("cli.doctor.git.busy.do"), "say.text", "text", stale)
	}
	served := slices.ContainsFunc(b.Families, func(f loop.Family) bool { return len(e.rootsOf(f)) > 0 })
	if !served {
		e.add(isWarning, "runs", e.w.Text("cli.doctor.runs.none.do"), "cli.doctor.runs.none")
	}
	for _, f := range b.Families {
		there := e.rootsOf(f)
		if len(there) == 0 {
			e.add(isFine, f.Layout.Name(), "", "cli.doctor.family.none", "folders", strings.Join(f.Layout.Roots(), ", "))
			continue
		}
		e.family(b, f.Layout.Name(), there)
	}
	for _, m := range view.NoRuns(view.Misplaced(b)) {
		e.add(isWarning, m.Family, e.w.Text("cli.doctor.norun.do"), "cli.doctor.norun", "file", m.Path, "why", m.Why)
	}
}

// family counts the runs of a family whose folders exist.
func (e *examination) family(b *workspace.Workspace, name string, folders []string) {
	found, err := b.Loop.Runs()
	if err != nil {
		e.add(isProblem, name, e.w.Text("cli.doctor.family.unread.do"), "cli.doctor.family.unread", "error", err)
		return
	}
	found = slices.DeleteFunc(found, func(f loop.Found) bool { return f.Run.Family != name })
	live, _ := view.Live(b, found)
	e.add(isFine, name, "", "cli.doctor.family", "runs", templates.NewMessage("count.runs", "n", len(found)), "live", len(live), "folders", strings.Join(folders, ", "))
	e.watches(len(live))
}

// rootsOf returns the existing folders of a family's runs.
func (e *examination) rootsOf(f loop.Family) []string {
	var there []string
	for _, root := range f.Layout.Roots() {
		if info, err := os.Stat(filepath.Join(e.root, filepath.FromSlash(root))); err == nil && info.IsDir() {
			there = append(there, root)
		}
	}
	return there
}

// watchesPerRun is the number of watched folders of a live run.
const watchesPerRun = 2

// watches compares what the live runs need with what the kernel allows.
func (e *examination) watches(live int) {
	limit, err := kernelLimit("max_user_watches")
	if err == nil && live*watchesPerRun > limit {
		e.add(isWarning, "inotify", fmt.Sprintf("sysctl fs.inotify.max_user_watches=%d", 4*live*watchesPerRun),
			"cli.doctor.inotify.short", "limit", limit, "live", live)
	}
}

// NoEvents says what a file system on which other machines write means for placet.
var NoEvents = templates.NewMessage("cli.doctor.noevents")

// fewWatches and fewInstances are limits that an editor and a browser use up.
const (
	fewWatches   = 8192
	fewInstances = 64
)

func (e *examination) inotify() {
	watches, err := kernelLimit("max_user_watches")
	instances, err2 := kernelLimit("max_user_instances")
	switch {
	case err != nil || err2 != nil:
		e.add(isWarning, "inotify", "", "cli.doctor.inotify.unread")
	case watches < fewWatches:
		e.add(isWarning, "inotify", "sysctl fs.inotify.max_user_watches=524288", "cli.doctor.inotify.watches", "watches", watches)
	case instances < fewInstances:
		e.add(isWarning, "inotify", "sysctl fs.inotify.max_user_instances=512", "cli.doctor.inotify.instances", "instances", instances)
	default:
		e.add(isFine, "inotify", "", "cli.doctor.inotify", "watches", watches, "instances", instances)
	}
}

func kernelLimit(name string) (int, error) {
	body, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(body)))
}
