package testoutput

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// MaxOutput is how much of an output is matched, in bytes. Of a longer one the
// first and the last half are.
const MaxOutput = 8 << 20

const halfOutput = MaxOutput / 2

// Window is a writer that keeps the head and the tail of an output. The zero Window is
// ready for use and keeps as much as is matched. It is not safe for concurrent use.
type Window struct {
	total            int64
	headMax, tailMax int
	head, tail       []byte // tail is a ring once it is full
	next             int    // the oldest byte of a full ring
}

// NewWindow returns a Window that keeps so many bytes of the head and of the tail, which
// must not be 0.
func NewWindow(head, tail int) *Window { return &Window{headMax: head, tailMax: tail} }

// Write implements [io.Writer]. It never fails: a command must not end because its output
// is long.
func (w *Window) Write(p []byte) (int, error) {
	if w.tailMax == 0 {
		w.headMax, w.tailMax = halfOutput, halfOutput
	}
	n := len(p)
	w.total += int64(n)
	room := min(w.headMax-len(w.head), len(p))
	w.head, p = append(w.head, p[:room]...), p[room:]
	room = min(w.tailMax-len(w.tail), len(p))
	w.tail, p = append(w.tail, p[:room]...), p[room:]
	p = p[max(0, len(p)-w.tailMax):]
	for len(p) > 0 {
		k := copy(w.tail[w.next:], p)
		w.next, p = (w.next+k)%w.tailMax, p[k:]
	}
	return n, nil
}

// Parts returns the head, the tail and how many bytes there were.
func (w *Window) Parts() (head, tail []byte, total int64) {
	return w.head, slices.Concat(w.tail[w.next:], w.tail[:w.next]), w.total
}

// String returns what was kept. Where the middle is missing, a note of how many
// bytes that are stands in its place. The note begins and ends with a digit: a
// token that the cut goes through is thereby never taken for a whole one.
func (w *Window) String() string {
	head, tail, left := w.Parts()
	if left -= int64(len(head) + len(tail)); left == 0 {
		return string(head) + string(tail)
	}
	for n := 1; n < utf8.UTFMax && !utf8.RuneStart(tail[0]); n++ {
		tail, left = tail[1:], left+1
	}
	n := TornSuffix(head)
	return fmt.Sprintf("%s0[%d bytes left out]0%s", head[:len(head)-n], left+int64(n), tail)
}

// TornSuffix returns how many bytes at the end of b begin a character and do not
// complete it.
func TornSuffix(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
