package statcache

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"placet/engine"
	"placet/engine/store/fs"
)

// Identity holds what stat returns for a name. The zero Identity means that nothing is
// there.
type Identity struct {
	Device, Inode     uint64
	Size              int64
	Modified, Changed int64 // nanoseconds
}

// Is reports whether both identities are of the same inode.
func (id Identity) Is(other Identity) bool {
	return id.Device == other.Device && id.Inode == other.Inode
}

// Kind is the kind of file that an entry represents.
type Kind uint8

// The kinds of entries. A temporary or stray file is remembered by its name alone.
const (
	Document Kind = iota
	Folder
	Temporary
	Stray
)

// Entry holds what is remembered of one name.
type Entry struct {
	Name string
	ID   Identity // at the last look
	// Sum is the beginning of the content's digest.
	Sum uint64
	// Since is when the content began to be unchanged, counted from the start of the
	// process, and Still how long it had been unchanged at the last look.
	Since, Still time.Duration
	Kind         Kind
	// Known says that the name was looked at.
	Known bool
	// Racy says that the entry is racily clean.
	Racy bool
	// Fresh says that the inode appeared under a running placet and has not been
	// complete yet, Complete that it has.
	Fresh, Complete bool
	// Own says that placet itself wrote the file.
	Own bool
	// Immutable says that the document is written once: it is trusted as long as its
	// folder is.
	Immutable bool
	// Locked says that others change the file only under the run's locks.
	Locked bool
	// Doc is the document, nil if it was dropped.
	Doc *engine.Document
	// Below are the entries of a folder, sorted by name.
	Below []Entry
}

// cost returns how much memory the entry's document takes, in bytes: its own bytes, the
// results of parsing them, and the rest.
func (e *Entry) cost() int {
	if e.Doc == nil {
		return 0
	}
	return 2*len(e.Doc.Body) + 800
}

// issuedCost is how much memory one issued digest takes with its path, in bytes.
const issuedCost = 300

// Trusts reports whether the entry still describes a name for which stat returns id.
func (e *Entry) Trusts(id Identity) bool { return e.Known && !e.Racy && e.ID == id }

// HasBytes reports whether the entry's document has the same bytes as the file. The
// document of a file with CR LF has only LF.
func (e *Entry) HasBytes() bool {
	if e.Doc == nil {
		return false
	}
	var sum [8]byte
	binary.NativeEndian.PutUint64(sum[:], e.Sum)
	return strings.HasPrefix(e.Doc.Sum.Hex(), hex.EncodeToString(sum[:]))
}

// Child returns the entry of a name in a folder, nil if there is none.
func (e *Entry) Child(name string) *Entry {
	i, ok := e.search(name)
	if !ok {
		return nil
	}
	return &e.Below[i]
}

func (e *Entry) search(name string) (int, bool) {
	return slices.BinarySearchFunc(e.Below, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
}

// Find returns the entry of a path relative to a folder, nil if there is none.
func (e *Entry) Find(rel string) *Entry {
	for name := range strings.SplitSeq(rel, "/") {
		if e = e.Child(name); e == nil {
			return nil
		}
	}
	return e
}

// Name returns one shared copy of a name that many runs have.
func Name(name string) string { return unique.Make(name).Value() }

// Run holds what is remembered of one run. Its users hold its lock.
type Run struct {
	sync.Mutex
	// Dir is the path of the run's folder, and Root its entry.
	Dir  string
	Root Entry
	// Outside are the names outside the folder that the last look depended on, with
	// their full paths.
	Outside []Entry
	// Issued is what this machine wrote in the run, read from the record when that
	// looked like IssuedAt; IssuedAt is the zero Info if the record was not read.
	Issued   engine.Issued
	IssuedAt fs.Info
	// Look is the number of the last look, 0 before the first.
	Look uint64
	// Newborn says that the run appeared under a running placet.
	Newborn bool
	// missing holds what vanished from the run a moment ago, by path.
	missing map[string]missing

	epoch int
	cost  int // of its documents
}

// budget bounds the size of all documents that are kept, in bytes, and most that of the
// documents of one run.
const (
	budget = 12 << 20
	most   = 96 << 20
)

// mostOutside bounds the entries of files outside the runs.
const mostOutside = 1 << 14

// Cache holds the entries of one workspace. Its methods are safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	runs    map[string]*Run // by state document
	outside map[string]Entry
	cost    int // of the documents of all runs
	costOut int // of the documents outside the runs
	epoch   int
	looks   uint64
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{runs: map[string]*Run{}, outside: map[string]Entry{}}
}

// Lock returns what is remembered of the run with a state document, locked. It returns
// an empty Run if nothing is remembered.
func (c *Cache) Lock(state string) *Run {
	c.mu.Lock()
	r := c.runs[state]
	c.mu.Unlock()
	if r == nil {
		r = &Run{}
	}
	r.Lock()
	return r
}

// Add returns what is remembered of a run; create makes a new Run if nothing is.
func (c *Cache) Add(state string, create func() *Run) *Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[state]
	if r == nil {
		r = create()
		r.epoch = c.epoch
		c.runs[state] = r
	}
	return r
}

// Drop forgets a run.
func (c *Cache) Drop(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.runs[state]; r != nil {
		delete(c.runs, state)
		c.cost -= r.cost
	}
}

// Invalidate makes the next look at every run stat every file, because events may have
// been lost.
func (c *Cache) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
}

// Stale reports whether a run was invalidated since its last look.
func (c *Cache) Stale(r *Run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.epoch != c.epoch
}

// Looked notes a look at a run, and drops the documents of the other runs if all
// together take too much memory. The caller holds the run's lock. stale is the result of
// Stale before the look.
func (c *Cache) Looked(state string, r *Run, stale bool) {
	cost := 0
	for _, e := range r.All() {
		cost += e.cost()
	}
	for _, digests := range r.Issued {
		cost += issuedCost * len(digests)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	r.Look = c.looks
	if stale {
		r.epoch = c.epoch
	}
	if c.runs[state] != r {
		return // it was dropped meanwhile
	}
	c.cost += cost - r.cost
	r.cost = cost
	if c.cost <= budget {
		return
	}
	for _, other := range c.runs {
		if other.cost > 0 && other != r && other.TryLock() {
			c.dropDocuments(other)
			other.Unlock()
		}
	}
	if c.cost > most {
		c.dropDocuments(r)
	}
}

// dropDocuments drops the documents of a run, which the caller has locked.
func (c *Cache) dropDocuments(r *Run) {
	c.cost -= r.cost
	r.cost = 0
	for _, e := range r.All() {
		e.Doc, e.Immutable = nil, false
	}
	r.Issued, r.IssuedAt = nil, fs.Info{}
}

// All iterates over the entries of a run and their paths: first those of its folder,
// then those outside.
func (r *Run) All() iter.Seq2[string, *Entry] {
	return func(yield func(string, *Entry) bool) {
		if !r.Root.each(r.Dir, yield) {
			return
		}
		for i := range r.Outside {
			if e := &r.Outside[i]; !yield(e.Name, e) {
				return
			}
		}
	}
}

// each visits an entry and all below until yield returns false.
func (e *Entry) each(path string, yield func(string, *Entry) bool) bool {
	if !yield(path, e) {
		return false
	}
	for i := range e.Below {
		if !e.Below[i].each(path+"/"+e.Below[i].Name, yield) {
			return false
		}
	}
	return true
}

// At returns the entry of a path in the run's folder, nil if there is none.
func (r *Run) At(path string) *Entry {
	if path == r.Dir {
		return &r.Root
	}
	rel, inside := strings.CutPrefix(path, r.Dir+"/")
	if !inside {
		return nil
	}
	return r.Root.Find(rel)
}

// Set remembers an entry under a path in the run's folder. It makes entries for the
// folders on the way that were not looked at. The folders that got a new name must be
// listed again.
func (r *Run) Set(path string, e Entry) {
	at := &r.Root
	rel := strings.TrimPrefix(path, r.Dir+"/")
	for dir, rest, more := strings.Cut(rel, "/"); ; dir, rest, more = strings.Cut(rest, "/") {
		i, ok := at.search(dir)
		if !ok {
			at.Below = slices.Insert(at.Below, i, Entry{Name: Name(dir), Kind: Folder})
		}
		at.Racy = at.Racy || !ok || !more
		if at = &at.Below[i]; !more {
			e.Name = at.Name
			*at = e
			return
		}
	}
}

// Outside returns what is remembered of a file outside the runs.
func (c *Cache) Outside(path string) Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outside[path]
}

// SetOutside remembers what was seen of a file outside the runs; it remembers nothing of
// the zero Entry. If there are too many entries, or their documents take too much
// memory, it forgets others.
func (c *Cache) SetOutside(path string, e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropOutside(path)
	if !e.Known {
		return
	}
	for other := range c.outside {
		if len(c.outside) < mostOutside && c.costOut+e.cost() <= budget {
			break
		}
		c.dropOutside(other)
	}
	c.outside[path] = e
	c.costOut += e.cost()
}

func (c *Cache) dropOutside(path string) {
	if e, ok := c.outside[path]; ok {
		c.costOut -= e.cost()
		delete(c.outside, path)
	}
}

// Sizes returns how many runs there are, how many files outside them, and how many bytes
// all documents take.
func (c *Cache) Sizes() (runs, outside, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.runs), len(c.outside), c.cost + c.costOut
}

// missing says when something that vanished was first missed, and whether a look must
// wait to see whether it stays away.
type missing struct {
	at   time.Duration
	ours bool
}

// Miss notes that something of a run vanished that placet did not remove. ours says that
// it is a folder, or that placet wrote it.
func (r *Run) Miss(path string, at time.Duration, ours bool) {
	if r.missing == nil {
		r.missing = map[string]missing{}
	}
	r.missing[path] = missing{at, ours}
}

// Missed returns what vanished, and when the last of ours was missed. It forgets what is
// back, or was missed for longer than most.
func (r *Run) Missed(now, most time.Duration) (paths []string, last time.Duration, any bool) {
	maps.DeleteFunc(r.missing, func(path string, m missing) bool {
		e := r.At(path)
		return e != nil && e.ID != Identity{} || now-m.at > most
	})
	for path, m := range r.missing {
		paths = append(paths, path)
		if m.ours {
			last, any = max(last, m.at), true
		}
	}
	return paths, last, any
}
