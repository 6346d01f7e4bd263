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
	Requires: func(s *Settings) bool { return len(s.Faber.Resume.Command) > 0 || s.Faber.Issue.Enabled },
	Enabled:  func(s *Settings) bool { return s.Faber.Enabled },
	Layout:   func(s *Settings) layout.Family { return layout.Faber{Folders: s.Faber.Roots} },
	Config:   func(s *Settings) (any, string) { return s.Faber, s.Faber.Language },
	Check:    func(s *Settings) ([]string, error) { return nil, s.Faber.Check() },
	Policy: [][]string{
		{"allow_destructive_auto"}, {"destructive_steps"}, {"require_approval_for"}, {"autonomy"}, {"drive"}, {"divergence"},
		{"on_deadline"}, {"on_exhausted"}, {"roots"}, {"resume"},
		{"issue", "enabled"}, {"issue", "authors"}, {"issue", "repo"}, {"issue", "repos"}, {"issue", "poll"}, {"issue", "gh"}, {"issue", "post_command"},
	},
	Orders: []Order{
		{Key: []string{"autonomy"}, Unsaid: func(s *Settings) any { return s.Faber.Autonomy }, Words: append(faber.Levels(), "")},
		{Key: []string{"require_approval_for"}, Unsaid: func(s *Settings) any { return s.Faber.RequireApprovalFor }, Tighter: AllOfBoth},
		{Key: []string{"destructive_steps"}, Unsaid: func(s *Settings) any { return s.Faber.DestructiveSteps }, Tighter: AllOfBoth},
		{Key: []string{"issue", "authors"}, Unsaid: func(s *Settings) any { return []string{} }, Tighter: InBoth},
	},
	ReadOnly:      func(s *Settings) { s.Faber.Resume.Command, s.Faber.Issue.PostCommand = nil, nil },
	Command:       faberCommand,
	CommandDigest: func(a engine.Action) (engine.Digest, bool) { return faber.ActionDigest(a), true },
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

// faberCommand returns the command in a setting. Why a text is not posted depends on whether a
// command is set, so that one stays.
func faberCommand(key []string, value any) (c Command) {
	digest := faber.CommandDigest
	switch key[len(key)-1] {
	case "resume":
		table, _ := value.(map[string]any)
		value = table["command"]
	case "post_command":
		digest, c.Stays = faber.PostDigest, true
	case "gh":
		digest, c.Stays = faber.GHDigest, true
	default:
		return c
	}
	if c.Argv = words(value); c.Argv == nil {
		return Command{}
	}
	c.Digest = digest(c.Argv)
	return c
}

func isFinal(verb string, t Target) error {
	return console.Refused("family.final", "verb", verb, "run", t.Name, "status", string(t.Status))
}

func isNotServed(verb string, t Target) error {
	return console.Refused("family.unserved", "verb", verb, "run", t.Name).Try("say.text", "text", console.Typed("show --why", t.Run.ID))
}

func isGivenUp(t Target, by, reason string) string { return t.said("family.said.abort", by, reason) }
