package statcache

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"placet/engine"
	"placet/layout"
)

// disk stores the files of a test.
type disk map[string][]byte

func (d disk) Read(name string, _ int64) ([]byte, error) {
	if body, ok := d[name]; ok {
		return body, nil
	}
	return nil, fs.ErrNotExist
}

func (d disk) Write(name string, body []byte, _ bool) error {
	d[name] = append([]byte(nil), body...)
	return nil
}

func at(t time.Time) func() (time.Time, bool) {
	return func() (time.Time, bool) { return t, true }
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func runNumber(n int) layout.Run {
	dir := fmt.Sprintf("runs/r%d", n)
	return layout.Run{Family: "toy", ID: fmt.Sprint(n), Dir: dir, State: dir + "/state.json"}
}

func recordOf(n int) Record {
	id := func(i int) Identity {
		return Identity{Device: 1, Inode: uint64(10*n + i), Size: 7, Modified: 1e18 + int64(i), Changed: 1e18 - int64(n)}
	}
	return Record{
		CanMove: n%2 == 0, Note: []byte(fmt.Sprint("note ", n)),
		Root: Entry{Kind: Folder, Known: true, ID: id(1), Below: []Entry{
			{Name: "events", Kind: Folder, Known: true, ID: id(2), Below: []Entry{{Name: "1.json", Known: true, ID: id(3)}}},
			{Name: "state.json", Known: true, ID: id(4)},
			{Name: "x", Kind: Stray},
		}},
		Outside: []Entry{{Name: "specs/a.md", Known: true}},
	}
}

// stored returns a file with so many records.
func stored(t *testing.T, d disk, n int) {
	t.Helper()
	f := Open(d, "me", at(noon))
	for i := range n {
		f.Put(runNumber(i), recordOf(i))
	}
	if err := f.Save(nil); err != nil {
		t.Fatal(err)
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	d := disk{}
	stored(t, d, 10)
	f := Open(d, "me", at(noon))
	for i := range 10 {
		got, ok := f.Get(runNumber(i))
		if diff := cmp.Diff(recordOf(i), got, cmpopts.EquateEmpty()); !ok || diff != "" {
			t.Errorf("%v %s", ok, diff)
		}
	}
	if first := f.First(); len(first) != 5 || first[0] != "runs/r0/state.json" {
		t.Errorf("first %q", first)
	}
	other := runNumber(3)
	other.Class = "archived"
	if _, ok := f.Get(other); ok {
		t.Error("another run with the same state document is taken for it")
	}
	f.Close()
	if _, ok := f.Get(runNumber(3)); ok || f.First() != nil {
		t.Error("something is left after it was closed")
	}
	var none *File
	none.Put(runNumber(1), recordOf(1))
	if _, ok := none.Get(runNumber(1)); ok || none.Save(nil) != nil {
		t.Error("a nil File knows something")
	}
}

func TestWhatWasPutLastCounts(t *testing.T) {
	d := disk{}
	stored(t, d, 10)
	f := Open(d, "me", at(noon))
	next := recordOf(1)
	next.Note = []byte("later")
	f.Put(runNumber(1), next)
	if got, ok := f.Get(runNumber(1)); !ok || string(got.Note) != "later" {
		t.Errorf("got %q, %v", got.Note, ok)
	}
	f.Clear()
	if _, ok := f.Get(runNumber(2)); ok || f.First() != nil {
		t.Error("something is left after it was cleared")
	}
	f.Put(runNumber(2), recordOf(2))
	if _, ok := f.Get(runNumber(2)); !ok {
		t.Error("nothing is noted after it was cleared")
	}
	f.Drop(runNumber(2))
	if _, ok := f.Get(runNumber(2)); ok {
		t.Error("a run that was dropped is left")
	}
}

func TestADamagedFileIsIgnored(t *testing.T) {
	whole := disk{}
	stored(t, whole, 6)
	body := whole[fileName]
	for i := range body {
		for _, bad := range [][]byte{body[:i], append(append(append([]byte(nil), body[:i]...), body[i]^1), body[i+1:]...)} {
			f := Open(disk{fileName: bad}, "me", at(noon))
			if _, ok := f.Get(runNumber(1)); ok || len(f.First()) > 0 {
				t.Fatalf("a file that is damaged at byte %d is used", i)
			}
		}
	}
	for what, f := range map[string]*File{
		"another mark":   Open(whole, "you", at(noon)),
		"an older clock": Open(whole, "me", at(noon.Add(-2*time.Second))),
	} {
		if _, ok := f.Get(runNumber(1)); ok {
			t.Errorf("%s: the file is used", what)
		}
	}
}

func TestWhatIsStoredIsWorthIt(t *testing.T) {
	d := disk{}
	stored(t, d, fewest-1)
	if len(d) > 0 {
		t.Error("a file was written for few runs")
	}
	stored(t, d, 300)
	f := Open(d, "me", at(noon))
	for i := range 20 {
		f.Put(runNumber(i), recordOf(i))
	}
	if err := f.Save([]layout.Run{runNumber(1), runNumber(7)}); err != nil {
		t.Fatal(err)
	}
	f = Open(d, "me", at(noon))
	if _, ok := f.Get(runNumber(7)); !ok || len(f.stored) != 2 {
		t.Errorf("%d runs are stored, want the two that there are", len(f.stored))
	}
}

func TestDocumentsTakeNoMoreThanTheirBudget(t *testing.T) {
	c := New()
	look := func(n, size int) *Run {
		run := runNumber(n)
		r := c.Add(run.State, func() *Run { return &Run{Dir: run.Dir} })
		r.Lock()
		defer r.Unlock()
		r.Set(run.State, Entry{Known: true, Doc: &engine.Document{Body: make([]byte, size)}})
		c.Looked(run.State, r, false)
		return r
	}
	var all []*Run
	for n := range 40 {
		all = append(all, look(n, 1<<20))
	}
	if _, _, bytes := c.Sizes(); bytes > budget {
		t.Errorf("%d bytes are kept", bytes)
	}
	if all[0].At(runNumber(0).State).Doc != nil || all[39].At(runNumber(39).State).Doc == nil {
		t.Error("not the oldest was dropped")
	}
	if long := look(40, 20<<20); long.At(runNumber(40).State).Doc == nil {
		t.Error("the documents of one long run are dropped at once")
	}
	if huge := look(41, 60<<20); huge.At(runNumber(41).State).Doc != nil {
		t.Error("the documents of a run without bounds are kept")
	}
	c.Drop(runNumber(40).State)
	for n := range 3 {
		c.SetOutside(fmt.Sprint(n), Entry{Known: true, Doc: &engine.Document{Body: make([]byte, 5<<20)}})
	}
	if _, outside, bytes := c.Sizes(); outside > 1 || bytes > 2*budget {
		t.Errorf("%d files outside, %d bytes", outside, bytes)
	}
}

func TestWhatVanishedIsMissedForAWhile(t *testing.T) {
	r := &Run{Dir: "runs/r1"}
	r.Miss("runs/r1/a", time.Second, true)
	r.Miss("runs/r1/b", 2*time.Second, false)
	paths, last, any := r.Missed(2*time.Second, 2*time.Second)
	if len(paths) != 2 || last != time.Second || !any {
		t.Errorf("%q, %v, %v", paths, last, any)
	}
	r.Set("runs/r1/a", Entry{Known: true, ID: Identity{Inode: 1}})
	if paths, _, any := r.Missed(2*time.Second, 2*time.Second); strings.Join(paths, " ") != "runs/r1/b" || any {
		t.Errorf("%q, %v", paths, any)
	}
	if paths, _, _ := r.Missed(5*time.Second, 2*time.Second); len(paths) > 0 {
		t.Errorf("%q", paths)
	}
}
