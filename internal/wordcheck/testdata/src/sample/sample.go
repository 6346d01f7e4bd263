package sample

import (
	"errors"
	"fmt"
	"io"

	"placet/templates"
)

type run struct{}

func (run) say(key string, pairs ...any) string { return key }

func sample(w io.Writer, r run, n int) error {
	fmt.Fprintf(w, "cannot read %d\n", n) // want `Fprintf shows "cannot read`
	fmt.Fprintf(w, "%s  %s\n", "a", "b")
	fmt.Fprintln(w, "a"+" of b") // want `Fprintln shows " of b"`
	fmt.Fprintln(w, templates.Phrase("en", "list.or", "all", "a", "last", "b"))
	fmt.Fprintln(w, templates.Phrase("en", "list.or", "all", "a")) // want `"list.or" needs a value for {last}`
	fmt.Fprintln(w, templates.Phrase("en", "cannot read %d", n))   // want `words.json has neither "cannot read %d" nor "sample.cannot read %d"`
	fmt.Fprintln(w, r.say("no.such.key"))                          // want `words.json has neither "no.such.key" nor "sample.no.such.key"`
	return errors.New("there is no such file")                     // want `New shows "there is no such file"`
}
