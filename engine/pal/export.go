package pal

import (
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// ExportSchema names the script that creates the database of an export.
const ExportSchema = "pal/export"

// Export returns the rows of an orchestration for a database: sessions, channels, messages and
// escalations, according to their files. left names the files that are left out.
func (m Machine) Export(s engine.Snapshot) (rows []engine.Row, left []string, err error) {
	_, r := m.View(s)
	if !r.run.Begun || !r.run.Usable() {
		return nil, nil, templates.Errorf("pal.worker.state", "run", s.Key)
	}
	if isFinal(r.run.State.Status) {
		readAgents(r) // nothing else reads them in an ended run
	}
	x := exporter{r: r}
	for _, d := range s.Under("sessions") {
		if d.Kind == layout.PalSession && isShown(r, d) {
			x.add("sessions", d, "pal/session", "id", sessionColumns)
		}
	}
	for _, d := range s.Under("channels") {
		if d.Kind == layout.PalChannel {
			x.add("direct_channels", d, "pal/channel", "id", channelColumns)
		}
	}
	for _, id := range r.order {
		if r.ports[id].FirstStartedAt != "" {
			x.addMessages(r.ports[id])
		}
	}
	for _, d := range s.Under("escalations") {
		if d.Kind == layout.PalEscalation && r.run.State.Escalations[strings.TrimSuffix(path.Base(d.Path), ".json")] != nil {
			x.add("escalations", d, "pal/escalation", "id", escalationColumns)
		}
	}
	return x.rows, x.left, nil
}

// isShown reports whether a session's document belongs to a session of the run.
func isShown(r *view, d engine.Document) bool {
	session := strings.TrimPrefix(path.Dir(r.run.Snap.Rel(d.Path)), "sessions/")
	return isOwnSession(r, session) || slices.ContainsFunc(r.agents, func(a agentSession) bool { return a.path == session })
}

// Columns of an export by table. Each column holds the member of the same name.
var (
	sessionColumns    = []string{"type", "title", "port_id", "parent_id", "root_id", "depth", "path", "agent_id", "token_budget", "status", "substatus", "started_at", "ended_at"}
	channelColumns    = []string{"session_a", "session_b", "status", "created_at"}
	escalationColumns = []string{
		"orchestration_id", "session_id", "port_id", "type", "reported_type", "severity", "title", "description", "context", "suggested_actions", "auto_resolve",
		"status", "request_id", "created_at", "resolved_by", "resolved_at", "resolution", "comment",
	}
)

// exporter collects the rows of an export.
type exporter struct {
	r    *view
	rows []engine.Row
	left []string
}

// add adds a document as a row. It leaves out an unreadable one.
func (x *exporter) add(table string, d engine.Document, schema, key string, columns []string) {
	var o schemas.Object
	if !d.Present() || schemas.Decode(schema, path.Base(d.Path), d.Body, &o) != nil {
		x.left = append(x.left, d.Path)
		return
	}
	id, _ := o.Raw(key).Text()
	if session, ok := strings.CutPrefix(path.Dir(x.r.run.Snap.Rel(d.Path)), "sessions/"); ok {
		id = x.r.run.State.session(session) // an agent may omit what the folder determines
	}
	row := engine.Row{Table: table, ID: id, Values: []engine.Field{{Name: key, Value: id}}}
	for _, name := range columns {
		row.Values = append(row.Values, engine.Field{Name: name, Value: columnValue(o.Raw(name))})
	}
	x.rows = append(x.rows, row)
}

// columnValue converts a member for a column: text and whole numbers stay as they are, true and
// false become 1 and 0, lists and objects become JSON.
func columnValue(v schemas.Raw) any {
	if v.Null() {
		return nil
	}
	switch v.Kind() {
	case '"':
		s, _ := v.Text()
		return s
	case 't':
		return 1
	case 'f':
		return 0
	case '0':
		var n int
		if schemas.DecodeValue(v, &n) == nil {
			return n
		}
	}
	return jsonLine(v)
}

// jsonLine returns a value as JSON on one line.
func jsonLine(v schemas.Raw) string {
	line, err := schemas.Line(v)
	if err != nil {
		return string(v)
	}
	return strings.TrimSuffix(string(line), "\n")
}

// addMessages adds the messages of a port whose files exist, with their times of delivery.
func (x *exporter) addMessages(p *port) {
	for _, d := range x.r.run.Snap.Under("channels/" + p.id + "/messages") {
		if d.Kind == layout.PalMessage && !d.Present() {
			x.left = append(x.left, d.Path)
		}
	}
	for _, m := range channelMessages(p, false) {
		if !x.r.run.Snap.In(layout.PalMessageFile(p.id, m.name)).Present() {
			continue
		}
		var receipt struct {
			At string `json:"delivered_at"`
		}
		var delivered any
		if d := x.r.run.Snap.In(layout.PalReceiptFile(p.id, m.name, "delivered")); d.Present() && schemas.Decode("pal/delivered", path.Base(d.Path), d.Body, &receipt) == nil {
			delivered = receipt.At
		}
		var created any
		if m.CreatedAt != "" {
			created = string(m.CreatedAt)
		}
		id := p.id + "/" + m.name
		x.rows = append(x.rows, engine.Row{Table: "direct_messages", ID: id, Values: []engine.Field{
			{Name: "id", Value: id}, {Name: "channel_id", Value: p.id}, {Name: "from_session", Value: m.FromSession}, {Name: "to_session", Value: m.ToSession},
			{Name: "message_type", Value: m.Type}, {Name: "payload", Value: jsonLine(m.Payload)}, {Name: "delivered_at", Value: delivered}, {Name: "created_at", Value: created},
		}})
	}
}
