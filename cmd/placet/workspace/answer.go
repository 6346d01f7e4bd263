package workspace

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Reply is an answer as a surface gives it, with the flags of the command line.
type Reply struct {
	Option   string      // option or text, "" where none was given
	More     []string    // further options, where several may be chosen together
	Attempts *int        // --attempts
	Selected []string    // --select
	Comment  string      // -m
	By       string      // --as
	Keys     []string    // idempotency keys
	Edits    []gate.Edit // texts that were changed
}

// Decision is a verb that stands for one option.
type Decision struct {
	Verb string
	// Words name its option, in the order in which they are tried.
	Words []string
	// Means reports whether a word stands for them in a request about a decision
	// that offers none of them.
	Means func(word string) bool
}

var (
	Approving = Decision{"approve", []string{"approve", "confirm", "accept", "appropriate"}, gate.Approves}
	Rejecting = Decision{"reject", []string{"reject", "cancel", "abort"}, gate.Refuses}
	Steering  = Decision{"steer", []string{"steer", "request_changes"}, func(string) bool { return false }}
)

// option is the option that the verb stands for, "" where there is none, or more
// than one may be.
func (d Decision) option(a engine.OpenRequest) string {
	all := Options(a)
	for _, word := range d.Words {
		if id, ok := gate.Match(all, word); ok {
			return id
		}
	}
	all = slices.DeleteFunc(all, func(o gate.Option) bool { return !d.Means(o.ID) })
	if len(all) == 1 && gate.Decides(a.Type) {
		return all[0].ID
	}
	if d.Verb == Approving.Verb {
		return a.Default
	}
	return ""
}

// Pick chooses the option that a verb stands for. A request without it is not
// answered by something near.
func (d Decision) Pick(t Request) (string, error) {
	if id := d.option(t.OpenRequest); id != "" {
		return id, nil
	}
	p := console.Refused("workspace.pick", "verb", d.Verb, "request", t.Label(), "options", Offers(t))
	if d.Verb == Rejecting.Verb && t.NoReject != "" {
		return "", p.Try("say.text", "text", console.OneLine(t.NoReject))
	}
	if t.FreeText {
		return "", console.Refused("workspace.pick.words", "verb", d.Verb, "request", t.Label()).Try("say.text", "text", inWords(Reference(t.OpenRequest)))
	}
	// Which option is meant is not for placet to say: the first may be the contrary.
	return "", p.Try("workspace.respond.option", "request", Reference(t.OpenRequest))
}

// Options are the options of an open request, as they are matched.
func Options(a engine.OpenRequest) []gate.Option {
	return gate.EvaluationOf(a, engine.Gate{}).Request.Options
}

// Offers lists a request's options in words.
func Offers(t Request) templates.Message {
	if t.FreeText || len(t.Options) == 0 {
		return templates.NewMessage("workspace.options.none")
	}
	return templates.Untranslated(List(Options(t.OpenRequest)))
}

// NewResponse checks a reply against the request and makes the answer of it. What
// the daemon would refuse is refused here, before anything is written.
func NewResponse(b *Workspace, t Request, r Reply) (gate.Response, error) {
	resp := gate.Response{
		RequestID: t.Request, Comment: strings.TrimSpace(r.Comment), Digest: t.Digest, Artifacts: t.Binding, Edits: changedTexts(t, r.Edits),
		ProvidedBy: gate.By{User: r.By, Source: b.surface()},
	}
	if err := CheckName("answer", r.By); err != nil {
		return resp, err
	}
	for _, f := range t.Changed {
		return resp, console.Refused("workspace.answer.changed", "request", t.Label(), "file", f.Path, "shown", shortSum(f.Shown), "now", shortSum(f.Now)).
			Try("workspace.answer.changed.try", "file", f.Path).Kinded(console.KindChanged)
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

// shortSum is the beginning of a digest, "–" for that of no file.
func shortSum(hex string) string { return cmp.Or(hex[:min(len(hex), 12)], "–") }

// checkAnswer refuses what the daemon would refuse, by the same code.
func checkAnswer(b *Workspace, t Request, resp gate.Response) error {
	body, err := resp.Encode()
	if err != nil {
		return err
	}
	place := templates.Phrase(t.lang, "workspace.answer")
	check := func(g engine.Gate) string {
		_, wrong := gate.EvaluationOf(t.OpenRequest, g).Check(engine.Document{Path: place, Kind: layout.KindResponse, Body: body, Known: []string{b.author()}, Source: b.surface()})
		return wrong
	}
	wrong := check(GateOf(b, t.OpenRequest))
	if wrong == "" {
		return nil
	}
	p := console.Refused("workspace.answer.wrong", "request", t.Label(), "why", Unquoted(wrong, place)).Try("workspace.answer.wrong.try", "command", console.Typed("show", t.Request))
	if check(engine.Gate{}) == "" {
		p = p.Kinded(console.KindNotApprover)
	}
	return p
}

// author is who answers, as a gate knows it.
func (b *Workspace) author() string { return cmp.Or(b.who, "owner:"+console.Login()) }

// commandLine is the surface that is not said to be another.
const commandLine = "cli"

// surface is the surface of placet that writes.
func (b *Workspace) surface() string { return cmp.Or(b.source, commandLine) }

// put writes a document of others, for whoever this workspace writes for. That is recorded
// first, together with the surface: without a state folder the owner of this process alone
// can write, and what is written is worth as much as any other file. The error is
// [store.ErrConflict] where something else stands there than the document replaces.
func (b *Workspace) put(doc engine.Document, request string) error {
	switch {
	case b.StateDir == nil && b.who == "":
		return b.Store.Write(doc)
	case b.StateDir == nil:
		return console.Refused("workspace.answer.stateless", "who", console.OneLine(b.who), "error", b.Stateless).Kinded(console.KindUnwritable)
	}
	defer b.StateDir.HoldPath(doc.Path)()
	// A line for what does not get there would take the place of the line of what is there.
	// What was written a moment ago stands there too, though its content does not count yet.
	if there := b.Store.Read(doc.Path, responseFile(request)); there.Sum != doc.Over || doc.Over == "" && !there.Absent() {
		return store.ErrConflict
	}
	err := b.StateDir.Attribute(statedir.Attribution{
		Path: doc.Path, Digest: engine.Sum(doc.Body), Request: request, Who: b.author(), Source: b.surface(), At: b.Env.Now().UTC(),
	})
	if err != nil {
		return err
	}
	return b.Store.Write(doc)
}

// The option that takes a number of attempts, and how many it may give: section
// 6 of AFL's format page.
const (
	retryMore    = "retry_more"
	mostAttempts = 20
)

// giveAttempts adds the number of attempts that an answer gives.
func giveAttempts(t Request, r Reply, resp *gate.Response) error {
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

// ChooseItems matches what is picked against the request's items.
func ChooseItems(t Request, selected []string, resp *gate.Response) error {
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

// Items are the things of which an answer may pick any number, as they are
// matched.
func Items(a engine.OpenRequest) []gate.Option {
	all := make([]gate.Option, len(a.Items))
	for i, it := range a.Items {
		all[i] = gate.Option{ID: it.ID, Description: it.Label, Words: it.Words}
	}
	return all
}

// List is options in words.
func List(options []gate.Option) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = console.OneLine(o.ID) + console.Suffix(" → ", console.Cut(console.OneLine(o.Effect), ShownAnswer))
	}
	return strings.Join(ids, ", ")
}

// freeText takes the text, or the comment in its place, as the answer.
func freeText(t Request, r Reply, resp *gate.Response) error {
	if len(r.More) > 0 {
		return console.Usage("workspace.words.single", "request", t.Label()).Try("workspace.words.single.try")
	}
	resp.Response = strings.TrimSpace(r.Option)
	if resp.Response == "" {
		resp.Response, resp.Comment = resp.Comment, ""
	}
	if resp.Response == "" {
		return console.Usage("workspace.words", "request", t.Label()).Try("say.text", "text", inWords(Reference(t.OpenRequest)))
	}
	return nil
}

// chosenOption matches the option and insists on the comment it asks for. At the command
// line alone a comment or items may stand for the default: of a call nobody knows whether
// the option was forgotten.
func chosenOption(t Request, r Reply, resp *gate.Response) error {
	if strings.TrimSpace(r.Option) == "" {
		if resp.ProvidedBy.Source == commandLine && IsGiven(t, r) {
			resp.Response = t.Default
			return nil
		}
		return console.Usage("workspace.option.needed", "request", t.Label(), "options", Offers(t)).Try("say.text", "text", "placet respond "+Reference(t.OpenRequest)+" OPTION")
	}
	var chosen []string
	for _, word := range append([]string{r.Option}, r.More...) {
		id, ok := gate.Match(Options(t.OpenRequest), word)
		if !ok {
			return console.Refused("workspace.option.unknown", "request", t.Label(), "word", strconv.Quote(console.OneLine(word)), "options", Offers(t)).
				Try("workspace.respond.option", "request", Reference(t.OpenRequest))
		}
		if resp.Comment == "" && slices.Contains(t.CommentRequired, id) {
			return console.Refused("workspace.comment.needed", "option", console.OneLine(id), "request", t.Label()).Try("workspace.comment.needed.try")
		}
		if !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	if alone := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(t.Several, id) }); len(chosen) > 1 && len(alone) > 0 {
		return console.Refused("workspace.option.alone", "option", console.OneLine(alone[0]), "request", t.Label())
	}
	resp.Response, resp.Selected = chosen[0], append(chosen[1:], resp.Selected...)
	return nil
}

// ShownAuthor is who answered, as people are shown it in a language: a name that is not the
// file's owner's is a claim.
func ShownAuthor(lang string, r gate.Response, known []string) string {
	return r.ProvidedBy.Shown(lang, append(slices.Clone(known), "claimed:"+r.ProvidedBy.User))
}

// tornFor is how long content that does not parse may still be in the writing.
const tornFor = 10 * time.Second

// WriteAnswer writes response.json. An answer that stands there already is never lost:
// the same one is fine, another that can be used is refused, and only one that
// cannot be used is replaced. One that may be half written is waited for until the context is
// done.
func WriteAnswer(ctx context.Context, b *Workspace, t Request, resp gate.Response) (string, error) {
	doc := engine.Document{Path: t.Response, Kind: layout.KindResponse}
	for range 3 {
		there, err := standingAnswer(ctx, b, t)
		if err != nil {
			return "", err
		}
		if !there.Absent() {
			if same, err := compare(t, there, &resp, GateOf(b, t.OpenRequest)); err != nil || same {
				return "same", err
			}
		}
		body, err := resp.Encode()
		if err != nil {
			return "", err
		}
		doc.Body = body
		doc.Over = there.Sum
		if err = b.put(doc, t.Request); err == nil {
			return "written", nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return "", console.Refused("workspace.write", "path", t.Response, "error", err).Kinded(console.KindUnwritable)
		}
	}
	return "", console.Refused("workspace.write.busy", "path", t.Response).Try("workspace.write.busy.try").Kinded(console.KindBusy)
}

// responseFile is how response.json is read.
func responseFile(request string) layout.File {
	return layout.File{Kind: layout.KindResponse, Writer: layout.Anyone, Limit: layout.LimitJSON, Request: request}
}

// standingAnswer reads the answer that stands in place. One that may be half written
// gets the time to become whole, until the context is done.
func standingAnswer(ctx context.Context, b *Workspace, t Request) (engine.Document, error) {
	said := false
	for {
		d := b.settledBy(ctx, t.Response, responseFile(t.Request))
		_, err := gate.ReadOptional(d.Path, d.Body)
		half := d.Present() && err != nil && b.Env.Now().Sub(d.Changed) < tornFor && t.Problem == ""
		if !half && !(d.Unsettled() && ctx.Err() != nil) {
			return d, nil
		}
		if !said {
			b.Env.Note("workspace.answer.waiting", "path", t.Response)
			said = true
		}
		if !pause(ctx, 200*time.Millisecond) {
			return d, console.Refused("workspace.answer.torn", "request", t.Label(), "path", t.Response).
				Try("workspace.answer.torn.try").Kinded(console.KindBusy)
		}
	}
}

// Settled reads one document and waits, for a while, until it stands still.
func (b *Workspace) Settled(path string, f layout.File) engine.Document {
	return b.settledBy(context.Background(), path, f)
}

// settledBy reads one document and waits, for a while or until the context is done, until
// it stands still.
func (b *Workspace) settledBy(ctx context.Context, path string, f layout.File) engine.Document {
	for end := time.Now().Add(patience); ; {
		d := b.Store.Read(path, f)
		if !d.Unsettled() || time.Now().After(end) || !pause(ctx, 130*time.Millisecond) {
			return d
		}
	}
}

// pause waits so long, and reports false where the context is done before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// compare weighs the answer in place against the new one: the same (true), one
// that must go first (an error), or one that cannot be used and is replaced. The same
// one from before since is confirmed: it is written again, with its words.
func compare(t Request, there engine.Document, resp *gate.Response, g engine.Gate) (same bool, err error) {
	if there.Err != nil {
		kind := console.KindInTheWay
		if there.Unsettled() {
			kind = console.KindBusy
		}
		return false, console.Refused("workspace.answer.blocked", "request", t.Label(), "path", t.Response, "error", there.Err).
			Try("workspace.answer.blocked.try").Kinded(kind)
	}
	old, known, ok := answerIn(t, there, engine.Gate{Level: g.Level, Approvers: g.Approvers})
	if !ok {
		return false, nil
	}
	if sameAnswer(t, old, *resp) {
		if resp.Comment == "" {
			resp.Comment = old.Comment
		}
		return !there.Changed.Before(g.Since), nil
	}
	if t.Problem != "" {
		return false, nil
	}
	said, with := Said(t, old)
	if with == "" && len(t.Items) > 0 {
		with = templates.Phrase(t.lang, "workspace.with.nothing")
	}
	if sameChoice(t, old, *resp) {
		with += templates.Phrase(t.lang, "workspace.with.comment", "comment", strconv.Quote(console.Cut(console.OneLine(old.Comment), ShownAnswer)))
	}
	return false, console.Refused("workspace.answer.inplace", "request", t.Label(), "answer", said+with,
		"who", console.OneLine(ShownAuthor(t.lang, old, known)), "source", console.OneLine(old.ProvidedBy.Source)).
		Try("workspace.answer.inplace.try", "path", t.Response).Kinded(console.KindInPlace)
}

// answerIn returns the answer in a document, spelled as the request spells it, and what is
// known of its author. ok is false where it does not fit the request as it is shown now, or
// the gate.
func answerIn(t Request, d engine.Document, g engine.Gate) (r gate.Response, known []string, ok bool) {
	asked := gate.EvaluationOf(t.OpenRequest, g)
	asked.Fact = t.fact
	decision, wrong := asked.Check(d)
	a := decision.Given()
	return gate.Response{Response: a.Response, Selected: a.Selected, Comment: a.Comment, Edits: a.Edits, ProvidedBy: a.By, Extra: a.Extra}, a.Known, wrong == ""
}

// chosenIn are the options that an answer chooses, each once, sorted.
func chosenIn(t Request, r gate.Response) []string {
	ids := []string{r.Response}
	if len(t.Several) > 0 {
		ids = append(ids, r.Selected...)
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool {
		return !slices.ContainsFunc(t.Options, func(o engine.RequestOption) bool { return o.ID == id })
	})
}

// sameAnswer reports whether an answer says again what a usable one says: the same choice,
// and no words or keys that would be lost if it passed for that.
func sameAnswer(t Request, given, again gate.Response) bool {
	return sameChoice(t, given, again) && sameWords(t.FreeText, given, again)
}

// sameChoice reports whether two usable answers choose alike, or give the same text, and change
// files alike.
func sameChoice(t Request, given, again gate.Response) bool {
	if !slices.Equal(given.Edits, again.Edits) {
		return false
	}
	if t.FreeText {
		return strings.TrimSpace(given.Response) == strings.TrimSpace(again.Response)
	}
	sorted := func(s []string) []string { return slices.Sorted(slices.Values(s)) }
	return slices.Equal(chosenIn(t, given), chosenIn(t, again)) && string(given.Extra.Raw("attempts")) == string(again.Extra.Raw("attempts")) &&
		(len(t.Several) > 0 || slices.Equal(sorted(given.Selected), sorted(again.Selected)))
}

// sameWords reports whether an answer says nothing in words that another does not say. Words
// that come under an idempotency key are those of that key alone.
func sameWords(freeText bool, given, again gate.Response) bool {
	comment := strings.TrimSpace(again.Comment)
	if comment != "" && comment != strings.TrimSpace(given.Comment) {
		return false
	}
	keys := run.KeysOf(again.Extra)
	return len(keys) == 0 || comment == "" && !freeText || slices.ContainsFunc(run.KeysOf(given.Extra), func(k string) bool { return slices.Contains(keys, k) })
}

// IsGiven reports whether a reply without an option is an answer.
func IsGiven(t Request, r Reply) bool {
	comments := strings.TrimSpace(r.Comment) != ""
	return t.FreeText && comments || t.Default != "" && (len(r.Selected) > 0 || comments)
}

// CheckName refuses the name of who gives a verb where it is none, by the rule for answers.
func CheckName(verb, by string) error {
	if console.OneLine(by) != by || gate.CheckName(by) != nil {
		return console.Usage("workspace.name", "verb", verb, "name", strconv.Quote(console.OneLine(by)))
	}
	return nil
}

// Unquoted is a sentence of a note that names a place as code, with the place as plain
// words.
func Unquoted(text, place string) string {
	return strings.ReplaceAll(text, templates.Code(place), place)
}
