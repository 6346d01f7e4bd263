package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// What the owner of a workspace has agreed to is kept outside of it, by the
// digest of what was shown: an agent that works in the workspace can change a
// command, and then it is not the trusted one any more.

// trusted is one thing that was agreed to.
type trusted struct {
	Name   string        `json:"name"`
	Digest engine.Digest `json:"digest"`
	Text   string        `json:"text"`
	At     string        `json:"trusted_at"`
}

// trustFile is what is agreed to in one workspace.
type trustFile struct {
	SchemaVersion int       `json:"schema_version"`
	Workspace     string    `json:"workspace"`
	Trusted       []trusted `json:"trusted"`
}

// trustName is the file in the state folder of a workspace.
const trustName = "trust.json"

// readTrust reads a trust file; one that does not exist agrees to nothing. A
// file that others may write agrees to nothing either, and says so.
func readTrust(path string) (trustFile, error) {
	t := trustFile{SchemaVersion: 1}
	if path == "" {
		return t, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, usage("cannot read the trust file %q: %v", path, plain(err))
	}
	if info.Mode().Perm()&0o022 != 0 {
		return t, usage("cannot use the trust file %q: others may write it", path).try("%s", templates.CommandLine("chmod 600", []string{path}))
	}
	body, err := readSmall(path)
	if err != nil {
		return t, usage("cannot read the trust file %q: %v", path, plain(err))
	}
	if err := schemas.Decode("", path, body, &t); err != nil {
		return t, usage("cannot read the trust file: %v", err).try("remove it and agree again with placet trust")
	}
	if t.SchemaVersion != 1 {
		return t, usage("cannot read the trust file %q: it is of version %d, this placet knows version 1", path, t.SchemaVersion)
	}
	return t, nil
}

// digests are the digests of all that is agreed to.
func (t trustFile) digests() map[engine.Digest]bool {
	all := map[engine.Digest]bool{}
	for _, one := range t.Trusted {
		all[one.Digest] = true
	}
	return all
}

// agree adds things that are not agreed to yet.
func (t *trustFile) agree(now time.Time, things ...engine.Untrusted) {
	known := t.digests()
	for _, u := range things {
		if !known[u.Digest] {
			known[u.Digest] = true
			t.Trusted = append(t.Trusted, trusted{u.Name, u.Digest, u.Text, now.UTC().Format(time.RFC3339)})
		}
	}
}

// revoke takes back the things with these digests.
func (t *trustFile) revoke(digests map[engine.Digest]bool) {
	t.Trusted = slices.DeleteFunc(t.Trusted, func(one trusted) bool { return digests[one.Digest] })
}

// write makes the file durable; nobody but its owner can read it.
func (t trustFile) write(path string) error {
	if path == "" {
		return usage("cannot remember trust: no folder for it").try("set HOME or XDG_STATE_HOME to an absolute path")
	}
	body, err := schemas.Encode(t)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return refused("cannot remember trust in %q: %v", dir, plain(err))
	}
	if err := replace(path, body); err != nil {
		return refused("cannot remember trust in %q: %v", path, plain(err))
	}
	return nil
}

// replace makes a small file durable under its name: written beside it, synced
// and renamed, then the folder synced. The old content stands until the new
// one does.
func replace(path string, body []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".placet-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(body); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// named reports whether an argument names a thing: its name, or at least eight
// hex digits of its digest.
func named(arg, name string, d engine.Digest) bool {
	if arg == name {
		return true
	}
	hex := strings.TrimPrefix(arg, "sha256:")
	return len(hex) >= 8 && strings.HasPrefix(d.Hex(), hex)
}
