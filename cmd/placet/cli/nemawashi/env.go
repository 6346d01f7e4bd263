package nemawashi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/schemas"
	"placet/templates"
)

// environKeys are the variables of the seed's service, with the key of each setting here. A
// secret has none.
var environKeys = []struct{ name, table, key string }{
	{"EMAIL_PROVIDER", "mail", "provider"}, {"EMAIL_DEFAULT_TO", "mail", "default_to"}, {"EMAIL_DEFAULT_FROM", "mail", "default_from"},
	{"CALENDAR_PROVIDER", "calendar", "provider"}, {"CALENDAR_DEFAULT_ATTENDEE", "calendar", "default_attendee"},
	{"CALENDAR_DEFAULT_TIMEZONE", "calendar", "default_timezone"}, {"CALENDAR_DEFAULT_OWNER_EMAIL", "calendar", "default_owner_email"},
	{"HR_PROVIDER", "hr", "provider"}, {"HR_API_URL", "hr", "api_url"},
	{"SLACK_DEFAULT_CHANNEL", slackTable, "default_channel"}, {"SLACK_REQUEST_TTL_SECONDS", slackTable, "request_ttl_seconds"},
	{"SLACK_ALLOW_UNSIGNED", slackTable, "allow_unsigned"},
}

// slackTable is the table of the settings that belong to no family.
const slackTable = "slack"

// EnvironDiffers returns the seed's variables that are set and differ from the settings. Only
// the settings are read.
func EnvironDiffers(all config.File, getenv func(string) string) (names []string) {
	conf := all.Nemawashi
	said := map[string]string{
		"EMAIL_PROVIDER": conf.Mail.Provider, "EMAIL_DEFAULT_TO": conf.Mail.DefaultTo, "EMAIL_DEFAULT_FROM": conf.Mail.DefaultFrom,
		"CALENDAR_PROVIDER": conf.Calendar.Provider, "CALENDAR_DEFAULT_ATTENDEE": conf.Calendar.DefaultAttendee,
		"CALENDAR_DEFAULT_TIMEZONE": conf.Calendar.DefaultTimezone, "CALENDAR_DEFAULT_OWNER_EMAIL": conf.Calendar.DefaultOwnerEmail,
		"HR_PROVIDER": conf.HR.Provider, "HR_API_URL": conf.HR.APIURL,
		"SLACK_DEFAULT_CHANNEL": all.Slack.DefaultChannel, "SLACK_REQUEST_TTL_SECONDS": fmt.Sprint(all.Slack.RequestTTLSeconds), "SLACK_ALLOW_UNSIGNED": fmt.Sprint(all.Slack.AllowUnsigned),
	}
	for _, v := range environKeys {
		if value := getenv(v.name); value != "" && value != "CHANGE_ME" && strings.Trim(tomlValue(v.key, value), `"`) != said[v.name] {
			names = append(names, v.name)
		}
	}
	return names
}

// EnvironHelp says what to do about them.
var EnvironHelp = templates.NewMessage("cli.nemawashi.environ.help")

// environSecrets are the seed's variables that placet reads under the same names.
var environSecrets = []string{"SMTP_PASSWORD", "CALENDAR_API_TOKEN", "HR_API_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_BOT_TOKEN", "SLACK_WEBHOOK_URL"}

func environVerb() verb.Verb {
	from := false
	return verb.Verb{
		Use: "settings --from-env [FILE]", Most: 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&from, "from-env", false, "")
		},
		Run: func(c verb.Call) error {
			if !from {
				return console.Usage("cli.nemawashi.environ.from").Try("say.text", "text", c.Line)
			}
			getenv := c.Env.Getenv
			if len(c.Args) > 0 {
				text, err := verb.ReadInput(c.Env, c.Args[0])
				if err != nil {
					return console.Usage("cli.nemawashi.read", "file", c.Args[0], "error", console.Plain(err))
				}
				getenv = func(name string) string { return envOf(text)[name] }
			}
			text, unusable := environSettings(c.Env.Lang, getenv)
			for _, u := range unusable {
				c.Env.Note("cli.nemawashi.environ.unusable", "name", u.Name, "problem", templates.In(c.Env.Lang, u.err))
			}
			err := c.Env.Answer(environAnswer{text, unusable}, func() {
				if text != "" {
					c.Env.Say("say.text", "text", strings.TrimSuffix(text, "\n"))
				}
			})
			if err == nil && len(unusable) > 0 {
				err = console.Exit(console.ExitProblem) // each was named
			}
			return err
		},
	}
}

// environAnswer is the answer with the settings for variables.
type environAnswer struct {
	TOML     string            `json:"toml"`
	Unusable []unusableEnviron `json:"unusable"`
}

// unusableEnviron is a variable whose value placet does not support.
type unusableEnviron struct {
	Name    string `json:"name"`
	Problem string `json:"problem"` // in English
	err     error
}

// envOf returns the variables of a file of NAME=value lines.
func envOf(text string) map[string]string {
	vars := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if ok && !strings.HasPrefix(name, "#") {
			vars[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return vars
}

// environSettings returns the tables of settings for the variables, without those whose values
// would stop placet. It names secrets, and never prints them.
func environSettings(lang string, getenv func(string) string) (text string, unusable []unusableEnviron) {
	var b strings.Builder
	table, tree := "nemawashi", map[string]any{}
	unusable = []unusableEnviron{}
	for _, v := range environKeys {
		value := getenv(v.name)
		if value == "" || value == "CHANGE_ME" {
			continue
		}
		name := "nemawashi." + v.table
		if v.table == slackTable {
			name = slackTable
		}
		line := v.key + " = " + tomlValue(v.key, value)
		all, err := config.AddText(v.name, "["+name+"]\n"+line, tree)
		if err != nil {
			unusable = append(unusable, unusableEnviron{v.name, templates.In(templates.English, err), err})
			continue
		}
		tree = all
		if name != table {
			fmt.Fprintf(&b, "[%s]\n", name)
			table = name
		}
		fmt.Fprintf(&b, "%s # %s\n", line, v.name)
	}
	for _, name := range environSecrets {
		if value := getenv(name); value != "" && value != "CHANGE_ME" {
			fmt.Fprintf(&b, "# %s\n", templates.Phrase(lang, "cli.nemawashi.environ.secret", "name", name))
		}
	}
	return b.String(), unusable
}

// tomlValue returns the value of a key in TOML.
func tomlValue(key, value string) string {
	switch key {
	case "request_ttl_seconds":
		if n, err := strconv.Atoi(value); err == nil {
			return strconv.Itoa(n)
		}
	case "allow_unsigned":
		is, err := strconv.ParseBool(value)
		return strconv.FormatBool(err == nil && is)
	}
	return tomlText(value)
}

// tomlText returns a text as a TOML string.
func tomlText(s string) string {
	body, err := schemas.Line(s)
	if err != nil {
		return `""`
	}
	return strings.TrimSpace(string(body))
}
