package exec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"placet/layout"
)

// workTree is a work tree that contains a folder: dir is its own folder, index is the path
// of its index, and prefix is how the index names the folder: "" or a path that ends with a
// slash.
type workTree struct {
	dir, index, prefix string
}

// findWorkTree finds the work tree that contains a folder as git does, without running
// git; ok is false if there is none.
func findWorkTree(folder string) (w workTree, ok bool) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return w, false
	}
	return innermostWorkTree(real)
}

// innermostWorkTree finds the work tree that contains a folder, given the folder's path
// without links.
func innermostWorkTree(real string) (w workTree, ok bool) {
	for dir := real; ; dir = filepath.Dir(dir) {
		own := filepath.Join(dir, ".git")
		_, missing := os.Lstat(own)
		text := ""
		if missing == nil {
			text, _ = peekFile(own)
		}
		if named, is := strings.CutPrefix(text, "gitdir:"); is { // a linked work tree, or a submodule
			if own = strings.TrimSpace(named); !filepath.IsAbs(own) {
				own = filepath.Join(dir, own)
			}
		}
		if missing == nil && isGitFolder(own) {
			return workTree{dir, filepath.Join(own, "index"), prefixIn(dir, real)}, true
		}
		if dir == filepath.Dir(dir) {
			return w, false
		}
	}
}

// prefixIn returns how the index of a work tree names a folder in it.
func prefixIn(tree, folder string) string {
	rel, err := filepath.Rel(tree, folder)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// workTreesAround finds all work trees that contain a folder, given its path without links,
// the innermost first. A submodule is inside another work tree, and a file may be in the
// index of either.
func workTreesAround(real string) (all []workTree) {
	for dir := real; ; {
		w, ok := innermostWorkTree(dir)
		if !ok {
			return all
		}
		w.prefix = prefixIn(w.dir, real)
		all = append(all, w)
		if dir = filepath.Dir(w.dir); dir == w.dir {
			return all
		}
	}
}

// ownWorkTree returns the work tree of a workspace, given the real paths of its root and of a
// folder, and the work trees around the folder. If the folder lies below the root, the result is
// one of these.
func ownWorkTree(root, folder string, around []workTree) (w workTree) {
	if !isWithin(folder, root) {
		w, _ = innermostWorkTree(root)
		return w
	}
	for _, tree := range around {
		if isWithin(root, tree.dir) {
			return tree
		}
	}
	return w
}

// isWithin reports whether a path is a folder or lies below it.
func isWithin(path, dir string) bool {
	return layout.Under(path, strings.TrimSuffix(dir, "/")) // "/" ends with a slash
}

// isGitFolder reports whether git takes a folder for a repository's. git passes over any
// other folder of that name.
func isGitFolder(dir string) bool {
	head, _ := peekFile(filepath.Join(dir, "HEAD"))
	if _, err := hex.DecodeString(strings.TrimSpace(head)); head == "" || err != nil && !strings.HasPrefix(head, "ref:") {
		return false
	}
	if text, _ := peekFile(filepath.Join(dir, "commondir")); text != "" {
		return true
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// indexEntry is the entry of a file in git's index: the id of its content, and the file's
// times and numbers when git last wrote it or compared the two.
type indexEntry struct {
	id             string
	seconds, nanos uint32 // when the content last changed
	inode, size    uint32 // the lower half of each
}

// isAsLeft reports whether a file looks as it did when git last compared it with the index.
// Such a file has the content that the index names, whatever git makes of a content when it
// writes it into the work tree. Only the owner of a file can set the time of its content. git
// sets the size to zero for a file that changed in the instant in which it was compared.
func (e indexEntry) isAsLeft(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	at := info.ModTime()
	return ok && e.inode == uint32(st.Ino) && (e.size == 0 || e.size == uint32(info.Size())) && e.seconds == uint32(at.Unix()) &&
		(e.nanos == 0 || e.nanos == uint32(at.Nanosecond()))
}

// isByPeople reports whether a file may answer or command, by its name. The many other files
// of an index are not kept.
func isByPeople(name string) bool {
	return strings.Contains(name, "/"+layout.RequestsDir+"/") || strings.Contains(name, "/intake/")
}

// gitIndex is git's index as it was last read, with only the files that answer or command.
// below is the path of its work tree below the workspace: "" or a path that ends with a slash.
type gitIndex struct {
	below   string
	file    os.FileInfo
	entries map[string]indexEntry
	err     error
}

// errIndex says that placet does not read the form of an index.
var errIndex = errors.New("cannot read git's index")

// largestIndex is the largest size of an index in bytes.
const largestIndex = 256 << 20

// read reads the index again if it has changed. It returns [errIndex] if only git can read
// it.
func (x *gitIndex) read(name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		*x = gitIndex{below: x.below}
		return nil
	}
	if err != nil {
		return errIndex
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestIndex {
		return errIndex
	}
	if x.file != nil && os.SameFile(x.file, info) && x.file.ModTime().Equal(info.ModTime()) && x.file.Size() == info.Size() {
		return x.err
	}
	body, err := io.ReadAll(io.LimitReader(f, largestIndex))
	*x = gitIndex{below: x.below, file: info, err: errIndex}
	if err == nil {
		x.entries, x.err = parseIndex(body, x.below)
	}
	return x.err
}

// These constants are the layout of an index in gitformat-index(5): a header, and entries
// with these numbers of bytes before their names.
const (
	indexHeader = 12
	entrySize   = 62
	idSize      = 20
)

// parseIndex returns the entries of files that answer or command, in a work tree with the
// path below below the workspace. It does not read an index that is split, sparse or of a
// repository with longer ids.
func parseIndex(body []byte, below string) (map[string]indexEntry, error) {
	if len(body) < indexHeader+idSize || string(body[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if version < 2 || version > 4 {
		return nil, errIndex
	}
	entries, name := map[string]indexEntry{}, ""
	rest := body[indexHeader : len(body)-idSize]
	for range count {
		e, flags, n, ok := parseEntry(rest, version, &name)
		if !ok {
			return nil, errIndex
		}
		rest = rest[n:]
		if flags>>12&3 == 0 && isByPeople(below+name) {
			entries[name] = e
		}
	}
	for len(rest) >= 8 { // extensions: git must know those with a lower-case name
		size := binary.BigEndian.Uint32(rest[4:])
		if rest[0] < 'A' || rest[0] > 'Z' || uint64(size) > uint64(len(rest)-8) {
			return nil, errIndex
		}
		rest = rest[8+size:]
	}
	if len(rest) > 0 {
		return nil, errIndex
	}
	return entries, nil
}

// parseEntry reads the entry at the beginning of b, which has n bytes. name is the name of
// the entry before, and becomes the name of this one.
func parseEntry(b []byte, version uint32, name *string) (e indexEntry, flags uint16, n int, ok bool) {
	if len(b) < entrySize {
		return e, 0, 0, false
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	e = indexEntry{
		id: hex.EncodeToString(b[40 : 40+idSize]), seconds: word(8), nanos: word(12), inode: word(20), size: word(36),
	}
	flags, n = binary.BigEndian.Uint16(b[60:]), entrySize
	if version >= 3 && flags&0x4000 != 0 {
		n += 2
	}
	if n > len(b) {
		return e, flags, n, false
	}
	kept := ""
	if version == 4 {
		cut, length := stripped(b[n:])
		if length == 0 || cut > uint64(len(*name)) {
			return e, flags, n, false
		}
		n, kept = n+length, (*name)[:len(*name)-int(cut)]
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 {
		return e, flags, n, false
	}
	*name = kept + string(b[n:n+end])
	if n += end + 1; version < 4 {
		n = (n + 7) &^ 7
	}
	return e, flags, n, n <= len(b) && int(flags&0xfff) == min(len(*name), 0xfff)
}

// stripped reads how many bytes to cut from the end of the previous entry's name: a number
// encoded as the offsets of a pack are. length is 0 if the number is incomplete.
func stripped(b []byte) (cut uint64, length int) {
	for i, c := range b[:min(len(b), 5)] {
		if cut = cut<<7 | uint64(c&0x7f); c&0x80 == 0 {
			return cut, i + 1
		}
		cut++
	}
	return 0, 0
}

// parseDebug reads the entry of one file as git ls-files --stage --debug prints it.
func parseDebug(text string) (e indexEntry, ok bool) {
	var mode, device, stage int
	lines := strings.Split(text, "\n")
	if len(lines) < 6 {
		return e, false
	}
	for _, f := range []struct {
		line, format string
		to           []any
	}{
		{lines[0], "%o %s %d", []any{&mode, &e.id, &stage}},
		{lines[2], " mtime: %d:%d", []any{&e.seconds, &e.nanos}},
		{lines[3], " dev: %d ino: %d", []any{&device, &e.inode}},
		{lines[5], " size: %d", []any{&e.size}},
	} {
		if n, _ := fmt.Sscanf(f.line, f.format, f.to...); n < len(f.to) {
			return e, false
		}
	}
	return e, stage == 0
}
