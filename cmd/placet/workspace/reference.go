package workspace

import (
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reconcile"
)

// Reference names a request and what it shows: what approve, reject and respond
// take. It is the id alone while nobody can tell what is shown.
func Reference(a engine.OpenRequest) string {
	name := console.OneLine(a.Request)
	if hex := a.Digest.Hex(); len(hex) >= LeastDigest {
		name += "@" + hex[:LeastDigest]
	}
	return name
}

// CutDigest takes a reference apart: what names the request, and the digits of what
// was shown, "" where none are named.
func CutDigest(arg string) (name, digest string, err error) {
	name, digest, named := console.CutLast(arg, "@")
	if digest = strings.ToLower(digest); !named {
		return arg, "", nil
	}
	if len(digest) < LeastDigest || strings.Trim(digest, "0123456789abcdef") != "" {
		return name, "", console.Usage("workspace.reference", "name", strconv.Quote(console.OneLine(arg)), "least", LeastDigest).
			Try("workspace.inbox.try")
	}
	return name, digest, nil
}

// Effects are what the options of an answer do, in words.
func (t Request) Effects(resp gate.Response) string {
	var all []string
	for _, id := range t.chosen(resp) {
		for _, o := range t.Options {
			if o.ID == id && o.Effect != "" {
				all = append(all, console.Cut(console.OneLine(o.Effect), ShownAnswer))
			}
		}
	}
	return console.Cut(strings.Join(all, "; "), shownWith)
}

// alias is the name that a run's family has for it besides, "" for none.
func alias(f reconcile.Found) string {
	if of, ok := family.Named(f.Run.Family); ok && of.Alias != nil {
		return of.Alias(f.Run.ID)
	}
	return ""
}
