package cli

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/gate"
	"placet/templates"
)

// Groups of verbs in the help, by what a person wants.
const (
	groupAsk        = "ask"
	groupDecide     = "decide"
	groupRun        = "run"
	groupUnderstand = "understand"
	groupSetUp      = "set-up"
	groupFamilies   = "families"
)

// inManual annotates a command with the names of its pages of the manual.
const inManual = "manual"

// verb is a command: what it is called, what it takes, and what it does.
type verb struct {
	use, group  string
	page        string // of the manual; "" is that of the verb's name
	about       string // a further page of it
	least, most int    // arguments; a most of -1 is any number
	complete    func(*console.Env) cobra.CompletionFunc
	flags       func(*pflag.FlagSet)
	// One of these is set: run, or look for a verb that begins by opening the workspace to
	// look at it.
	run  func(c call) error
	look func(c call, b *workspace.Workspace) error
}

// call is one use of a verb.
type call struct {
	ctx   context.Context
	env   *console.Env
	args  []string
	flags *pflag.FlagSet
	line  string // how the verb is used
}

// command makes a verb a command of the command line.
func (v verb) command(w *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: v.use, GroupID: v.group, Args: v.takes}
	cmd.Annotations = map[string]string{inManual: cmp.Or(v.page, cmd.Name()) + " " + v.about}
	if v.complete != nil {
		cmd.ValidArgsFunction = v.complete(w)
	}
	if v.flags != nil {
		v.flags(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := refuseAgent(w, cmd, args); err != nil {
			return err
		}
		c := call{cmd.Context(), w, args, cmd.Flags(), cmd.UseLine()}
		if err := refuseGroups(cmd.Flags()); err != nil {
			return err
		}
		if v.run != nil {
			return v.run(c)
		}
		b, err := workspace.Look(w)
		if err != nil {
			return err
		}
		return v.look(c, b)
	}
	return cmd
}

// refuseGroups refuses groups where people are named.
func refuseGroups(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Name != "as" && f.Name != "may-answer" {
			return
		}
		names := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			names = list.GetSlice()
		}
		for _, name := range names {
			if gate.IsGroup(name) {
				err = console.Usage("cli.root.group", "flag", "--"+f.Name, "name", strconv.Quote(console.OneLine(name))).Try("cli.root.group.try")
			}
		}
	})
	return err
}

// takes refuses too few and too many arguments.
func (v verb) takes(cmd *cobra.Command, args []string) error {
	n := len(args)
	switch {
	case n >= v.least && (n <= v.most || v.most < 0):
		return nil
	case v.most < 0:
		return console.Usage("cli.root.least", "command", strconv.Quote(cmd.CommandPath())).Try("say.text", "text", cmd.UseLine())
	}
	wants := templates.NewMessage("count.arguments", "n", v.most)
	if v.least < v.most {
		wants = templates.NewMessage("cli.root.arguments", "least", v.least, "most", v.most)
	}
	return console.Usage("cli.root.takes", "command", strconv.Quote(cmd.CommandPath()), "arguments", wants, "given", n).Try("say.text", "text", cmd.UseLine())
}

// completeRuns completes a run argument.
func completeRuns(w *console.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		b, err := workspace.Look(w)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := b.Loop.Runs()
		var names []cobra.Completion
		for _, f := range found {
			names = append(names, f.Key().String())
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRequests completes a request argument with what is open, and then
// the request's options.
func completeRequests(w *console.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		b, err := workspace.Look(w)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := b.Loop.Runs()
		var names []cobra.Completion
		if len(args) >= 1 && cmd.Name() == "respond" {
			name, _, _ := workspace.CutDigest(args[0])
			for _, t := range b.OpenRequests(found, name) {
				for _, o := range t.Options {
					names = append(names, cobra.CompletionWithDesc(console.OneLine(o.ID), console.OneLine(o.Says())))
				}
			}
		}
		if len(args) == 0 {
			for _, t := range b.OpenRequests(found, "") {
				names = append(names, cobra.CompletionWithDesc(workspace.Reference(t.OpenRequest), console.Brief(t.Run)+" "+console.OneLine(t.Where)+" "+console.Cut(console.OneLine(t.Prompt), 50)))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// orderly is the error of a verb that a signal ended in good order.
func orderly(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
