package testoutput

import (
	"fmt"
	"unicode/utf8"
)

// MaxOutput is how much of an output is matched, in bytes. Of a longer one the
// first and the last half are.
const MaxOutput = 8 << 20

const halfOutput = MaxOutput / 2

// Window is a writer that keeps as much of an output as is matched. The zero
// Window is ready for use. It is not safe for concurrent use.
type Window struct {
	total int64
	head  []byte // at most halfOutput
	tail  []byte // at most halfOutput; a ring once it is full
	next  int    // the oldest byte of a full ring
}

// Write implements [io.Writer]. It takes everything and returns no error.
func (w *Window) Write(p []byte) (int, error) {
	n := len(p)
	w.total += int64(n)
	if room := halfOutput - len(w.head); room > 0 {
		room = min(room, len(p))
		w.head, p = append(w.head, p[:room]...), p[room:]
	}
	if room := halfOutput - len(w.tail); room > 0 {
		room = min(room, len(p))
		w.tail, p = append(w.tail, p[:room]...), p[room:]
	}
	if len(p) > halfOutput {
		p = p[len(p)-halfOutput:]
	}
	for len(p) > 0 {
		k := copy(w.tail[w.next:], p)
		w.next, p = (w.next+k)%halfOutput, p[k:]
	}
	return n, nil
}

// String returns what was kept. Where the middle is missing, a note of how many
// bytes that are stands in its place. The note begins and ends with a digit: a
// token that the cut goes through is thereby never taken for a whole one.
func (w *Window) String() string {
	left := w.total - int64(len(w.head)+len(w.tail))
	if left == 0 {
		return string(w.head) + string(w.tail)
	}
	head, tail := w.head, make([]byte, 0, halfOutput)
	tail = append(append(tail, w.tail[w.next:]...), w.tail[:w.next]...)
	for n := 1; n < utf8.UTFMax && !utf8.RuneStart(tail[0]); n++ {
		tail, left = tail[1:], left+1
	}
	if n := torn(head); n > 0 {
		head, left = head[:len(head)-n], left+int64(n)
	}
	return fmt.Sprintf("%s0[%d bytes left out]0%s", head, left, tail)
}

// torn is the number of bytes at the end of b that begin a character and do
// not complete it.
func torn(b []byte) int {
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
