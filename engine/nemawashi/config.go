package nemawashi

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"

	"placet/templates"
)

// Config is the block [nemawashi] of the configuration.
type Config struct {
	Enabled          bool   `toml:"enabled"`
	Language         string `toml:"language"`
	RequestApproval  string `toml:"request_approval"` // auto or explicit
	ExecuteOnApprove bool   `toml:"execute_on_approve"`
	ExecuteOverride  string `toml:"execute_override"` // reapprove or allow
	ApprovalTTL      string `toml:"approval_ttl"`     // "" for never
	// Approvers tighten [gates].
	Approvers []string       `toml:"approvers"`
	Mail      MailConfig     `toml:"mail"`
	Calendar  CalendarConfig `toml:"calendar"`
	HR        HRConfig       `toml:"hr"`
	// ApproverIDs are those of the variable APPROVER_USER_IDS, which tighten [gates], too.
	ApproverIDs []string `toml:"-"`
	// Untrusted are the settings of real providers in force that the owner of the workspace
	// has not agreed to, by key: "mail.provider".
	Untrusted []string `toml:"-"`
	// Still is set where nothing may be sent.
	Still bool `toml:"-"`
}

// MailConfig says how mails are sent.
type MailConfig struct {
	Provider         string `toml:"provider"` // mock or smtp
	DefaultTo        string `toml:"default_to"`
	DefaultFrom      string `toml:"default_from"`
	SMTPHost         string `toml:"smtp_host"`
	SMTPPort         int    `toml:"smtp_port"`
	SMTPTLS          string `toml:"smtp_tls"` // starttls, tls or none
	SMTPUsername     string `toml:"smtp_username"`
	SMTPPasswordFile string `toml:"smtp_password_file"`
}

// CalendarConfig says how people are invited.
type CalendarConfig struct {
	Provider              string `toml:"provider"`         // mock, ics or http
	DefaultAttendee       string `toml:"default_attendee"` // "" for mail.default_to
	DefaultTimezone       string `toml:"default_timezone"`
	DefaultOwnerEmail     string `toml:"default_owner_email"`
	APIURL                string `toml:"api_url"`
	APITokenFile          string `toml:"api_token_file"`
	SendInvitation        bool   `toml:"send_invitation"`
	HonoursIdempotencyKey bool   `toml:"honours_idempotency_key"`
}

// HRConfig says how HR is asked.
type HRConfig struct {
	Provider              string `toml:"provider"` // mock or http
	APIURL                string `toml:"api_url"`
	APITokenFile          string `toml:"api_token_file"`
	HonoursIdempotencyKey bool   `toml:"honours_idempotency_key"`
}

// Providers.
const (
	mock = "mock"
	smtp = "smtp"
	ics  = "ics"
	http = "http"
)

// builtInTo is the recipient where nobody is configured. It serves the provider mock alone.
const builtInTo = "manager@example.com"

// DefaultConfig are the settings where nothing is configured: nothing leaves the machine.
func DefaultConfig() Config {
	return Config{
		Enabled: true, RequestApproval: "auto", ExecuteOnApprove: true, ExecuteOverride: "reapprove", Approvers: []string{},
		Mail:     MailConfig{Provider: mock, DefaultTo: builtInTo, DefaultFrom: "no-reply@saihai.local", SMTPPort: 587, SMTPTLS: "starttls"},
		Calendar: CalendarConfig{Provider: mock, DefaultTimezone: "Asia/Tokyo", SendInvitation: true},
		HR:       HRConfig{Provider: mock},
	}
}

// Check says what is wrong with settings that the schema of settings takes.
func (c Config) Check() error {
	if _, err := location(c.Calendar.DefaultTimezone); err != nil {
		return refuse("at", "at", "calendar.default_timezone", "error", err)
	}
	return cmp.Or(c.checkTargets(), c.checkAddresses())
}

// checkTargets says what is wrong with where things are sent.
func (c Config) checkTargets() error {
	m := c.Mail
	switch {
	case templates.Clean(m.SMTPHost) != m.SMTPHost, net.ParseIP(m.SMTPHost) == nil && strings.ContainsAny(m.SMTPHost, " \t\n/@:"):
		return refuse("config.host", "value", strconv.Quote(m.SMTPHost))
	case m.SMTPTLS == "none" && m.SMTPHost != "" && !isLoopback(m.SMTPHost):
		return refuse("config.tls", "value", strconv.Quote(m.SMTPHost))
	}
	for _, u := range []struct{ key, value string }{{"calendar.api_url", c.Calendar.APIURL}, {"hr.api_url", c.HR.APIURL}} {
		if u.value != "" && !isURL(u.value) {
			return refuse("url", "at", u.key, "example", "https://example.com/api")
		}
	}
	return nil
}

// checkAddresses says what is wrong with the addresses of the settings.
func (c Config) checkAddresses() error {
	own := c.ownAddresses()
	for i, a := range own {
		if why := badAddress(a.address); why != nil {
			return refuse("address.setting", "at", a.at, "address", templates.Code(templates.Cut(a.address, 300)), "why", why)
		}
		if i > 0 && own[i-1].at == a.at && (a.at == "mail.default_from" || a.at == "calendar.default_owner_email") {
			return refuse("config.single", "key", a.at)
		}
	}
	return checkLooks(own)
}

// ownAddresses are the addresses of the settings. No other may look like one of them.
func (c Config) ownAddresses() (list []placed) {
	for _, s := range []placed{
		{"mail.default_to", c.Mail.DefaultTo}, {"mail.default_from", c.Mail.DefaultFrom},
		{"calendar.default_attendee", c.Calendar.DefaultAttendee}, {"calendar.default_owner_email", c.Calendar.DefaultOwnerEmail},
	} {
		for _, a := range splitList(s.address) {
			if s.address != "" {
				list = append(list, placed{s.at, a})
			}
		}
	}
	return list
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// isURL reports whether a text is an address of the web in which everything can be seen and
// nothing stands before the host.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		templates.Clean(s) == s && !strings.ContainsAny(s, " \t\n")
}

// Provider is what carries out parts of a type, and where.
func (c Config) Provider(typ string) (provider, target string) {
	switch typ {
	case mailDraft:
		provider = c.Mail.Provider
	case meetingRequest:
		provider, target = c.Calendar.Provider, c.Calendar.APIURL
	case hrRequest:
		provider, target = c.HR.Provider, c.HR.APIURL
	}
	switch {
	case provider == smtp || provider == ics && c.Calendar.SendInvitation:
		target = c.Mail.SMTPHost
	case provider != http:
		target = ""
	}
	return provider, target
}

// Configured says what the provider of a part lacks.
func (c Config) Configured(p Part) error {
	provider, target := c.Provider(p.Type)
	key := p.Block() + ".api_url"
	switch {
	case provider == mock || target != "" || provider == ics && !c.Calendar.SendInvitation:
		return nil
	case provider != http:
		key = "mail.smtp_host"
	}
	return refuse("config.unset", "part", p.Part, "provider", provider, "key", key)
}

// Honours reports whether a call that is repeated with the same key is carried out once.
func (c Config) Honours(p Part) bool {
	return p.Provider == http && (p.Type == meetingRequest && c.Calendar.HonoursIdempotencyKey || p.Type == hrRequest && c.HR.HonoursIdempotencyKey)
}
