package cli

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

	"placet/cmd/placet/console"
)

// demoFiles are three workspaces: one as FABER's own scripts leave it, six runs
// that wait for a person, one for each kind of request; one with an AFL session
// whose checkpoint nobody has begun; and one with the inputs of an optimisation
// cycle.
//
//go:embed all:demo
var demoFiles embed.FS

func demoCommand(w *console.Env) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch a decision being made, in a temporary folder",
		Long: `Shows placet at work in a fresh temporary folder. Six runs wait for a person, a
daemon opens their requests, one is answered by editing a form and one with
placet approve. Then an AFL session: a worker's attempts are tested, two fail,
a person is asked, the third passes. Last an optimisation cycle: a report is
judged, and what is left to do begins the next one. It takes a few seconds, needs
git, and leaves nothing behind.`,
		Args: takes(0, 0), GroupID: groupSetUp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if w.Flags.JSON {
				return console.Usage("cannot tell a story as JSON: run placet demo without --json")
			}
			return playDemos(cmd.Context(), w, keep)
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

// demo is a story while it is told.
type demo struct {
	*console.Env
	dir     string
	environ []string
	daemon  *exec.Cmd
	ready   chan string // what the daemon says
}

// chapter is a part of a story.
type chapter func(context.Context) error

func playDemos(ctx context.Context, w *console.Env, keep bool) error {
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
	runs, session, cycle := story(w, home, "workspace"), story(w, home, "shop"), story(w, home, "import")
	if err := runs.tell(ctx, runs.prepare, runs.serve, runs.ask, runs.answerByForm, runs.answerByCommand, runs.look); err != nil {
		return err
	}
	if err := session.tell(ctx, session.design, session.serve, session.trustTest,
		session.fail, session.failAgain, session.decide, session.pass, session.accept); err != nil {
		return err
	}
	if err := cycle.tell(ctx, cycle.measure, cycle.serve, cycle.trustAnalysis, cycle.triggerCycle,
		cycle.judge, cycle.record, cycle.follow); err != nil {
		return err
	}
	cycle.tale("That was all: files, and a clerk who keeps them. Begin with `placet init` and `placet watch`.")
	if keep {
		w.Say("\nThe folders stay: %s, %s and %s", runs.dir, session.dir, cycle.dir)
	}
	return nil
}

// story is a story that has not begun, with a workspace of its own.
func story(w *console.Env, home, name string) *demo {
	d := &demo{dir: filepath.Join(home, name), environ: demoEnviron(os.Environ(), home)}
	d.Env = &console.Env{
		In: w.In, Out: w.Out, Err: w.Err, Colour: w.Colour, Cwd: d.dir, Now: w.Now, Getenv: lookupIn(d.environ),
	}
	return d
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
func (d *demo) tell(ctx context.Context, chapters ...chapter) error {
	for _, tell := range chapters {
		if err := tell(ctx); err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = console.Refused("the demo takes too long here: %v", err).Try("placet doctor")
			}
			return errors.Join(err, d.stop())
		}
	}
	return d.stop()
}

func (d *demo) tale(format string, args ...any) {
	d.Say("\n%s", d.Paint(console.Faint, "# "+fmt.Sprintf(format, args...)))
}

func (d *demo) prompt(command string) { d.Say("%s", d.Paint(console.Strong, "$ "+command)) }

// unpack writes the files that a story begins with.
func (d *demo) unpack(folder string) error {
	tree, err := fs.Sub(demoFiles, folder)
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.dir, tree); err != nil {
		return console.Refused("cannot write the demo's files: %v", console.Plain(err))
	}
	return nil
}

// serve starts the daemon as a process of its own.
func (d *demo) serve(ctx context.Context) error {
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

// placet runs a command line of the story in this process. That a request is
// open is no failure here.
func (d *demo) placet(ctx context.Context, args ...string) error {
	if code := run(ctx, d.Env, args); code != console.ExitFine && code != console.ExitOpen {
		return console.Refused("placet %s ended with %d", strings.Join(args, " "), code)
	}
	return nil
}

func (d *demo) git(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, d.environ, out, &said
	if err := cmd.Run(); err != nil {
		return console.Refused("git %s: %v: %s", args[0], err, strings.TrimSpace(said.String()))
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
			return console.Refused("the daemon did not write %s in time", what).Try("placet doctor")
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
