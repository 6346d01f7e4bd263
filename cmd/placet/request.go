package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reconcile"
	"placet/layout"
)

// target is an open request that an answer is for.
type target struct {
	engine.Asked
	found reconcile.Found
}

// name is how the request is named on the command line: by its id, which the
// listing showed beside run and step.
func (t target) label() string {
	return fmt.Sprintf("%s of %s (%s)", line(t.Request), brief(t.Run), line(t.Where))
}

// oneRequest resolves a request argument to an open request. "" is good where
// one request alone is open.
func (b *bench) oneRequest(arg string) (target, error) {
	found := b.runs()
	open := b.open(found, arg)
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return target{}, b.nothingOpen(found, arg)
	}
	p := usage("%s are open", many(len(open), "request", "requests")).try("name one: <request id>, or <run>:<request id>")
	if arg != "" {
		p.text = fmt.Sprintf("%q fits %s", line(arg), many(len(open), "open request", "open requests"))
	}
	for _, t := range open {
		p.fits = append(p.fits, fmt.Sprintf("%s:%s  %s  %s", t.Run, reference(t.Asked), t.Where, cut(line(t.Prompt), 60)))
	}
	return target{}, p
}

// open returns the open requests that an argument names, oldest first.
func (b *bench) open(found []reconcile.Found, arg string) []target {
	run, request, both := strings.Cut(arg, ":")
	switch {
	case arg == "":
		live, _ := b.live(found)
		return b.openIn(live, "")
	case both:
		return b.openIn(b.fits(found, run), request)
	case !layout.IsRequestID(arg):
		return b.openIn(b.fits(found, arg), "")
	}
	open := b.openIn(b.asking(found, arg), arg)
	if len(open) > 0 && open[0].Request == arg {
		return open
	}
	for _, t := range b.openIn(b.fits(found, arg), "") { // a run may begin like a request
		if !slices.ContainsFunc(open, func(o target) bool { return o.Run == t.Run && o.Request == t.Request }) {
			open = append(open, t)
		}
	}
	return open
}

// leastID is how many characters of an id name a request, or a part of a run, at least.
const leastID = 4

// shortens reports whether a word is the beginning of a request's id, or of what
// follows its last hyphen.
func shortens(word, id string) bool {
	last := id[strings.LastIndex(id, "-")+1:]
	return len(word) >= leastID && (strings.HasPrefix(id, word) || strings.HasPrefix(last, word))
}

// asking returns the runs that may ask a request: those with its folder, or,
// where placet has not opened it yet or its id is shortened, all that can still
// move.
func (b *bench) asking(found []reconcile.Found, request string) []reconcile.Found {
	var with []reconcile.Found
	for _, f := range found {
		if b.has(f, request) {
			with = append(with, f)
		}
	}
	if len(with) > 0 {
		return with
	}
	live, _ := b.live(found)
	return live
}

// openIn returns the open requests of some runs: all of them where the word is "",
// else those with that id. Where no request of theirs, open or closed, has that id,
// it returns those whose id the word shortens.
func (b *bench) openIn(found []reconcile.Found, word string) []target {
	var open []target
	whole := slices.ContainsFunc(found, func(f reconcile.Found) bool { return b.has(f, word) })
	for _, v := range b.views(found) {
		for _, a := range v.Open {
			open = append(open, target{a, v.found})
			whole = whole || a.Request == word
		}
	}
	open = slices.DeleteFunc(open, func(t target) bool {
		return word != "" && t.Request != word && (whole || !shortens(word, t.Request))
	})
	slices.SortFunc(open, func(x, y target) int { return oldestFirst(x.Asked, y.Asked) })
	return open
}

// nothingOpen says why an argument names no open request.
func (b *bench) nothingOpen(found []reconcile.Found, arg string) error {
	run, request, both := strings.Cut(arg, ":")
	switch {
	case arg == "":
		return refused("no request is open in %s", line(b.root)).try("placet status lists the runs")
	case !both:
		run, request = "", arg
	}
	if c := b.closedIn(found, run, request); len(c) == 1 {
		return c[0]
	} else if len(c) > 1 {
		p := usage("%q fits %d closed requests", line(request), len(c)).try("name one by as much of its id as is unique")
		for _, c := range c {
			p.fits = append(p.fits, c.Error())
		}
		return p
	}
	if fit := b.fits(found, cmp.Or(run, arg)); len(fit) > 0 {
		why := fmt.Sprintf("nothing is asked of %s", brief(fit[0].Key()))
		if both {
			why = fmt.Sprintf("%s has no open request %s", brief(fit[0].Key()), line(request))
		}
		return refused("%s", why).try("%s says why it stands where it stands", typed("explain", brief(fit[0].Key())))
	}
	return usage("cannot find a request or a run %q in %s", line(arg), line(b.root)).try("placet inbox lists what is asked")
}

// closed is a request that has its receipt: the answer that was taken.
type closed struct {
	run     engine.Key
	receipt gate.Receipt
	// doubt says that the receipt is not to be believed.
	doubt string
}

func (c closed) Error() string {
	r := c.receipt
	text := fmt.Sprintf("%s of %s is closed: %s", line(r.RequestID), brief(c.run), line(r.Result))
	if r.Response != "" {
		said, with := cut(line(r.Response), 60), picked(r.Selected)
		if slices.Contains(r.Selected, r.Response) { // several options, all of them named
			said, with = cut(line(strings.Join(r.Selected, ", ")), shownWith), ""
		}
		text += fmt.Sprintf(", %s%s by %s (%s)", said, with, line(r.ProvidedBy.Shown(r.KnownAs)), line(r.ProvidedBy.Source))
	}
	return text + ", at " + line(r.DecidedAt) + suffix("; its receipt is ", c.doubt)
}

// says reports whether one of some words is the option or text that was taken.
func (c closed) says(words []string) bool {
	given := []gate.Option{{ID: c.receipt.Response}}
	return slices.ContainsFunc(words, func(word string) bool { _, same := gate.Match(given, word); return same })
}

// saysAll reports whether a reply is what was taken: the option alone, or, where it
// names more, in any order, the option and what was selected.
func (c closed) saysAll(r reply) bool {
	words := slices.Concat(r.more, r.selected)
	if len(words) == 0 {
		return c.says([]string{r.option})
	}
	if r.option != "" {
		words = append(words, r.option)
	}
	var taken []gate.Option
	for _, id := range append([]string{c.receipt.Response}, c.receipt.Selected...) {
		if _, there := gate.Match(taken, id); !there {
			taken = append(taken, gate.Option{ID: id})
		}
	}
	given := map[string]bool{}
	for _, word := range words {
		id, ok := gate.Match(taken, word)
		if !ok {
			return false
		}
		given[id] = true
	}
	return len(given) == len(taken)
}

// closedIn returns the closed requests that a word names in the runs that fit: the
// first with that id, else all whose id the word shortens, unless it names a run.
func (b *bench) closedIn(found []reconcile.Found, run, word string) []closed {
	var short []closed
	namesRun := run == "" && len(b.fits(found, word)) > 0
	for _, f := range found {
		if run != "" && len(b.fits([]reconcile.Found{f}, run)) == 0 {
			continue
		}
		if c, ok := b.closed(f, word); ok {
			return []closed{c}
		}
		for _, id := range b.requestFolders(f) {
			if namesRun || !shortens(word, id) {
				continue
			}
			if c, ok := b.closed(f, id); ok {
				short = append(short, c)
			}
		}
	}
	return short
}

// closed reads the receipt of a request, if there is one.
func (b *bench) closed(f reconcile.Found, request string) (closed, bool) {
	if !b.has(f, request) {
		return closed{}, false
	}
	d := b.settled(layout.RequestPath(f.Run.Dir, request, "receipt.json"), layout.File{
		Kind: layout.KindReceipt, Limit: layout.LimitJSON, Request: request,
	})
	if !d.Present() {
		return closed{}, false
	}
	r, err := gate.ReadReceipt(d.Path, d.Body)
	c := closed{run: f.Key(), receipt: r}
	if seen, lookErr := b.loop.Look(f); lookErr == nil && err == nil {
		c.doubt = unverified(seen.Snap, seen.Snap.Doc(d.Path), r)
	}
	return c, err == nil
}
