package testoutput

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// MaxOutput is how many bytes of an output are matched: of a longer one the
// first and the last half of MaxOutput.
const MaxOutput = 8 << 20

const halfOutput = MaxOutput / 2

// Window is a writer that keeps the head and the tail of an output. The zero Window is
// ready for use and keeps MaxOutput bytes. It is not safe for concurrent use.
type Window struct {
	total            int64
	headMax, tailMax int
	head, tail       []byte // tail is a ring after it is full
	next             int    // the oldest byte of a full ring
}

// NewWindow returns a Window that keeps head bytes from the beginning and tail bytes
// from the end. Neither may be 0.
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

// Parts returns the head, the tail and the number of bytes written.
func (w *Window) Parts() (head, tail []byte, total int64) {
	return w.head, slices.Concat(w.tail[w.next:], w.tail[:w.next]), w.total
}

// String returns the kept bytes. If the middle is missing, it is replaced by a
// note of the number of missing bytes. The note begins and ends with a digit,
// so that a token that is cut is never taken for a whole one.
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

// TornSuffix returns how many bytes at the end of b are the incomplete beginning
// of a character.
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
