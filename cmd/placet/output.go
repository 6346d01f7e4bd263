package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// schemaVersion is the version of what --json prints. It grows when a member
// is renamed or removed, never when one is added.
const schemaVersion = 1

// answer prints data as JSON where --json asks for it, else it calls people to
// print it in words.
func (w *world) answer(data any, people func()) error {
	if !w.flags.json {
		people()
		return nil
	}
	enc := json.NewEncoder(w.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		SchemaVersion int `json:"schema_version"`
		Data          any `json:"data"`
	}{schemaVersion, data})
}

// say prints a line of the answer.
func (w *world) say(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

// note prints a line of progress or advice, which is no part of the answer.
func (w *world) note(format string, args ...any) {
	fmt.Fprintf(w.err, "placet: "+format+"\n", args...)
}

// Styles by what they say, never by how they look.
const (
	strong  = "1"
	faint   = "2"
	alarm   = "1;31"
	waiting = "33"
	current = "1;36"
)

// paint puts a style around text, where standard output shows colour.
func (w *world) paint(style, text string) string {
	if !w.colour || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// showsColour reports whether a stream is a terminal whose owner has not
// refused colour.
func showsColour(stream any, getenv func(string) string) bool {
	return isTerminal(stream) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// table prints rows in columns; the last column is not padded. Colour goes on
// after the widths are known.
type table struct {
	rows   [][]string
	styles [][]string
}

func (t *table) add(cells ...string) { t.style(nil, cells...) }

// style adds a row, each cell in the style of the same position.
func (t *table) style(styles []string, cells ...string) {
	t.rows = append(t.rows, cells)
	t.styles = append(t.styles, styles)
}

func (t *table) print(w *world, out io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range t.rows {
		fmt.Fprintln(out, t.row(w, n, row, widths))
	}
}

func (t *table) row(w *world, n int, row []string, widths []int) string {
	var b strings.Builder
	gap := 0
	for i, cell := range row {
		if cell != "" {
			b.WriteString(strings.Repeat(" ", gap))
			gap = 0
			if i < len(t.styles[n]) {
				b.WriteString(w.paint(t.styles[n][i], cell))
			} else {
				b.WriteString(cell)
			}
		}
		gap += widths[i] - utf8.RuneCountInString(cell) + 2
	}
	return b.String()
}
