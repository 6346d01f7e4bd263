package cli

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/schemas"
)

// familyCommand returns the command for what only one family has: verbs of its own, and its
// controls.
func familyCommand(w *console.Env, f family.Family, own []verb.Verb) *cobra.Command {
	cmd := &cobra.Command{Use: f.Name, GroupID: verb.GroupFamilies}
	for _, c := range f.Controls {
		own = append(own, controlVerb(f, c))
	}
	for _, v := range own {
		cmd.AddCommand(v.Command(w))
	}
	return subcommands(cmd)
}

// controlVerb returns the verb of a control.
func controlVerb(of family.Family, c family.Control) verb.Verb {
	var reason, by string
	return verb.Verb{
		Use: c.Use, Least: 1, Most: 1, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.StringVarP(&reason, "message", "m", "", "")
			if c.Named {
				f.StringVar(&by, "as", console.Login(), "")
			}
		},
		Look: func(call verb.Call, b *workspace.Workspace) error {
			f, err := view.OneRun(b, call.Args[0])
			if err != nil {
				return err
			}
			return giveControl(call.Ctx, b, of, c, f, strings.TrimSpace(reason), by)
		},
	}
}

// giveControl controls a run: it writes the control's document.
func giveControl(ctx context.Context, b *workspace.Workspace, of family.Family, c family.Control, f loop.Found, reason, by string) error {
	word, _, _ := strings.Cut(c.Use, " ")
	v := view.Of(b, f)
	t := family.Target{RunView: v.RunView, Run: f.Run, Name: console.Brief(f.Key()), Lang: b.Env.Lang, Read: func(name string) engine.Document { return b.ReadDocument(f, name) }}
	switch {
	case f.Run.Family != of.Name:
		return console.Usage("cli.control.other", "verb", word, "run", t.Name, "noun", of.Noun)
	case c.Reason == family.Needed && reason == "":
		return console.Usage("cli.control.reason", "verb", word, "run", t.Name).Try("cli.control.reason.try", "flag", "-m REASON")
	}
	if err := c.Refuse(word, t); err != nil {
		return err
	}
	reason, err := reasonFor(ctx, b, v, word, reason, by, c)
	if err != nil {
		return err
	}
	members := c.Document(t, by, reason)
	file, err := writeControl(b, f, c, word, members)
	if err != nil {
		return err
	}
	if c.Remark != nil {
		if remark := c.Remark(t, by, reason); remark != "" {
			b.Env.Note("say.text", "text", remark)
		}
	}
	data := map[string]any{"run": v.Key, "path": file, "daemon": b.HasDaemon("workspace.nodaemon.carry")}
	for _, m := range members {
		data[m.Name] = m.Value
	}
	if c.Named {
		data["reason"] = reason
	}
	return b.Env.Answer(data, func() { b.Env.Say("say.text", "text", c.Said(t, by, reason)) })
}

// writeControl makes a control's document durable.
func writeControl(b *workspace.Workspace, f loop.Found, c family.Control, word string, members schemas.Object) (file string, err error) {
	body, err := schemas.Encode(members)
	if err != nil {
		return "", err
	}
	kind, _ := f.Family.Layout.File(f.Run, c.File)
	d := engine.Document{Path: path.Join(f.Run.Dir, c.File), Kind: kind.Kind, Body: body}
	for range 3 {
		if c.Replaces {
			there := b.ReadDocument(f, c.File)
			if there.Err != nil && !there.Absent() {
				return "", console.Refused("cli.control.unreadable", "file", d.Path, "error", there.Err).Try("cli.control.unreadable.try")
			}
			d.Over = there.Sum
		}
		err = b.Store.Write(d)
		if !c.Replaces || !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	switch {
	case errors.Is(err, store.ErrConflict) && c.Replaces:
		return "", console.Refused("cli.control.busy", "file", d.Path).Try("cli.control.busy.try")
	case errors.Is(err, store.ErrConflict):
		return "", console.Refused("cli.control.there", "verb", word, "run", console.Brief(f.Key()), "file", d.Path).
			Try("say.text", "text", console.Typed("show --why", console.Brief(f.Key())))
	case err != nil:
		return "", console.Refused("cli.control.failed", "file", d.Path, "error", err)
	}
	return d.Path, nil
}

// reasonFor returns the reason of a person for a control: that of -m or else, if a reason is
// asked for, the one typed on a terminal. It refuses a name and a reason that no record may
// hold.
func reasonFor(ctx context.Context, b *workspace.Workspace, v view.Run, word, given, by string, c family.Control) (string, error) {
	name := console.Brief(v.Key)
	if c.Named {
		if err := answer.CheckName(word, by); err != nil {
			return "", err
		}
	}
	if err := verb.CheckWords(b.Env, word, name, b.Env.Text("cli.words.reason"), given, by); err != nil || given != "" || c.Reason != family.AskedFor {
		return given, err
	}
	if !b.Env.AtTerminal() {
		return "", console.Usage("cli.control.reason", "verb", word, "run", name).Try("cli.control.reason.try", "flag", "-m TEXT")
	}
	p := b.Env.NewPrompter()
	defer p.Close()
	question := console.PromptLine{Text: b.Env.Text("cli.control.why", "verb", console.Title(word), "run", name)}
	err := p.Ask(ctx, question, func(text string) (again string) { given = text; return "" })
	return given, err
}
