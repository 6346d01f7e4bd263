package cli

import (
	"context"
	"embed"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/ask"
	"placet/cmd/placet/cli/demo"
	"placet/cmd/placet/cli/faber"
	"placet/cmd/placet/cli/hook"
	"placet/cmd/placet/cli/nemawashi"
	"placet/cmd/placet/cli/optimizer"
	"placet/cmd/placet/cli/pal"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/templates"
)

// manual holds the pages of --help: one for each verb, in a file of its name, and those for
// several of them. A folder of a language holds the same pages in that language.
//
//go:embed manual
var manual embed.FS

// page returns a page of the manual in a language, or else in English, "" if there is none.
func page(lang, name string) string {
	body, err := manual.ReadFile("manual/" + lang + "/" + name + ".txt")
	if err != nil {
		body, _ = manual.ReadFile("manual/" + name + ".txt")
	}
	return strings.TrimSpace(string(body))
}

func init() { cobra.EnableCommandSorting = false }

// newRoot builds the whole command line on an environment. It sets begun when a verb begins: an
// earlier error is one of usage.
func newRoot(w *console.Env, begun *bool) *cobra.Command {
	root := &cobra.Command{
		Use: "placet", Annotations: map[string]string{verb.InManual: "placet"},
		Args: noSuchCommand, SilenceErrors: true, SilenceUsage: true, Version: thisBuild().Version,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if *begun = true; cmd.Name() == cobra.ShellCompRequestCmd {
				word(w, cmd.Root())
			}
			return speak(w)
		},
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_ = speak(w)
		word(w, root)
		show(w, "help", cmd)
	})
	root.SetVersionTemplate("placet {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.Usage("say.text", "text", flagError(err)).Try("say.text", "text", cmd.CommandPath()+" --help")
	})
	root.SetIn(w.In)
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVarP(&w.Flags.Workspace, "workspace", "C", "", "")
	f.StringVar(&w.Flags.Config, "config", "", "")
	f.StringVar(&w.Flags.Lang, "lang", "", "")
	f.BoolVar(&w.Flags.JSON, "json", false, "")
	for _, id := range []string{verb.GroupAsk, verb.GroupDecide, verb.GroupRun, verb.GroupUnderstand, verb.GroupSetUp, verb.GroupFamilies} {
		root.AddGroup(&cobra.Group{ID: id})
	}
	root.SetHelpCommandGroupID(verb.GroupSetUp)
	root.SetCompletionCommandGroupID(verb.GroupSetUp)
	for _, command := range verbs() {
		root.AddCommand(command.Command(w))
	}
	root.AddCommand(tokenCommand(w))
	for _, f := range family.All {
		if own := ownVerbs(f.Name); len(f.Controls)+len(own) > 0 {
			root.AddCommand(familyCommand(w, f, own))
		}
	}
	addHelpOfAll(w, root)
	return root
}

// flagError returns the error for flags that the parser does not understand.
func flagError(err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var wrong *pflag.InvalidSyntaxError
	// A one-letter flag is shown with the letters that it was typed with.
	named := func(key templates.Key, name, letters string) error {
		if letters == "" {
			return templates.Errorf(key, "flag", "--"+name)
		}
		return templates.Errorf(key+".letter", "letter", strconv.QuoteRune(rune(name[0])), "flags", "-"+letters)
	}
	switch {
	case errors.As(err, &unknown):
		return named("cli.root.flag", unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames())
	case errors.As(err, &bare):
		return named("cli.root.flag.bare", bare.GetSpecifiedName(), bare.GetSpecifiedShortnames())
	case errors.As(err, &invalid):
		flag := "--" + invalid.GetFlag().Name
		if short := invalid.GetFlag().Shorthand; short != "" {
			flag = "-" + short + ", " + flag
		}
		return templates.Errorf("cli.root.flag.value", "value", strconv.Quote(invalid.GetValue()), "flag", strconv.Quote(flag), "error", invalid.Unwrap())
	case errors.As(err, &wrong):
		return templates.Errorf("cli.root.flag.syntax", "flag", wrong.GetSpecifiedFlag())
	}
	return err
}

// speak sets the language that --lang names.
func speak(w *console.Env) error {
	if w.Flags.Lang == "" {
		return nil
	}
	if !slices.Contains(templates.Languages(), w.Flags.Lang) {
		return console.Usage("cli.root.lang", "value", strconv.Quote(console.OneLine(w.Flags.Lang)), "languages", strings.Join(templates.Languages(), ", "))
	}
	w.Lang = w.Flags.Lang
	return nil
}

// verbs returns all commands, in the order of the manual.
func verbs() []verb.Verb {
	return []verb.Verb{
		ask.Verb(), ask.WaitVerb(), ask.WithdrawVerb(),
		inboxVerb(), plainVerb(answer.Approving, ""), plainVerb(answer.Rejecting, ""), respondVerb(), showVerb(), openVerb(),
		serveVerb(), watchVerb(), mcpVerb(), statusVerb(), graphVerb(),
		setup.InitVerb(), doctorVerb(), trustVerb(), hook.Verb(personVerbIn), demo.Verb(), schemaVerb(), versionVerb(),
		plainVerb(answer.Steering, " -m TEXT"), adoptVerb(), onceVerb(), explainVerb(), logVerb(), checkVerb(), loginVerb(),
	}
}

// personVerbIn returns the verb for people alone that the arguments of placet call, "" for
// none.
func personVerbIn(args []string) string {
	return verb.PersonVerbIn(newRoot(&console.Env{}, new(bool)), args)
}

// ownVerbs returns the verbs of families that are not controls.
func ownVerbs(family string) []verb.Verb {
	switch family {
	case "faber":
		return []verb.Verb{faber.GateVerb(), faber.AgainVerb(), faber.ContextVerb(), faber.CommentVerb(), faber.PollVerb(), faber.CoordinateVerb()}
	case "optimizer":
		return optimizer.Verbs()
	case "nemawashi":
		return nemawashi.Verbs()
	case "pal":
		return []verb.Verb{pal.PlanVerb(), pal.SendVerb(), pal.HookVerb(), pal.ExportVerb()}
	}
	return nil
}

// run carries out one command line, and returns the exit code.
func run(ctx context.Context, w *console.Env, args []string) int {
	var begun bool
	root := newRoot(w, &begun)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if !begun {
		_ = speak(w) // the error itself is in that language, too
	}
	return w.Report(err, begun)
}

// subcommands makes a command that only holds others refuse all other words.
func subcommands(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = noSuchCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

// noSuchCommand refuses a word that names no command, and names the nearest that do.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	p := console.Usage("cli.root.unknown", "word", strconv.Quote(console.OneLine(args[0])), "command", strconv.Quote(cmd.CommandPath())).
		Try("say.text", "text", cmd.CommandPath()+" --help")
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		var names any = near[0]
		for _, next := range near[1:] {
			names = templates.NewMessage("list.or", "all", names, "last", next)
		}
		p.Try("cli.root.near", "names", names)
	}
	return p
}
