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

// identify identifies a folder, and distinguishes it from another folder that takes
// its place.
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

// objectStore returns the folder of the objects of the git repository whose work tree
// the workspace is, "" if it is none. A linked work tree shares the objects of its
// main one.
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

// trouble returns an error about the machine and nil for other errors: a repository
// that cannot be read at the moment may still exist.
func trouble(err error) error {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return err
		}
	}
	return nil
}

// longestLine is more than the length of any path.
const longestLine = 8 << 10

// readLine returns the only line of a small regular file, "" if there is none. The
// name may lead to anything, so opening it does not wait.
func readLine(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", trouble(err)
	}
	body, err := readRegular(f, name, 0, longestLine) // if the file is cut meanwhile: what is left
	return strings.TrimRight(string(body), "\r\n"), trouble(err)
}

func absolute(from, to string) string {
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(from, to)
}
