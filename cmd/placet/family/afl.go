package family

import (
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/afl"
	"placet/layout"
	"placet/templates"
)

var aflFamily = Family{
	Name: "afl", Noun: templates.NewMessage("family.noun.afl"),
	Machine: func() engine.Machine { return afl.New() },
	Enabled: func(s *Settings) bool { return s.Afl.Enabled },
	Layout:  func(*Settings) layout.Family { return layout.AFL{} },
	Config:  func(s *Settings) (any, string) { return s.Afl, s.Afl.Language },
	Policy:  [][]string{{"worker_command"}, {"shell"}, {"validation"}, {"review"}, {"interrupted"}, {"changing_tests"}, {"oracle_command"}, {"reviewer_command"}},
	Orders: []Order{
		{Key: []string{"review"}, Words: afl.Reviews, Unsaid: func(*Settings) any { return afl.Reviews[0] }},
		{Key: []string{"validation"}, Words: afl.Validations, Unsaid: func(*Settings) any { return afl.Validations[0] }},
		{Key: []string{"changing_tests"}, Words: afl.ChangingTests, Unsaid: func(*Settings) any { return afl.ChangingTests[0] }},
	},
	ReadOnly: func(s *Settings) { s.Afl.Still = true },
	Command: func(key []string, value any) (c Command) {
		switch key[0] {
		case "shell":
			c.Argv = words(value)
		case "worker_command":
			c.Argv = words([]any{value})
		case "oracle_command":
			if c.Argv = words(value); c.Argv != nil {
				c.Digest = afl.OracleDigest(c.Argv)
			}
		case "reviewer_command":
			if c.Argv = words(value); c.Argv != nil {
				c.Digest = afl.ReviewerDigest(c.Argv)
			}
		}
		return c
	},
	Standing:    func(s *Settings) (engine.Digest, []string) { return s.Afl.Worker() },
	StandingKey: []string{"afl", "worker_command"},
	StandingWith: func(s Settings, word string) engine.Digest {
		s.Afl.WorkerCommand = &word
		return s.Afl.WorkerDigest()
	},
	CommandDigest: afl.CommandDigest,
	MayChange:     func(s *Settings) bool { return s.Afl.MayChange() },
	NamesCommands: true, WorkTrees: afl.Worktrees,
	Controls: []Control{
		aflControl("pause", "pause", Optional),
		aflControl("resume", "run", Optional),
		aflControl("abort", "abort", AskedFor),
	},
}

// aflControl returns a verb that writes what a person wants a session to do.
func aflControl(verb, want string, needs Reason) Control {
	c := wishControl(verb, want, "SESSION", needs)
	c.Remark = func(t Target, _, _ string) string { return aflRemark(t, want) }
	return c
}

// aflRemark says why a control request changes nothing for now, if that is so.
func aflRemark(t Target, want string) string {
	paused := ""
	if i := slices.IndexFunc(t.Facts, func(f engine.Fact) bool { return f.Name == "paused" }); i >= 0 {
		paused = t.Facts[i].Value
	}
	switch {
	case want == "run" && paused == "":
		return t.sentence("family.unpaused")
	case want == "run" && !strings.HasPrefix(paused, "person"):
		return t.sentence("family.paused.checkpoints", "why", console.OneLine(paused), "command", console.Typed("show --why", t.Name))
	case want == "pause" && paused != "":
		return t.sentence("family.paused", "why", console.OneLine(paused))
	}
	return ""
}
