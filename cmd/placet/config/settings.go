// Package config reads the settings of a workspace, and keeps its owner's agreements: which
// policy and which commands count.
package config

import (
	"cmp"
	_ "embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/engine"
	"placet/engine/exec"
	"placet/engine/facade/notify"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/templates"
)

// InitialSettings is the placet.toml that init writes.
//
//go:embed init.toml
var InitialSettings string

// File is everything that placet.toml and the user's configuration may contain. A family's
// block is unknown until the family exists.
type File struct {
	// Language is the language of what people read: en, ko or ja. "" takes it from the
	// environment.
	Language string              `toml:"language"`
	Gates    map[string]GateRule `toml:"gates"`
	Commands commands            `toml:"commands"`
	Hook     Hook                `toml:"hook"`
	Serve    Serve               `toml:"serve"`
	Slack    Slack               `toml:"slack"`
	MCP      MCP                 `toml:"mcp"`
	// Notify counts only in the user's own configuration.
	Notify notify.Settings `toml:"notify"`
	family.Settings
}

// GateRule says what an answer needs; see engine.Gate.
type GateRule struct {
	Level     string   `toml:"level"`
	Approvers []string `toml:"approvers"`
	Links     *bool    `toml:"links"`
}

// commands says what placet passes to the commands that it runs.
type commands struct {
	// Env names variables that commands get in addition to the few that they always get.
	Env []string `toml:"env"`
}

// Settings are the merged configuration and the agreements of its owner.
type Settings struct {
	File
	// Agreed is the trust file; Untrustable says why nothing can be trusted here, nil if it
	// can.
	Agreed      TrustFile
	Untrustable error
	// held are further agreements that hold because they were made for the workspace's
	// path, and holding names the settings that they make stricter.
	held    []Trusted
	holding []string
	// above are further agreements that hold because they were made for a folder above.
	above []above
	// Trusted holds the digests that Facts.Trusted shows to the machines.
	Trusted map[engine.Digest]bool
	// Changed lists what Facts.Changed shows to the machines, and kept reads a text that was
	// agreed to.
	Changed map[engine.Digest][]engine.ChangedFile
	kept    func(engine.Digest) *string
	// Allowed holds the seals of commands with the files that they may begin with.
	Allowed map[engine.Digest]bool
	// basis holds, for each command, the digests to which the trust file must agree; ""
	// stands for the user's own configuration, which needs no agreement.
	basis map[engine.Digest][]engine.Digest
	// commands are those that may be trusted if their files are.
	commands []command
	// Contents reads the files that commands name, and seen holds the results.
	Contents *exec.Contents
	seen     []commandFiles
	trees    []string // the work trees of checkpoints
	// elicits says that the user's own configuration sets mcp.elicit.
	elicits bool
	// Waiting are settings that do not count yet, and counting are policy settings that do.
	Waiting, counting []Setting
	// Agreeable are settings that count without agreement. After an agreement they also hold
	// if somebody removes them from the file.
	Agreeable []Setting
	// Read are the configuration files that exist.
	Read []string
	// Warnings are the problems of files that can be used all the same. spared says that
	// tables do not count because of mistakes.
	Warnings []Warning
	spared   bool
	// statements are the values in the files for each setting with an order, by name, in
	// the order of the files.
	statements map[string][]statement
	// gatesWait names the gates that are the tighter of two, one of which waits for trust.
	gatesWait map[string]bool
	// tree holds the settings of all files that count, before File is decoded from it.
	tree map[string]any
}

// Warning is a problem with the settings and the next step.
type Warning struct {
	Text, Try templates.Message
	Subject   string // the line of doctor that shows it
}

// command is a command that somebody agreed to.
type command struct {
	digest engine.Digest
	argv   []string
}

// commandFiles are the files that a command names in a folder, as they were read.
type commandFiles struct {
	dir   string
	argv  []string
	files map[string]string
}

// Sources are the files of the settings; "" means none.
type Sources struct {
	Workspace string // the folder that holds placet.toml
	User      string // the user's own configuration
	named     bool   // --config named it, so it must exist
	// Above are the folders above the workspace, and above the name by which it was called.
	// Agreements for them that make placet stricter hold in the workspace too.
	Above     []string
	StateHome string // the folder of all state folders; the workspace's has the trust file
	Getenv    func(name string) string
	Lang      string // the language that --lang names, "" for none
	spares    bool   // see [Layer.spare]
	Contents  *exec.Contents
}

// Defaults returns the settings without any configuration.
func Defaults() File {
	return File{Serve: Serve{Listen: "127.0.0.1:8787", Wait: "5s"}, Slack: defaultSlack(), Hook: defaultHook(), MCP: MCP{Elicit: "auto"}, Settings: family.Defaults()}
}

// Load merges the settings: default < placet.toml < the user's file. A policy setting that
// an agent could have written counts only after it is trusted, and so does the user's own
// command that names files of the workspace.
func Load(from Sources) (Settings, error) {
	s := newSettings(from.Contents)
	s.kept = from.keptText
	var err error
	if s.Agreed, s.Untrustable, err = from.Agreed(); err != nil {
		return s, err
	}
	p, err := from.ofPath()
	if err != nil {
		return s, err
	}
	s.hold(p)
	if s.above, err = from.agreedAbove(); err != nil {
		return s, err
	}
	for _, one := range s.Agreed.Trusted {
		switch {
		case one.Argv != nil:
			s.addBasis(one.Of, one.Of)
			s.commands = append(s.commands, command{one.Of, one.Argv})
			s.Allowed[one.Digest] = true
		case one.Digest == one.Of:
			s.Trusted[one.Of] = true
		}
	}
	layers, err := from.layers()
	if err != nil {
		return s, err
	}
	for _, l := range layers {
		if err := s.merge(l); err != nil {
			return s, err
		}
	}
	file := filepath.Join(from.Workspace, "placet.toml")
	s.mergeGates(file)
	if err := s.mergeRules(file); err != nil {
		return s, err
	}
	if err := s.mergeOrders(file); err != nil {
		return s, err
	}
	s.tellHeld()
	s.tellAbove()
	s.tellFamilies(from.Getenv)
	s.Language = cmp.Or(from.Lang, s.Language)
	if from.Getenv != nil {
		s.Language = cmp.Or(s.Language, console.Locale(from.Getenv))
		s.Slack.look(from.Getenv)
	}
	s.Language = cmp.Or(s.Language, templates.English)
	s.trustStanding()
	s.trustCommands()
	if s.spared {
		s = s.broken()
	}
	return s, nil
}

// tellFamilies passes to the families their settings that wait for trust, and the
// environment.
func (s *Settings) tellFamilies(getenv func(string) string) {
	for _, f := range family.All {
		if f.Waits != nil {
			waiting := map[string]string{}
			for _, w := range s.Waiting {
				if w.key[0] == f.Name {
					waiting[strings.Join(w.key[1:], ".")] = w.Text
				}
			}
			f.Waits(&s.File.Settings, waiting)
		}
		if f.Environ != nil && getenv != nil {
			f.Environ(&s.File.Settings, getenv)
		}
	}
}

func newSettings(contents *exec.Contents) Settings {
	return Settings{
		File: Defaults(), Contents: contents, Trusted: map[engine.Digest]bool{}, Allowed: map[engine.Digest]bool{},
		Changed: map[engine.Digest][]engine.ChangedFile{},
		basis:   map[engine.Digest][]engine.Digest{}, statements: map[string][]statement{}, tree: map[string]any{},
	}
}

// Agreed reads the trust file. problem says why nothing can be trusted here. err says that
// the file could not be read, so that the agreements are unknown.
func (from Sources) Agreed() (t TrustFile, problem, err error) {
	dir, err := statedir.Open(from.StateHome, from.Workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return TrustFile{SchemaVersion: 1}, nil, nil
	}
	if loop.OfMachine(err) {
		return TrustFile{}, nil, err
	}
	if err != nil {
		return TrustFile{SchemaVersion: 1}, err, nil
	}
	defer dir.Close()
	if t, err = ReadTrust(dir); err == nil {
		err = t.check(filepath.Join(dir.Location(), trustName))
	}
	return t, nil, err
}

// trustStanding allows the commands that several settings make together: agreement to the
// setting that names a command is agreement to the command. In a work tree its files must
// be the same.
func (s *Settings) trustStanding() {
	for _, f := range family.All {
		if f.Standing == nil {
			continue
		}
		if digest, argv := f.Standing(&s.File.Settings); digest != "" {
			s.allow(digest, argv)
		}
		for _, w := range slices.Concat(s.Waiting, s.counting) {
			if slices.Equal(w.key, f.StandingKey) && len(w.argv) > 0 {
				s.addBasis(f.StandingWith(s.File.Settings, w.argv[0]), w.basis())
			}
		}
	}
}

// workTrees returns the folders besides the workspace's root in which commands may run.
func (s *Settings) workTrees() (trees []string) {
	for _, f := range family.All {
		if f.WorkTrees != "" {
			trees = append(trees, s.Contents.Folders(f.WorkTrees)...)
		}
	}
	return trees
}

// trustCommands makes the machines trust the commands whose files are those of the
// agreement, in the workspace's root and in each work tree.
func (s *Settings) trustCommands() {
	if len(s.commands) > 0 {
		s.trees = s.workTrees()
	}
	for _, c := range s.commands {
		trustIn(s, c.digest, c.argv, func(files map[string]string) bool { return s.Allowed[Seal(c.digest, files)] })
		noteAllChanged(s, c)
	}
	for _, t := range s.granted() {
		trustIn(s, t.Of.For(runKey(t.Run)), t.Argv, func(files map[string]string) bool { return t.covers(t.Run, files) })
	}
}

// trustIn makes the machines trust a command under a name, in the workspace's root and in each
// work tree where its files are agreed to.
func trustIn(s *Settings, name engine.Digest, argv []string, agreed func(files map[string]string) bool) {
	here := agreed(s.filesOf(".", argv))
	if here {
		s.Trusted[name] = true
	}
	for _, tree := range s.trees {
		if there := agreed(s.filesOf(tree, argv)); there != here {
			s.Trusted[name.In(tree)] = there
		}
	}
}

// granted returns the agreements to files that may change in a run. They count only while the
// settings let such files change.
func (s *Settings) granted() []Trusted {
	return slices.DeleteFunc(slices.Clone(s.Agreed.Trusted), func(t Trusted) bool {
		return len(t.Changing) == 0 || !s.MayChange(t.Run)
	})
}

// MayChange reports whether the settings let a person agree to later changes of files in a run.
func (s *Settings) MayChange(run string) bool {
	f, ok := family.Named(runKey(run).Family)
	return ok && f.MayChange != nil && f.MayChange(&s.File.Settings)
}

// runKey returns the run of a name "family/id".
func runKey(name string) engine.Key {
	of, id, _ := strings.Cut(name, "/")
	return engine.Key{Family: of, ID: id}
}

// Covers reports whether the agreements cover a command of a run, with the digest of and the
// files that it names, even if no command may start now.
func (s *Settings) Covers(run string, of engine.Digest, files map[string]string) bool {
	if s.Agreed.Digests()[Seal(of, files)] {
		return true
	}
	return slices.ContainsFunc(s.granted(), func(t Trusted) bool { return t.Of == of && t.covers(run, files) })
}

// Permits reports whether a command of a run may begin with the files that it names.
func (s *Settings) Permits(run string, digest engine.Digest, files map[string]string) bool {
	if s.Allowed[Seal(digest, files)] {
		return true
	}
	return len(s.Allowed) > 0 && slices.ContainsFunc(s.granted(), func(t Trusted) bool { return t.Of == digest && t.covers(run, files) })
}

// filesOf returns the files that a command names in a folder, reading them once.
func (s *Settings) filesOf(dir string, argv []string) map[string]string {
	if len(argv) == 0 {
		return nil
	}
	for _, l := range s.seen {
		if l.dir == dir && slices.Equal(l.argv, argv) {
			return l.files
		}
	}
	files := s.Contents.Of(dir, argv)
	s.seen = append(s.seen, commandFiles{dir, argv, files})
	return files
}

// moved reports whether the files that commands name have changed.
func (s *Settings) moved() bool {
	if len(s.commands) > 0 && !slices.Equal(s.trees, s.workTrees()) {
		return true
	}
	return slices.ContainsFunc(s.seen, func(l commandFiles) bool { return !maps.Equal(l.files, s.Contents.Of(l.dir, l.argv)) })
}

// allow lets a command run with the files that it names in the workspace's root.
func (s *Settings) allow(digest engine.Digest, argv []string) {
	s.commands = append(s.commands, command{digest, argv})
	s.Allowed[Seal(digest, s.filesOf(".", argv))] = true
}

// addBasis records the agreement that a command depends on.
func (s *Settings) addBasis(digest, on engine.Digest) {
	if digest != "" && !slices.Contains(s.basis[digest], on) {
		s.basis[digest] = append(s.basis[digest], on)
	}
}

// broken returns the settings that hold while the files cannot be used: nothing is trusted.
func (s Settings) broken() Settings {
	s = s.ReadOnly()
	s.Trusted = map[engine.Digest]bool{}
	return s
}

// ReadOnly returns the settings with which no command starts, and none is recorded as
// started: agreements count for settings only.
func (s Settings) ReadOnly() Settings {
	for _, f := range family.All {
		if f.ReadOnly != nil {
			f.ReadOnly(&s.File.Settings)
		}
	}
	s.Trusted, s.Allowed, s.Changed = map[engine.Digest]bool{}, map[engine.Digest]bool{}, nil
	for _, t := range s.Agreed.Trusted {
		if t.Argv == nil {
			s.Trusted[t.Digest] = true
		}
	}
	return s
}

// Layer is one configuration file.
type Layer struct {
	Path string
	body []byte
	// own is true for a file outside the workspace, which its owner wrote.
	own bool
	// spares says that mistakes in tables that do not concern asks are warnings.
	spares bool
}

func (from Sources) layers() ([]Layer, error) {
	var layers []Layer
	for _, path := range []string{filepath.Join(from.Workspace, "placet.toml"), from.User} {
		if path == "" {
			continue
		}
		body, err := ReadSmall(path)
		if errors.Is(err, fs.ErrNotExist) && !(from.named && path == from.User) {
			continue
		}
		if err == nil {
			err = bounded(body)
		}
		if err != nil {
			return nil, console.Usage("config.unreadable", "file", strconv.Quote(path), "error", console.Plain(err))
		}
		layers = append(layers, Layer{Path: path, body: body, own: !within(path, from.Workspace), spares: from.spares})
	}
	return layers, nil
}

// within reports whether a file lies in the workspace, or would if it existed, after
// following links.
func within(path, workspace string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return inside(path, workspace) || inside(resolved, workspace)
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// merge adds the settings of one file to those of the files before. It sets untrusted policy
// aside.
func (s *Settings) merge(l Layer) error {
	tree, spared, err := l.parse()
	if err != nil {
		return err
	}
	s.spare(spared)
	for _, p := range policies(tree) {
		p.own, p.Files = l.own, s.filesOf(".", p.argv)
		p.Sealed = Seal(p.Digest, p.Files)
		s.addBasis(p.command, p.basis())
		counts := p.own && len(p.Files) == 0 || s.agrees(p)
		if name := p.Name(); outlives(name) {
			s.statements[name] = append(s.statements[name], statement{p.Text, l.own, counts})
		}
		rules := slices.Equal(p.key, hookRules)
		p.Path, p.Line = l.Path, l.lineOf(p.key)
		if counts || rules && !needsTrust(tree) && s.holdsNoOther(p) {
			s.permit(p)
			if !counts {
				s.Agreeable = append(s.Agreeable, p)
			}
			continue
		}
		s.Waiting = append(s.Waiting, p)
		switch {
		case rules:
			dropUntrusted(tree)
		case !p.stays:
			remove(tree, p.key)
		}
	}
	if _, says := lookup(tree, elicitKey); says && l.own {
		s.elicits = true
	}
	joinRules(tree, s.tree)
	delete(tree, GatesKey[0]) // mergeGates merges them
	s.mergeNotify(l, tree)
	if err := s.apply(l, tree); err != nil {
		return err
	}
	s.Read = append(s.Read, l.Path)
	return nil
}

// agrees reports whether a setting, or the command that it names, is trusted.
func (s *Settings) agrees(p Setting) bool {
	return s.Agreed.Digests()[p.Sealed] || p.command != "" && s.Allowed[Seal(p.command, p.Files)]
}

// permit allows the command that a setting names, if it names one: agreement to the setting
// is agreement to the command in it.
func (s *Settings) permit(p Setting) {
	s.counting = append(s.counting, p)
	if p.command != "" {
		s.allow(p.command, p.argv)
	}
}

// notifyKey is the table for secrets, which only the user's own configuration may have.
const notifyKey = "notify"

// spare warns of tables that do not count because of mistakes. What they say about commands is
// unknown, so none may start.
func (s *Settings) spare(mistakes []error) {
	for _, err := range mistakes {
		s.Warnings = append(s.Warnings, Warning{
			templates.NewMessage("config.spared", "problem", err), templates.Untranslated("placet doctor"), "config",
		})
		s.spared = true
	}
}

// mergeNotify removes [notify] from a file of the workspace, and warns if others can read a
// file with it.
func (s *Settings) mergeNotify(l Layer, tree map[string]any) {
	if _, has := tree[notifyKey]; !has {
		return
	}
	if !l.own {
		delete(tree, notifyKey)
		s.Warnings = append(s.Warnings, Warning{
			templates.NewMessage("config.notify.ignored", "place", l.Place(l.lineOf([]string{notifyKey}))),
			templates.NewMessage("config.notify.ignored.try"), notifyKey,
		})
		return
	}
	if info, err := os.Stat(l.Path); err == nil && info.Mode().Perm()&0o077 != 0 {
		s.Warnings = append(s.Warnings, Warning{
			templates.NewMessage("config.notify.open", "file", console.OneLine(l.Path)),
			templates.Untranslated(templates.CommandLine("chmod 600", []string{console.OneLine(l.Path)})), notifyKey,
		})
	}
}
