package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// Request is an open request that an answer is for.
type Request struct {
	engine.OpenRequest
	Found  loop.Found
	Spoken string // the language of texts about it
	// fact is [gate.Evaluation.Fact] for the answer in place.
	fact func(need string) (engine.Document, bool)
	// snap holds the documents that the request was read from; nil if nobody keeps them, or if
	// one of them had not settled.
	snap *engine.Snapshot
}

// Snapshot returns the run of the request as it was when the request was read: what was shown is
// then compared with the same documents by which its answer is judged. A request that does not keep
// them is read again, once the files that its answer is bound to have settled.
func (t Request) Snapshot(b *workspace.Workspace) (engine.Snapshot, error) {
	if t.snap != nil {
		return *t.snap, nil
	}
	for _, f := range t.Binding {
		b.Artifact(f.Path)
	}
	seen, err := b.Loop.Look(t.Found)
	return seen.Snap, err
}

// RequestOf returns an open request of a run.
func RequestOf(b *workspace.Workspace, a engine.OpenRequest, f loop.Found) Request {
	return Request{OpenRequest: a, Found: f, Spoken: b.Env.Lang, fact: func(need string) (engine.Document, bool) { return b.Loop.Lookup(need), true }}
}

// Anew returns the request without the documents that it was read from, so that they are read again.
func (t Request) Anew() Request {
	t.snap = nil
	return t
}

// Label returns the name of the request on the command line: its id, which the listing showed
// beside run and step.
func (t Request) Label() templates.Message {
	return templates.NewMessage("workspace.request", "request", console.OneLine(t.Request), "run", console.Brief(t.Run), "where", console.OneLine(t.Where))
}

// OpenRequests returns the open requests that an argument names, oldest first.
func OpenRequests(b *workspace.Workspace, found []loop.Found, arg string) []Request {
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
	for _, t := range openIn(b, Fits(b, found, arg), "") { // a run may have the same beginning as a request
		if !slices.ContainsFunc(open, func(o Request) bool { return o.Run == t.Run && o.Request == t.Request }) {
			open = append(open, t)
		}
	}
	return open
}

// leastID is the least number of characters that name a request by its id, or a part of a run.
const leastID = 4

// shortens reports whether a word is the beginning of a request's id, or of the part after its
// last hyphen.
func shortens(word, id string) bool {
	last := id[strings.LastIndex(id, "-")+1:]
	return len(word) >= leastID && (strings.HasPrefix(id, word) || strings.HasPrefix(last, word))
}

// FitsAsk returns the asks that a word names, by themselves or by their request, whose id is a
// function of theirs. Without request the word may be either.
func FitsAsk(b *workspace.Workspace, all []loop.Found, run, request string, requestID func(run string) string) []loop.Found {
	fit := Fits(b, all, run)
	if len(fit) == 0 {
		fit, request = slices.Clone(all), cmp.Or(request, run)
	}
	if request == "" {
		return fit
	}
	whole := slices.ContainsFunc(fit, func(f loop.Found) bool { return requestID(f.Run.ID) == request })
	return slices.DeleteFunc(fit, func(f loop.Found) bool {
		id := requestID(f.Run.ID)
		return id != request && (whole || !shortens(request, id))
	})
}

// runsAsking returns the runs that may ask a request: those with its folder, or else all that
// can still move, because placet may not have opened it yet, or its id may be shortened.
func runsAsking(b *workspace.Workspace, found []loop.Found, request string) []loop.Found {
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

// openIn returns the open requests of some runs: all of them if the word is "", else those with
// that id. If no request of theirs, open or closed, has that id, it returns those whose id the
// word shortens.
func openIn(b *workspace.Workspace, found []loop.Found, word string) []Request {
	var open []Request
	whole := slices.ContainsFunc(found, func(f loop.Found) bool { return HasRequest(b, f, word) })
	for _, v := range Runs(b, found) {
		for _, a := range v.Open {
			open = append(open, RequestOf(b, a, v.Found))
			whole = whole || a.Request == word
		}
	}
	open = slices.DeleteFunc(open, func(t Request) bool {
		return word != "" && t.Request != word && (whole || !shortens(word, t.Request))
	})
	slices.SortFunc(open, func(x, y Request) int { return OldestFirst(x.OpenRequest, y.OpenRequest) })
	return open
}

// ExactRequest returns the request of an id, open or closed; the id may come after "<run>:". An
// id that several runs use is ambiguous.
func ExactRequest(b *workspace.Workspace, name string) (RequestAt, error) {
	run, id, both := strings.Cut(name, ":")
	if !both {
		run, id = "", name
	}
	if both && layout.IsRequestID(id) {
		for _, f := range b.Loop.Asking(id) {
			if f.Key().String() == run && HasRequest(b, f, id) {
				return RequestAt{f, id}, nil
			}
		}
	}
	found := b.Runs()
	if both {
		found = slices.DeleteFunc(found, func(f loop.Found) bool { return f.Key().String() != run })
	}
	if !layout.IsRequestID(id) {
		found = nil
	}
	var fit []RequestAt
	for _, f := range found {
		if HasRequest(b, f, id) {
			fit = append(fit, RequestAt{f, id})
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return RequestAt{}, console.Usage("workspace.request.none", "name", strconv.Quote(console.OneLine(name)))
	}
	return RequestAt{}, FitsSeveral(name, "count.requests", fit, RequestAt.Name)
}

// OpenRequestAt returns a request as it is asked now; open is false if it is no longer asked.
func OpenRequestAt(b *workspace.Workspace, at RequestAt) (t Request, open bool) {
	v := Of(b, at.Found)
	for _, a := range v.Open {
		if a.Request == at.ID {
			t := RequestOf(b, Describe(b, a), at.Found)
			if !v.unsettled {
				t.snap = v.snap
			}
			return t, true
		}
	}
	return Request{}, false
}
