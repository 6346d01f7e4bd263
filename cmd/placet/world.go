package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"placet/engine/exec"
	"placet/engine/statedir"
)

// world is everything that a verb touches outside the workspace.
type world struct {
	in       io.Reader
	out, err io.Writer
	colour   bool // of out
	getenv   func(string) string
	cwd      string
	now      func() time.Time
	flags    flags
}

// flags are those that every verb has.
type flags struct {
	workspace string
	config    string
	json      bool
}

// realWorld is the one of this process.
func realWorld() (*world, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return &world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		colour: showsColour(os.Stdout, os.Getenv),
		getenv: os.Getenv, cwd: cwd, now: time.Now,
	}, nil
}

// root returns the workspace.
func (w *world) root() (string, error) { return findWorkspace(w.flags.workspace, w.cwd) }

// stateHome is the folder below which state folders are, "" where there is none.
func (w *world) stateHome() string { return w.xdg("XDG_STATE_HOME", ".local/state") }

// stateDir opens the state folder of a workspace, and makes it where create says so.
// Without one it is nil, and the error says why; where none was made yet, that is no
// error.
func (w *world) stateDir(root string, create bool) (*statedir.Dir, error) {
	open := statedir.Open
	if create {
		open = statedir.Create
	}
	dir, err := open(w.stateHome(), root)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	return dir, err
}

// sources are where the settings of a workspace come from.
func (w *world) sources(root string) sources {
	s := sources{workspace: root, stateHome: w.stateHome(), contents: exec.NewContents(root)}
	switch config := w.xdg("XDG_CONFIG_HOME", ".config"); {
	case w.flags.config != "":
		s.user, s.named = w.flags.config, true
		if !filepath.IsAbs(s.user) {
			s.user = filepath.Join(w.cwd, s.user)
		}
	case config != "":
		s.user = filepath.Join(config, "placet", "placet.toml")
	}
	return s
}

// xdg returns a folder of the XDG base directory specification; relative
// values are ignored, as it asks. "" where there is no home.
func (w *world) xdg(name, below string) string {
	if dir := w.getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	if home := w.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, below)
	}
	return ""
}

// login is the name of the user that this process belongs to.
func login() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
