package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
)

// Groups of verbs in the help, by what a person wants.
const (
	groupDecide     = "decide"
	groupRun        = "run"
	groupUnderstand = "understand"
	groupSetUp      = "set-up"
	groupFamilies   = "families"
)

const manual = `placet is the clerk for human decisions in a workspace where agents work.

Agents and editors write files; placet watches them, moves each run on, and
writes what comes next. A person answers by editing a form, or here. The files
are the record: placet can be stopped at any moment without losing anything.

  placet watch              serve the workspace until stopped
  placet inbox              what is asked of you
  placet approve REQUEST    answer

Exit codes: 0 nothing to report; 1 something needs mending, or an answer was
refused; 2 usage or configuration; 3 (once, status, inbox) a request is open.`

// newRoot builds the whole command line on a world. begun is set when a verb
// begins: an error from before is one of usage.
func newRoot(w *console.Env, begun *bool) *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use: "placet", Short: "The clerk for human decisions in a workspace where agents work", Long: manual,
		Args: noSuchCommand, SilenceErrors: true, SilenceUsage: true, Version: thisBuild().Version,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error { *begun = true; return nil },
	}
	root.SetVersionTemplate("placet {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.Usage("%v", err).Try("%s --help", cmd.CommandPath())
	})
	root.SetIn(w.In)
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVarP(&w.Flags.Workspace, "workspace", "C", "", "the workspace (default: the nearest parent with placet.toml, .placet or .git)")
	f.StringVar(&w.Flags.Config, "config", "", "your own configuration (default: placet/placet.toml in XDG_CONFIG_HOME)")
	f.BoolVar(&w.Flags.JSON, "json", false, "answer with one JSON object")
	root.AddGroup(
		&cobra.Group{ID: groupDecide, Title: "Deciding:"},
		&cobra.Group{ID: groupRun, Title: "Serving a workspace:"},
		&cobra.Group{ID: groupUnderstand, Title: "Understanding a run:"},
		&cobra.Group{ID: groupSetUp, Title: "Setting up:"},
		&cobra.Group{ID: groupFamilies, Title: "What one family alone has:"},
	)
	root.SetHelpCommandGroupID(groupSetUp)
	root.SetCompletionCommandGroupID(groupSetUp)
	for _, command := range verbs() {
		root.AddCommand(command(w))
	}
	for _, f := range family.All {
		var own []*cobra.Command
		for _, command := range ownVerbs[f.Name] {
			own = append(own, command(w))
		}
		root.AddCommand(familyCommand(w, f, own...))
	}
	return root
}

// verbs are all commands, in the order of the manual.
func verbs() []func(*console.Env) *cobra.Command {
	return []func(*console.Env) *cobra.Command{
		inboxCommand, approveCommand, rejectCommand, respondCommand, adoptCommand, showCommand,
		watchCommand, onceCommand, statusCommand,
		explainCommand, logCommand, checkCommand, graphCommand,
		initCommand, trustCommand, doctorCommand, demoCommand, schemaCommand, versionCommand,
	}
}

// ownVerbs are the verbs of families that are more than controls.
var ownVerbs = map[string][]func(*console.Env) *cobra.Command{
	"optimizer": {triggerCommand, nextCommand, replayCommand, decideCommand},
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, w *console.Env, args []string) int {
	var begun bool
	root := newRoot(w, &begun)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return w.Report(err, begun)
}

// subcommands makes a command that only holds others refuse all other words.
func subcommands(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = noSuchCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

// noSuchCommand refuses a word that names no command, with the nearest that do.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	p := console.Usage("unknown command %q for %q", console.OneLine(args[0]), cmd.CommandPath()).Try("%s --help", cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		p.Try("did you mean %s?", strings.Join(near, " or "))
	}
	return p
}

// takes refuses too few and too many arguments.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n := len(args); n < least || n > most {
			wants := console.Plural(most, "argument", "arguments")
			if least < most {
				wants = fmt.Sprintf("%d to %d arguments", least, most)
			}
			return console.Usage("%q takes %s, not %d", cmd.CommandPath(), wants, n).Try("%s", cmd.UseLine())
		}
		return nil
	}
}

// takesSeveral refuses too few arguments.
func takesSeveral(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return console.Usage("%q takes at least one argument", cmd.CommandPath()).Try("%s", cmd.UseLine())
	}
	return nil
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
				names = append(names, cobra.CompletionWithDesc(workspace.Reference(t.Asked), console.Brief(t.Run)+" "+console.OneLine(t.Where)+" "+console.Cut(console.OneLine(t.Prompt), 50)))
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
