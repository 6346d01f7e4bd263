package family

import (
	"path"
	"strings"

	"placet/engine"
	"placet/engine/pal"
	"placet/layout"
	"placet/schemas"
)

// longestPayload limits the bytes of a message that the stream carries.
const longestPayload = 16 << 10

// palEvents returns the lines that a commit adds to the journal of an orchestration, and the
// messages that it delivers.
func palEvents(run layout.Run, plan engine.Plan, read func(rel string) engine.Document) (events []Event) {
	for _, l := range plan.Lines {
		var line palLine
		if schemas.Decode("", l.Path, l.Body, &line) == nil && line.Type != "" {
			events = append(events, line.event(run, ""))
		}
	}
	for _, d := range plan.Writes {
		if channel, name, ok := delivered(run, d.Path); ok {
			events = append(events, palMessage(run, plan, channel, name, read))
		}
	}
	return events
}

// palLine is the envelope of an event in the journal.
type palLine struct {
	Type      string      `json:"type"`
	Upstream  string      `json:"upstream"`
	Timestamp string      `json:"timestamp"`
	Session   string      `json:"session_id,omitzero"`
	Port      string      `json:"port_id,omitzero"`
	Data      schemas.Raw `json:"data"`
}

// event returns the envelope in the form of the stream.
func (l palLine) event(run layout.Run, id string) Event {
	data := append(schemas.Struct(l), schemas.Object{{Name: "family", Value: run.Family}, {Name: "run", Value: keyOf(run)}}...)
	return Event{Name: l.Type, Alias: l.Upstream, ID: id, Session: l.Session, Data: data}
}

// delivered splits the path of a message's receipt of delivery.
func delivered(run layout.Run, p string) (channel, name string, ok bool) {
	rel, inside := strings.CutPrefix(p, run.Dir+"/channels/")
	channel, rest, _ := strings.Cut(rel, "/")
	name, ok = strings.CutSuffix(path.Base(rest), ".delivered.json")
	return channel, name, inside && ok && path.Dir(rest) == "receipts"
}

// palMessage returns the event of a delivered message, about the session that receives it.
func palMessage(run layout.Run, plan engine.Plan, channel, name string, read func(rel string) engine.Document) Event {
	rel := layout.PalMessageFile(channel, name)
	var m pal.Message
	body := read(rel).Body
	for _, d := range plan.Writes {
		if d.Path == path.Join(run.Dir, rel) {
			body = d.Body
		}
	}
	var at struct {
		Delivered string `json:"delivered_at"`
	}
	for _, d := range plan.Writes {
		if d.Path == path.Join(run.Dir, layout.PalReceiptFile(channel, name, "delivered")) {
			_ = schemas.Decode("", d.Path, d.Body, &at) // placet wrote it
		}
	}
	payload := schemas.Object{{Name: "truncated", Value: true}, {Name: "path", Value: path.Join(run.Dir, rel)}}
	data := schemas.Object{{Name: "channel_id", Value: channel}}
	var whole any = payload
	if schemas.Decode("", rel, body, &m) == nil && len(m.Payload) <= longestPayload {
		whole = m.Payload
	}
	data = append(data, schemas.Object{
		{Name: "from_session", Value: m.FromSession}, {Name: "to_session", Value: m.ToSession}, {Name: "message_type", Value: m.Type}, {Name: "payload", Value: whole},
	}...)
	encoded, err := data.MarshalJSON()
	if err != nil {
		encoded = []byte("null") // the payload was decoded, so it can be encoded
	}
	l := palLine{"direct.message", "direct:message", at.Delivered, m.ToSession, channel, encoded}
	return l.event(run, channel+"/"+name)
}
