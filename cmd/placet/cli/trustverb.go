package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/exec"
	"placet/engine/statedir"
	"placet/templates"
)

func trustVerb() verb.Verb {
	var yes, revoke, anyFile bool
	return verb.Verb{
		Use:  "trust [NAME@DIGEST|DIGEST|NAME]…",
		Most: -1, Group: verb.GroupSetUp,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&yes, "yes", "y", false, "")
			f.BoolVar(&anyFile, "any-file", false, "")
			f.BoolVar(&revoke, "revoke", false, "")
		},
		Run: func(c verb.Call) error {
			if revoke {
				return revokeTrust(c.Env, c.Args, yes)
			}
			b, err := workspace.Look(c.Env)
			if err != nil {
				return err
			}
			if yes || anyFile || len(c.Args) > 0 {
				return agreeTo(c.Ctx, b, c.Args, yes, anyFile)
			}
			return listTrust(b)
		},
	}
}

// trustData is the output of trust as JSON.
type trustData struct {
	Workspace string                 `json:"workspace"`
	Waiting   []config.UntrustedLine `json:"waiting"`
	// Agreeable are settings that count already and, once agreed to, still count if somebody
	// removes them from the file.
	Agreeable []config.UntrustedLine `json:"agreeable,omitempty"`
	Trusted   []config.Trusted       `json:"trusted"`
	// Held are settings that count although they were agreed to when another folder or
	// repository was at the workspace's path.
	Held []config.Trusted `json:"held"`
}

func listTrust(b *workspace.Workspace) error {
	waiting, agreeable := view.AllUntrusted(b), view.Agreeable(b)
	data := trustData{b.Root, waiting, agreeable, b.Agreed.Trusted, b.Held()}
	return b.Env.Answer(data, func() {
		daemon.NoteUntrustable(b)
		for _, u := range waiting {
			showTrust(b, "untrusted", u)
		}
		for _, t := range b.Agreed.Trusted {
			word := templates.Key("cli.trust.trusted")
			if slices.ContainsFunc(waiting, func(u config.UntrustedLine) bool { return u.Name == t.Name && u.Of == t.Of }) {
				word = "cli.trust.changed"
			}
			showTrusted(b.Env, word, t)
		}
		for _, t := range data.Held {
			showTrusted(b.Env, "cli.trust.held", t)
		}
		for _, u := range agreeable {
			showTrust(b, "agreeable", u)
			b.Env.Say("cli.trust.agreeable", "name", u.Name, "command", view.TypedTrust(b, u))
		}
		daemon.NoteWarnings(b, "trust")
		switch {
		case len(waiting) > 0:
			fmt.Fprintln(b.Env.Out)
			key := templates.Key("cli.trust.waits")
			tighter := namesOfTighter(waiting)
			if tighter != "" {
				key = "cli.trust.waits.tighter"
			}
			b.Env.Say(key, "names", tighter, "command", view.TypedTrust(b, waiting[0]))
		case len(agreeable)+len(b.Agreed.Trusted)+len(data.Held) == 0:
			b.Env.Say("cli.trust.none")
		}
	})
}

// showTrusted shows one thing that was agreed to.
func showTrusted(w *console.Env, word templates.Key, t config.Trusted) {
	show(w, "trusted", struct {
		Word string
		config.Trusted
	}{w.Text(word), t})
}

// namesOfTighter returns the names of those that already have an effect while they wait, "" for
// none.
func namesOfTighter(waiting []config.UntrustedLine) string {
	var names []string
	for _, u := range waiting {
		if u.Tighter {
			names = append(names, console.OneLine(u.Name))
		}
	}
	return strings.Join(names, ", ")
}

// shownTrust is a thing that waits for trust, or is trusted, as views show it.
type shownTrust struct {
	config.UntrustedLine
	Named []namedFile
}

// namedFile is a file that a thing names. Changed says that it differs from the one that was
// agreed to.
type namedFile struct {
	Name, Text string
	Changed    bool
}

// showTrust shows a whole thing: its text, and the files that it names.
func showTrust(b *workspace.Workspace, view string, u config.UntrustedLine) {
	before := slices.IndexFunc(b.Agreed.Trusted, func(t config.Trusted) bool { return t.Name == u.Name && t.Of == u.Of })
	var old map[string]string
	if before >= 0 {
		old = b.Agreed.Trusted[before].Files
	}
	all := map[string]string{}
	maps.Copy(all, u.Files)
	for name := range old {
		if u.Files[name] == "" {
			all[name] = b.Env.Text("cli.trust.absent")
		}
	}
	shown := shownTrust{UntrustedLine: u}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := all[name]
		if text == exec.AnyFile {
			text = b.Env.Text("cli.trust.anyfile")
		}
		shown.Named = append(shown.Named, namedFile{name, text, before >= 0 && old[name] != u.Files[name]})
	}
	show(b.Env, view, shown)
}

// agreeTo records agreement to what the arguments name, or to all that waits. A thing that is
// named without its digest needs a terminal, or unseen. A command that may run any file needs
// anyFile, because nobody would see that the file has changed.
func agreeTo(ctx context.Context, b *workspace.Workspace, args []string, unseen, anyFile bool) error {
	if err := b.Settings.Untrustable; err != nil {
		return config.Untrustable(err)
	}
	waiting := append(view.AllUntrusted(b), view.Agreeable(b)...)
	chosen, byName := waiting, []config.UntrustedLine(nil)
	if len(args) > 0 {
		var err error
		if chosen, byName, err = config.ChooseNamed(b.References, b.Env.Lang, args, waiting, b.Agreed); err != nil {
			return err
		}
	}
	refused := chosen[:0:0]
	if !anyFile {
		refused = slices.DeleteFunc(slices.Clone(chosen), func(u config.UntrustedLine) bool { return view.AnyFileOf(u) == "" })
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(u config.UntrustedLine) bool { return view.AnyFileOf(u) != "" })
	}
	if len(refused) > 0 && len(args) > 0 {
		return refuseAnyFile(b, refused)
	}
	if !unseen && len(byName) > 0 {
		if !b.Env.AtTerminal() {
			return unshown(b, byName)
		}
		if err := confirmTrust(ctx, b, byName); err != nil {
			return err
		}
	}
	if len(chosen) > 0 {
		if err := recordTrust(b, chosen); err != nil {
			return err
		}
	}
	err := b.Env.Answer(map[string]any{"trusted": chosen}, func() { sayTrusted(b, chosen) })
	if err == nil && len(refused) > 0 {
		err = refuseAnyFile(b, refused)
	}
	return err
}

// refuseAnyFile refuses agreement to commands that may run any file.
func refuseAnyFile(b *workspace.Workspace, things []config.UntrustedLine) error {
	u := things[0]
	return console.Refused("cli.trust.anyfile.refused", "name", strconv.Quote(console.OneLine(u.Name)), "word", strconv.Quote(console.OneLine(view.AnyFileOf(u)))).
		Try("cli.trust.anyfile.try", "command", view.TypedTrust(b, u))
}

// sayTrusted shows what was agreed to.
func sayTrusted(b *workspace.Workspace, chosen []config.UntrustedLine) {
	for _, u := range chosen {
		showTrust(b, "agreed", u)
	}
	switch {
	case len(chosen) == 0 && len(view.AllUntrusted(b)) == 0:
		b.Env.Say("cli.trust.none")
	case workspace.DaemonRuns(b.Root):
		b.Env.Note("cli.trust.taken")
	}
	noteMore(b, len(chosen) > 0)
}

// recordTrust records what was agreed to.
func recordTrust(b *workspace.Workspace, chosen []config.UntrustedLine) error {
	dir, err := config.StateDir(b.Env, b.Root, true)
	if err != nil {
		return config.Untrustable(err)
	}
	defer dir.Close()
	agreed, err := config.ReadTrust(dir)
	if err != nil {
		return err
	}
	// The record by path comes first, because a crash in between must leave placet stricter.
	if err := config.SourcesOf(b.Env, b.Root).AgreeByPath(agreed, b.Env.Now(), chosen); err != nil {
		return err
	}
	config.KeepTexts(dir, b.Contents, chosen)
	agreed.Agree(b.Env.Now(), chosen...)
	agreed.Workspace = b.Root
	return agreed.Write(dir)
}

// unshown refuses agreement by name alone.
func unshown(b *workspace.Workspace, things []config.UntrustedLine) error {
	p := console.Usage("cli.trust.byname", "name", strconv.Quote(console.OneLine(things[0].Name)))
	var exact []string
	for _, u := range things {
		p.Fits = append(p.Fits, fmt.Sprintf("%s  %s  %s  %s", console.OneLine(u.Name), u.Digest, u.Place, console.Cut(console.OneLine(u.Text), 60)))
		exact = append(exact, config.Exactly(b.References, u.Name, u.Digest))
	}
	return p.Try("say.text", "text", console.Typed("trust", exact...))
}

// confirmTrust shows whole things, and asks whether they are agreed to. Only "y" and "yes"
// agree.
func confirmTrust(ctx context.Context, b *workspace.Workspace, things []config.UntrustedLine) error {
	p := b.Env.NewPrompter()
	defer p.Close()
	for _, u := range things {
		showOnErr(b, func() { showTrust(b, "untrusted", u) })
		if err := p.Agreed(ctx, b.Env.Text("cli.trust.agree", "name", u.Name)); err != nil {
			return err
		}
	}
	return nil
}

// noteMore reports what still waits after agreement: a setting that counts from now on may have
// changed commands that were shown.
func noteMore(b *workspace.Workspace, agreed bool) {
	if !agreed {
		return
	}
	if now, err := workspace.Look(b.Env); err == nil {
		if n := len(view.AllUntrusted(now)); n > 0 {
			b.Env.Note("cli.trust.more", "n", n)
		}
	}
}

// revokeTrust revokes agreement, whatever the settings look like.
func revokeTrust(w *console.Env, args []string, all bool) error {
	if len(args) == 0 && !all {
		return console.Usage("cli.trust.revoke").Try("cli.trust.list")
	}
	root, err := config.FindRoot(w)
	if err != nil {
		return err
	}
	dir, err := statedir.Open(w.StateHome(), root)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = nil, nil
	}
	if err != nil {
		return config.Untrustable(err)
	}
	var refs statedir.References
	if dir != nil {
		defer dir.Close()
		refs, _ = dir.References() // without a key, whole digests are the names
	}
	agreed, damage := config.ReadTrust(dir)
	gone, names := namedTrust(refs, agreed, args, all)
	named := args
	if all || damage != nil {
		named = nil
	}
	more, unknown, err := config.SourcesOf(w, root).RevokeByPath(refs, agreed, w.Now(), named)
	if err != nil {
		return err
	}
	names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(names, more))))
	if damage = cmp.Or(damage, unknown); damage == nil && len(names) == 0 && len(args) > 0 {
		return console.Usage("cli.trust.unknown", "name", strconv.Quote(console.OneLine(strings.Join(args, " ")))).Try("cli.trust.list")
	}
	agreed.Revoke(w.Now(), gone)
	if damage != nil {
		agreed.DecideGates(w.Now()) // the damaged part may have been about gates
	}
	agreed.Workspace = root
	if dir != nil {
		if err := agreed.Write(dir); err != nil {
			return err
		}
	}
	return w.Answer(map[string]any{"revoked": names}, func() { sayRevoked(w, root, names, damage) })
}

// namedTrust returns the digests and names of what is agreed to: of what the arguments name, or
// of all.
func namedTrust(refs statedir.References, agreed config.TrustFile, args []string, all bool) (digests map[engine.Digest]bool, names []string) {
	digests = map[engine.Digest]bool{}
	for _, t := range agreed.Trusted {
		if all || slices.ContainsFunc(args, func(arg string) bool { return config.Named(refs, arg, t.Name, t.Digest) }) {
			digests[t.Digest] = true
			names = append(names, t.Name)
		}
	}
	return digests, names
}

// sayRevoked prints what is no longer agreed to.
func sayRevoked(w *console.Env, root string, names []string, damage error) {
	if damage != nil {
		w.Note("cli.trust.damage", "error", damage)
	}
	for _, name := range names {
		fmt.Fprintf(w.Out, "%s  %s\n", w.Text("cli.trust.revoked"), console.OneLine(name))
	}
	if workspace.DaemonRuns(root) {
		w.Note("cli.trust.ends")
	}
}
