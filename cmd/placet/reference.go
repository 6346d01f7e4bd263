package main

import (
	"context"
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
)

// reference names a request and what it shows: what approve, reject and respond
// take. It is the id alone while nobody can tell what is shown.
func reference(a engine.Asked) string {
	name := line(a.Request)
	if hex := a.Digest.Hex(); len(hex) >= leastDigest {
		name += "@" + hex[:leastDigest]
	}
	return name
}

// cutDigest takes a reference apart: what names the request, and the digits of what
// was shown, "" where none are named.
func cutDigest(arg string) (name, digest string, err error) {
	name, digest, named := cutLast(arg, "@")
	if digest = strings.ToLower(digest); !named {
		return arg, "", nil
	}
	if len(digest) < leastDigest || strings.Trim(digest, "0123456789abcdef") != "" {
		return name, "", usage("cannot tell what %q was listed as: after @ stand %d or more hexadecimal digits", line(arg), leastDigest).
			try("placet inbox lists what is asked")
	}
	return name, digest, nil
}

// wasShown refuses an answer to anything but what its giver was shown: what the
// digest names, or, without one, what a terminal is about to show. command is what
// would be written after the verb's name and the reference.
func (b *bench) wasShown(t target, digest, verb, command string) error {
	switch {
	case t.Digest == "":
		return refused("cannot answer %s: what it shows is still being written", t.label()).try("placet inbox, and try again")
	case digest == "" && !b.w.atTerminal():
		return usage("cannot answer %s: without a terminal an answer names what it was shown", t.label()).
			try("look at it (placet show %s), then: placet %s %s%s", line(t.Request), verb, reference(t.Asked), command)
	case !strings.HasPrefix(t.Digest.Hex(), digest):
		b.showOnErr(t)
		return refused("cannot answer %s: the request changed since it was listed as @%s; nothing was written", t.label(), digest).
			try("look again: it is %s now", reference(t.Asked))
	}
	return nil
}

// atTerminal reports whether a person reads and types.
func (w *world) atTerminal() bool { return isTerminal(w.in) && isTerminal(w.out) }

// showOnErr shows a request on standard error: it is no part of the answer.
func (b *bench) showOnErr(t target) {
	answer, onErr := b.w, *b.w
	onErr.out, onErr.colour = onErr.err, false
	b.w = &onErr
	b.printRequest(t)
	b.w = answer
}

// confirm shows a request on the terminal and asks whether an answer is meant.
func (b *bench) confirm(ctx context.Context, t target, resp gate.Response) error {
	b.showOnErr(t)
	said, with := t.said(resp)
	question := fmt.Sprintf("\nAnswer %s%s%s? (y/N) ", said, with, suffix(" → ", t.effects(resp)))
	text, err := ask(ctx, newInput(b.w.in), b.w.err, question)
	if err != nil {
		return err
	}
	if text = strings.ToLower(text); text != "y" && text != "yes" {
		return unanswered("nothing was written")
	}
	return nil
}

// unanswered is the end of a prompt at which nobody answered.
func unanswered(text string) *problem {
	return &problem{code: exitInterrupted, text: "no answer was given; " + text}
}

// effects are what the options of an answer do, in words.
func (t target) effects(resp gate.Response) string {
	var all []string
	for _, id := range t.chosen(resp) {
		for _, o := range t.Options {
			if o.ID == id && o.Effect != "" {
				all = append(all, cut(line(o.Effect), shownAnswer))
			}
		}
	}
	return cut(strings.Join(all, "; "), shownWith)
}
