package nemawashi

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"placet/engine/gate"
	"placet/templates"
)

// Limits of addresses.
const (
	mostAddresses  = 20
	longestAddress = 254
	longestLine    = 900 // of a subject or a title, in bytes
)

// localPart is what may stand before the @ without quotation marks (RFC 5322, dot-atom).
var localPart = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$")

// splitList takes a list with commas apart.
func splitList(s string) (list []string) {
	for _, one := range strings.Split(s, ",") {
		list = append(list, strings.TrimSpace(one))
	}
	return list
}

// addresses checks a list of addresses; at is its place.
func addresses(at string, list []string) ([]string, error) {
	if len(list) < 1 || len(list) > mostAddresses {
		return nil, refuse("%s: there are %d addresses: expected 1 to %d", at, len(list), mostAddresses)
	}
	for i, a := range list {
		if why := badAddress(a); why != "" {
			return nil, refuse("%s/%d: %s: %s; expected a bare address such as name@example.com", at, i, templates.Cut(templates.Code(a), 300), why)
		}
		for j, other := range list[:i] {
			if looksLike(a, other) {
				return nil, refuse("%s/%d looks like %s/%d and is another address: %s, %s", at, i, at, j, templates.Code(a), templates.Code(other))
			}
		}
	}
	return list, nil
}

// badAddress says what is wrong with an address, "" for nothing.
func badAddress(a string) string {
	local, domain, ok := strings.Cut(a, "@")
	switch {
	case len(a) > longestAddress:
		return "it is longer than 254 bytes"
	case templates.Clean(a) != a || strings.IndexFunc(a, unicode.IsSpace) >= 0:
		return "it holds blanks, or characters that cannot be seen"
	case !ok || strings.ContainsAny(a, `<>()"\,;:[]`):
		return "it holds a display name, a comment, a group or quotation marks, or no @"
	case !localPart.MatchString(local):
		return "what stands before the @ is no plain name"
	}
	if scripts := gate.MixedScripts(domain); scripts != nil {
		return "its domain mixes letters of " + strings.Join(scripts, " and ")
	}
	if ascii, err := idna.Lookup.ToASCII(domain); err != nil || ascii == "" {
		return "its domain is none"
	}
	return ""
}

// looksLike reports whether two addresses differ and a person could take one for the
// other.
func looksLike(a, b string) bool {
	return a != b && (gate.Skeleton(a) == gate.Skeleton(b) || gate.Skeleton(strings.ToLower(a)) == gate.Skeleton(strings.ToLower(b)))
}

// imitates says which address of the settings one looks like, "" for none.
func (c Config) imitates(list []string) (address, key string) {
	own := []struct{ key, value string }{
		{"mail.default_to", c.Mail.DefaultTo}, {"mail.default_from", c.Mail.DefaultFrom}, {"calendar.default_attendee", c.Calendar.DefaultAttendee},
		{"calendar.default_owner_email", c.Calendar.DefaultOwnerEmail},
	}
	for _, a := range list {
		for _, o := range own {
			if slices.ContainsFunc(splitList(o.value), func(known string) bool { return known != "" && looksLike(a, known) }) {
				return a, o.key
			}
		}
	}
	return "", ""
}

// ShownAddress is an address as people are shown it: an international domain also as it
// is looked up.
func ShownAddress(a string) string {
	local, domain, _ := strings.Cut(a, "@")
	if ascii, err := idna.Lookup.ToASCII(domain); err == nil && ascii != domain && !strings.EqualFold(ascii, domain) {
		return a + " (" + local + "@" + ascii + ")"
	}
	return a
}

// checkText refuses control characters but tabs and line ends.
func checkText(at, s string) error {
	for _, r := range s {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return refuse(`%s holds the control character \u{%x}`, at, r)
		}
	}
	return nil
}

// checkTitle refuses what is no single line of at most 900 bytes.
func checkTitle(at, s string) error {
	switch {
	case len(s) > longestLine:
		return refuse("%s has %d bytes: it may have %d", at, len(s), longestLine)
	case strings.ContainsAny(s, "\r\n\u0085\u2028\u2029"):
		return refuse("%s holds a line end: expected one line", at)
	case templates.Blank(s):
		return refuse("%s is blank", at)
	}
	return checkText(at, s)
}
