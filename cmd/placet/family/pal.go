package family

import (
	"strings"

	"placet/engine"
	"placet/engine/pal"
	"placet/layout"
	"placet/templates"
)

var palFamily = Family{
	Name: "pal", Noun: templates.NewMessage("family.noun.pal"),
	Machine: func() engine.Machine { return pal.New() },
	Enabled: func(s *Settings) bool { return s.Pal.Enabled },
	Layout:  func(*Settings) layout.Family { return layout.Pal{} },
	Config:  func(s *Settings) (any, string) { return s.Pal, s.Pal.Language },
	Check:   func(s *Settings) ([]string, error) { return nil, s.Pal.Check() },
	Policy:  [][]string{{"auto_resolve"}},
	Orders: []Order{{
		Key: []string{"auto_resolve"}, Unsaid: func(*Settings) any { return []any{} }, Tighter: AllOfBoth,
	}},
	ReadOnly:      func(s *Settings) { s.Pal.Still = true },
	CommandDigest: func(a engine.Action) (engine.Digest, bool) { return pal.CommandDigest(a.Command.Argv), true },
	NamesCommands: true,
	Session: func(run layout.Run, path string) (session, port string) {
		rel := strings.TrimPrefix(strings.TrimSuffix(path, "/progress.json"), run.Dir+"/sessions/")
		parts := strings.Split(rel, "/")
		if len(parts) > 1 {
			port = parts[1]
		}
		return run.ID + "/" + rel, port
	},
	ProgressHz: func(s *Settings) int { return s.Pal.Hz() },
	Events:     palEvents,
	Controls: []Control{
		wishControl("pause", "pause", "O", Optional),
		wishControl("resume", "run", "O", Optional),
		wishControl("abort", "abort", "O", AskedFor),
	},
}
