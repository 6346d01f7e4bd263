package main

import (
	"context"
	"fmt"
)

// reasonFor is why a person gives something up: what -m says, else what is typed on a
// terminal.
func (b *bench) reasonFor(ctx context.Context, v view, verb, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	if !b.w.atTerminal() {
		return "", usage("cannot %s %s without a reason", verb, brief(v.Key)).try("add -m TEXT")
	}
	text, err := ask(ctx, newInput(b.w.in), b.w.err, fmt.Sprintf("%s %s. Why? (the reason stands in the record) ", title(verb), brief(v.Key)))
	if err == nil && text == "" {
		err = unanswered("nothing was written")
	}
	return text, err
}
