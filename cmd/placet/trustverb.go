package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reconcile"
)

func trustCommand(w *world) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use: "trust [NAME|DIGEST]…", Short: "Agree to commands and policy settings of the workspace",
		Long: `A workspace is data, not a program: a command or a policy setting that stands in
one of its files counts only after you have agreed to it. Without an argument
this shows what waits, and what is agreed to. Name what you agree to, or say
--yes to all of it; a digest names exactly what was shown, whatever the file
says by now.

What you agree to is kept outside the workspace. A changed command waits again.`,
		GroupID: groupSetUp,
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			switch {
			case revoke:
				return b.revoke(args, yes)
			case yes || len(args) > 0:
				return b.agree(args)
			}
			return b.listTrust()
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "agree to all that is shown")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take agreement back: of what is named, or with --yes of everything")
	return cmd
}

// untrustedLine is something that waits for trust, as JSON.
type untrustedLine struct {
	Name   string        `json:"name"`
	Digest engine.Digest `json:"digest"`
	Text   string        `json:"text"`
	Place  string        `json:"place"`
}

// untrusted lists what waits for trust: settings first, then what the runs'
// documents name.
func (b *bench) untrusted(views []view) []untrustedLine {
	lines, agreed := []untrustedLine{}, b.agreed.digests()
	for _, s := range b.settings.waiting {
		lines = append(lines, untrustedLine{s.name(), s.digest, s.text, layer{path: s.path}.place(s.line)})
	}
	for _, v := range views {
		for _, u := range v.Untrusted {
			if agreed[u.Digest] || slices.ContainsFunc(lines, func(l untrustedLine) bool { return l.Digest == u.Digest }) {
				continue
			}
			lines = append(lines, untrustedLine{u.Name, u.Digest, u.Text, v.Key.String()})
		}
	}
	return lines
}

// naming are the live runs whose documents may name commands: AFL's sessions alone.
func (b *bench) naming() []view {
	live, _ := b.live(slices.DeleteFunc(b.runs(), func(f reconcile.Found) bool { return f.Run.Family != "afl" }))
	return b.views(live)
}

// allUntrusted looks at all live runs.
func (b *bench) allUntrusted() []untrustedLine {
	live, _ := b.live(b.runs())
	return b.untrusted(b.views(live))
}

func (b *bench) trustFile() string { return b.w.sources(b.root).trust }

// trustData is trust as JSON.
type trustData struct {
	Workspace string          `json:"workspace"`
	Waiting   []untrustedLine `json:"waiting"`
	Trusted   []trusted       `json:"trusted"`
}

func (b *bench) listTrust() error {
	waiting := b.allUntrusted()
	agreed, err := readTrust(b.trustFile())
	if err != nil {
		return err
	}
	data := trustData{b.root, waiting, append([]trusted{}, agreed.Trusted...)}
	return b.w.answer(data, func() {
		b.printUntrusted(waiting)
		for _, t := range agreed.Trusted {
			b.w.say("trusted  %s  %s\n%s", line(t.Name), t.Digest, indent(paragraph(t.Text), "    "))
		}
		switch {
		case len(waiting) > 0:
			b.w.say("\nNothing that waits has any effect. To agree: placet trust --yes, or %s", typed("trust", waiting[0].Name))
		case len(agreed.Trusted) == 0:
			b.w.say("nothing waits for trust")
		}
	})
}

func (b *bench) printUntrusted(waiting []untrustedLine) {
	for _, u := range waiting {
		b.w.say("%s  %s  %s%s\n%s", b.w.paint(alarm, "waits"), b.w.paint(strong, line(u.Name)), u.Digest, suffix("  ", line(u.Place)),
			indent(paragraph(u.Text), "    "))
	}
}

// agree records agreement to what the arguments name, or to all that waits.
func (b *bench) agree(args []string) error {
	waiting := b.allUntrusted()
	agreed, err := readTrust(b.trustFile())
	if err != nil {
		return err
	}
	chosen := waiting
	if len(args) > 0 {
		if chosen, err = chooseNamed(args, waiting, agreed); err != nil {
			return err
		}
	}
	for _, u := range chosen {
		agreed.agree(b.w.now(), engine.Untrusted{Name: u.Name, Digest: u.Digest, Text: u.Text})
	}
	agreed.Workspace = b.root
	if len(chosen) > 0 {
		if err := agreed.write(b.trustFile()); err != nil {
			return err
		}
	}
	return b.w.answer(map[string]any{"trusted": append([]untrustedLine{}, chosen...)}, func() {
		for _, u := range chosen {
			b.w.say("trusted  %s  %s\n%s", line(u.Name), u.Digest, indent(paragraph(u.Text), "    "))
		}
		switch {
		case len(chosen) == 0:
			b.w.say("nothing waits for trust")
		case daemonRuns(b.root):
			b.w.note("the daemon takes it up at once")
		}
		b.noteMore(len(chosen) > 0)
	})
}

// noteMore says what waits after agreement: a setting that counts from now on
// may have made other commands of those that were shown.
func (b *bench) noteMore(agreed bool) {
	if !agreed {
		return
	}
	if now, err := b.w.look(); err == nil {
		if n := len(now.allUntrusted()); n > 0 {
			b.w.note("%s for trust: see `placet trust`", many(n, "thing still waits", "things still wait"))
		}
	}
}

// chooseNamed returns what the arguments name. What is agreed to already needs
// no second word; what is named and not there is an error.
func chooseNamed(args []string, waiting []untrustedLine, agreed trustFile) ([]untrustedLine, error) {
	var chosen []untrustedLine
	for _, arg := range args {
		fit := slices.DeleteFunc(slices.Clone(waiting), func(u untrustedLine) bool { return !named(arg, u.Name, u.Digest) })
		if len(fit) == 0 && !slices.ContainsFunc(agreed.Trusted, func(t trusted) bool { return named(arg, t.Name, t.Digest) }) {
			return nil, usage("nothing that waits for trust is called %q", line(arg)).try("placet trust shows what waits")
		}
		if len(fit) > 1 {
			p := usage("%q names %d things", line(arg), len(fit)).try("name one by its digest")
			for _, u := range fit {
				p.fits = append(p.fits, fmt.Sprintf("%s  %s  %s", u.Digest, u.Place, cut(line(u.Text), 60)))
			}
			return nil, p
		}
		chosen = append(chosen, fit...)
	}
	return chosen, nil
}

// revoke takes agreement back.
func (b *bench) revoke(args []string, all bool) error {
	agreed, err := readTrust(b.trustFile())
	if err != nil {
		return err
	}
	if len(args) == 0 && !all {
		return usage("cannot revoke: name what, or say --yes to revoke everything").try("placet trust shows what is agreed to")
	}
	gone := map[engine.Digest]bool{}
	var names []string
	for _, t := range agreed.Trusted {
		if all || slices.ContainsFunc(args, func(arg string) bool { return named(arg, t.Name, t.Digest) }) {
			gone[t.Digest] = true
			names = append(names, t.Name)
		}
	}
	if len(gone) == 0 && len(args) > 0 {
		return usage("nothing that is agreed to is called %q", line(strings.Join(args, " "))).try("placet trust shows what is agreed to")
	}
	agreed.revoke(gone)
	agreed.Workspace = b.root
	if err := agreed.write(b.trustFile()); err != nil {
		return err
	}
	return b.w.answer(map[string]any{"revoked": append([]string{}, names...)}, func() {
		for _, name := range names {
			b.w.say("revoked  %s", line(name))
		}
	})
}
