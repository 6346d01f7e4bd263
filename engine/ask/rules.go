package ask

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// These are the statuses of an ask.
const (
	Open       engine.Status = "open"
	Answered   engine.Status = "answered"   // final: a person answered
	Expired    engine.Status = "expired"    // final: nobody answered in time
	Withdrawn  engine.Status = "withdrawn"  // final: taken back
	Superseded engine.Status = "superseded" // final: taken back for another ask
)

const ofAsk = "ask"

type (
	rule   = run.Rule[State, *view]
	move   = run.Move[State, *view]
	change = run.Change[State, *view]
	from   = []engine.Status
	to     = []engine.Status
)

// rules is the transition table, in the order of precedence: a withdrawal beats an answer that
// arrives in the same pass.
var rules = [][]rule{
	{{Of: ofAsk, From: from{""}, Event: "dropped", To: to{Withdrawn}, When: (*view).drops}},
	{{Of: ofAsk, From: from{""}, Event: "asked", To: to{Open}, When: (*view).asks, Awaits: (*view).awaitsAsk}},
	{
		{Of: ofAsk, From: from{Open}, Event: "withdrawn", To: to{Withdrawn}, When: takesBack(false)},
		{Of: ofAsk, From: from{Open}, Event: "superseded", To: to{Superseded}, When: takesBack(true)},
	},
	forEachType(func(typ string) rule {
		return rule{Of: ofAsk, From: from{Open}, Event: "answered", To: to{Answered}, Asked: typ, When: (*view).answers}
	}),
	forEachType(func(typ string) rule {
		return rule{Of: ofAsk, From: from{Open}, Event: "expired", To: to{Expired}, Expires: typ, When: (*view).expires}
	}),
}

func forEachType(make func(typ string) rule) (list []rule) {
	for _, typ := range types {
		list = append(list, make(typ))
	}
	return list
}

// asks opens the question once everything that it needs is there.
func (r *view) asks(run.On) *move {
	if !r.canBeAsked || !r.run.Snap.In("withdraw.json").Absent() || r.isBeingWritten() {
		return nil
	}
	return &move{Reason: "ask.json", Causes: []engine.Document{r.doc}, Then: func(c *change) {
		st := c.State
		r.register(c)
		st.AskedAt, st.Round = c.Now, r.round
		q := c.Ask(run.Request{ID: RequestID(st.AskID), Type: st.Ask.Type, Deadline: text(st.Ask.Deadline)})
		st.RequestID, st.RequestDigest, st.AskedAt, st.Ask.Deadline = text(q.ID), q.Digest, q.OpenedAt, string(q.Deadline)
	}}
}

// register records ask.json in the state.
func (r *view) register(c *change) {
	st := c.State
	st.SchemaVersion, st.AskID, st.Lang, st.AskDigest = 1, r.run.Snap.Key.ID, cmp.Or(r.run.Lang, templates.English), text(r.doc.Sum)
	st.Ask = r.ask
}

// drops ends an ask that was taken back before anybody was asked.
func (r *view) drops(run.On) *move {
	if r.withdrawal == nil || !r.isWellFormed || r.isBeingWritten() || !r.isAnswerFree() {
		return nil
	}
	m := r.takeBack(r.withdrawal.Reason)
	m.Causes = append(m.Causes, r.doc)
	then := m.Then
	m.Then = func(c *change) {
		r.register(c)
		then(c)
	}
	return m
}

// takesBack returns the rule that takes an open question back, for another ask or for good. The
// reason quotes an answer that came too late.
func takesBack(forAnother bool) func(*view, run.On) *move {
	return func(r *view, _ run.On) *move {
		if r.withdrawal == nil || (r.withdrawal.SupersededBy != "") != forAnother {
			return nil
		}
		late := r.run.Answer(r.run.Requests()[0])
		if r.isBeingWritten() || !r.isAnswerFree() {
			return nil
		}
		reason := r.withdrawal.Reason
		if late != nil {
			reason = r.run.Say("ask.reason.late", "reason", templates.Cut(reason, 200), "answer", templates.Cut(late.Why(), 200))
		}
		return r.takeBack(reason)
	}
}

func (r *view) takeBack(reason string) *move {
	w := r.withdrawal
	return run.Wished(r.run.Snap.In("withdraw.json"), w.By, reason, func(c *change) {
		c.State.SupersededBy = w.SupersededBy
		r.noteArtifacts(c)
	})
}

func (r *view) answers(on run.On) *move {
	a := on.Answer
	switch {
	case r.isBeingWritten():
		return &move{Blocks: true}
	case !a.HasReceipt() && !r.isAnswerFree():
		return nil
	}
	reason := templates.Cut(a.Words(), 200)
	switch outside := a.Reason(); {
	case a.HasReceipt() && !a.Unproven():
		reason = outside // the receipt's
	case outside != "" && !a.Unproven():
		reason += "; " + outside
	}
	reason = a.Decision.Why(reason)
	return &move{Reason: reason, Then: func(c *change) {
		q := c.Requests()[0]
		c.State.Answer = &Given{string(q.Response), q.Selected, string(q.Comment), *q.By, q.KnownAs, q.Late, q.Edits}
		r.noteArtifacts(c)
	}}
}

func (r *view) expires(on run.On) *move {
	if r.isBeingWritten() || !on.Answer.HasReceipt() && !r.isAnswerFree() {
		return nil
	}
	reason := r.run.Say("run.reason.expired")
	if !r.run.State.AskedAt.Time().Before(text(r.run.State.Ask.Deadline).Time()) {
		reason = r.run.Say("ask.reason.overdue")
	}
	return &move{Reason: on.Answer.Decision.Why(reason), Then: r.noteArtifacts}
}

// noteArtifacts records the digests of the files when the ask is closed.
func (r *view) noteArtifacts(c *change) {
	for i := range c.State.Ask.Artifacts {
		a := &c.State.Ask.Artifacts[i]
		if d := r.run.Snap.Doc(a.Path); !d.Matches(a.SHA256) {
			now := text(d.Sum.Hex())
			a.Now = &now
		}
	}
}

// isBeingWritten reports whether a file that could decide may still be half written.
func (r *view) isBeingWritten() bool {
	return slices.ContainsFunc(r.run.BeingWritten(), func(f engine.PendingFile) bool { return f.Path != r.run.Path(reuseFile) })
}

// isAnswerFree reports whether the answer can be written, that is, whether nobody else's file
// is in its place. A file that answers this ask is a leftover of a crash.
func (r *view) isAnswerFree() bool {
	free := true
	docs := []engine.Document{r.run.Snap.In("answer.json"), r.run.Snap.In("answer.md")}
	for i, f := range r.run.State.Ask.Artifacts {
		if f.Editable {
			docs = append(docs, r.run.Snap.In(layout.AskEdit(i+1, f.Path)))
		}
	}
	for _, d := range docs {
		if d.Absent() || d.Unsettled() || r.isLeftOver(d) {
			continue
		}
		free = false
		r.run.Notes.Beside(d.Path, r.run.Say("ask.output.foreign"))
	}
	return free
}

func (r *view) isLeftOver(d engine.Document) bool {
	var a struct {
		AskID     string `json:"ask_id"`
		RequestID text   `json:"request_id"`
		AskedAt   text   `json:"asked_at"`
	}
	if strings.HasPrefix(path.Base(d.Path), "answer-") {
		return d.IssuedHere()
	}
	if path.Ext(d.Path) == ".md" {
		return strings.HasPrefix(string(d.Body), heading(cmp.Or(r.run.State.Ask.Question, r.ask.Question)))
	}
	return d.Present() && schemas.Decode("ask/answer", "answer.json", d.Body, &a) == nil &&
		a.AskID == r.run.Snap.Key.ID && a.RequestID == r.run.State.RequestID && a.AskedAt == r.run.State.AskedAt
}

// readWithdrawal reads withdraw.json while it can still decide.
func (r *view) readWithdrawal() {
	if r.run.State.IsFinal() {
		return
	}
	r.withdrawal = run.ReadWish[Withdraw](&r.run.Input, r.run.Snap.In("withdraw.json"), "ask/withdraw")
	if r.withdrawal != nil && string(r.withdrawal.SupersededBy) == r.run.Snap.Key.ID {
		r.run.Bad(r.run.Snap.In("withdraw.json"), r.run.Say("ask.superseded"))
		r.withdrawal = nil
	}
}
