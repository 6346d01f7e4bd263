package cli

import (
	"context"
	"fmt"

	"placet/cmd/placet/console"
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

// checkReason refuses a name and a reason that no record may hold.
func checkReason(verb string, v workspace.View, reason, by string) error {
	if err := workspace.CheckName(verb, by); err != nil {
		return err
	}
	return checkWords(verb, console.Brief(v.Key), "the reason", reason, by)
}

// reasonFor is why a person gives something up: what -m says, else what is typed on a
// terminal.
func reasonFor(ctx context.Context, b *workspace.Workspace, v workspace.View, verb, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	if !b.Env.AtTerminal() {
		return "", console.Usage("cannot %s %s without a reason", verb, console.Brief(v.Key)).Try("add -m TEXT")
	}
	p := b.Env.NewPrompter()
	defer p.Close()
	question := console.PromptLine{Text: fmt.Sprintf("%s %s. Why? (the reason stands in the record) ", console.Title(verb), console.Brief(v.Key))}
	err := p.Ask(ctx, question, func(text string) (again string) { given = text; return "" })
	return given, err
}
