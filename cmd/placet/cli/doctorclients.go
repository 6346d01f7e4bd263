package cli

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/hook"
	"placet/engine/store/fs"
)

// clients looks at the files by which clients of agents call placet.
func (e *examination) clients(h config.Hook) {
	for _, c := range hook.Clients {
		e.client(c, c.Files(h))
	}
}

// client looks at the files of one client, and says nothing of one that nobody has set up.
func (e *examination) client(c hook.Client, files []hook.File) {
	var there []string
	var lacks []diagnosis
	again := "placet init --for " + c.Name
	for _, f := range files {
		plan, err := planFile(fs.OS(e.root), f)
		differs := (*hook.Differs)(nil)
		switch {
		case errors.As(err, &differs):
			there = append(there, f.Path)
			lacks = append(lacks, diagnosis{isWarning, c.Name, f.Path + ": " + differs.Error() + " than placet init would", again + " --print"})
		case err != nil:
			lacks = append(lacks, diagnosis{isWarning, c.Name, f.Path + ": " + err.Error(), again + " --print"})
		case len(plan.Added) == 0:
			there = append(there, f.Path)
		case plan.Done == "created" || len(plan.Added) == f.Parts():
			lacks = append(lacks, diagnosis{isWarning, c.Name, f.Path + " has nothing of placet", again})
		default:
			there = append(there, f.Path)
			lacks = append(lacks, diagnosis{isWarning, c.Name, f.Path + " lacks " + strings.Join(plan.Added, ", "), again})
		}
	}
	if len(there) == 0 {
		return
	}
	if _, err := exec.LookPath("placet"); err != nil {
		lacks = append(lacks, diagnosis{isProblem, c.Name, "PATH has no placet for " + strings.Join(there, " and "), "install placet where PATH finds it"})
	}
	if len(lacks) == 0 {
		e.add(isFine, c.Name, "", "%s", strings.Join(there, ", "))
	}
	e.lines = append(e.lines, lacks...)
	e.version(c)
}

// blocksFrom is the first version of Claude Code that stops a call where the hook breaks.
var blocksFrom = []int{2, 1, 295}

var versionIn = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)`)

// version says what is to be known of a client besides its files.
func (e *examination) version(c hook.Client) {
	switch c.Name {
	case "codex":
		e.add(isWarning, c.Name, "in Codex: trust this project, and look at /hooks", "Codex passes over hooks that nobody has reviewed there, without a word; placet cannot see whether you have")
	case "claude-code":
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, "claude", "--version").Output()
		if m := versionIn.FindStringSubmatch(string(out)); err == nil && m != nil && isBefore(m[1:], blocksFrom) {
			e.add(isWarning, c.Name, "update Claude Code", "Claude Code %s lets a call run where the hook breaks or is missing; from 2.1.295 on it does not", m[0])
		}
	}
}

// isBefore reports whether a version is lower than another.
func isBefore(version []string, than []int) bool {
	for i, text := range version {
		if n, _ := strconv.Atoi(text); n != than[i] {
			return n < than[i]
		}
	}
	return false
}
