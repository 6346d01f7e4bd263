package exec

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// limits are how many bytes of an output are kept. The middle of a longer one
// is dropped: the head says what was started, the tail how it ended.
type limits struct{ head, tail int }

// What is kept of each output where an action does not say otherwise.
const (
	headMax = 32 << 10
	tailMax = 96 << 10
)

// Output is what is kept of one output of a command.
type Output struct {
	Bytes     int64 // how many there were
	Head      string
	Tail      string
	Truncated bool // something between head and tail is missing
}

// capture is a writer that keeps the head and the tail of what it is given.
type capture struct {
	limits limits

	mu    sync.Mutex
	total int64
	head  []byte
	tail  []byte // at most twice the limit, of which the last bytes count
}

// Write implements [io.Writer]. It never refuses: a command must not end
// because it talks too much.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.limits.head - len(c.head); room > 0 {
		room = min(room, len(p))
		c.head, p = append(c.head, p[:room]...), p[room:]
	}
	most := c.limits.tail
	if len(p) > most {
		p = p[len(p)-most:]
	}
	if len(c.tail)+len(p) > 2*most {
		c.tail = append(c.tail[:0], c.tail[max(0, len(c.tail)-most):]...)
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

// output returns what was kept so far.
func (c *capture) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cut(c.total, c.head, c.tail[max(0, len(c.tail)-c.limits.tail):])
}

// captured returns what is kept of an output file. One that cannot be read
// counts as empty: the command ended all the same.
func captured(f io.ReaderAt, size int64, l limits) Output {
	head := make([]byte, min(size, int64(l.head)))
	tail := make([]byte, min(size-int64(len(head)), int64(l.tail)))
	n, _ := f.ReadAt(head, 0)
	m, _ := f.ReadAt(tail, size-int64(len(tail)))
	return cut(size, head[:n], tail[:m])
}

// cut makes text of the kept bytes. No character is torn in two: what the head
// has of one goes to the tail where the two touch, and is dropped where they
// do not.
func cut(total int64, head, tail []byte) Output {
	o := Output{Bytes: total, Truncated: total > int64(len(head)+len(tail))}
	if len(tail) > 0 {
		whole := len(head) - torn(head)
		if o.Truncated {
			tail = tail[continued(tail):]
		} else {
			tail = append(append([]byte(nil), head[whole:]...), tail...)
		}
		head = head[:whole]
	}
	o.Head = strings.ToValidUTF8(string(head), "\uFFFD")
	o.Tail = strings.ToValidUTF8(string(tail), "\uFFFD")
	return o
}

// half returns the output with half of what is kept, still the first and the
// last of it.
func (o Output) half() Output {
	head, tail := []byte(o.Head[:len(o.Head)/2]), []byte(o.Tail[(len(o.Tail)+1)/2:])
	o.Head, o.Tail = string(head[:len(head)-torn(head)]), string(tail[continued(tail):])
	o.Truncated = true
	return o
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

// continued is the number of bytes at the start of b that continue a character
// which began before.
func continued(b []byte) int {
	n := 0
	for n < len(b) && n < utf8.UTFMax-1 && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}
