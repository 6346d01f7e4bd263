package nemawashi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"placet/engine/run"
	"placet/schemas"
)

// Part is one outside act with everything filled in: what is shown, and what a job
// carries out.
type Part struct {
	Part     int    `json:"part"`
	Type     string `json:"type"`
	Provider string `json:"provider"`
	// Target is the host or the address that it goes to, "" where nothing leaves the
	// machine.
	Target  string         `json:"target"`
	Payload schemas.Object `json:"payload"`
}

// Text is a member of the payload that is a text, "" where it is none.
func (p Part) Text(name string) string {
	switch v := p.Payload.Get(name).(type) {
	case string:
		return v
	case schemas.Raw:
		words, _ := v.Text()
		return words
	}
	return ""
}

// List is a member of the payload that is a list of texts, nil where it is none.
func (p Part) List(name string) (list []string) {
	switch v := p.Payload.Get(name).(type) {
	case []string:
		return append(list, v...)
	case schemas.Raw:
		if v.Kind() == '[' && schemas.DecodeValue(v, &list) == nil {
			return list
		}
	}
	return nil
}

// Limits of payloads.
const (
	mostParts   = 20
	longestBody = 256 << 10
	longestHR   = 64 << 10
)

// given is a part as a payload gives it; at is its place.
type given struct {
	at, typ string
	members schemas.Object
}

// split takes a payload apart into its parts.
func split(typ string, payload schemas.Raw) ([]given, error) {
	members := schemas.Object{}
	if !payload.Null() {
		var err error
		if members, err = schemas.Members(payload); err != nil {
			return nil, refuse("/payload is no object")
		}
	}
	actions := members.Raw("actions")
	if actions == nil {
		return []given{{"/payload", typ, members}}, nil
	}
	list, err := schemas.Elements(actions)
	if err != nil || len(list) < 1 || len(list) > mostParts {
		return nil, refuse("/payload/actions: expected an array of 1 to %d objects", mostParts)
	}
	var parts []given
	for i, raw := range list {
		g, err := element(fmt.Sprintf("/payload/actions/%d", i), raw)
		if err != nil {
			return nil, err
		}
		parts = append(parts, g)
	}
	return parts, nil
}

// element reads one element of a batch.
func element(at string, raw schemas.Raw) (g given, err error) {
	members, err := schemas.Members(raw)
	if err != nil {
		return g, refuse("%s: expected an object with type and payload", at)
	}
	g = given{at, "", members}
	typ, err := g.text(false, "type", "action_type")
	if err != nil {
		return g, err
	}
	if typ == nil || *typ != mailDraft && *typ != meetingRequest && *typ != hrRequest {
		return g, refuse("%s/type: expected one of %s, %s, %s", at, mailDraft, meetingRequest, hrRequest)
	}
	g.typ, g.at = *typ, at+"/payload"
	payload := members.Raw("payload")
	if g.members = (schemas.Object{}); payload.Null() {
		return g, nil
	}
	if g.members, err = schemas.Members(payload); err != nil {
		return g, refuse("%s: expected an object", g.at)
	}
	if g.members.Get("actions") != nil {
		return g, refuse("%s/actions: a batch holds no other batch", g.at)
	}
	return g, nil
}

// pick is the value that stands under one of some spellings, nil for none. Two that
// differ are an error.
func (g given) pick(names ...string) (raw schemas.Raw, at string, err error) {
	for _, name := range names {
		v := g.members.Raw(name)
		if v.Null() {
			continue
		}
		if raw != nil && !schemas.Equal(raw, v) {
			return nil, "", refuse("%s and %s/%s differ: leave one of them out", at, g.at, name)
		}
		if raw == nil {
			raw, at = v, g.at+"/"+name
		}
	}
	return raw, at, nil
}

// text is the text under one of some spellings, nil for none. A line is a subject or a
// title.
func (g given) text(line bool, names ...string) (*string, error) {
	raw, at, err := g.pick(names...)
	if err != nil || raw == nil {
		return nil, err
	}
	s, ok := raw.Text()
	switch {
	case !ok:
		return nil, refuse("%s: expected a text", at)
	case line:
		return &s, checkTitle(at, s)
	case len(s) > longestBody:
		return nil, refuse("%s has %d bytes: it may have %d", at, len(s), longestBody)
	}
	return &s, checkText(at, s)
}

// addresses are those under one of some spellings: a text with commas, or an array; nil
// for none.
func (g given) addresses(names ...string) ([]string, error) {
	raw, at, err := g.pick(names...)
	if err != nil || raw == nil {
		return nil, err
	}
	var list []string
	if s, ok := raw.Text(); ok {
		if strings.TrimSpace(s) == "" {
			return nil, nil
		}
		list = splitList(s)
	} else if raw.Kind() != '[' || schemas.DecodeValue(raw, &list) != nil {
		return nil, refuse("%s: expected an address, or an array of addresses", at)
	}
	return addresses(at, list)
}

// CheckPayload says what is wrong with a payload, whatever is configured.
func CheckPayload(typ string, payload schemas.Raw) error {
	parts, err := split(typ, payload)
	if err != nil {
		return err
	}
	for i, g := range parts {
		if _, err := g.resolve(i+1, "", DefaultConfig(), time.Unix(0, 0)); err != nil {
			return err
		}
	}
	return nil
}

// Resolve returns the parts of an action that is asked about at a moment; body is the
// text that takes the place of a body that nobody gave.
func Resolve(typ string, payload schemas.Raw, body string, c Config, at time.Time) ([]Part, error) {
	all, err := split(typ, payload)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for i, g := range all {
		p, err := g.resolve(i+1, body, c, at)
		if err == nil {
			err = c.Configured(p)
		}
		if err == nil {
			err = c.checkOwn(g, p)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// checkOwn refuses a part that reaches nobody, or somebody who looks like an address of
// the settings.
func (c Config) checkOwn(g given, p Part) error {
	for _, name := range []string{"to", "from", "attendee", "owner_email"} {
		list := p.List(name)
		if s := p.Text(name); s != "" {
			list = append(list, s)
		}
		if a, key := c.imitates(list); a != "" {
			return refuse("%s/%s: %q looks like %s of the settings and is another address", g.at, name, a, key)
		}
		for _, a := range list {
			if a == builtInTo && p.Provider != mock && (name == "to" || name == "attendee") {
				return refuse("%s: there is no recipient: give one, or set [nemawashi] mail.default_to", g.at)
			}
		}
	}
	return nil
}

// resolve fills in what a part leaves out.
func (g given) resolve(n int, body string, c Config, at time.Time) (Part, error) {
	p := Part{Part: n, Type: g.typ}
	p.Provider, p.Target = c.Provider(g.typ)
	var err error
	switch g.typ {
	case mailDraft:
		p.Payload, err = g.mail(body, c)
	case meetingRequest:
		p.Payload, err = g.meeting(body, c, at)
	default:
		p.Payload, err = g.hr(body)
	}
	return p, err
}

// or is a text, or another where there is none.
func or(s *string, other string) string {
	if s == nil {
		return other
	}
	return *s
}

// reader collects the members of a part, and the first error.
type reader struct {
	given
	err error
}

func (r *reader) line(other string, names ...string) string { return r.read(true, other, names) }
func (r *reader) long(other string, names ...string) string { return r.read(false, other, names) }

func (r *reader) read(line bool, other string, names []string) string {
	s, err := r.text(line, names...)
	r.err = cmp.Or(r.err, err)
	return or(s, other)
}

// people are addresses, or those of the settings where there are none.
func (r *reader) people(other string, names ...string) []string {
	list, err := r.given.addresses(names...)
	r.err = cmp.Or(r.err, err)
	if list == nil && other != "" {
		list = splitList(other)
	}
	if list == nil && err == nil {
		r.err = cmp.Or(r.err, refuse("%s: there is no recipient: give one as %s, or set a default", r.at, names[0]))
	}
	return list
}

// person is one address.
func (r *reader) person(other string, names ...string) string {
	list, err := r.given.addresses(names...)
	r.err = cmp.Or(r.err, err)
	if len(list) > 1 {
		r.err = cmp.Or(r.err, refuse("%s/%s: expected one address", r.at, names[0]))
	}
	if len(list) == 0 {
		return other
	}
	return list[0]
}

func (g given) mail(body string, c Config) (schemas.Object, error) {
	r := &reader{given: g}
	o := schemas.Object{
		{Name: "to", Value: r.people(c.Mail.DefaultTo, "to")}, {Name: "subject", Value: r.line("Approval action mail_draft", "subject")},
		{Name: "body", Value: r.long(body, "body", "content")}, {Name: "from", Value: r.person(c.Mail.DefaultFrom, "from")},
	}
	return o, r.err
}

func (g given) meeting(body string, c Config, at time.Time) (schemas.Object, error) {
	r := &reader{given: g}
	zone := r.line(c.Calendar.DefaultTimezone, "timezone")
	loc, err := location(zone)
	if err != nil && r.err == nil {
		r.err = refuse("%s/timezone: %v", g.at, err)
	}
	if r.err != nil {
		return nil, r.err
	}
	start := r.moment(at.Add(24*time.Hour).Truncate(time.Minute), loc, "start_at", "startAt")
	end := r.moment(start.Add(time.Hour), loc, "end_at", "endAt")
	if r.err == nil && !end.After(start) {
		r.err = refuse("%s/end_at: the meeting ends before it begins", g.at)
	}
	url := r.line("", "meeting_url", "meetingUrl")
	if url != "" && !isURL(url) {
		r.err = cmp.Or(r.err, refuse("%s/meeting_url: expected an address such as https://example.com/meet", g.at))
	}
	o := schemas.Object{
		{Name: "attendee", Value: r.people(cmp.Or(c.Calendar.DefaultAttendee, c.Mail.DefaultTo), "attendee")},
		{Name: "title", Value: r.line("Approval action meeting_request", "title")},
		{Name: "start_at", Value: start.In(loc).Format(time.RFC3339)}, {Name: "end_at", Value: end.In(loc).Format(time.RFC3339)},
		{Name: "timezone", Value: zone}, {Name: "description", Value: r.long(body, "description")}, {Name: "meeting_url", Value: url},
		{Name: "owner_email", Value: r.person(c.Calendar.DefaultOwnerEmail, "owner_email", "ownerEmail", "owner")},
	}
	return o, r.err
}

// moment is a time: of RFC 3339, or a local one in a time zone.
func (r *reader) moment(other time.Time, loc *time.Location, names ...string) time.Time {
	s, err := r.text(true, names...)
	r.err = cmp.Or(r.err, err)
	if s == nil {
		return other
	}
	if t, err := time.Parse(time.RFC3339, *s); err == nil {
		return t
	}
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(form, *s, loc); err == nil {
			return t
		}
	}
	r.err = cmp.Or(r.err, refuse("%s/%s: %q is no time such as 2026-11-22T15:00", r.at, names[0], *s))
	return other
}

func (g given) hr(body string) (schemas.Object, error) {
	o := g.members
	if raw := g.members.Raw("hr_request"); raw.Kind() == '{' {
		var err error
		if o, err = schemas.Members(raw); err != nil {
			return nil, refuse("%s/hr_request: %v", g.at, err)
		}
	}
	if len(o) == 0 {
		return schemas.Object{{Name: "request", Value: body}}, nil
	}
	encoded := run.Must(schemas.Line(o))
	if len(encoded) > longestHR {
		return nil, refuse("%s has %d bytes: it may have %d", g.at, len(encoded), longestHR)
	}
	return o, checkStrings(g.at, encoded)
}

// checkStrings refuses control characters in all texts of a JSON value.
func checkStrings(at string, body []byte) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // it was read before: this is its end
		}
		if s, ok := token.(string); ok {
			if err := checkText(at, s); err != nil {
				return err
			}
		}
	}
}

// calendarMembers are the members that an override must have.
var calendarMembers = [][2]string{{"attendee", "attendee"}, {"title", "title"}, {"startAt", "start_at"}, {"endAt", "end_at"}}

// Override returns the parts with a payload in place of that of the only meeting. isSame is
// true where it changes nothing.
func Override(parts []Part, calendar schemas.Raw, body string, c Config, at time.Time) (with []Part, isSame bool, err error) {
	found := -1
	for i, p := range parts {
		if p.Type != meetingRequest {
			continue
		}
		if found >= 0 {
			return nil, false, refuse("/calendar: there is more than one meeting")
		}
		found = i
	}
	if found < 0 {
		return nil, false, refuse("/calendar: there is no meeting whose payload it could replace")
	}
	members, err := schemas.Members(calendar)
	if err != nil {
		return nil, false, refuse("/calendar: expected an object")
	}
	g := given{"/calendar", meetingRequest, members}
	for _, names := range calendarMembers {
		if raw, _, err := g.pick(names[0], names[1]); err != nil || raw == nil || string(raw) == `""` {
			return nil, false, cmp.Or(err, refuse("/calendar/%s is missing", names[0]))
		}
	}
	p, err := g.resolve(parts[found].Part, body, c, at)
	if err == nil {
		err = c.checkOwn(g, p)
	}
	if err != nil {
		return nil, false, err
	}
	with = append(with, parts...)
	with[found].Payload = p.Payload
	return with, schemas.Equal(run.Must(schemas.Line(p.Payload)), run.Must(schemas.Line(parts[found].Payload))), nil
}
