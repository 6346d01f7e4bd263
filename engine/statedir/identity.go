package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"placet/templates"
)

// id returns the name of a workspace's state folder, by the resolved path of its
// root.
func id(root string) (string, error) {
	identity, err := identify(root)
	if err != nil {
		return "", err
	}
	objects, err := objectStore(root)
	if err == nil && objects != "" {
		objects, err = identify(objects)
		identity += "\n" + objects
	}
	sum := sha256.Sum256([]byte("placet workspace\n" + identity))
	return hex.EncodeToString(sum[:16]), err
}

// identify tells a folder from every other one, also from one that takes its place.
func identify(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", templates.Errorf("statedir.folder", "file", dir)
	}
	return fmt.Sprintf("%q %d %d %s", dir, st.Dev, st.Ino, birth(dir)), nil
}

// objectStore returns the folder of the objects of the git repository that a
// workspace is the work tree of, "" where it is none. A linked work tree shares the
// objects of its main one.
func objectStore(root string) (dir string, err error) {
	git := filepath.Join(root, ".git")
	named, err := readLine(git)
	if err != nil {
		return "", err
	}
	if named != "" {
		to, found := strings.CutPrefix(named, "gitdir: ")
		if !found {
			return "", nil
		}
		git = absolute(root, to)
	}
	common, err := readLine(filepath.Join(git, "commondir"))
	if err != nil {
		return "", err
	}
	if common != "" {
		git = absolute(git, common)
	}
	objects, err := filepath.EvalSymlinks(filepath.Join(git, "objects"))
	if err != nil {
		return "", trouble(err)
	}
	info, err := os.Stat(objects)
	if err != nil || !info.IsDir() {
		return "", trouble(err)
	}
	return objects, nil
}

// trouble returns the error if it is about the machine, not about what is there, and
// nil otherwise: a repository that cannot be looked at now is not none.
func trouble(err error) error {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return err
		}
	}
	return nil
}

// longestLine is more than any path.
const longestLine = 8 << 10

// readLine returns the only line of a small regular file, "" where there is none. What
// is opened may be anything: nothing is waited for.
func readLine(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", trouble(err)
	}
	body, err := readRegular(f, name, 0, longestLine) // of a file that is cut meanwhile: what is left
	return strings.TrimRight(string(body), "\r\n"), trouble(err)
}

func absolute(from, to string) string {
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(from, to)
}
