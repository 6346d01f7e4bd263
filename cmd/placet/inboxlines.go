package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"placet/engine"
	"placet/engine/reconcile"
)

// narrowed are the runs of an optional argument, a family or a run, and those of
// the same family that it leaves out. A word that names both is the family; the
// run's whole name is <family>/<id>.
func (b *bench) narrowed(args []string) (found, rest []reconcile.Found, err error) {
	all := b.runs()
	if len(args) == 0 {
		return all, nil, nil
	}
	if b.serves(args[0]) {
		return ofFamily(all, args[0]), nil, nil
	}
	one, err := b.oneOf(all, args[0])
	if p, ok := err.(*problem); ok && len(p.fits) == 0 {
		return nil, nil, p.try("a family is %s; placet status --all lists the runs; placet inbox alone shows all that is asked",
			strings.Join(b.familyNames(), " or "))
	} else if err != nil {
		return nil, nil, err
	}
	for _, f := range ofFamily(all, one.Run.Family) {
		if f.Key() != one.Key() {
			rest = append(rest, f)
		}
	}
	return []reconcile.Found{one}, rest, nil
}

// familyNames are the families that are enabled.
func (b *bench) familyNames() []string {
	var names []string
	for _, f := range b.families {
		names = append(names, f.Layout.Name())
	}
	return names
}

// uses counts how many runs use the id of each request shown: an id alone names
// one only where no other run uses it, shown or not. Those of two families differ.
func (b *bench) uses(open []engine.Asked, rest []reconcile.Found) map[string]int {
	uses := map[string]int{}
	for _, a := range open {
		uses[a.Request]++
	}
	for id := range uses {
		for _, f := range rest {
			if b.has(f, id) {
				uses[id]++
			}
		}
	}
	return uses
}

// head is what stands before a request's question: run, step, id, and in
// parentheses its type, its age, its deadline and what else is to be said.
func (w *world) head(a engine.Asked, more string) string {
	about := line(a.Type)
	if at := age(w.now(), a.RequestedAt); at != "" {
		about += ", " + at
	}
	if a.Overdue {
		about += w.paint(alarm, ", overdue since "+moment(a.Deadline))
	} else if !a.Deadline.IsZero() {
		about += ", until " + moment(a.Deadline)
	}
	about += w.paint(alarm, more)
	return fmt.Sprintf("%s  %s  %s (%s):", w.paint(strong, brief(a.Run)), w.paint(waiting, line(a.Where)), reference(a), about)
}

// Columns of a short line: all of them where no terminal says how many, and how
// many a question has at least, however long what stands before it is.
const (
	usualColumns = 120
	leastAsked   = 24
)

// printShort shows each request in one line. What stands before the question is
// never cut: a line without its run and id is of no use.
func (b *bench) printShort(open []engine.Asked) {
	wide := columnsOf(b.w.out)
	plain := *b.w
	plain.colour = false
	for _, a := range open {
		more := ""
		if a.Problem != "" {
			more = ", its answer cannot be used"
		}
		left := wide - columns(plain.head(a, more)) - 1
		b.w.say("%s %s", b.w.head(a, more), cutColumns(firstLine(a), max(left, leastAsked)))
	}
}

// firstLine is the first line of what a request asks, with an ellipsis where more
// follow. A heading in brackets asks nothing: the summary stands in for it.
func firstLine(a engine.Asked) string {
	asked, more, _ := strings.Cut(paragraph(a.Prompt), "\n")
	switch {
	case more == "":
		return line(asked)
	case a.Summary != "" && strings.HasPrefix(asked, "[") && strings.HasSuffix(asked, "]"):
		return line(a.Summary)
	}
	return line(asked) + " …"
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
