package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine/facade"
)

func tokenNewVerb() verb.Verb {
	var roles, families []string
	var expires string
	return verb.Verb{
		Use:   "new NAME",
		Least: 1, Most: 1,
		Flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&roles, "roles", []string{"read"}, "")
			f.StringSliceVar(&families, "families", nil, "")
			f.StringVar(&expires, "expires", "90d", "")
		},
		Run: func(c verb.Call) error {
			tokens, err := tokensAt(c.Env)
			if err != nil {
				return err
			}
			// An unset variable must not open what its owner believes to be closed.
			for name, list := range map[string][]string{"roles": roles, "families": families} {
				if c.Flags.Changed(name) && len(list) == 0 {
					return console.Usage("cli.token.empty", "flag", "--"+name)
				}
			}
			var may []facade.Role
			for _, r := range roles {
				if !slices.Contains(facade.Roles, facade.Role(r)) {
					return console.Usage("cli.token.roles", "value", strconv.Quote(console.OneLine(r)))
				}
				may = append(may, facade.Role(r))
			}
			if err := knownFamilies(families); err != nil {
				return err
			}
			end, err := endOf(expires, c.Env.Now())
			if err != nil {
				return err
			}
			secret, err := tokens.New(c.Args[0], may, families, c.Env.Now(), end)
			if err != nil {
				return console.Refused("cli.token.new", "error", err)
			}
			return c.Env.Answer(map[string]any{"name": c.Args[0], "token": secret, "roles": may, "families": families, "expires_at": end}, func() {
				fmt.Fprintln(c.Env.Out, secret)
				c.Env.Note("cli.token.once", "name", c.Args[0])
			})
		},
	}
}

// knownFamilies refuses names that no family has.
func knownFamilies(names []string) error {
	for _, n := range names {
		if !slices.Contains(family.Names(), n) {
			return console.Usage("cli.token.family", "name", strconv.Quote(console.OneLine(n)), "families", strings.Join(family.Names(), ", "))
		}
	}
	return nil
}

// endOf returns when a token with a lifetime ends, the zero time for never.
func endOf(word string, now time.Time) (time.Time, error) {
	var days int
	if word == "never" {
		return time.Time{}, nil
	}
	if _, err := fmt.Sscanf(word, "%dd", &days); err == nil && word == fmt.Sprintf("%dd", days) && days > 0 && days <= 3650 {
		return now.AddDate(0, 0, days), nil
	}
	if d, err := time.ParseDuration(word); err == nil && d > 0 {
		return now.Add(d), nil
	}
	return time.Time{}, console.Usage("cli.token.expires", "value", strconv.Quote(console.OneLine(word)))
}

func tokenListVerb() verb.Verb {
	return verb.Verb{
		Use: "list",
		Run: func(c verb.Call) error {
			tokens, err := tokensAt(c.Env)
			if err != nil {
				return err
			}
			list, err := tokens.List()
			if err != nil {
				return console.Usage("say.text", "text", err)
			}
			data := []tokenLine{}
			for _, t := range list {
				data = append(data, tokenLine{t.Name, t.Status(c.Env.Now()), t.Roles, t.Families, console.Stamp(t.Created), string(t.Expires)})
			}
			return c.Env.Answer(data, func() {
				table := &console.Table{}
				for _, l := range data {
					table.Add(l.Name, l.Status, strings.Trim(fmt.Sprint(l.Roles), "[]"), cmp.Or(strings.Join(l.Families, ","), c.Env.Text("cli.token.all")), cmp.Or(l.Expires, c.Env.Text("cli.token.never")))
				}
				table.Print(c.Env, c.Env.Out)
			})
		},
	}
}

// tokenLine is a token in a list.
type tokenLine struct {
	Name     string        `json:"name"`
	Status   string        `json:"status"`
	Roles    []facade.Role `json:"roles"`
	Families []string      `json:"families"`
	Created  string        `json:"created_at"`
	Expires  string        `json:"expires_at"`
}

func tokenRevokeVerb() verb.Verb {
	return verb.Verb{
		Use:   "revoke NAME",
		Least: 1, Most: 1,
		Run: func(c verb.Call) error {
			tokens, err := tokensAt(c.Env)
			if err == nil {
				err = tokens.Revoke(c.Args[0], c.Env.Now())
			}
			if err != nil {
				return console.Refused("cli.token.revoke", "error", err)
			}
			return c.Env.Answer(map[string]string{"name": c.Args[0], "status": "revoked"}, func() { c.Env.Say("cli.token.revoked", "name", c.Args[0]) })
		},
	}
}

// tokenCommand returns the command with the verbs of tokens.
func tokenCommand(w *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "token", GroupID: verb.GroupSetUp}
	for _, v := range []verb.Verb{tokenNewVerb(), tokenListVerb(), tokenRevokeVerb()} {
		cmd.AddCommand(v.Command(w))
	}
	return subcommands(cmd)
}

// tokensAt returns the user's tokens.
func tokensAt(w *console.Env) (facade.Tokens, error) {
	dir := w.XDG("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return facade.Tokens{}, console.Usage("cli.token.where").Try("cli.token.home")
	}
	return facade.Tokens{Path: filepath.Join(dir, "placet", "tokens.json")}, nil
}
