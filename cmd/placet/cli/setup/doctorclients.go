package setup

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/hook"
	"placet/engine/store/fs"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// clients checks the files by which clients of agents call placet.
func (e *examination) clients(h config.Hook) {
	for _, c := range hook.Clients {
		if e.client(c, filesAsThere(e.root, c, h)) && h.First == config.FirstAny && c.HasHooks() && !c.MayPromptBeside() {
			e.add(isWarning, c.Name, e.w.Text("cli.doctor.client.alone.do"), "cli.doctor.client.alone", "client", c.Name)
		}
	}
}

// client checks the files of one client. It reports nothing for a client that nobody has set
// up, and whether somebody has.
func (e *examination) client(c hook.Client, files []hook.File) (isSetUp bool) {
	var there []string
	var lacks []diagnosis
	again := "placet init --for " + c.Name
	lack := func(verdict, do string, key templates.Key, pairs ...any) {
		lacks = append(lacks, diagnosis{verdict, c.Name, e.w.Text(key, pairs...), do})
	}
	for _, f := range files {
		plan, err := planFile(fs.OS(e.root), f)
		differs := (*hook.Differs)(nil)
		switch {
		case errors.As(err, &differs):
			there = append(there, f.Path)
			lack(isWarning, again+" --print", "cli.doctor.client.differs", "file", f.Path, "what", differs.What)
		case err != nil:
			lack(isWarning, again+" --print", "say.text", "text", f.Path+": "+templates.In(e.w.Lang, err))
		case len(plan.Updated) > 0:
			there = append(there, f.Path)
			lack(isWarning, again, "cli.doctor.client.differs", "file", f.Path, "what", strings.Join(plan.Updated, ", "))
		case len(plan.Added) == 0:
			there = append(there, f.Path)
		case plan.Done == "created" || len(plan.Added) == f.Parts():
			lack(isWarning, again, "cli.doctor.client.nothing", "file", f.Path)
		default:
			there = append(there, f.Path)
			lack(isWarning, again, "cli.doctor.client.lacks", "file", f.Path, "names", strings.Join(plan.Added, ", "))
		}
	}
	if len(there) == 0 {
		return false
	}
	if _, err := e.w.LookPath("placet"); err != nil {
		lack(isProblem, e.w.Text("cli.doctor.client.path.do"), "cli.doctor.client.path", "files", templates.List(e.w.Lang, "list.and", there))
	}
	for _, off := range switchedOff(e.w, e.root, c) {
		lacks = append(lacks, diagnosis{isWarning, c.Name, off.text, off.do})
	}
	if len(lacks) == 0 {
		e.add(isFine, c.Name, "", "say.text", "text", strings.Join(there, ", "))
	}
	e.lines = append(e.lines, lacks...)
	e.version(c)
	return true
}

// switchLine says what is switched off, and what to do about it.
type switchLine struct{ text, do string }

// switchedOff says which settings of a client, on all levels, leave out what placet has added.
func switchedOff(w *console.Env, root string, c hook.Client) (lines []switchLine) {
	at := hook.Levels{Root: root, Getenv: w.Getenv, Read: func(file string) ([]byte, error) {
		if below, ok := strings.CutPrefix(file, root+"/"); ok {
			return verb.ReadBelow(fs.OS(root), below)
		}
		return readLarge(file)
	}}
	for _, off := range c.SwitchedOff(at) {
		if off.Err != nil {
			lines = append(lines, switchLine{w.Text("cli.client.unread", "file", off.File, "error", off.Err), w.Text("cli.doctor.config.do")})
			continue
		}
		lines = append(lines, switchLine{w.Text("cli.client.off", "client", c.Name, "file", off.File, "setting", off.Setting), w.Text("cli.client.off.do")})
	}
	return lines
}

// largestSettings is how large a client's own file in the user's home may be: one of them holds the
// history of all projects.
const largestSettings = 64 << 20

// readLarge reads a regular file of a client outside the workspace.
func readLarge(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestSettings {
		return nil, iofs.ErrInvalid
	}
	return os.ReadFile(file)
}

// saySwitches says which settings leave out what init has added for clients.
func saySwitches(w *console.Env, root string, clients []string) {
	for _, name := range clients {
		client, _ := hook.Named(name)
		for _, off := range switchedOff(w, root, client) {
			w.Note("say.text", "text", off.text+console.Suffix(" → ", off.do))
		}
	}
}

// blocksFrom is the first version of Claude Code that stops a call if the hook fails.
var blocksFrom = []int{2, 1, 295}

var versionIn = lazyregexp.New(`(\d+)\.(\d+)\.(\d+)`)

// version reports what people should know about a client besides its files.
func (e *examination) version(c hook.Client) {
	switch c.Name {
	case "codex":
		e.add(isWarning, c.Name, e.w.Text("cli.doctor.codex.do"), "cli.doctor.codex")
	case "claude-code":
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, err := e.w.Command(ctx, "", "claude", "--version").Output()
		if m := versionIn.FindStringSubmatch(string(out)); err == nil && m != nil && isBefore(m[1:], blocksFrom) {
			e.add(isWarning, c.Name, e.w.Text("cli.doctor.claude.do"), "cli.doctor.claude", "version", m[0])
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
