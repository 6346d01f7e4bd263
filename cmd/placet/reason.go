package main

import (
	"context"
	"fmt"
	"strings"

	"placet/engine/gate"
	"placet/templates"
)

// checkName refuses the name of who gives a verb where it is none.
func checkName(verb, by string) error {
	if by == "" || line(by) != by {
		return usage("cannot %s as %q: a name is one line of visible characters", verb, line(by))
	}
	return nil
}

// checkWords refuses words of a person, and a name, that are longer than an answer's
// may be. what is what the words are: the reason, for example.
func checkWords(verb, of, what, words, by string) error {
	wrong := gate.CheckLimits(what, gate.Answer{Comment: words, By: gate.By{User: by}})
	if wrong == "" {
		return nil
	}
	return refused("cannot %s %s: %s", verb, of, unquoted(wrong, what))
}

// unquoted is a sentence of a note that names a place as code, with the place as plain
// words.
func unquoted(text, place string) string {
	return strings.ReplaceAll(text, templates.Code(place), place)
}

// checkReason refuses a name and a reason that no record may hold.
func checkReason(verb string, v view, reason, by string) error {
	if err := checkName(verb, by); err != nil {
		return err
	}
	return checkWords(verb, brief(v.Key), "the reason", reason, by)
}

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
