package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reconcile"
	"placet/engine/statedir"
)

func trustCommand(w *world) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use: "trust [NAME@DIGEST|DIGEST|NAME]…", Short: "Agree to commands and policy settings of the workspace",
		Long: `A workspace is data, not a program: a command or a policy setting that stands in
one of its files counts only after you have agreed to it. Where one value of a
setting is tighter than another, the tighter of what you agreed to last and what is
written holds until you decide. Without an argument this shows what waits, and what
is agreed to.

You agree to what was shown: name it with the digest beside it, as in
placet trust faber.resume@0123456789ab. On a terminal the name alone will do: the
thing is shown whole, and you are asked. The digest covers a command's words and
what the files of the workspace are that they name: a changed command waits
again, and so does one that names a changed script.

What you agree to is kept outside the workspace. --revoke takes it back at any
time, also while the settings cannot be read, and a daemon then ends what is under
way of it.`,
		GroupID: groupSetUp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if revoke {
				return w.revoke(args, yes)
			}
			b, err := w.look()
			if err != nil {
				return err
			}
			if yes || len(args) > 0 {
				return b.agree(cmd.Context(), args, yes)
			}
			return b.listTrust()
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "agree unseen to what waits, or to what is named: it prints what it records")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take agreement back: of what is named, or with --yes of everything")
	return cmd
}

// untrustedLine is something that waits for trust, as JSON.
type untrustedLine struct {
	Name string `json:"name"`
	// Digest covers the thing and the files that it names.
	Digest engine.Digest `json:"digest"`
	Text   string        `json:"text"`
	Place  string        `json:"place"`
	// Files says, by name, what the files are.
	Files map[string]string `json:"files,omitempty"`

	of      engine.Digest // of the thing alone
	argv    []string      // of a command that a document names
	tighter bool          // of it and of what was agreed to the tighter holds while it waits
}

// untrusted lists what waits for trust: settings first, then what the runs'
// documents name.
func (b *bench) untrusted(views []view) []untrustedLine {
	lines := []untrustedLine{}
	for _, s := range b.settings.waiting {
		lines = append(lines, untrustedLine{s.name(), s.sealed, s.text, layer{path: s.path}.place(s.line), s.files, s.digest, nil, holdsTighter(s.name())})
	}
	for _, v := range views {
		for _, u := range v.Untrusted {
			l := untrustedLine{u.Name, u.Digest, u.Text, v.Key.String(), nil, u.Digest, u.Argv, false}
			if u.Argv != nil {
				l.Files = b.contents.Of(b.contents.Where(u.Prefer), u.Argv)
				l.Digest = seal(u.Digest, l.Files)
			}
			if b.agreed.digests()[l.Digest] || slices.ContainsFunc(lines, func(other untrustedLine) bool { return other.Digest == l.Digest }) {
				continue
			}
			lines = append(lines, l)
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

// trustData is trust as JSON.
type trustData struct {
	Workspace string          `json:"workspace"`
	Waiting   []untrustedLine `json:"waiting"`
	Trusted   []trusted       `json:"trusted"`
}

func (b *bench) listTrust() error {
	waiting := b.allUntrusted()
	data := trustData{b.root, waiting, append([]trusted{}, b.agreed.Trusted...)}
	return b.w.answer(data, func() {
		b.noteUntrustable()
		for _, u := range waiting {
			b.printUntrusted(u)
		}
		for _, t := range b.agreed.Trusted {
			word := "trusted"
			if slices.ContainsFunc(waiting, func(u untrustedLine) bool { return u.Name == t.Name && u.of == t.Of }) {
				word = "changed"
			}
			b.w.say("%s  %s  %s\n%s", word, line(t.Name), t.Digest, indent(paragraph(t.Text), "    "))
		}
		switch {
		case len(waiting) > 0:
			b.w.say("\nNothing that waits has any effect%s. To agree: %s", butTighter(waiting), typed("trust", exactly(waiting[0].Name, waiting[0].Digest)))
		case len(b.agreed.Trusted) == 0:
			b.w.say("nothing waits for trust")
		}
	})
}

// butTighter names what has an effect while it waits.
func butTighter(waiting []untrustedLine) string {
	var names []string
	for _, u := range waiting {
		if u.tighter {
			names = append(names, line(u.Name))
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf(", but of %s the tighter holds until you decide", strings.Join(names, ", "))
}

// noteUntrustable says why nothing can be trusted, where that is so.
func (b *bench) noteUntrustable() {
	if err := cmp.Or(b.settings.untrustable, b.stateless); err != nil {
		p := untrustable(err)
		b.w.note("%s; try: %s", line(p.text), line(p.hint))
	}
}

// printUntrusted shows a thing whole: its text, and the files that it names.
func (b *bench) printUntrusted(u untrustedLine) {
	b.w.say("%s  %s  %s%s\n%s", b.w.paint(alarm, "waits"), b.w.paint(strong, line(u.Name)), u.Digest, suffix("  ", line(u.Place)),
		indent(paragraph(u.Text), "    "))
	b.printFiles(u)
}

// printFiles shows the files that a thing names, and which of them are others than
// those that were agreed to.
func (b *bench) printFiles(u untrustedLine) {
	before := slices.IndexFunc(b.agreed.Trusted, func(t trusted) bool { return t.Name == u.Name && t.Of == u.of })
	for _, name := range slices.Sorted(maps.Keys(u.Files)) {
		word := ""
		if before >= 0 && b.agreed.Trusted[before].Files[name] != u.Files[name] {
			word = b.w.paint(alarm, "  changed")
		}
		b.w.say("    names %s: %s%s", line(name), line(u.Files[name]), word)
	}
	if before < 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.agreed.Trusted[before].Files)) {
		if u.Files[name] == "" {
			b.w.say("    names %s: it does not exist%s", line(name), b.w.paint(alarm, "  changed"))
		}
	}
}

// agree records agreement to what the arguments name, or to all that waits. What is
// named without its digest is agreed to on a terminal alone, or unseen.
func (b *bench) agree(ctx context.Context, args []string, unseen bool) error {
	if err := b.settings.untrustable; err != nil {
		return untrustable(err)
	}
	waiting := b.allUntrusted()
	chosen, byName := waiting, []untrustedLine(nil)
	if len(args) > 0 {
		var err error
		if chosen, byName, err = chooseNamed(args, waiting, b.agreed); err != nil {
			return err
		}
	}
	if !unseen && len(byName) > 0 {
		if !b.w.atTerminal() {
			return unshown(byName)
		}
		if err := b.confirmTrust(ctx, byName); err != nil {
			return err
		}
	}
	if len(chosen) > 0 {
		if err := b.recordTrust(chosen); err != nil {
			return err
		}
	}
	return b.w.answer(map[string]any{"trusted": append([]untrustedLine{}, chosen...)}, func() {
		for _, u := range chosen {
			b.w.say("trusted  %s  %s\n%s", line(u.Name), u.Digest, indent(paragraph(u.Text), "    "))
			b.printFiles(u)
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

// recordTrust writes down what was agreed to.
func (b *bench) recordTrust(chosen []untrustedLine) error {
	dir, err := b.w.stateDir(b.root, true)
	if err != nil {
		return untrustable(err)
	}
	defer dir.Close()
	agreed, err := readTrust(dir)
	if err != nil {
		return err
	}
	agreed.agree(b.w.now(), chosen...)
	agreed.Workspace = b.root
	return agreed.write(dir)
}

// unshown refuses agreement by name alone.
func unshown(things []untrustedLine) error {
	p := usage("cannot agree to %q by its name alone: it may be another by now than the one you saw", line(things[0].Name))
	var exact []string
	for _, u := range things {
		p.fits = append(p.fits, fmt.Sprintf("%s  %s  %s  %s", line(u.Name), u.Digest, u.Place, cut(line(u.Text), 60)))
		exact = append(exact, exactly(u.Name, u.Digest))
	}
	return p.try("%s", typed("trust", exact...))
}

// confirmTrust shows things whole and asks whether they are agreed to. Only "y" and "yes"
// agree.
func (b *bench) confirmTrust(ctx context.Context, things []untrustedLine) error {
	p := b.w.newPrompter()
	defer p.close()
	for _, u := range things {
		b.showOnErr(func() { b.printUntrusted(u) })
		if err := p.agreed(ctx, fmt.Sprintf("Agree to %s? (y/N) ", line(u.Name))); err != nil {
			return err
		}
	}
	return nil
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

// chooseNamed returns what the arguments name, and what of that is named without its
// digest. What is agreed to already needs no second word; what is named and not there
// is an error.
func chooseNamed(args []string, waiting []untrustedLine, agreed trustFile) (chosen, byName []untrustedLine, err error) {
	for _, arg := range args {
		var fit []untrustedLine
		for _, u := range waiting {
			if namedExactly(arg, u.Name, u.Digest) {
				fit = append(fit, u)
			}
		}
		exact := len(fit) > 0
		if !exact {
			fit = slices.DeleteFunc(slices.Clone(waiting), func(u untrustedLine) bool { return u.Name != arg })
		}
		if len(fit) == 0 {
			if !slices.ContainsFunc(agreed.Trusted, func(t trusted) bool { return named(arg, t.Name, t.Digest) }) {
				return nil, nil, noneNamed(arg, waiting)
			}
		}
		if len(fit) > 1 {
			p := usage("%q names %d things", line(arg), len(fit)).try("name one by its digest")
			for _, u := range fit {
				p.fits = append(p.fits, fmt.Sprintf("%s  %s  %s", u.Digest, u.Place, cut(line(u.Text), 60)))
			}
			return nil, nil, p
		}
		if !exact {
			byName = append(byName, fit...)
		}
		chosen = append(chosen, fit...)
	}
	return chosen, byName, nil
}

// noneNamed is the problem with an argument that names nothing: the thing may be
// another than the one that was listed.
func noneNamed(arg string, waiting []untrustedLine) error {
	name, _, _ := cutLast(arg, "@")
	for _, u := range waiting {
		if u.Name != name {
			continue
		}
		p := refused("cannot agree to %q: it is not what was listed any more", line(name))
		p.fits = append(p.fits, fmt.Sprintf("it is now %s  %s  %s", u.Digest, u.Place, cut(line(u.Text), 200)))
		for _, file := range slices.Sorted(maps.Keys(u.Files)) {
			p.fits = append(p.fits, fmt.Sprintf("names %s: %s", file, u.Files[file]))
		}
		return p.try("look at it, then: %s", typed("trust", exactly(u.Name, u.Digest)))
	}
	return usage("nothing that waits for trust is called %q", line(arg)).try("placet trust shows what waits")
}

// revoke takes agreement back, whatever the settings look like.
func (w *world) revoke(args []string, all bool) error {
	if len(args) == 0 && !all {
		return usage("cannot revoke: name what, or say --yes to revoke everything").try("placet trust shows what is agreed to")
	}
	root, err := w.root()
	if err != nil {
		return err
	}
	dir, err := statedir.Open(w.stateHome(), root)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = nil, nil
	}
	if err != nil {
		return untrustable(err)
	}
	agreed, damage := readTrust(dir)
	gone := map[engine.Digest]bool{}
	names := []string{}
	for _, t := range agreed.Trusted {
		if all || slices.ContainsFunc(args, func(arg string) bool { return named(arg, t.Name, t.Digest) }) {
			gone[t.Digest] = true
			names = append(names, t.Name)
		}
	}
	if damage == nil && len(gone) == 0 && len(args) > 0 {
		return usage("nothing that is agreed to is called %q", line(strings.Join(args, " "))).try("placet trust shows what is agreed to")
	}
	agreed.revoke(w.now(), gone)
	if damage != nil {
		agreed.decideGates(w.now()) // it may have been about gates
	}
	agreed.Workspace = root
	if dir != nil {
		defer dir.Close()
		if err := agreed.write(dir); err != nil {
			return err
		}
	}
	return w.answer(map[string]any{"revoked": names}, func() {
		if damage != nil {
			w.note("%v: everything is revoked", damage)
		}
		for _, name := range names {
			w.say("revoked  %s", line(name))
		}
		if daemonRuns(root) {
			w.note("the daemon ends what is under way of it")
		}
	})
}
