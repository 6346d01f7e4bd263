package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
)

// version is the version of a release, "" for none.
var version string

// build describes this program.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := cmp.Or(version, info.Main.Version); v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// licences are the licences of what this program is built from, as internal/licences
// collects them.
//
//go:generate go run -C ../../.. ./internal/licences
//go:embed licences.txt
var licences string

func versionVerb() verb.Verb {
	var legal bool
	return verb.Verb{
		Use: "version", Group: verb.GroupSetUp,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&legal, "licences", false, "")
		},
		Run: func(c verb.Call) error {
			if legal {
				return c.Env.Answer(map[string]string{"licences": licences}, func() { fmt.Fprint(c.Env.Out, licences) })
			}
			v := thisBuild()
			return c.Env.Answer(v, func() {
				fmt.Fprintf(c.Env.Out, "placet %s (%s, %s%s)\n", v.Version, v.Go, v.Platform, console.Suffix(", ", v.Revision))
			})
		},
	}
}
