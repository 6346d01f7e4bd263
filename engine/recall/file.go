package recall

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"sort"
	"time"
	"unsafe"
)

// The file: a line that says what it is, the mark of the program that wrote it,
// when it was written, the table of entries (key and place, sorted by key), the
// entries, and the CRC-32C of all that. The line has another number whenever an entry
// has another shape, that of its view included: what was written before is no file then.
const (
	magic   = "placet recall 3\n"
	slot    = len(key{}) + 4
	maxFile = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// table is a file as it was read.
type table struct {
	written time.Time
	slots   string
	entries string
}

// find returns the packed entry of a key, "" where there is none.
func (t table) find(k key) string {
	n := len(t.slots) / slot
	i := sort.Search(n, func(i int) bool { return t.slots[i*slot:i*slot+len(k)] >= string(k[:]) })
	if i == n || t.slots[i*slot:i*slot+len(k)] != string(k[:]) {
		return ""
	}
	at := t.place(i)
	if at > len(t.entries) {
		return ""
	}
	u := Unpack(t.entries[at:])
	return u.Text()
}

func (t table) place(i int) int {
	var b [4]byte
	copy(b[:], t.slots[i*slot+len(key{}):])
	return int(binary.LittleEndian.Uint32(b[:]))
}

// all visits every entry.
func (t table) all(visit func(k key, packed string)) {
	for i := range len(t.slots) / slot {
		k := key([]byte(t.slots[i*slot : i*slot+len(key{})]))
		visit(k, t.find(k))
	}
}

// read takes a file apart; the empty table stands for one that cannot be used.
func read(body []byte, mark string) table {
	if len(body) < len(magic)+4 || !bytes.HasPrefix(body, []byte(magic)) {
		return table{}
	}
	end := len(body) - 4
	if crc32.Checksum(body[:end], castagnoli) != binary.LittleEndian.Uint32(body[end:]) {
		return table{}
	}
	// The body is nobody else's and never changed.
	u := Unpack(unsafe.String(&body[len(magic)], end-len(magic)))
	if u.Text() != mark {
		return table{}
	}
	t := table{written: u.Time(), slots: u.Text(), entries: u.Text()}
	if u.Bad || len(t.slots)%slot != 0 {
		return table{}
	}
	return t
}

// file puts packed entries together.
func file(mark string, written time.Time, packed map[key]string) []byte {
	var slots, entries Packer
	for _, k := range slices.SortedFunc(maps.Keys(packed), func(a, b key) int { return bytes.Compare(a[:], b[:]) }) {
		slots.b = append(slots.b, k[:]...)
		slots.b = binary.LittleEndian.AppendUint32(slots.b, uint32(len(entries.b)))
		entries.Text(packed[k])
	}
	var p Packer
	p.b = append(make([]byte, 0, len(slots.b)+len(entries.b)+len(mark)+128), magic...)
	p.Text(mark)
	p.Time(written)
	p.Text(string(slots.b))
	p.Text(string(entries.b))
	return binary.LittleEndian.AppendUint32(p.b, crc32.Checksum(p.b, castagnoli))
}
