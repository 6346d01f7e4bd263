package view

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Details returns the facts that a request shows besides its prompt, its summary, its options
// and its items.
func Details(a engine.OpenRequest) []engine.Fact {
	return slices.DeleteFunc(slices.Clone(a.Details), func(f engine.Fact) bool { return f.Value == a.Summary })
}

// These limit how much of a request a list shows, in characters, and how much of its prompt in
// lines.
const (
	ListedLines   = 4
	ListedPrompt  = 200
	ListedSummary = 160
	ListedItem    = 120
	// ShownItems limits the request's items that the inbox shows.
	ShownItems = 5
)

// IsListed reports whether a list shows all that an answer decides about. If it shows less, the
// list names the command that shows the request, and none that answers it.
func IsListed(a engine.OpenRequest) bool {
	fits := func(text string, most int) bool { return utf8.RuneCountInString(console.OneLine(text)) <= most }
	cut := func(it engine.RequestItem) bool { return !fits(it.Label, ListedItem) }
	unsaid := func(o engine.RequestOption) bool { return !fits(o.Says(), ShownAnswer) }
	return fits(a.Prompt, ListedPrompt) && strings.Count(strings.TrimSpace(a.Prompt), "\n") < ListedLines && fits(a.Summary, ListedSummary) && len(a.Items) <= ShownItems &&
		len(Details(a)) == 0 && len(a.Several) < 2 &&
		!slices.ContainsFunc(a.Items, cut) && !slices.ContainsFunc(a.Options, unsaid)
}

// These limit the characters of an answer that are shown: of its option or text, and of what
// goes with it.
const (
	ShownAnswer = 100
	shownWith   = 200
)

// picked returns the selection of an answer in words.
func picked(lang string, selected []string) string {
	if items := console.OneLine(strings.Join(selected, ", ")); items != "" {
		return console.Cut(templates.Phrase(lang, "workspace.with", "items", items), shownWith)
	}
	return ""
}

// FirstLine returns the first line of a request's question, with an ellipsis if more follow. A
// heading in brackets asks nothing, so the summary replaces it.
func FirstLine(a engine.OpenRequest) string {
	asked, more, _ := strings.Cut(console.Lines(a.Prompt), "\n")
	switch {
	case more == "":
		return console.OneLine(asked)
	case a.Summary != "" && strings.HasPrefix(asked, "[") && strings.HasSuffix(asked, "]"):
		return console.OneLine(a.Summary)
	}
	return console.OneLine(asked) + " …"
}

// askExtras are the members of a request that only asks have.
type askExtras struct {
	Tags        []string `json:"tags"`
	Sensitivity string   `json:"sensitivity"`
}

// ReadExtras reads a request, with its members for asks. If these do not say when it was asked,
// the time of the file does.
func ReadExtras(b *workspace.Workspace, f loop.Found, id string) (x askExtras, r gate.Request, at time.Time, ok bool) {
	d := readRequestFile(b, RequestAt{f, id}, "request.json", layout.KindRequest)
	if !d.Present() {
		return x, r, at, false
	}
	r, err := gate.ReadRequest(d.Path, d.Body)
	if err != nil {
		return x, r, at, false
	}
	if at, err = time.Parse(time.RFC3339, r.RequestedAt); err != nil {
		at = d.Changed
	}
	if raw := r.Extra.Raw("ask"); f.Run.Family == "ask" && len(raw) > 0 {
		_ = schemas.DecodeValue(raw, &x)
	}
	return x, r, at, true
}

// ShownDraft limits how much of a draft is shown, in characters.
const ShownDraft = 160
