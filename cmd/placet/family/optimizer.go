package family

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

var optimizerFamily = Family{
	Name: "optimizer", Noun: templates.NewMessage("family.noun.optimizer"),
	Machine: func() engine.Machine { return optimizer.New() },
	Enabled: func(s *Settings) bool { return s.Optimizer.Enabled },
	Layout:  func(s *Settings) layout.Family { return layout.Optimizer{Folders: s.Optimizer.Roots} },
	Config:  func(s *Settings) (any, string) { return s.Optimizer, s.Optimizer.Language },
	Check: func(s *Settings) ([]string, error) {
		err := s.Optimizer.Check()
		return workflowKey(s.Optimizer, err), err
	},
	Policy: [][]string{
		{"roots"}, {"audit_db"}, {"hitl_timeout"}, {"max_timeout_reentries"},
		{"workflows", AnyName, "hitl_timeout"}, {"workflows", AnyName, "criteria_fixed"}, {"workflows", AnyName, "idempotent"},
		{"workflows", AnyName, "analysis"}, {"workflows", AnyName, "evaluation"},
	},
	// The general timeout applies to a workflow without its own.
	Orders: []Order{
		{Key: []string{"max_timeout_reentries"}, Unsaid: func(s *Settings) any { return s.Optimizer.MaxTimeoutReentries }, Tighter: Fewer},
		{Key: []string{"hitl_timeout"}, Unsaid: func(s *Settings) any { return s.Optimizer.HITLTimeout }, Tighter: Longer},
		{Key: []string{"workflows", AnyName, "hitl_timeout"}, Unsaid: func(s *Settings) any { return s.Optimizer.HITLTimeout }, Tighter: Longer},
	},
	ReadOnly: func(s *Settings) { s.Optimizer.Still = true },
	TryNow:   func(s *Settings, now time.Time) { s.Optimizer.TryNow = now },
	Command: func(key []string, value any) (c Command) {
		if name := key[len(key)-1]; len(key) == 3 && (name == "analysis" || name == "evaluation") {
			if c.Argv = words(value); c.Argv != nil {
				c.Digest, c.Stays = optimizer.CommandDigest(c.Argv), true
			}
		}
		return c
	},
	CommandDigest: func(a engine.Action) (engine.Digest, bool) { return optimizer.CommandDigest(a.Command.Argv), true },
	Plan: func(peers map[string][]byte, id string) []engine.Node {
		return optimizer.Chain(optimizer.Entries(peers), id)
	},
	Controls: []Control{{
		Use:  "demote RUN [-m TEXT]",
		File: "inputs/level-error.json", Replaces: true, Reason: AskedFor,
		Refuse: refuseDemotion,
		Document: func(t Target, _, reason string) schemas.Object {
			return schemas.Object{{Name: "level", Value: levelInHand(t)}, {Name: "error", Value: reason}}
		},
		Said: func(t Target, _, reason string) string {
			return t.sentence("family.said.level", "level", levelInHand(t), "reason", console.Cut(console.OneLine(reason), 160))
		},
	}, {
		Use:  "stop RUN [-m TEXT]",
		File: "stop.json", Reason: AskedFor, Named: true,
		Refuse: refuseCycle,
		Document: func(_ Target, by, reason string) schemas.Object {
			return schemas.Object{{Name: "reason", Value: reason}, {Name: "by", Value: by}}
		},
		Said: isGivenUp,
	}},
}

// workflowKey returns the key of the workflow's setting that an error is about, nil for other
// errors. It finds the key by the name of its table, which may hold blanks and colons.
func workflowKey(conf optimizer.Config, err error) []string {
	if err == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Workflows)) {
		if rest, ok := strings.CutPrefix(err.Error(), fmt.Sprintf("workflows.%q.", name)); ok {
			key, _, _ := strings.Cut(rest, ":")
			return []string{"workflows", name, key}
		}
	}
	return nil
}

// refuseCycle returns the reason why a cycle cannot be changed, nil if it can.
func refuseCycle(verb string, t Target) error {
	switch {
	case t.Run.Class == layout.OptimizerArchived:
		return console.Refused("family.archived", "verb", verb, "run", t.Name).Try("family.archived.try")
	case t.Run.Class != layout.OptimizerRun:
		return isNotServed(verb, t)
	case t.Final:
		return isFinal(verb, t)
	case !HasCycle(t.Read):
		return console.Refused("family.uncycled", "verb", verb, "run", t.Name).Try("say.text", "text", console.Typed("show --why", t.Name))
	}
	return nil
}

func refuseDemotion(verb string, t Target) error {
	if err := refuseCycle(verb, t); err != nil {
		return err
	}
	level := levelInHand(t)
	if level == 0 {
		return console.Refused("family.levelless", "run", t.Name, "status", string(t.Status)).
			Try("say.text", "text", console.Typed("show --why", t.Name))
	}
	if there := t.Read("inputs/level-error.json"); there.Present() && optimizer.NamesLevel(there.Body, level) {
		return console.Refused("family.demoted", "run", t.Name, "file", there.Path, "level", level).Try("say.text", "text", console.Typed("show --why", t.Name))
	}
	return nil
}

func levelInHand(t Target) int { return optimizer.LevelInHand(t.Read("state.json").Body) }

// HasCycle reports whether a run has a cycle: a document that begins one, or a state.
func HasCycle(read func(name string) engine.Document) bool {
	absent := func(name string) bool { d := read(name); return d.Absent() }
	return !absent("trigger.json") || !absent("state.json")
}
