package cli

import (
	"log/slog"
	"strconv"
	"strings"

	"placet/cmd/placet/cli/nemawashi"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/daemon"

	"placet/cmd/placet/cli/verb"

	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
)

func watchVerb() verb.Verb {
	var format, metrics string
	var watches int
	return verb.Verb{
		Use:   "watch",
		Group: verb.GroupRun,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&format, "log", "text", "")
			f.StringVar(&metrics, "metrics", "", "")
			f.IntVar(&watches, "watches", 0, "")
		},
		Run: func(c verb.Call) error {
			switch {
			case c.Env.Flags.JSON:
				return console.Usage("cli.watch.endless", "verb", "watch").Try("say.text", "text", "placet watch --log json")
			case format != "text" && format != "json":
				return console.Usage("cli.watch.log", "value", strconv.Quote(console.OneLine(format)))
			}
			if c.Flags.Changed("watches") && watches < 1 {
				return console.Usage("cli.watch.watches", "value", watches)
			}
			o := daemon.Options{JSON: format == "json", Watches: watches, Begun: hideScratch, Serves: noteEnviron}
			if c.Flags.Changed("metrics") {
				m, err := daemon.NewMetrics(metrics, thisBuild().Version)
				if err != nil {
					return err
				}
				o.Server = m
			}
			return daemon.Run(c.Ctx, c.Env, o)
		},
	}
}

// hideScratch has git ignore placet's scratch and temporary files, as init does: a
// daemon that is killed leaves some of them.
func hideScratch(b *workspace.Workspace, log *slog.Logger) {
	if _, err := setup.Exclude(b.Env, b.Root, setup.Ignored); err != nil {
		log.Debug("cannot have git ignore what placet leaves", "names", setup.Ignored, "err", err)
	}
}

// noteEnviron names the variables of the seed's service that say something else than the settings.
func noteEnviron(b *workspace.Workspace) {
	if names := nemawashi.EnvironDiffers(b.Settings.File, b.Env.Getenv); len(names) > 0 {
		b.Env.Note("cli.watch.environ", "names", strings.Join(names, ", "), "try", nemawashi.EnvironHelp)
	}
}
