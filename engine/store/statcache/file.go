package statcache

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"placet/layout"
	"placet/templates"
)

// The file holds a line that says what it is, the mark of the program that wrote it,
// the time of writing, the records, those of runs that can move first, and the CRC-32C
// of all that. The number in the line changes whenever the form of a record changes,
// including its note: files of other numbers are ignored.
const (
	fileName = "statcache"
	magic    = "placet statcache 4\n"
	maxFile  = 1 << 30
)

// clockSlack is by how much the file system's present time may seem to be before the
// moment at which a file was written: on a busy machine it is measured late. All times
// in a record are older than its look by more than that, or by a tick of their clock.
const clockSlack = time.Second

// Record is the stored part of one run: the entries that its last look depended on, and
// what the caller concluded from it.
type Record struct {
	Root    Entry
	Outside []Entry
	// CanMove says that the run is one of those to look at first.
	CanMove bool
	Note    []byte
}

// Size returns how many entries a record has.
func (r *Record) Size() (n int) {
	for range (&Run{Root: r.Root, Outside: r.Outside}).All() {
		n++
	}
	return n
}

// Files stores a File.
type Files interface {
	// Read returns a file; a file of more than limit bytes is an error.
	Read(name string, limit int64) ([]byte, error)
	// Write replaces a file: a reader finds the old content or the new one. Only a
	// durable file survives a power cut.
	Write(name string, body []byte, durable bool) error
}

// File holds what an earlier placet stored, and what this one has seen since. A nil
// File knows nothing and stores nothing. Its methods are safe for concurrent use.
type File struct {
	files   Files
	mark    string
	present func() (time.Time, bool)

	mu     sync.Mutex
	stored map[string]packed // by state document
	first  []string          // the runs that could move
	noted  map[string]packed // nil after Close
}

// packed is a record in its stored form.
type packed struct {
	canMove bool
	text    string
}

// Open reads what an earlier placet stored. mark identifies the program and the user
// who runs it: a file with another mark is ignored. present is the file system's clock;
// a file from its future is ignored, too.
func Open(files Files, mark string, present func() (time.Time, bool)) *File {
	f := &File{files: files, mark: mark, present: present, stored: map[string]packed{}, noted: map[string]packed{}}
	body, err := files.Read(fileName, maxFile)
	if err != nil || !f.read(body) {
		f.stored, f.first = map[string]packed{}, nil // it may always be missing
	}
	return f
}

// sum returns the CRC-32C. The standard library makes its table once.
func sum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// read parses a file, and reports whether it can be used.
func (f *File) read(body []byte) bool {
	end := len(body) - crc32.Size
	if end < len(magic) || !bytes.HasPrefix(body, []byte(magic)) || sum(body[:end]) != binary.LittleEndian.Uint32(body[end:]) {
		return false
	}
	r := reader{s: string(body[len(magic):end])}
	if r.text() != f.mark {
		return false
	}
	written := time.Unix(r.int(), r.int())
	if now, _ := f.present(); r.bad || now.Before(written.Add(-clockSlack)) {
		return false // the clock was set back: times may occur again
	}
	for r.s != "" && !r.bad {
		state, rec := r.text(), packed{r.bool(), r.text()}
		f.stored[state] = rec
		if rec.canMove {
			f.first = append(f.first, state)
		}
	}
	return !r.bad
}

// First returns the state documents of the runs that could move at their last look. It
// says only where to look first.
func (f *File) First() []string {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}

// Get returns the record that was last put for a run, or else the stored one; it
// returns false if there is none. The caller must check whether the record still holds.
func (f *File) Get(run layout.Run) (Record, bool) {
	if f == nil {
		return Record{}, false
	}
	f.mu.Lock()
	rec, ok := f.noted[run.State]
	if !ok {
		rec, ok = f.stored[run.State]
	}
	f.mu.Unlock()
	r := reader{s: rec.text}
	if !ok || uint64(r.int()) != identify(run) {
		return Record{}, false
	}
	out := Record{CanMove: rec.canMove, Note: []byte(r.text()), Root: r.entry(0)}
	for range r.count() {
		out.Outside = append(out.Outside, r.entry(0))
	}
	return out, !r.bad
}

// Put adds a record.
func (f *File) Put(run layout.Run, rec Record) {
	if f == nil {
		return
	}
	var w writer
	w.int(int64(identify(run)))
	w.text(string(rec.Note))
	w.entry(&rec.Root)
	w.int(int64(len(rec.Outside)))
	for i := range rec.Outside {
		w.entry(&rec.Outside[i])
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.noted != nil {
		f.noted[run.State] = packed{rec.CanMove, string(w)}
	}
}

// identify distinguishes runs that have the same state document one after the other.
func identify(run layout.Run) uint64 {
	h := fnv.New64a()
	for _, part := range [...]string{run.Family, run.ID, run.Dir, run.Class} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// Writing the file again must be worth it: looking at few runs takes less time.
const (
	fewest     = 4
	worthShare = 64 // of the number of stored records
)

// Save writes the file if enough was noted. runs are all runs of the workspace, and the
// records of others are dropped; nil keeps all.
func (f *File) Save(runs []layout.Run) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	written, known := f.present()
	if !known || len(f.noted) < fewest+len(f.stored)/worthShare {
		return nil
	}
	maps.Copy(f.stored, f.noted)
	clear(f.noted)
	if runs != nil {
		f.only(runs)
	}
	w := writer(magic)
	w.text(f.mark)
	w.int(written.Unix())
	w.int(int64(written.Nanosecond()))
	for _, canMove := range []bool{true, false} {
		for _, state := range slices.Sorted(maps.Keys(f.stored)) {
			if rec := f.stored[state]; rec.canMove == canMove {
				w.text(state)
				w.bool(canMove)
				w.text(rec.text)
			}
		}
	}
	if len(w) > maxFile {
		return templates.Errorf("store.cache.large", "n", len(w))
	}
	return f.files.Write(fileName, binary.LittleEndian.AppendUint32(w, sum(w)), false)
}

// only drops the records of all runs but some.
func (f *File) only(runs []layout.Run) {
	kept := make(map[string]packed, len(runs))
	for _, run := range runs {
		if rec, ok := f.stored[run.State]; ok {
			kept[run.State] = rec
		}
	}
	f.stored = kept
}

// Clear forgets everything that was stored and noted so far.
func (f *File) Clear() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored, f.first, f.noted = nil, nil, map[string]packed{}
}

// Drop forgets what was noted of a run that no longer exists.
func (f *File) Drop(run layout.Run) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.noted, run.State)
}

// Close forgets everything. Nothing is noted afterwards.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored, f.first, f.noted = nil, nil, nil
}

// writer writes values one after the other.
type writer []byte

func (w *writer) int(n int64) { *w = binary.AppendVarint(*w, n) }

func (w *writer) bool(v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	w.int(n)
}

func (w *writer) text(s string) {
	w.int(int64(len(s)))
	*w = append(*w, s...)
}

func (w *writer) entry(e *Entry) {
	w.text(e.Name)
	w.int(int64(e.Kind))
	w.bool(e.Known)
	for _, n := range [...]int64{int64(e.ID.Device), int64(e.ID.Inode), e.ID.Size, e.ID.Modified, e.ID.Changed - e.ID.Modified} {
		w.int(n)
	}
	w.int(int64(len(e.Below)))
	for i := range e.Below {
		w.entry(&e.Below[i])
	}
}

// reader reads what a writer wrote, in the same order. After an error it returns zero
// values and bad is true.
type reader struct {
	s   string
	bad bool
}

func (r *reader) int() int64 {
	n, size := binary.Varint([]byte(r.s[:min(len(r.s), binary.MaxVarintLen64)]))
	if size <= 0 || r.bad {
		r.s, r.bad = "", true
		return 0
	}
	r.s = r.s[size:]
	return n
}

func (r *reader) bool() bool { return r.int() == 1 }

func (r *reader) text() string {
	n := r.int()
	if n < 0 || n > int64(len(r.s)) {
		r.s, r.bad = "", true
		return ""
	}
	text := r.s[:n]
	r.s = r.s[n:]
	return text
}

// count reads the length of a list, each part of which takes at least one byte.
func (r *reader) count() int {
	n := r.int()
	if n < 0 || n > int64(len(r.s)) {
		r.s, r.bad = "", true
		return 0
	}
	return int(n)
}

// mostDepth bounds how deep the folders of a record are nested.
const mostDepth = 64

// entry reads an entry. Its names share no memory with the text that is read.
func (r *reader) entry(depth int) (e Entry) {
	e.Name, e.Kind, e.Known = Name(r.text()), Kind(r.int()), r.bool()
	e.ID = Identity{Device: uint64(r.int()), Inode: uint64(r.int()), Size: r.int(), Modified: r.int(), Changed: r.int()}
	e.ID.Changed += e.ID.Modified
	n := r.count()
	if r.bad = r.bad || depth > mostDepth; r.bad || n == 0 {
		return e
	}
	e.Below = make([]Entry, n)
	for i := range e.Below {
		e.Below[i] = r.entry(depth + 1)
	}
	return e
}
