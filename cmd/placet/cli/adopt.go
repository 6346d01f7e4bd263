package cli

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	kernel "placet/engine/run"
	"placet/engine/statedir"
	"placet/templates"
)

// adoptVerb returns the older name of doctor --fix RUN.
func adoptVerb() verb.Verb {
	var reason, by string
	return verb.Verb{
		Use:   "adopt RUN[@DIGEST]",
		Least: 1, Most: 1, Group: verb.GroupDecide, Complete: verb.CompleteRuns, Old: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVarP(&reason, "message", "m", "", "")
			f.StringVar(&by, "as", console.Login(), "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error { return adoptNamed(c.Ctx, b, c.Args[0], reason, by) },
	}
}

// adoptNamed records that a person accepts the state document of the run that an argument names,
// with or without the digest of the document.
func adoptNamed(ctx context.Context, b *workspace.Workspace, arg, reason, by string) error {
	run, digest, named := console.CutLast(arg, "@")
	f, err := view.OneRun(b, run)
	if err != nil {
		return err
	}
	if named && !statedir.IsReference(digest) {
		return console.Usage("cli.adopt.short", "run", console.Brief(f.Key()), "digest", strconv.Quote(console.OneLine(digest))).Try("cli.adopt.short.try")
	}
	return adoptRun(ctx, b, f, digest, strings.TrimSpace(reason), by)
}

// adoptRun records that a person accepts the state document of a run. digest must name the
// document; "" asks at a terminal.
func adoptRun(ctx context.Context, b *workspace.Workspace, f loop.Found, digest, reason, by string) error {
	v := view.Of(b, f)
	state := b.ReadDocument(f, path.Base(f.Run.State))
	if err := cmp.Or(answer.CheckName("adopt", by), verb.CheckWords(b.Env, "adopt", console.Brief(v.Key), b.Env.Text("cli.words.reason"), reason, by)); err != nil {
		return err
	}
	name, look := console.Brief(v.Key), console.Typed("show --why", console.Brief(v.Key))
	if claims := v.Fabrications(); v.Unaccounted == "" && len(claims) > 0 {
		return adoptClaims(ctx, b, v, claims, digest, reason, by)
	}
	if v.Unaccounted == "" {
		return console.Refused("cli.adopt.fine", "run", name).Try("say.text", "text", look)
	}
	use := []string{"adopt", v.Key.String()}
	short := b.References.Of(v.Unaccounted, use...)
	again := templates.CommandLine("placet doctor --fix", []string{name + "@" + short})
	switch {
	case state.Sum != v.Unaccounted:
		return console.Refused("cli.adopt.changed", "run", name).Try("say.text", "text", look)
	case digest != "" && !b.References.IsOf(digest, v.Unaccounted, use...):
		return console.Refused("cli.adopt.other", "run", name, "digest", short, "named", digest).Try("cli.adopt.look", "command", again)
	case digest == "" && !b.Env.AtTerminal():
		return console.Refused("cli.adopt.unnamed", "run", name).Try("cli.adopt.look", "command", again)
	case digest == "":
		if err := askAdopt(ctx, b, v, f, short); err != nil {
			return err
		}
	}
	if err := adoptState(b, f, state, reason, by); err != nil {
		return err
	}
	if err := renew(b, f, state); err != nil {
		return err
	}
	daemon := b.HasDaemon("workspace.nodaemon.go_on")
	data := map[string]any{"run": v.Key.String(), "path": state.Path, "digest": state.Sum, "status": v.Status, "by": by, "reason": reason, "daemon": daemon}
	return b.Env.Answer(data, func() {
		key := templates.Key("cli.adopt.done")
		if reason != "" {
			key = "cli.adopt.done.why"
		}
		b.Env.Say(key, "run", name, "status", string(v.Status), "digest", short, "by", by, "reason", console.Cut(console.OneLine(reason), 160))
	})
}

// askAdopt shows the content of a state document, and asks whether it shall count.
func askAdopt(ctx context.Context, b *workspace.Workspace, v view.Run, f loop.Found, short string) error {
	p := b.Env.NewPrompter()
	defer p.Close()
	showOnErr(b, func() {
		show(b.Env, "adopted", struct {
			view.Run
			Short, Command string
		}{v, short, "git diff -- " + templates.ShellWord(f.Run.State)})
	})
	return p.Agreed(ctx, b.Env.Text("cli.adopt.ask"))
}

// adoptState adds the line to the run's journal. Nobody else writes there, because the run is
// blocked. It refuses a line that is longer than the part of a journal that is read.
func adoptState(b *workspace.Workspace, f loop.Found, state engine.Document, reason, by string) error {
	body, err := kernel.AdoptionLine(state, by, reason, b.Env.Now())
	if err != nil {
		return err
	}
	journal := kernel.JournalBeside(state.Path)
	kind, known := f.Family.Layout.File(f.Run, path.Base(journal))
	if !known {
		return nil
	}
	if n := int64(len(body)); kind.End > 0 && n > kind.End {
		return console.Refused("cli.adopt.long", "run", console.Brief(f.Key()), "file", journal, "bytes", n, "most", kind.End).Try("cli.adopt.long.try")
	}
	plan := engine.Plan{Lines: []engine.Line{{Path: journal, Body: body}}}
	if err := b.Store.Commit(f.Run, f.Family.Layout, plan); err != nil {
		return console.Refused("cli.adopt.failed", "run", console.Brief(f.Key()), "error", err)
	}
	return b.Store.Flush()
}

// renew records a state that placet itself wrote before another one, and its requests, as the
// newest again. It removes the note about it, so that a daemon reads the run again.
func renew(b *workspace.Workspace, f loop.Found, state engine.Document) error {
	if b.StateDir == nil {
		return nil
	}
	var older []engine.Document
	for name, digests := range b.StateDir.Issued(f.Run.Dir) {
		rel, _ := strings.CutPrefix(name, f.Run.Dir+"/")
		if d := b.ReadDocument(f, rel); d.Present() {
			if d.Issued = digests; d.IsOlder() {
				older = append(older, d)
			}
		}
	}
	if !slices.ContainsFunc(older, func(d engine.Document) bool { return d.Path == state.Path }) {
		return nil
	}
	if err := cmp.Or(b.StateDir.Issue(f.Run.Dir, older), b.StateDir.Confirm(f.Run.Dir, older)); err != nil {
		return err
	}
	return b.Store.Commit(f.Run, f.Family.Layout, engine.Plan{Removes: []string{state.Path + ".problem.md"}})
}
