package family

import (
	"maps"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/nemawashi"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

var nemawashiFamily = Family{
	Name: "nemawashi", Noun: templates.NewMessage("family.noun.nemawashi"),
	Alias:   func(id string) string { return "action-" + id },
	Machine: nemawashi.New,
	Enabled: func(s *Settings) bool { return s.Nemawashi.Enabled },
	Layout:  func(*Settings) layout.Family { return layout.Nemawashi{} },
	Config:  func(s *Settings) (any, string) { return s.Nemawashi, s.Nemawashi.Language },
	Check:   func(s *Settings) ([]string, error) { return nil, s.Nemawashi.Check() },
	Policy: [][]string{
		{"execute_override"},
		{"mail", "provider"}, {"mail", "default_from"}, {"mail", "smtp_host"}, {"mail", "smtp_port"}, {"mail", "smtp_tls"}, {"mail", "smtp_username"}, {"mail", "smtp_password_file"},
		{"calendar", "provider"}, {"calendar", "api_url"}, {"calendar", "api_token_file"}, {"calendar", "send_invitation"}, {"calendar", "honours_idempotency_key"},
		{"hr", "provider"}, {"hr", "api_url"}, {"hr", "api_token_file"}, {"hr", "honours_idempotency_key"},
	},
	Orders: []Order{{
		Key: []string{"execute_override"}, Unsaid: func(s *Settings) any { return s.Nemawashi.ExecuteOverride }, Tighter: FirstWord, Words: []string{"reapprove", "allow"},
	}},
	// Nobody is asked what a block would carry out while one of these settings waits.
	Waits: func(s *Settings, waiting map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(waiting)) {
			if strings.Contains(name, ".") && waiting[name] != `"mock"` {
				s.Nemawashi.Untrusted = append(s.Nemawashi.Untrusted, name)
			}
		}
	},
	Environ: func(s *Settings, getenv func(string) string) {
		for _, id := range strings.Split(getenv("APPROVER_USER_IDS"), ",") {
			if id = strings.TrimSpace(id); id != "" {
				s.Nemawashi.ApproverIDs = append(s.Nemawashi.ApproverIDs, id)
			}
		}
	},
	ReadOnly: func(s *Settings) { s.Nemawashi.Still = true },
	Events:   nemawashiEvents,
}

// nemawashiEvents returns the events that a commit adds to the journal.
func nemawashiEvents(run layout.Run, plan engine.Plan, _ func(string) engine.Document) (events []Event) {
	for _, l := range plan.Lines {
		var line struct {
			Type string `json:"event_type"`
		}
		if schemas.Decode("", l.Path, l.Body, &line) == nil && line.Type != "" {
			events = append(events, Event{Name: line.Type, Data: schemas.Object{
				{Name: "event", Value: schemas.Raw(strings.TrimSpace(string(l.Body)))}, {Name: "family", Value: run.Family}, {Name: "run", Value: keyOf(run)},
			}})
		}
	}
	return events
}

func keyOf(run layout.Run) string { return engine.Key{Family: run.Family, ID: run.ID}.String() }
