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

// Claim is an answer that something claims was given, before it is verified.
type Claim struct {
	Source Source
	// RequestID is the id of the request that the claim answers.
	RequestID string
	// Answer is the claimed answer. Its Digest is the digest of what the reviewer was shown.
	Answer
	// Place is the place of the claim in notes; "" means Path.
	Place string
	// Saved is when the file with the claim was last written, the zero time if that says
	// nothing.
	Saved time.Time
	// At is when the claim says that it was decided, for a deadline and a receipt.
	At time.Time
	// Receipt is the receipt with the claim, nil for other sources.
	Receipt *Receipt
	// Seen are the files that a response names as seen by its author, nil if it names none.
	Seen []engine.SeenArtifact
	// Issued says that this machine wrote the document with the claim.
	Issued bool
	// file is the file that answers, for a response and a form.
	file engine.Document
}

// verified is an [Answer] under an unexported name, so that other packages cannot make a
// [Decision] from one.
type verified = Answer

// Decision is an answer that counts. Only [Verify] makes one.
type Decision struct {
	verified
	lang    string
	source  Source
	expired bool
	// unproven says that the source is a receipt that this machine did not write.
	unproven bool
	// reason is the reason in the receipt that is the source.
	reason string
}

// Counts reports whether Verify made the decision. The zero Decision decides
// nothing.
func (d Decision) Counts() bool { return d.source != 0 }

// Lang returns the language of the decision's reasons.
func (d Decision) Lang() string { return d.lang }

// Given returns the answer that counts.
func (d Decision) Given() Answer { return d.verified }

// Expired reports whether nobody answered and the deadline applied its default.
func (d Decision) Expired() bool { return d.expired }

// Ahead reports whether the decision comes from a receipt whose transition the state has not
// made.
func (d Decision) Ahead() bool { return d.source == FromReceipt }

// unissued returns the reason in a receipt that repeats another one which this machine did
// not write.
func unissued(lang string) string { return templates.Text(lang, "gate.unissued") }

// isUnissued reports whether a receipt's reason ends with that text, in any language.
func isUnissued(r Receipt) bool {
	return slices.ContainsFunc(append(templates.Languages(), templates.Pseudo), func(lang string) bool { return strings.HasSuffix(r.Reason, unissued(lang)) })
}

// Unproven reports whether the decision rests on a receipt that this machine did not
// write.
func (d Decision) Unproven() bool { return d.unproven }

// Reason returns the reason for the receipt of the decision, "" for none: that the decision
// rests on a receipt that this machine did not write, that a response names a source that is
// not recorded, or from which places outside the comment section the comment took text.
func (d Decision) Reason() string {
	if d.unproven {
		return unissued(d.lang)
	}
	var reasons []string
	switch {
	case len(d.Outside) > shownList:
		reasons = append(reasons, templates.Phrase(d.lang, "gate.outside.many", "places", places(d.Outside[:shownList]), "n", len(d.Outside)-shownList))
	case len(d.Outside) > 0:
		reasons = append(reasons, templates.Phrase(d.lang, "gate.outside", "places", places(d.Outside)))
	}
	if d.Named != "" {
		reasons = append(reasons, templates.Phrase(d.lang, "gate.named", "source", d.Named))
	}
	return cmp.Or(strings.Join(reasons, "; "), d.reason)
}

// places joins a list of places.
func places(all []templates.Message) templates.Message {
	list := all[0]
	for _, p := range all[1:] {
		list = templates.NewMessage("gate.outside.and", "all", list, "last", p)
	}
	return list
}

// Why adds to the reason of a transition or a receipt that the decision rests on a receipt
// which this machine did not write, if it does.
func (d Decision) Why(reason string) string {
	if d.unproven {
		return templates.Phrase(d.lang, "gate.reason.unissued", "reason", reason, "unissued", unissued(d.lang))
	}
	return reason
}

// Demands reports whether a gate demands more than a well-formed answer.
func Demands(g engine.Gate) bool {
	return g.Level != "" && g.Level != levelFile || len(g.Approvers) > 0
}

// Verify turns a claim into a decision, or says why the claim does not count. Every answer
// must pass through it to count, wherever it was found.
//
// A claim must name the request, an answer that the request offers, and the digest of what is
// or was shown. Verify checks what people write into the request's folder against the gate,
// by what is known of its author. A receipt that this machine wrote for this request is a
// fact: the answer was verified before. Every other record (another receipt, one of an
// earlier request under the same id, an entry of upstream's, a stamp) proves nothing: it
// counts only at the level file and without approvers.
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

// verify checks a claim, and normalises the spelling of its answer to that of the request.
func (a Evaluation) verify(c *Claim) string {
	if c.RequestID != a.Request.RequestID {
		return a.say("claim.other", "file", code(c.Place), "other", quoted(c.RequestID), "request", code(a.Request.RequestID))
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

// IssuedAt returns when a request was issued: the time that it says, or when request.json was
// written, whichever is earlier. The clocks of a machine and of its files may differ, and git
// rewrites the file.
func IssuedAt(says time.Time, request engine.Document) time.Time {
	if request.Present() && request.Changed.Before(says) {
		return request.Changed
	}
	return says
}

// verifyAnswer checks what somebody wrote into the request's folder.
func (a Evaluation) verifyAnswer(c *Claim) string {
	shown := cmp.Or(c.Digest, a.Issued)
	switch {
	case c.Named == SourceDeadline:
		return a.say("claim.deadline", "file", code(c.Place), "source", code(SourceDeadline), "other", code(SourceFile))
	case c.Named == SourceForm:
		return a.say("claim.form", "file", code(c.Place), "source", code(SourceForm), "other", code(SourceFile))
	case slices.Contains(ofFamilies, c.Named):
		return a.say("claim.family", "file", code(c.Place), "source", code(c.Named), "other", code(SourceFile))
	case shown != a.View && c.Source == FromForm:
		return staleForm(a, c.Place)
	case shown != a.View:
		return staleResponse(a, c.Place, c.Digest)
	}
	if problem := a.checkAsked(c); problem != "" {
		return problem
	}
	c.Digest = shown
	if problem := a.checkWords(&c.Answer); problem != "" {
		return problem
	}
	if problem := a.checkCommandLine(c); problem != "" {
		return problem
	}
	if problem := a.checkLink(c); problem != "" {
		return problem
	}
	if problem := a.checkSaved(c); problem != "" {
		return problem
	}
	if problem := a.checkSeen(c); problem != "" {
		return problem
	}
	if !a.findCommitter(c) {
		return a.say("pending", "file", code(c.Place)) // git is asked before anything is decided
	}
	return a.checkAuthor(&c.Answer)
}

// commandLine is the surface of a person at a terminal of this machine; see
// [engine.Document.Source].
const commandLine = "cli"

// checkCommandLine refuses an option that lets a command run, unless a person chose it at the
// command line, where placet trust is guarded alike: a form and a response.json that placet did
// not write may be an agent's.
func (a Evaluation) checkCommandLine(c *Claim) string {
	switch {
	case !slices.Contains(a.AtCommandLine, c.Response):
		return ""
	case a.Foreign:
		return a.say("claim.foreign", "file", code(c.Place), "option", code(c.Response))
	case c.Source == FromResponse && c.file.Source == commandLine:
		return ""
	}
	return a.say("claim.commandline", "file", code(c.Place), "option", code(c.Response), "request", code(a.Request.RequestID))
}

// checkLink refuses a press of a button in a message where the gate takes none: whoever holds the
// phone, or reads the topic, can press. Without a word of the gate it counts, unless the request is
// about something that cannot be undone.
func (a Evaluation) checkLink(c *Claim) string {
	switch links := a.Gate.Links; {
	case c.Source != FromResponse || c.file.Source != SourceLink:
		return ""
	case links != nil && *links, links == nil && !a.Irreversible:
		return ""
	case links != nil:
		return a.say("claim.link", "file", code(c.Place))
	}
	return a.say("claim.link.irreversible", "file", code(c.Place))
}

// checkSaved refuses an answer from before somebody decided which gates apply: such a
// decision is about future answers, and never carries out an old one.
func (a Evaluation) checkSaved(c *Claim) string {
	if c.Saved.IsZero() || !c.Saved.Before(a.Gate.Since) {
		return ""
	}
	return a.say("claim.old", "file", code(c.Place), "at", a.Gate.Since.UTC().Format(time.RFC3339))
}

// checkAsked refuses a response that does not say what it answers and was written before the
// request was issued: it was given to an earlier request with the same id.
func (a Evaluation) checkAsked(c *Claim) string {
	if at := c.file.Modified; c.Digest != "" || at.IsZero() || !at.Before(a.Asked) {
		return ""
	}
	return a.say("claim.before", "file", code(c.Place), "at", a.Asked.UTC().Format(time.RFC3339))
}

// verifyReceipt checks a receipt of a transition that the state has not made.
func (a Evaluation) verifyReceipt(c *Claim) string {
	rc := c.Receipt
	if c.Issued && a.Altered == "" {
		return ""
	}
	if problem := a.unproven(c); problem != "" {
		return problem + " " + a.say("claim.remove", "file", code(c.Place))
	}
	if wrong := a.unfit(c); wrong != "" {
		return a.say("receipt.foreign", "file", code(c.Place), "why", wrong, "form", a.form())
	}
	if rc.Result == Expired {
		return a.verifyDeadline(c)
	}
	said := c.Answer
	said.Path = c.Place
	if problem := a.checkWords(&said); problem != "" {
		return problem + " " + a.say("claim.remove", "file", code(c.Place))
	}
	c.Response, c.Selected = said.Response, said.Selected
	return a.checkCommandLine(c)
}

// unfit returns why a receipt that this machine did not write cannot belong to the next
// transition, or "".
func (a Evaluation) unfit(c *Claim) string {
	rc := c.Receipt
	switch {
	case rc.Result != Accepted && rc.Result != Expired:
		return a.say("receipt.result", "result", quoted(rc.Result))
	case rc.Result == Accepted && rc.ProvidedBy.Source == SourceDeadline:
		return a.say("receipt.deadline")
	case rc.Revision != a.Revision+1:
		return a.say("receipt.revision", "revision", rc.Revision, "next", a.Revision+1)
	case !a.wasShown(c.Digest):
		return a.say("receipt.digest", "digest", quoted(string(c.Digest)))
	case a.Altered != "":
		return a.say("receipt.altered", "why", templates.Inline(a.Altered))
	case c.At.IsZero():
		return a.say("receipt.decided", "at", quoted(rc.DecidedAt))
	}
	return ""
}

// wasShown reports whether a digest is that of what is shown now, or was shown when the
// request was issued.
func (a Evaluation) wasShown(d engine.Digest) bool { return d != "" && (d == a.View || d == a.Issued) }

// verifyRecord checks what somebody wrote into upstream's own records. These have no digests,
// and no comments that an option may require.
func (a Evaluation) verifyRecord(c *Claim) string {
	if err := CheckLimits(c.Place, c.Answer); err != nil {
		return templates.In(a.Lang, err)
	}
	if a.Request.FreeText() {
		if c.Response = strings.TrimSpace(c.Response); c.Response == "" {
			return emptyText(a, c.Place)
		}
	} else {
		id, ok := Match(a.Request.Options, c.Response)
		if !ok {
			return a.say("record.option", "file", code(c.Place), "answer", quoted(c.Response), "options", strings.Join(optionIDs(a.Request.Options), ", "))
		}
		c.Response = id
	}
	c.Digest = a.Issued
	if problem := a.checkCommandLine(c); problem != "" {
		return problem
	}
	return a.unproven(c)
}

// verifyDeadline checks that the deadline of the request has the effect that the claim says.
// The settings and the state alone determine both.
func (a Evaluation) verifyDeadline(c *Claim) string {
	at, err := time.Parse(time.RFC3339, a.Request.Deadline)
	if err != nil || a.Request.Default == "" && !a.Lapses || c.Response != a.Request.Default || a.Now.Before(at) || c.At.Before(at) {
		return a.say("record.deadline", "file", code(c.Place), "answer", quoted(c.Response))
	}
	c.Known = nil
	return ""
}

// unproven refuses a claim without proof if the gate demands more, and otherwise keeps only
// the claimed name of its author.
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
	asks := a.say("unproven.only", "approvers", a.approvers())
	if len(a.Gate.Approvers) == 0 {
		asks = a.say("unproven.level", "level", quoted(a.Gate.Level))
	}
	problem := a.say("unproven", "file", code(c.Place), "asks", asks)
	if c.By.User != "" {
		problem += " " + a.say("unproven.names", "user", quoted(c.By.User))
	}
	return problem + " " + a.say("unproven.answer", "form", a.form()) + waitsForTrust(a)
}

// Unverified returns why a receipt is not to be believed, or nil. If the gate demands more
// than a claim, this machine must have written the receipt, from the file of an answer or for
// a passed deadline; otherwise the receipt must not replace one that this machine wrote.
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

// GateOf returns the gate of a past request: the gate for the type in request.json, if this
// machine wrote that, otherwise the family's gate that demands most.
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

// strictest returns the gate of a family that demands most.
func strictest(c engine.Config, family string) engine.Gate {
	for _, name := range slices.Sorted(maps.Keys(c.Gates)) {
		if (name == "*" || name == family || strings.HasPrefix(name, family+"/")) && Demands(c.Gates[name]) {
			return c.Gates[name]
		}
	}
	return engine.Gate{Level: levelFile}
}
