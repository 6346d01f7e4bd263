// Package answer gives answers for any surface: it finds the open request of a name, checks a
// reply against it as the daemon would, and writes response.json without losing an answer that
// is already there.
package answer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Reply is an answer from a surface, with the flags of the command line.
type Reply struct {
	Option   string      // option or text, "" if none was given
	More     []string    // further options, if several may be chosen together
	Attempts *int        // --attempts
	Selected []string    // --select
	Comment  string      // -m
	By       string      // --as
	Keys     []string    // idempotency keys
	Edits    []gate.Edit // changed texts
}

// NewResponse checks a reply against the request and returns it as an answer. It refuses,
// before anything is written, what the daemon would refuse.
func NewResponse(b *workspace.Workspace, t view.Request, r Reply) (gate.Response, error) {
	resp, err := newResponse(b, t, r)
	if err == nil {
		err = CheckCounts(b, t, resp)
	}
	return resp, err
}

// newResponse is NewResponse for an answer that the machine of the run judges later.
func newResponse(b *workspace.Workspace, t view.Request, r Reply) (gate.Response, error) {
	resp := gate.Response{
		RequestID: t.Request, Comment: strings.TrimSpace(r.Comment), Digest: t.Digest, Artifacts: t.Binding, Edits: changedTexts(t, r.Edits),
		ProvidedBy: gate.By{User: r.By, Source: b.Surface()},
	}
	if err := CheckName("answer", r.By); err != nil {
		return resp, err
	}
	if len(t.Changed) > 0 {
		return resp, changed(t)
	}
	if err := ChooseItems(t, r.Selected, &resp); err != nil {
		return resp, err
	}
	answer := chosenOption
	if t.FreeText {
		answer = freeText
	}
	if err := answer(t, r, &resp); err != nil {
		return resp, err
	}
	if err := giveAttempts(t, r, &resp); err != nil {
		return resp, err
	}
	if len(r.Keys) > 0 && slices.Contains(t.Members, run.KeysMember) {
		resp.Extra = append(resp.Extra, schemas.Member{Name: run.KeysMember, Value: r.Keys})
	}
	return resp, checkAnswer(b, t, resp)
}

// changed returns why no answer to a request counts whose files have changed: the words of its
// note, if it has one.
func changed(t view.Request) error {
	if t.Problem != "" {
		return console.Refused("workspace.answer.wrong", "request", t.Label(), "why", engine.NoteBody(t.Problem)).
			Try("workspace.answer.wrong.try", "command", console.Typed("show", t.Request)).Kinded(console.KindChanged)
	}
	f := t.Changed[0]
	return console.Refused("workspace.answer.changed", "request", t.Label(), "file", f.Path, "shown", shortSum(f.Shown), "now", shortSum(f.Now)).
		Try("workspace.answer.changed.try", "file", f.Path).Kinded(console.KindChanged)
}

// shortSum returns the beginning of a digest, "–" for that of no file.
func shortSum(hex string) string { return cmp.Or(hex[:min(len(hex), 12)], "–") }

// checkAnswer refuses what the daemon would refuse, by the same code.
func checkAnswer(b *workspace.Workspace, t view.Request, resp gate.Response) error {
	body, err := resp.Encode()
	if err != nil {
		return err
	}
	place := templates.Phrase(t.Spoken, "workspace.answer")
	check := func(g engine.Gate) string {
		_, wrong := gate.EvaluationOf(t.OpenRequest, g).Check(engine.Document{Path: place, Kind: layout.KindResponse, Body: body, Known: []string{b.Author()}, Source: b.Surface()})
		return wrong
	}
	wrong := check(view.GateOf(b, t.OpenRequest))
	if wrong == "" {
		return nil
	}
	p := console.Refused("workspace.answer.wrong", "request", t.Label(), "why", Unquoted(wrong, place)).Try("workspace.answer.wrong.try", "command", console.Typed("show", t.Request))
	if check(engine.Gate{}) == "" {
		p = p.Kinded(console.KindNotApprover)
	}
	return p
}

// These are the option that takes a number of attempts, and the bounds of that number: section
// 6 of AFL's format page.
const (
	retryMore    = "retry_more"
	mostAttempts = 20
)

// TakesAttempts returns the option of a request that takes a number of attempts, and the most that
// it takes; "" if none does.
func TakesAttempts(a engine.OpenRequest) (option string, most int) {
	offered := slices.ContainsFunc(a.Options, func(o engine.RequestOption) bool { return o.ID == retryMore })
	if !offered || !slices.Contains(a.Members, "attempts") {
		return "", 0
	}
	return retryMore, mostAttempts
}

// giveAttempts adds to an answer the number of attempts that it grants.
func giveAttempts(t view.Request, r Reply, resp *gate.Response) error {
	switch n := r.Attempts; {
	case n == nil:
		return nil
	case resp.Response != retryMore || !slices.Contains(t.Members, "attempts"):
		return console.Usage("workspace.attempts.option", "option", retryMore, "other", strconv.Quote(console.Cut(console.OneLine(resp.Response), 60)))
	case *n < 1 || *n > mostAttempts:
		return console.Usage("workspace.attempts.number", "most", mostAttempts, "given", *n)
	default:
		resp.Extra = schemas.Object{{Name: "attempts", Value: schemas.Raw(strconv.Itoa(*n))}}
		return nil
	}
}

// ChooseItems matches the selected items against those of the request.
func ChooseItems(t view.Request, selected []string, resp *gate.Response) error {
	if len(selected) > 0 && len(t.Items) == 0 {
		return console.Refused("workspace.select.nothing", "request", t.Label()).Try("workspace.select.nothing.try")
	}
	items := Items(t.OpenRequest)
	for _, word := range selected {
		id, ok := gate.Match(items, word)
		if !ok {
			return console.Refused("workspace.select.unknown", "request", t.Label(), "word", strconv.Quote(console.OneLine(word)), "items", List(items))
		}
		if !slices.Contains(resp.Selected, id) {
			resp.Selected = append(resp.Selected, id)
		}
	}
	return nil
}

// Items returns the things of which an answer may pick any number, as options that can be
// matched.
func Items(a engine.OpenRequest) []gate.Option {
	all := make([]gate.Option, len(a.Items))
	for i, it := range a.Items {
		all[i] = gate.Option{ID: it.ID, Description: it.Label, Words: it.Words}
	}
	return all
}

// List returns options as a list in words.
func List(options []gate.Option) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = console.OneLine(o.ID) + console.Suffix(" → ", console.Cut(console.OneLine(o.Effect), view.ShownAnswer))
	}
	return strings.Join(ids, ", ")
}

// freeText uses the text, or else the comment, as the answer.
func freeText(t view.Request, r Reply, resp *gate.Response) error {
	if len(r.More) > 0 {
		return console.Usage("workspace.words.single", "request", t.Label()).Try("workspace.words.single.try")
	}
	resp.Response = strings.TrimSpace(r.Option)
	if resp.Response == "" {
		resp.Response, resp.Comment = resp.Comment, ""
	}
	if resp.Response == "" {
		return console.Usage("workspace.words", "request", t.Label()).Try("say.text", "text", inWords(view.Reference(t.OpenRequest)))
	}
	return nil
}

// chosenOption matches the option, and insists on the comment that it requires. Only at the
// command line may a comment or items stand for the default: of another call nobody knows
// whether the option was forgotten.
func chosenOption(t view.Request, r Reply, resp *gate.Response) error {
	if strings.TrimSpace(r.Option) == "" {
		if resp.ProvidedBy.Source == workspace.CommandLine && IsGiven(t, r) {
			resp.Response = t.Default
			return nil
		}
		return console.Usage("workspace.option.needed", "request", t.Label(), "options", Offers(t)).Try("say.text", "text", "placet respond "+view.Reference(t.OpenRequest)+" OPTION")
	}
	var chosen []string
	for _, word := range append([]string{r.Option}, r.More...) {
		id, ok := gate.Match(Options(t.OpenRequest), word)
		if !ok {
			return console.Refused("workspace.option.unknown", "request", t.Label(), "word", strconv.Quote(console.OneLine(word)), "options", Offers(t)).
				Try("workspace.respond.option", "request", view.Reference(t.OpenRequest))
		}
		if resp.Comment == "" && slices.Contains(t.CommentRequired, id) {
			return console.Refused("workspace.comment.needed", "option", id, "request", t.Label()).Try("workspace.comment.needed.try")
		}
		if !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	if alone := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(t.Several, id) }); len(chosen) > 1 && len(alone) > 0 {
		return console.Refused("workspace.option.alone", "option", alone[0], "request", t.Label())
	}
	resp.Response, resp.Selected = chosen[0], append(chosen[1:], resp.Selected...)
	return nil
}

// IsGiven reports whether a reply without an option is an answer.
func IsGiven(t view.Request, r Reply) bool {
	comments := strings.TrimSpace(r.Comment) != ""
	return t.FreeText && comments || t.Default != "" && (len(r.Selected) > 0 || comments)
}

// CheckName refuses a name for the giver of a verb that is not a name by the rule for answers.
func CheckName(verb, by string) error {
	if console.OneLine(by) != by || gate.CheckName(by) != nil {
		return console.Usage("workspace.name", "verb", verb, "name", strconv.Quote(console.OneLine(by)))
	}
	return nil
}

// Unquoted returns a sentence of a note that names a place as code, with the place as plain
// words.
func Unquoted(text, place string) string {
	return strings.ReplaceAll(text, templates.Code(place), place)
}

// changedTexts returns edits with placet's line ends, without those that change nothing.
func changedTexts(t view.Request, edits []gate.Edit) (changed []gate.Edit) {
	for _, e := range edits {
		e.Text = strings.ReplaceAll(e.Text, "\r\n", "\n")
		if !slices.ContainsFunc(t.Editable, func(f engine.EditableFile) bool { return f.Path == e.Path && f.Text == e.Text }) {
			changed = append(changed, e)
		}
	}
	return changed
}
