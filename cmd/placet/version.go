package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker where a release is built.
var version string

// build is what is known of this program.
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

func versionCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Which placet this is", Args: takes(0, 0), GroupID: groupSetUp,
		RunE: func(*cobra.Command, []string) error {
			v := thisBuild()
			return w.answer(v, func() {
				w.say("placet %s (%s, %s%s)", v.Version, v.Go, v.Platform, suffix(", ", v.Revision))
			})
		},
	}
}
