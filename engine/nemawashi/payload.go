package nemawashi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// Types of actions and parts.
const (
	mailDraft      = "mail_draft"
	meetingRequest = "meeting_request"
	hrRequest      = "hr_request"
)

// blocks maps a type of part to the settings' block that says how to carry it out.
var blocks = map[string]string{mailDraft: "mail", meetingRequest: "calendar", hrRequest: "hr"}

// Part is one outside act with everything filled in. A person sees it, and a job carries it out.
type Part struct {
	Part     int    `json:"part"`
	Type     string `json:"type"`
	Provider string `json:"provider"`
	// Target is the host or the URL that it goes to, "" if nothing leaves the machine.
	Target  string         `json:"target"`
	Payload schemas.Object `json:"payload"`
}

// by names the provider that carries out the part, and its target.
func (p Part) by() string { return strings.TrimSpace(p.Provider + " " + p.Target) }

// Block returns the settings' block that says how to carry out the part.
func (p Part) Block() string { return blocks[p.Type] }

// Text returns a member of the payload that is a text, "" if it is not.
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

// List returns a member of the payload that is a list of texts, nil if it is not.
func (p Part) List(name string) (list []string) {
	switch v := p.Payload.Get(name).(type) {
	case []string:
		return slices.Clone(v)
	case schemas.Raw:
		if v.Kind() == '[' && schemas.DecodeValue(v, &list) == nil {
			return list
		}
	}
	return nil
}

// addresses returns the addresses of the part with their places in the payload.
func (p Part) addresses() (all []placed) {
	for _, m := range p.Payload {
		switch m.Name {
		case "to", "attendee":
			for i, a := range p.List(m.Name) {
				all = append(all, placed{fmt.Sprintf("%s/%d", m.Name, i), a})
			}
		case "from", "owner_email":
			if a := p.Text(m.Name); a != "" {
				all = append(all, placed{m.Name, a})
			}
		}
	}
	return all
}

// Limits of payloads.
const (
	mostParts   = 20
	longestBody = 256 << 10
	longestHR   = 64 << 10
	// mostLevels leaves room for placet's documents, which nest a payload.
	mostLevels = 48
)

// split returns a reader for each part in a payload.
func split(typ string, payload schemas.Raw) ([]reader, error) {
	members, err := readObject("/payload", payload)
	if err != nil {
		return nil, err
	}
	actions := members.Raw("actions")
	if actions.Null() {
		return []reader{{at: "/payload", typ: typ, members: members}}, checkType("/type", typ)
	}
	list, err := schemas.Elements(actions)
	if err != nil || len(list) < 1 || len(list) > mostParts {
		return nil, refuse("payload.actions", "most", mostParts)
	}
	parts := make([]reader, len(list))
	for i, raw := range list {
		if parts[i] = element(fmt.Sprintf("/payload/actions/%d", i), raw); parts[i].err != nil {
			return nil, parts[i].err
		}
	}
	return parts, nil
}

// element returns the reader for an element of a batch.
func element(at string, raw schemas.Raw) reader {
	r := reader{at: at}
	if r.members, r.err = readObject(at, raw); r.err != nil || raw.Null() {
		return reader{err: refuse("payload.part", "at", at)}
	}
	value, place := r.find("type", "action_type")
	r.typ, _ = value.Text()
	r.check(checkType(cmp.Or(place, at+"/type"), r.typ))
	r.at = at + "/payload"
	payload, err := readObject(r.at, r.members.Raw("payload"))
	r.check(err)
	if !r.members.Raw("actions").Null() || !payload.Raw("actions").Null() {
		r.fail("payload.nested", "at", at)
	}
	r.members = payload
	return r
}

// readObject returns the members of an object, none for null, and an error for what is wrong in it.
func readObject(at string, raw schemas.Raw) (schemas.Object, error) {
	if raw.Null() {
		return schemas.Object{}, nil
	}
	members, err := schemas.Members(raw)
	if err != nil {
		return nil, refuse("payload.object", "at", at)
	}
	return members, checkValue(at, raw, 1)
}

// checkValue refuses control characters in the names and texts of a value, and too many levels.
func checkValue(at string, value schemas.Raw, level int) error {
	s, _ := value.Text()
	err := checkText(at, s)
	if level > mostLevels {
		err = refuse("payload.deep", "at", at, "most", mostLevels)
	}
	if err != nil {
		return err
	}
	for _, m := range children(value) {
		if err := checkText(at, m.Name); err != nil {
			return err
		}
		if err := checkValue(templates.Cut(at, 200)+"/"+m.Name, m.Value.(schemas.Raw), level+1); err != nil {
			return err
		}
	}
	return nil
}

// children returns the members of an object, or the elements of an array under their numbers.
func children(value schemas.Raw) (o schemas.Object) {
	switch value.Kind() {
	case '{':
		o, _ = schemas.Members(value) // checked before
	case '[':
		list, _ := schemas.Elements(value)
		for i, v := range list {
			o = append(o, schemas.Member{Name: strconv.Itoa(i), Value: v})
		}
	}
	return o
}

func checkType(at, typ string) error {
	if blocks[typ] == "" {
		return refuse("payload.type", "at", at, "type", templates.Code(templates.Cut(typ, 80)), "types", strings.Join([]string{mailDraft, meetingRequest, hrRequest}, ", "))
	}
	return nil
}

// CheckPayload returns what is wrong with a payload, whatever the settings are, or nil.
func CheckPayload(typ string, payload schemas.Raw) error {
	_, err := resolve(typ, payload, defaults{})
	return err
}

// Resolve returns the parts of an action whose approval is requested at a time. body is the text of
// a part that has none of its own. The error names the place in the payload.
func Resolve(typ string, payload schemas.Raw, body string, c Config, at time.Time) ([]Part, error) {
	parts, err := resolve(typ, payload, defaults{Config: c, body: body, requestedAt: at, areKnown: true})
	for _, p := range parts {
		if err == nil {
			err = c.Configured(p)
		}
	}
	if err != nil {
		return nil, err
	}
	return parts, nil
}

func resolve(typ string, payload schemas.Raw, d defaults) (parts []Part, err error) {
	all, err := split(typ, payload)
	if err != nil {
		return nil, err
	}
	for i := range all {
		p, err := all[i].part(i+1, d)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// defaults are the values of members that a payload does not give.
type defaults struct {
	Config
	body        string
	requestedAt time.Time
	// areKnown is false at registration, when only the given members are checked.
	areKnown bool
}

// reader reads one part of a payload and keeps the first error. at is the place of the part's own
// payload.
type reader struct {
	at, typ string
	members schemas.Object
	defaults
	// isVague is true if the order of two times depends on the settings.
	isVague bool
	err     error
}

// part returns the part with everything filled in.
func (r *reader) part(n int, d defaults) (Part, error) {
	r.defaults = d
	p := Part{Part: n, Type: r.typ}
	p.Provider, p.Target = d.Provider(r.typ)
	switch r.typ {
	case mailDraft:
		p.Payload = r.mail()
	case meetingRequest:
		p.Payload = r.meeting()
	case hrRequest:
		p.Payload = r.hr()
	}
	if err := checkLooks(append(d.ownAddresses(), p.addresses()...)); err != nil {
		r.fail("at", "at", r.at, "error", err)
	}
	return p, r.err
}

func (r *reader) fail(key templates.Key, pairs ...any) {
	if r.err == nil {
		r.err = refuse(key, pairs...)
	}
}

func (r *reader) check(err error) { r.err = cmp.Or(r.err, err) }

// find returns the value under any of several spellings, and its place. Both are empty if the value
// is missing or null. Two different values are an error.
func (r *reader) find(names ...string) (value schemas.Raw, at string) {
	for _, name := range names {
		v, place := r.members.Raw(name), r.at+"/"+name
		switch {
		case v.Null():
		case value == nil:
			value, at = v, place
		case !schemas.Equal(value, v):
			r.fail("payload.differ", "at", at, "other", place)
		}
	}
	return value, at
}

// text returns the text under any of several spellings; ok is false if it is missing.
func (r *reader) text(names ...string) (s, at string, ok bool) {
	value, at := r.find(names...)
	if value == nil {
		return "", r.at + "/" + names[0], false
	}
	if s, ok = value.Text(); !ok {
		r.fail("payload.text", "at", at)
	}
	return s, at, ok
}

// line returns a one-line text, or other if it is missing.
func (r *reader) line(other string, names ...string) string {
	s, at, _ := r.text(names...)
	if s = cmp.Or(s, other); s != "" {
		r.check(checkLine(at, s))
	}
	return s
}

// long returns a text, or the body if it is missing.
func (r *reader) long(names ...string) string {
	s, at, ok := r.text(names...)
	if !ok {
		s = r.body
	}
	if len(s) > longestBody {
		r.fail("size", "at", at, "n", len(s), "most", longestBody)
	}
	r.check(checkText(at, s))
	return s
}

// list returns the addresses under any of several spellings, from a comma-separated text or an
// array. An empty text has none.
func (r *reader) list(names ...string) (list []string) {
	value, at := r.find(names...)
	s, isText := value.Text()
	switch {
	case value == nil || isText && strings.TrimSpace(s) == "":
		return nil
	case isText:
		list = splitList(s)
	case value.Kind() != '[' || schemas.DecodeValue(value, &list) != nil:
		r.fail("payload.list", "at", at)
		return nil
	}
	r.check(checkAddresses(at, list))
	return list
}

// recipients returns the given addresses, or those of a setting.
func (r *reader) recipients(key, other, name string) []string {
	if list := r.list(name); list != nil || !r.areKnown {
		return list
	}
	provider, _ := r.Provider(r.typ)
	if other == "" || other == builtInTo && provider != mock {
		r.fail("payload.recipient", "at", r.at+"/"+name, "key", key)
		return nil
	}
	list := splitList(other)
	r.check(checkAddresses(key, list))
	return list
}

// person returns the only address under any of several spellings, or other.
func (r *reader) person(other string, names ...string) string {
	list := r.list(names...)
	if len(list) > 1 {
		r.fail("payload.single", "at", r.at+"/"+names[0], "n", len(list))
	}
	if len(list) > 0 {
		return list[0]
	}
	return other
}

func (r *reader) mail() schemas.Object {
	return schemas.Object{
		{Name: "to", Value: r.recipients("mail.default_to", r.Mail.DefaultTo, "to")},
		{Name: "subject", Value: r.line("Approval action "+mailDraft, "subject")},
		{Name: "body", Value: r.long("body", "content")},
		{Name: "from", Value: r.person(r.Mail.DefaultFrom, "from")},
	}
}

func (r *reader) meeting() schemas.Object {
	zone, link := r.line(r.Calendar.DefaultTimezone, "timezone"), r.line("", "meeting_url", "meetingUrl")
	start, end := r.times(zone)
	if link != "" && !isURL(link) {
		r.fail("url", "at", r.at+"/meeting_url", "example", "https://example.com/room")
	}
	return schemas.Object{
		{Name: "attendee", Value: r.recipients("calendar.default_attendee", cmp.Or(r.Calendar.DefaultAttendee, r.Mail.DefaultTo), "attendee")},
		{Name: "title", Value: r.line("Approval action "+meetingRequest, "title")},
		{Name: "start_at", Value: start.Format(time.RFC3339)},
		{Name: "end_at", Value: end.Format(time.RFC3339)},
		{Name: "timezone", Value: zone},
		{Name: "description", Value: r.long("description")},
		{Name: "meeting_url", Value: link},
		{Name: "owner_email", Value: r.person(r.Calendar.DefaultOwnerEmail, "owner_email", "ownerEmail", "owner")},
	}
}

// unknownZone is the time zone of a meeting at registration if the settings would supply it.
var unknownZone = time.FixedZone("", 0)

// times returns when a meeting begins and ends, in its time zone.
func (r *reader) times(zone string) (start, end time.Time) {
	loc := unknownZone
	if zone != "" || r.areKnown {
		var err error
		if loc, err = location(zone); err != nil {
			r.fail("at", "at", r.at+"/timezone", "error", err)
			return start, end
		}
	}
	start = r.moment(r.requestedAt.Add(24*time.Hour).Truncate(time.Minute), loc, "start_at", "startAt")
	end = r.moment(start.Add(time.Hour), loc, "end_at", "endAt")
	if !r.isVague && !end.After(start) {
		r.fail("payload.order", "at", r.at+"/end_at", "end", end.Format(time.RFC3339), "start", start.Format(time.RFC3339))
	}
	return start, end
}

// Years of meetings. In all of them offsets are whole minutes, and a day later still has a
// four-digit year.
const (
	firstYear = 2000
	lastYear  = 9998
)

// moment returns the time under any of several spellings, or other if it is missing.
func (r *reader) moment(other time.Time, loc *time.Location, names ...string) time.Time {
	s, at, _ := r.text(names...)
	if s == "" {
		return other.In(loc)
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = localTime(s, loc)
		r.isVague = r.isVague || loc == unknownZone
	}
	t = t.In(loc).Truncate(time.Second)
	if err != nil || r.areKnown && (t.Year() < firstYear || t.Year() > lastYear) {
		zone := any(loc)
		if loc == unknownZone {
			zone = templates.NewMessage("nemawashi.zone.default")
		}
		r.fail("payload.time", "at", at, "value", templates.Code(templates.Cut(s, 80)), "zone", zone)
	}
	return t
}

// localTime parses a time without an offset. It refuses a time that a change of the clocks skips.
func localTime(s string, loc *time.Location) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, s, loc); err == nil && t.Format(layout) == s {
			return t, nil
		}
	}
	return time.Time{}, errors.New("no time")
}

// hr returns the object of a request to HR as given.
func (r *reader) hr() schemas.Object {
	o, at := r.members, r.at
	if raw := o.Raw("hr_request"); raw.Kind() == '{' {
		at += "/hr_request"
		o, _ = schemas.Members(raw) // checked before
	} else if len(o) == 0 {
		o = schemas.Object{{Name: "request", Value: r.long("request")}}
	}
	if n := len(run.Must(schemas.Line(o))) - 1; n > longestHR {
		r.fail("size", "at", at, "n", n, "most", longestHR)
	}
	return o
}

// Override returns the parts with another payload for their only meeting. isSame is true if that
// changes nothing. body is the text if the payload has no description.
func Override(parts []Part, calendar schemas.Raw, body string, c Config, at time.Time) (with []Part, isSame bool, err error) {
	i := slices.IndexFunc(parts, isMeeting)
	if i < 0 || slices.ContainsFunc(parts[i+1:], isMeeting) {
		return nil, false, refuse("payload.meeting")
	}
	r := reader{at: "/calendar", typ: meetingRequest}
	r.members, r.err = readObject(r.at, calendar)
	for _, names := range [][]string{{"attendee"}, {"title"}, {"startAt", "start_at"}, {"endAt", "end_at"}} {
		value, _ := r.find(names...)
		if s, isText := value.Text(); value == nil || isText && templates.Blank(s) {
			r.fail("payload.missing", "at", "/calendar/"+names[0])
		}
	}
	p, err := r.part(parts[i].Part, defaults{Config: c, body: body, requestedAt: at, areKnown: true})
	if err != nil {
		return nil, false, err
	}
	with = slices.Clone(parts)
	with[i].Payload = p.Payload
	return with, schemas.Equal(run.Must(schemas.Line(parts[i].Payload)), run.Must(schemas.Line(p.Payload))), nil
}

func isMeeting(p Part) bool { return p.Type == meetingRequest }
