package cli

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

// requestHead is what stands before a request's question: run, step, id, and in
// parentheses its type, its age, its deadline and what else is to be said.
func requestHead(w *console.Env, a engine.Asked, more string) string {
	about := console.OneLine(a.Type)
	if at := console.Age(w.Now(), a.RequestedAt); at != "" {
		about += ", " + at
	}
	if a.Overdue {
		about += w.Paint(console.Alarm, ", overdue since "+console.Moment(a.Deadline))
	} else if !a.Deadline.IsZero() {
		about += ", until " + console.Moment(a.Deadline)
	}
	about += w.Paint(console.Alarm, more)
	return fmt.Sprintf("%s  %s  %s (%s):", w.Paint(console.Strong, console.Brief(a.Run)), w.Paint(console.Waiting, console.OneLine(a.Where)), workspace.Reference(a), about)
}

// Columns of a short line: all of them where no terminal says how many, and how
// many a question has at least, however long what stands before it is.
const (
	usualColumns = 120
	leastAsked   = 24
)

// printShort shows each request in one line. What stands before the question is
// never cut: a line without its run and id is of no use.
func printShort(b *workspace.Workspace, open []engine.Asked) {
	wide := columnsOf(b.Env.Out)
	plain := *b.Env
	plain.Colour = false
	for _, a := range open {
		more := ""
		if a.Problem != "" {
			more = ", its answer cannot be used"
		}
		left := wide - console.Columns(requestHead(&plain, a, more)) - 1
		b.Env.Say("%s %s", requestHead(b.Env, a, more), console.CutColumns(firstLine(a), max(left, leastAsked)))
	}
}

// firstLine is the first line of what a request asks, with an ellipsis where more
// follow. A heading in brackets asks nothing: the summary stands in for it.
func firstLine(a engine.Asked) string {
	asked, more, _ := strings.Cut(console.Lines(a.Prompt), "\n")
	switch {
	case more == "":
		return console.OneLine(asked)
	case a.Summary != "" && strings.HasPrefix(asked, "[") && strings.HasSuffix(asked, "]"):
		return console.OneLine(a.Summary)
	}
	return console.OneLine(asked) + " …"
}

// columnsOf is how many columns a stream shows: those of the terminal, else the
// usual ones.
func columnsOf(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return usualColumns
}
