package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/templates"
)

// treeWith is placet's command tree with more flags of all verbs.
func treeWith(more func(*pflag.FlagSet)) *cobra.Command {
	root := newRoot(&console.Env{}, new(bool))
	if more != nil {
		more(root.PersistentFlags())
	}
	return root
}

// The guard finds the verb behind all flags that placet has before a verb, also behind one that
// somebody adds later.
func TestTheGuardKnowsEveryFlag(t *testing.T) {
	later := func(f *pflag.FlagSet) { f.StringP("later", "L", "", ""); f.Bool("more", false, "") }
	var flags []string
	treeWith(later).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.NoOptDefVal != "":
			flags = append(flags, "--"+f.Name, "--"+f.Name+"=true")
		case f.Shorthand != "":
			flags = append(flags, "-"+f.Shorthand+" x", "-"+f.Shorthand+"x")
			fallthrough
		default:
			flags = append(flags, "--"+f.Name+" x", "--"+f.Name+"=x", "--"+f.Name+" inbox")
		}
	})
	for _, want := range []string{"--lang x", "-C x", "--config=x", "--later inbox", "-L x", "--more"} {
		if !slices.Contains(flags, want) {
			t.Errorf("the flags are %q", flags)
		}
	}
	for _, flag := range flags {
		for _, v := range verb.PersonVerbs {
			args := strings.Fields(flag + " " + v.Typed() + " x")
			if got := verb.PersonVerbIn(treeWith(later), args); got != v.Typed() {
				t.Errorf("placet %s: %q", strings.Join(args, " "), got)
			}
		}
	}
}

func TestWhichUsesOfVerbsAreForPeople(t *testing.T) {
	for line, want := range map[string]string{
		"approve": "approve", "approve a@1234 -m x": "approve", "-m x approve a": "approve", "--lang ko -C w respond a yes": "respond",
		"trust --yes": "trust", "trust -y": "trust", "trust gates": "trust", "trust --revoke --yes": "trust", "--json trust x": "trust",
		"token new ci": "token new", "token --lang en new ci --roles decide": "token new", "login": "login", "open a": "open", "adopt r": "adopt", "doctor --fix": "doctor --fix", "inbox r --watch": "inbox --watch", "--lang ko doctor r --fix": "doctor --fix", "serve": "serve", "-C w serve --log json": "serve", "mcp": "mcp",
		"reject --message --help": "reject", // the comment

		"": "", "inbox": "", "--json inbox approve": "", "-C approve inbox": "", "--lang approve status": "", "show approve": "", "ask approve": "",
		"doctor": "", "doctor r": "", "trust": "", "-C w --json trust": "", "token list": "", "token revoke ci": "", "token": "", "help approve": "", "approve --help": "", "trust --help": "", "serve --help": "", "watch": "",
		"approves": "", "-- approve": "", "withdraw a -m approve": "",
	} {
		if got := verb.PersonVerbIn(treeWith(nil), strings.Fields(line)); got != want {
			t.Errorf("placet %s: %q, expected %q", line, got, want)
		}
	}
}

// The list names only existing verbs, and the manual names all verbs of the list.
func TestTheVerbsOfPeopleAreThereAndInTheManual(t *testing.T) {
	for _, v := range verb.PersonVerbs {
		path := strings.Fields(v.Path)
		if cmd, rest, err := treeWith(nil).Find(path); err != nil || len(rest) > 0 || cmd.CommandPath() != "placet "+v.Path {
			t.Errorf("there is no verb %s", v.Path)
		}
		for _, lang := range templates.Languages() {
			if !strings.Contains(strings.Join(strings.Fields(page(lang, "hook")), " "), v.Typed()) {
				t.Errorf("the manual of hook does not name %s in %s", v.Path, lang)
			}
		}
	}
}
