package nemawashi

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config is the block [nemawashi] of the configuration.
type Config struct {
	Enabled          bool   `toml:"enabled"`
	Language         string `toml:"language"`
	RequestApproval  string `toml:"request_approval"` // auto or explicit
	ExecuteOnApprove bool   `toml:"execute_on_approve"`
	ExecuteOverride  string `toml:"execute_override"` // reapprove or allow
	ApprovalTTL      string `toml:"approval_ttl"`     // "" for ever
	// Approvers tighten [gates].
	Approvers []string       `toml:"approvers"`
	Mail      MailConfig     `toml:"mail"`
	Calendar  CalendarConfig `toml:"calendar"`
	HR        HRConfig       `toml:"hr"`
	// ApproverIDs are those of the variable APPROVER_USER_IDS, which tighten [gates],
	// too.
	ApproverIDs []string `toml:"-"`
	// Untrusted are the keys about real providers that hold and that the owner of the
	// workspace has not agreed to, such as "mail.provider".
	Untrusted []string `toml:"-"`
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
	DefaultAttendee       string `toml:"default_attendee"` // "": that of mails
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

const builtInTo = "manager@example.com"

// DefaultConfig are the settings where nothing is configured: nothing leaves the machine.
func DefaultConfig() Config {
	return Config{
		Enabled: true, RequestApproval: "auto", ExecuteOnApprove: true, ExecuteOverride: "reapprove",
		Mail:     MailConfig{Provider: mock, DefaultTo: builtInTo, DefaultFrom: "no-reply@saihai.local", SMTPPort: 587, SMTPTLS: "starttls"},
		Calendar: CalendarConfig{Provider: mock, DefaultTimezone: "Asia/Tokyo", SendInvitation: true},
		HR:       HRConfig{Provider: mock},
	}
}

// Check says what is wrong with the settings.
func (c Config) Check() error {
	for _, e := range []struct {
		key, value string
		words      []string
	}{
		{"request_approval", c.RequestApproval, []string{"auto", "explicit"}}, {"execute_override", c.ExecuteOverride, []string{"reapprove", "allow"}},
		{"mail.smtp_tls", c.Mail.SMTPTLS, []string{"starttls", "tls", "none"}},
	} {
		if !slices.Contains(e.words, e.value) {
			return fmt.Errorf("%s: %q is none of %s", e.key, e.value, strings.Join(e.words, ", "))
		}
	}
	for _, e := range []struct {
		name, value string
		words       []string
	}{{"mail", c.Mail.Provider, []string{mock, smtp}}, {"calendar", c.Calendar.Provider, []string{mock, ics, http}}, {"hr", c.HR.Provider, []string{mock, http}}} {
		if !slices.Contains(e.words, e.value) {
			last := len(e.words) - 1
			return fmt.Errorf("%s provider %q is not supported: use %s or %s", e.name, e.value, strings.Join(e.words[:last], ", "), e.words[last])
		}
	}
	if ttl, err := time.ParseDuration(c.ApprovalTTL); c.ApprovalTTL != "" && (err != nil || ttl <= 0) {
		return fmt.Errorf("approval_ttl: %q is no length such as 72h", c.ApprovalTTL)
	}
	if _, err := location(c.Calendar.DefaultTimezone); err != nil {
		return fmt.Errorf("calendar.default_timezone: %v", err)
	}
	return c.checkPlaces()
}

// checkPlaces says what is wrong with where things are sent, and by whom.
func (c Config) checkPlaces() error {
	if c.Mail.SMTPPort < 1 || c.Mail.SMTPPort > 65535 {
		return fmt.Errorf("mail.smtp_port: %d is no port", c.Mail.SMTPPort)
	}
	if c.Mail.SMTPTLS == "none" && c.Mail.SMTPHost != "" && !isLoopback(c.Mail.SMTPHost) {
		return fmt.Errorf("mail.smtp_tls: none goes to this machine alone, not to %q: use starttls or tls", c.Mail.SMTPHost)
	}
	for _, e := range []struct{ key, value string }{
		{"mail.default_to", c.Mail.DefaultTo}, {"mail.default_from", c.Mail.DefaultFrom}, {"calendar.default_attendee", c.Calendar.DefaultAttendee},
		{"calendar.default_owner_email", c.Calendar.DefaultOwnerEmail},
	} {
		if e.value == "" {
			continue
		}
		if _, err := addresses(e.key, splitList(e.value)); err != nil {
			return err
		}
	}
	for _, e := range []struct{ key, value string }{{"calendar.api_url", c.Calendar.APIURL}, {"hr.api_url", c.HR.APIURL}} {
		if e.value != "" && !isURL(e.value) {
			return fmt.Errorf("%s: %q is no address such as https://example.com/api", e.key, e.value)
		}
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isURL reports whether a text is an address of the web without a password in it.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// Provider is what carries out parts of a type, and where.
func (c Config) Provider(typ string) (provider, target string) {
	switch typ {
	case mailDraft:
		provider = c.Mail.Provider
	case meetingRequest:
		provider = c.Calendar.Provider
		target = c.Calendar.APIURL
	default:
		provider = c.HR.Provider
		target = c.HR.APIURL
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
	if provider == mock || target != "" || provider == ics && !c.Calendar.SendInvitation {
		return nil
	}
	key := map[string]string{mailDraft: "mail.smtp_host", meetingRequest: "calendar.api_url", hrRequest: "hr.api_url"}[p.Type]
	if provider == ics {
		key = "mail.smtp_host"
	}
	return fmt.Errorf("part %d goes by %s, and [nemawashi] %s is not set", p.Part, provider, key)
}

// Honours reports whether a call that is repeated with the same key is done once.
func (c Config) Honours(p Part) bool {
	return p.Provider == http && (p.Type == meetingRequest && c.Calendar.HonoursIdempotencyKey || p.Type == hrRequest && c.HR.HonoursIdempotencyKey)
}

// Block is the block of the settings that says how a part is carried out.
func (p Part) Block() string {
	return map[string]string{mailDraft: "mail", meetingRequest: "calendar", hrRequest: "hr"}[p.Type]
}
