package family

import (
	"strings"

	"placet/engine"
	"placet/engine/pal"
	"placet/layout"
	"placet/templates"
)

var palFamily = Family{
	Name: "pal", Short: "PAL orchestrations: plan, pause, resume, abort, send, export, hook", Noun: templates.NewMessage("family.noun.pal"),
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
		wishControl("pause", "pause", "O", Optional, "Have nothing start in an orchestration"),
		wishControl("resume", "run", "O", Optional, "Have an orchestration start, or go on"),
		wishControl("abort", "abort", "O", AskedFor, "Give an orchestration up"),
	},
}
