package verb

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/gate"
	"placet/templates"
)

// These are the groups of verbs in the help, by what a person wants.
const (
	GroupAsk        = "ask"
	GroupDecide     = "decide"
	GroupRun        = "run"
	GroupUnderstand = "understand"
	GroupSetUp      = "set-up"
	GroupFamilies   = "families"
)

// InManual annotates a command with the names of its pages of the manual, and Common one that
// placet --help lists.
const (
	InManual = "manual"
	Common   = "common"
)

// FlagGroups are the groups of flags that the help of a verb with many flags shows, in this order.
var FlagGroups = []string{"answer", "shown", "wait", "other", "file"}

// flagGroup annotates a flag with its group.
const flagGroup = "group"

// GroupFlags puts flags into a group.
func GroupFlags(f *pflag.FlagSet, group string, names ...string) {
	for _, name := range names {
		f.Lookup(name).Annotations = map[string][]string{flagGroup: {group}}
	}
}

// GroupOf returns the group of a flag, "" for none.
func GroupOf(f *pflag.Flag) string { return strings.Join(f.Annotations[flagGroup], "") }

// Verb describes a command: its name, its arguments, and its function.
type Verb struct {
	Use, Group  string
	Page        string // page of the manual; "" is that of the verb's name
	About       string // a further page of the manual
	Common      bool   // placet --help lists it, not only placet help all
	Old         bool   // an older name of another verb, which no help lists
	Spares      bool   // see [console.Env.Spares]
	Least, Most int    // number of arguments; Most is -1 for any number
	Complete    func(*console.Env) cobra.CompletionFunc
	Flags       func(*pflag.FlagSet)
	// Exactly one of these is set: Run, or Look for a verb that opens the workspace for reading
	// first.
	Run  func(c Call) error
	Look func(c Call, b *workspace.Workspace) error
}

// Call is one use of a verb.
type Call struct {
	Ctx   context.Context
	Env   *console.Env
	Args  []string
	Flags *pflag.FlagSet
	Line  string // the usage of the verb
}

// Command returns the verb as a command of the command line.
func (v Verb) Command(w *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: v.Use, GroupID: v.Group, Args: v.takes, Hidden: v.Old}
	cmd.Annotations = map[string]string{InManual: cmp.Or(v.Page, cmd.Name()) + " " + v.About}
	if v.Common {
		cmd.Annotations[Common] = "yes"
	}
	if v.Complete != nil {
		cmd.ValidArgsFunction = v.Complete(w)
	}
	if v.Flags != nil {
		v.Flags(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := RefuseAgent(w, cmd, args); err != nil {
			return err
		}
		w.Spares = v.Spares
		c := Call{cmd.Context(), w, args, cmd.Flags(), cmd.UseLine()}
		if err := refuseGroups(cmd.Flags()); err != nil {
			return err
		}
		if v.Run != nil {
			return v.Run(c)
		}
		b, err := workspace.Look(w)
		if err != nil {
			return err
		}
		return v.Look(c, b)
	}
	return cmd
}

// refuseGroups refuses groups in flags that name people.
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
func (v Verb) takes(cmd *cobra.Command, args []string) error {
	n := len(args)
	switch {
	case n >= v.Least && (n <= v.Most || v.Most < 0):
		return nil
	case v.Most < 0:
		return console.Usage("cli.root.least", "command", strconv.Quote(cmd.CommandPath())).Try("say.text", "text", cmd.UseLine())
	}
	wants := templates.NewMessage("count.arguments", "n", v.Most)
	if v.Least < v.Most {
		wants = templates.NewMessage("cli.root.arguments", "least", v.Least, "most", v.Most)
	}
	return console.Usage("cli.root.takes", "command", strconv.Quote(cmd.CommandPath()), "arguments", wants, "given", n).Try("say.text", "text", cmd.UseLine())
}

// CompleteRuns completes a run argument.
func CompleteRuns(w *console.Env) cobra.CompletionFunc {
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

// CompleteRequests completes a request argument with the open requests, and then with the
// request's options.
func CompleteRequests(w *console.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		b, err := workspace.Look(w)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := b.Loop.Runs()
		var names []cobra.Completion
		if len(args) >= 1 && cmd.Name() == "respond" {
			name, _, _ := view.CutDigest(args[0])
			for _, t := range view.OpenRequests(b, found, name) {
				for _, o := range t.Options {
					names = append(names, cobra.CompletionWithDesc(console.OneLine(o.ID), console.OneLine(o.Says())))
				}
			}
		}
		if len(args) == 0 {
			for _, t := range view.OpenRequests(b, found, "") {
				names = append(names, cobra.CompletionWithDesc(view.Reference(t.OpenRequest), console.Brief(t.Run)+" "+console.OneLine(t.Where)+" "+console.Cut(console.OneLine(t.Prompt), 50)))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
