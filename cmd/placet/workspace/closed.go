package workspace

import (
	"fmt"
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine/gate"
	"placet/engine/reconcile"
	"placet/layout"
)

// RequestAt is a request of a run, open or closed.
type RequestAt struct {
	Found reconcile.Found
	ID    string
}

// findRequest resolves an argument to one request, open or closed: by its id, or by what
// shortens it where that is unique, after "<run>:" where that is needed, with or
// without the digest that a listing shows.
func findRequest(b *Workspace, arg string) (RequestAt, error) {
	name, _, err := CutDigest(arg)
	if err != nil {
		return RequestAt{}, err
	}
	found := b.Runs()
	run, id, both := strings.Cut(name, ":")
	if !both {
		run, id = "", name
	} else if found = b.Fits(found, run); len(found) == 0 {
		return RequestAt{}, console.Usage("cannot find a run %q in %s", console.OneLine(run), console.OneLine(b.Root)).Try("placet status --all lists the runs")
	}
	fit := requestsNamed(b, found, id)
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return RequestAt{}, console.Usage("cannot find a request or a run %q in %s", console.OneLine(arg), console.OneLine(b.Root)).Try("placet inbox lists what is asked, placet status --all the runs")
	}
	p := console.Usage("%q fits %s", console.OneLine(arg), console.Plural(len(fit), "request", "requests")).Try("name one: <request id>, or <run>:<request id>")
	for _, at := range fit {
		p.Fits = append(p.Fits, at.Found.Key().String()+":"+at.ID)
	}
	return RequestAt{}, p
}

// requestsNamed are the requests of some runs whose id a word is, or else shortens,
// sorted by run. A request may be asked before its folder is written.
func requestsNamed(b *Workspace, found []reconcile.Found, word string) []RequestAt {
	var all []RequestAt
	for _, f := range found {
		for _, id := range requestFolders(b, f) {
			all = append(all, RequestAt{f, id})
		}
	}
	live, _ := b.Live(found)
	for _, t := range b.openIn(live, "") {
		if !b.Has(t.Found, t.Request) {
			all = append(all, RequestAt{t.Found, t.Request})
		}
	}
	exact := slices.DeleteFunc(slices.Clone(all), func(at RequestAt) bool { return at.ID != word })
	if len(exact) > 0 {
		return exact
	}
	return slices.DeleteFunc(all, func(at RequestAt) bool { return !shortens(word, at.ID) })
}

// requestFolders are the ids of the requests that have a folder in a run.
func requestFolders(b *Workspace, f reconcile.Found) (ids []string) {
	entries, err := b.Store.List(f.Run.Dir + "/" + layout.RequestsDir)
	if err != nil {
		b.Env.Note("cannot list the requests of %s: %v", console.Brief(f.Key()), err)
	}
	for _, e := range entries {
		if e.Dir && layout.IsRequestID(e.Name) {
			ids = append(ids, e.Name)
		}
	}
	return ids
}

// ClosedLine is a request that is closed, as JSON.
type ClosedLine struct {
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

// ClosedData is all that is known of a request that is not open. What nobody wrote down,
// or nobody can read, is empty.
func (b *Workspace) ClosedData(at RequestAt) ClosedLine {
	l := ClosedLine{
		Run: at.Found.Key().String(), RequestID: at.ID,
		Receipt: layout.RequestPath(at.Found.Run.Dir, at.ID, "receipt.json"),
	}
	d := b.Settled(layout.RequestPath(at.Found.Run.Dir, at.ID, "request.json"), layout.File{
		Kind: layout.KindRequest, Limit: layout.LimitJSON, Request: at.ID,
	})
	if q, err := gate.ReadRequest(d.Path, d.Body); d.Present() && err == nil {
		l.Type, l.Prompt = q.Type, q.Prompt
	}
	c, ok := b.ClosedRequest(at.Found, at.ID)
	if !ok {
		l.Doubt = "there is none that can be read"
		return l
	}
	r := c.Receipt
	l.Result, l.Response, l.Comment, l.Reason, l.SupersededBy = r.Result, r.Response, r.Comment, r.Reason, r.SupersededBy
	l.User, l.Source, l.ReceivedAt, l.DecidedAt, l.Late = r.ProvidedBy.Shown(r.KnownAs), r.ProvidedBy.Source, r.ReceivedAt, r.DecidedAt, r.Late
	l.Selected, l.KnownAs, l.Doubt = append(l.Selected, r.Selected...), append(l.KnownAs, r.KnownAs...), c.doubt
	if r.Answer != nil {
		l.Answer = r.Answer.Path
	}
	return l
}

// How says in one line how the request ended.
func (l ClosedLine) How() string {
	if l.Result == "" {
		return "not asked any more"
	}
	text := console.OneLine(l.Result)
	if l.Response != "" {
		text += ": " + console.Cut(console.OneLine(l.Response), ShownAnswer) + picked(l.Selected)
	}
	return text
}

// Why says why an answer to the request moves nothing.
func (l ClosedLine) Why() []string {
	text := fmt.Sprintf("%s is closed (%s", l.RequestID, l.How())
	if l.User != "" {
		text += fmt.Sprintf(", by %s (%s), at %s", l.User, l.Source, l.DecidedAt)
	}
	return []string{text + "): another answer to it moves nothing", "its receipt is " + l.Receipt + console.Suffix(": ", l.Doubt)}
}
