package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/hook"
	"placet/templates"
)

// word sets the texts of help for a command, and for those below it, in the language of the
// screen. The key of a command is help.<its path>. The key of a flag is below that, or below
// that of a command above, or is help.flag.<its name> for the same flag of several commands.
func word(w *console.Env, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	says := func(key string) string {
		if templates.Text(w.Lang, key) == key {
			return ""
		}
		return w.Text(templates.Key(key), "command", cmd.Name(), "clients", strings.Join(hook.Names(false), ", "))
	}
	cmd.Short = says(helpKey(cmd))
	cmd.Long = says(helpKey(cmd) + ".page") // of the commands that cobra adds
	for _, name := range strings.Fields(cmd.Annotations[verb.InManual]) {
		cmd.Long = strings.TrimSpace(cmd.Long + "\n\n" + page(w.Lang, name))
	}
	for _, g := range cmd.Groups() {
		g.Title = says("help.group." + g.ID)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		f.Usage = ""
		for c := cmd; c.HasParent() && f.Usage == ""; c = c.Parent() {
			f.Usage = says(helpKey(c) + "." + f.Name)
		}
		f.Usage = cmp.Or(f.Usage, says("help.flag."+f.Name))
	})
	for _, below := range cmd.Commands() {
		word(w, below)
	}
}

// addHelpOfAll makes "help all" list all commands: --help lists only the common ones.
func addHelpOfAll(w *console.Env, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // always found
	one := help.Run
	help.Run = func(cmd *cobra.Command, args []string) {
		if len(args) != 1 || args[0] != "all" {
			one(cmd, args)
			return
		}
		_ = speak(w)
		word(w, root)
		show(w, "help.all", root)
	}
}

// Commands returns all commands with the texts of their help in a language, for those who make
// pages of it.
func Commands(lang string) *cobra.Command {
	w := &console.Env{Lang: lang}
	root := newRoot(w, new(bool))
	root.InitDefaultCompletionCmd()
	word(w, root)
	return root
}

// helpKey returns the key of the help of a command: help.pal.pause.
func helpKey(cmd *cobra.Command) string {
	path := strings.Fields(cmd.CommandPath())
	return strings.Join(append([]string{"help"}, path[1:]...), ".")
}

// flagLines returns flags as help lists them, by group.
func flagLines(w *console.Env, flags *pflag.FlagSet) string {
	var parts []string
	for _, group := range append([]string{""}, verb.FlagGroups...) {
		some := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.VisitAll(func(f *pflag.Flag) {
			if verb.GroupOf(f) == group {
				some.AddFlag(f)
			}
		})
		if !some.HasFlags() {
			continue
		}
		if group != "" {
			parts = append(parts, "", "  "+w.Text(templates.Key("help.flags."+group)))
		}
		parts = append(parts, strings.TrimRight(some.FlagUsages(), "\n"))
	}
	return strings.ReplaceAll(strings.Join(parts, "\n"), "(default ", "("+w.Text("help.word.default")+" ")
}
