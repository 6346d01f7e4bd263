package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"placet/internal/lazyregexp"
)

// Writer names who writes a kind of file. A document has one writer. If a dialect makes
// several parties write one file, its writer is Shared, and placet replaces it by
// compare-and-swap.
type Writer string

// The writers.
const (
	Placet   Writer = "placet"
	Reviewer Writer = "reviewer"
	Agent    Writer = "agent"
	Upstream Writer = "upstream"
	Person   Writer = "person"
	Anyone   Writer = "anyone"
	Shared   Writer = "shared"
	// Either is somebody else or placet, which creates the file if there is none and
	// never replaces it.
	Either Writer = "either"
)

// Run says where one run is.
type Run struct {
	Family string
	ID     string
	// Dir is the run's folder.
	Dir string
	// Class is the family's word for the kind of run; "" is the ordinary one.
	Class string
	// State is the path of the state document.
	State string
	// Locks are lock files that other writers of the state document take, in this order.
	Locks []string
	// LocksExist says that the lock files are used if they exist, and never created.
	LocksExist bool
}

// Format says how a file is read, and so when it counts as complete.
type Format int

// The formats.
const (
	// JSON is one object; a strict prefix of it never parses.
	JSON Format = iota
	// Text is anything else: Markdown, YAML, JSON Lines, plain text.
	Text
)

// File says what a path inside a run's folder is.
type File struct {
	// Kind names the kind of document; a run's state document has the kind
	// "state" in every family.
	Kind   string
	Writer Writer
	Format Format
	// Limit is the largest size that is read, in bytes.
	Limit int64
	// End, if not 0, is how much of the file is read at most, from its end: a journal
	// grows for ever, and its last lines decide. The document's Body and Sum are those
	// of that end.
	End int64
	// Request is the request id, for files of a request folder.
	Request string
	// Once says that a file is written once and never changed afterwards, and that it
	// decides nothing by itself. If a folder holds many of them, a change of one in
	// place need not be seen at once.
	Once bool
	// Numbered says that a new file has the next number of its folder in its name, so
	// two files that mean the same have different names.
	Numbered bool
	// Locked says that a file is written only under the run's locks: it is read at once,
	// without waiting for it to settle.
	Locked bool
}

// Size limits by format, in bytes. A format page may state others.
const (
	LimitJSON  = 1 << 20
	LimitState = 16 << 20
	LimitText  = 1 << 20
	LimitYAML  = 64 << 10
)

// Outside describes a file that a run needs and that belongs to no run. Its name decides
// how large it may be. A text may be as large as a state document, because only a part
// of it is quoted.
func Outside(p string) File {
	f := File{Format: Text, Limit: LimitState}
	switch path.Ext(p) {
	case ".json":
		if path.Base(p) != "state.json" { // another run's state document
			f.Limit = LimitJSON
		}
	case ".yaml", ".yml":
		f.Limit = LimitYAML
	}
	return f
}

// Entry is one name in a folder. A link is neither a file nor a folder here, because
// links are never followed.
type Entry struct {
	Name string
	Dir  bool
	Link bool
}

// Lister lists a folder, sorted by name. A folder that does not exist is empty.
type Lister func(dir string) ([]Entry, error)

// Family says where one family keeps its runs and documents.
type Family interface {
	// Name returns the family's name.
	Name() string
	// Roots returns the folders below which the runs are.
	Roots() []string
	// Runs finds every run below the roots, sorted by folder. It calls ls only for
	// folders in which a run may appear or vanish.
	Runs(ls Lister) ([]Run, error)
	// At returns the run to which a path belongs.
	At(p string) (Run, bool)
	// File says what a path relative to the run's folder is. It returns false for
	// folders and for noise.
	File(run Run, rel string) (File, bool)
	// Descend reports whether a folder of the run's folder holds documents.
	Descend(run Run, rel string) bool
}

// Volatile is a family with documents that are read and shown as they are now, but never
// journaled and never a reason to commit, such as the progress of a worker. File returns
// false for their paths.
type Volatile interface {
	Family
	// Volatile reports whether a path relative to the run's folder is one of them.
	Volatile(run Run, rel string) bool
}

// IsVolatile reports whether a path relative to the run's folder is a volatile document
// of a family that may have some.
func IsVolatile(f Family, run Run, rel string) bool {
	v, ok := f.(Volatile)
	return ok && v.Volatile(run, rel)
}

// Sparse is a family whose runs may have thousands of folders, only few of which can
// move a run at a time. File events then cause a look only at the folders that they
// name; the scan sees changes in folders that the machine does not watch.
type Sparse interface {
	Family
	// Sparse marks the family.
	Sparse()
}

// IsSparse reports whether a family is [Sparse].
func IsSparse(f Family) bool {
	_, ok := f.(Sparse)
	return ok
}

// ProblemSuffix ends the name of a problem note beside its file.
const ProblemSuffix = ".problem.md"

// KindStateFile is the kind of every state document (engine.KindState).
const KindStateFile = "state"

// KindProblem is the kind of every problem note.
const KindProblem = "problem"

// TempPrefix and TempSuffix enclose the names of placet's own temporary files.
const (
	TempPrefix = ".placet-"
	TempSuffix = ".tmp"
)

// tempOwner is how many hex digits of a temporary name identify the process that made
// it.
const tempOwner = 8

// TempName returns the name of a temporary file that a process makes.
func TempName(pid int, random uint32) string {
	return fmt.Sprintf("%s%0*x%08x%s", TempPrefix, tempOwner, pid, random, TempSuffix)
}

// TempOwner returns the process that made a temporary file, according to its name.
func TempOwner(name string) (pid int, ok bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(name, TempPrefix), TempSuffix)
	if !IsTemp(name) || len(digits) < tempOwner {
		return 0, false
	}
	n, err := strconv.ParseInt(digits[:tempOwner], 16, 32)
	return int(n), err == nil && n > 0
}

// IsTemp reports whether a name is one of placet's temporary files.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, TempPrefix) && strings.HasSuffix(name, TempSuffix)
}

// noise, noiseExt, jetBrains and numberedTmp describe the names that editors, agents,
// git and synchronisers use for a while beside the file that they save (measured:
// testdata/save-patterns.json).
var (
	noise    = map[string]bool{"4913": true, "Thumbs.db": true, "desktop.ini": true}
	noiseExt = map[string]bool{
		".tmp": true, ".temp": true, ".vsctmp": true, ".bck": true, ".orig": true, ".rej": true, ".bak": true, ".lock": true,
		".part": true, ".partial": true, ".crdownload": true, ".download": true,
	}
	jetBrains   = lazyregexp.New(`___jb_(tmp|old|bak)___$`)
	numberedTmp = lazyregexp.New(`\.tmp\.\d+\.[0-9a-f]+$`)
)

// Noise reports whether a name is known to be somebody's temporary, backup or
// lock file.
func Noise(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") || strings.HasSuffix(name, "~") ||
		len(name) > 1 && name[0] == '#' && name[len(name)-1] == '#' || noise[name] || noiseExt[path.Ext(name)] ||
		strings.HasSuffix(name, "___") && jetBrains.MatchString(name) || strings.Contains(name, ".tmp.") && numberedTmp.MatchString(name)
}

// conflictCopy matches the names that synchronisers give to the loser of two
// simultaneous changes (Syncthing; Dropbox and Nextcloud).
var conflictCopy = lazyregexp.New(`\.sync-conflict-\d{8}-\d{6}-| \(.*[Cc]onflicted copy.*\)| \(.*conflict.*\)`)

// ConflictCopy reports whether a name is a synchroniser's second copy of a
// file. Such a copy is never noise: it may hold a second answer.
func ConflictCopy(name string) bool { return conflictCopy.MatchString(name) }

// Under reports whether p is dir or below it.
func Under(p, dir string) bool {
	return p == dir || len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir) || dir == "."
}

// Safe reports whether a path from a document may be looked up: relative,
// below the workspace, without empty, dot or control parts.
func Safe(p string) bool {
	if p == "" || len(p) > 4096 || path.IsAbs(p) || strings.ContainsAny(p, "\x00\n\r") {
		return false
	}
	for _, part := range strings.Split(p, "/") {
		if part == ".." {
			return false
		}
	}
	return path.Clean(p) != "."
}

// IsArtifact reports whether a path from a document names one file that people may be
// shown: it is safe and clean, holds no character of a pattern or of a git fact, and is
// not in the folders of git and placet.
func IsArtifact(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return Safe(p) && path.Clean(p) == p && !strings.ContainsAny(p, `*?[\:`) && !strings.EqualFold(first, ".placet") && !strings.EqualFold(first, ".git")
}
