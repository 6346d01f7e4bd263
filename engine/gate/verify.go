package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/templates"
)

// Source is the kind of place in which a claim was found.
type Source int

// The sources of claims.
const (
	FromResponse Source = iota + 1
	FromForm
	// FromReceipt is a receipt of a transition that the state has not made.
	FromReceipt
	// FromHistory is an entry that upstream wrote into the state itself.
	FromHistory
	FromEvent
	// FromStamp is an approval inside the document that it approves.
	FromStamp
	// FromDeadline is the source of a claim that the deadline passed without an answer.
	FromDeadline
)

// Claim is what something says to have been answered, before it is verified.
type Claim struct {
	Source Source
	// RequestID is that of the request that it answers.
	RequestID string
	// Answer is what it says. Digest is that of what the reviewer was shown.
	Answer
	// Place names the place of the claim in notes; "" stands for Path.
	Place string
	// Saved is when the file that makes the claim was written last, the zero time where
	// that says nothing.
	Saved time.Time
	// At is when the claim says that it was decided: of a deadline and a receipt.
	At time.Time
	// Receipt is the receipt that makes the claim, nil for other sources.
	Receipt *Receipt
	// Issued says that this machine wrote the document that makes the claim.
	Issued bool
}

// verified is an answer under a name that keeps other packages from making a
// [Decision] of one.
type verified = Answer

// Decision is an answer that counts. Only [Verify] makes one.
type Decision struct {
	verified
	lang    string
	source  Source
	expired bool
	// unproven says that a receipt is the source that this machine did not write.
	unproven bool
	// reason is that of the receipt that is the source.
	reason string
}

// Counts reports whether Verify made the decision. The zero Decision decides
// nothing.
func (d Decision) Counts() bool { return d.source != 0 }

// Lang is the language of the decision's reasons.
func (d Decision) Lang() string { return d.lang }

// Given is the answer that counts.
func (d Decision) Given() Answer { return d.verified }

// Expired reports whether nobody answered and the deadline took its default.
func (d Decision) Expired() bool { return d.expired }

// Ahead reports whether the decision is that of a receipt whose transition the state
// has not made.
func (d Decision) Ahead() bool { return d.source == FromReceipt }

// unissued is the reason in a receipt that repeats another, which this machine
// did not write.
func unissued(lang string) string { return templates.Text(lang, "gate.unissued") }

// isUnissued reports whether a receipt's reason ends with that one, in any language.
func isUnissued(r Receipt) bool {
	return slices.ContainsFunc(templates.Languages(), func(lang string) bool { return strings.HasSuffix(r.Reason, unissued(lang)) })
}

// Unproven reports whether the decision rests on a receipt that this machine did not
// write.
func (d Decision) Unproven() bool { return d.unproven }

// Reason is the reason that the receipt of the decision gives, "" for none: that it
// rests on a receipt that this machine did not write, or where words of the comment
// stood that were not written into the comment section.
func (d Decision) Reason() string {
	switch {
	case d.unproven:
		return unissued(d.lang)
	case len(d.Outside) > shownList:
		return fmt.Sprintf("the comment holds words from %s and %d other places", strings.Join(d.Outside[:shownList], ", from "), len(d.Outside)-shownList)
	case len(d.Outside) > 0:
		return "the comment holds words from " + strings.Join(d.Outside, ", from ")
	}
	return d.reason
}

// Why adds to the reason of a transition or a receipt that the decision rests on
// such a receipt, where it does.
func (d Decision) Why(reason string) string {
	if d.unproven {
		return templates.Phrase(d.lang, "gate.reason.unissued", "reason", reason, "unissued", unissued(d.lang))
	}
	return reason
}

// Demands reports whether a gate asks for more than any well-formed answer.
func Demands(g engine.Gate) bool {
	return g.Level != "" && g.Level != levelFile || len(g.Approvers) > 0
}

// Verify turns a claim into a decision, or says why the claim does not count. It is the
// only way by which an answer comes to count, wherever it was found.
//
// A claim names the request, an answer that the request offers, and the digest of
// what is or was shown. What people write into the request's folder is then held
// against the gate by what is known of its author. A receipt that this machine wrote
// is fact: the answer was verified before it. Every other record (another
// receipt, an entry of upstream's, a stamp) proves nothing: it is taken at the level
// file and without approvers alone.
func Verify(c Claim, a Evaluation) (Decision, string) {
	if c.Place == "" {
		c.Place = c.Path
	}
	d := Decision{lang: a.Lang, source: c.Source, unproven: c.Source == FromReceipt && !c.Issued}
	if c.Receipt != nil {
		d.expired = c.Receipt.Result == Expired
		d.unproven = d.unproven || isUnissued(*c.Receipt)
		d.reason = c.Receipt.Reason
	}
	problem := a.verify(&c)
	if problem != "" {
		return Decision{}, problem
	}
	d.expired = d.expired || c.Source == FromDeadline
	d.verified = c.Answer
	return d, ""
}

// verify checks a claim, and spells its answer as the request does.
func (a Evaluation) verify(c *Claim) string {
	if c.RequestID != a.Request.RequestID {
		return fmt.Sprintf("%s answers the request %s, this one is %s. An answer counts for its own request alone: write it into that one's folder, or correct \"request_id\".", code(c.Place), quoted(c.RequestID), code(a.Request.RequestID))
	}
	switch c.Source {
	case FromResponse, FromForm:
		return a.verifyAnswer(c)
	case FromReceipt:
		return a.verifyReceipt(c)
	case FromHistory, FromEvent:
		return a.verifyRecord(c)
	case FromStamp:
		return a.unproven(c)
	case FromDeadline:
		return a.verifyDeadline(c)
	}
	panic(fmt.Sprintf("gate: a claim from nowhere (%d)", c.Source))
}

// verifyAnswer checks what somebody wrote into the request's folder.
func (a Evaluation) verifyAnswer(c *Claim) string {
	shown := cmp.Or(c.Digest, a.Issued)
	switch {
	case c.By.Source == SourceDeadline:
		return fmt.Sprintf("%s says that its source is %s, which is placet's own word. Write where the answer comes from, such as %s.", code(c.Place), code(SourceDeadline), code(SourceFile))
	case c.By.Source == SourceForm && c.Source == FromResponse:
		return fmt.Sprintf("%s says that its source is %s, which only a form is. Tick the form, or write where the answer comes from, such as %s.", code(c.Place), code(SourceForm), code(SourceFile))
	case shown != a.View && c.Source == FromForm:
		return staleForm(a, c.Place)
	case shown != a.View:
		return staleResponse(a, c.Place, c.Digest)
	}
	c.Digest = shown
	if problem := a.checkWords(&c.Answer); problem != "" {
		return problem
	}
	if problem := a.checkSaved(c); problem != "" {
		return problem
	}
	return a.checkAuthor(&c.Answer)
}

// checkSaved refuses an answer from before somebody decided which gates hold: such a
// decision is about the answers to come, and never carries out an old one.
func (a Evaluation) checkSaved(c *Claim) string {
	if c.Saved.IsZero() || !c.Saved.Before(a.Gate.Since) {
		return ""
	}
	return fmt.Sprintf("%s does not count: it was saved before somebody decided which `[gates]` hold, at %s, and such a decision carries out no old answer. Save it again to confirm it, or answer with `placet`.", code(c.Place), a.Gate.Since.UTC().Format(time.RFC3339))
}

// verifyReceipt checks a receipt of a transition that the state has not made.
func (a Evaluation) verifyReceipt(c *Claim) string {
	rc := c.Receipt
	if c.Issued {
		return ""
	}
	if problem := a.unproven(c); problem != "" {
		return problem + fmt.Sprintf(" Remove %s.", code(c.Place))
	}
	if wrong := a.unfit(c); wrong != "" {
		return fmt.Sprintf("%s moves nothing: this machine did not write it, and %s. Remove it, and answer in %s.", code(c.Place), wrong, a.form())
	}
	if rc.Result == Expired {
		return a.verifyDeadline(c)
	}
	said := c.Answer
	said.Path = c.Place
	if problem := a.checkWords(&said); problem != "" {
		return problem + fmt.Sprintf(" Remove %s.", code(c.Place))
	}
	c.Response, c.Selected = said.Response, said.Selected
	return ""
}

// unfit says why a receipt that this machine did not write cannot be that of the
// next transition, "" where it can.
func (a Evaluation) unfit(c *Claim) string {
	rc := c.Receipt
	switch {
	case rc.Result != Accepted && rc.Result != Expired:
		return fmt.Sprintf("its result %s is none that moves a run", quoted(rc.Result))
	case rc.Result == Accepted && rc.ProvidedBy.Source == SourceDeadline:
		return "it says that the deadline gave an answer"
	case rc.Revision != a.Revision+1:
		return fmt.Sprintf("it is of revision %d, and the next is %d", rc.Revision, a.Revision+1)
	case !a.wasShown(c.Digest):
		return fmt.Sprintf("its digest %s is of nothing that was shown", quoted(string(c.Digest)))
	case a.Altered != "":
		return "request.json is not as it was issued (" + templates.Inline(a.Altered) + ")"
	case c.At.IsZero():
		return fmt.Sprintf("decided_at is %s", quoted(rc.DecidedAt))
	}
	return ""
}

// wasShown reports whether a digest is that of what is shown, or was shown when the
// request was issued.
func (a Evaluation) wasShown(d engine.Digest) bool { return d != "" && (d == a.View || d == a.Issued) }

// verifyRecord checks what somebody wrote into upstream's own records. They know
// no digests and no comments that an option asks for.
func (a Evaluation) verifyRecord(c *Claim) string {
	if err := CheckLimits(c.Place, c.Answer); err != nil {
		return templates.In(a.Lang, err)
	}
	if a.Request.FreeText() {
		if c.Response = strings.TrimSpace(c.Response); c.Response == "" {
			return emptyText(c.Place)
		}
	} else {
		id, ok := Match(a.Request.Options, c.Response)
		if !ok {
			return fmt.Sprintf("%s answers %s: that is none of %s. It is passed over.", code(c.Place), quoted(c.Response), strings.Join(optionIDs(a.Request.Options), ", "))
		}
		c.Response = id
	}
	c.Digest = a.Issued
	return a.unproven(c)
}

// verifyDeadline checks that the deadline of the request takes what the claim
// says. Both are the settings' and the state's to say.
func (a Evaluation) verifyDeadline(c *Claim) string {
	at, err := time.Parse(time.RFC3339, a.Request.Deadline)
	if err != nil || a.Request.Default == "" && !a.Lapses || c.Response != a.Request.Default || a.Now.Before(at) || c.At.Before(at) {
		return fmt.Sprintf("%s says that the deadline took %s, and neither settings nor state say so. It is passed over.", code(c.Place), quoted(c.Response))
	}
	c.Known = nil
	return ""
}

// unproven refuses a claim without proof where the gate asks for more, and else
// keeps of its author what is claimed.
func (a Evaluation) unproven(c *Claim) string {
	if Demands(a.Gate) {
		return notVerified(c, a)
	}
	if problem := a.checkSaved(c); problem != "" {
		return problem
	}
	c.Known = claimed(nil, c.By.User)
	return ""
}

func notVerified(c *Claim, a Evaluation) string {
	asks := "only " + codes(a.Gate.Approvers) + " may answer"
	if len(a.Gate.Approvers) == 0 {
		asks = "answers must be of the level " + quoted(a.Gate.Level)
	}
	by := ""
	if c.By.User != "" {
		by = " It names " + quoted(c.By.User) + ", which is no proof."
	}
	return fmt.Sprintf("%s is *not verified* and moves nothing: this machine did not write it, and the configuration says that %s.%s Answer in %s.%s",
		code(c.Place), asks, by, a.form(), waitsForTrust(a.Gate))
}

// Unverified says why a receipt is not to be believed, nil if it is. If the gate asks for
// more than a claim, this machine must have written the receipt over the file of an
// answer or a passed deadline; otherwise the receipt must not replace one that this
// machine wrote.
func Unverified(c engine.Config, family string, request, receipt engine.Document, r Receipt) error {
	decides := r.Result == Accepted || r.Result == Expired
	switch {
	case decides && Demands(GateOf(c, family, request)):
		if receipt.IssuedHere() && !isUnissued(r) && (r.Answer != nil || r.Result == Expired) {
			return nil
		}
		return templates.Errorf("gate.unverified")
	case decides && len(receipt.Issued) > 0 && !receipt.IssuedHere():
		return templates.Errorf("gate.unverified.changed")
	}
	return nil
}

// GateOf is the gate of a request of the past: of the type that request.json says,
// where this machine wrote it, else the one of the family that asks for most.
func GateOf(c engine.Config, family string, request engine.Document) engine.Gate {
	g := strictest(c, family)
	if !Demands(g) || !request.IssuedHere() {
		return g
	}
	q, err := ReadRequest(request.Path, request.Body)
	if err != nil {
		return g
	}
	return c.GateFor(family, q.Type)
}

// strictest is the gate of a family that asks for most.
func strictest(c engine.Config, family string) engine.Gate {
	for _, name := range slices.Sorted(maps.Keys(c.Gates)) {
		if (name == "*" || name == family || strings.HasPrefix(name, family+"/")) && Demands(c.Gates[name]) {
			return c.Gates[name]
		}
	}
	return engine.Gate{Level: levelFile}
}
