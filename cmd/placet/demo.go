package main

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"placet/layout"
)

// demoFiles is a workspace as FABER's own scripts leave it: six runs that wait
// for a person, one for each kind of request.
//
//go:embed all:demo
var demoFiles embed.FS

func demoCommand(w *world) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch a decision being made, in a temporary folder",
		Long: `Shows placet at work in a fresh temporary folder: six runs wait for a person, a
daemon opens their requests, one is answered by editing a form and one with
placet approve. It takes a few seconds, needs git, and leaves nothing behind.`,
		Args: takes(0, 0), GroupID: groupSetUp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if w.flags.json {
				return usage("cannot tell a story as JSON: run placet demo without --json")
			}
			return w.demo(cmd.Context(), keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the folder for you to play with")
	return cmd
}

// demoTime is how long the whole demo may take on a slow machine, demoStep one
// step of it; it takes a few seconds where nothing holds it up.
const (
	demoTime = 60 * time.Second
	demoStep = 20 * time.Second
)

// demo is the story while it is told.
type demo struct {
	*world
	dir     string
	environ []string
	daemon  *exec.Cmd
	ready   chan string // what the daemon says
}

func (w *world) demo(ctx context.Context, keep bool) error {
	if _, err := exec.LookPath("git"); err != nil {
		return refused("cannot show the demo without git").try("install git")
	}
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	home, err := os.MkdirTemp("", "placet-demo-")
	if err != nil {
		return refused("cannot show the demo: %v", plain(err))
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return err
	}
	if !keep {
		defer os.RemoveAll(home)
	}
	d := &demo{dir: filepath.Join(home, "workspace"), environ: demoEnviron(os.Environ(), home)}
	d.world = &world{
		in: w.in, out: w.out, err: w.err, colour: w.colour, cwd: d.dir, now: w.now, getenv: lookupIn(d.environ),
	}
	defer d.stop()
	if err := d.tell(ctx); err != nil {
		return err
	}
	if keep {
		w.say("\nThe folder stays: %s", d.dir)
	}
	return nil
}

// demoEnviron is the environment of the story: the user's own settings and
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

// tell tells the story, chapter by chapter.
func (d *demo) tell(ctx context.Context) error {
	for _, chapter := range []func(context.Context) error{
		d.prepare, d.serve, d.ask, d.answerByForm, d.answerByCommand, d.look,
	} {
		if err := chapter(ctx); err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return refused("the demo takes too long here: %v", err).try("placet doctor")
			}
			return err
		}
	}
	d.tale("That was all: files, and a clerk who keeps them. Begin with `placet init` and `placet watch`.")
	return nil
}

func (d *demo) tale(format string, args ...any) {
	d.say("\n%s", d.paint(faint, "# "+fmt.Sprintf(format, args...)))
}

func (d *demo) prompt(command string) { d.say("%s", d.paint(strong, "$ "+command)) }

func (d *demo) prepare(ctx context.Context) error {
	d.tale("Agents have stopped in six runs to ask a person. This is what they left, in %s:", d.dir)
	tree, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.dir, tree); err != nil {
		return refused("cannot write the demo's files: %v", plain(err))
	}
	d.prompt("git init && placet init && git add . && git commit -m 'six runs wait'")
	if err := d.git(ctx, io.Discard, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := d.placet(ctx, "init"); err != nil {
		return err
	}
	return d.commit(ctx, "six runs wait")
}

func (d *demo) commit(ctx context.Context, message string) error {
	if err := d.git(ctx, io.Discard, "add", "-A"); err != nil {
		return err
	}
	return d.git(ctx, io.Discard, "commit", "-q", "-m", message)
}

// serve starts the daemon as a process of its own.
func (d *demo) serve(ctx context.Context) error {
	d.tale("The daemon opens every request: a form to edit, in the run's own folder.")
	d.prompt("placet watch &")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	d.daemon = exec.Command(self, "-C", d.dir, "watch")
	d.daemon.Dir, d.daemon.Env = d.dir, d.environ
	d.ready = make(chan string, 64)
	stderr, err := d.daemon.StderrPipe()
	if err != nil {
		return err
	}
	d.daemon.Stdout = d.out
	if err := d.daemon.Start(); err != nil {
		d.daemon = nil
		return refused("cannot start placet watch: %v", err)
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
				return refused("placet watch ended before it was ready")
			}
			d.say("%s", text)
			if strings.HasPrefix(text, "placet: watching") {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ask waits until the requests are open and shows them.
func (d *demo) ask(ctx context.Context) error {
	if err := d.await(ctx, "the forms", func() bool { return len(d.glob("form.md")) == 6 }); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.commit(ctx, "requests opened"); err != nil {
		return err
	}
	d.tale("What is asked of you, oldest first:")
	d.prompt("placet inbox")
	return d.placet(ctx, "inbox")
}

// settle waits until the daemon has nothing left to write: the states say
// that every form is there.
func (d *demo) settle(ctx context.Context) error {
	return d.await(ctx, "the states", func() bool {
		n := 0
		for _, path := range d.globAt("*/state.json") {
			if body, err := os.ReadFile(path); err == nil && strings.Contains(string(body), "request_opened") {
				n++
			}
		}
		return n == 6
	})
}

// answerByForm answers the review the way an editor does: tick, save.
func (d *demo) answerByForm(ctx context.Context) error {
	form, err := d.form("approve", "request_changes")
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(d.dir, form)
	if err != nil {
		return err
	}
	d.tale("A reviewer opens one form, ticks an option and \"submit\", and saves:")
	d.prompt("$EDITOR " + rel)
	if err := d.tick(form, "approve", "submit this answer"); err != nil {
		return err
	}
	return d.carriedOut(ctx, form)
}

// carriedOut waits until a form's answer has moved its run.
func (d *demo) carriedOut(ctx context.Context, form string) error {
	run := filepath.Dir(filepath.Dir(filepath.Dir(form)))
	return d.await(ctx, "the state", func() bool {
		body, err := os.ReadFile(filepath.Join(run, "state.json"))
		return err == nil && strings.Contains(string(body), `"in_progress"`) && exists(filepath.Join(run, "resume.md"))
	})
}

// tick edits a form as an editor does: a new file, renamed over the old one.
func (d *demo) tick(form string, items ...string) error {
	body, err := os.ReadFile(form)
	if err != nil {
		return err
	}
	text := string(body)
	for _, item := range items {
		ticked := strings.Replace(text, "- [ ] "+item, "- [x] "+item, 1)
		if ticked == text {
			return fmt.Errorf("the form has no item %q", item)
		}
		text = ticked
	}
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "- [") {
			d.say("    %s", line(l))
		}
	}
	saved := filepath.Join(filepath.Dir(form), ".form.md.swp")
	if err := os.WriteFile(saved, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(saved, form)
}

// answerByCommand approves the merge on the command line.
func (d *demo) answerByCommand(ctx context.Context) error {
	form, err := d.form("approve", "reject")
	if err != nil {
		return err
	}
	request := filepath.Base(filepath.Dir(form))
	d.tale("The same answer from a shell:")
	d.prompt("placet approve " + request + " -m 'Ship it'")
	if err := d.placet(ctx, "approve", request, "-m", "Ship it"); err != nil {
		return err
	}
	return d.carriedOut(ctx, form)
}

// look shows what the two answers changed.
func (d *demo) look(ctx context.Context) error {
	if err := d.stop(); err != nil {
		return err
	}
	d.tale("Every decision is in the files, and in the diff:")
	d.prompt("git add -N . && git diff --stat")
	if err := d.git(ctx, io.Discard, "add", "-N", "."); err != nil {
		return err
	}
	if err := d.git(ctx, d.out, "diff", "--stat=120"); err != nil {
		return err
	}
	d.tale("The agents read resume.md and go on. Four requests are left:")
	d.prompt("placet status")
	return d.placet(ctx, "status")
}

// placet runs a command line of the story in this process. That a request is
// open is no failure here.
func (d *demo) placet(ctx context.Context, args ...string) error {
	if code := d.run(ctx, args); code != exitFine && code != exitOpen {
		return refused("placet %s ended with %d", strings.Join(args, " "), code)
	}
	return nil
}

func (d *demo) git(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, d.environ, out, &said
	if err := cmd.Run(); err != nil {
		return refused("git %s: %v: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return nil
}

// await polls until something that the daemon makes is there.
func (d *demo) await(ctx context.Context, what string, there func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, demoStep)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !there() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return refused("the daemon did not write %s in time", what).try("placet doctor")
		}
	}
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

// globAt returns the files below the project of the story.
func (d *demo) globAt(pattern string) []string {
	paths, err := filepath.Glob(filepath.Join(d.dir, layout.FaberRoots[0], "acme-corp/proja", pattern))
	if err != nil {
		return nil
	}
	return paths
}

func (d *demo) glob(name string) []string { return d.globAt("*/requests/*/" + name) }

// form returns the form that offers exactly these options, among others a
// review offers.
func (d *demo) form(options ...string) (string, error) {
	for _, path := range d.glob("form.md") {
		body, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		all := true
		for _, o := range options {
			all = all && strings.Contains(string(body), "- [ ] "+o)
		}
		if all && !exists(filepath.Join(filepath.Dir(path), "receipt.json")) {
			return path, nil
		}
	}
	return "", fmt.Errorf("no form offers %s", strings.Join(options, " and "))
}
