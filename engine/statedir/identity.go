package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// id returns the name of a workspace's state folder, by the resolved path of its
// root.
func id(root string) (string, error) {
	identity, err := identify(root)
	if err != nil {
		return "", err
	}
	if objects, ok := objectStore(root); ok {
		of, err := identify(objects)
		if err != nil {
			return "", err
		}
		identity += "\n" + of
	}
	sum := sha256.Sum256([]byte("placet workspace\n" + identity))
	return hex.EncodeToString(sum[:16]), nil
}

// identify tells a folder from every other one, also from one that takes its place.
func identify(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("cannot identify the folder %s: the system does not describe it", dir)
	}
	return fmt.Sprintf("%q %d %d %s", dir, st.Dev, st.Ino, birth(dir)), nil
}

// objectStore returns the folder of the objects of the git repository that a
// workspace is the work tree of; ok is false where it is none. A linked work tree
// shares the objects of its main one.
func objectStore(root string) (dir string, ok bool) {
	git := filepath.Join(root, ".git")
	if body, err := readLine(git); err == nil {
		to, found := strings.CutPrefix(body, "gitdir: ")
		if !found {
			return "", false
		}
		git = absolute(root, to)
	}
	if common, err := readLine(filepath.Join(git, "commondir")); err == nil {
		git = absolute(git, common)
	}
	objects, err := filepath.EvalSymlinks(filepath.Join(git, "objects"))
	if err != nil {
		return "", false
	}
	info, err := os.Stat(objects)
	return objects, err == nil && info.IsDir()
}

// longestLine is more than any path.
const longestLine = 8 << 10

// readLine returns the only line of a small regular file. What is opened may be
// anything: nothing is waited for.
func readLine(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > longestLine {
		return "", fs.ErrInvalid
	}
	body := make([]byte, info.Size())
	n, err := f.Read(body)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(body[:n]), "\r\n"), nil
}

func absolute(from, to string) string {
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(from, to)
}
