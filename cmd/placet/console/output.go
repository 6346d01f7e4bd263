package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// schemaVersion is the version of the output of --json. It grows when a member is renamed
// or removed, never when one is added.
const schemaVersion = 1

// Answer prints data as JSON if --json asks for it, otherwise it calls people to print it
// in words.
func (w *Env) Answer(data any, people func()) error {
	if !w.Flags.JSON {
		people()
		return nil
	}
	body, err := Encode(data, false)
	if err != nil {
		return err
	}
	_, err = w.Out.Write(body)
	return err
}

// Encode returns data as one line of JSON, in the envelope of --json, or bare. Nothing in
// it moves a terminal's cursor or is invisible: such characters are escaped.
func Encode(data any, bare bool) ([]byte, error) {
	if !bare {
		data = struct {
			SchemaVersion int `json:"schema_version"`
			Data          any `json:"data"`
		}{schemaVersion, data}
	}
	body, err := json.Marshal(data, asJSON)
	return append(templates.EscapeJSON(body), '\n'), err
}

// asJSON says how answers become JSON: a nil list is [], a zero time and an empty run are
// "".
var asJSON = json.JoinOptions(
	json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error { return enc.WriteToken(jsontext.String(Stamp(t))) }),
		json.MarshalToFunc(func(enc *jsontext.Encoder, k engine.Key) error { return enc.WriteToken(jsontext.String(k.String())) }),
	)),
)

// Stamp returns a time for JSON, "" for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Say prints a line of the answer.
func (w *Env) Say(key templates.Key, pairs ...any) {
	fmt.Fprintln(w.Out, w.Text(key, pairs...))
}

// Text returns a sentence in the language of this process.
func (w *Env) Text(key templates.Key, pairs ...any) string {
	return templates.Phrase(w.Lang, string(key), oneLined(key, pairs)...)
}

// Note prints a line of progress or advice, which does not belong to the answer.
func (w *Env) Note(key templates.Key, pairs ...any) {
	fmt.Fprintf(w.Err, "placet: %s\n", w.Text(key, pairs...))
}

// These styles are named by their meaning, not by their look.
const (
	Strong  = "1"
	Faint   = "2"
	Alarm   = "1;31"
	Waiting = "33"
	Current = "1;36"
)

// Paint puts a style around text if standard output shows colour.
func (w *Env) Paint(style, text string) string {
	if !w.Colour || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// showsColour reports whether a stream is a terminal whose owner has not turned colour off, or a
// stream of somebody who asks for colour all the same (bixense.com/clicolors).
func showsColour(stream any, getenv func(string) string) bool {
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return getenv("NO_COLOR") == ""
	}
	return IsTerminal(stream) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Table prints rows in columns of a terminal, in which some characters take two; it does
// not pad the last column. It adds colour after the widths are known.
type Table struct {
	rows   [][]string
	styles [][]string
}

func (t *Table) Add(cells ...string) { t.Style(nil, cells...) }

// mostIndent is how far a cell may be indented, and manyBlanks are those that no cell has: what
// others wrote cannot fill a line with blanks.
const mostIndent = 4

var manyBlanks = lazyregexp.New(`[\s\p{Z}]{3,}`)

// Style adds a row, with each cell in the style of the same position. A cell is one line, whoever
// wrote it.
func (t *Table) Style(styles []string, cells ...string) {
	for i, cell := range cells {
		text := strings.TrimLeft(cell, " ")
		indent := min(len(cell)-len(text), mostIndent)
		if manyBlanks.MatchString(text) {
			text = OneLine(text)
		}
		cells[i] = strings.Repeat(" ", indent) + inOneLine(text)
	}
	t.rows = append(t.rows, cells)
	t.styles = append(t.styles, styles)
}

// Print prints the table.
func (t *Table) Print(w *Env, out io.Writer) { io.WriteString(out, t.Text(w)) }

// Text returns the table, with each row in a line.
func (t *Table) Text(w *Env) string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	var b strings.Builder
	for n, row := range t.rows {
		b.WriteString(t.row(w, n, row, widths) + "\n")
	}
	return b.String()
}

func (t *Table) row(w *Env, n int, row []string, widths []int) string {
	var b strings.Builder
	gap := 0
	for i, cell := range row {
		if cell != "" {
			b.WriteString(strings.Repeat(" ", gap))
			gap = 0
			if i < len(t.styles[n]) {
				b.WriteString(w.Paint(t.styles[n][i], cell))
			} else {
				b.WriteString(cell)
			}
		}
		gap += widths[i] - Columns(cell) + 2
	}
	return b.String()
}
