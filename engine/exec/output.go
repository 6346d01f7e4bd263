package exec

import (
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/engine/testoutput"
)

// What is kept of each output where an action does not say otherwise.
const (
	headMax = 32 << 10
	tailMax = 96 << 10
)

// endTail is how many of the last bytes of each output an [engine.Ended] holds where
// the action does not say.
const endTail = 4 << 10

// retention says what is kept of a command's outputs.
type retention struct {
	// head and tail are how many bytes of an output are kept. The middle of a longer
	// one is dropped: the head says what was started, the tail how it ended.
	head, tail int
	// merged has both outputs kept as one, in their order.
	merged bool
	// judge asks whether the whole holds what is expected; see package testoutput.
	judge    bool
	expected string
}

// retentionOf returns what an action wants to be kept.
func retentionOf(a engine.Action) retention {
	switch {
	case a.Outcome == "":
		return retention{tail: tailOf(a)}
	case a.Tail > 0:
		return retention{tail: a.Tail, merged: true, judge: a.Judge, expected: a.Expected}
	default:
		return retention{head: headMax, tail: tailMax, judge: a.Judge, expected: a.Expected}
	}
}

// tailOf returns how many bytes of each output the end of an action holds.
func tailOf(a engine.Action) int {
	if a.Tail > 0 {
		return min(a.Tail, tailMax)
	}
	return endTail
}

// captures returns the writers for standard output and standard error: one if they
// are merged.
func (k retention) captures() []*capture {
	all := []*capture{k.capture()}
	if !k.merged {
		all = append(all, k.capture())
	}
	return all
}

func (k retention) capture() *capture {
	c := &capture{headMax: k.head, tailMax: k.tail, eof: make(chan struct{})}
	if k.judge {
		c.window = new(testoutput.Window)
	}
	return c
}

// fileNames returns the names of the files that an agent's outputs go to, in the
// order of captures.
func (k retention) fileNames() []string {
	if k.merged {
		return []string{outputName}
	}
	return []string{stdoutName, stderrName}
}

// readFiles returns what an agent's folder holds of its outputs. A file that cannot be
// read counts as empty: the command ended all the same.
func (k retention) readFiles(root *os.Root, dir string) []*capture {
	all := k.captures()
	for i, name := range k.fileNames() {
		f, size, err := openRegular(root, path.Join(dir, name))
		if err != nil {
			continue
		}
		all[i].readFile(f, size)
		f.Close()
	}
	return all
}

// report puts the outputs into e. Only those of a command that finished are judged.
func (k retention) report(e *exitResult, outputs []*capture) {
	e.stdout = outputs[0].output()
	if !k.merged {
		e.stderr = outputs[1].output()
	}
	if !k.judge || e.word != finished {
		return
	}
	var texts []string
	for _, c := range outputs {
		texts = append(texts, strings.ToValidUTF8(c.window.String(), "\uFFFD"))
	}
	e.matched, e.marker = testoutput.Match(k.expected, texts...)
}

// Output is what is kept of one output of a command.
type Output struct {
	Bytes     int64 // how many there were
	Head      string
	Tail      string
	Truncated bool // something between head and tail is missing
}

// capture is a writer that keeps the head and the tail of what is written to it.
type capture struct {
	headMax, tailMax int
	window           *testoutput.Window // what a judge needs of the whole, or nil
	eof              chan struct{}      // closed at the end of a pipe

	total int64
	head  []byte
	tail  []byte // at most twice the limit, of which the last bytes count
}

// ReadFrom implements [io.ReaderFrom]: os/exec copies a pipe with [io.Copy], which
// calls it, so that the end of the pipe is known before the process is reaped.
func (c *capture) ReadFrom(r io.Reader) (int64, error) {
	defer close(c.eof)
	return io.Copy(struct{ io.Writer }{c}, r)
}

// Write implements [io.Writer]. It never fails: a command must not end because its
// output is long.
func (c *capture) Write(p []byte) (int, error) {
	if c.window != nil {
		_, _ = c.window.Write(p)
	}
	n := len(p)
	c.total += int64(n)
	room := min(max(0, c.headMax-len(c.head)), n)
	c.head, p = append(c.head, p[:room]...), p[room:]
	p = p[max(0, len(p)-c.tailMax):]
	if len(c.tail)+len(p) > 2*c.tailMax {
		c.tail = append(c.tail[:0], c.tail[max(0, len(c.tail)-c.tailMax):]...)
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

// readFile reads head and tail of a file, and all of it only for a judge: an agent's
// file can be larger than anybody wants to read.
func (c *capture) readFile(f io.ReaderAt, size int64) {
	c.total = size
	c.head = make([]byte, min(size, int64(c.headMax)))
	c.tail = make([]byte, min(size-int64(len(c.head)), int64(c.tailMax)))
	n, _ := f.ReadAt(c.head, 0)
	m, _ := f.ReadAt(c.tail, size-int64(len(c.tail)))
	c.head, c.tail = c.head[:n], c.tail[:m]
	if c.window != nil {
		_, _ = io.Copy(c.window, io.NewSectionReader(f, 0, size)) // what was read counts
	}
}

// output returns the kept bytes as text. No character is torn in two: what the head
// has of one goes to the tail where the two touch, and is dropped where they do not.
func (c *capture) output() Output {
	head, tail := c.head, c.tail[max(0, len(c.tail)-c.tailMax):]
	o := Output{Bytes: c.total, Truncated: c.total > int64(len(head)+len(tail))}
	if len(tail) > 0 {
		whole := len(head) - tornSuffix(head)
		if o.Truncated {
			tail = tail[tornPrefix(tail):]
		} else {
			tail = append(append([]byte(nil), head[whole:]...), tail...)
		}
		head = head[:whole]
	}
	o.Head = strings.ToValidUTF8(string(head), "\uFFFD")
	o.Tail = strings.ToValidUTF8(string(tail), "\uFFFD")
	return o
}

// half returns the output with half of what is kept, still the first and the last.
func (o Output) half() Output {
	head, tail := []byte(o.Head[:len(o.Head)/2]), []byte(o.Tail[(len(o.Tail)+1)/2:])
	o.Head, o.Tail = string(head[:len(head)-tornSuffix(head)]), string(tail[tornPrefix(tail):])
	o.Truncated = true
	return o
}

// tornSuffix returns how many bytes at the end of b begin a character and do not
// complete it.
func tornSuffix(b []byte) int {
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

// tornPrefix returns how many bytes at the start of b continue a character that began
// before.
func tornPrefix(b []byte) int {
	n := 0
	for n < len(b) && n < utf8.UTFMax-1 && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}
