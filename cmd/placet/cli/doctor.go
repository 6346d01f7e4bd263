package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/reconcile"
	"placet/engine/statedir"
	"placet/engine/store/fs"
	"placet/layout"
)

func doctorVerb() verb {
	return verb{
		use: "doctor", short: "Check whether placet can work here",
		group: groupSetUp,
		run:   func(c call) error { return examine(c.env) },
	}
}

// The words of a diagnosis.
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
	// Do is what to do about it, "" where nothing is to be done.
	Do string `json:"do"`
}

// examination collects diagnoses.
type examination struct {
	w     *console.Env
	root  string
	lines []diagnosis
}

func (e *examination) add(verdict, subject, do, format string, args ...any) {
	e.lines = append(e.lines, diagnosis{verdict, subject, fmt.Sprintf(format, args...), do})
}

func examine(w *console.Env) error {
	root, err := config.FindRoot(w)
	if err != nil {
		return err
	}
	e := &examination{w: w, root: root}
	e.workspace()
	e.git()
	e.daemon()
	e.fileSystem()
	e.inotify()
	if conf, ok := e.configuration(); ok {
		e.clients(conf.Hook)
		state, _ := config.StateDir(w, root, false) // configuration said what is wrong with it
		e.runs(workspace.New(w, root, conf, workspace.Setup{}, state))
		if names := environDiffers(conf.File, w.Getenv); len(names) > 0 {
			e.add(isWarning, "environment", environHelp, "%s set, and the settings say something else, which is what counts", strings.Join(names, ", "))
		}
	}
	sick := slices.ContainsFunc(e.lines, func(d diagnosis) bool { return d.Verdict == isProblem })
	err = w.Answer(map[string]any{"workspace": root, "lines": e.lines}, func() {
		t := &console.Table{}
		styles := map[string]string{isFine: "", isWarning: console.Waiting, isProblem: console.Alarm}
		for _, d := range e.lines {
			t.Style([]string{styles[d.Verdict], console.Strong}, d.Verdict, d.Subject, console.OneLine(d.Text)+console.Suffix(" → ", console.OneLine(d.Do)))
		}
		t.Print(w, w.Out)
	})
	return cmp.Or(err, console.Outcome(sick, false))
}

// workspace asks whether placet can write here at all.
func (e *examination) workspace() {
	if err := tryFile(fs.OS(e.root), func(string, fs.File) error { return nil }); err != nil {
		e.add(isProblem, "workspace", "give this user the right to write there, or use another -C", "%s: cannot write: %v", e.root, console.Plain(err))
		return
	}
	e.add(isFine, "workspace", "", "%s", e.root)
}

// tryFile makes a file in the workspace, over no link, has something tried with it
// and removes it.
func tryFile(disk fs.FS, try func(name string, f fs.File) error) error {
	name := layout.TempName(os.Getpid(), rand.Uint32())
	f, err := disk.Open(name, fs.ForCreating, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(try(name, f), f.Close(), disk.Remove(name))
}

func (e *examination) git() {
	out, err := exec.Command("git", "--version").Output()
	if err != nil {
		e.add(isWarning, "git", "install git: context.md quotes the branch's last commits", "not found")
		return
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	path := excludeFile(e.root)
	if path == "" {
		e.add(isWarning, "git", "git init, if the history of decisions is to be kept", "%s, but the workspace is in no work tree", version)
		return
	}
	body, _ := config.ReadSmall(path)
	missing := missingLines(string(body), ignored)
	if len(missing) > 0 && !e.ignores(missing) {
		e.add(isWarning, "git", "placet init, or add the lines to "+path, "%s, but it does not ignore %s", version, strings.Join(missing, " and "))
		return
	}
	e.add(isFine, "git", "", "%s", version)
}

// ignores asks git itself whether it ignores what the lines mean.
func (e *examination) ignores(lines []string) bool {
	for _, l := range lines {
		probe := strings.ReplaceAll(strings.TrimSuffix(l, "/"), "*", "x")
		if strings.HasSuffix(l, "/") {
			probe += "/x"
		}
		cmd := exec.Command("git", "check-ignore", "-q", "--no-index", probe)
		cmd.Dir = e.root
		if cmd.Run() != nil {
			return false
		}
	}
	return true
}

func (e *examination) daemon() {
	if workspace.DaemonRuns(e.root) {
		e.add(isFine, "daemon", "", "one serves this workspace")
		return
	}
	e.add(isWarning, "daemon", "placet watch, or placet once", "none serves this workspace: nothing moves")
}

// configuration reads the settings as every verb does.
func (e *examination) configuration() (config.Settings, bool) {
	from := config.SourcesOf(e.w, e.root)
	conf, err := config.Load(from)
	if err != nil {
		e.add(isProblem, "config", "mend the file", "%v", err)
		return conf, false
	}
	text := "defaults only"
	if len(conf.Read) > 0 {
		text = strings.Join(conf.Read, ", ")
	}
	e.add(isFine, "config", "", "%s", text)
	e.notify(conf)
	for _, s := range conf.Waiting {
		holds := "the default holds"
		if config.HoldsTighter(s.Name()) {
			holds = "the tighter of what was agreed to and what it says holds"
		}
		e.add(isWarning, "trust", "placet trust", "%s: %s is not trusted: %s", config.Layer{Path: s.Path}.Place(s.Line), s.Name(), holds)
	}
	if _, err := config.StateDir(e.w, e.root, false); err != nil {
		try := "set XDG_STATE_HOME to a folder of your own outside the workspace"
		if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
			try = unusable.Try
		}
		e.add(isWarning, "trust", try, "nothing can be trusted: %v", err)
	}
	return conf, true
}

// notify says who is told that something waits, and what is in the way.
func (e *examination) notify(conf config.Settings) {
	for _, w := range conf.Warnings {
		e.add(isWarning, "notify", w.Try.String(), "%s", w.Text)
	}
	if !conf.Notify.Enabled() {
		return
	}
	e.add(isFine, "notify", "", "%s", strings.Join(conf.Notify.Targets(), ", "))
	if program := conf.Notify.MissingProgram(); program != "" {
		e.add(isWarning, "notify", "install "+program+", or take \"desktop\" out", "%s is not installed: nothing is shown on the desktop", program)
	}
}

// runs counts what there is to serve.
func (e *examination) runs(b *workspace.Workspace) {
	if reason, held := b.Store.Paused(); held {
		e.add(isWarning, "git", "finish or abort it", "nothing is decided at the moment: %s", reason)
	} else if stale := b.Store.Stale(); stale != "" {
		e.add(isWarning, "git", "finish or abort it", "%s", stale)
	}
	served := slices.ContainsFunc(b.Families, func(f reconcile.Family) bool { return len(e.rootsOf(f)) > 0 })
	if !served {
		e.add(isWarning, "runs", "ask a person with placet ask; runs of agents are found as soon as their folder exists", "there are none yet")
	}
	for _, f := range b.Families {
		there := e.rootsOf(f)
		if len(there) == 0 {
			e.add(isFine, f.Layout.Name(), "", "no folder of runs: %s", strings.Join(f.Layout.Roots(), ", "))
			continue
		}
		e.family(b, f.Layout.Name(), there)
	}
	for _, m := range workspace.NoRuns(b.Misplaced()) {
		e.add(isWarning, m.Family, "rename the folder, or move it away", "%s looks like a run and is none: %s", m.Path, m.Why)
	}
}

// family counts the runs of a family whose folders are there.
func (e *examination) family(b *workspace.Workspace, name string, folders []string) {
	found, err := b.Loop.Runs()
	if err != nil {
		e.add(isProblem, name, "make it readable", "cannot list the runs: %v", err)
		return
	}
	found = slices.DeleteFunc(found, func(f reconcile.Found) bool { return f.Run.Family != name })
	live, _ := b.Live(found)
	e.add(isFine, name, "", "%s, %d live, in %s", console.Plural(len(found), "run", "runs"), len(live), strings.Join(folders, ", "))
	e.watches(len(live))
}

// rootsOf are a family's folders of runs that are there.
func (e *examination) rootsOf(f reconcile.Family) []string {
	var there []string
	for _, root := range f.Layout.Roots() {
		if info, err := os.Stat(filepath.Join(e.root, filepath.FromSlash(root))); err == nil && info.IsDir() {
			there = append(there, root)
		}
	}
	return there
}

// watchesPerRun is how many folders of a live run are watched.
const watchesPerRun = 2

// watches compares what the live runs need with what the kernel gives.
func (e *examination) watches(live int) {
	limit, err := kernelLimit("max_user_watches")
	if err == nil && live*watchesPerRun > limit {
		e.add(isWarning, "inotify", fmt.Sprintf("sysctl fs.inotify.max_user_watches=%d", 4*live*watchesPerRun),
			"%d watches are too few for %d live runs: some are scanned every 2 s instead", limit, live)
	}
}

// noEvents is what a file system means for placet on which other machines write.
const noEvents = "changes by other machines raise no event here; live runs are scanned every 2 s"

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
		e.add(isWarning, "inotify", "", "the kernel's limits cannot be read: live runs may be scanned every 2 s instead")
	case watches < fewWatches:
		e.add(isWarning, "inotify", "sysctl fs.inotify.max_user_watches=524288", "%d watches for this user are few", watches)
	case instances < fewInstances:
		e.add(isWarning, "inotify", "sysctl fs.inotify.max_user_instances=512", "%d instances for this user are few", instances)
	default:
		e.add(isFine, "inotify", "", "%d watches, %d instances for this user", watches, instances)
	}
}

func kernelLimit(name string) (int, error) {
	body, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(body)))
}
