package view

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// RequestAt is a request of a run, open or closed.
type RequestAt struct {
	Found loop.Found
	ID    string
}

// Name returns the whole name of the request.
func (at RequestAt) Name() string { return at.Found.Key().String() + ":" + at.ID }

// NameOf returns the whole name of an open request.
func NameOf(a engine.OpenRequest) string { return a.Run.String() + ":" + a.Request }

// findRequest resolves an argument to one request, open or closed: by its id, or a unique short
// form of it, after "<run>:" if needed, with or without the part that a listing shows after
// "@".
func findRequest(b *workspace.Workspace, arg string) (RequestAt, error) {
	name, _, err := CutDigest(arg)
	if err != nil {
		return RequestAt{}, err
	}
	found := b.Runs()
	run, id, both := strings.Cut(name, ":")
	if !both {
		run, id = "", name
	} else if found = Fits(b, found, run); len(found) == 0 {
		return RequestAt{}, noRun(b, run)
	}
	fit := RequestsNamed(b, found, id)
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return RequestAt{}, console.Usage("workspace.nothing", "name", strconv.Quote(console.OneLine(arg)), "workspace", b.Root).Try("workspace.lists.try")
	}
	return RequestAt{}, FitsSeveral(arg, "count.requests", fit, RequestAt.Name).Try("workspace.fits.request")
}

// RequestsNamed returns the requests of some runs that have a word as their id, or else those
// whose id the word shortens, sorted by run. A request may be asked before its folder is
// written.
func RequestsNamed(b *workspace.Workspace, found []loop.Found, word string) []RequestAt {
	var all []RequestAt
	for _, f := range found {
		for _, id := range requestFolders(b, f) {
			all = append(all, RequestAt{f, id})
		}
	}
	live, _ := Live(b, found)
	for _, t := range openIn(b, live, "") {
		if !HasRequest(b, t.Found, t.Request) {
			all = append(all, RequestAt{t.Found, t.Request})
		}
	}
	exact := slices.DeleteFunc(slices.Clone(all), func(at RequestAt) bool { return at.ID != word })
	if len(exact) > 0 {
		return exact
	}
	return slices.DeleteFunc(all, func(at RequestAt) bool { return !shortens(word, at.ID) })
}

// requestFolders returns the ids of the requests that have a folder in a run.
func requestFolders(b *workspace.Workspace, f loop.Found) (ids []string) {
	entries, err := b.Store.List(f.Run.Dir + "/" + layout.RequestsDir)
	if err != nil {
		b.Env.Note("workspace.unlisted", "run", console.Brief(f.Key()), "error", err)
	}
	for _, e := range entries {
		if e.Dir && layout.IsRequestID(e.Name) {
			ids = append(ids, e.Name)
		}
	}
	return ids
}

// Closed is a closed request as JSON: its receipt, and what else is known. It is also the error
// that says why nobody can answer the request any more.
type Closed struct {
	gate.Receipt
	Run    engine.Key `json:"run"`
	Type   string     `json:"type"`
	Prompt string     `json:"prompt"`
	User   string     `json:"user"`
	Source string     `json:"source"`
	Answer string     `json:"answer"`
	File   string     `json:"receipt_path"`
	// Doubt says why the receipt cannot be trusted, "" if it can.
	Doubt string `json:"doubt"`
	// Options are those that were shown, none if request.json is not what the answer was given to.
	Options []engine.RequestOption `json:"-"`

	spoken string // the language of texts about it
}

// ClosedOf returns all that is known of a request that is not open. Members that nobody
// recorded, or that cannot be read, are empty.
func ClosedOf(b *workspace.Workspace, at RequestAt) Closed {
	c, ok := ClosedRequest(b, at)
	if !ok {
		c.Doubt = b.Env.Text("workspace.receipt.none")
		c.addQuestion(b, at)
	}
	return c
}

// ClosedRequest reads the receipt of a request; ok is false if there is none.
func ClosedRequest(b *workspace.Workspace, at RequestAt) (c Closed, ok bool) {
	if d := readRequestFile(b, at, "receipt.json", layout.KindReceipt); d.Present() && HasRequest(b, at.Found, at.ID) {
		c, ok = ClosedBy(b, at, d)
	}
	if !ok {
		return Closed{Receipt: gate.Receipt{RequestID: at.ID}, Run: at.Found.Key(), File: layout.RequestPath(at.Found.Run.Dir, at.ID, "receipt.json"), spoken: b.Env.Lang}, false
	}
	c.addQuestion(b, at)
	if seen, err := b.Loop.Look(at.Found); err == nil {
		c.Doubt = unverified(seen.Snap, seen.Snap.Doc(c.File), c.Receipt)
	}
	return c, true
}

// ClosedBy returns a request as its receipt closes it, without its question, and does not check the
// receipt: this process wrote it, or the caller checks it.
func ClosedBy(b *workspace.Workspace, at RequestAt, receipt engine.Document) (c Closed, ok bool) {
	r, err := gate.ReadReceipt(receipt.Path, receipt.Body)
	if err != nil {
		return c, false
	}
	c = Closed{Receipt: r, Run: at.Found.Key(), User: r.ProvidedBy.Shown(b.Env.Lang, r.KnownAs), Source: r.ProvidedBy.Source, File: receipt.Path, spoken: b.Env.Lang}
	if r.Answer != nil {
		c.Answer = r.Answer.Path
	}
	return c, true
}

// addQuestion adds the question of the request.
func (c *Closed) addQuestion(b *workspace.Workspace, at RequestAt) {
	d := readRequestFile(b, at, "request.json", layout.KindRequest)
	if q, err := gate.ReadRequest(d.Path, d.Body); d.Present() && err == nil {
		c.Type, c.Prompt = q.Type, q.Prompt
		if q.View(d.Body, nil) != c.Digest {
			return // whoever changed it could give the answer another meaning
		}
		for _, o := range q.Options {
			c.Options = append(c.Options, engine.RequestOption{ID: o.ID, Description: o.Description, Effect: o.Effect})
		}
	}
}

// readRequestFile reads a JSON document in the folder of a request, once it has settled.
func readRequestFile(b *workspace.Workspace, at RequestAt, name, kind string) engine.Document {
	return b.Settled(layout.RequestPath(at.Found.Run.Dir, at.ID, name), layout.File{Kind: kind, Limit: layout.LimitJSON, Request: at.ID})
}

// How says in one line how the request ended.
func (l Closed) How() string {
	if l.Result == "" {
		return templates.Phrase(l.spoken, "workspace.closed.unasked")
	}
	text := console.OneLine(l.Result)
	if l.Response != "" {
		text += ": " + console.Cut(console.OneLine(l.Response), ShownAnswer) + picked(l.spoken, l.Selected)
	}
	return text
}

// Why says why an answer to the request moves nothing.
func (l Closed) Why() []string {
	key := "workspace.closed.why"
	if l.User != "" {
		key = "workspace.closed.why.by"
	}
	return []string{
		templates.Phrase(l.spoken, key, "request", l.RequestID, "how", l.How(), "who", l.User, "source", l.Source, "at", l.DecidedAt),
		templates.Phrase(l.spoken, "workspace.receipt", "path", l.File+console.Suffix(": ", l.Doubt)),
	}
}

// Error returns the outcome of the request, in English.
func (c Closed) Error() string { return c.In(templates.English) }

// In returns the outcome of the request in a language.
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
	if c.Doubt != "" {
		doubt = templates.NewMessage("workspace.closed.doubt", "doubt", c.Doubt)
	}
	return templates.Phrase(lang, "workspace.closed", "request", console.OneLine(r.RequestID), "run", console.Brief(c.Run),
		"result", console.OneLine(r.Result), "answer", answer, "at", console.OneLine(r.DecidedAt), "doubt", doubt)
}

// IsDoubtful reports whether placet may not have written the receipt.
func (c Closed) IsDoubtful() bool { return c.Doubt != "" }

// ClosedRequests returns the requests of some runs that have their receipt, the newest first.
func ClosedRequests(b *workspace.Workspace, found []loop.Found) []Closed {
	list, _ := NewestClosed(b, found, math.MaxInt, nil)
	return list
}

// NewestClosed returns the newest requests of some runs that have their receipt and fit, at most so
// many, and how many more there are. A nil fits takes all. Only receipts that are returned are checked:
// that takes a look at the run.
func NewestClosed(b *workspace.Workspace, found []loop.Found, most int, fits func(Closed) bool) (list []Closed, more int) {
	type ended struct {
		RequestAt
		receipt engine.Document
		decided string
	}
	var all []ended
	for _, f := range found {
		for _, id := range requestFolders(b, f) {
			at := RequestAt{f, id}
			if d := readRequestFile(b, at, "receipt.json", layout.KindReceipt); d.Present() {
				r, _ := gate.ReadReceipt(d.Path, d.Body) // one that cannot be read is listed last
				all = append(all, ended{at, d, r.DecidedAt})
			}
		}
	}
	slices.SortFunc(all, func(x, y ended) int {
		return cmp.Or(cmp.Compare(y.decided, x.decided), cmp.Compare(x.Found.Key().String(), y.Found.Key().String()), cmp.Compare(x.ID, y.ID))
	})
	list = []Closed{}
	for _, e := range all {
		if fits != nil {
			c, _ := ClosedBy(b, e.RequestAt, e.receipt)
			if !fits(c) {
				continue
			}
		}
		if len(list) == most {
			more++
			continue
		}
		list = append(list, ClosedOf(b, e.RequestAt))
	}
	return list, more
}
