package cli

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
)

// demoFiles are three workspaces: one as FABER's own scripts leave it, six runs
// that wait for a person, one for each kind of request; one with an AFL session
// whose checkpoint nobody has begun; and one with the inputs of an optimisation
// cycle.
//
//go:embed all:demo
var demoFiles embed.FS

// demoSteps is what the demo says and does, one step on a line: its words are those of
// a shell, {name} stands for what a step before has found.
//
//go:embed demo/steps.txt
var demoSteps string

func demoVerb() verb {
	var keep bool
	return verb{
		use: "demo", short: "Watch a decision being made, in a temporary folder",
		long: `Shows placet at work in a fresh temporary folder. Six runs wait for a person, a
daemon opens their requests, one is answered by editing a form and one with
placet approve. Then an AFL session: a worker's attempts are tested, two fail,
a person is asked, the third passes. Last an optimisation cycle: a report is
judged, and what is left to do begins the next one. It takes a few seconds, needs
git, and leaves nothing behind.`,
		group: groupSetUp,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&keep, "keep", false, "leave the folder for you to play with")
		},
		run: func(c call) error {
			if c.env.Flags.JSON {
				return console.Usage("cannot tell a story as JSON: run placet demo without --json")
			}
			return playDemo(c.ctx, c.env, keep)
		},
	}
}

// demoTime is how long the whole demo may take on a slow machine, demoStep one
// step of it; it takes a few seconds where nothing holds it up.
const (
	demoTime = 60 * time.Second
	demoStep = 20 * time.Second
)

// demo plays the steps.
type demo struct {
	*console.Env
	home    string
	environ []string
	vars    map[string]string
	edited  map[string]string // forms while they are edited, by path
	daemon  *exec.Cmd
	ready   chan string // what the daemon says
}

func playDemo(ctx context.Context, w *console.Env, keep bool) error {
	if _, err := exec.LookPath("git"); err != nil {
		return console.Refused("cannot show the demo without git").Try("install git")
	}
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	home, err := os.MkdirTemp("", "placet-demo-")
	if err != nil {
		return console.Refused("cannot show the demo: %v", console.Plain(err))
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return err
	}
	if !keep {
		defer os.RemoveAll(home)
	}
	environ := demoEnviron(os.Environ(), home)
	d := &demo{home: home, environ: environ, edited: map[string]string{}, Env: &console.Env{
		In: w.In, Out: w.Out, Err: w.Err, Colour: w.Colour, Now: w.Now, Getenv: lookupIn(environ),
	}}
	d.vars = map[string]string{
		"runs": ".fractary/faber/runs/acme-corp/proja", "session": ".afl/sessions/receipts",
		"cycle": ".mso-context/active/20261120-msowd-nightly-import/optimizer", "next": ".mso-context/active/20261121-msowd-nightly-import/optimizer",
	}
	for text := range strings.Lines(demoSteps) {
		if err := d.step(ctx, strings.TrimSuffix(text, "\n")); err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = console.Refused("the demo takes too long here: %v", err).Try("placet doctor")
			}
			return errors.Join(err, d.stop())
		}
	}
	if keep {
		w.Say("\nThe folders stay: %[1]s/workspace, %[1]s/shop and %[1]s/import", home)
	}
	return nil
}

// demoEnviron is the environment of the demo: the user's own settings and
// git's have no part in it.
func demoEnviron(environ []string, home string) []string {
	own := slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		return strings.HasPrefix(e, "GIT_") || strings.HasPrefix(e, "XDG_CONFIG_HOME=") || strings.HasPrefix(e, "XDG_STATE_HOME=")
	})
	return append(own, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=placet demo", "GIT_AUTHOR_EMAIL=demo@example.invalid",
		"GIT_COMMITTER_NAME=placet demo", "GIT_COMMITTER_EMAIL=demo@example.invalid")
}

func lookupIn(environ []string) func(string) string {
	return func(name string) string {
		for _, e := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// words are what a step can do.
func (d *demo) words() map[string]func(context.Context, []string) error {
	return map[string]func(context.Context, []string) error{
		"workspace": d.workspace, "watch": d.watch, "await": d.await, "find": d.find, "placet": d.placet, "quietly": d.placet,
		"git": d.git, "own-settings": d.ownSettings, "cat": d.cat, "edit": d.edit, "lines": d.lines, "write": d.write,
		"hand-in": d.handIn, "rows": d.rows,
		"put":  func(_ context.Context, args []string) error { return d.put(args[0], args[1]) },
		"save": func(_ context.Context, args []string) error { return d.put(args[0], d.edited[args[0]]) },
		"stop": func(context.Context, []string) error { return d.stop() },
	}
}

// step does what one line says.
func (d *demo) step(ctx context.Context, text string) error {
	word, rest, _ := strings.Cut(text, " ")
	if word == "" || word == "#" {
		return nil
	}
	d.vars["dir"], d.vars["soon"] = d.Cwd, d.Now().Add(time.Second).UTC().Format(time.RFC3339)
	for name, value := range d.vars {
		rest = strings.ReplaceAll(rest, "{"+name+"}", value)
	}
	switch word {
	case "say":
		d.Say("\n%s", d.Paint(console.Faint, "# "+rest))
		return nil
	case "prompt":
		d.prompt(rest)
		return nil
	case "placet":
		d.prompt("placet " + rest)
	}
	if err := d.words()[word](ctx, demoArgs(rest)); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// demoArgs are the words of a step, in which quotation marks keep blanks, and \n stands
// for the end of a line.
func demoArgs(text string) (args []string) {
	for _, m := range demoArg.FindAllStringSubmatch(text, -1) {
		args = append(args, strings.ReplaceAll(m[1]+m[2], `\n`, "\n"))
	}
	return args
}

var demoArg = regexp.MustCompile(`'([^']*)'|([^ ']+)`)

func (d *demo) prompt(command string) { d.Say("%s", d.Paint(console.Strong, "$ "+command)) }

func (d *demo) path(rel string) string { return filepath.Join(d.Cwd, rel) }

func (d *demo) read(rel string) string {
	body, _ := os.ReadFile(d.path(rel))
	return string(body)
}

// workspace begins NAME with the files of FOLDER.
func (d *demo) workspace(_ context.Context, args []string) error {
	d.Cwd = filepath.Join(d.home, args[0])
	tree, err := fs.Sub(demoFiles, "demo/"+args[1])
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.Cwd, tree); err != nil {
		return console.Refused("cannot write the demo's files: %v", console.Plain(err))
	}
	return nil
}

// ownSettings writes the user's own configuration: policy counts from there.
func (d *demo) ownSettings(_ context.Context, args []string) error {
	own := config.SourcesOf(d.Env, d.Cwd).User
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		return err
	}
	return os.WriteFile(own, []byte(args[0]), 0o644)
}

// watch starts the daemon as a process of its own.
func (d *demo) watch(ctx context.Context, _ []string) error {
	d.prompt("placet watch &")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	d.daemon = exec.Command(self, "-C", d.Cwd, "watch")
	d.daemon.Dir, d.daemon.Env = d.Cwd, d.environ
	d.ready = make(chan string, 64)
	stderr, err := d.daemon.StderrPipe()
	if err != nil {
		return err
	}
	d.daemon.Stdout = d.Out
	if err := d.daemon.Start(); err != nil {
		d.daemon = nil
		return console.Refused("cannot start placet watch: %v", err)
	}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			d.ready <- lines.Text()
		}
		close(d.ready)
	}()
	for {
		select {
		case text, open := <-d.ready:
			if !open {
				return console.Refused("placet watch ended before it was ready")
			}
			d.Say("%s", text)
			if strings.HasPrefix(text, "placet: watching") {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// placet runs a command line in this process. That a request is open is no failure.
func (d *demo) placet(ctx context.Context, args []string) error {
	d.Flags = console.Flags{}
	if code := run(ctx, d.Env, args); code != console.ExitFine && code != console.ExitOpen {
		return console.Refused("it ended with %d", code)
	}
	return nil
}

func (d *demo) git(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.Cwd, d.environ, d.Out, &said
	if err := cmd.Run(); err != nil {
		return console.Refused("%v: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

// until polls until something that the daemon makes is there.
func (d *demo) until(ctx context.Context, there func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, demoStep)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !there() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return console.Refused("the daemon did not write it in time").Try("placet doctor")
		}
	}
	return nil
}

// matching are the files of a pattern whose content a regular expression fits.
func (d *demo) matching(pattern, content string) (files []string) {
	fits := regexp.MustCompile(content)
	paths, _ := filepath.Glob(d.path(pattern))
	for _, p := range paths {
		if rel, err := filepath.Rel(d.Cwd, p); err == nil && fits.MatchString(d.read(rel)) {
			files = append(files, rel)
		}
	}
	return files
}

// await waits until N files of PATTERN match CONTENT.
func (d *demo) await(ctx context.Context, args []string) error {
	return d.until(ctx, func() bool { return strconv.Itoa(len(d.matching(args[1], args[2]))) == args[0] })
}

// find names the form of PATTERN that matches CONTENT and is not answered NAME, its run
// NAME.run and its request, as approve takes it, NAME.request.
func (d *demo) find(_ context.Context, args []string) error {
	for _, form := range d.matching(args[1], args[2]) {
		if exists(d.path(filepath.Dir(form) + "/receipt.json")) {
			continue
		}
		first, _, _ := strings.Cut(d.read(form), "\n")
		words := strings.Fields(first)
		if len(words) != 6 {
			return fmt.Errorf("the first line of %s names no request", form)
		}
		d.vars[args[0]], d.vars[args[0]+".run"] = form, filepath.Join(filepath.Dir(form), "../..")
		d.vars[args[0]+".request"] = workspace.Reference(engine.Asked{Request: words[3], Digest: engine.Digest(words[4])})
		d.edited[form] = d.read(form)
		return nil
	}
	return errors.New("there is no such form")
}

// cat shows FILE from a line that begins with FROM up to the next that begins with TO.
func (d *demo) cat(_ context.Context, args []string) error {
	d.prompt("cat " + args[0])
	_, rest, found := strings.Cut("\n"+d.read(args[0]), "\n"+args[1])
	if !found {
		return fmt.Errorf("no line begins with %q", args[1])
	}
	if args[2] != "" {
		rest, _, _ = strings.Cut(rest, "\n"+args[2])
	}
	d.Say("%s", console.Indent(console.Lines(blankLines.ReplaceAllString(args[1]+rest, "\n")), "    "))
	return nil
}

var blankLines = regexp.MustCompile(`\n\n+`)

// edit replaces OLD by NEW in FILE, which is saved later.
func (d *demo) edit(_ context.Context, args []string) error {
	before := d.edited[args[0]]
	d.edited[args[0]] = strings.Replace(before, args[1], args[2], 1)
	if d.edited[args[0]] == before {
		return fmt.Errorf("the form has no %q", args[1])
	}
	return nil
}

// lines shows the lines of an edited FILE that match a regular expression.
func (d *demo) lines(_ context.Context, args []string) error {
	fits := regexp.MustCompile(args[1])
	for l := range strings.Lines(d.edited[args[0]]) {
		if fits.MatchString(strings.TrimSuffix(l, "\n")) {
			d.Say("    %s", console.OneLine(l))
		}
	}
	return nil
}

// write shows and writes a FILE.
func (d *demo) write(_ context.Context, args []string) error {
	d.Say("    %s:\n%s", args[0], console.Indent(console.Lines(args[1]), "        "))
	return d.put(args[0], args[1])
}

// handIn hands an attempt of the session in, as a worker does.
func (d *demo) handIn(_ context.Context, args []string) error {
	const done = `{"status": "completed"}`
	d.Say("    %s: %s", args[0], done)
	return d.put(d.vars["session"]+"/"+args[0], done+"\n")
}

// put writes a file of the workspace beside and renames it into place.
func (d *demo) put(rel, body string) error {
	beside := filepath.Join(filepath.Dir(d.path(rel)), "."+filepath.Base(rel)+".swp")
	if err := os.WriteFile(beside, []byte(body), 0o644); err != nil {
		return err
	}
	return os.Rename(beside, d.path(rel))
}

// rows waits until an audit DATABASE has so many rows, and shows them.
func (d *demo) rows(ctx context.Context, args []string) error {
	databases := sqlite.New(d.Cwd)
	defer databases.Release(args[0])
	look := engine.Database{Path: args[0], Schema: optimizer.AuditSchema, Select: []engine.Query{
		{Name: "rows", SQL: "SELECT 'audit_logs' AS t, action AS what, status AS how FROM audit_logs UNION ALL" +
			" SELECT 'user_feedback', impact_summary, impact_domain FROM user_feedback UNION ALL SELECT 'decisions', title, approved_by FROM decisions"},
	}}
	var found struct {
		Rows []struct{ T, What, How string } `json:"rows"`
	}
	err := d.until(ctx, func() bool {
		end := databases.Do(look)
		return end.Result == "done" && json.Unmarshal(end.Output, &found) == nil && strconv.Itoa(len(found.Rows)) == args[1]
	})
	if err != nil {
		return err
	}
	d.Say("\n%s", d.Paint(console.Faint, "# "+args[0]+", a SQLite database that others read, has it, too:"))
	t := &console.Table{}
	for _, row := range found.Rows {
		t.Add("    "+row.T, console.OneLine(row.What), console.OneLine(row.How))
	}
	t.Print(d.Env, d.Out)
	return nil
}

// stop ends the daemon in good order.
func (d *demo) stop() error {
	if d.daemon == nil {
		return nil
	}
	daemon := d.daemon
	d.daemon = nil
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	killer := time.AfterFunc(demoStep, func() { _ = daemon.Process.Kill() })
	defer killer.Stop()
	for range d.ready {
	}
	return daemon.Wait()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
