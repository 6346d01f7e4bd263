package recall_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/engine/recall"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// desk is a workspace in memory with its clock.
type desk struct {
	disk *memfs.FS
	now  time.Time
}

func newDesk() *desk {
	d := &desk{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	d.disk = memfs.New(func() time.Time { return d.now })
	for n := range 100 {
		d.disk.Put(run(n).State, "{}")
	}
	d.now = d.now.Add(time.Minute)
	return d
}

func run(n int) layout.Run {
	dir := fmt.Sprintf("runs/%03d", n)
	return layout.Run{Family: "toy", ID: fmt.Sprint(n), Dir: dir, State: dir + "/state.json"}
}

func (d *desk) open(mark string) (*recall.Memory, *store.Store) {
	s := store.New(d.disk, store.Options{Now: func() time.Time { return d.now }})
	return recall.Open(s, d, mark), s
}

// Read and Write are the files that the memory is kept in.
func (d *desk) Read(name string, limit int64) ([]byte, error) {
	body, there := d.disk.Get(".placet/" + name)
	if !there || int64(len(body)) > limit {
		return nil, fs.ErrNotExist
	}
	return []byte(body), nil
}

func (d *desk) Write(name string, body []byte, _ bool) error {
	d.disk.Put(".placet/"+name, string(body))
	return nil
}

// note notes so many runs.
func (d *desk) note(t *testing.T, n int) {
	t.Helper()
	m, s := d.open("m")
	for i := range n {
		m.Note(run(i), recall.Entry{Peek: engine.Peek{Status: "done", Final: true}, State: s.SightState(run(i))})
	}
	if err := m.Save(nil); err != nil {
		t.Fatal(err)
	}
}

// peeks counts the runs whose peek is known.
func (d *desk) peeks(mark string) (n int) {
	m, _ := d.open(mark)
	for i := range 100 {
		if p, ok := m.Peek(run(i)); ok && p.Status == "done" && p.Final {
			n++
		}
	}
	return n
}

func TestPeeksAreKeptWhereThereAreEnough(t *testing.T) {
	d := newDesk()
	if d.note(t, 3); d.peeks("m") != 0 {
		t.Error("three runs are worth a file")
	}
	if d.note(t, 90); d.peeks("m") != 90 || d.peeks("other") != 0 {
		t.Errorf("%d peeks, and %d of another program; want 90 and none", d.peeks("m"), d.peeks("other"))
	}
	d.disk.Rewrite(run(7).State, "{ }")
	other := run(8)
	other.Class = "shadowed"
	m, s := d.open("m")
	if _, ok := m.Peek(other); ok || d.peeks("m") != 89 {
		t.Error("a peek of another content, or of another run, is used")
	}
	d.now = d.now.Add(time.Hour)
	for i := range 70 {
		m.Note(run(i), recall.Entry{Peek: engine.Peek{Status: "done", Final: true}, State: s.SightState(run(i))})
	}
	if err := m.Save([]layout.Run{run(1), run(2), run(80)}); err != nil || d.peeks("m") != 3 {
		t.Errorf("%v, %d peeks of runs that are there, want 3", err, d.peeks("m"))
	}
	if m.Close(); d.peeks("m") != 3 {
		t.Error("the file went with what was remembered")
	}
	if _, ok := m.Peek(run(1)); ok {
		t.Error("what was let go of is used")
	}
}

func TestNobodyRemembersNothing(t *testing.T) {
	var m *recall.Memory
	m.Note(run(1), recall.Entry{})
	m.Close()
	if _, ok := m.Peek(run(1)); ok || m.Save(nil) != nil {
		t.Error("no memory remembers")
	}
}

func TestARestIsReadAsItWasWritten(t *testing.T) {
	d := newDesk()
	m, s := d.open("m")
	want := &recall.Rest{
		Sight: store.Sight{Names: strings.Repeat("state.json\x00", 40), Print: [16]byte{1, 255}}, Facts: 1<<63 + 7,
		At: d.now, Until: d.now.Add(time.Hour), Wake: d.now.Add(time.Hour),
		Needs: []string{"a", "b/*"}, Dirs: []string{run(0).Dir}, Notes: []string{"n.md"}, View: "\x00view",
	}
	status := engine.Peek{Status: "asks", Waiting: true, Touched: true, Open: 3, Asked: d.now.Add(-time.Minute).UTC()}
	for i := range 20 {
		m.Note(run(i), recall.Entry{Peek: status, State: s.SightState(run(i)), Rest: want})
	}
	if err := m.Save(nil); err != nil {
		t.Fatal(err)
	}
	m, _ = d.open("m")
	got := m.Entry(run(3))
	if diff := cmp.Diff(want, got.Rest); diff != "" || got.Peek != status {
		t.Errorf("rest (-want +got):\n%s", diff)
	}
	for name, fits := range map[string]bool{
		"before it was seen": got.Rest.Fits(d.now.Add(-1), want.Facts),
		"too late":           got.Rest.Fits(want.Until, want.Facts),
		"other facts":        got.Rest.Fits(d.now, 1),
		"another run":        m.Entry(run(50)).Rest != nil,
	} {
		if fits {
			t.Errorf("%s: it holds", name)
		}
	}
	if !got.Rest.Fits(d.now, want.Facts) {
		t.Error("it does not hold")
	}
}

// Any damage makes the file none; nothing of it is believed and nothing fails.
func TestADamagedFileIsNoFile(t *testing.T) {
	d := newDesk()
	d.note(t, 90)
	whole, _ := d.disk.Get(".placet/recall")
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(whole)
		at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "cut") {
			body = body[:at]
		} else {
			body[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
		d.disk.Put(".placet/recall", string(body))
		if n := d.peeks("m"); n != 0 {
			t.Errorf("%d peeks of a damaged file", n)
		}
	})
	d.disk.Put(".placet/recall", whole)
	if d.peeks("m") != 90 {
		t.Error("the whole file is not read")
	}
	d.now = d.now.Add(-time.Hour)
	if d.peeks("m") != 0 {
		t.Error("a file from a time to come is used")
	}
}

// A file of entries that had another shape reads as a whole, and is none.
func TestAFileOfAnotherShapeIsNoFile(t *testing.T) {
	d := newDesk()
	d.note(t, 90)
	whole, _ := d.disk.Get(".placet/recall")
	line, rest, _ := strings.Cut(whole, "\n")
	for i, shape := range []string{"placet recall 1", "placet recall 2", "placet recall 4", line} {
		want := 0
		if i == 3 {
			want = 90
		}
		body := []byte(shape + "\n" + rest[:len(rest)-4])
		d.disk.Put(".placet/recall", string(binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))))
		if n := d.peeks("m"); n != want {
			t.Errorf("%d peeks of a file that begins with %q, want %d", n, shape, want)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	var p recall.Packer
	p.Texts([]string{"a", ""})
	p.Time(time.Unix(1, 2))
	p.Int(-7)
	f.Add(string(p.Bytes()))
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, s string) {
		u := recall.Unpack(s)
		texts, at, n := u.Texts(), u.Time(), u.Int()
		if u.Bad {
			return
		}
		var p recall.Packer
		p.Texts(texts)
		p.Time(at)
		p.Int(n)
		v := recall.Unpack(string(p.Bytes()))
		if diff := cmp.Diff(texts, v.Texts()); diff != "" || !v.Time().Equal(at) || v.Int() != n || v.Bad {
			t.Errorf("not read as written: %s", diff)
		}
	})
}
