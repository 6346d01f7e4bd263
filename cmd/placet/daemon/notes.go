package daemon

import (
	"cmp"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/templates"
)

// NoteWarnings prints what is wrong with the settings, of one subject or, for "", of all.
func NoteWarnings(b *workspace.Workspace, subject string) {
	for _, w := range b.Settings.Warnings {
		if subject != "" && w.Subject != subject {
			continue
		}
		b.Env.Note("cli.status.warning", "text", w.Text, "try", w.Try)
	}
}

// fewUntrusted limits how many settings and files that wait for trust are named.
const fewUntrusted = 5

// NoteUntrusted prints that something waits for trust, or that nothing can be trusted.
func NoteUntrusted(b *workspace.Workspace, waiting []config.UntrustedLine) {
	NoteUntrustable(b)
	for i, u := range waiting {
		if i == fewUntrusted {
			b.Env.Note("cli.status.untrusted.more", "n", len(waiting)-i)
			break
		}
		switch {
		case u.Name == config.GatesKey[0]:
			b.Env.Note("say.text", "text", config.GatesWait)
			continue
		case u.Tighter:
			b.Env.Note("say.text", "text", config.TighterWaits(console.OneLine(u.Name)))
			continue
		}
		key := templates.Key("cli.status.untrusted")
		if u.Stops {
			key = "cli.status.untrusted.stops"
		}
		b.Env.Note(key, "name", u.Name, "place", u.Waits, "command", u.Agree)
	}
}

// NoteUntrustable prints why nothing can be trusted, if that is so.
func NoteUntrustable(b *workspace.Workspace) {
	if err := cmp.Or(b.Settings.Untrustable, b.Stateless); err != nil {
		p := config.Untrustable(err)
		b.Env.Note("cli.trust.cannot", "problem", p.In(b.Env.Lang), "try", p.Hint(b.Env.Lang))
	}
}
