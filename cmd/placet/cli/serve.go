package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/view"
	"placet/cmd/placet/web"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
)

func serveVerb() verb.Verb {
	var d daemonFlags
	var listen string
	return verb.Verb{
		Use:   "serve",
		Group: verb.GroupRun, Common: true,
		Flags: func(f *pflag.FlagSet) {
			d.add(f)
			f.StringVar(&listen, "listen", "", "")
		},
		Run: func(c verb.Call) error {
			return d.run(c, "serve", func() (daemon.Server, error) { return newPages(c.Env, listen) })
		},
	}
}

// newPages returns a server of pages at an address, "" for that of the settings.
func newPages(w *console.Env, address string) (daemon.Server, error) {
	tokens, err := tokensAt(w)
	if err != nil {
		return nil, err
	}
	wait, err := agentWait(w)
	if err != nil {
		return nil, err
	}
	return daemon.NewPages(daemon.Pages{Address: address, Version: thisBuild().Version, Tokens: tokens, AgentWait: wait, Explanation: explanationText}), nil
}

// loginVerb returns the older name of open --print.
func loginVerb() verb.Verb {
	return verb.Verb{
		Use:  "login [TOKEN]",
		Most: 1, Group: verb.GroupSetUp, Old: true,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			link, err := newLink(b, console.First(c.Args))
			if err != nil {
				return err
			}
			return printLink(b, link)
		},
	}
}

func printLink(b *workspace.Workspace, link string) error {
	return b.Env.Answer(map[string]string{"link": link}, func() { fmt.Fprintln(b.Env.Out, link) })
}

// newLink returns a login link for a running serve.
func newLink(b *workspace.Workspace, token string) (string, error) {
	if token != "" {
		tokens, err := tokensAt(b.Env)
		if err != nil {
			return "", err
		}
		if _, ok := tokens.Named(token, b.Env.Now()); !ok {
			return "", console.Refused("cli.login.token", "name", strconv.Quote(console.OneLine(token))).Try("say.text", "text", "placet token list")
		}
	}
	url := workspace.ServedAt(b)
	if url == "" {
		return "", console.Refused("cli.login.noserve", "workspace", strconv.Quote(b.Root)).Try("cli.login.start")
	}
	return daemon.LoginLink(b, url, token)
}

func openVerb() verb.Verb {
	var token string
	var prints bool
	return verb.Verb{
		Use:  "open [REQUEST]",
		Most: 1, Group: verb.GroupDecide, Complete: verb.CompleteRequests,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&prints, "print", false, "")
			f.StringVar(&token, "token", "", "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			page := ""
			if len(c.Args) > 0 {
				name, _, err := view.CutDigest(c.Args[0])
				if err != nil {
					return err
				}
				t, err := answer.Find(b, name)
				if err != nil {
					return err
				}
				page = view.NameOf(t.OpenRequest)
			}
			link, err := newLink(b, token)
			if err != nil {
				return err
			}
			if page != "" {
				link += "&" + web.RequestPath(page)
			}
			if prints {
				return printLink(b, link)
			}
			return b.Env.Answer(map[string]string{"link": link}, func() { browse(b, link) })
		},
	}
}

// browse opens a link in the user's browser, or prints it if there is none.
func browse(b *workspace.Workspace, link string) {
	if err := openBrowser(b.Env, link); err != nil {
		b.Env.Note("cli.open.nobrowser", "error", err, "time", facade.LinkTime)
		fmt.Fprintln(b.Env.Out, link)
	}
}
