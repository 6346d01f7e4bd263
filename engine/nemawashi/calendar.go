package nemawashi

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a machine without time zones would refuse every meeting
	"unicode/utf8"

	"placet/templates"
)

// location is a time zone of IANA's list. The zone of this machine is none.
func location(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone such as Asia/Tokyo", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone such as Asia/Tokyo", templates.Cut(name, 80))
	}
	return loc, nil
}

// Invitation is event.ics of a meeting (RFC 5545): key and from make its UID, and from
// is the organizer where the meeting names none.
func Invitation(p Part, key, from string, stamp time.Time) ([]byte, error) {
	start, err := time.Parse(time.RFC3339, p.Text("start_at"))
	if err != nil {
		return nil, err
	}
	end, err := time.Parse(time.RFC3339, p.Text("end_at"))
	if err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(from, "@")
	organizer := p.Text("owner_email")
	if organizer == "" {
		organizer = from
	}
	lines := []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//placet//nemawashi//EN", "METHOD:REQUEST", "BEGIN:VEVENT",
		"UID:" + key + "@" + domain, "SEQUENCE:0", "DTSTAMP:" + utc(stamp), "DTSTART:" + utc(start), "DTEND:" + utc(end),
		"ORGANIZER:mailto:" + organizer,
	}
	for _, a := range p.List("attendee") {
		lines = append(lines, "ATTENDEE;RSVP=TRUE:mailto:"+a)
	}
	lines = append(lines, "SUMMARY:"+escapeICS(p.Text("title")), "DESCRIPTION:"+escapeICS(p.Text("description")))
	if url := p.Text("meeting_url"); url != "" {
		lines = append(lines, "URL:"+url)
	}
	lines = append(lines, "STATUS:CONFIRMED", "END:VEVENT", "END:VCALENDAR")
	var b strings.Builder
	for _, line := range lines {
		fold(&b, line)
	}
	return []byte(b.String()), nil
}

func utc(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// escapeICS writes a text as a value (RFC 5545, 3.3.11).
func escapeICS(s string) string {
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(s)
}

// fold writes a line in pieces of at most 75 octets, none of which cuts a character
// (RFC 5545, 3.1).
func fold(b *strings.Builder, line string) {
	const most = 75
	room := most
	for len(line) > room {
		cut := room
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		b.WriteString(line[:cut] + "\r\n ")
		line, room = line[cut:], most-1
	}
	b.WriteString(line + "\r\n")
}
