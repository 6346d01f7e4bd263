package nemawashi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/schemas"
)

var askedAt = time.Date(2026, 11, 24, 1, 2, 3, 4, time.UTC)

func encode(t testing.TB, v any) schemas.Raw {
	t.Helper()
	line, err := schemas.Line(v)
	if err != nil {
		t.Fatal(err)
	}
	return line[:len(line)-1]
}

func TestResolve(t *testing.T) {
	const (
		to   = `"to":["manager@example.com"]`
		from = `"from":"no-reply@saihai.local"`
		who  = `"attendee":["manager@example.com"],"title":"Approval action meeting_request"`
	)
	for _, test := range []struct{ name, typ, payload, want string }{
		{"mail, nothing given", mailDraft, ``, `{` + to + `,"subject":"Approval action mail_draft","body":"Hello\n",` + from + `}`},
		{"mail, nulls and empty texts", mailDraft, `{"to":"","subject":null,"from":" ","body":null}`,
			`{` + to + `,"subject":"Approval action mail_draft","body":"Hello\n",` + from + `}`},
		{"mail, other spelling", mailDraft, `{"x":{"y":1},"from":"a@b.example","content":"Dear\t\u202e all\r\n","subject":"Hi \u202e","to":"c@d.example , e@f.example"}`,
			`{"to":["c@d.example","e@f.example"],"subject":"Hi ` + "\u202e" + `","body":"Dear\t` + "\u202e" + ` all\r\n","from":"a@b.example"}`},
		{"mail, both spellings alike", mailDraft, `{"body":"é","content":"\u00e9"}`, `{` + to + `,"subject":"Approval action mail_draft","body":"é",` + from + `}`},
		{"mail, empty body", mailDraft, `{"body":""}`, `{` + to + `,"subject":"Approval action mail_draft","body":"",` + from + `}`},
		{"meeting, nothing given", meetingRequest, `{}`,
			`{` + who + `,"start_at":"2026-11-25T10:02:00+09:00","end_at":"2026-11-25T11:02:00+09:00","timezone":"Asia/Tokyo","description":"Hello\n","meeting_url":"","owner_email":""}`},
		{"meeting, local times", meetingRequest, `{"startAt":"2026-07-01T09:30","endAt":"2026-07-01T09:30:30","timezone":"Europe/Berlin","description":"","meetingUrl":"","owner":""}`,
			`{` + who + `,"start_at":"2026-07-01T09:30:00+02:00","end_at":"2026-07-01T09:30:30+02:00","timezone":"Europe/Berlin","description":"","meeting_url":"","owner_email":""}`},
		{"meeting, other offsets", meetingRequest, `{"start_at":"2026-12-31T23:00:00.5-05:00","timezone":"UTC"}`,
			`{` + who + `,"start_at":"2027-01-01T04:00:00Z","end_at":"2027-01-01T05:00:00Z","timezone":"UTC","description":"Hello\n","meeting_url":"","owner_email":""}`},
		{"meeting, all given", meetingRequest, `{"ownerEmail":"o@b.example","owner":"o@b.example","meetingUrl":"https://meet.b.example/x","attendee":["a@b.example"],"title":"T",
			"description":"D","start_at":"2026-12-01T10:00:00Z","startAt":"2026-12-01T10:00:00Z","end_at":"2026-12-01T10:30:00+00:00"}`,
			`{"attendee":["a@b.example"],"title":"T","start_at":"2026-12-01T19:00:00+09:00","end_at":"2026-12-01T19:30:00+09:00","timezone":"Asia/Tokyo","description":"D",
			"meeting_url":"https://meet.b.example/x","owner_email":"o@b.example"}`},
		{"hr, nothing given", hrRequest, `{}`, `{"request":"Hello\n"}`},
		{"hr, the payload", hrRequest, `{"z":[1.0,{"b":1e2,"a":123456789012345678901234567890}],"hr_request":"text","a":"\u202e"}`,
			`{"z":[1.0,{"b":1e2,"a":123456789012345678901234567890}],"hr_request":"text","a":"\u202e"}`},
		{"hr, the object", hrRequest, `{"x":1,"hr_request":{"days":2.50}}`, `{"days":2.50}`},
		{"hr, an empty object", hrRequest, `{"x":1,"hr_request":{}}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts, err := Resolve(test.typ, schemas.Raw(test.payload), "Hello\n", DefaultConfig(), askedAt)
			if err != nil {
				t.Fatal(err)
			}
			want := `[{"part":1,"type":"` + test.typ + `","provider":"mock","target":"","payload":` + test.want + `}]`
			if diff := cmp.Diff(compact(t, want), string(encode(t, parts))); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if test.payload != "" {
				checkError(t, CheckPayload(test.typ, schemas.Raw(test.payload)), "")
			}
		})
	}
}

// What a payload leaves out comes from the settings.
func TestWhatIsLeftOutComesFromTheSettings(t *testing.T) {
	c := DefaultConfig()
	c.Mail.DefaultTo, c.Mail.DefaultFrom = "lead@acme.example, pm@acme.example", "clerk@acme.example"
	c.Calendar.DefaultTimezone, c.Calendar.DefaultOwnerEmail = "Europe/Berlin", "owner@acme.example"
	for attendee, want := range map[string]string{"": `["lead@acme.example","pm@acme.example"]`, "room@acme.example": `["room@acme.example"]`} {
		c.Calendar.DefaultAttendee = attendee
		for typ, want := range map[string]string{
			mailDraft: `{"to":["lead@acme.example","pm@acme.example"],"subject":"Approval action mail_draft","body":"Hello\n","from":"clerk@acme.example"}`,
			meetingRequest: `{"attendee":` + want + `,"title":"Approval action meeting_request","start_at":"2026-11-25T02:02:00+01:00","end_at":"2026-11-25T03:02:00+01:00",
				"timezone":"Europe/Berlin","description":"Hello\n","meeting_url":"","owner_email":"owner@acme.example"}`,
		} {
			parts, err := Resolve(typ, nil, "Hello\n", c, askedAt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(compact(t, want), string(encode(t, parts[0].Payload))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", typ, diff)
			}
		}
	}
}

// compact returns a JSON text without blanks, with its order and spelling unchanged.
func compact(t testing.TB, s string) string {
	t.Helper()
	return string(encode(t, schemas.Raw(s)))
}

func TestResolveABatch(t *testing.T) {
	payload := schemas.Raw(`{"to":"ignored@b.example","actions":[
		{"type":"mail_draft","payload":{"to":"a@b.example"}}, {"action_type":"meeting_request"}, {"type":"hr_request","action_type":"hr_request","payload":null}]}`)
	for _, typ := range []string{mailDraft, meetingRequest, hrRequest} {
		checkError(t, CheckPayload(typ, payload), "")
		c := DefaultConfig()
		c.Mail.DefaultTo, c.Calendar.Provider, c.Mail.SMTPHost, c.HR.Provider, c.HR.APIURL = "c@d.example", ics, "smtp.d.example", http, "https://hr.d.example"
		parts, err := Resolve(typ, payload, "Hello", c, askedAt)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range parts {
			got = append(got, fmt.Sprintf("%d %s %s %q %v %v %q %q", p.Part, p.Type, p.Provider, p.Target, p.List("to"), p.List("attendee"), p.Text("request"), p.Text("description")))
		}
		want := []string{
			`1 mail_draft mock "" [a@b.example] [] "" ""`,
			`2 meeting_request ics "smtp.d.example" [] [c@d.example] "" "Hello"`,
			`3 hr_request http "https://hr.d.example" [] [] "Hello" ""`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
	}
}

// badPayloads cannot be registered, whatever the settings are.
var badPayloads = []struct{ name, typ, payload, err string }{
	{"unknown type", "fax", `{}`, "/type: unknown type `fax`: expected one of mail_draft, meeting_request, hr_request"},
	{"no object", mailDraft, `[1]`, "/payload: expected an object"},
	{"recipient with display name", mailDraft, `{"to":"Boss <boss@acme.example>"}`, "/payload/to/0: `Boss <boss@acme.example>` is not bare"},
	{"recipient of another kind", mailDraft, `{"to":{"a":1}}`, "/payload/to: expected an address, or an array of addresses"},
	{"recipients of other kinds", mailDraft, `{"to":["a@b.example",1]}`, "/payload/to: expected an address, or an array of addresses"},
	{"no recipients", mailDraft, `{"to":[]}`, "/payload/to: there are 0 addresses"},
	{"null among recipients", mailDraft, `{"to":["a@b.example",null]}`, "/payload/to/1"},
	{"empty recipient", mailDraft, `{"to":"a@b.example,"}`, "/payload/to/1"},
	{"21 recipients", mailDraft, `{"to":"` + strings.Repeat("a@b.example,", 20) + `a@b.example"}`, "/payload/to: there are 21 addresses"},
	{"look-alikes", mailDraft, `{"to":["pm@acme.example","prn@acme.example"]}`, "/payload: to/1 looks like to/0 and is another address"},
	{"two senders", mailDraft, `{"from":"a@b.example,c@d.example"}`, "/payload/from: there are 2 addresses: expected one"},
	{"subject of another kind", mailDraft, `{"subject":1}`, "/payload/subject: expected a text"},
	{"CR in the subject", mailDraft, `{"subject":"a\rBcc: x@y.example"}`, `/payload/subject: holds the line end \u{d}`},
	{"line separator in the subject", mailDraft, `{"subject":"a\u2028b"}`, `/payload/subject: holds the line end \u{2028}`},
	{"escape in the subject", mailDraft, `{"subject":"a\u001b[2J"}`, `/payload/subject: holds the control character \u{1b}`},
	{"blank subject", mailDraft, `{"subject":" \u200b"}`, "/payload/subject: is blank"},
	{"long subject", mailDraft, `{"subject":"` + strings.Repeat("é", 450) + `x"}`, "/payload/subject: has 901 bytes: expected at most 900"},
	{"large body", mailDraft, `{"content":"` + strings.Repeat("x", 256<<10+1) + `"}`, "/payload/content: has 262145 bytes: expected at most 262144"},
	{"NUL in the body", mailDraft, `{"body":"\u0000"}`, `/payload/body: holds the control character \u{0}`},
	{"two bodies", mailDraft, `{"body":"a","content":"b"}`, "/payload/body and /payload/content differ"},
	{"control character in an unknown member", mailDraft, `{"x":[{"\u0007":1}]}`, `holds the control character \u{7}`},
	{"49 levels", mailDraft, `{"x":` + strings.Repeat("[", 48) + strings.Repeat("]", 48) + `}`, "is nested too deep: expected at most 48 levels"},
	{"attendee", meetingRequest, `{"attendee":"\"x\"@acme.example"}`, "/payload/attendee/0"},
	{"two titles on lines", meetingRequest, `{"title":"a\nb"}`, "/payload/title: holds the line end"},
	{"two starts", meetingRequest, `{"start_at":"2026-12-01T10:00:00Z","startAt":"2026-12-01T10:00Z"}`, "/payload/start_at and /payload/startAt differ"},
	{"two ends", meetingRequest, `{"end_at":"2026-12-01T10:00","endAt":"2026-12-01T11:00"}`, "/payload/end_at and /payload/endAt differ"},
	{"two owners", meetingRequest, `{"owner_email":"a@b.example","owner":"c@d.example"}`, "/payload/owner_email and /payload/owner differ"},
	{"two URLs", meetingRequest, `{"meeting_url":"https://a.example","meetingUrl":"https://b.example"}`, "/payload/meeting_url and /payload/meetingUrl differ"},
	{"day alone", meetingRequest, `{"startAt":"2026-12-01"}`, "/payload/startAt: `2026-12-01` is no time"},
	{"no such day", meetingRequest, `{"start_at":"2026-02-30T10:00"}`, "/payload/start_at"},
	{"number as time", meetingRequest, `{"start_at":1764583200}`, "/payload/start_at: expected a text"},
	{"hour with one digit", meetingRequest, `{"start_at":"2026-12-01T9:00"}`, "/payload/start_at"},
	{"time that the clocks leave out", meetingRequest, `{"start_at":"2026-03-29T02:30","timezone":"Europe/Berlin"}`, "/payload/start_at: `2026-03-29T02:30` is no time in Europe/Berlin"},
	{"end at the start", meetingRequest, `{"start_at":"2026-12-01T10:00:00Z","end_at":"2026-12-01T11:00:00+01:00"}`, "/payload/end_at: the meeting ends at"},
	{"end before the start", meetingRequest, `{"start_at":"2026-12-01T10:00","end_at":"2026-12-01T09:00","timezone":"UTC"}`, "/payload/end_at"},
	{"zone", meetingRequest, `{"timezone":"Middle/Earth"}`, "/payload/timezone: `Middle/Earth` is no time zone"},
	{"zone of a path", meetingRequest, `{"timezone":"../UTC"}`, "/payload/timezone"},
	{"URL of a script", meetingRequest, `{"meeting_url":"javascript:alert(1)"}`, "/payload/meeting_url: expected an address"},
	{"URL with a user", meetingRequest, `{"meetingUrl":"https://meet.acme.example@evil.example/"}`, "/payload/meeting_url"},
	{"URL with bidi", meetingRequest, `{"meeting_url":"https://acme.example/\u202e"}`, "/payload/meeting_url"},
	{"large object", hrRequest, `{"hr_request":{"x":"` + strings.Repeat("x", 64<<10) + `"}}`, "/payload/hr_request: has 65544 bytes: expected at most 65536"},
	{"escape in an object", hrRequest, `{"a":{"b":["\u001b"]}}`, `/payload/a/b/0: holds the control character \u{1b}`},
	{"actions are no array", hrRequest, `{"actions":{}}`, "/payload/actions: expected an array of 1 to 20"},
	{"no actions", mailDraft, `{"actions":[]}`, "/payload/actions: expected an array of 1 to 20"},
	{"21 actions", mailDraft, `{"actions":[` + strings.Repeat(`{"type":"hr_request"},`, 20) + `{"type":"hr_request"}]}`, "/payload/actions: expected an array of 1 to 20"},
	{"unknown type as part 2", mailDraft, `{"actions":[{"type":"hr_request"},{"type":"fax"}]}`, "/payload/actions/1/type: unknown type `fax`"},
	{"part 2 without type", mailDraft, `{"actions":[{"type":"hr_request"},{}]}`, "/payload/actions/1/type: unknown type"},
	{"part 2 is no object", mailDraft, `{"actions":[{"type":"hr_request"},"x"]}`, "/payload/actions/1: expected an object with type and payload"},
	{"part 2 is null", mailDraft, `{"actions":[{"type":"hr_request"},null]}`, "/payload/actions/1: expected an object with type and payload"},
	{"payload of part 2 is no object", mailDraft, `{"actions":[{"type":"hr_request"},{"type":"hr_request","payload":[]}]}`, "/payload/actions/1/payload: expected an object"},
	{"two types", mailDraft, `{"actions":[{"type":"hr_request","action_type":"mail_draft"}]}`, "/payload/actions/0/type and /payload/actions/0/action_type differ"},
	{"batch in a batch", mailDraft, `{"actions":[{"type":"hr_request","payload":{"actions":[]}}]}`, "/payload/actions/0: a batch cannot hold a batch"},
	{"batch in an element", mailDraft, `{"actions":[{"type":"hr_request","actions":[{"type":"hr_request"}]}]}`, "a batch cannot hold a batch"},
	{"look-alikes in part 2", mailDraft, `{"actions":[{"type":"hr_request"},{"type":"mail_draft","payload":{"to":["pm@acme.example","prn@acme.example"]}}]}`,
		"/payload/actions/1/payload: to/1 looks like to/0 and is another address"},
}

func TestBadPayloads(t *testing.T) {
	for _, test := range badPayloads {
		t.Run(test.name, func(t *testing.T) {
			checkError(t, CheckPayload(test.typ, schemas.Raw(test.payload)), test.err)
			_, err := Resolve(test.typ, schemas.Raw(test.payload), "x", DefaultConfig(), askedAt)
			checkError(t, err, test.err)
		})
	}
}

// What depends on the settings is not checked without them.
func TestPayloadsThatTheSettingsDecide(t *testing.T) {
	smtpOnly := DefaultConfig()
	smtpOnly.Mail.Provider, smtpOnly.Mail.SMTPHost = smtp, "smtp.acme.example"
	unset := smtpOnly
	unset.Mail.DefaultTo, unset.Mail.SMTPHost = "boss@acme.example", ""
	nobody := DefaultConfig()
	nobody.Mail.DefaultTo = ""
	invites := DefaultConfig()
	invites.Calendar.Provider, invites.Mail.SMTPHost = ics, "smtp.acme.example"
	for _, test := range []struct {
		name, typ, payload, body, err string
		config                        Config
	}{
		{name: "built-in recipient by smtp", typ: mailDraft, payload: `{}`, config: smtpOnly, err: "/payload/to: there is no recipient: give one, or set mail.default_to"},
		{name: "the same, named by the creator", typ: mailDraft, payload: `{"to":"manager@example.com"}`, config: smtpOnly},
		{name: "built-in attendee by ics", typ: meetingRequest, payload: `{}`, config: invites, err: "/payload/attendee: there is no recipient: give one, or set calendar.default_attendee"},
		{name: "no default recipient", typ: mailDraft, payload: `{"from":"a@b.example"}`, config: nobody, err: "/payload/to: there is no recipient"},
		{name: "no host", typ: mailDraft, payload: `{}`, config: unset, err: "part 1 goes by smtp, and mail.smtp_host is not set"},
		{name: "end before the default start", typ: meetingRequest, payload: `{"end_at":"2026-11-24T00:00:00Z"}`, config: DefaultConfig(), err: "/payload/end_at"},
		{name: "local end before the start", typ: meetingRequest, payload: `{"start_at":"2026-12-01T10:00:00Z","end_at":"2026-12-01T11:00"}`, config: DefaultConfig(), err: "/payload/end_at"},
		{name: "long ago", typ: meetingRequest, payload: `{"start_at":"1999-12-01T10:00:00Z"}`, config: DefaultConfig(), err: "/payload/start_at"},
		{name: "looks like a setting", typ: mailDraft, payload: `{"to":"rnanager@example.com"}`, config: DefaultConfig(), err: "/payload: to/0 looks like mail.default_to and is another address"},
		{name: "large body text for hr", typ: hrRequest, payload: `{}`, config: DefaultConfig(), body: strings.Repeat("x", 64<<10), err: "/payload: has 65550 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkError(t, CheckPayload(test.typ, schemas.Raw(test.payload)), "")
			_, err := Resolve(test.typ, schemas.Raw(test.payload), test.body, test.config, askedAt)
			checkError(t, err, test.err)
		})
	}
}

func TestBodiesOf256KiB(t *testing.T) {
	body := strings.Repeat("é", 128<<10)
	parts, err := Resolve(mailDraft, encode(t, schemas.Object{{Name: "body", Value: body}}), "x", DefaultConfig(), askedAt)
	if err != nil || parts[0].Text("body") != body {
		t.Errorf("a body of 256 KiB does not stay as it is: %v", err)
	}
	parts, err = Resolve(mailDraft, schemas.Raw(`{}`), body, DefaultConfig(), askedAt)
	if err != nil || parts[0].Text("body") != body {
		t.Errorf("a body text of 256 KiB does not stay as it is: %v", err)
	}
}

func TestPartsAreReadAsTheyWereWritten(t *testing.T) {
	parts, err := Resolve(mailDraft, schemas.Raw(`{"to":"a@b.example,c@d.example","subject":"\u202e\"x"}`), "x", DefaultConfig(), askedAt)
	if err != nil {
		t.Fatal(err)
	}
	body, err := schemas.Encode(parts)
	if err != nil {
		t.Fatal(err)
	}
	var read []Part
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Part{parts[0], read[0]} {
		if got := p.List("to"); !slices.Equal(got, []string{"a@b.example", "c@d.example"}) || p.Text("subject") != "\u202e\"x" || p.List("subject") != nil || p.Text("to") != "" || p.Text("none") != "" {
			t.Errorf("the part has the recipients %q and the subject %q", got, p.Text("subject"))
		}
	}
	if got := read[0].addresses(); !slices.Equal(got, parts[0].addresses()) || len(got) != 3 {
		t.Errorf("the part has the addresses %v", got)
	}
}

const goodOverride = `{"attendee":"x@b.example","title":"New","startAt":"2026-12-01T10:00","endAt":"2026-12-01T11:00"}`

func TestOverride(t *testing.T) {
	resolveBatch := func(types ...string) []Part {
		var actions []schemas.Object
		for _, typ := range types {
			actions = append(actions, schemas.Object{{Name: "type", Value: typ}, {Name: "payload", Value: schemas.Object{{Name: "meeting_url", Value: "https://a.example"}}}})
		}
		parts, err := Resolve(mailDraft, encode(t, schemas.Object{{Name: "actions", Value: actions}}), "Hello", DefaultConfig(), askedAt)
		if err != nil {
			t.Fatal(err)
		}
		return parts
	}
	before := resolveBatch(mailDraft, meetingRequest, hrRequest)
	shown := string(encode(t, before))
	with, same, err := Override(before, schemas.Raw(goodOverride), "Hello", DefaultConfig(), askedAt)
	if err != nil || same {
		t.Fatalf("an override that changes something: same %t, %v", same, err)
	}
	want := compact(t, `{"part":2,"type":"meeting_request","provider":"mock","target":"","payload":{"attendee":["x@b.example"],"title":"New",
		"start_at":"2026-12-01T10:00:00+09:00","end_at":"2026-12-01T11:00:00+09:00","timezone":"Asia/Tokyo","description":"Hello","meeting_url":"","owner_email":""}}`)
	if got := string(encode(t, with[1])); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(encode(t, before)); got != shown || len(with) != 3 || string(encode(t, with[0])) != string(encode(t, before[0])) {
		t.Errorf("the parts before became %s", got)
	}
	for _, again := range []schemas.Raw{schemas.Raw(goodOverride), encode(t, with[1].Payload),
		schemas.Raw(`{"attendee":["x@b.example"],"title":"New","start_at":"2026-12-01T01:00:00Z","end_at":"2026-12-01T02:00:00Z","meetingUrl":"","timezone":null}`)} {
		if _, same, err := Override(with, again, "Hello", DefaultConfig(), askedAt.Add(time.Hour)); err != nil || !same {
			t.Errorf("the same again, %s: same %t, %v", again, same, err)
		}
	}
	for _, test := range []struct{ name, types, calendar, err string }{
		{"no meeting", "mail_draft hr_request", goodOverride, "/calendar: the action must have exactly one meeting"},
		{"two meetings", "meeting_request meeting_request", goodOverride, "exactly one meeting"},
		{"no attendee", "meeting_request", `{"title":"New","startAt":"2026-12-01T10:00","endAt":"2026-12-01T11:00"}`, "/calendar/attendee: is missing"},
		{"blank title", "meeting_request", strings.Replace(goodOverride, "New", " ", 1), "/calendar/title: is missing"},
		{"no start", "meeting_request", strings.Replace(goodOverride, `"2026-12-01T10:00"`, `""`, 1), "/calendar/startAt: is missing"},
		{"null end", "meeting_request", strings.Replace(goodOverride, `"2026-12-01T11:00"`, `null`, 1), "/calendar/endAt: is missing"},
		{"end before start", "meeting_request", strings.Replace(goodOverride, "11:00", "09:00", 1), "/calendar/end_at: the meeting ends at"},
		{"display name", "meeting_request", strings.Replace(goodOverride, "x@b.example", "X <x@b.example>", 1), "/calendar/attendee/0"},
		{"look-alike of a setting", "meeting_request", strings.Replace(goodOverride, "x@b", "rnanager@example.com,x@b", 1), "/calendar: attendee/0 looks like mail.default_to"},
		{"control character", "meeting_request", strings.Replace(goodOverride, `{`, `{"x":"\u0007",`, 1), `/calendar/x: holds the control character \u{7}`},
		{"no object", "meeting_request", `[]`, "/calendar: expected an object"},
		{"nothing", "meeting_request", `{}`, "/calendar/attendee: is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := Override(resolveBatch(strings.Fields(test.types)...), schemas.Raw(test.calendar), "Hello", DefaultConfig(), askedAt)
			checkError(t, err, test.err)
		})
	}
}

// FuzzResolve checks for every payload that everything that can be requested can be registered,
// that what is shown resolves to itself, and that it can be written and read.
func FuzzResolve(f *testing.F) {
	for _, bad := range badPayloads {
		if len(bad.payload) < 1000 {
			f.Add(bad.typ, bad.payload)
		}
	}
	f.Add(meetingRequest, goodOverride)
	f.Add(mailDraft, `{"actions":[{"type":"mail_draft"},{"type":"meeting_request"},{"action_type":"hr_request","payload":{"a":[1.0]}}]}`)
	f.Fuzz(func(t *testing.T, typ, payload string) {
		if schemas.Decode("", "", []byte(payload), nil) != nil {
			return // no document can hold it
		}
		known := CheckPayload(typ, schemas.Raw(payload))
		parts, err := Resolve(typ, schemas.Raw(payload), "Hello", DefaultConfig(), askedAt)
		if err != nil {
			return
		}
		if known != nil {
			t.Fatalf("%s can be asked about, and cannot be registered: %v", payload, known)
		}
		for _, p := range parts {
			body := encode(t, p.Payload)
			if err := schemas.Decode("", "", body, nil); err != nil {
				t.Fatalf("the payload %s cannot be read: %v", body, err)
			}
			if p.Type == hrRequest {
				continue
			}
			again, err := Resolve(p.Type, body, "other", DefaultConfig(), askedAt.Add(time.Hour))
			if err != nil || string(encode(t, again[0].Payload)) != string(body) {
				t.Fatalf("%s means %s, %v", body, encode(t, again), err)
			}
			for _, a := range p.addresses() {
				if a.address != strings.TrimSpace(a.address) || strings.ContainsAny(a.address, "<>\",\r\n") {
					t.Fatalf("%s has the address %q", body, a.address)
				}
			}
			if p.Type != meetingRequest {
				continue
			}
			if _, err := Invitation(p, "key", "clerk@acme.example", askedAt); err != nil {
				t.Fatalf("%s cannot be invited to: %v", body, err)
			}
		}
	})
}
