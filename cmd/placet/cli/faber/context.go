package faber

import (
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/layout"
)

// ContextVerb returns the verb that prints what an agent must know to work on a run, whether the run
// was asked about or not.
func ContextVerb() verb.Verb {
	return verb.Verb{
		Use: "context RUN", Least: 1, Most: 1, Complete: verb.CompleteRuns,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			f, err := served(b, "context", c.Args[0])
			if err != nil {
				return err
			}
			text, err := contextOf(b, f)
			if err != nil {
				return err
			}
			return b.Env.Answer(map[string]any{"run": f.Key(), "text": text}, func() { b.Env.Say("say.text", "text", text) })
		},
	}
}

// contextOf reads what the context of a run quotes, and returns the text.
func contextOf(b *workspace.Workspace, f loop.Found) (string, error) {
	var snap engine.Snapshot
	var needs []string
	for {
		var err error
		if snap, err = b.SettledRun(f, true, needs...); err != nil {
			return "", console.Refused("cli.faber.read", "run", console.Brief(f.Key()), "error", console.Plain(err))
		}
		text, more := faber.New().Context(snap)
		if text != nil || len(snap.Lacks(more)) == 0 {
			return string(text), nil
		}
		needs = append(needs, more...)
	}
}

// served returns the run of FABER that an argument names and that placet serves.
func served(b *workspace.Workspace, verb, arg string) (loop.Found, error) {
	f, err := view.OneRun(b, arg)
	if err == nil && (f.Run.Family != "faber" || f.Run.Class != layout.FaberRun) {
		err = console.Refused("cli.faber.served", "verb", verb, "run", console.Brief(f.Key()))
	}
	return f, err
}
