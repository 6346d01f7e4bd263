// Package console reads from and writes to people: the streams of the process, text that
// is safe to show, tables, questions, and problems in words for people.
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

// Env is everything outside the workspace that a verb uses.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Colour   bool // of out
	Getenv   func(string) string
	// Environ is the environment for programs that placet starts, as in os/exec: nil is
	// the environment of this process.
	Environ []string
	Cwd     string
	// Spares says that the verb works although settings that do not concern asks are wrong.
	Spares bool
	// Root is the workspace, "" before one is opened.
	Root  string
	Now   func() time.Time
	Flags Flags
	// Lang is the language of what people read on the screen; "" is English.
	Lang string
	// CollectLater, if not nil, is called by a verb that reads a workspace and ends: such a
	// process may collect garbage later than one that keeps running.
	CollectLater func()

	typed chan string // the lines of In, once somebody was asked; closed when the input ends
}

// Flags are those that every verb has.
type Flags struct {
	Workspace string
	Config    string
	JSON      bool
	Lang      string
}

// NewEnv returns the Env of this process.
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

// Locale returns the language that the environment asks for, as POSIX defines it: the
// first that is set of LC_ALL, LC_MESSAGES and LANG. It returns English for a language
// that placet does not speak.
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

// StateHome returns the folder of all state folders, "" if there is none.
func (w *Env) StateHome() string { return w.XDG("XDG_STATE_HOME", ".local/state") }

// XDG returns a folder of the XDG base directory specification, "" if there is no home. It
// ignores relative values, as the specification requires.
func (w *Env) XDG(name, below string) string {
	if dir := w.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	if home := w.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, below)
	}
	return ""
}

// InGitHook reports whether git runs this process as a hook: the work tree may differ from
// what is committed.
func (w *Env) InGitHook() bool { return w.Getenv("GIT_INDEX_FILE") != "" }

// AgentVariables are the variables that tell a process that the client of an agent started
// it.
var AgentVariables = []string{"AI_AGENT", "CLAUDECODE", "CODEX_SESSION_ID", "GEMINI_CLI", "CURSOR_AGENT"}

// Agent returns the variable that says that the client of an agent started this process,
// "" for none.
func (w *Env) Agent() string { return w.firstSet(AgentVariables) }

// AgentSession returns the session of that agent, which hooks get too; "" if it is
// unknown.
func (w *Env) AgentSession() string {
	return w.Getenv(w.firstSet([]string{"CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"}))
}

// firstSet returns the first variable that is set, "" for none.
func (w *Env) firstSet(names []string) string {
	for _, name := range names {
		if w.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// Path returns the path of a file that the command line names.
func (w *Env) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.Cwd, name)
}

// Here returns the path of a file of the workspace such that it opens from the folder in which
// the command was typed, as git prints paths. With -C that is the workspace, as for git, too.
func (w *Env) Here(name string) string {
	cwd, err := filepath.EvalSymlinks(w.Cwd)
	if w.Root == "" || w.Flags.Workspace != "" || name == "" || err != nil || filepath.IsAbs(name) {
		return name
	}
	rel, err := filepath.Rel(cwd, filepath.Join(w.Root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return rel
}

// Command returns a program with the environment's variables in a folder, "" for the one
// of this process. If PATH has no such program, starting it returns the error.
func (w *Env) Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	path, err := w.LookPath(name)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0], cmd.Dir, cmd.Env, cmd.Err = name, dir, w.Environ, err
	return cmd
}

// LookPath returns the path of a program as [exec.LookPath] does, using the environment's
// PATH. It skips folders that PATH names relative to the present one, whose owner could
// otherwise choose the program.
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

// Login returns the name of the user of this process.
func Login() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
