package gate

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// responseClaim returns the claim of a response.json, or of a copy of one.
func (a Evaluation) responseClaim(d engine.Document) (Claim, error) {
	r, err := a.parseResponse(d)
	return Claim{Source: FromResponse, RequestID: r.RequestID, Saved: d.Changed, Seen: r.Artifacts, file: d, Answer: Answer{
		Response: r.Response, Selected: r.Selected, Comment: r.Comment, Edits: r.Edits, Extra: r.Extra,
		By:    By{User: r.ProvidedBy.User, Source: cmp.Or(d.Source, SourceFile)},
		Named: unrecorded(d, r.ProvidedBy.Source),
		Known: claimed(d.Known, r.ProvidedBy.User),
		Path:  d.Path, Sum: d.Sum, Digest: r.Digest,
	}}, err
}

// unrecorded returns the source that a response names if no surface of this machine wrote
// the response. It returns "" if one did, or if the response names no source but a file.
func unrecorded(d engine.Document, named string) string {
	if d.Source != "" || named == SourceFile {
		return ""
	}
	return named
}

// parseResponse parses a response.json, which must name its response unless the request has
// a default.
func (a Evaluation) parseResponse(d engine.Document) (Response, error) {
	if a.Default != "" {
		return ReadOptional(d.Path, d.Body)
	}
	r, err := engine.Parse(d, ReadResponse)
	return *r, err
}

// formClaim returns the claim of a form.
func (a Evaluation) formClaim(d engine.Document, f filledForm) Claim {
	answer := Answer{
		Selected: f.Items, Comment: f.Comment, Edits: f.Edits, By: By{User: owner(d.Known), Source: SourceForm},
		Known: d.Known, Path: d.Path, Sum: d.Sum, Digest: f.Digest, Outside: f.outside,
	}
	if a.Request.FreeText() {
		answer.Response, answer.Comment = f.Comment, ""
	} else if len(f.Ticked) > 0 {
		answer.Response, answer.Selected = f.Ticked[0], slices.Concat(f.Ticked[1:], f.Items)
	}
	return Claim{Source: FromForm, RequestID: f.RequestID, Answer: answer, Saved: d.Changed, file: d}
}

// judgeResponse reads a response.json or a copy of one.
func (a Evaluation) judgeResponse(d engine.Document) reading {
	if d.Err != nil {
		return a.unusable(d, d.Err)
	}
	claim, err := a.responseClaim(d)
	if err != nil {
		return a.unusable(d, err)
	}
	if len(claim.Extra) > 0 {
		members, _ := schemas.Members(d.Body) // the members have been read before, so there is no error
		if strays := schemas.Strays("", members, &Response{}, a.Members...); len(strays) > 0 {
			return reading{problem: strayMembers(a, d.Path, strays)}
		}
	}
	return a.admit(claim)
}

// judgeForm reads a form. The content of a form of another view only produces a hint, once
// it is sent; a mistake in a form that cannot be the present one is ignored. A form that is
// unchanged since this machine wrote it is not sent.
func (a Evaluation) judgeForm(d engine.Document) reading {
	if d.IssuedHere() {
		return reading{}
	}
	present := d.Path == a.Present || a.Present == ""
	f, problem := filledForm{}, d.Err
	if problem == nil {
		f, problem = readForm(d.Body, a.Request)
	}
	switch {
	case problem != nil && (present || d.Err == nil && f.Digest == a.View):
		return a.unusable(d, problem)
	case problem != nil || !f.Submitted:
		return reading{}
	case f.Digest != a.View:
		return reading{problem: staleForm(a, d.Path)}
	}
	if why := a.void(d, &f); why != "" {
		return reading{problem: why}
	}
	if len(f.Ticked) > 1 && len(a.Request.Several) == 0 {
		return reading{problem: a.say("answer.ticks", "file", code(d.Path), "n", len(f.Ticked), "options", codes(f.Ticked))}
	}
	return a.admit(a.formClaim(d, f))
}

// admit verifies the claim of a file and returns the result as a reading.
func (a Evaluation) admit(c Claim) reading {
	d, problem := Verify(c, a)
	if problem != "" {
		return reading{problem: problem}
	}
	return reading{answer: &d}
}

// checkWords checks an answer's content against the request, and normalises its spelling to
// that of the request.
func (a Evaluation) checkWords(answer *Answer) string {
	if problem := a.checkResponse(answer); problem != "" {
		return problem
	}
	if err := CheckLimits(answer.Path, *answer); err != nil {
		return templates.In(a.Lang, err)
	}
	if problem := a.checkEdits(answer); problem != "" {
		return problem
	}
	return a.checkSelected(answer)
}

func (a Evaluation) checkResponse(answer *Answer) string {
	if a.Request.FreeText() {
		if strings.TrimSpace(answer.Response) == "" {
			return emptyText(a, answer.Path)
		}
		return ""
	}
	if strings.TrimSpace(answer.Response) == "" {
		answer.Response = a.standsFor(answer.Selected, answer.Comment)
		if answer.Response == "" {
			return noOption(a, answer.Path)
		}
		return ""
	}
	id, ok := Match(a.Request.Options, answer.Response)
	if !ok {
		return a.say("answer.option", "file", code(answer.Path), "answer", quoted(answer.Response))
	}
	answer.Response = id
	return ""
}

// standsFor returns the default option of an answer that names no option but picks or
// comments, "" if there is no default or the answer does neither.
func (a Evaluation) standsFor(selected []string, comment string) string {
	if len(selected) == 0 && strings.TrimSpace(comment) == "" {
		return ""
	}
	return a.Default
}

// checkSelected separates the options of a selection from its items, and puts both into the
// request's order, each once. Every chosen option may require a comment.
func (a Evaluation) checkSelected(answer *Answer) string {
	options, items := optionIDs(a.Request.Options), a.Request.itemNames()
	chosen, picked := map[string]bool{answer.Response: true}, map[string]bool{}
	for _, word := range answer.Selected {
		if id, ok := items.match(word); ok {
			picked[id] = true
		} else if id, ok := Match(a.Request.Options, word); ok && len(a.Request.Several) > 0 {
			chosen[id] = true
		} else {
			return a.say("answer.selected", "file", code(answer.Path), "word", quoted(word))
		}
	}
	several := among(a.Request.several(), chosen)
	all := among(options, chosen)
	if len(all) > 1 && len(several) < len(all) {
		return standsAlone(a, answer.Path, all, several)
	}
	if len(several) > 0 {
		answer.Response = several[0]
	}
	own := among(itemIDs(a.Request.Items), picked)
	if problem := a.checkItems(answer, all, own); problem != "" {
		return problem
	}
	answer.Selected = append(several, own...)
	return a.checkComment(answer, all)
}

// checkItems refuses more items than may be picked, and items that none of the chosen
// options accepts.
func (a Evaluation) checkItems(answer *Answer, chosen, items []string) string {
	with := newNames(a.Request.ItemsWith...)
	takes := len(with) == 0 || slices.ContainsFunc(chosen, func(id string) bool {
		_, ok := with.match(id)
		return ok
	})
	switch {
	case a.Request.ItemsMax > 0 && len(items) > a.Request.ItemsMax:
		return a.say("answer.most", "file", code(answer.Path), "items", codes(items), "most", a.Request.ItemsMax)
	case len(items) > 0 && !takes:
		return a.say("answer.with", "file", code(answer.Path), "items", codes(items), "options", codes(chosen), "with", codes(a.Request.ItemsWith))
	}
	return ""
}

// checkComment requires a comment if one of the chosen options needs it.
func (a Evaluation) checkComment(answer *Answer, chosen []string) string {
	for _, id := range chosen {
		if _, required := newNames(a.Request.CommentRequired...).match(id); required && strings.TrimSpace(answer.Comment) == "" {
			return a.say("answer.comment", "file", code(answer.Path), "option", code(id))
		}
	}
	return ""
}

// checkAuthor checks the author of an answer against the gate.
func (a Evaluation) checkAuthor(answer *Answer) string {
	if a.Gate.Level != "" && a.Gate.Level != levelFile {
		return a.say("author.level", "file", code(answer.Path), "level", quoted(a.Gate.Level), "taken", code(levelFile))
	}
	if !Knows(a.Gate.Approvers, answer.Known) {
		return notAllowed(a, answer.Path, answer.Known)
	}
	if len(a.Gate.Approvers) == 0 {
		return ""
	}
	fits := func(known string) bool { return approves(a.Gate.Approvers, known) }
	answer.Known = slices.DeleteFunc(slices.Clone(answer.Known), func(known string) bool {
		return !fits(known) && !strings.HasPrefix(known, committed) // the mail of a commit says how the author is known
	})
	return ""
}

// levelFile is the level at which any well-formed answer counts.
const levelFile = "file"

// Knows reports whether an author matches one of the approvers by what is known of the
// author. With no approvers, everybody matches.
func Knows(approvers, known []string) bool {
	return len(approvers) == 0 || slices.ContainsFunc(known, func(known string) bool { return approves(approvers, known) })
}

// approves reports whether one fact known of an answer's author matches one of the
// approvers. An approver without "how:" is a token's name, a file's owner or a claim; an
// approver with it must never match a claim with that text.
func approves(approvers []string, known string) bool {
	return slices.ContainsFunc(approvers, func(approver string) bool { return Admits(approver, known) })
}

// IsGroup reports whether a name is that of a group. Groups do not exist yet: nobody can
// answer as a group.
func IsGroup(name string) bool { return strings.HasPrefix(strings.TrimSpace(name), "@") }

// Admits reports whether one fact known of an author matches an approver.
func Admits(approver, known string) bool {
	if IsGroup(approver) || known == committed+unknownMail { // nobody is known by that value
		return false
	}
	how, who, _ := strings.Cut(known, ":")
	bare := how == "api" || how == "owner" || how == "claimed"
	return approver == known || bare && approver == who && !strings.Contains(approver, ":")
}

// Nobody is the approver of a gate that lets nobody answer: no fact known of an author is
// spelled like that.
const Nobody = "nobody: [gates] waits for trust"

// Narrow returns a list of approvers restricted to another list. An empty list means
// everybody; if the two lists share nobody, nobody may answer. If one list has a bare name
// and the other has the name with how it is known, the latter remains.
func Narrow(approvers, to []string) []string {
	if len(approvers) == 0 || len(to) == 0 {
		return append(slices.Clone(approvers), to...)
	}
	var both []string
	for _, one := range approvers {
		for _, other := range to {
			if who := narrower(one, other); who != "" && !slices.Contains(both, who) {
				both = append(both, who)
			}
		}
	}
	if len(both) == 0 {
		return []string{Nobody}
	}
	return both
}

// narrower returns the narrower of two approvers if one includes the other, "" otherwise. A
// bare name includes everybody who is known by it.
func narrower(a, b string) string {
	switch {
	case Admits(a, b):
		return b
	case Admits(b, a):
		return a
	}
	return ""
}

// claimed adds the name inside an answer to what is known of its author.
func claimed(known []string, user string) []string {
	claim := "claimed:" + user
	broughtIn := func(k string) bool {
		return strings.HasPrefix(k, "api:") || strings.HasPrefix(k, "slack:") || strings.HasPrefix(k, "link:") || strings.HasPrefix(k, "github:")
	}
	if user == "" || slices.Contains(known, claim) || slices.ContainsFunc(known, broughtIn) {
		return known
	}
	return append(slices.Clone(known), claim)
}

// Shown returns the name of an answer's author for people, in a language. It marks a name
// that only the answer gives as a claim, because everybody who can write the file can write
// that name, and likewise the author of a commit.
func (b By) Shown(lang string, known []string) string {
	vouched := func(k string) bool {
		how, who, _ := strings.Cut(k, ":")
		return how != "claimed" && who == b.User
	}
	if slices.Contains(known, committed+b.User) {
		return templates.Phrase(lang, "gate.committed", "user", b.User)
	}
	if slices.Contains(known, "claimed:"+b.User) && !slices.ContainsFunc(known, vouched) {
		return templates.Phrase(lang, "gate.claimed", "user", b.User)
	}
	return b.User
}

// owner returns the login of a file's owner, "" if it is not known.
func owner(known []string) string {
	for _, k := range known {
		if who, ok := strings.CutPrefix(k, "owner:"); ok {
			return who
		}
	}
	return ""
}

// plainText returns a text in the form that is used for comparing.
func plainText(s string) string {
	return strings.TrimSpace(normal([]byte(s)))
}

// After returns the text of problem.md for the other answers in a request folder once it
// has a receipt: "" if they repeat the answer or were not sent, otherwise what they say and
// why they have no effect. A file that cannot be read, or whose content could not have
// counted, is not an answer: its note disappears when the request closes.
func After(r Receipt, a Evaluation) string {
	var others []string
	for _, d := range a.answerFiles() {
		if !r.mayDiffer(d) {
			continue
		}
		if text := a.other(r, d); text != "" {
			others = append(others, text)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return strings.Join(others, "\n") + "\n\n" + r.closed(a.Lang)
}

// Others reports whether a folder holds anything that After has to read. Nearly all past
// requests have none.
func Others(r Receipt, docs []engine.Document) bool { return slices.ContainsFunc(docs, r.mayDiffer) }

// mayDiffer reports whether a document may differ from the receipt.
func (r Receipt) mayDiffer(d engine.Document) bool {
	if !d.Present() || r.decidedOver(d.Sum) {
		return false
	}
	return d.Kind == layout.KindResponse || d.Kind == layout.KindResponseCopy || d.Kind == layout.KindForm && filledIn(d)
}

// decidedOver reports whether the receipt was made from exactly these bytes.
func (r Receipt) decidedOver(sum engine.Digest) bool {
	return r.Answer != nil && sum != "" && strings.TrimPrefix(r.Answer.SHA256, "sha256:") == sum.Hex()
}

// sent is true if the last item of a form is ticked, whatever else the form says.
type sent bool

func readSent(_ string, body []byte) (sent, error) {
	_, ticked := lastItem(strings.Split(normal(body), "\n"))
	return sent(ticked), nil
}

// filledIn reports whether a form has been changed since placet wrote it, and was sent.
func filledIn(d engine.Document) bool {
	if d.IssuedHere() {
		return false
	}
	sent, _ := engine.Parse(d, readSent)
	return bool(*sent)
}

// other returns what a file says that differs from the receipt, "" if it could not have
// been an answer while the request was open.
func (a Evaluation) other(r Receipt, d engine.Document) string {
	claim, err := a.claim(d)
	if err != nil {
		return ""
	}
	if claim.RequestID != r.RequestID {
		return a.say("after.other", "file", code(d.Path), "other", quoted(claim.RequestID), "request", code(r.RequestID))
	}
	if a.checkWords(&claim.Answer) != "" || a.same(r, claim.Answer) {
		return ""
	}
	return a.say("after.says", "file", code(d.Path), "said", said(a.Lang, claim.Response, claim.Selected, claim.Edits))
}

// claim returns the claim of an answer file.
func (a Evaluation) claim(d engine.Document) (Claim, error) {
	if d.Kind != layout.KindForm {
		return a.responseClaim(d)
	}
	f, err := readForm(d.Body, a.Request)
	return a.formClaim(d, f), err
}

// same reports whether an answer is the one in the receipt. It does not matter which of
// several options is called the response.
func (a Evaluation) same(r Receipt, answer Answer) bool {
	if !slices.Equal(r.Edits, answer.Edits) {
		return false
	}
	if a.Request.FreeText() {
		return plainText(answer.Response) == plainText(r.Response) && sameSet(answer.Selected, r.Selected)
	}
	return sameSet(append(answer.Selected, answer.Response), append([]string{a.Request.spelled(r.Response)}, r.Selected...))
}

// sameSet reports whether two selections are equal, folding words as options and items do.
func sameSet(a, b []string) bool {
	folded := map[string]int{}
	for _, s := range a {
		folded[Fold(s)] |= 1
	}
	for _, s := range b {
		folded[Fold(s)] |= 2
	}
	for _, in := range folded {
		if in != 3 {
			return false
		}
	}
	return true
}

// closed returns the sentence that the request is closed, and how.
func (r Receipt) closed(lang string) string {
	how := templates.NewMessage("gate.closed.result", "result", templates.Inline(r.Result))
	switch {
	case r.Result == Accepted:
		how = templates.NewMessage("gate.closed.accepted", "said", said(lang, r.Response, r.Selected, r.Edits),
			"user", code(r.ProvidedBy.Shown(lang, r.KnownAs)), "source", code(r.ProvidedBy.Source))
	case r.Result == Expired:
		how = templates.NewMessage("gate.closed.expired", "answer", quoted(r.Response))
	case r.Result == Superseded && r.SupersededBy == "":
		how = templates.NewMessage("gate.closed.superseded")
	case r.Result == Superseded:
		how = templates.NewMessage("gate.closed.superseded.by", "request", code(r.SupersededBy))
	}
	if r.DecidedAt != "" {
		how = templates.NewMessage("gate.closed.at", "how", how, "at", templates.Inline(r.DecidedAt))
	}
	return templates.Phrase(lang, "gate.closed", "request", code(r.RequestID), "how", how)
}
