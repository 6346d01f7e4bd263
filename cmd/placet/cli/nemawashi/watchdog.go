package nemawashi

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/nemawashi"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

func watchdogVerb() verb.Verb {
	dry := false
	return verb.Verb{
		Use: "watchdog",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&dry, "dry-run", false, "")
		},
		Look: func(_ verb.Call, b *workspace.Workspace) error { return watchReports(b, dry) },
	}
}

// skipped is a report that cannot be used.
type skipped struct {
	Path    string `json:"path"`
	Problem string `json:"problem"` // in English
	err     error
}

// These are the folders of the watchdog.
const (
	reportsDir  = ".nemawashi/reports"
	watchdogDir = ".nemawashi/watchdog"
)

// watchReports makes one round of the watchdog. Only one can run at a time.
func watchReports(b *workspace.Workspace, dry bool) error {
	if !dry {
		unlock, err := lockWatchdog(fs.OS(b.Root))
		if err != nil {
			return err
		}
		defer unlock()
	}
	reports, bad := readReports(b)
	seen := seenActions(b)
	begun, alerts := 0, []nemawashi.Alert{}
	for _, a := range nemawashi.Watch(reports) {
		if !a.Opens(seen) {
			continue
		}
		action, draft := a.Action(b.Environment("nemawashi").Config.Language)
		if err := actions.Check(action); err != nil {
			bad = append(bad, skipped{reportsDir, err.Error(), err})
			continue
		}
		if !dry {
			if _, err := actions.Begin(b, action, draft); err != nil {
				return err
			}
		}
		begun++
		alerts = append(alerts, a)
	}
	summary := fmt.Sprintf("watchdog created %d actions", begun)
	last := schemas.Object{
		{Name: "at", Value: b.Env.Now().UTC().Format(time.RFC3339)}, {Name: "summary", Value: summary}, {Name: "alerts", Value: alerts}, {Name: "skipped", Value: bad},
	}
	if !dry {
		if err := writeLast(b, last); err != nil {
			return err
		}
	}
	for _, s := range bad {
		b.Env.Note("cli.nemawashi.watchdog.skipped", "path", s.Path, "error", templates.In(b.Env.Lang, s.err))
	}
	err := b.Env.Answer(last, func() {
		for _, a := range alerts {
			b.Env.Say("cli.nemawashi.watchdog.alert", "project", a.ProjectID, "level", a.RiskLevel, "score", a.HealthScore)
		}
		made := templates.Key("cli.nemawashi.watchdog.made")
		if dry {
			made += ".dry"
		}
		b.Env.Say(made, "n", begun)
	})
	if err == nil && len(bad) > 0 {
		err = console.Exit(console.ExitProblem) // each was named
	}
	return err
}

// lockWatchdog keeps a second watchdog out.
func lockWatchdog(disk fs.FS) (unlock func(), err error) {
	if _, err := actions.MadeAndListed(disk, watchdogDir); err != nil {
		return nil, console.Refused("cli.nemawashi.watchdog.mkdir", "path", watchdogDir, "error", console.Plain(err))
	}
	f, err := disk.Open(watchdogDir+"/lock", fs.ForLocking, 0o666)
	if err != nil {
		return nil, console.Refused("cli.nemawashi.watchdog.lock", "path", watchdogDir, "error", console.Plain(err))
	}
	if err := f.TryLock(); errors.Is(err, fs.ErrBusy) {
		f.Close()
		return nil, console.Refused("cli.nemawashi.watchdog.busy").Try("cli.nemawashi.watchdog.later")
	}
	return func() { f.Close() }, nil
}

// readReports reads the reports, by name, and returns which cannot be used.
func readReports(b *workspace.Workspace) (list []nemawashi.Report, bad []skipped) {
	bad = []skipped{}
	names, err := fs.OS(b.Root).List(reportsDir)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		bad = append(bad, skipped{reportsDir, err.Error(), err})
	}
	for _, e := range names {
		name := reportsDir + "/" + e.Name
		if ext := path.Ext(e.Name); ext != ".json" && ext != ".md" || layout.Noise(e.Name) {
			continue
		}
		d := b.Settled(name, layout.Outside(name))
		err := d.Err
		if err == nil {
			var more []nemawashi.Report
			more, err = nemawashi.ReadReports(e.Name, d.Body)
			list = append(list, more...)
		}
		if err != nil {
			bad = append(bad, skipped{name, err.Error(), err})
		}
	}
	return list, bad
}

// seenActions returns the existing actions in the form that the watchdog needs. One that is not
// registered yet counts as unfinished.
func seenActions(b *workspace.Workspace) (list []nemawashi.Seen) {
	for _, f := range actions.All(b) {
		d := b.ReadDocument(f, "action.json")
		var a nemawashi.ActionFile
		if !d.Present() || schemas.Decode("nemawashi/action", d.Path, d.Body, &a) != nil {
			continue
		}
		id, _ := strconv.Atoi(f.Run.ID)
		s := nemawashi.Seen{ID: id, Project: string(a.ProjectID), Source: engine.Digest(a.SourceDigest)}
		if st, ok := actions.State(b, f); ok {
			s.Final = nemawashi.New().Summarize(b.ReadDocument(f, "state.json").Body).Final
			s.Project = string(st.ProjectID)
		}
		list = append(list, s)
	}
	return list
}

// writeLast records what the watchdog saw last.
func writeLast(b *workspace.Workspace, last schemas.Object) error {
	body, err := schemas.Encode(last)
	if err != nil {
		return err
	}
	file := watchdogDir + "/last.json"
	err = b.Store.Write(engine.Document{Path: file, Body: body, Over: b.Settled(file, layout.Outside(file)).Sum})
	if err != nil {
		return console.Refused("cli.nemawashi.watchdog.write", "file", file, "error", console.Plain(err))
	}
	return nil
}
