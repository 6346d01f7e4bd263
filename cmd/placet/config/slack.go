package config

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/templates"
)

// Slack is the table [slack]: which requests are posted to Slack, and where. Its secrets are
// in files outside the workspace, or in the environment.
type Slack struct {
	// Families are those whose requests are posted; "*" means all.
	Families       []string `toml:"families"`
	DefaultChannel string   `toml:"default_channel"`
	// RequestTTLSeconds is how old a call of Slack may be in seconds.
	RequestTTLSeconds int `toml:"request_ttl_seconds"`
	// AllowUnsigned accepts calls without a signature, on this machine alone.
	AllowUnsigned     bool   `toml:"allow_unsigned"`
	APIURL            string `toml:"api_url"`
	SigningSecretFile string `toml:"signing_secret_file"`
	BotTokenFile      string `toml:"bot_token_file"`
	WebhookURLFile    string `toml:"webhook_url_file"`

	// HasSecret, HasToken and the members below say which secrets the environment and the
	// files hold.
	HasSecret  bool `toml:"-"`
	HasToken   bool `toml:"-"`
	HasWebhook bool `toml:"-"`
}

func defaultSlack() Slack {
	return Slack{Families: []string{"nemawashi"}, RequestTTLSeconds: 300, APIURL: "https://slack.com/api"}
}

// check reports the key and the problem of the first setting that the schema accepts but that
// cannot be used.
func (s Slack) check() (key string, err error) {
	if u, err := url.Parse(s.APIURL); err != nil || u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "api_url", templates.Errorf("config.slack.api", "value", strconv.Quote(s.APIURL))
	}
	return "", nil
}

// SigningSecret returns the place of the secret with which Slack signs its calls.
func (s Slack) SigningSecret() engine.Secret {
	return engine.Secret{File: s.SigningSecretFile, Env: "SLACK_SIGNING_SECRET"}
}

// TTL returns how old a call of Slack may be.
func (s Slack) TTL() time.Duration { return time.Duration(s.RequestTTLSeconds) * time.Second }

// look finds out which secrets exist.
func (s *Slack) look(getenv func(string) string) {
	is := func(file, name string) bool {
		value := getenv(name)
		return file != "" || value != "" && value != "CHANGE_ME"
	}
	s.HasSecret = is(s.SigningSecretFile, "SLACK_SIGNING_SECRET")
	s.HasToken = is(s.BotTokenFile, "SLACK_BOT_TOKEN")
	s.HasWebhook = is(s.WebhookURLFile, "SLACK_WEBHOOK_URL")
}

// Machine returns the settings for the machines. They post with the token only if a channel is set.
func (s Slack) Machine() engine.Slack {
	return engine.Slack{
		Families: s.Families, API: strings.TrimSuffix(s.APIURL, "/"), Channel: s.DefaultChannel,
		Token: engine.Secret{File: s.BotTokenFile, Env: "SLACK_BOT_TOKEN"}, HasToken: s.HasToken && s.DefaultChannel != "",
		Webhook: engine.Secret{File: s.WebhookURLFile, Env: "SLACK_WEBHOOK_URL"}, HasWebhook: s.HasWebhook,
		Buttons: s.HasSecret || s.AllowUnsigned,
	}
}
