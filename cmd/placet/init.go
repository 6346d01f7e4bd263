package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// initialSettings is the placet.toml that init writes.
//
//go:embed init.toml
var initialSettings string

func initCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Make this folder a workspace",
		Long: `Makes a folder a workspace: writes placet.toml with every setting and its
default, creates .placet/, and has git ignore what placet leaves there and the
optimizer's audit databases. Nothing that exists is overwritten. placet works
without it, too.`,
		Args: takes(0, 0), GroupID: groupSetUp,
		RunE: func(*cobra.Command, []string) error {
			root, err := w.root()
			if err != nil {
				return err
			}
			return w.init(root)
		},
	}
}

// initialized is init as JSON.
type initialized struct {
	Workspace string   `json:"workspace"`
	Created   []string `json:"created"`
	Ignored   []string `json:"ignored"`
}

func (w *world) init(root string) error {
	done := initialized{Workspace: root, Created: []string{}, Ignored: []string{}}
	config := filepath.Join(root, "placet.toml")
	if err := createNew(config, initialSettings); errors.Is(err, fs.ErrExist) {
		return usage("cannot create %q: it exists already, and is never overwritten", config).try("edit it, or remove it to begin anew")
	} else if err != nil {
		return refused("cannot create %q: %v", config, plain(err))
	}
	done.Created = append(done.Created, "placet.toml")
	switch err := os.Mkdir(filepath.Join(root, ".placet"), 0o755); {
	case err == nil:
		done.Created = append(done.Created, ".placet/")
	case !errors.Is(err, fs.ErrExist):
		return refused("cannot create .placet/: %v", plain(err))
	}
	var err error
	if done.Ignored, err = exclude(root); err != nil {
		w.note("cannot have git ignore .placet/ and audit databases: %v", plain(err))
	}
	return w.answer(done, func() {
		w.say("created %s in %s", strings.Join(done.Created, " and "), root)
		if len(done.Ignored) > 0 {
			w.say("git ignores from now on, in this clone: %s", strings.Join(done.Ignored, ", "))
		}
		w.say("next: placet watch")
	})
}

// createNew creates a file that must not exist.
func createNew(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(content); err != nil {
		f.Close()
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ignored are the names that git must not see: placet's scratch and its
// temporary files.
var ignored = []string{".placet/", ".placet-*.tmp"}

// databases are the names of the optimizer's audit databases, in whichever root,
// and of what SQLite lays beside one: committed while the daemon writes them, they
// are torn.
var databases = []string{"audit_global.db", "audit_global.db-wal", "audit_global.db-shm", "audit_global.db-journal"}

// exclude has this clone's git ignore placet's names and the databases, and returns
// those that it did not ignore before. Outside of git there is nothing to do.
func exclude(root string) ([]string, error) {
	path := excludeFile(root)
	if path == "" {
		return []string{}, nil
	}
	body, err := readSmall(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []string{}, err
	}
	missing := missingLines(string(body), slices.Concat(ignored, databases))
	if len(missing) == 0 {
		return missing, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return []string{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return []string{}, err
	}
	text := strings.Join(missing, "\n") + "\n"
	if len(body) > 0 && body[len(body)-1] != '\n' {
		text = "\n" + text
	}
	_, err = fmt.Fprint(f, text)
	return missing, errors.Join(err, f.Close())
}

// missingLines returns those of the wanted lines that a text does not have.
func missingLines(text string, wanted []string) []string {
	have := strings.Split(text, "\n")
	missing := []string{}
	for _, line := range wanted {
		if !slices.Contains(have, line) {
			missing = append(missing, line)
		}
	}
	return missing
}

// excludeFile is the file in which this clone's git keeps what it ignores, ""
// where the workspace is in no work tree.
func excludeFile(root string) string {
	cmd := exec.Command("git", "rev-parse", "--git-path", "info/exclude")
	cmd.Dir = root
	out, err := cmd.Output()
	path := strings.TrimSuffix(string(out), "\n")
	if err != nil || path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	return path
}
