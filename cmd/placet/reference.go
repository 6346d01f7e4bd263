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
		b.showOnErr(func() { b.printRequest(t) })
		return refused("cannot answer %s: the request changed since it was listed as @%s; nothing was written", t.label(), digest).
			try("look again: it is %s now", reference(t.Asked))
	}
	return nil
}

// atTerminal reports whether a person sees a question and can type the answer.
func (w *world) atTerminal() bool { return isTerminal(w.in) && isTerminal(w.err) }

// showOnErr shows something on standard error: it is no part of the answer.
func (b *bench) showOnErr(show func()) {
	answer, onErr := b.w, *b.w
	onErr.out, onErr.colour = onErr.err, false
	b.w = &onErr
	show()
	b.w = answer
}

// confirm shows a request on the terminal and asks whether an answer is meant.
func (b *bench) confirm(ctx context.Context, t target, resp gate.Response) error {
	p := b.w.newPrompter()
	defer p.close()
	b.showOnErr(func() { b.printRequest(t) })
	said, with := t.said(resp)
	return p.agreed(ctx, fmt.Sprintf("\nAnswer %s%s%s? (y/N) ", said, with, suffix(" → ", t.effects(resp))))
}

// agreed asks a question to which "y" and "yes" alone agree.
func (p *prompter) agreed(ctx context.Context, text string) error {
	agreed := false
	if err := p.ask(ctx, promptLine{text: text}, func(text string) (again string) {
		agreed = strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")
		return ""
	}); err != nil {
		return err
	}
	if !agreed {
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
