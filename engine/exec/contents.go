package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"placet/engine"
	"placet/engine/store/fs"
)

// These constants bound how much is read of the files that a command names.
const (
	// largestContent is the largest size of a file that is read. A larger file
	// is represented by its size and the time of its last change.
	largestContent = 16 << 20
	// mostNames is how many names in a command are looked up.
	mostNames = 4096
	// mostFolders is how many of the folders that a command names are searched for
	// its other names, and mostNamesBelow is how many names are looked up in each.
	mostFolders    = 8
	mostNamesBelow = 512
)

// Contents describes the workspace files that commands name. It caches digests, and
// reads a file again if the file has changed. Its methods may be called from
// several goroutines.
type Contents struct {
	files  fs.FS
	getenv func(string) string
	now    func() time.Time
	mu     sync.Mutex
	known  map[string]content
}

// content is a file as it was last read.
type content struct {
	info   fs.Info
	digest engine.Digest
	first  string // the beginning, which may name an interpreter
}

// longestFirst is how many bytes of the beginning of a file are kept: as many as the
// system reads for #!.
const longestFirst = 256

// Where returns the folder in which a command runs: the folder that it prefers,
// if that exists, otherwise the workspace's root. prefer is "" for a command
// that prefers none.
func (c *Contents) Where(prefer string) string {
	root, err := os.OpenRoot(c.files.Root())
	if err != nil {
		return "."
	}
	defer root.Close()
	dir, err := workingDir(root, engine.Command{Prefer: prefer})
	if err != nil {
		return "."
	}
	return dir
}

// Folders returns the paths of the folders in a folder, sorted.
func (c *Contents) Folders(in string) []string {
	infos, err := c.files.List(in)
	if err != nil {
		return nil // the same as none: nothing runs in a folder that cannot be listed
	}
	var dirs []string
	for _, info := range infos {
		if dir := path.Join(in, info.Name); !info.Mode.IsRegular() && c.Where(dir) == dir {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// NewContents returns the contents of the workspace at root. Variables in commands have
// the values of this process.
func NewContents(root string) *Contents {
	return &Contents{files: fs.OS(root), getenv: os.Getenv, now: time.Now, known: map[string]content{}}
}

// WithEnv sets the function that returns the values of variables in commands.
func (c *Contents) WithEnv(getenv func(name string) string) *Contents {
	c.getenv = getenv
	return c
}

// Of describes the workspace files that a command names when it runs in dir. The key is the name
// that a word of the command gives the file; the value is the digest of a regular file, "link"
// and the digest or the target, "folder", or another kind of file. A file that does not exist has
// no entry, so that a file that appears is a difference.
//
// A name is a word of the argument vector, the part of a word after "=", "@", a short flag or a
// variable, a word of a text that a shell would split, or the result of a shell's expansion of
// one. The target of a shell's output redirection is not a name. Names are relative to dir or to
// a folder that another word names, or they are absolute.
//
// A name also stands for the program that PATH finds for it, and a script for the interpreter
// that its first line names.
//
// If a word's value is unknown and the command may run the file that it names, Of adds all files
// that match it under the word as it is written, or [AnyFile].
func (c *Contents) Of(dir string, argv []string) map[string]string {
	found, seen, folders := map[string]string{}, map[string]bool{}, []string{}
	names := namesIn(argv)
	if len(names) > mostNames {
		names = names[:mostNames]
		found["…"] = fmt.Sprintf("more than %d names: the others are not looked at", mostNames)
	}
	add := func(name string) (is string) {
		rel := c.resolve(dir, name)
		if is = c.describe(rel); is != "" {
			seen[rel] = true
		}
		return is
	}
	for _, word := range names {
		name := path.Clean(word)
		is := add(name)
		if is != "" {
			found[name] = is
		}
		if is == isFolder && !path.IsAbs(name) && len(folders) < mostFolders {
			folders = append(folders, name)
		}
	}
	for _, folder := range folders {
		for _, word := range names[:min(len(names), mostNamesBelow)] {
			below := path.Join(folder, word)
			if path.IsAbs(word) {
				continue
			}
			if is := add(below); is != "" && is != isFolder {
				found[below] = is
			}
		}
	}
	words, untold := readShell(argv, c.getenv, c.isOutside)
	if len(words) > mostNames {
		found["…"] = fmt.Sprintf("more than %d names: the others are not looked at", mostNames)
	}
	l := &look{c: c, dir: dir, found: found, seen: seen, left: mostLooks}
	l.addAll(append(names, words...))
	l.addUntold(untold)
	return found
}

const isFolder = "folder"

// Path returns the path, relative to the workspace, of the file that a name in dir stands for.
// ok is false for a file outside the workspace.
func (c *Contents) Path(dir, name string) (p string, ok bool) {
	p = c.resolve(dir, name)
	return p, filepath.IsLocal(p)
}

// Text returns the content of the file that a name in dir stands for, if it still has the
// digest and no more than limit bytes.
func (c *Contents) Text(dir, name string, sum engine.Digest, limit int64) (body []byte, ok bool) {
	p, ok := c.Path(dir, name)
	if !ok {
		return nil, false
	}
	f, err := c.files.Open(p, fs.ForReading, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	body, err = io.ReadAll(io.NewSectionReader(f, 0, limit+1))
	return body, err == nil && int64(len(body)) <= limit && engine.Sum(body) == sum
}

// absent lists the errors that mean that no file has the name.
var absent = []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL}

// resolve returns the path, relative to the workspace, of the file that a name in dir
// stands for. The path is not local if the file is outside the workspace.
func (c *Contents) resolve(dir, name string) string {
	rel := path.Join(dir, name)
	if path.IsAbs(name) {
		return c.below(name)
	}
	if !filepath.IsLocal(rel) { // it may lead back in
		return c.below(path.Join(c.files.Root(), rel))
	}
	return rel
}

// describe describes the file at a path. It returns "" if no file is there or the
// path is outside the workspace.
func (c *Contents) describe(rel string) string {
	if !filepath.IsLocal(rel) || rel == "." {
		return ""
	}
	info, err := c.files.Stat(rel)
	switch {
	case err != nil && slices.ContainsFunc(absent, func(errno syscall.Errno) bool { return errors.Is(err, errno) }):
		return ""
	case err == nil && info.Mode.IsDir():
		return isFolder
	case err == nil && info.Mode&iofs.ModeSymlink != 0:
		return c.describeLink(rel)
	case err == nil && !info.Mode.IsRegular():
		return fs.Describe(info.Mode)
	}
	var is string
	if err == nil {
		is, err = c.digest(rel, info)
	}
	if notRegular := (*fs.NotRegular)(nil); errors.As(err, &notRegular) {
		return c.describeLink(rel) // a link instead of a folder on the way
	}
	if err != nil {
		return describeError(err)
	}
	return is
}

// below returns an absolute path relative to the workspace, also if a link leads into
// it. It returns the path itself if it is outside the workspace.
func (c *Contents) below(name string) string {
	real, err := filepath.EvalSymlinks(name)
	for _, p := range []string{path.Clean(name), real} {
		if rel, relErr := filepath.Rel(c.files.Root(), p); relErr == nil && filepath.IsLocal(rel) {
			return rel
		}
		if err != nil {
			break
		}
	}
	return name
}

// describeLink describes the target of a link: the content of a file in the
// workspace, or a path outside.
func (c *Contents) describeLink(rel string) string {
	real, err := filepath.EvalSymlinks(filepath.Join(c.files.Root(), rel))
	if err != nil {
		return "link to nothing"
	}
	to := c.below(real)
	if path.IsAbs(to) {
		return "link to " + to
	}
	info, err := c.files.Stat(to)
	is := fs.Describe(info.Mode)
	if err == nil && info.Mode.IsRegular() {
		is, err = c.digest(to, info)
	}
	if err != nil {
		return "link: " + describeError(err)
	}
	return "link to " + is
}

// racy is how old the last change of a file must be before its times identify its
// content: a second change within the same tick of the file system's clock would
// not show.
const racy = 2 * time.Second

// digest returns the digest of a regular file, or for a large one its size and
// the time of its last change.
func (c *Contents) digest(rel string, info fs.Info) (string, error) {
	if info.Size > largestContent {
		return fmt.Sprintf("too large to be read: %d bytes, changed %s", info.Size, info.Changed.UTC().Format(time.RFC3339Nano)), nil
	}
	is, err := c.read(rel, info)
	return string(is.digest), err
}

// read reads a regular file, or returns the cached content if the file has not
// changed.
func (c *Contents) read(rel string, info fs.Info) (content, error) {
	c.mu.Lock()
	was, known := c.known[rel]
	c.mu.Unlock()
	if known && same(was.info, info) {
		return was, nil
	}
	is, stable, err := c.hash(rel)
	if err != nil {
		return content{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, rel)
	if stable && c.now().Sub(is.info.Changed) > racy {
		c.known[rel] = is
	}
	return is, nil
}

// hash reads a file. stable says that the file did not change while it was
// read.
func (c *Contents) hash(rel string) (is content, stable bool, err error) {
	f, err := c.files.Open(rel, fs.ForReading, 0)
	if err != nil {
		return is, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return is, false, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, largestContent+1)); err != nil {
		return is, false, err
	}
	first, err := io.ReadAll(io.NewSectionReader(f, 0, longestFirst))
	if err != nil {
		return is, false, err
	}
	after, err := f.Stat()
	return content{after, engine.Digest("sha256:" + hex.EncodeToString(sum.Sum(nil))), string(first)}, same(before, after), err
}

func same(a, b fs.Info) bool {
	return a.Inode == b.Inode && a.Device == b.Device && a.Size == b.Size && a.Mode == b.Mode &&
		a.Modified.Equal(b.Modified) && a.Changed.Equal(b.Changed)
}

// describeError returns an error in words that do not change with time.
func describeError(err error) string {
	var pathErr *iofs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return "cannot be read: " + err.Error()
}

// namesIn returns the words of a command that may name a file, each once.
func namesIn(argv []string) []string {
	n := names{seen: map[string]bool{}}
	for _, arg := range argv {
		n.addText(arg)
	}
	return n.list
}

// names collects words that may name a file.
type names struct {
	list []string
	seen map[string]bool
}

// addText adds a text and every word that a shell would see in it.
func (n *names) addText(text string) {
	n.addWord(text)
	for _, word := range shellWords(text) {
		if word != text {
			n.addText(word)
		}
	}
}

// add adds a word unchanged.
func (n *names) add(word string) {
	word = withoutProcess(word)
	if !n.seen[word] && len(n.list) <= mostNames {
		n.seen[word] = true
		n.list = append(n.list, word)
	}
}

// addWord adds a word and the part of it after "=", "@", a short flag or a variable.
func (n *names) addWord(word string) {
	if word == "" || len(word) > 4096 {
		return
	}
	if strings.Trim(word, "./") != "" {
		n.add(word)
	}
	_, value, _ := strings.Cut(word, "=")
	n.addWord(value)
	for _, value := range joinedTo(word) {
		n.addWord(value)
	}
	if at := strings.LastIndexByte(word, '@'); at >= 0 {
		n.addWord(word[at+1:])
	}
	if at := strings.LastIndexByte(word, '$'); at >= 0 { // $PWD/check.sh
		_, rest, _ := strings.Cut(word[at:], "/")
		n.addWord(rest)
	}
}

// shellWords splits a text roughly as a shell does: at blanks and operators, but
// not inside quotes. It leaves out the word after ">" because that is written to.
func shellWords(text string) (words []string) {
	var word strings.Builder
	var quote rune
	written := false
	end := func() {
		if word.Len() > 0 && !written {
			words = append(words, word.String())
		}
		written = written && word.Len() == 0
		word.Reset()
	}
	for _, r := range text {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && (unicode.IsSpace(r) || strings.ContainsRune(";|&()<`>", r)):
			end()
			written = written || r == '>'
		default:
			word.WriteRune(r)
		}
	}
	end()
	return words
}
