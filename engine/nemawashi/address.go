package nemawashi

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"placet/engine/gate"
	"placet/templates"
)

// Limits of addresses and lines: a number of addresses, the others in bytes.
const (
	mostAddresses  = 20
	longestAddress = 254
	longestLine    = 900
)

// domains converts domains into the form in which they are looked up.
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true))

// splitList returns the elements of a comma-separated list.
func splitList(s string) []string {
	list := strings.Split(s, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// checkAddresses refuses a list that is not 1 to 20 bare addresses; at is the place of the list.
func checkAddresses(at string, list []string) error {
	if len(list) < 1 || len(list) > mostAddresses {
		return refuse("address.count", "at", at, "n", len(list), "most", mostAddresses)
	}
	for i, a := range list {
		if why := badAddress(a); why != nil {
			return refuse("address.bad", "at", fmt.Sprintf("%s/%d", at, i), "address", templates.Code(templates.Cut(a, 300)), "why", why)
		}
	}
	return nil
}

// badAddress returns what is wrong with an address, or nil.
func badAddress(a string) error {
	local, domain, found := strings.Cut(a, "@")
	switch {
	case len(a) > longestAddress:
		return refuse("address.long", "most", longestAddress)
	case strings.ContainsFunc(a, isUnseen):
		return refuse("address.unseen")
	case !found || !isDotAtom(local):
		return refuse("address.decorated")
	}
	ascii, err := domains.ToASCII(domain)
	if err != nil || ascii == "" || strings.HasSuffix(ascii, ".") {
		return refuse("address.domain")
	}
	decoded, _ := domains.ToUnicode(ascii)
	for _, part := range []string{local, domain, decoded} {
		if scripts := gate.MixedScripts(part); scripts != nil {
			return refuse("address.scripts", "scripts", templates.NewMessage("list.and", "all", strings.Join(scripts[:len(scripts)-1], ", "), "last", scripts[len(scripts)-1]))
		}
	}
	return nil
}

// isUnseen reports whether a character is invisible or changes the appearance of another one.
func isUnseen(r rune) bool {
	return templates.Hidden(r) || !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r)
}

// isDotAtom reports whether a text may precede the @ without quotation marks (RFC 5322, 3.2.3, with
// the letters of RFC 6532).
func isDotAtom(local string) bool {
	for _, atom := range strings.Split(local, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool { return !isAtomText(r) }) {
			return false
		}
	}
	return true
}

func isAtomText(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

// placed is an address with its place: to/0 in a payload, mail.default_to in the settings.
type placed struct{ at, address string }

// checkLooks refuses an address that a person could mistake for an earlier one in the list.
func checkLooks(list []placed) error {
	looks := map[string]placed{}
	for _, p := range list {
		for _, look := range []string{gate.Skeleton(p.address), gate.Skeleton(strings.ToLower(p.address))} {
			earlier, ok := looks[look]
			if ok && lowerASCII(earlier.address) != lowerASCII(p.address) {
				return refuse("address.looks", "at", p.at, "other", earlier.at)
			}
			if !ok {
				looks[look] = p
			}
		}
	}
	return nil
}

// lowerASCII converts A to Z to lower case. It leaves characters alone that only look like these
// letters.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// asciiAddress returns an address with its domain in the form in which it is looked up.
func asciiAddress(a string) string {
	local, domain, _ := strings.Cut(a, "@")
	if ascii, err := domains.ToASCII(domain); err == nil {
		domain = ascii
	}
	return local + "@" + domain
}

// ShownAddress returns an address for people. It adds the form in which an international domain is
// looked up.
func ShownAddress(a string) string {
	if ascii := asciiAddress(a); lowerASCII(ascii) != lowerASCII(a) {
		return a + " (" + ascii + ")"
	}
	return a
}

// checkText refuses control characters other than tabs and line ends; at is the place of the text,
// or a message.
func checkText(at any, s string) error {
	for _, r := range s {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return refuse("text.control", "at", at, "char", fmt.Sprintf(`\u{%x}`, r))
		}
	}
	return nil
}

// checkLine refuses a text that is not one line of 1 to 900 bytes.
func checkLine(at, s string) error {
	if i := strings.IndexAny(s, "\n\r\v\f\u0085\u2028\u2029"); i >= 0 {
		return refuse("line.end", "at", at, "char", fmt.Sprintf(`\u{%x}`, []rune(s[i:])[0]))
	}
	switch {
	case len(s) > longestLine:
		return refuse("size", "at", at, "n", len(s), "most", longestLine)
	case templates.Blank(s):
		return refuse("line.blank", "at", at)
	}
	return checkText(at, s)
}
