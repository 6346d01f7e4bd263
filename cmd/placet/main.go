// Command placet is the clerk for human decisions in a workspace where agents
// work: it watches the files of their runs, moves each run on, and asks and
// answers by files. Package cli holds its command line.
package main

import (
	"os"

	"placet/cmd/placet/cli"
)

// version is set by the linker where a release is built.
var version string

func main() { os.Exit(cli.Main(version)) }
