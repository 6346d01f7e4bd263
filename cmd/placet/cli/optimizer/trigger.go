package optimizer

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// asking is a new cycle from the command line.
type asking struct {
	workflow string
	run      string   // --run
	slug     string   // --new
	create   bool     // --new was given
	goal     string   // --goal
	metrics  []string // --metric
	fresh    bool     // --fresh
}

func triggerVerb() verb.Verb {
	var a asking
	return verb.Verb{
		Use:   "trigger WORKFLOW [--run ID | --new SLUG]",
		Least: 1, Most: 1,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&a.run, "run", "", "")
			f.StringVar(&a.slug, "new", "", "")
			f.StringVar(&a.goal, "goal", "", "")
			f.StringArrayVar(&a.metrics, "metric", nil, "")
			f.BoolVar(&a.fresh, "fresh", false, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			a.workflow, a.create = c.Args[0], c.Flags.Changed("new")
			if a.create && a.run != "" {
				return console.Usage("cli.trigger.both")
			}
			return triggerCycle(b, a)
		},
	}
}

// optimizerCycles returns what the optimizer's runs publish about themselves.
func optimizerCycles(b *workspace.Workspace) ([]optimizer.Entry, error) {
	if !b.Serves("optimizer") {
		return nil, console.Usage("cli.optimizer.off").Try("cli.optimizer.enable")
	}
	peers, err := b.Peers("optimizer")
	return optimizer.Entries(peers), err
}

// triggerCycle writes the trigger.json for the command line.
func triggerCycle(b *workspace.Workspace, a asking) error {
	if err := verb.CheckWords(b.Env, "trigger", strconv.Quote(console.OneLine(a.workflow)), b.Env.Text("cli.trigger.goal"), a.goal, ""); err != nil {
		return err
	}
	all, err := optimizerCycles(b)
	if err != nil {
		return err
	}
	dir, err := placeFor(b, a, all)
	if err != nil {
		return err
	}
	last := ""
	if goal, ok := optimizer.NewestGoal(all, layout.OptimizerRoot(dir), a.workflow); ok && !a.fresh {
		last = goal.RunID
	}
	body, err := triggerJSON(b, a, last)
	if err != nil {
		return err
	}
	file := path.Join(dir, "trigger.json")
	err = b.Store.Write(engine.Document{Path: file, Kind: layout.OptimizerKindTrigger, Body: body})
	switch {
	case errors.Is(err, store.ErrConflict):
		return console.Refused("cli.trigger.there", "workflow", strconv.Quote(console.OneLine(a.workflow)), "path", file).Try("cli.trigger.there.try")
	case err != nil:
		return console.Refused("workspace.write", "path", file, "error", err)
	}
	noteUnknown(b, a.workflow, all)
	daemon := b.HasDaemon("workspace.nodaemon.carry")
	data := map[string]any{"run": "optimizer/" + idOf(b, dir), "workflow": a.workflow, "last_run_id": verb.OrNull(last), "path": file, "daemon": daemon}
	return b.Env.Answer(data, func() {
		begins := templates.Key("cli.trigger.begins")
		if last != "" {
			begins = "cli.trigger.begins.after"
		}
		b.Env.Say(begins, "workflow", a.workflow, "run", "optimizer/"+idOf(b, dir), "last", last)
	})
}

// idOf returns the id of the run in a folder.
func idOf(b *workspace.Workspace, dir string) string {
	run, _ := layout.Optimizer{Folders: b.Optimizer.Roots}.At(path.Join(dir, "trigger.json"))
	return run.ID
}

// noteUnknown says that a workflow has no cycle so far, and which workflows have: a mistyped
// name begins a workflow of its own.
func noteUnknown(b *workspace.Workspace, workflow string, all []optimizer.Entry) {
	const shown = 3
	if _, known := optimizer.NewestCycle(all, workflow); known {
		return
	}
	if names := optimizer.Workflows(all); len(names) > 0 {
		b.Env.Note("cli.trigger.first", "workflow", workflow, "names", strings.Join(names[:min(len(names), shown)], ", "))
	}
}

// placeFor returns the run folder in which a cycle begins.
func placeFor(b *workspace.Workspace, a asking, all []optimizer.Entry) (dir string, err error) {
	switch {
	case a.run != "":
		return namedPlace(b, a)
	case a.create:
		return newPlace(b, a, all)
	}
	free, ok := optimizer.FreeRun(all, a.workflow)
	if !ok {
		return "", console.Refused("cli.trigger.none", "workflow", strconv.Quote(console.OneLine(a.workflow))).Try("cli.trigger.none.try")
	}
	return path.Join(free.Root, "active", free.RunID, "optimizer"), nil
}

// namedPlace returns the folder of the run that --run names.
func namedPlace(b *workspace.Workspace, a asking) (string, error) {
	f, err := view.OneRun(b, a.run)
	switch {
	case err != nil:
		return "", err
	case f.Run.Family != "optimizer":
		return "", console.Usage("cli.trigger.family", "run", console.Brief(f.Key()))
	case f.Run.Class != layout.OptimizerRun:
		return "", console.Refused("cli.trigger.class", "run", console.Brief(f.Key()), "class", f.Run.Class).Try("cli.trigger.class.try")
	case family.HasCycle(func(name string) engine.Document { return b.ReadDocument(f, name) }):
		return "", console.Refused("cli.trigger.cycle", "run", console.Brief(f.Key())).Try("cli.trigger.cycle.try")
	}
	return f.Run.Dir, nil
}

// newPlace returns the folder of a new run: in the root of the workflow's newest cycle, else in
// the first root that exists.
func newPlace(b *workspace.Workspace, a asking, all []optimizer.Entry) (string, error) {
	roots := b.Current().Optimizer.Roots
	root := roots[0]
	for _, one := range roots {
		if verb.Exists(filepath.Join(b.Root, one)) {
			root = one
			break
		}
	}
	if newest, ok := optimizer.NewestCycle(all, a.workflow); ok {
		root = newest.Root
	}
	id := layout.OptimizerName(b.Env.Now(), "msowd", asks.Slug(a.slug, longestSlug, defaultSlug))
	dir := path.Join(root, "active", id, "optimizer")
	_, err := os.Lstat(filepath.Join(b.Root, filepath.FromSlash(path.Dir(dir))))
	if !errors.Is(err, fs.ErrNotExist) {
		return "", console.Refused("cli.trigger.made", "run", id, "path", path.Dir(dir)).Try("cli.trigger.made.try", "run", id)
	}
	return dir, nil
}

// These are the greatest length of a slug, and the slug for an empty one.
const (
	longestSlug = 40
	defaultSlug = "default-run"
)

// triggerJSON returns the trigger for the command line.
func triggerJSON(b *workspace.Workspace, a asking, last string) ([]byte, error) {
	o := schemas.Object{{Name: "workflow_name", Value: a.workflow}, {Name: "trigger_type", Value: "direct"}}
	add := func(name string, value any) { o = append(o, schemas.Member{Name: name, Value: value}) }
	metrics, err := metricsOf(a.metrics)
	if err != nil {
		return nil, err
	}
	if len(metrics) > 0 {
		add("current_metrics", metrics)
	}
	if last != "" {
		add("last_run_id", last)
	}
	if goal := strings.TrimSpace(a.goal); goal != "" {
		add("optimization_goal", goal)
	}
	add("created_by", console.Login())
	add("created_at", b.Env.Now().UTC().Format(time.RFC3339))
	body, err := schemas.Encode(o)
	if err != nil {
		return nil, err
	}
	var t optimizer.Trigger
	if err := schemas.Decode("optimizer/trigger", "trigger.json", body, &t); err != nil {
		return nil, console.Usage("cli.trigger.invalid", "workflow", strconv.Quote(console.OneLine(a.workflow)), "error", err)
	}
	return body, nil
}

// metricsOf reads metrics from the command line, name=value.
func metricsOf(list []string) (schemas.Object, error) {
	var o schemas.Object
	for _, m := range list {
		name, value, ok := strings.Cut(m, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, console.Usage("cli.trigger.metric", "metric", strconv.Quote(console.OneLine(m)))
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, console.Usage("cli.trigger.metric.number", "metric", strconv.Quote(console.OneLine(m)), "value", strconv.Quote(console.OneLine(value)))
		}
		for _, have := range o {
			if have.Name == name {
				return nil, console.Usage("cli.trigger.metric.twice", "metric", strconv.Quote(console.OneLine(m)), "name", name)
			}
		}
		o = append(o, schemas.Member{Name: name, Value: v})
	}
	return o, nil
}
