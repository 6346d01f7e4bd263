package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Request is an open request that an answer is for.
type Request struct {
	engine.OpenRequest
	Found loop.Found
	lang  string // in which it is spoken of
	// fact is [gate.Evaluation.Fact] for the answer that stands in place.
	fact func(need string) (engine.Document, bool)
}

// requestOf is an open request of a run.
func requestOf(b *Workspace, a engine.OpenRequest, f loop.Found) Request {
	return Request{a, f, b.Env.Lang, func(need string) (engine.Document, bool) { return b.Loop.Lookup(need), true }}
}

// Label is how the request is named on the command line: by its id, which the
// listing showed beside run and step.
func (t Request) Label() templates.Message {
	return templates.NewMessage("workspace.request", "request", console.OneLine(t.Request), "run", console.Brief(t.Run), "where", console.OneLine(t.Where))
}

// OneRequest resolves a request argument to an open request. "" is good where
// one request alone is open.
func OneRequest(b *Workspace, arg string) (Request, error) {
	found := b.Runs()
	open := OpenRequests(b, found, arg)
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return Request{}, nothingOpen(b, found, arg)
	}
	p := console.Usage("workspace.open.several", "n", len(open))
	if arg != "" {
		p = fits(arg, templates.NewMessage("count.requests.open", "n", len(open)))
	}
	p.Try("workspace.fits.request")
	for _, t := range open {
		p.Fits = append(p.Fits, fmt.Sprintf("%s:%s  %s  %s", t.Run, Reference(t.OpenRequest), t.Where, console.Cut(console.OneLine(t.Prompt), 60)))
	}
	return Request{}, p
}

// fits is the problem that an argument names several things.
func fits(arg string, things templates.Message) *console.Problem {
	return console.Usage("workspace.fits", "name", strconv.Quote(console.OneLine(arg)), "things", things)
}

// OpenRequests returns the open requests that an argument names, oldest first.
func OpenRequests(b *Workspace, found []loop.Found, arg string) []Request {
	run, request, both := strings.Cut(arg, ":")
	switch {
	case arg == "":
		live, _ := Live(b, found)
		return openIn(b, live, "")
	case both:
		return openIn(b, Fits(b, found, run), request)
	case !layout.IsRequestID(arg):
		return openIn(b, Fits(b, found, arg), "")
	}
	open := openIn(b, runsAsking(b, found, arg), arg)
	if len(open) > 0 && open[0].Request == arg {
		return open
	}
	for _, t := range openIn(b, Fits(b, found, arg), "") { // a run may begin like a request
		if !slices.ContainsFunc(open, func(o Request) bool { return o.Run == t.Run && o.Request == t.Request }) {
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

// runsAsking returns the runs that may ask a request: those with its folder, or,
// where placet has not opened it yet or its id is shortened, all that can still
// move.
func runsAsking(b *Workspace, found []loop.Found, request string) []loop.Found {
	var with []loop.Found
	for _, f := range found {
		if HasRequest(b, f, request) {
			with = append(with, f)
		}
	}
	if len(with) > 0 {
		return with
	}
	live, _ := Live(b, found)
	return live
}

// openIn returns the open requests of some runs: all of them where the word is "",
// else those with that id. Where no request of theirs, open or closed, has that id,
// it returns those whose id the word shortens.
func openIn(b *Workspace, found []loop.Found, word string) []Request {
	var open []Request
	whole := slices.ContainsFunc(found, func(f loop.Found) bool { return HasRequest(b, f, word) })
	for _, v := range Views(b, found) {
		for _, a := range v.Open {
			open = append(open, requestOf(b, a, v.Found))
			whole = whole || a.Request == word
		}
	}
	open = slices.DeleteFunc(open, func(t Request) bool {
		return word != "" && t.Request != word && (whole || !shortens(word, t.Request))
	})
	slices.SortFunc(open, func(x, y Request) int { return OldestFirst(x.OpenRequest, y.OpenRequest) })
	return open
}

// nothingOpen says why an argument names no open request.
func nothingOpen(b *Workspace, found []loop.Found, arg string) error {
	run, request, both := strings.Cut(arg, ":")
	switch {
	case arg == "":
		return console.Refused("workspace.open.none", "workspace", console.OneLine(b.Root)).Try("workspace.open.none.try")
	case !both:
		run, request = "", arg
	}
	fit := Fits(b, found, cmp.Or(run, arg))
	among := found
	if both {
		among = fit
	}
	if c := closedNamed(b, among, request, both || len(fit) == 0); len(c) == 1 {
		return c[0]
	} else if len(c) > 1 {
		p := fits(request, templates.NewMessage("workspace.closed.several", "n", len(c))).Try("workspace.fits.closed")
		for _, c := range c {
			p.Fits = append(p.Fits, c.In(b.Env.Lang))
		}
		return p
	}
	if len(fit) > 0 {
		why := templates.Key("workspace.unasked")
		if both {
			why = "workspace.unasked.request"
		}
		return console.Refused(why, "run", console.Brief(fit[0].Key()), "request", console.OneLine(request)).
			Try("workspace.unasked.try", "command", console.Typed("explain", console.Brief(fit[0].Key())))
	}
	return console.Usage("workspace.nothing", "name", strconv.Quote(console.OneLine(arg)), "workspace", console.OneLine(b.Root)).Try("workspace.inbox.try")
}

// Closed is a request that has its receipt: the answer that was taken.
type Closed struct {
	Run     engine.Key
	Receipt gate.Receipt
	// doubt says that the receipt is not to be believed.
	doubt string
}

// Error is what became of the request, in English.
func (c Closed) Error() string { return c.In(templates.English) }

// In is what became of the request, in a language.
func (c Closed) In(lang string) string {
	r := c.Receipt
	var answer, doubt any = "", ""
	if r.Response != "" {
		said := console.Cut(console.OneLine(r.Response), 60) + picked(lang, r.Selected)
		if slices.Contains(r.Selected, r.Response) { // several options, all of them named
			said = console.Cut(console.OneLine(strings.Join(r.Selected, ", ")), shownWith)
		}
		answer = templates.NewMessage("workspace.closed.answer", "answer", said, "who", console.OneLine(r.ProvidedBy.Shown(lang, r.KnownAs)), "source", console.OneLine(r.ProvidedBy.Source))
	}
	if c.doubt != "" {
		doubt = templates.NewMessage("workspace.closed.doubt", "doubt", c.doubt)
	}
	return templates.Phrase(lang, "workspace.closed", "request", console.OneLine(r.RequestID), "run", console.Brief(c.Run),
		"result", console.OneLine(r.Result), "answer", answer, "at", console.OneLine(r.DecidedAt), "doubt", doubt)
}

// Says reports whether one of some words is the option or text that was taken.
func Says(c Closed, words []string) bool {
	given := []gate.Option{{ID: c.Receipt.Response}}
	return slices.ContainsFunc(words, func(word string) bool { _, same := gate.Match(given, word); return same })
}

// saysWords reports whether a reply brings no words that were not taken, and changes files as
// the answer did.
func saysWords(c Closed, r Reply) bool {
	again := gate.Response{Comment: r.Comment, Extra: schemas.Object{{Name: run.KeysMember, Value: r.Keys}}}
	return slices.Equal(c.Receipt.Edits, r.Edits) && sameWords(false, gate.Response{Comment: c.Receipt.Comment, Extra: c.Receipt.Extra}, again)
}

// SaysAll reports whether a reply is what was taken: the option alone, or, where it
// names more, in any order, the option and what was selected. Its words must be those that
// were taken, too.
func SaysAll(c Closed, r Reply) bool {
	if !saysWords(c, r) {
		return false
	}
	words := slices.Concat(r.More, r.Selected)
	if len(words) == 0 {
		return Says(c, []string{r.Option})
	}
	if r.Option != "" {
		words = append(words, r.Option)
	}
	var taken []gate.Option
	for _, id := range append([]string{c.Receipt.Response}, c.Receipt.Selected...) {
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

// Took reports whether a reply is the answer that was accepted.
func Took(c Closed, r Reply) bool { return c.Receipt.Result == gate.Accepted && SaysAll(c, r) }

// IsDoubtful reports whether the receipt may be somebody else's than placet's.
func (c Closed) IsDoubtful() bool { return c.doubt != "" }

// closedNamed returns the closed requests that a word names in some runs: the first with
// that id, else all whose id the word shortens, unless it names a run.
func closedNamed(b *Workspace, found []loop.Found, word string, shortened bool) (all []Closed) {
	for _, at := range requestsNamed(b, found, word) {
		c, ok := ClosedRequest(b, at.Found, at.ID)
		switch {
		case ok && at.ID == word:
			return []Closed{c}
		case ok && shortened:
			all = append(all, c)
		}
	}
	return all
}

// readRequestFile reads a JSON document in the folder of a request, once it stands still.
func readRequestFile(b *Workspace, f loop.Found, request, name, kind string) engine.Document {
	return b.Settled(layout.RequestPath(f.Run.Dir, request, name), layout.File{Kind: kind, Limit: layout.LimitJSON, Request: request})
}

// ClosedRequest reads the receipt of a request, if there is one.
func ClosedRequest(b *Workspace, f loop.Found, request string) (Closed, bool) {
	if !HasRequest(b, f, request) {
		return Closed{}, false
	}
	d := readRequestFile(b, f, request, "receipt.json", layout.KindReceipt)
	if !d.Present() {
		return Closed{}, false
	}
	r, err := gate.ReadReceipt(d.Path, d.Body)
	c := Closed{Run: f.Key(), Receipt: r}
	if seen, lookErr := b.Loop.Look(f); lookErr == nil && err == nil {
		c.doubt = unverified(seen.Snap, seen.Snap.Doc(d.Path), r)
	}
	return c, err == nil
}

// effectMark begins the line below a command that says what it does. It is a line of its
// own: an effect may name what documents say, and a command is copied with its line.
const effectMark = "\n→ "

// HowToAnswer lists the commands that answer a request, each with what it does on a
// second line.
func HowToAnswer(lang string, a engine.OpenRequest, full bool) []string {
	name := Reference(a)
	if full {
		name = console.OneLine(a.Run.String()) + ":" + name
	}
	if a.FreeText {
		return []string{inWords(name)}
	}
	var how []string
	together := false
	for _, o := range a.Options {
		if len(a.Several) > 1 && slices.Contains(a.Several, o.ID) {
			together = true
			continue
		}
		how = append(how, optionCommand(a, o.ID, name)+console.Suffix(effectMark, console.Cut(console.OneLine(o.Says()), ShownAnswer)))
		if len(a.Editable) > 0 && o.ID == Approving.Words[0] {
			how = append(how, templates.CommandLine("placet approve", []string{name}, "--edit")+"  "+templates.Text(lang, "workspace.how.edit"))
		}
	}
	if together {
		how = append(how, severalCommand(lang, a, name))
	}
	if len(a.Items) > 0 {
		how = append(how, selectCommand(lang, a, name))
	}
	return how
}

// inWords is the command that answers a request in words.
func inWords(name string) string {
	return templates.CommandLine("placet respond", []string{name}, `"…"`)
}

// withComment is the flag that gives a comment.
const withComment = `-m "…"`

// selectCommand picks items, with an option where one must be named.
func selectCommand(lang string, a engine.OpenRequest, name string) string {
	ids := make([]string, len(a.Items))
	for i, it := range a.Items {
		ids[i] = console.OneLine(it.ID)
	}
	args, many := []string{name}, templates.Phrase(lang, "workspace.how.any")
	if a.ItemsMax > 0 {
		many = templates.Phrase(lang, "workspace.how.most", "n", a.ItemsMax)
	}
	switch {
	case len(a.ItemsWith) > 0:
		args = append(args, console.OneLine(a.ItemsWith[0]))
	case a.Default == "":
		args = append(args, "OPTION")
	}
	picks := "--select " + templates.ShellWord(strings.Join(ids[:min(len(ids), ShownItems)], ","))
	return templates.CommandLine("placet respond", args, picks) + "  " + many
}

// severalCommand chooses several options; one alone is chosen the same way.
func severalCommand(lang string, a engine.OpenRequest, name string) string {
	args, flags := []string{name}, []string{}
	for _, id := range a.Several {
		args = append(args, console.OneLine(id))
	}
	if slices.ContainsFunc(a.Several, func(id string) bool { return slices.Contains(a.CommentRequired, id) }) {
		flags = append(flags, withComment)
	}
	return templates.CommandLine("placet respond", args, flags...) + "  " + templates.Phrase(lang, "workspace.how.some")
}

// optSteer is the option that the verb of its name gives.
const optSteer = "steer"

// optionCommand is the shortest command that chooses an option.
func optionCommand(a engine.OpenRequest, option, name string) string {
	verb, args, flags := "placet respond", []string{name, console.OneLine(option)}, []string{}
	switch option {
	case Approving.option(a):
		verb, args = "placet approve", args[:1]
	case Rejecting.option(a):
		verb, args = "placet reject", args[:1]
	case optSteer:
		verb, args = "placet steer", args[:1]
	}
	switch {
	case option == retryMore && slices.Contains(a.Members, "attempts"):
		flags = append(flags, "--attempts 3", withComment)
	case slices.Contains(a.CommentRequired, option):
		flags = append(flags, withComment)
	}
	return templates.CommandLine(verb, args, flags...)
}
