// Package console is what placet reads from and writes to: the streams of its process,
// text that is safe to show, tables, questions, and problems as people read them.
package console

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/templates"
)

// Env is everything that a verb touches outside the workspace.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Colour   bool // of out
	Getenv   func(string) string
	// Environ is the environment for programs that are started, as in os/exec: nil is that
	// of this process.
	Environ []string
	Cwd     string
	Now     func() time.Time
	Flags   Flags
	// Lang is the language of what people read on the screen; "" is English.
	Lang string
	// CollectLater, if not nil, is called by a verb that looks at a workspace and ends: its
	// process may collect garbage later than one that goes on.
	CollectLater func()
}

// Flags are those that every verb has.
type Flags struct {
	Workspace string
	Config    string
	JSON      bool
	Lang      string
}

// NewEnv is the one of this process.
func NewEnv() (*Env, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return &Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Colour: showsColour(os.Stdout, os.Getenv),
		Getenv: os.Getenv, Environ: os.Environ(), Cwd: cwd, Now: time.Now, Lang: Locale(os.Getenv),
	}, nil
}

// Locale is the language that the environment asks for, as POSIX has it: of LC_ALL,
// LC_MESSAGES and LANG the first that is set. One that placet does not speak is English.
func Locale(getenv func(string) string) string {
	lang := cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"))
	if i := strings.IndexAny(lang, "_.@"); i >= 0 {
		lang = lang[:i]
	}
	if slices.Contains(templates.Languages(), lang) {
		return lang
	}
	return templates.English
}

// StateHome is the folder below which state folders are, "" where there is none.
func (w *Env) StateHome() string { return w.XDG("XDG_STATE_HOME", ".local/state") }

// XDG returns a folder of the XDG base directory specification; relative
// values are ignored, as it asks. "" where there is no home.
func (w *Env) XDG(name, below string) string {
	if dir := w.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	if home := w.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, below)
	}
	return ""
}

// InGitHook reports whether git runs this process: the tree is not what is being committed.
func (w *Env) InGitHook() bool { return w.Getenv("GIT_INDEX_FILE") != "" }

// AgentVariables are those by which a process can tell that the client of an agent has
// started it.
var AgentVariables = []string{"AI_AGENT", "CLAUDECODE", "CODEX_SESSION_ID", "GEMINI_CLI", "CURSOR_AGENT"}

// Agent is the variable that says that the client of an agent has started this process, ""
// for none.
func (w *Env) Agent() string { return w.firstSet(AgentVariables) }

// AgentSession is the session of that agent, as hooks are told it, too; "" where it is not
// known.
func (w *Env) AgentSession() string {
	return w.Getenv(w.firstSet([]string{"CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"}))
}

// firstSet is the first variable that is set, "" for none.
func (w *Env) firstSet(names []string) string {
	for _, name := range names {
		if w.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// Path is the path of a file that is named on the command line.
func (w *Env) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.Cwd, name)
}

// Command is a program with the environment's variables, in a folder, "" for that of this
// process. Where PATH has no such program, starting it says so.
func (w *Env) Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	path, err := w.LookPath(name)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0], cmd.Dir, cmd.Env, cmd.Err = name, dir, w.Environ, err
	return cmd
}

// LookPath returns the path of a program as [exec.LookPath] does, by the environment's PATH.
// A folder that PATH names relative to the present one is passed over: whoever owns that
// folder would choose the program.
func (w *Env) LookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Login is the name of the user that this process belongs to.
func Login() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
