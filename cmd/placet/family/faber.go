package family

import (
	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/faber"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

var faberFamily = Family{
	Name: "faber", Noun: templates.NewMessage("family.noun.faber"), Phases: true,
	Machine:  func() engine.Machine { return faber.New() },
	Requires: func(s *Settings) bool { return len(s.Faber.Resume.Command) > 0 },
	Enabled:  func(s *Settings) bool { return s.Faber.Enabled },
	Layout:   func(s *Settings) layout.Family { return layout.Faber{Folders: s.Faber.Roots} },
	Config:   func(s *Settings) (any, string) { return s.Faber, s.Faber.Language },
	Check:    func(s *Settings) ([]string, error) { return nil, s.Faber.Check() },
	Policy: [][]string{
		{"allow_destructive_auto"}, {"destructive_steps"}, {"require_approval_for"}, {"autonomy"}, {"drive"}, {"divergence"},
		{"on_deadline"}, {"on_exhausted"}, {"roots"}, {"issue"}, {"resume"},
	},
	Orders: []Order{
		{Key: []string{"autonomy"}, Unsaid: func(s *Settings) any { return s.Faber.Autonomy }, Words: append(faber.Levels(), "")},
		{Key: []string{"require_approval_for"}, Unsaid: func(s *Settings) any { return s.Faber.RequireApprovalFor }, Tighter: AllOfBoth},
		{Key: []string{"destructive_steps"}, Unsaid: func(s *Settings) any { return s.Faber.DestructiveSteps }, Tighter: AllOfBoth},
	},
	ReadOnly: func(s *Settings) { s.Faber.Resume.Command = nil },
	Command: func(key []string, value any) (c Command) {
		if key[0] == "resume" {
			table, _ := value.(map[string]any)
			if c.Argv = words(table["command"]); c.Argv != nil {
				c.Digest = faber.CommandDigest(c.Argv)
			}
		}
		return c
	},
	CommandDigest: func(a engine.Action) (engine.Digest, bool) { return faber.CommandDigest(a.Command.Argv), true },
	Controls: []Control{{
		Use:  "cancel RUN -m REASON",
		File: "cancel.json", Reason: Needed, Named: true,
		Refuse: func(verb string, t Target) error {
			switch {
			case t.Final:
				return isFinal(verb, t)
			case t.Run.Class != layout.FaberRun:
				return isNotServed(verb, t)
			}
			return nil
		},
		Document: func(_ Target, by, reason string) schemas.Object {
			return schemas.Object{{Name: "by", Value: by}, {Name: "reason", Value: reason}}
		},
		Said: isGivenUp,
	}},
}

func isFinal(verb string, t Target) error {
	return console.Refused("family.final", "verb", verb, "run", t.Name, "status", string(t.Status))
}

func isNotServed(verb string, t Target) error {
	return console.Refused("family.unserved", "verb", verb, "run", t.Name).Try("say.text", "text", console.Typed("explain", t.Run.ID))
}

func isGivenUp(t Target, by, reason string) string { return t.said("family.said.abort", by, reason) }
