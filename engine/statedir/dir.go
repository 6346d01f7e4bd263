package statedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	storefs "placet/engine/store/fs"
	"placet/templates"
)

// Dir is the state folder of a workspace, held open. Its methods are safe for
// concurrent use.
type Dir struct {
	path string
	root *os.Root
	// files returns the file system through which the records of runs are opened.
	files func() (storefs.FS, error)

	mu sync.Mutex // of Write
	// records are locked while a record is written.
	records nameLocks

	attributions attributions
}

// Unusable says why there is no state folder, and what to do.
type Unusable struct {
	Path    string // "" if the path is unknown
	Problem string
	Try     string
	// Cause is the error of the system behind the problem, nil if there is none. An
	// error about a full disk means that the same folder may be usable later.
	Cause error
}

const tryOwn = "set XDG_STATE_HOME to a folder of your own"

// unusable returns the problem that an error of the system causes.
func unusable(path string, err error, try string) *Unusable {
	e := &Unusable{Path: path, Problem: err.Error(), Try: try, Cause: err}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) { // Path is enough to read
		e.Problem, e.Cause = fmt.Sprintf("%s: %v", pathErr.Op, pathErr.Err), pathErr.Err
	}
	return e
}

// Unwrap returns the cause.
func (e *Unusable) Unwrap() error { return e.Cause }

func (e *Unusable) Error() string {
	if e.Path == "" {
		return "cannot use a state folder: " + e.Problem
	}
	return fmt.Sprintf("cannot use the state folder %q: %s", e.Path, e.Problem)
}

// Path returns where the state folder of a workspace is, or would be. stateHome is
// XDG_STATE_HOME or its default, "" if there is none. An error is [*Unusable] if others
// could write in the folder, or is about the workspace itself.
func Path(stateHome, workspace string) (string, error) {
	return place(stateHome, workspace, workspacesDir, id)
}

// place returns where a folder of a workspace is, or would be, below one of placet's
// folders. name returns the folder's name for the workspace's root.
func place(stateHome, workspace, below string, name func(root string) (string, error)) (string, error) {
	if !filepath.IsAbs(stateHome) {
		return "", &Unusable{Problem: "it is not known where it would be", Try: "set HOME or XDG_STATE_HOME to an absolute path"}
	}
	root, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return "", templates.Errorf("statedir.workspace", "error", err)
	}
	called, err := name(root)
	if err != nil {
		return "", templates.Errorf("statedir.workspace", "error", err)
	}
	path := filepath.Join(resolve(stateHome), "placet", below, called)
	if within(path, root) {
		return path, &Unusable{
			Path: path, Problem: "it lies in the workspace, where an agent could write it",
			Try: "set XDG_STATE_HOME to a folder outside the workspace",
		}
	}
	return path, private(path)
}

// resolve follows the links in the existing part of a path.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	return filepath.Join(resolve(above), filepath.Base(path))
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Open opens the state folder of a workspace to read it. The error wraps fs.ErrNotExist
// if there is none yet, and is [*Unusable] if others could have written in it.
func Open(stateHome, workspace string) (*Dir, error) {
	path, err := Path(stateHome, workspace)
	if err != nil {
		return nil, err
	}
	return open(path)
}

func open(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, templates.Errorf("statedir.none", "error", err)
	}
	if err != nil {
		return nil, unusable(path, err, tryOwn)
	}
	d := &Dir{path: path, root: root}
	d.files = sync.OnceValues(d.opened)
	return d, nil
}

// Create opens the state folder of a workspace, and makes it if there is none.
func Create(stateHome, workspace string) (*Dir, error) {
	path, err := Path(stateHome, workspace)
	if err != nil {
		return nil, err
	}
	return create(path)
}

func create(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, unusable(path, err, "make its parent folder writable, or set XDG_STATE_HOME")
	}
	if err := private(path); err != nil {
		return nil, err
	}
	return open(path)
}

// private refuses a state folder in which others could write. The folder and the two
// above it must belong to this user, and others must not be able to replace any folder
// further above. A folder that does not exist yet is accepted.
func private(path string) error {
	for at, depth := path, 0; ; at, depth = filepath.Dir(at), depth+1 {
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return unusable(path, err, tryOwn)
		default:
			if problem, try := exposed(at, info, depth); problem != "" {
				return &Unusable{Path: path, Problem: problem, Try: try}
			}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// ownDepth is how many folders placet makes: the state folder, workspaces or paths, placet.
const ownDepth = 3

// exposed says how others could write in a folder that is depth levels above the state
// folder. A sticky folder of everybody's (/tmp) is safe, because nobody can rename what
// others made in it.
func exposed(dir string, info fs.FileInfo, depth int) (problem, try string) {
	mode, uid := info.Mode(), uint32(os.Geteuid())
	owner := uid
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = st.Uid
	}
	switch {
	case !mode.IsDir():
		return dir + " is no folder", tryOwn
	case depth == 0 && mode.Perm()&0o077 != 0:
		return "others may look into it", templates.CommandLine("chmod 700", []string{dir})
	case owner != uid && (depth < ownDepth || owner != 0):
		return fmt.Sprintf("%s belongs to another user", dir), tryOwn
	case mode.Perm()&0o022 != 0 && (depth < ownDepth || mode&fs.ModeSticky == 0):
		return fmt.Sprintf("others may write in %s", dir), templates.CommandLine("chmod go-w", []string{dir})
	}
	return "", ""
}

// Location returns the path of the state folder.
func (d *Dir) Location() string { return d.path }

// Root returns the state folder itself. Nobody else can write in it, so links in it are
// this user's own.
func (d *Dir) Root() *os.Root { return d.root }

// Close closes the folder.
func (d *Dir) Close() error { return d.root.Close() }

// Read returns a file of the state folder; the error wraps fs.ErrNotExist if there is
// none. A file of more than limit bytes is an error.
func (d *Dir) Read(name string, limit int64) ([]byte, error) { return d.ReadFrom(name, 0, limit) }

// ReadFrom is Read without the first from bytes.
func (d *Dir) ReadFrom(name string, from, limit int64) ([]byte, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return readRegular(f, filepath.Join(d.path, name), from, limit)
}

// readRegular reads a file from an offset on, and closes it. It returns an error for
// anything that is not a regular file, or is larger than limit bytes.
func readRegular(f *os.File, name string, from, limit int64) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, templates.Errorf("statedir.read.irregular", "file", name)
	case info.Size() > limit:
		return nil, templates.Errorf("statedir.read.large", "file", name, "n", info.Size(), "most", limit)
	}
	body := make([]byte, max(0, info.Size()-from))
	n, err := io.ReadFull(io.NewSectionReader(f, from, int64(len(body))), body)
	return body[:n], err
}

// Write replaces a file of the state folder: a reader finds the old content or the
// new one. durable says that a power cut must not undo it.
func (d *Dir) Write(name string, body []byte, durable bool) error {
	temp := name + ".new"
	d.mu.Lock() // two writers would share the temporary name
	defer d.mu.Unlock()
	_ = d.root.Remove(temp) // left by a crash
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = writeAndClose(f, body, durable); err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(temp))
	}
	if !durable {
		return nil
	}
	return d.sync(filepath.Dir(name))
}

// written is a file to write to.
type written interface {
	io.WriteCloser
	Sync() error
}

func writeAndClose(f written, body []byte, durable bool) error {
	_, err := f.Write(body)
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncNames makes the names in the state folder durable.
func (d *Dir) SyncNames() error { return d.sync(".") }

// sync makes the names in a folder durable.
func (d *Dir) sync(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
