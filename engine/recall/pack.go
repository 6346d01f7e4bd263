package recall

import (
	"encoding/binary"
	"time"
)

// Packer writes values one after the other.
type Packer struct{ b []byte }

// Bytes are what was written.
func (p *Packer) Bytes() []byte { return p.b }

// Int writes a number.
func (p *Packer) Int(n int64) { p.b = binary.AppendVarint(p.b, n) }

// Bool writes a truth value.
func (p *Packer) Bool(v bool) {
	if v {
		p.b = append(p.b, 1)
	} else {
		p.b = append(p.b, 0)
	}
}

// Text writes a string.
func (p *Packer) Text(s string) {
	p.b = binary.AppendUvarint(p.b, uint64(len(s)))
	p.b = append(p.b, s...)
}

// Texts writes a list of strings.
func (p *Packer) Texts(list []string) {
	p.Int(int64(len(list)))
	for _, s := range list {
		p.Text(s)
	}
}

// Time writes a moment; it is read as UTC.
func (p *Packer) Time(t time.Time) {
	if t.IsZero() {
		p.Bool(false)
		return
	}
	p.Bool(true)
	p.Int(t.Unix())
	p.Int(int64(t.Nanosecond()))
}

// Unpacker reads what a Packer wrote, in the same order. The strings that it
// returns share the memory of what is read. After a mistake it returns zero
// values and Bad is true.
type Unpacker struct {
	s   string
	Bad bool
}

// Unpack reads a string.
func Unpack(s string) *Unpacker { return &Unpacker{s: s} }

// Int reads a number.
func (u *Unpacker) Int() int64 {
	// A number takes ten bytes at most.
	n, size := binary.Varint([]byte(u.s[:min(len(u.s), binary.MaxVarintLen64)]))
	if u.wrong(size <= 0) {
		return 0
	}
	u.s = u.s[size:]
	return n
}

// Bool reads a truth value.
func (u *Unpacker) Bool() bool { return u.take(1) == "\x01" }

// Text reads a string.
func (u *Unpacker) Text() string {
	n, size := binary.Uvarint([]byte(u.s[:min(len(u.s), binary.MaxVarintLen64)]))
	if u.wrong(size <= 0 || n > uint64(len(u.s))) {
		return ""
	}
	u.s = u.s[size:]
	return u.take(int(n))
}

// Texts reads a list of strings; nil for an empty one.
func (u *Unpacker) Texts() []string {
	n := u.Count()
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, u.Text())
	}
	return list
}

// Count reads the length of a list, of which every part takes a byte at least.
func (u *Unpacker) Count() int {
	n := u.Int()
	if u.wrong(n < 0 || n > int64(len(u.s))) {
		return 0
	}
	return int(n)
}

// Time reads a moment.
func (u *Unpacker) Time() time.Time {
	if !u.Bool() {
		return time.Time{}
	}
	seconds, nanos := u.Int(), u.Int()
	if u.Bad {
		return time.Time{}
	}
	return time.Unix(seconds, nanos).UTC()
}

// print reads sixteen bytes.
func (u *Unpacker) print() (p [16]byte) {
	copy(p[:], u.take(len(p)))
	return p
}

func (u *Unpacker) take(n int) string {
	if u.wrong(n > len(u.s)) {
		return ""
	}
	out := u.s[:n]
	u.s = u.s[n:]
	return out
}

func (u *Unpacker) wrong(is bool) bool {
	if is {
		u.Bad, u.s = true, ""
	}
	return u.Bad
}
