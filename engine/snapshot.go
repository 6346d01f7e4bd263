package engine

import (
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"placet/internal/lazyregexp"
)

// Snapshot holds one run's documents, read together, and everything else that a
// machine may use. It must not be changed.
type Snapshot struct {
	Key Key
	// Dir is the run's folder, relative to the workspace.
	Dir string
	// Class is layout's word for the kind of run; see the family's layout.
	Class string
	Now   time.Time
	// Docs are sorted by Path. A needed path that does not exist is included with
	// ErrAbsent.
	Docs []Document
	// Needs lists the paths, globs and facts that were looked up, sorted.
	Needs []string
	Facts Environment
}

// Doc returns the document at a path relative to the workspace, or an absent one.
func (s Snapshot) Doc(p string) Document {
	i := sort.Search(len(s.Docs), func(i int) bool { return s.Docs[i].Path >= p })
	if i < len(s.Docs) && s.Docs[i].Path == p {
		return s.Docs[i]
	}
	return Document{Path: p, Err: ErrAbsent}
}

// With returns the snapshot as it would be if a document had just been written.
func (s Snapshot) With(d Document) Snapshot {
	d.Sum, d.Changed = Sum(d.Body), s.Now
	i, there := slices.BinarySearchFunc(s.Docs, d.Path, func(d Document, p string) int { return strings.Compare(d.Path, p) })
	if s.Docs = slices.Clone(s.Docs); there {
		s.Docs[i] = d
	} else {
		s.Docs = slices.Insert(s.Docs, i, d)
	}
	return s
}

// In returns the document at a path relative to the run's folder.
func (s Snapshot) In(rel string) Document { return s.Doc(path.Join(s.Dir, rel)) }

// Under returns the documents below a folder of the run's folder, sorted.
func (s Snapshot) Under(rel string) []Document {
	prefix := path.Join(s.Dir, rel) + "/"
	from := sort.Search(len(s.Docs), func(i int) bool { return s.Docs[i].Path >= prefix })
	to := sort.Search(len(s.Docs)-from, func(i int) bool { return !strings.HasPrefix(s.Docs[from+i].Path, prefix) })
	return s.Docs[from : from+to : from+to]
}

// Rel returns a path relative to the run's folder, or the path itself if it is
// outside.
func (s Snapshot) Rel(p string) string {
	if rel, ok := strings.CutPrefix(p, s.Dir+"/"); ok {
		return rel
	}
	return p
}

// stillNeed is the prefix of a need for a file that must be unchanged for longer.
const stillNeed = "still:"

// Has reports whether a need was looked up for this snapshot. The stricter need
// for a file also answers the plain one if the file is settled.
func (s Snapshot) Has(need string) bool {
	if _, ok := slices.BinarySearch(s.Needs, need); ok {
		return true
	}
	_, ok := slices.BinarySearch(s.Needs, stillNeed+need)
	return ok && !s.Doc(need).Unsettled()
}

// Lacks returns the needs that were not looked up yet, sorted, each once.
func (s Snapshot) Lacks(needs []string) []string {
	var missing []string
	for _, n := range needs {
		if !s.Has(n) {
			missing = append(missing, n)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// branchName is what a need may name as a branch.
var branchName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$`)

// IsBranch reports whether a need such as git:log/10/<branch> may name a branch so.
func IsBranch(name string) bool {
	return branchName.MatchString(name) && !strings.Contains(name, "..")
}
