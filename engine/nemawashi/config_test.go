package nemawashi

import (
	"testing"
)

func TestCheckOfTheSettings(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		err    string
	}{
		{"defaults", func(*Config) {}, ""},
		{"everything", func(c *Config) {
			c.RequestApproval, c.ExecuteOverride, c.ApprovalTTL = "explicit", "allow", "72h"
			c.Mail = MailConfig{Provider: smtp, DefaultTo: "a@acme.example, b@acme.example", DefaultFrom: "clerk@acme.example", SMTPHost: "smtp.acme.example", SMTPPort: 25, SMTPTLS: "tls"}
			c.Calendar = CalendarConfig{Provider: ics, DefaultAttendee: "a@acme.example,b@acme.example", DefaultTimezone: "Europe/Berlin", DefaultOwnerEmail: "a@acme.example"}
			c.HR = HRConfig{Provider: http, APIURL: "https://hr.acme.example/api?x=1"}
		}, ""},
		{"zone", func(c *Config) { c.Calendar.DefaultTimezone = "Tokyo" }, "calendar.default_timezone: `Tokyo` is no time zone"},
		{"no zone", func(c *Config) { c.Calendar.DefaultTimezone = "" }, "calendar.default_timezone"},
		{"this machine's zone", func(c *Config) { c.Calendar.DefaultTimezone = "Local" }, "calendar.default_timezone"},
		{"zone outside the list", func(c *Config) { c.Calendar.DefaultTimezone = "../../etc/localtime" }, "calendar.default_timezone"},
		{"host with port", func(c *Config) { c.Mail.SMTPHost = "smtp.acme.example:25" }, "mail.smtp_host"},
		{"host with bidi", func(c *Config) { c.Mail.SMTPHost = "smtp\u202e.acme.example" }, "mail.smtp_host"},
		{"host of IPv6", func(c *Config) { c.Mail.SMTPHost = "2001:db8::1" }, ""},
		{"no tls", func(c *Config) { c.Mail.SMTPTLS, c.Mail.SMTPHost = "none", "smtp.acme.example" }, `mail.smtp_tls: "none" is for this machine alone`},
		{"no tls, name like loopback", func(c *Config) { c.Mail.SMTPTLS, c.Mail.SMTPHost = "none", "127.0.0.1.acme.example" }, "mail.smtp_tls"},
		{"no tls, localhost", func(c *Config) { c.Mail.SMTPTLS, c.Mail.SMTPHost = "none", "localhost" }, ""},
		{"no tls, loopback", func(c *Config) { c.Mail.SMTPTLS, c.Mail.SMTPHost = "none", "127.0.0.2" }, ""},
		{"no tls, loopback of IPv6", func(c *Config) { c.Mail.SMTPTLS, c.Mail.SMTPHost = "none", "::1" }, ""},
		{"url of a file", func(c *Config) { c.Calendar.APIURL = "file:///etc/passwd" }, "calendar.api_url: expected an address"},
		{"url without host", func(c *Config) { c.HR.APIURL = "https://:80/x" }, "hr.api_url"},
		{"url with password", func(c *Config) { c.HR.APIURL = "https://u:p@acme.example" }, "hr.api_url"},
		{"default recipient", func(c *Config) { c.Mail.DefaultTo = "a@acme.example,Boss <b@acme.example>" }, "mail.default_to: `Boss <b@acme.example>` is not bare"},
		{"two senders", func(c *Config) { c.Mail.DefaultFrom = "a@acme.example,b@acme.example" }, "mail.default_from: expected one address"},
		{"two owners", func(c *Config) { c.Calendar.DefaultOwnerEmail = "a@acme.example,b@acme.example" }, "calendar.default_owner_email: expected one address"},
		{"no recipient", func(c *Config) { c.Mail.DefaultTo = "" }, ""},
		{"defaults that look alike", func(c *Config) { c.Mail.DefaultTo, c.Calendar.DefaultAttendee = "pm@acme.example", "prn@acme.example" },
			"calendar.default_attendee looks like mail.default_to and is another address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := DefaultConfig()
			test.change(&c)
			checkError(t, c.Check(), test.err)
		})
	}
}

func TestProviders(t *testing.T) {
	real := DefaultConfig()
	real.Mail.Provider, real.Mail.SMTPHost = smtp, "smtp.acme.example"
	real.Calendar.Provider, real.Calendar.APIURL, real.Calendar.HonoursIdempotencyKey = http, "https://cal.acme.example", true
	real.HR.Provider, real.HR.APIURL = http, "https://hr.acme.example"
	invites, files := real, real
	invites.Calendar.Provider, files.Calendar.Provider, files.Calendar.SendInvitation = ics, ics, false
	bare := real
	bare.Mail.SMTPHost, bare.Calendar.APIURL, bare.HR.APIURL = "", "", ""
	bareInvites := bare
	bareInvites.Calendar.Provider = ics
	for _, test := range []struct {
		name, typ, provider, target, err string
		config                           Config
		honours                          bool
	}{
		{name: "mock", typ: mailDraft, config: DefaultConfig(), provider: mock},
		{name: "smtp", typ: mailDraft, config: real, provider: smtp, target: "smtp.acme.example"},
		{name: "smtp without host", typ: mailDraft, config: bare, provider: smtp, err: "part 3 goes by smtp, and mail.smtp_host is not set"},
		{name: "calendar", typ: meetingRequest, config: real, provider: http, target: "https://cal.acme.example", honours: true},
		{name: "calendar without url", typ: meetingRequest, config: bare, provider: http, err: "calendar.api_url is not set", honours: true},
		{name: "invitation", typ: meetingRequest, config: invites, provider: ics, target: "smtp.acme.example"},
		{name: "invitation without host", typ: meetingRequest, config: bareInvites, provider: ics, err: "mail.smtp_host is not set"},
		{name: "file", typ: meetingRequest, config: files, provider: ics},
		{name: "hr", typ: hrRequest, config: real, provider: http, target: "https://hr.acme.example"},
		{name: "hr without url", typ: hrRequest, config: bare, provider: http, err: "hr.api_url is not set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			provider, target := test.config.Provider(test.typ)
			if provider != test.provider || target != test.target {
				t.Errorf("got %q to %q, want %q to %q", provider, target, test.provider, test.target)
			}
			p := Part{Part: 3, Type: test.typ, Provider: provider}
			checkError(t, test.config.Configured(p), test.err)
			if got := test.config.Honours(p); got != test.honours {
				t.Errorf("honours is %t, want %t", got, test.honours)
			}
		})
	}
}
