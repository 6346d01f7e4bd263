package nemawashi

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/schemas"
)

func meetingPart(members ...schemas.Member) Part {
	o := schemas.Object{
		{Name: "attendee", Value: []string{"a@acme.example", "b&c%=d@bücher.example"}}, {Name: "title", Value: "Review, part 1; with \\"},
		{Name: "start_at", Value: "2026-11-25T10:00:00+09:00"}, {Name: "end_at", Value: "2026-11-25T11:30:00+09:00"},
		{Name: "timezone", Value: "Asia/Tokyo"}, {Name: "description", Value: "one\r\ntwo\nthree\rfour"},
	}
	return Part{Part: 1, Type: meetingRequest, Payload: append(o, members...)}
}

func TestInvitation(t *testing.T) {
	stamp := time.Date(2026, 11, 24, 8, 9, 10, 999, time.FixedZone("", 3600))
	got, err := Invitation(meetingPart(schemas.Member{Name: "meeting_url", Value: "https://meet.acme.example/room?a=1;b=2"}), "job-0123456789ab-1", "clerk@bücher.example", stamp)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//placet//nemawashi//EN
METHOD:REQUEST
BEGIN:VEVENT
UID:job-0123456789ab-1@xn--bcher-kva.example
SEQUENCE:0
DTSTAMP:20261124T070910Z
DTSTART:20261125T010000Z
DTEND:20261125T023000Z
ORGANIZER:mailto:clerk@xn--bcher-kva.example
ATTENDEE;RSVP=TRUE:mailto:a@acme.example
ATTENDEE;RSVP=TRUE:mailto:b%26c%25%3Dd@xn--bcher-kva.example
SUMMARY:Review\, part 1\; with \\
DESCRIPTION:one\ntwo\nthree\nfour
URL:https://meet.acme.example/room?a=1;b=2
STATUS:CONFIRMED
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n")
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("event.ics (-want +got):\n%s", diff)
	}
	owned, err := Invitation(meetingPart(schemas.Member{Name: "owner_email", Value: "owner@acme.example"}), "k", "clerk@acme.example", stamp)
	if err != nil || !strings.Contains(string(owned), "\r\nORGANIZER:mailto:owner@acme.example\r\n") || strings.Contains(string(owned), "URL:") {
		t.Errorf("with an owner and without a URL: %v\n%s", err, owned)
	}
	p := meetingPart()
	p.Payload[3].Value = "tomorrow"
	_, err = Invitation(p, "k", "clerk@acme.example", stamp)
	checkError(t, err, "part 1: end_at")
}

func TestFoldedLinesUnfoldToWhatTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOfN(rapid.SampledFrom([]rune("ab:; é漢🙂")), 0, 200, -1).Draw(t, "line")
		var b strings.Builder
		foldLine(&b, line)
		folded, ok := strings.CutSuffix(b.String(), "\r\n")
		if !ok || strings.ReplaceAll(folded, "\r\n ", "") != line {
			t.Fatalf("%q does not unfold to %q", b.String(), line)
		}
		for _, piece := range strings.Split(folded, "\r\n") {
			if len(piece) > 75 || !utf8.ValidString(piece) {
				t.Fatalf("%q is longer than 75 octets, or cuts a character", piece)
			}
		}
	})
}
