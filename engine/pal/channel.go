package pal

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// messageTypes are the types of messages in the order in which they are delivered.
var messageTypes = []string{"result", "feedback", "query", "ack"}

// Message is a message of a channel.
type Message struct {
	ID          string      `json:"id"`
	ChannelID   string      `json:"channel_id"`
	CreatedAt   text        `json:"created_at,omitzero"`
	FromSession string      `json:"from_session"`
	ToSession   string      `json:"to_session"`
	Type        string      `json:"type"`
	Payload     schemas.Raw `json:"payload"`
}

// message is a deliverable message.
type message struct {
	*Message
	name     string
	seq      int
	from, to string // roles
	digest   engine.Digest
	// own is true if placet writes the message, for the try with that number. isNew is true if the
	// current transition calls for it; a file in its place comes from a commit that was never
	// completed.
	own, isNew bool
	try        int
}

func otherRole(role string) string {
	if role == roleImpl {
		return roleTest
	}
	return roleImpl
}

// channelMessages returns the messages of a port's channel in the order of delivery. fresh is true
// for the transition that makes the state.
func channelMessages(p *port, fresh bool) []message {
	list := ownMessages(p, fresh)
	for _, d := range p.r.run.Snap.Under("channels/" + p.id + "/messages") {
		if d.Kind != layout.PalMessage {
			continue
		}
		name := strings.TrimSuffix(path.Base(d.Path), ".json")
		if slices.ContainsFunc(list, func(m message) bool { return m.name == name }) {
			continue
		}
		if m := readMessage(p, d, name); m != nil {
			list = append(list, *m)
		}
	}
	slices.SortFunc(list, func(a, b message) int {
		return cmp.Or(cmp.Compare(slices.Index(messageTypes, a.Type), slices.Index(messageTypes, b.Type)), cmp.Compare(a.seq, b.seq), strings.Compare(a.from, b.from))
	})
	return list
}

// ownMessages returns the messages that placet writes: one for each accepted result, and one for
// each feedback that reports a failure.
func ownMessages(p *port, fresh bool) (list []message) {
	for round := 1; round <= p.Round; round++ {
		l := p.r.run.State.Loops[loopID(p.id, round)]
		if l == nil {
			continue
		}
		for _, t := range l.History {
			if t.ResultDigest != "" && t.Cause != causeImpl {
				isNew := fresh && isLastEvent(p.r, "result_taken", loopID(p.id, round)) && t.Try == p.LastTry
				list = addOwn(p, list, t, isNew, "result", roleImpl, layout.PalResultFile(p.id, t.Try), t.ResultDigest, t.ResultAt)
			}
			if t.FeedbackDigest != "" && !t.Success {
				isNew := fresh && t.Try == l.last().Try && (isLastEvent(p.r, "tests_failed", loopID(p.id, round)) || isLastEvent(p.r, "retries_exhausted", p.id))
				list = addOwn(p, list, t, isNew, "feedback", roleTest, layout.PalFeedbackFile(p.id, t.Try), t.FeedbackDigest, t.At)
			}
		}
	}
	return list
}

// messageName returns the name of a worker's message.
func messageName(n int, role, typ string) string { return fmt.Sprintf("%04d-%s-%s", n, role, typ) }

// isLastEvent reports whether the transition that made the state is that event of that part.
func isLastEvent(r *view, event, subject string) bool {
	return r.run.State.Last.Event == event && *r.run.State.Last.Subject == subject
}

// addOwn adds a message of placet's. It cannot make the message again if its file is gone and the
// submitted document has changed since.
func addOwn(p *port, list []message, t Try, isNew bool, typ, from, handIn string, sum, at text) []message {
	name := messageName(t.Try, from, typ)
	m := message{name: name, seq: t.Try, from: from, to: otherRole(from), own: true, isNew: isNew, try: t.Try}
	if d := p.r.run.Snap.In(layout.PalMessageFile(p.id, name)); d.Present() && !isNew {
		if known := readMessage(p, d, name); known != nil {
			m.Message, m.digest = known.Message, d.Sum
			return append(list, m)
		}
	}
	d := p.r.run.Snap.In(handIn)
	if text(d.Sum) != sum {
		return list
	}
	m.Message = &Message{
		ID: p.id + "/" + name, ChannelID: p.id, CreatedAt: at, FromSession: p.r.run.State.session(memberPath(p.id, from)),
		ToSession: p.r.run.State.session(memberPath(p.id, m.to)), Type: typ, Payload: payloadOf(p, t, typ, d),
	}
	m.digest = engine.Sum(run.Encoded(m.Message))
	return append(list, m)
}

// payloadOf returns what a message of placet's carries: the submitted document. A feedback has its
// counts also as members of its own, where upstream's programs read them.
func payloadOf(p *port, t Try, typ string, d engine.Document) schemas.Raw {
	body := schemas.Raw(strings.TrimSpace(string(d.Body)))
	o, err := schemas.Members(body)
	if typ != "feedback" || err != nil {
		return body
	}
	for _, count := range countsOf(p, t) {
		if o.Get(count.Name) == nil {
			o = append(o, count)
		}
	}
	if line, err := schemas.Line(o); err == nil {
		body = schemas.Raw(strings.TrimSpace(string(line)))
	}
	return body
}

// countsOf returns the counts of a failed try, with upstream's names.
func countsOf(p *port, t Try) (counts schemas.Object) {
	if t.Total != nil {
		counts = append(counts, member("total_tests", *t.Total))
	}
	if t.Passed != nil {
		counts = append(counts, member("passed_tests", *t.Passed))
	}
	if t.Coverage != nil {
		counts = append(counts, member("coverage", *t.Coverage))
	}
	return append(counts, member("retry_count", p.failedUntil(t.Try)))
}

// failedUntil returns how many tries of its round had failed with a failed try.
func (p *port) failedUntil(try int) int {
	for round := p.Round; round > 0; round-- {
		if l := p.r.run.State.Loops[loopID(p.id, round)]; l != nil && l.FirstTry <= try {
			return try - l.FirstTry + 1
		}
	}
	return 0
}

// readMessage reads a message and returns nil if it cannot be delivered.
func readMessage(p *port, d engine.Document, name string) *message {
	seq, role, typ, ok := layout.PalMessageName(name)
	if !ok || !slices.Contains(messageTypes, typ) {
		p.r.run.Bad(d, p.r.say("note.name", "types", joined(messageTypes)))
		return nil
	}
	m, _ := run.Load[Message](&p.r.run.Input, d, "pal/message")
	if m == nil {
		return nil
	}
	if err := checkMessage(p, m, name, role, typ); err != nil {
		p.r.run.Bad(d, p.r.say("note.message", "file", path.Base(d.Path), "problem", err))
		return nil
	}
	whole := *m // the original content is shared
	whole.ID, whole.ChannelID = p.id+"/"+name, p.id
	return &message{Message: &whole, name: name, seq: seq, from: role, to: otherRole(role), digest: d.Sum, try: seq}
}

// checkMessage returns why a message cannot be delivered, or nil.
func checkMessage(p *port, m *Message, name, role, typ string) error {
	from, to := p.r.run.State.session(memberPath(p.id, role)), p.r.run.State.session(memberPath(p.id, otherRole(role)))
	for _, c := range []struct{ name, is, want string }{
		{"id", cmp.Or(m.ID, p.id+"/"+name), p.id + "/" + name}, {"channel_id", cmp.Or(m.ChannelID, p.id), p.id}, {"from_session", m.FromSession, from}, {"to_session", m.ToSession, to}, {"type", m.Type, typ},
	} {
		if c.is != c.want && (c.is != "" || c.name != "id" && c.name != "channel_id") { // the name determines these two
			return unfitMember(c.name, c.is, c.want)
		}
	}
	if typ == "result" || typ == "feedback" {
		if !p.isOwnMessage(name) {
			return templates.Errorf("pal.message.own", "type", typ)
		}
		return nil
	}
	if isFinal(p.Status) && p.r.run.Snap.In(layout.PalReceiptFile(p.id, name, "delivered")).Absent() {
		return templates.Errorf("pal.message.closed")
	}
	if typ == "ack" {
		return checkAck(p, m, role)
	}
	return nil
}

// unfitMember returns the error for a member that contradicts the place of its file.
func unfitMember(name, is, want string) error {
	return templates.Errorf("pal.member", "member", name, "is", run.QuoteID(is), "want", strconv.Quote(want))
}

// isOwnMessage reports whether placet writes the message with a name.
func (p *port) isOwnMessage(name string) bool {
	_, role, _, _ := layout.PalMessageName(name)
	for round := 1; round <= p.Round; round++ {
		l := p.r.run.State.Loops[loopID(p.id, round)]
		for i := range l.History {
			t := l.History[i]
			stem := fmt.Sprintf("%04d-%s-", t.Try, role)
			if role == roleImpl && name == stem+"result" && t.ResultDigest != "" || role == roleTest && name == stem+"feedback" && t.FeedbackDigest != "" && !t.Success {
				return true
			}
		}
	}
	return false
}

// acked returns the name of the message that an ack acknowledges.
func (m *Message) acked() string {
	var payload struct {
		Of string `json:"of"`
	}
	_ = schemas.DecodeValue(m.Payload, &payload) // a payload that names nothing acknowledges nothing
	return strings.TrimSuffix(path.Base(payload.Of), ".json")
}

// checkAck returns what is wrong with the message that an ack names, or nil.
func checkAck(p *port, m *Message, role string) error {
	of := m.acked()
	_, from, _, ok := layout.PalMessageName(of)
	if !ok || from == role || p.r.run.Snap.In(layout.PalMessageFile(p.id, of)).Absent() {
		return templates.Errorf("pal.message.of", "of", run.QuoteID(of))
	}
	return nil
}

// channelFiles plans the messages of a channel: placet's own, the copies in the inboxes,
// and the receipts.
func channelFiles(p *port, w *run.Outputs) {
	r, all := p.r, channelMessages(p, w.Fresh)
	for _, m := range all {
		if m.own {
			w.Once(layout.PalMessageFile(p.id, m.name), m.isNew, func() []byte { return run.Encoded(m.Message) })
		}
		// A power cut may keep the receipt and lose the copy, so each is checked by itself.
		w.Once(layout.PalInboxFile(p.id, m.to, "message-"+m.name+".md"), m.isNew, func() []byte { return messageText(p, m) })
		w.Once(layout.PalReceiptFile(p.id, m.name, "delivered"), m.isNew, func() []byte {
			return run.Encoded(schemas.Object{
				member("message", m.ID), member("digest", m.digest), member("to_session", m.ToSession), member("delivered_at", run.Seconds(r.run.Snap.Now)),
			})
		})
		if by := processedBy(p, m, all); by != "" {
			w.Once(layout.PalReceiptFile(p.id, m.name, "processed"), false, func() []byte {
				return run.Encoded(schemas.Object{
					member("message", m.ID), member("digest", m.digest), member("to_session", m.ToSession), member("processed_at", run.Seconds(r.run.Snap.Now)), member("by", by),
				})
			})
		}
	}
}

// processedBy names the evidence that the recipient processed a message: an ack, or for a message
// of placet's the recipient's next submission. It returns "" without evidence.
func processedBy(p *port, m message, all []message) string {
	for _, ack := range all {
		if ack.Type == "ack" && ack.from == m.to && ack.acked() == m.name {
			return ack.ID
		}
	}
	if !m.own {
		return ""
	}
	for round := 1; round <= p.Round; round++ {
		for _, t := range p.r.run.State.Loops[loopID(p.id, round)].History {
			switch {
			case m.Type == "result" && t.Try == m.try && t.FeedbackDigest != "":
				return layout.PalFeedbackFile(p.id, t.Try)
			case m.Type == "feedback" && t.Try == m.try+1 && t.ResultDigest != "":
				return layout.PalResultFile(p.id, t.Try)
			}
		}
	}
	return ""
}
