package nemawashi

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"

	"placet/templates"
)

// Config is the [nemawashi] block of the configuration.
type Config struct {
	Enabled          bool   `toml:"enabled"`
	Language         string `toml:"language"`
	RequestApproval  string `toml:"request_approval"` // auto or explicit
	ExecuteOnApprove bool   `toml:"execute_on_approve"`
	ExecuteOverride  string `toml:"execute_override"` // reapprove or allow
	ApprovalTTL      string `toml:"approval_ttl"`     // "" means never
	// Approvers restricts the approvers of [gates].
	Approvers []string       `toml:"approvers"`
	Mail      MailConfig     `toml:"mail"`
	Calendar  CalendarConfig `toml:"calendar"`
	HR        HRConfig       `toml:"hr"`
	// ApproverIDs holds the ids of the variable APPROVER_USER_IDS. They restrict the approvers of
	// [gates], too.
	ApproverIDs []string `toml:"-"`
	// Untrusted holds the keys of the settings for real providers that the owner of the workspace
	// has not agreed to, such as "mail.provider".
	Untrusted []string `toml:"-"`
	// Still forbids sending anything.
	Still bool `toml:"-"`
}

// MailConfig says how placet sends mails.
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

// CalendarConfig says how placet invites people.
type CalendarConfig struct {
	Provider              string `toml:"provider"`         // mock, ics or http
	DefaultAttendee       string `toml:"default_attendee"` // "" means mail.default_to
	DefaultTimezone       string `toml:"default_timezone"`
	DefaultOwnerEmail     string `toml:"default_owner_email"`
	APIURL                string `toml:"api_url"`
	APITokenFile          string `toml:"api_token_file"`
	SendInvitation        bool   `toml:"send_invitation"`
	HonoursIdempotencyKey bool   `toml:"honours_idempotency_key"`
}

// HRConfig says how placet sends requests to HR.
type HRConfig struct {
	Provider              string `toml:"provider"` // mock or http
	APIURL                string `toml:"api_url"`
	APITokenFile          string `toml:"api_token_file"`
	HonoursIdempotencyKey bool   `toml:"honours_idempotency_key"`
}

// Names of providers.
const (
	mock = "mock"
	smtp = "smtp"
	ics  = "ics"
	http = "http"
)

// builtInTo is the recipient if none is configured. Only the mock provider accepts it.
const builtInTo = "manager@example.com"

// DefaultConfig returns the settings that apply where the configuration says nothing. With them
// nothing leaves the machine.
func DefaultConfig() Config {
	return Config{
		Enabled: true, RequestApproval: "auto", ExecuteOnApprove: true, ExecuteOverride: "reapprove", Approvers: []string{},
		Mail:     MailConfig{Provider: mock, DefaultTo: builtInTo, DefaultFrom: "no-reply@saihai.local", SMTPPort: 587, SMTPTLS: "starttls"},
		Calendar: CalendarConfig{Provider: mock, DefaultTimezone: "Asia/Tokyo", SendInvitation: true},
		HR:       HRConfig{Provider: mock},
	}
}

// Check returns what is wrong with settings that the schema of settings accepts, or nil.
func (c Config) Check() error {
	if _, err := location(c.Calendar.DefaultTimezone); err != nil {
		return refuse("at", "at", "calendar.default_timezone", "error", err)
	}
	return cmp.Or(c.checkTargets(), c.checkAddresses())
}

// checkTargets returns what is wrong with the hosts and URLs of the settings, or nil.
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

// checkAddresses returns what is wrong with the addresses of the settings, or nil.
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

// ownAddresses returns the addresses of the settings. No other address may look like one of them.
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

// isURL reports whether a text is an http or https URL without invisible characters and without a
// user before the host.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		templates.Clean(s) == s && !strings.ContainsAny(s, " \t\n")
}

// Provider returns the provider that carries out parts of a type, and its target.
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

// Configured returns an error if the provider of a part lacks a setting.
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

// Honours reports whether a service carries out a repeated call with the same key only once.
func (c Config) Honours(p Part) bool {
	return p.Provider == http && (p.Type == meetingRequest && c.Calendar.HonoursIdempotencyKey || p.Type == hrRequest && c.HR.HonoursIdempotencyKey)
}
