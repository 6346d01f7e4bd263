package facade

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// browserHosts reads the names of hosts as browsers do: letters that look like ASCII letters become
// these.
var browserHosts = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

// LeadsToLoopback reports whether a browser that follows a link reaches a program on its own machine,
// however the link spells that: as a name, as an address, or as numbers that browsers read as an
// address. A browser sends the cookies of a host to all its ports.
func LeadsToLoopback(link string) bool {
	u, err := url.Parse(link)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if name, err := browserHosts.ToASCII(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if v4, ok := parseIPv4(host); ok {
		ip = v4
	} else if err != nil {
		return false
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsUnspecified() // the unspecified address also reaches the machine itself on some systems
}

// parseIPv4 parses an address by the URL Standard: one to four numbers, decimal, octal after 0 or
// hexadecimal after 0x. The last number fills the rest of the 32 bits.
func parseIPv4(host string) (ip netip.Addr, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return ip, false
	}
	var address uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		if !ok || n >= 1<<bits {
			return ip, false
		}
		address = address<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}), true
}

// parseNumber parses a number of such an address.
func parseNumber(part string) (n uint64, ok bool) {
	base := 10
	digits, hex := strings.CutPrefix(part, "0x")
	switch {
	case hex && digits == "":
		return 0, true
	case hex:
		base = 16
	case len(part) > 1 && part[0] == '0':
		base = 8
	}
	n, err := strconv.ParseUint(digits, base, 64)
	return n, err == nil
}
