package demo

import (
	"bytes"
	"io"
	"strings"

	"placet/cmd/placet/console"
	"placet/internal/lazyregexp"
)

// widest is the width of a demonstration, in columns.
const widest = 100

// folder writes whole lines, and breaks those that are wider than a demonstration, at a blank if
// there is one.
type folder struct {
	out  io.Writer
	part []byte // a line without its end
}

// Write implements [io.Writer].
func (f *folder) Write(p []byte) (int, error) {
	var all bytes.Buffer
	text := append(f.part, p...)
	f.part = nil
	for line := range bytes.Lines(text) {
		whole, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended {
			f.part = line
			break
		}
		all.WriteString(fold(string(whole)) + "\n")
	}
	if _, err := f.out.Write(all.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// styling matches what sets the style of a text at a terminal, which takes no column.
var styling = lazyregexp.New(`\x1b\[[0-9;]*m`)

// fold breaks a line. What follows the first break is indented by four columns more. A word that
// is too wide, a path or a link, stays whole, so that it can be copied.
func fold(line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
	var lines []string
	for columns(line) > widest {
		at := breakOf(line)
		if at < 0 {
			break
		}
		lines = append(lines, strings.TrimRight(line[:at], " "))
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return strings.Join(append(lines, line), "\n")
}

func columns(line string) int { return console.Columns(styling.ReplaceAllString(line, "")) }

// breakOf returns where a line that is too wide is broken: at its last blank that is within the
// width, else at its first, or -1 where there is none but those at its beginning.
func breakOf(line string) int {
	begin := len(line) - len(strings.TrimLeft(line, " "))
	at := -1
	for i, r := range line {
		if r != ' ' || i < begin {
			continue
		}
		if at >= 0 && columns(line[:i]) > widest {
			break
		}
		at = i
	}
	return at
}
