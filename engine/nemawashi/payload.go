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

// blocks are the blocks of the settings that say how parts of a type are carried out.
var blocks = map[string]string{mailDraft: "mail", meetingRequest: "calendar", hrRequest: "hr"}

// Part is one outside act with everything filled in: what is shown, and what a job carries
// out.
type Part struct {
	Part     int    `json:"part"`
	Type     string `json:"type"`
	Provider string `json:"provider"`
	// Target is the host or the URL that it goes to, "" where nothing leaves the machine.
	Target  string         `json:"target"`
	Payload schemas.Object `json:"payload"`
}

// by is what carries out the part, and where.
func (p Part) by() string { return strings.TrimSpace(p.Provider + " " + p.Target) }

// Block is the block of the settings that says how the part is carried out.
func (p Part) Block() string { return blocks[p.Type] }

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
		return slices.Clone(v)
	case schemas.Raw:
		if v.Kind() == '[' && schemas.DecodeValue(v, &list) == nil {
			return list
		}
	}
	return nil
}

// addresses are those of the part, with their places in the payload.
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
	// mostLevels leaves room for the documents of placet that hold a payload.
	mostLevels = 48
)

// split returns the parts that a payload gives.
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

// element is the part that an element of a batch gives.
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

// readObject returns the members of an object, none for null, and what is wrong in it.
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

// children are the members of an object, or the elements of an array by their numbers.
func children(value schemas.Raw) (o schemas.Object) {
	switch value.Kind() {
	case '{':
		o, _ = schemas.Members(value) // it was read before
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

// CheckPayload says what is wrong with a payload, whatever the settings are.
func CheckPayload(typ string, payload schemas.Raw) error {
	_, err := resolve(typ, payload, defaults{})
	return err
}

// Resolve returns the parts of an action that is asked about at a moment; body is the text
// where a part has none of its own. The error names the place in the payload.
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

// defaults are what stands where a payload says nothing.
type defaults struct {
	Config
	body        string
	requestedAt time.Time
	// areKnown is false at registration: then only what is given is checked.
	areKnown bool
}

// reader reads one part of a payload and remembers the first error; at is the place of the
// part's own payload.
type reader struct {
	at, typ string
	members schemas.Object
	defaults
	// isVague is true where the settings decide which of two times is the later one.
	isVague bool
	err     error
}

// part is a part with everything filled in.
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

// find is the value under one of some spellings, and its place. Both are empty where there is
// none, or null. Two values that differ are an error.
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

// text is the text under one of some spellings, false where there is none.
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

// line is one line, or another text where there is none.
func (r *reader) line(other string, names ...string) string {
	s, at, _ := r.text(names...)
	if s = cmp.Or(s, other); s != "" {
		r.check(checkLine(at, s))
	}
	return s
}

// long is a text, or the body text where there is none.
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

// list are the addresses under one of some spellings: a text with commas, or an array. There
// are none where the text is empty.
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

// recipients are those that are given, or those of a setting.
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

// person is the one address under one of some spellings, or that of a setting.
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

// unknownZone is the time zone of a meeting at registration, where the settings would say it.
var unknownZone = time.FixedZone("", 0)

// times are when a meeting begins and ends, in its time zone.
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

// The years of meetings: in all of them an offset is of whole minutes, and a day later has
// four digits.
const (
	firstYear = 2000
	lastYear  = 9998
)

// moment is the time under one of some spellings, or another where there is none.
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

// localTime reads a time without an offset. One that a change of the clocks leaves out is an
// error.
func localTime(s string, loc *time.Location) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, s, loc); err == nil && t.Format(layout) == s {
			return t, nil
		}
	}
	return time.Time{}, errors.New("no time")
}

// hr is the object of a request to HR, as it is given.
func (r *reader) hr() schemas.Object {
	o, at := r.members, r.at
	if raw := o.Raw("hr_request"); raw.Kind() == '{' {
		at += "/hr_request"
		o, _ = schemas.Members(raw) // it was read before
	} else if len(o) == 0 {
		o = schemas.Object{{Name: "request", Value: r.long("request")}}
	}
	if n := len(run.Must(schemas.Line(o))) - 1; n > longestHR {
		r.fail("size", "at", at, "n", n, "most", longestHR)
	}
	return o
}

// Override returns the parts with another payload of the only meeting. isSame is true where it
// changes nothing. body is the text where the payload has no description.
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
