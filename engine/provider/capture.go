package provider

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// How much of an output is kept, in bytes. The middle of a longer one is
// dropped: the head says what was started, the tail how it ended.
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
	mu    sync.Mutex
	total int64
	head  []byte
	tail  []byte // at most 2*tailMax bytes, of which the last tailMax count
}

// Write implements [io.Writer]. It never refuses: a command must not end
// because it talks too much.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := headMax - len(c.head); room > 0 {
		room = min(room, len(p))
		c.head, p = append(c.head, p[:room]...), p[room:]
	}
	if len(p) > tailMax {
		p = p[len(p)-tailMax:]
	}
	if len(c.tail)+len(p) > 2*tailMax {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-tailMax:]...)
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

// output returns what was kept so far.
func (c *capture) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cut(c.total, c.head, c.tail[max(0, len(c.tail)-tailMax):])
}

// captured returns what is kept of an output file. One that cannot be read
// counts as empty: the command ended all the same.
func captured(f io.ReaderAt, size int64) Output {
	head := make([]byte, min(size, headMax))
	tail := make([]byte, min(size-int64(len(head)), tailMax))
	n, _ := f.ReadAt(head, 0)
	m, _ := f.ReadAt(tail, size-int64(len(tail)))
	return cut(size, head[:n], tail[:m])
}

// capturedFile is [captured] for a file by name.
func capturedFile(root *os.Root, name string) Output {
	f, size, err := openRegular(root, name)
	if err != nil {
		return Output{}
	}
	defer f.Close()
	return captured(f, size)
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
