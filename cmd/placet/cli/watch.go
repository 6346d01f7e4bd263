package cli

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/faber"
	"placet/cmd/placet/cli/nemawashi"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/workspace"
)

func watchVerb() verb.Verb {
	var d daemonFlags
	var metrics string
	var once, noCommands bool
	return verb.Verb{
		Use:   "watch",
		Group: verb.GroupRun,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&once, "once", false, "")
			f.BoolVar(&noCommands, "no-commands", false, "")
			d.add(f)
			f.StringVar(&metrics, "metrics", "", "")
		},
		Run: func(c verb.Call) error {
			if err := checkOnce(c.Flags, once); err != nil {
				return err
			}
			if once {
				return settleOnce(c.Ctx, c.Env, noCommands)
			}
			return d.run(c, "watch", func() (daemon.Server, error) {
				if !c.Flags.Changed("metrics") {
					return nil, nil
				}
				return daemon.NewMetrics(metrics, thisBuild().Version)
			})
		},
	}
}

// checkOnce refuses flags of watch that are for one pass beside those that are for a daemon.
func checkOnce(f *pflag.FlagSet, once bool) error {
	for _, daemon := range []string{"log", "watches", "metrics"} {
		if once && f.Changed(daemon) {
			return console.Usage("cli.watch.once", "flag", "--"+daemon)
		}
	}
	if !once && f.Changed("no-commands") {
		return console.Usage("cli.watch.once.only", "flag", "--no-commands")
	}
	return nil
}

// daemonFlags are the flags that watch and serve share: serve is watch with pages.
type daemonFlags struct {
	log     string
	watches int
}

func (d *daemonFlags) add(f *pflag.FlagSet) {
	f.StringVar(&d.log, "log", "text", "")
	f.IntVar(&d.watches, "watches", 0, "")
}

// run serves the workspace with the server that server makes first.
func (d *daemonFlags) run(c verb.Call, name string, server func() (daemon.Server, error)) (err error) {
	switch {
	case c.Env.Flags.JSON:
		return console.Usage("cli.watch.endless", "verb", name).Try("say.text", "text", "placet "+name+" --log json")
	case d.log != "text" && d.log != "json":
		return console.Usage("cli.watch.log", "value", strconv.Quote(console.OneLine(d.log)))
	case c.Flags.Changed("watches") && d.watches < 1:
		return console.Usage("cli.watch.watches", "value", d.watches)
	}
	o := daemon.Options{JSON: d.log == "json", Watches: d.watches, Begun: hideScratch, Serves: noteSettings, Beside: beside}
	if o.Server, err = server(); err != nil {
		return err
	}
	return daemon.Run(c.Ctx, c.Env, o)
}

// beside looks for comments on issues, and for questions whose asker is gone, until the context
// ends.
func beside(ctx context.Context, b *workspace.Workspace, log *slog.Logger) {
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() { faber.Beside(ctx, b, log) })
	both.Go(func() { asks.WithdrawAbandonedUntil(ctx, b) })
}

// hideScratch makes git ignore placet's private folder and temporary files, as init does, because
// a killed daemon leaves some of them.
func hideScratch(b *workspace.Workspace, log *slog.Logger) {
	if _, err := setup.Exclude(b.Env, b.Root, setup.Ignored); err != nil {
		log.Debug("cannot have git ignore what placet leaves", "names", setup.Ignored, "err", err)
	}
}

// noteSettings names the variables of the seed's service that differ from the settings, and says
// that nothing is posted to Slack without a channel.
func noteSettings(b *workspace.Workspace) {
	if names := nemawashi.EnvironDiffers(b.Settings.File, b.Env.Getenv); len(names) > 0 {
		b.Env.Note("cli.watch.environ", "names", strings.Join(names, ", "), "try", nemawashi.EnvironHelp)
	}
	if slack := b.Settings.Slack; slack.HasToken && slack.DefaultChannel == "" && !slack.HasWebhook {
		b.Env.Note("cli.watch.channel")
	}
}
