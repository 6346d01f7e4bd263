package cli

import (
	"context"
	"fmt"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
	"placet/engine/gate"
)

// checkWords refuses words of a person, and a name, that are longer than an answer's
// may be. what is what the words are: the reason, for example.
func checkWords(verb, of, what, words, by string) error {
	wrong := gate.CheckLimits(what, gate.Answer{Comment: words, By: gate.By{User: by}})
	if wrong == "" {
		return nil
	}
	return console.Refused("cannot %s %s: %s", verb, of, workspace.Unquoted(wrong, what))
}

// reasonFor is why a person asks something of a run: what -m says, else, where a reason is
// asked for, what is typed on a terminal. It refuses a name and a reason that no record
// may hold.
func reasonFor(ctx context.Context, b *workspace.Workspace, v workspace.View, verb, given, by string, c family.Control) (string, error) {
	name := console.Brief(v.Key)
	if c.Who != "" {
		if err := workspace.CheckName(verb, by); err != nil {
			return "", err
		}
	}
	if err := checkWords(verb, name, "the reason", given, by); err != nil || given != "" || c.Reason != family.AskedFor {
		return given, err
	}
	if !b.Env.AtTerminal() {
		return "", console.Usage("cannot %s %s without a reason", verb, name).Try("add -m TEXT")
	}
	p := b.Env.NewPrompter()
	defer p.Close()
	question := console.PromptLine{Text: fmt.Sprintf("%s %s. Why? (the reason stands in the record) ", console.Title(verb), name)}
	err := p.Ask(ctx, question, func(text string) (again string) { given = text; return "" })
	return given, err
}
