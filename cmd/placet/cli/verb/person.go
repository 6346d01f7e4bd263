package verb

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/templates"
)

// personVerb is a verb that a person alone may use: by it somebody answers, decides what counts, or
// hands out the right to do so. An agent that used it would answer its own questions.
type personVerb struct {
	Path string        // below placet
	says templates.Key // refuses the verb to an agent
	// reads reports whether a use of the verb only shows something, nil where none does.
	reads func(cmd *cobra.Command, args []string) bool
	// hosted says that clients of agents use the verb themselves: it refuses nobody, but no command
	// of an agent uses it.
	hosted bool
}

// PersonVerbs are all such verbs. The verbs refuse by this list where the client of an agent has
// started them, and the guard of placet hook denies by it. Of the verbs of tokens new is one: list
// shows no secret, and revoke takes a right away. serve prints a link by which a browser is logged in
// as the owner, and mcp takes what its host says for what the user says.
var PersonVerbs = []personVerb{
	{Path: "approve", says: "cli.answer.agent"},
	{Path: "reject", says: "cli.answer.agent"},
	{Path: "steer", says: "cli.answer.agent"},
	{Path: "respond", says: "cli.answer.agent"},
	{Path: "adopt", says: "cli.person.agent"},
	{Path: "trust", says: "cli.person.agent", reads: listsTrust},
	{Path: "open", says: "cli.person.agent"},
	{Path: "login", says: "cli.person.agent"},
	{Path: "token new", says: "cli.person.agent"},
	{Path: "serve", says: "cli.person.agent"},
	{Path: "mcp", hosted: true},
}

// personVerbOf returns the entry of a use of a command, false where anybody may use it so.
func personVerbOf(cmd *cobra.Command, args []string) (v personVerb, ok bool) {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	i := slices.IndexFunc(PersonVerbs, func(v personVerb) bool { return v.Path == path })
	if i < 0 {
		return v, false
	}
	v = PersonVerbs[i]
	return v, v.reads == nil || !v.reads(cmd, args)
}

// RefuseAgent refuses a verb that a person alone may use in a program that an agent's client has
// started.
func RefuseAgent(w *console.Env, cmd *cobra.Command, args []string) error {
	name := w.Agent()
	v, ok := personVerbOf(cmd, args)
	if name == "" || !ok || v.hosted {
		return nil
	}
	return console.Refused(v.says, "variable", name, "verb", v.Path).Try("cli.answer.agent.try")
}

// PersonVerbIn returns the verb that the arguments of placet call, if a person alone may use it so,
// else "". The command tree reads them as it does when placet is called, so that no flag is known
// there and not here.
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
	return v.Path
}

// listsTrust reports whether a use of trust only lists.
func listsTrust(cmd *cobra.Command, args []string) bool {
	lists := len(args) == 0
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { lists = lists && !f.Changed })
	return lists
}
