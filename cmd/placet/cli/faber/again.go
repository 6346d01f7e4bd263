package faber

import (
	"errors"
	"path"

	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/engine/run"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// AgainVerb returns the verb by which a person has a command of a run begin again.
func AgainVerb() verb.Verb {
	var by string
	return verb.Verb{
		Use: "again RUN [ACTION]", Least: 1, Most: 2, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) { f.StringVar(&by, "as", console.Login(), "") },
		Look: func(c verb.Call, b *workspace.Workspace) error {
			if err := answer.CheckName("again", by); err != nil {
				return err
			}
			f, err := view.OneRun(b, c.Args[0])
			if err != nil {
				return err
			}
			action := ""
			if len(c.Args) > 1 {
				action = c.Args[1]
			}
			return permitAgain(b, f, action, by)
		},
	}
}

// permitAgain writes the document that has a command begin again.
func permitAgain(b *workspace.Workspace, f loop.Found, action, by string) error {
	name := console.Brief(f.Key())
	if f.Run.Family != "faber" || f.Run.Class != layout.FaberRun {
		return console.Refused("cli.faber.again.other", "run", name)
	}
	snap, err := b.SettledRun(f, true)
	if err != nil {
		return console.Refused("cli.faber.read", "run", name, "error", console.Plain(err))
	}
	file, err := faber.New().AgainFile(snap, action)
	if err != nil {
		return console.Refused("say.text", "text", err).Try("say.text", "text", console.Typed("show --why", name))
	}
	body, err := schemas.Encode(faber.Again{By: by, At: string(run.Seconds(b.Env.Now()))})
	if err != nil {
		return err
	}
	d := engine.Document{Path: path.Join(f.Run.Dir, file), Kind: layout.FaberAgain, Body: body}
	switch err := b.Store.Create(d); {
	case errors.Is(err, store.ErrConflict):
		return console.Refused("cli.faber.again.there", "file", d.Path)
	case err != nil:
		return console.Refused("cli.faber.write", "file", d.Path, "error", console.Plain(err))
	}
	action = path.Base(path.Dir(file))
	data := map[string]any{"run": f.Key(), "action": action, "path": d.Path, "by": by, "daemon": b.HasDaemon("workspace.nodaemon.carry")}
	return b.Env.Answer(data, func() { b.Env.Say("cli.faber.again.said", "action", action, "run", name) })
}
