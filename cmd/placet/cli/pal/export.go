package pal

import (
	"cmp"
	"errors"
	iofs "io/fs"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/pal"
	"placet/engine/sqlite"
	"placet/layout"
	"placet/templates"
)

// ExportVerb returns the verb that writes the rows of orchestrations into a new database.
func ExportVerb() verb.Verb {
	file := ""
	return verb.Verb{
		Use: "export O… --sqlite FILE", Least: 1, Most: -1, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&file, "sqlite", "", "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			if file == "" {
				return console.Usage("cli.pal.export.file").Try("cli.pal.export.file.try")
			}
			return exportRuns(b, c.Args, file)
		},
	}
}

// exportRuns makes a database from the files of some orchestrations.
func exportRuns(b *workspace.Workspace, args []string, file string) error {
	rows, runs, err := exportRows(b, args)
	if err != nil {
		return err
	}
	body, err := sqlite.Build(pal.ExportSchema, rows)
	if err != nil {
		return console.Refused("cli.pal.export.failed", "error", err)
	}
	if err := createWhole(b.Env.Path(file), body); err != nil {
		if errors.Is(err, iofs.ErrExist) {
			return console.Refused("cli.pal.export.exists", "file", file).Try("cli.pal.export.exists.try")
		}
		return console.Refused("cli.pal.write", "file", file, "error", console.Plain(err))
	}
	data := map[string]any{"runs": runs, "path": file, "rows": countRows(rows)}
	return b.Env.Answer(data, func() {
		b.Env.Say("cli.pal.export.done", "file", file, "rows", templates.NewMessage("count.rows", "n", len(rows)),
			"orchestrations", templates.NewMessage("cli.pal.orchestrations", "n", len(runs)))
	})
}

// exportRows returns the rows of all runs that are named, each once, with tables that others
// refer to first.
func exportRows(b *workspace.Workspace, args []string) (rows []engine.Row, runs []engine.Key, err error) {
	channels := map[string]engine.Key{}
	for _, arg := range args {
		if layout.IsPalID(arg) {
			arg = "pal/" + arg
		}
		f, err := view.OneRun(b, arg)
		switch {
		case err != nil:
			return nil, nil, err
		case f.Run.Family != "pal":
			return nil, nil, console.Usage("cli.pal.export.other", "run", console.Brief(f.Key()))
		case slices.Contains(runs, f.Key()):
			continue
		}
		snap, err := b.SettledRun(f, true)
		if err != nil {
			return nil, nil, console.Refused("cli.pal.read", "file", console.Brief(f.Key()), "error", console.Plain(err))
		}
		own, left, err := pal.New().Export(snap)
		if err != nil {
			return nil, nil, console.Refused("cli.pal.export.failed", "error", err).Try("say.text", "text", console.Typed("show --why", console.Brief(f.Key())))
		}
		for _, file := range left {
			b.Env.Note("cli.pal.export.left", "file", file)
		}
		for _, row := range own {
			if other, taken := channels[row.ID]; row.Table == "direct_channels" && taken {
				return nil, nil, console.Refused("cli.pal.export.both", "a", console.Brief(other), "b", console.Brief(f.Key()), "port", row.ID).
					Try("cli.pal.export.both.try")
			}
			if row.Table == "direct_channels" {
				channels[row.ID] = f.Key()
			}
		}
		rows, runs = append(rows, own...), append(runs, f.Key())
	}
	return rows, runs, nil
}

// countRows counts rows by their table.
func countRows(rows []engine.Row) map[string]int {
	count := map[string]int{"sessions": 0, "direct_channels": 0, "direct_messages": 0, "escalations": 0}
	for _, row := range rows {
		count[row.Table]++
	}
	return count
}

// createWhole makes a file that must not exist. It removes the file if it cannot write all of
// it.
func createWhole(name string, body []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
		f.Close()
		os.Remove(name)
	}
	return err
}
