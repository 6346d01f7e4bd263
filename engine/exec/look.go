package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	iofs "io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/store/fs"
)

// AnyFile describes a word of a command that may name any file of the workspace, or more
// files than placet looks at.
const AnyFile = "any file"

// linkToFolder describes a link to a folder of the workspace.
var linkToFolder = "link to " + fs.Describe(iofs.ModeDir)

const (
	// mostLooks is how many names in folders are looked up, beyond those written in the
	// command, and how many files of the workspace are compared with words of unknown
	// value.
	mostLooks = 8192
	// mostFiles is how many files a word of unknown value may match.
	mostFiles = 256
)

// look finds the files that the words of a command name as a shell reads them.
type look struct {
	c     *Contents
	dir   string
	found map[string]string
	seen  map[string]bool // the paths of the files in found
	left  int
	// folders are those in which the command may be, with the names that it gives them.
	folders []folderNamed
}

type folderNamed struct{ rel, name string }

// addNames adds the files under the names, in dir and in each folder among them. It does not
// add a file a second time under another name: an agreement to a command holds as long as the
// command names the same files.
func (l *look) addNames(names []string) {
	slices.Sort(names)
	names = slices.Compact(names)
	l.folders = []folderNamed{{l.dir, ""}}
	for i := 0; i < len(l.folders); i++ {
		for _, name := range names {
			if path.IsAbs(name) && i > 0 {
				continue
			}
			if l.left--; l.left < 0 {
				l.found["…"] = fmt.Sprintf("more than %d names in folders: the others are not looked at", mostLooks)
				return
			}
			l.addName(l.folders[i], name)
		}
	}
}

// addName adds the file under a name in a folder. If the name goes up from a folder that is a
// link, addName also adds the file that the system finds there.
func (l *look) addName(in folderNamed, name string) {
	rel, key := l.c.resolve(in.rel, name), name
	if !path.IsAbs(name) {
		key = path.Join(in.name, name)
	}
	l.add(rel, path.Clean(key))
	if strings.Contains(name, "..") {
		full := name
		if !path.IsAbs(name) {
			full = l.c.files.Root() + "/" + in.rel + "/" + name
		}
		if real, err := filepath.EvalSymlinks(full); err == nil {
			l.add(l.c.below(real), strings.TrimPrefix(in.name+"/"+name, "/"))
		}
	}
}

func (l *look) add(rel, key string) {
	if !filepath.IsLocal(rel) {
		return
	}
	is := l.c.describe(rel)
	switch {
	case rel == "." || is == isFolder || is == linkToFolder:
		if is == linkToFolder {
			rel = l.target(rel)
		}
		if !slices.ContainsFunc(l.folders, func(f folderNamed) bool { return f.rel == rel }) {
			l.folders = append(l.folders, folderNamed{rel, key})
		}
	case is != "" && !l.seen[rel]:
		l.seen[rel] = true
		l.put(key, is)
	}
}

// put adds a description under a name, and makes the name unique if it is
// taken.
func (l *look) put(name, is string) {
	for l.found[name] != "" {
		name += "…"
	}
	l.found[name] = is
}

// addUntold adds, for each word of unknown value, the files that it may name.
func (l *look) addUntold(untold map[string][]string) {
	for _, written := range slices.Sorted(maps.Keys(untold)) {
		files, ok := map[string]string{}, true
		for _, value := range untold[written] {
			ok = ok && l.filesLike(value, files)
		}
		switch {
		case !ok:
			l.put(written, AnyFile)
		case len(files) > 0:
			sum := sha256.New()
			for _, name := range slices.Sorted(maps.Keys(files)) {
				fmt.Fprintf(sum, "%q %q\n", name, files[name])
			}
			digest := engine.Digest("sha256:" + hex.EncodeToString(sum.Sum(nil)))
			l.put(written, fmt.Sprintf("files like this: %d, together %s", len(files), digest))
		}
	}
}

// filesLike adds the files that a value with wildcards may name. It returns false if they
// are not all known: the value ends in any text, or too many files match.
func (l *look) filesLike(value string, files map[string]string) bool {
	base := value[strings.LastIndexByte(value, '/')+1:]
	if strings.HasSuffix(base, anyText) || base == "" {
		return false
	}
	start, rest := value[:strings.LastIndexByte(value[:strings.IndexAny(value, wildcard)], '/')+1], ""
	if rest = value[len(start):]; strings.Contains(value, anyText) || strings.Contains(rest, "..") { // it may go anywhere
		return l.walk(place{".", "."}, regexp.MustCompile(`(^|/)`+patternOf(base)+`$`), -1, files)
	}
	pattern := regexp.MustCompile("^" + patternOf(path.Clean(rest)) + "$")
	from := l.dir
	if path.IsAbs(start) {
		from = "."
	}
	for _, folder := range l.folders {
		dir := l.c.resolve(folder.rel, path.Clean(start))
		if !filepath.IsLocal(dir) {
			continue
		}
		if dir = l.target(dir); filepath.IsLocal(dir) && !l.walk(place{dir, from}, pattern, strings.Count(rest, "/"), files) {
			return false
		}
	}
	return true
}

// patternOf returns a value with wildcards as a regular expression.
func patternOf(value string) string {
	return strings.NewReplacer(anyText, `.*`, anyName, `[^/]*`, anyChar, `[^/]`).Replace(regexp.QuoteMeta(value))
}

// place is a folder, and the folder from which its files are named: an agreement also
// holds in the work tree of a checkpoint if the files are the same.
type place struct{ dir, from string }

// walk adds the files below a folder whose paths in it match, down to a depth, -1 for any.
func (l *look) walk(in place, pattern *regexp.Regexp, depth int, files map[string]string) bool {
	type level struct {
		dir, rel string
		depth    int
	}
	for queue := []level{{in.dir, "", depth}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		names, err := l.c.files.List(at.dir)
		if err != nil {
			continue // nothing runs in a folder that cannot be listed
		}
		for _, name := range names {
			if l.left--; l.left < 0 || len(files) > mostFiles {
				return false
			}
			rel, full := path.Join(at.rel, name.Name), path.Join(at.dir, name.Name)
			switch {
			case name.Mode.IsDir() && at.depth != 0:
				queue = append(queue, level{full, rel, at.depth - 1})
			case name.Mode&iofs.ModeSymlink != 0 && at.depth > 0:
				if l.c.describe(full) == linkToFolder {
					queue = append(queue, level{l.target(full), rel, at.depth - 1})
				}
			case !name.Mode.IsDir() && pattern.MatchString(rel):
				if name, err := filepath.Rel(in.from, full); err == nil {
					files[name] = l.c.describe(full)
				}
			}
		}
	}
	return true
}

// target returns the path of the folder to which a link leads. The path is not local if
// the link leads out of the workspace.
func (l *look) target(rel string) string {
	real, err := filepath.EvalSymlinks(filepath.Join(l.c.files.Root(), rel))
	if err != nil {
		return ".."
	}
	return l.c.below(real)
}
