package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/statedir"
	"placet/layout"
)

// Reference returns the name of a request together with what it shows, as approve, reject and
// respond take it. It is the id alone if what is shown is not known.
func Reference(a engine.OpenRequest) string {
	return cmp.Or(a.Reference, console.OneLine(a.Request)+console.Suffix("@", a.Digest.Hex()))
}

// RunName returns the run of a request as lists name it, with its work item and its branch.
func RunName(a engine.OpenRequest) string {
	name := console.Brief(a.Run)
	if a.WorkID != "" {
		name += " #" + console.OneLine(a.WorkID)
	}
	if a.Branch != "" {
		name += " (" + console.OneLine(a.Branch) + ")"
	}
	return name
}

// refer sets the reference of an open request.
func refer(b *workspace.Workspace, a *engine.OpenRequest) {
	a.Reference = console.OneLine(a.Request) + console.Suffix("@", b.References.Of(a.Digest, requestUse(*a)...))
}

// requestUse returns the purpose of a reference to a request.
func requestUse(a engine.OpenRequest) []string {
	return []string{"request", a.Run.String(), a.Request}
}

// IsShown reports whether a word names what a request shows now: it is its reference, with or
// without the request's id, or the whole digest.
func IsShown(b *workspace.Workspace, a engine.OpenRequest, word string) bool {
	return b.References.IsOf(strings.TrimPrefix(word, a.Request+"@"), a.Digest, requestUse(a)...)
}

// IDSaysShown reports whether the id of an open request alone says what was shown under it:
// this machine has asked nothing else under that id, and still shows what it asked first. An id
// alone is weak, because it is short, and derived from texts that others write.
func IDSaysShown(b *workspace.Workspace, t Request) bool {
	if b.StateDir == nil || t.Voids > 0 {
		return false
	}
	asked := b.StateDir.Issued(t.Found.Run.Dir)[layout.RequestPath(t.Found.Run.Dir, t.Request, "request.json")]
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(d engine.Digest) bool { return d != asked[0] })
}

// CutDigest splits a reference into the name of the request and the word for what was shown, ""
// if there is none.
func CutDigest(arg string) (name, shown string, err error) {
	name, shown, named := console.CutLast(arg, "@")
	if !named {
		return arg, "", nil
	}
	if !statedir.IsReference(shown) {
		return name, "", console.Usage("workspace.reference", "name", strconv.Quote(console.OneLine(arg))).Try("workspace.inbox.try")
	}
	return name, shown, nil
}
