package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/statedir"
	"placet/schemas"
	"placet/templates"
)

// The agreements of a workspace's owner are kept outside the workspace, by the
// digest of what was shown. An agent that works in the workspace can change a
// command or a file that it names, and then it is no longer the trusted one.

// Trusted is one agreement.
type Trusted struct {
	Name string `json:"name"`
	// Digest is the digest of what was shown: the thing, and the files that it
	// names.
	Digest engine.Digest `json:"digest"`
	// Of is the digest of the setting or command alone.
	Of   engine.Digest `json:"of"`
	Text string        `json:"text"`
	At   string        `json:"trusted_at"`
	// Argv is the command if a document names it, nil for a setting.
	Argv []string `json:"argv,omitempty"`
	// Files are the files that it names, as they were.
	Files map[string]string `json:"files,omitempty"`
	// Changing names those of the files whose contents may change in the run Run without another
	// question. The agreement then counts in that run alone, for the changed files.
	Changing []string `json:"changing,omitempty"`
	Run      string   `json:"run,omitempty"`
}

// covers reports whether the agreement covers a command in a run with other files than those
// that were agreed to: only files that may change there differ, and they are still regular files
// of the workspace, or do not exist.
func (t Trusted) covers(run string, files map[string]string) bool {
	if len(t.Changing) == 0 || t.Run != run {
		return false
	}
	names := maps.Clone(t.Files)
	maps.Copy(names, files)
	for name := range names {
		may := slices.Contains(t.Changing, name) && isContent(files[name])
		if t.Files[name] != files[name] && !may {
			return false
		}
	}
	return true
}

// isContent reports whether the description of a file that a command names says nothing but a
// content, or that it does not exist.
func isContent(is string) bool { return is == "" || strings.HasPrefix(is, "sha256:") }

// Agreed returns the last agreement to a command that a document names, whatever the files are,
// nil for none.
func (t TrustFile) Agreed(of engine.Digest) *Trusted {
	for i, one := range slices.Backward(t.Trusted) {
		if one.Of == of && one.Argv != nil {
			return &t.Trusted[i]
		}
	}
	return nil
}

// TrustFile holds the agreements of one workspace.
type TrustFile struct {
	SchemaVersion int       `json:"schema_version"`
	Workspace     string    `json:"workspace"`
	Trusted       []Trusted `json:"trusted"`
	// GatesDecided is when agreement to gates was last given or taken back.
	GatesDecided string `json:"gates_decided_at,omitempty"`
	// Revoked says, by setting, when agreement was last taken back. Only the file of a
	// path has it.
	Revoked map[string]string `json:"revoked,omitempty"`
}

// trustName is the name of the trust file in the state folder of a workspace.
const trustName = "trust.json"

// ReadTrust reads the trust file of a state folder, which may be nil; a missing file
// has no agreements. A file that others can write has none either, and the error
// says so.
func ReadTrust(dir *statedir.Dir) (TrustFile, error) {
	t := TrustFile{SchemaVersion: 1}
	if dir == nil {
		return t, nil
	}
	path := filepath.Join(dir.Location(), trustName)
	info, err := dir.Root().Lstat(trustName)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, console.Usage("config.trust.unreadable", "file", strconv.Quote(path), "error", console.Plain(err))
	}
	if info.Mode().Perm()&0o022 != 0 {
		return t, console.Usage("config.trust.open", "file", strconv.Quote(path)).Try("say.text", "text", templates.CommandLine("chmod 600", []string{path}))
	}
	body, err := dir.Read(trustName, LimitSmall)
	if err != nil {
		return t, console.Usage("config.trust.unreadable", "file", strconv.Quote(path), "error", console.Plain(err))
	}
	var read TrustFile
	if err := schemas.Decode("", path, body, &read); err != nil {
		return t, console.Usage("config.trust.broken", "error", err).Try("config.trust.broken.try")
	}
	if read.SchemaVersion != 1 {
		return t, console.Usage("config.trust.version", "file", strconv.Quote(path), "version", read.SchemaVersion)
	}
	return read, nil
}

// Digests returns the digests of everything that was agreed to, as it was shown.
func (t TrustFile) Digests() map[engine.Digest]bool {
	all := map[engine.Digest]bool{}
	for _, one := range t.Trusted {
		all[one.Digest] = true
	}
	return all
}

// stands reports whether somebody agreed to a setting or a command, whatever the
// files are that it names.
func (t TrustFile) stands(of engine.Digest) bool {
	return slices.ContainsFunc(t.Trusted, func(one Trusted) bool { return one.Of == of })
}

// Agree adds the things that are not agreed to yet. An agreement to the same command
// with other files is replaced, and so is an earlier agreement to a setting with an
// order.
func (t *TrustFile) Agree(now time.Time, things ...UntrustedLine) {
	known := t.Digests()
	for _, u := range things {
		if u.Digest == "" || known[u.Digest] && len(u.Changing) == 0 {
			continue
		}
		known[u.Digest] = true
		if u.Name == GatesKey[0] {
			t.DecideGates(now)
		}
		alone := outlives(u.Name)
		t.Trusted = slices.DeleteFunc(t.Trusted, func(one Trusted) bool { return one.Name == u.Name && (alone || one.Of == u.Of) })
		t.Trusted = append(t.Trusted, Trusted{u.Name, u.Digest, u.Of, u.Text, now.UTC().Format(time.RFC3339), u.Argv, u.Files, u.Changing, u.Run})
	}
}

// Revoke takes back the agreements with these digests.
func (t *TrustFile) Revoke(now time.Time, digests map[engine.Digest]bool) {
	if agreed := t.last(GatesKey[0]); agreed != nil && digests[agreed.Digest] {
		t.DecideGates(now)
	}
	t.Trusted = slices.DeleteFunc(t.Trusted, func(one Trusted) bool { return digests[one.Digest] })
}

// Write writes the file durably; only its owner can read it.
func (t TrustFile) Write(dir *statedir.Dir) error {
	body, err := schemas.Encode(t)
	if err != nil {
		return err
	}
	if err := dir.Write(trustName, body, true); err != nil {
		return console.Refused("config.trust.unwritten", "folder", strconv.Quote(dir.Location()), "error", console.Plain(err))
	}
	return nil
}

// Untrustable returns the problem with a workspace in which nothing can be trusted.
func Untrustable(err error) *console.Problem {
	p := console.Usage("config.trust.none", "error", console.Plain(err))
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
		return p.Try("say.text", "text", unusable.Try)
	}
	return p.Try("config.trust.none.try")
}

// Seal returns the digest of a setting or a command together with the files that it
// names, or the digest of the thing itself if it names none.
func Seal(of engine.Digest, files map[string]string) engine.Digest {
	if len(files) == 0 || of == "" {
		return of
	}
	parts := []string{string(of)}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, name, files[name])
	}
	return engine.CommandDigest("trust", parts...)
}

// Named reports whether an argument names a thing: by its name, or exactly.
func Named(refs statedir.References, arg, name string, d engine.Digest) bool {
	return arg == name || namedExactly(refs, arg, name, d)
}

// namedExactly reports whether an argument names a thing as it was shown: by its reference
// or its digest, alone or after its name and "@".
func namedExactly(refs statedir.References, arg, name string, d engine.Digest) bool {
	before, shown, _ := console.CutLast(arg, "@")
	is := func(word string) bool { return refs.IsOf(word, d, trustUse, name) }
	return is(arg) || before == name && is(shown)
}

// trustUse is the use of a reference to a thing.
const trustUse = "trust"

// Exactly returns the argument that names a thing as it was shown.
func Exactly(refs statedir.References, name string, d engine.Digest) string {
	return name + "@" + refs.Of(d, trustUse, name)
}

// UntrustedLine is something that waits for trust, as JSON.
type UntrustedLine struct {
	Name string `json:"name"`
	// Digest is the digest of the thing and the files that it names.
	Digest engine.Digest `json:"digest"`
	Text   string        `json:"text"`
	Place  string        `json:"place"`
	// Files describes the files, by name.
	Files map[string]string `json:"files,omitempty"`

	// Stops says that a run could go on if somebody agreed now, and waits for nothing else.
	// Agree is then the command that agrees.
	// Waits is that run.
	Stops bool   `json:"stops,omitzero"`
	Waits string `json:"waits,omitzero"`
	Agree string `json:"agree,omitzero"`

	Family  string        `json:"-"` // of the run whose document names it, or the table of placet.toml
	Run     string        `json:"-"` // that run; "" for a setting
	Dir     string        `json:"-"` // the folder in which the command runs
	Of      engine.Digest `json:"-"` // of the thing alone
	Argv    []string      `json:"-"` // of a command that a document names
	Command engine.Digest `json:"-"` // of the command of a setting, as machines know it
	Tighter bool          `json:"-"` // while it waits, the tighter of it and of the agreed value holds
	// Changing names the files that may change in Run after the agreement.
	Changing []string `json:"-"`
}

// ChooseNamed returns the things that the arguments name, and those of them that are
// named without a digest. An argument that names an existing agreement is no error;
// one that names nothing is, and the error lists candidates in a language.
func ChooseNamed(refs statedir.References, lang string, args []string, waiting []UntrustedLine, agreed TrustFile) (chosen, byName []UntrustedLine, err error) {
	for _, arg := range args {
		var fit []UntrustedLine
		for _, u := range waiting {
			if namedExactly(refs, arg, u.Name, u.Digest) {
				fit = append(fit, u)
			}
		}
		exact := len(fit) > 0
		if !exact {
			fit = slices.DeleteFunc(slices.Clone(waiting), func(u UntrustedLine) bool { return u.Name != arg })
		}
		if len(fit) == 0 {
			if !slices.ContainsFunc(agreed.Trusted, func(t Trusted) bool { return Named(refs, arg, t.Name, t.Digest) }) {
				return nil, nil, noneNamed(refs, lang, arg, waiting)
			}
		}
		if len(fit) > 1 {
			p := console.Usage("config.trust.several", "name", strconv.Quote(console.OneLine(arg)), "n", len(fit)).Try("config.trust.several.try")
			for _, u := range fit {
				p.Fits = append(p.Fits, fmt.Sprintf("%s  %s  %s", u.Digest, u.Place, console.Cut(console.OneLine(u.Text), 60)))
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

// noneNamed returns the problem with an argument that names nothing: the thing may
// have changed since it was listed.
func noneNamed(refs statedir.References, lang, arg string, waiting []UntrustedLine) error {
	name, _, _ := console.CutLast(arg, "@")
	for _, u := range waiting {
		if u.Name != name {
			continue
		}
		p := console.Refused("config.trust.changed", "name", strconv.Quote(console.OneLine(name)))
		p.Fits = append(p.Fits, templates.Phrase(lang, "config.trust.changed.now", "digest", u.Digest, "place", u.Place, "text", console.Cut(console.OneLine(u.Text), 200)))
		for _, file := range slices.Sorted(maps.Keys(u.Files)) {
			p.Fits = append(p.Fits, templates.Phrase(lang, "config.trust.changed.file", "file", file, "state", u.Files[file]))
		}
		return p.Try("config.trust.changed.try", "command", console.Typed("trust", Exactly(refs, u.Name, u.Digest)))
	}
	return console.Usage("config.trust.unknown", "name", strconv.Quote(console.OneLine(arg))).Try("config.trust.unknown.try")
}
