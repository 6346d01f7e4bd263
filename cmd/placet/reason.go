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
	p := b.w.newPrompter()
	defer p.close()
	question := promptLine{text: fmt.Sprintf("%s %s. Why? (the reason stands in the record) ", title(verb), brief(v.Key))}
	err := p.ask(ctx, question, func(text string) (again string) { given = text; return "" })
	return given, err
}
