package nemawashi

import (
	"cmp"
	"net/url"
	"strings"
	"time"
	_ "time/tzdata" // the system may have no time zones of its own
	"unicode/utf8"

	"placet/templates"
)

// location returns a time zone of IANA's list. It refuses the machine's own zone, which has no name
// in that list.
func location(name string) (*time.Location, error) {
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, refuse("zone.unknown", "zone", templates.Code(templates.Cut(name, 80)))
	}
	return loc, nil
}

// Invitation returns the event.ics of a meeting (RFC 5545). from is the sender, and the organizer
// if the meeting has no owner. The UID is made of key and the domain of from.
func Invitation(p Part, key, from string, stamp time.Time) ([]byte, error) {
	start, err := time.Parse(time.RFC3339, p.Text("start_at"))
	if err != nil {
		return nil, refuse("part.member", "part", p.Part, "member", "start_at", "error", err)
	}
	end, err := time.Parse(time.RFC3339, p.Text("end_at"))
	if err != nil {
		return nil, refuse("part.member", "part", p.Part, "member", "end_at", "error", err)
	}
	_, domain, _ := strings.Cut(asciiAddress(from), "@")
	lines := []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//placet//nemawashi//EN", "METHOD:REQUEST", "BEGIN:VEVENT",
		"UID:" + key + "@" + domain, "SEQUENCE:0", "DTSTAMP:" + utc(stamp), "DTSTART:" + utc(start), "DTEND:" + utc(end),
		"ORGANIZER:" + mailto(cmp.Or(p.Text("owner_email"), from)),
	}
	for _, a := range p.List("attendee") {
		lines = append(lines, "ATTENDEE;RSVP=TRUE:"+mailto(a))
	}
	lines = append(lines, "SUMMARY:"+escapeText(p.Text("title")), "DESCRIPTION:"+escapeText(p.Text("description")))
	if u := p.Text("meeting_url"); u != "" {
		lines = append(lines, "URL:"+u)
	}
	lines = append(lines, "STATUS:CONFIRMED", "END:VEVENT", "END:VCALENDAR")
	var b strings.Builder
	for _, line := range lines {
		foldLine(&b, line)
	}
	return []byte(b.String()), nil
}

func utc(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// mailto returns the URI of an address (RFC 6068).
func mailto(a string) string {
	local, domain, _ := strings.Cut(asciiAddress(a), "@")
	return "mailto:" + strings.NewReplacer("&", "%26", "=", "%3D").Replace(url.PathEscape(local)) + "@" + domain
}

// escapeText escapes a text as a value (RFC 5545, 3.3.11).
var escapeText = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace

// foldLine writes a line in pieces of at most 75 octets, without splitting a character (RFC 5545,
// 3.1).
func foldLine(b *strings.Builder, line string) {
	room := 75
	for len(line) > room {
		cut := room
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		b.WriteString(line[:cut] + "\r\n ")
		line, room = line[cut:], 74 // the blank counts
	}
	b.WriteString(line + "\r\n")
}
