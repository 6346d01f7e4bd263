package exec

import (
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/engine/testoutput"
)

// headMax and tailMax are how many bytes of each output are kept if an action
// does not say otherwise.
const (
	headMax = 32 << 10
	tailMax = 96 << 10
)

// endTail is how many of the last bytes of each output an [engine.Ended] holds if
// the action does not say.
const endTail = 4 << 10

// retention says how much of a command's outputs is kept.
type retention struct {
	// head and tail are how many bytes of an output are kept. The middle of a longer
	// one is dropped: the head shows what was started, the tail how it ended.
	head, tail int
	// merged says that both outputs are kept as one, in their order.
	merged bool
	// judge says that testoutput searches the whole output for expected.
	judge    bool
	expected string
}

// retentionOf returns the retention that an action asks for.
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

// captures returns the writers for standard output and standard error, or one
// writer if they are merged.
func (k retention) captures() []*capture {
	all := []*capture{k.capture()}
	if !k.merged {
		all = append(all, k.capture())
	}
	return all
}

func (k retention) capture() *capture {
	c := &capture{retention: k, kept: testoutput.NewWindow(k.head, k.tail), eof: make(chan struct{})}
	if k.judge {
		c.whole = new(testoutput.Window)
	}
	return c
}

// fileNames returns the names of the files for an agent's outputs, in the order
// of captures.
func (k retention) fileNames() []string {
	if k.merged {
		return []string{outputName}
	}
	return []string{stdoutName, stderrName}
}

// readFiles returns the outputs in an agent's folder. A file that cannot be read
// counts as empty: the command ended all the same.
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

// report puts the outputs into e. It judges only those of a command that finished.
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
		texts = append(texts, strings.ToValidUTF8(c.whole.String(), "\uFFFD"))
	}
	e.matched, e.marker = testoutput.Match(k.expected, texts...)
}

// Output is the kept part of one output of a command.
type Output struct {
	Bytes     int64 // how many the output had
	Head      string
	Tail      string
	Truncated bool // the middle between head and tail is missing
}

// capture is a writer that keeps what its retention says.
type capture struct {
	retention
	kept  *testoutput.Window
	whole *testoutput.Window // what a judge matches, or nil
	eof   chan struct{}      // closed at the end of a pipe
	file  *Output            // what was read of a file; nil for a pipe
}

// ReadFrom implements [io.ReaderFrom]. os/exec copies a pipe with [io.Copy], which
// calls it, so that the end of the pipe is known before the process is reaped.
func (c *capture) ReadFrom(r io.Reader) (int64, error) {
	defer close(c.eof)
	return io.Copy(struct{ io.Writer }{c}, r)
}

// Write implements [io.Writer]. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	if c.whole != nil {
		_, _ = c.whole.Write(p)
	}
	return c.kept.Write(p)
}

// readFile reads the head and tail of a file. It reads the whole file only for a
// judge: an agent's file can be larger than anybody wants to read.
func (c *capture) readFile(f io.ReaderAt, size int64) {
	head := make([]byte, min(size, int64(c.head)))
	tail := make([]byte, min(size-int64(len(head)), int64(c.tail)))
	n, _ := f.ReadAt(head, 0)
	m, _ := f.ReadAt(tail, size-int64(len(tail)))
	c.file = new(newOutput(head[:n], tail[:m], size))
	if c.whole != nil {
		_, _ = io.Copy(c.whole, io.NewSectionReader(f, 0, size)) // what was read before an error counts
	}
}

func (c *capture) output() Output {
	if c.file != nil {
		return *c.file
	}
	return newOutput(c.kept.Parts())
}

// newOutput returns the kept bytes as text. It tears no character in two: the part of
// one at the end of head moves to tail if the two touch, and is dropped if they do
// not.
func newOutput(head, tail []byte, total int64) Output {
	o := Output{Bytes: total, Truncated: total > int64(len(head)+len(tail))}
	if len(tail) > 0 {
		whole := len(head) - testoutput.TornSuffix(head)
		if o.Truncated {
			tail = tail[tornPrefix(tail):]
		} else {
			tail = slices.Concat(head[whole:], tail)
		}
		head = head[:whole]
	}
	o.Head = strings.ToValidUTF8(string(head), "\uFFFD")
	o.Tail = strings.ToValidUTF8(string(tail), "\uFFFD")
	return o
}

// half returns the output with half of the kept bytes, still the first and the
// last.
func (o Output) half() Output {
	head, tail := []byte(o.Head[:len(o.Head)/2]), []byte(o.Tail[(len(o.Tail)+1)/2:])
	o.Head, o.Tail = string(head[:len(head)-testoutput.TornSuffix(head)]), string(tail[tornPrefix(tail):])
	o.Truncated = true
	return o
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
