package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// reply is an answer as the command line gives it.
type reply struct {
	option   string   // option or text, "" where none was given
	more     []string // further options, where several may be chosen together
	attempts *int     // --attempts
	selected []string // --select
	comment  string   // -m
	by       string   // --as
}

// decision is a verb that stands for one option.
type decision struct {
	verb string
	// words name its option, in the order in which they are tried.
	words []string
	// means reports whether a word stands for them in a request about a decision
	// that offers none of them.
	means func(word string) bool
}

var (
	approving = decision{"approve", []string{"approve", "confirm", "accept", "appropriate"}, gate.Approves}
	rejecting = decision{"reject", []string{"reject", "cancel", "abort"}, gate.Refuses}
)

// option is the option that the verb stands for, "" where there is none, or more
// than one may be.
func (d decision) option(a engine.Asked) string {
	all := options(a)
	for _, word := range d.words {
		if id, ok := gate.Match(all, word); ok {
			return id
		}
	}
	all = slices.DeleteFunc(all, func(o gate.Option) bool { return !d.means(o.ID) })
	if len(all) == 1 && gate.Decides(a.Type) {
		return all[0].ID
	}
	if d.verb == approving.verb {
		return a.Default
	}
	return ""
}

// pick chooses the option that a verb stands for. A request without it is not
// answered by something near.
func (d decision) pick(t target) (string, error) {
	if id := d.option(t.Asked); id != "" {
		return id, nil
	}
	p := refused("cannot %s %s: it offers %s", d.verb, t.label(), offers(t))
	if d.verb == rejecting.verb && t.NoReject != "" {
		return "", p.try("%s", line(t.NoReject))
	}
	if t.FreeText {
		p.text = fmt.Sprintf("cannot %s %s: it asks for an answer in words", d.verb, t.label())
		return "", p.try("%s", inWords(reference(t.Asked)))
	}
	// Which option is meant is not for placet to say: the first may be the contrary.
	return "", p.try("placet respond %s OPTION chooses one of them", reference(t.Asked))
}

func options(t engine.Asked) []gate.Option {
	all := make([]gate.Option, len(t.Options))
	for i, o := range t.Options {
		all[i] = gate.Option{ID: o.ID, Description: o.Description, Effect: o.Effect, Words: o.Words}
	}
	return all
}

// offers lists a request's options in words.
func offers(t target) string {
	if t.FreeText || len(t.Options) == 0 {
		return "no options"
	}
	return list(options(t.Asked))
}

// response checks a reply against the request and makes the answer of it. What
// the daemon would refuse is refused here, before anything is written.
func (b *bench) response(t target, r reply) (gate.Response, error) {
	resp := gate.Response{
		RequestID: t.Request, Comment: strings.TrimSpace(r.comment), Digest: t.Digest,
		ProvidedBy: gate.By{User: r.by, Source: "cli"},
	}
	if err := checkName("answer", r.by); err != nil {
		return resp, err
	}
	if err := chooseItems(t, r.selected, &resp); err != nil {
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
	return resp, b.checkAnswer(t, resp)
}

// checkAnswer refuses what the daemon would refuse, by the same code.
func (b *bench) checkAnswer(t target, resp gate.Response) error {
	body, err := resp.Encode()
	if err != nil {
		return err
	}
	const place = "the answer"
	asked := gate.Told(t.Asked, b.gateOf(t.Asked))
	_, wrong := asked.Check(engine.Document{Path: place, Kind: layout.KindResponse, Body: body, Known: []string{"owner:" + login()}})
	if wrong == "" {
		return nil
	}
	return refused("cannot answer %s: %s", t.label(), unquoted(wrong, place)).try("%s shows what is asked", typed("show", t.Request))
}

// The option that takes a number of attempts, and how many it may give: section
// 6 of AFL's format page.
const (
	retryMore    = "retry_more"
	mostAttempts = 20
)

// giveAttempts adds the number of attempts that an answer gives.
func giveAttempts(t target, r reply, resp *gate.Response) error {
	switch n := r.attempts; {
	case n == nil:
		return nil
	case resp.Response != retryMore || t.Run.Family != "afl":
		return usage("--attempts goes with the option %s of an AFL request, not with %q", retryMore, cut(line(resp.Response), 60))
	case *n < 1 || *n > mostAttempts:
		return usage("--attempts takes 1 to %d, not %d", mostAttempts, *n)
	default:
		resp.Extra = schemas.Object{{Name: "attempts", Value: schemas.Raw(strconv.Itoa(*n))}}
		return nil
	}
}

// chooseItems matches what is picked against the request's items.
func chooseItems(t target, selected []string, resp *gate.Response) error {
	if len(selected) > 0 && len(t.Items) == 0 {
		return refused("%s has nothing to select", t.label()).try("name the option without --select")
	}
	items := items(t.Asked)
	for _, word := range selected {
		id, ok := gate.Match(items, word)
		if !ok {
			return refused("%s has no item %q: it has %s", t.label(), line(word), list(items))
		}
		if !slices.Contains(resp.Selected, id) {
			resp.Selected = append(resp.Selected, id)
		}
	}
	return nil
}

// items are the things of which an answer may pick any number, as they are
// matched.
func items(a engine.Asked) []gate.Option {
	all := make([]gate.Option, len(a.Items))
	for i, it := range a.Items {
		all[i] = gate.Option{ID: it.ID, Description: it.Label}
	}
	return all
}

// list is options in words.
func list(options []gate.Option) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = line(o.ID) + suffix(" → ", cut(line(o.Effect), shownAnswer))
	}
	return strings.Join(ids, ", ")
}

// freeText takes the text, or the comment in its place, as the answer.
func freeText(t target, r reply, resp *gate.Response) error {
	if len(r.more) > 0 {
		return usage("%s asks for one answer in words", t.label()).try("put it between quotation marks")
	}
	resp.Response = strings.TrimSpace(r.option)
	if resp.Response == "" {
		resp.Response, resp.Comment = resp.Comment, ""
	}
	if resp.Response == "" {
		return usage("%s asks for an answer in words", t.label()).try("%s", inWords(reference(t.Asked)))
	}
	return nil
}

// chosenOption matches the option and insists on the comment it asks for.
func chosenOption(t target, r reply, resp *gate.Response) error {
	if strings.TrimSpace(r.option) == "" {
		if resp.Response = t.standsFor(*resp); resp.Response != "" {
			return nil
		}
		return usage("%s needs an option: %s", t.label(), offers(t)).try("placet respond %s OPTION", reference(t.Asked))
	}
	var chosen []string
	for _, word := range append([]string{r.option}, r.more...) {
		id, ok := gate.Match(options(t.Asked), word)
		if !ok {
			return refused("%s does not offer %q: it offers %s", t.label(), line(word), offers(t)).
				try("placet respond %s OPTION chooses one of them", reference(t.Asked))
		}
		if resp.Comment == "" && slices.Contains(t.CommentRequired, id) {
			return refused("%s of %s needs a comment", line(id), t.label()).try("add -m \"what is to change\"")
		}
		if !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	if alone := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(t.Several, id) }); len(chosen) > 1 && len(alone) > 0 {
		return refused("%s of %s stands alone: it cannot be chosen together with others", line(alone[0]), t.label())
	}
	resp.Response, resp.Selected = chosen[0], append(chosen[1:], resp.Selected...)
	return nil
}

// standsFor is the option that stands for none in an answer which picks or
// comments, "" where none does.
func (t target) standsFor(r gate.Response) string {
	if len(r.Selected) == 0 && strings.TrimSpace(r.Comment) == "" {
		return ""
	}
	return t.Default
}

// word is what an answer says, or the option that stands for saying nothing.
func (t target) word(r gate.Response) string {
	if strings.TrimSpace(r.Response) == "" {
		return t.standsFor(r)
	}
	return r.Response
}

// written is what became of an answer.
type written struct {
	RequestID  string        `json:"request_id"`
	Run        string        `json:"run"`
	Where      string        `json:"where"`
	Response   string        `json:"response"`
	Selected   []string      `json:"selected"`
	Comment    string        `json:"comment"`
	ProvidedBy gate.By       `json:"provided_by"`
	Path       string        `json:"path"`
	Digest     engine.Digest `json:"digest"`
	// Effect is what the answer does, in words.
	Effect string `json:"effect"`
	// Result is "written", or "same" where the same answer stood there.
	Result string `json:"result"`
	Daemon bool   `json:"daemon"`
}

// give makes an answer durable as response.json and says what happens next.
func (b *bench) give(t target, resp gate.Response) error {
	result, err := b.put(t, resp)
	if err != nil {
		return err
	}
	done := written{
		RequestID: t.Request, Run: t.Run.String(), Where: t.Where, Response: resp.Response,
		Selected: append([]string{}, resp.Selected...), Comment: resp.Comment, ProvidedBy: resp.ProvidedBy,
		Path: t.Response, Digest: resp.Digest, Effect: t.effects(resp), Result: result, Daemon: daemonRuns(b.root),
	}
	if !done.Daemon {
		defer b.w.note("no daemon runs here: run `placet once` or `placet watch` to carry the answer out")
	}
	if b.gateOf(t.Asked).Waits {
		defer b.w.note("%s", gatesWait)
	}
	return b.w.answer(done, func() {
		word := "answered"
		if result == "same" {
			word = "was answered already, and alike"
		}
		said, with := t.said(resp)
		b.w.say("%s %s", b.w.head(t.Asked, ""), question(t.Asked))
		b.w.say("%s %s: %s%s%s, by %s", t.label(), word, b.w.paint(strong, said), with, suffix(" → ", t.effects(resp)), line(shownAuthor(resp, []string{"owner:" + login()})))
	})
}

// shownAuthor is who answered, as people are shown it: a name that is not the
// file's owner's is a claim.
func shownAuthor(r gate.Response, known []string) string {
	return r.ProvidedBy.Shown(append(slices.Clone(known), "claimed:"+r.ProvidedBy.User))
}

// tornFor is how long content that does not parse may still be in the writing.
const tornFor = 10 * time.Second

// put writes response.json. An answer that stands there already is never lost:
// the same one is fine, another that can be used is refused, and only one that
// cannot be used is replaced.
func (b *bench) put(t target, resp gate.Response) (string, error) {
	doc := engine.Document{Path: t.Response, Kind: layout.KindResponse}
	for range 3 {
		there := b.standing(t)
		if !there.Absent() {
			if same, err := t.compare(there, &resp, b.gateOf(t.Asked).Since); err != nil || same {
				return "same", err
			}
		}
		body, err := resp.Encode()
		if err != nil {
			return "", err
		}
		doc.Body = body
		doc.Over = there.Sum
		if err = b.store.Write(doc); err == nil {
			return "written", nil
		}
		if !errors.Is(err, store.ErrMoved) {
			return "", refused("cannot write %s: %v", t.Response, err)
		}
	}
	return "", refused("cannot write %s: somebody else keeps writing it", t.Response).try("placet inbox, and try again")
}

// responseFile is how response.json is read.
func responseFile(request string) layout.File {
	return layout.File{Kind: layout.KindResponse, Writer: layout.Anyone, Limit: layout.LimitJSON, Request: request}
}

// standing reads the answer that stands in place. One that may be half written
// gets the time to become whole.
func (b *bench) standing(t target) engine.Document {
	said := false
	for {
		d := b.settled(t.Response, responseFile(t.Request))
		_, err := t.read(d)
		if !d.Present() || err == nil || b.w.now().Sub(d.Changed) >= tornFor || t.Problem != "" {
			return d
		}
		if !said {
			b.w.note("waiting: %s may still be being written by somebody else", t.Response)
			said = true
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// read reads an answer to the request.
func (t target) read(d engine.Document) (gate.Response, error) {
	if t.Default != "" {
		return gate.ReadOptional(d.Path, d.Body)
	}
	return gate.ReadResponse(d.Path, d.Body)
}

// settled reads one document and waits, for a while, until it stands still.
func (b *bench) settled(path string, f layout.File) engine.Document {
	for end := time.Now().Add(patience); ; time.Sleep(130 * time.Millisecond) {
		d := b.store.Read(path, f)
		if !d.Unsettled() || time.Now().After(end) {
			return d
		}
	}
}

// compare weighs the answer in place against the new one: the same (true), one
// that must go first (an error), or one that cannot be used and is replaced. The same
// one from before since is confirmed: it is written again, with its words.
func (t target) compare(there engine.Document, resp *gate.Response, since time.Time) (same bool, err error) {
	if there.Err != nil {
		return false, refused("cannot answer %s: %s stands in the way: %v", t.label(), t.Response, there.Err).
			try("remove it and try again")
	}
	old, err := t.read(there)
	if err != nil || !t.usable(there) {
		return false, nil
	}
	if sameAnswer(t, old, *resp) {
		if resp.Comment == "" {
			resp.Comment = old.Comment
		}
		return !there.Changed.Before(since), nil
	}
	if t.Problem != "" {
		return false, nil
	}
	said, with := t.said(old)
	if with == "" && len(t.Items) > 0 {
		with = " with nothing selected"
	}
	return false, refused("%s is answered already, otherwise: %s%s by %s (%s), not carried out yet",
		t.label(), said, with, line(shownAuthor(old, there.Known)), line(old.ProvidedBy.Source)).
		try("to answer anew, remove %s first", t.Response)
}

// usable reports whether the answer in a document fits the request as it is shown
// now.
func (t target) usable(d engine.Document) bool {
	_, wrong := gate.Told(t.Asked, engine.Gate{}).Check(d)
	return wrong == ""
}

// chosen are the options that an answer chooses, each once, sorted.
func (t target) chosen(r gate.Response) []string {
	words := []string{t.word(r)}
	if len(t.Several) > 0 {
		words = append(words, r.Selected...)
	}
	var ids []string
	for _, word := range words {
		if id, ok := gate.Match(options(t.Asked), word); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// sameAnswer reports whether two usable answers choose alike; comments do not
// make them different.
func sameAnswer(t target, a, b gate.Response) bool {
	if t.FreeText {
		return strings.TrimSpace(a.Response) == strings.TrimSpace(b.Response)
	}
	alike := slices.Equal(t.chosen(a), t.chosen(b)) && string(a.Extra.Raw("attempts")) == string(b.Extra.Raw("attempts"))
	if len(t.Several) > 0 {
		return alike
	}
	return alike && slices.Equal(sortedCopy(a.Selected), sortedCopy(b.Selected))
}

func sortedCopy(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
