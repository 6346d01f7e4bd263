package main

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/statedir"
	"placet/schemas"
	"placet/templates"
)

// What the owner of a workspace has agreed to is kept outside of it, by the digest
// of what was shown: an agent that works in the workspace can change a command, or a
// file that it names, and then it is not the trusted one any more.

// trusted is one thing that was agreed to.
type trusted struct {
	Name string `json:"name"`
	// Digest is that of what was shown: the thing, and the files that it names.
	Digest engine.Digest `json:"digest"`
	// Of is the digest of the thing alone, of a setting or of a command.
	Of   engine.Digest `json:"of"`
	Text string        `json:"text"`
	At   string        `json:"trusted_at"`
	// Argv is the command where a document names it, nil for a setting.
	Argv []string `json:"argv,omitempty"`
	// Files are those that it names, as they were.
	Files map[string]string `json:"files,omitempty"`
}

// trustFile is what is agreed to in one workspace.
type trustFile struct {
	SchemaVersion int       `json:"schema_version"`
	Workspace     string    `json:"workspace"`
	Trusted       []trusted `json:"trusted"`
	// GatesDecided is when agreement to gates was given or taken back last.
	GatesDecided string `json:"gates_decided_at,omitempty"`
}

// trustName is the file in the state folder of a workspace.
const trustName = "trust.json"

// readTrust reads the trust file of a state folder, nil for none; one that does not
// exist agrees to nothing. A file that others may write agrees to nothing either,
// and the error says so.
func readTrust(dir *statedir.Dir) (trustFile, error) {
	t := trustFile{SchemaVersion: 1}
	if dir == nil {
		return t, nil
	}
	path := filepath.Join(dir.Location(), trustName)
	info, err := dir.Root().Lstat(trustName)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, usage("cannot read the trust file %q: %v", path, plain(err))
	}
	if info.Mode().Perm()&0o022 != 0 {
		return t, usage("cannot use the trust file %q: others may write it", path).try("%s", templates.CommandLine("chmod 600", []string{path}))
	}
	body, err := dir.Read(trustName, limitSmall)
	if err != nil {
		return t, usage("cannot read the trust file %q: %v", path, plain(err))
	}
	var read trustFile
	if err := schemas.Decode("", path, body, &read); err != nil {
		return t, usage("cannot read the trust file: %v", err).try("placet trust --revoke --yes, and agree again")
	}
	if read.SchemaVersion != 1 {
		return t, usage("cannot read the trust file %q: it is of version %d, this placet knows version 1", path, read.SchemaVersion)
	}
	return read, nil
}

// digests are the digests of all that is agreed to, as it was shown.
func (t trustFile) digests() map[engine.Digest]bool {
	all := map[engine.Digest]bool{}
	for _, one := range t.Trusted {
		all[one.Digest] = true
	}
	return all
}

// stands reports whether there is agreement to a setting or a command, whatever the
// files are that it names.
func (t trustFile) stands(of engine.Digest) bool {
	return slices.ContainsFunc(t.Trusted, func(one trusted) bool { return one.Of == of })
}

// agree adds things that are not agreed to yet. Of a command that was agreed to under
// the same name only the files are others: what they were does not count any more, nor
// does what was agreed to before of a setting with an order.
func (t *trustFile) agree(now time.Time, things ...untrustedLine) {
	known := t.digests()
	for _, u := range things {
		if u.Digest == "" || known[u.Digest] {
			continue
		}
		known[u.Digest] = true
		if u.Name == gatesKey[0] {
			t.decideGates(now)
		}
		alone := holdsTighter(u.Name)
		t.Trusted = slices.DeleteFunc(t.Trusted, func(one trusted) bool { return one.Name == u.Name && (alone || one.Of == u.of) })
		t.Trusted = append(t.Trusted, trusted{u.Name, u.Digest, u.of, u.Text, now.UTC().Format(time.RFC3339), u.argv, u.Files})
	}
}

// revoke takes back the things with these digests.
func (t *trustFile) revoke(now time.Time, digests map[engine.Digest]bool) {
	if agreed := t.last(gatesKey[0]); agreed != nil && digests[agreed.Digest] {
		t.decideGates(now)
	}
	t.Trusted = slices.DeleteFunc(t.Trusted, func(one trusted) bool { return digests[one.Digest] })
}

// write makes the file durable; nobody but its owner can read it.
func (t trustFile) write(dir *statedir.Dir) error {
	body, err := schemas.Encode(t)
	if err != nil {
		return err
	}
	if err := dir.Write(trustName, body, true); err != nil {
		return refused("cannot remember trust in %q: %v", dir.Location(), plain(err))
	}
	return nil
}

// untrustable is the problem with a workspace in which nothing can be trusted.
func untrustable(err error) *problem {
	p := usage("nothing is trusted: %v", plain(err))
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
		return p.try("%s", unusable.Try)
	}
	return p.try("set XDG_STATE_HOME to a folder of your own outside the workspace")
}

// seal is the digest of a setting or a command together with the files that it names.
// It is the digest of the thing itself where it names none.
func seal(of engine.Digest, files map[string]string) engine.Digest {
	if len(files) == 0 || of == "" {
		return of
	}
	parts := []string{string(of)}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, name, files[name])
	}
	return engine.CommandDigest("trust", parts...)
}

// named reports whether an argument names a thing: by its name, or exactly.
func named(arg, name string, d engine.Digest) bool { return arg == name || namedExactly(arg, name, d) }

// namedExactly reports whether an argument names a thing as it was shown: by at least
// eight hex digits of its digest, alone or behind its name and "@".
func namedExactly(arg, name string, d engine.Digest) bool {
	before, digest, _ := cutLast(arg, "@")
	return isDigestOf(arg, d) || before == name && isDigestOf(digest, d)
}

// isDigestOf reports whether a word is a digest, or begins one with eight digits or
// more.
func isDigestOf(word string, d engine.Digest) bool {
	hex := strings.TrimPrefix(word, "sha256:")
	return len(hex) >= shortest && strings.HasPrefix(d.Hex(), hex)
}

// shortest is how many hex digits name a digest, and shownHex how many placet gives.
const (
	shortest = 8
	shownHex = 12
)

// exactly is the argument by which a thing is named as it was shown.
func exactly(name string, d engine.Digest) string { return name + "@" + cutHex(d) }

func cutHex(d engine.Digest) string { return d.Hex()[:min(shownHex, len(d.Hex()))] }
