// Package demo plays demonstrations that show what placet does.
package demo

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// Files are three workspaces: one as FABER's own scripts leave it, with six runs that wait for
// a person, one for each kind of request; one with an AFL session whose checkpoint nobody has
// begun; and one with the inputs of an optimisation cycle. The other demonstrations begin in an
// empty workspace.
//
//go:embed all:stories
var Files embed.FS

// Script is the text and the commands of the demo, with @@KEY for the phrase of a key.
//
//go:embed stories/demo.sh
var Script string

// Words matches the keys in the script.
var Words = lazyregexp.New(`@@[a-z_.]+`)

// In returns the demo in a language.
func In(lang string) string {
	return Words.ReplaceAllStringFunc(Script, func(key string) string {
		return templates.ShellWord(templates.Text(lang, strings.TrimPrefix(key, "@@")))
	})
}

// Verb returns the verb that plays the demo, or that of a family, in a folder of its own.
func Verb() verb.Verb {
	var keep, step, try bool
	var database, mailbox string
	return verb.Verb{
		Use:   "demo [" + strings.Join(stories, "|") + "]",
		Group: verb.GroupSetUp, Most: 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&keep, "keep", false, "")
			f.BoolVar(&step, "step", false, "")
			f.BoolVar(&try, "try", false, "")
			// The demo itself uses these flags to show the rows of an audit database, and to
			// receive mails.
			f.StringVar(&database, "rows", "", "")
			f.StringVar(&mailbox, "mailbox", "", "")
			_ = f.MarkHidden("rows")
			_ = f.MarkHidden("mailbox")
		},
		Run: func(c verb.Call) error {
			switch {
			case database != "":
				return showRows(c.Env, database)
			case mailbox != "":
				return keepMails(c.Ctx, c.Env, mailbox)
			}
			story := cmp.Or(console.First(c.Args), stories[0])
			if !slices.Contains(stories, story) {
				return console.Usage("cli.demo.unknown", "story", strconv.Quote(console.OneLine(story))).Try("say.text", "text", "placet demo "+strings.Join(stories, "|"))
			}
			if c.Env.Flags.JSON {
				return console.Usage("cli.demo.json")
			}
			if try && story != stories[0] {
				return console.Usage("cli.demo.try.story", "story", stories[0]).Try("say.text", "text", "placet demo --try")
			}
			if step && !console.IsTerminal(c.Env.In) {
				return console.Usage("cli.demo.step").Try("cli.demo.step.try", "command", "placet demo "+story)
			}
			return playDemo(c.Ctx, c.Env, options{story, step, try}, keep)
		},
	}
}

// stories lists the families with a demonstration, the default one first, and workspaces the
// folders in which they take place.
var (
	stories    = []string{"ask", "faber", "afl", "optimizer", "nemawashi", "pal"}
	workspaces = map[string]string{"ask": "release", "faber": "workspace", "afl": "shop", "optimizer": "import", "nemawashi": "team", "pal": "build"}
)

// options say which demonstration is played, and how: whether it waits for Enter after each step, and
// whether the reader answers in it.
type options struct {
	story     string
	step, try bool
}

// demoTime limits the whole demo on a slow machine, unless it waits for a person. It takes a
// few seconds if nothing delays it.
const demoTime = 5 * time.Minute

func playDemo(ctx context.Context, w *console.Env, o options, keep bool) error {
	if _, err := w.LookPath("git"); err != nil {
		return console.Refused("cli.demo.git").Try("cli.demo.git.try")
	}
	if !o.step && !o.try {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, demoTime)
		defer cancel()
	}
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that is closed would leave programs and a folder behind
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	home, err := demoFolder(o.story)
	if err != nil {
		return console.Refused("cli.demo.failed", "error", console.Plain(err))
	}
	if !keep {
		defer removeDemo(home)
	}
	if err := runDemo(ctx, w, o, home); err != nil {
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return console.Refused("cli.demo.long", "error", err).Try("say.text", "text", "placet doctor")
		case ctx.Err() != nil:
			return console.Exit(console.ExitInterrupted)
		}
		return console.Refused("cli.demo.broken", "error", err)
	}
	if keep {
		fmt.Fprintf(w.Out, "\n%s\n", w.Text("cli.demo.kept", "folder", filepath.Join(home, workspaces[o.story])))
	}
	return nil
}

// demoFolder makes a folder with the workspace of a demonstration.
func demoFolder(story string) (string, error) {
	home, err := os.MkdirTemp("", "placet-demo-")
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	dir := filepath.Join(home, workspaces[story])
	if err = cmp.Or(err, os.Mkdir(dir, 0o777)); err != nil {
		return home, err
	}
	tree, err := fs.Sub(Files, "stories/"+story)
	if err == nil {
		err = os.CopyFS(dir, tree)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it begins in an empty folder
	}
	return home, err
}

// runDemo makes the shell play the demo. The programs that the shell starts end with it. The
// shell is not in the terminal's foreground, so it gets the typed input by a pipe.
func runDemo(ctx context.Context, w *console.Env, o options, home string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", In(w.Lang))
	cmd.Dir, cmd.Stdout = home, &folder{out: w.Out}
	cmd.Stderr = cmd.Stdout // one stream, so that the order of the lines is kept
	cmd.Env = append(demoEnviron(w.Environ, home, w.Lang), "PLACET="+self, "STORY="+o.story, "STEP=", "TRY=", "STRONG=", "FAINT=", "PLAIN=")
	if w.Colour {
		cmd.Env = append(cmd.Env, "STRONG=\x1b["+console.Strong+"m", "FAINT=\x1b["+console.Faint+"m", "PLAIN=\x1b[0m", "CLICOLOR_FORCE=1")
	}
	if o.try {
		cmd.Env = append(cmd.Env, "TRY=yes")
	}
	if o.step {
		typed, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			defer typed.Close()
			_, _ = io.Copy(typed, w.In) // it ends with the demo, or at the end of the input
		}()
		cmd.Env = append(cmd.Env, "STEP=yes")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil { // the shell may have ended before the programs that it started
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// removeDemo removes the folder of a demonstration. The programs of an interrupted one may
// write there for a moment while they end.
func removeDemo(home string) {
	for end := time.Now().Add(5 * time.Second); os.RemoveAll(home) != nil && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// demoEnviron returns the environment of the demo, without the user's own settings and git's.
// LANG sets placet's language.
func demoEnviron(environ []string, home, lang string) []string {
	locale := "LC_ALL=C.UTF-8"
	if slices.Contains(templates.Languages()[1:], lang) {
		locale = "LANG=" + lang
	}
	own := slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(console.AgentVariables, name) || strings.HasPrefix(e, "GIT_") || strings.HasPrefix(e, "LC_") || strings.HasPrefix(e, "XDG_CONFIG_HOME=") || strings.HasPrefix(e, "XDG_STATE_HOME=")
	})
	return append(own, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=placet demo", "GIT_AUTHOR_EMAIL=demo@example.invalid",
		"GIT_COMMITTER_NAME=placet demo", "GIT_COMMITTER_EMAIL=demo@example.invalid", locale)
}

// showRows shows the rows of an audit database.
func showRows(w *console.Env, database string) error {
	databases := sqlite.New(w.Cwd)
	defer databases.Release(database)
	end := databases.Do(engine.Database{Path: database, Schema: optimizer.AuditSchema, Select: []engine.Query{
		{Name: "rows", SQL: "SELECT 'audit_logs' AS t, action AS what, status AS how FROM audit_logs UNION ALL" +
			" SELECT 'user_feedback', impact_summary, impact_domain FROM user_feedback UNION ALL SELECT 'decisions', title, approved_by FROM decisions"},
	}})
	var found struct {
		Rows []struct{ T, What, How string } `json:"rows"`
	}
	if err := json.Unmarshal(end.Output, &found); err != nil {
		return console.Refused("cli.demo.database", "file", database, "error", end.Reason)
	}
	fmt.Fprintf(w.Out, "\n%s\n", w.Paint(console.Faint, "# "+w.Text("cli.demo.rows", "file", database)))
	t := &console.Table{}
	for _, row := range found.Rows {
		t.Add("    "+row.T, row.What, row.How)
	}
	t.Print(w, w.Out)
	return nil
}
