package cli

import (
	"context"
	"fmt"
	"strings"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/templates"
)

// adoptClaims records that a person accepts the claims of other programs about a run although
// its record contradicts them. digest names the claims; "" asks at a terminal. The record is
// kept outside the workspace, as trust is: a program that made the claims must not adopt them.
func adoptClaims(ctx context.Context, b *workspace.Workspace, v view.Run, claims []engine.Finding, digest, reason, by string) error {
	name, of := console.Brief(v.Key), digestOfClaims(claims)
	use := []string{"adopt", v.Key.String()}
	short := b.References.Of(of, use...)
	again := templates.CommandLine("placet doctor --fix", []string{name + "@" + short})
	switch {
	case digest != "" && !b.References.IsOf(digest, of, use...):
		return console.Refused("cli.adopt.claims.other", "run", name, "digest", short, "named", digest).Try("cli.adopt.look", "command", again)
	case digest == "" && !b.Env.AtTerminal():
		return console.Refused("cli.adopt.claims.unnamed", "run", name, "claims", claimLines(claims)).Try("cli.adopt.look", "command", again)
	case digest == "":
		p := b.Env.NewPrompter()
		defer p.Close()
		fmt.Fprintln(b.Env.Err, claimLines(claims))
		if err := p.Agreed(ctx, b.Env.Text("cli.adopt.ask")); err != nil {
			return err
		}
	}
	var agreed []config.UntrustedLine
	for _, f := range claims {
		text := f.Path + ": " + f.Text + console.Suffix(" ", reason)
		agreed = append(agreed, config.UntrustedLine{Name: adoptedName(v.Key), Digest: f.Adoption, Of: f.Adoption, Text: by + ": " + text})
	}
	if err := recordTrust(b, agreed); err != nil {
		return err
	}
	data := map[string]any{"run": v.Key.String(), "digest": of, "claims": len(claims), "by": by, "reason": reason}
	return b.Env.Answer(data, func() {
		b.Env.Say("cli.adopt.claims.done", "run", name, "n", len(claims), "by", by, "reason", console.Suffix(": ", console.Cut(console.OneLine(reason), 160)))
	})
}

// adoptedName returns the name under which trust lists the adopted claims of a run.
func adoptedName(run engine.Key) string { return "adopted " + run.String() }

// digestOfClaims returns a digest of all claims about a run together: adopting them does not
// adopt a later one.
func digestOfClaims(claims []engine.Finding) engine.Digest {
	var all []string
	for _, f := range claims {
		all = append(all, string(f.Adoption))
	}
	return engine.CommandDigest("adopt", all...)
}

// claimLines returns the claims, one on a line.
func claimLines(claims []engine.Finding) string {
	var lines []string
	for _, f := range claims {
		lines = append(lines, console.OneLine(f.Path)+": "+console.OneLine(f.Text))
	}
	return strings.Join(lines, "\n")
}
