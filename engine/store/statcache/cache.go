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

// Identity is what stat says of a name. The zero Identity stands for nothing there.
type Identity struct {
	Device, Inode     uint64
	Size              int64
	Modified, Changed int64 // nanoseconds
}

// Is reports whether both identities are of the same inode.
func (id Identity) Is(other Identity) bool {
	return id.Device == other.Device && id.Inode == other.Inode
}

// Kind is what an entry stands for.
type Kind uint8

// The kinds of entries. A temporary or stray file is remembered by its name alone.
const (
	Document Kind = iota
	Folder
	Temporary
	Stray
)

// Entry is what is remembered of one name.
type Entry struct {
	Name string
	ID   Identity // when it was looked at last
	// Sum is the beginning of the content's digest.
	Sum uint64
	// Since is when the content began to stand still, counted from the start of
	// the process, and Still how long it had stood when it was looked at last.
	Since, Still time.Duration
	Kind         Kind
	// Known says that the name was looked at.
	Known bool
	// Racy says that the entry is racily clean.
	Racy bool
	// Fresh says that the inode appeared under a running placet and has not been
	// complete, Complete that it was.
	Fresh, Complete bool
	// Own says that placet itself wrote the file.
	Own bool
	// Immutable says that the document is written once: it is trusted with its
	// folder.
	Immutable bool
	// Locked says that others change it under the run's locks alone.
	Locked bool
	// Doc is the document, nil where it was dropped.
	Doc *engine.Document
	// Below are the entries of a folder, sorted by name.
	Below []Entry
}

// cost is what an entry's document takes in memory, in bytes: its own bytes, what
// is parsed of them, and the rest.
func (e *Entry) cost() int {
	if e.Doc == nil {
		return 0
	}
	return 2*len(e.Doc.Body) + 800
}

// issuedCost is what one digest that was issued takes in memory, with its path.
const issuedCost = 300

// Trusts reports whether the entry still stands for a name of which stat says id.
func (e *Entry) Trusts(id Identity) bool { return e.Known && !e.Racy && e.ID == id }

// HasBytes reports whether the entry's document has the bytes of the file: that of a file
// with CR LF has LF alone.
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

// Name returns one copy of a name that many runs have.
func Name(name string) string { return unique.Make(name).Value() }

// Run is what is remembered of one run. Its users hold its lock.
type Run struct {
	sync.Mutex
	// Dir is the path of the run's folder, and Root its entry.
	Dir  string
	Root Entry
	// Outside are the names outside the folder that the last look depended on,
	// with their whole paths.
	Outside []Entry
	// Issued is what this machine wrote in the run, as it was recorded when the record
	// looked like IssuedAt; the zero Info where it was not read.
	Issued   engine.Issued
	IssuedAt fs.Info
	// Look is the number of the last look, 0 before the first.
	Look uint64
	// Newborn says that the run appeared under a running placet.
	Newborn bool
	// missing is what of the run vanished a moment ago, by path.
	missing map[string]missing

	epoch int
	cost  int // of its documents
}

// budget bounds the documents that are kept, in bytes, and most those of one run.
const (
	budget = 12 << 20
	most   = 96 << 20
)

// mostOutside bounds the entries of files outside the runs.
const mostOutside = 1 << 14

// Cache holds the entries of one workspace. Its methods may be called at the same
// time.
type Cache struct {
	mu      sync.Mutex
	runs    map[string]*Run // by state document
	outside map[string]Entry
	cost    int // of the documents of all runs
	costOut int // and of those outside
	epoch   int
	looks   uint64
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{runs: map[string]*Run{}, outside: map[string]Entry{}}
}

// Lock returns what is remembered of the run with a state document, locked: an empty Run
// where nothing is.
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

// Add returns what is remembered of a run; a new one is made by create.
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

// Looked notes a look at a run, and drops the documents of the others where all take too
// much memory. The caller holds the run's lock. stale is what Stale said before the
// look.
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

// All iterates over the entries of a run and their paths: those of its folder, then those
// outside.
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

// Set remembers an entry under a path in the run's folder; folders on the way that were
// not looked at are made. The folders that got a new name look different now.
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

// SetOutside remembers what was seen of a file outside the runs; of the zero Entry
// nothing. Where there are too many, or their documents take too much memory, it
// forgets some other.
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

// Sizes returns how many runs there are, how many files outside them, and how many
// bytes all documents take.
func (c *Cache) Sizes() (runs, outside, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.runs), len(c.outside), c.cost + c.costOut
}

// missing is when something that vanished was missed first, and whether its absence is
// to be waited for.
type missing struct {
	at   time.Duration
	ours bool
}

// Miss notes that something of a run vanished that placet did not remove. ours says that
// it is a folder, or that placet had written it.
func (r *Run) Miss(path string, at time.Duration, ours bool) {
	if r.missing == nil {
		r.missing = map[string]missing{}
	}
	r.missing[path] = missing{at, ours}
}

// Missed returns what vanished, and when the last of ours was missed. What is back, or
// was missed for longer than most, is not missed any more.
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
