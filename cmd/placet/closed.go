package main

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reconcile"
	"placet/layout"
)

// requestAt is a request of a run, open or closed.
type requestAt struct {
	found reconcile.Found
	id    string
}

// findRequest resolves an argument to one request, open or closed: by its id, or by what
// shortens it where that is unique, after "<run>:" where that is needed, with or
// without the digest that a listing shows.
func (b *bench) findRequest(arg string) (requestAt, error) {
	name, _, err := cutDigest(arg)
	if err != nil {
		return requestAt{}, err
	}
	found := b.runs()
	run, id, both := strings.Cut(name, ":")
	if !both {
		run, id = "", name
	} else if found = b.fits(found, run); len(found) == 0 {
		return requestAt{}, usage("cannot find a run %q in %s", line(run), line(b.root)).try("placet status --all lists the runs")
	}
	fit := b.requestsNamed(found, id)
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return requestAt{}, usage("cannot find a request or a run %q in %s", line(arg), line(b.root)).try("placet inbox lists what is asked, placet status --all the runs")
	}
	p := usage("%q fits %s", line(arg), many(len(fit), "request", "requests")).try("name one: <request id>, or <run>:<request id>")
	for _, at := range fit {
		p.fits = append(p.fits, at.found.Key().String()+":"+at.id)
	}
	return requestAt{}, p
}

// requestsNamed are the requests of some runs whose id a word is, or else shortens,
// sorted by run. A request may be asked before its folder is written.
func (b *bench) requestsNamed(found []reconcile.Found, word string) []requestAt {
	var all []requestAt
	for _, f := range found {
		for _, id := range b.requestFolders(f) {
			all = append(all, requestAt{f, id})
		}
	}
	live, _ := b.live(found)
	for _, t := range b.openIn(live, "") {
		if !b.has(t.found, t.Request) {
			all = append(all, requestAt{t.found, t.Request})
		}
	}
	exact := slices.DeleteFunc(slices.Clone(all), func(at requestAt) bool { return at.id != word })
	if len(exact) > 0 {
		return exact
	}
	return slices.DeleteFunc(all, func(at requestAt) bool { return !shortens(word, at.id) })
}

// requestFolders are the ids of the requests that have a folder in a run.
func (b *bench) requestFolders(f reconcile.Found) (ids []string) {
	entries, err := b.store.List(f.Run.Dir + "/" + layout.RequestsDir)
	if err != nil {
		b.w.note("cannot list the requests of %s: %v", brief(f.Key()), err)
	}
	for _, e := range entries {
		if e.Dir && layout.IsRequestID(e.Name) {
			ids = append(ids, e.Name)
		}
	}
	return ids
}

// closedLine is a request that is closed, as JSON.
type closedLine struct {
	Run          string   `json:"run"`
	RequestID    string   `json:"request_id"`
	Type         string   `json:"type"`
	Prompt       string   `json:"prompt"`
	Result       string   `json:"result"`
	Response     string   `json:"response"`
	Selected     []string `json:"selected"`
	Comment      string   `json:"comment"`
	User         string   `json:"user"`
	Source       string   `json:"source"`
	KnownAs      []string `json:"known_as"`
	ReceivedAt   string   `json:"received_at"`
	DecidedAt    string   `json:"decided_at"`
	Late         bool     `json:"late"`
	Reason       string   `json:"reason"`
	SupersededBy string   `json:"superseded_by"`
	Answer       string   `json:"answer"`
	Receipt      string   `json:"receipt"`
	Doubt        string   `json:"doubt"`
}

// closedData is all that is known of a request that is not open. What nobody wrote down,
// or nobody can read, is empty.
func (b *bench) closedData(at requestAt) closedLine {
	l := closedLine{
		Run: at.found.Key().String(), RequestID: at.id, Selected: []string{}, KnownAs: []string{},
		Receipt: layout.RequestPath(at.found.Run.Dir, at.id, "receipt.json"),
	}
	d := b.settled(layout.RequestPath(at.found.Run.Dir, at.id, "request.json"), layout.File{
		Kind: layout.KindRequest, Limit: layout.LimitJSON, Request: at.id,
	})
	if q, err := gate.ReadRequest(d.Path, d.Body); d.Present() && err == nil {
		l.Type, l.Prompt = q.Type, q.Prompt
	}
	c, ok := b.closed(at.found, at.id)
	if !ok {
		l.Doubt = "there is none that can be read"
		return l
	}
	r := c.receipt
	l.Result, l.Response, l.Comment, l.Reason, l.SupersededBy = r.Result, r.Response, r.Comment, r.Reason, r.SupersededBy
	l.User, l.Source, l.ReceivedAt, l.DecidedAt, l.Late = r.ProvidedBy.Shown(r.KnownAs), r.ProvidedBy.Source, r.ReceivedAt, r.DecidedAt, r.Late
	l.Selected, l.KnownAs, l.Doubt = append(l.Selected, r.Selected...), append(l.KnownAs, r.KnownAs...), c.doubt
	if r.Answer != nil {
		l.Answer = r.Answer.Path
	}
	return l
}

// how says in one line how the request ended.
func (l closedLine) how() string {
	if l.Result == "" {
		return "not asked any more"
	}
	text := line(l.Result)
	if l.Response != "" {
		text += ": " + cut(line(l.Response), shownAnswer) + picked(l.Selected)
	}
	return text
}

func (b *bench) printClosed(l closedLine) {
	w := b.w
	w.say("%s\n  %s  %s%s", w.paint(strong, line(l.Run)), w.paint(strong, line(l.RequestID)), l.how(), suffix("  ", line(l.Type)))
	if l.Prompt != "" {
		w.say("%s", indent(paragraph(l.Prompt), "  "))
	}
	by := line(l.User) + suffix(" (", line(l.Source))
	if l.Source != "" {
		by += ")"
	}
	late := map[bool]string{true: "the answer came after the deadline"}[l.Late]
	facts := []engine.Fact{
		{Label: "by", Value: by}, {Label: "known as", Value: strings.Join(l.KnownAs, ", ")}, {Label: "comment", Value: l.Comment},
		{Label: "received", Value: l.ReceivedAt}, {Label: "decided", Value: l.DecidedAt}, {Label: "late", Value: late},
		{Label: "because", Value: l.Reason}, {Label: "replaced by", Value: l.SupersededBy}, {Label: "answer", Value: l.Answer},
		{Label: "receipt", Value: l.Receipt + suffix(": ", l.Doubt)},
	}
	b.printFacts(slices.DeleteFunc(facts, func(f engine.Fact) bool { return f.Value == "" }))
}

// why says why an answer to the request moves nothing.
func (l closedLine) why() []string {
	text := fmt.Sprintf("%s is closed (%s", l.RequestID, l.how())
	if l.User != "" {
		text += fmt.Sprintf(", by %s (%s), at %s", l.User, l.Source, l.DecidedAt)
	}
	return []string{text + "): another answer to it moves nothing", "its receipt is " + l.Receipt + suffix(": ", l.Doubt)}
}
