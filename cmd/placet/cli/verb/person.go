package verb

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/templates"
)

// personVerb is a verb that only a person may use: it answers, decides what counts, or grants the
// right to do so. An agent that used it would answer its own questions.
type personVerb struct {
	Path string        // below placet
	as   string        // how a person types it, "" for the path
	says templates.Key // the text that refuses the verb to an agent
	// reads reports whether a use of the verb only shows something; nil if no use does.
	reads func(cmd *cobra.Command, args []string) bool
	// hosted says that clients of agents use the verb themselves. It refuses nobody, but no command
	// of an agent may use it.
	hosted bool
}

// PersonVerbs lists all such verbs. They refuse by this list a caller that the client of an agent has
// started, and the guard of placet hook denies by it. Of the verbs of tokens only new is here,
// because list shows no secret, and revoke takes a right away. serve prints a link by which a browser
// is logged in as the owner, and mcp takes what its host says as the words of the user.
var PersonVerbs = []personVerb{
	{Path: "approve", says: "cli.answer.agent"},
	{Path: "reject", says: "cli.answer.agent"},
	{Path: "steer", says: "cli.answer.agent"},
	{Path: "respond", says: "cli.answer.agent"},
	{Path: "adopt", says: "cli.person.agent"},
	{Path: "doctor", as: "doctor --fix", says: "cli.person.agent", reads: without("fix")},
	{Path: "inbox", as: "inbox --watch", says: "cli.person.agent", reads: without("watch")},
	{Path: "trust", says: "cli.person.agent", reads: listsTrust},
	{Path: "open", says: "cli.person.agent"},
	{Path: "login", says: "cli.person.agent"},
	{Path: "token new", says: "cli.person.agent"},
	{Path: "serve", says: "cli.person.agent"},
	{Path: "mcp", hosted: true},
}

// personVerbOf returns the entry for a use of a command, false if anybody may use it so.
func personVerbOf(cmd *cobra.Command, args []string) (v personVerb, ok bool) {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	i := slices.IndexFunc(PersonVerbs, func(v personVerb) bool { return v.Path == path })
	if i < 0 {
		return v, false
	}
	v = PersonVerbs[i]
	return v, v.reads == nil || !v.reads(cmd, args)
}

// RefuseAgent refuses a verb for people alone in a program that an agent's client has started.
func RefuseAgent(w *console.Env, cmd *cobra.Command, args []string) error {
	name := w.Agent()
	v, ok := personVerbOf(cmd, args)
	if name == "" || !ok || v.hosted {
		return nil
	}
	return console.Refused(v.says, "variable", name, "verb", v.Typed()).Try("cli.answer.agent.try")
}

// PersonVerbIn returns the verb that the arguments of placet call, if only a person may use it so,
// else "". It uses the same command tree as placet itself, so that both know the same flags.
func PersonVerbIn(root *cobra.Command, args []string) string {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return ""
	}
	err = cmd.ParseFlags(rest)
	v, ok := personVerbOf(cmd, cmd.Flags().Args())
	if !ok || errors.Is(err, pflag.ErrHelp) {
		return ""
	}
	return v.Typed()
}

// Typed returns the verb as a person types it.
func (v personVerb) Typed() string { return cmp.Or(v.as, v.Path) }

// without returns whether a use of a verb lacks the flag with which it is for people alone.
func without(flag string) func(*cobra.Command, []string) bool {
	return func(cmd *cobra.Command, _ []string) bool { return !cmd.Flags().Changed(flag) }
}

// listsTrust reports whether a use of trust only lists.
func listsTrust(cmd *cobra.Command, args []string) bool {
	lists := len(args) == 0
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { lists = lists && !f.Changed })
	return lists
}
