package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"placet/templates"
)

// Serve is the table [serve]: the address at which people and programs reach the workspace.
type Serve struct {
	Listen         string   `toml:"listen"` // host:port
	PublicURL      string   `toml:"public_url"`
	AllowedHosts   []string `toml:"allowed_hosts"`
	AllowedOrigins []string `toml:"allowed_origins"`
	// Wait is how long a call waits for the result of its answer: "5s".
	Wait string `toml:"wait"`
}

// check reports the key and the problem of the first setting that the schema accepts but that
// cannot be used.
func (s Serve) check() (key string, err error) {
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return "listen", templates.Errorf("config.serve.listen", "value", strconv.Quote(s.Listen))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || host == "" {
		return "listen", templates.Errorf("config.serve.port", "value", strconv.Quote(s.Listen))
	}
	if u, err := url.Parse(s.PublicURL); s.PublicURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "") {
		return "public_url", templates.Errorf("config.serve.address", "value", strconv.Quote(s.PublicURL))
	}
	for _, o := range s.AllowedOrigins {
		if u, err := url.Parse(o); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" {
			return "allowed_origins", templates.Errorf("config.serve.origins", "value", strconv.Quote(o))
		}
	}
	return "", nil
}

// Waits returns how long a call waits.
func (s Serve) Waits() time.Duration {
	d, _ := time.ParseDuration(s.Wait) // already checked
	return d
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
