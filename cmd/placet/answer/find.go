package answer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/templates"
)

// Find resolves a request argument to an open request. "" names the only open request, if there
// is just one.
func Find(b *workspace.Workspace, arg string) (view.Request, error) {
	found := b.Runs()
	open := view.OpenRequests(b, found, arg)
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return view.Request{}, nothingOpen(b, found, arg)
	}
	name := func(t view.Request) string {
		return fmt.Sprintf("%s:%s  %s  %s", t.Run, view.Reference(t.OpenRequest), t.Where, console.Cut(console.OneLine(t.Prompt), 60))
	}
	p := view.FitsSeveral(arg, "count.requests.open", open, name)
	if arg == "" {
		several := console.Usage("workspace.open.several", "n", len(open))
		several.Fits, p = p.Fits, several
	}
	p.Try("workspace.fits.request")
	return view.Request{}, p
}

// nothingOpen says why an argument names no open request.
func nothingOpen(b *workspace.Workspace, found []loop.Found, arg string) error {
	run, request, both := strings.Cut(arg, ":")
	switch {
	case arg == "":
		return console.Refused("workspace.open.none", "workspace", b.Root).Try("workspace.open.none.try")
	case !both:
		run, request = "", arg
	}
	fit := view.Fits(b, found, cmp.Or(run, arg))
	among := found
	if both {
		among = fit
	}
	if c := closedNamed(b, among, request, both || len(fit) == 0); len(c) == 1 {
		return c[0]
	} else if len(c) > 1 {
		return view.FitsSeveral(request, "workspace.closed.several", c, func(c view.Closed) string { return c.In(b.Env.Lang) }).Try("workspace.fits.closed")
	}
	if len(fit) > 0 {
		why := templates.Key("workspace.unasked")
		if both {
			why = "workspace.unasked.request"
		}
		return console.Refused(why, "run", console.Brief(fit[0].Key()), "request", request).
			Try("workspace.unasked.try", "command", console.Typed("show --why", console.Brief(fit[0].Key())))
	}
	return console.Usage("workspace.nothing", "name", strconv.Quote(console.OneLine(arg)), "workspace", b.Root).Try("workspace.inbox.try")
}

// closedNamed returns the closed requests that a word names in some runs: the first with that
// id, else, with shortened, all whose id the word shortens.
func closedNamed(b *workspace.Workspace, found []loop.Found, word string, shortened bool) (all []view.Closed) {
	for _, at := range view.RequestsNamed(b, found, word) {
		c, ok := view.ClosedRequest(b, at)
		switch {
		case ok && at.ID == word:
			return []view.Closed{c}
		case ok && shortened:
			all = append(all, c)
		}
	}
	return all
}
