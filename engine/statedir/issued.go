package statedir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/engine"
	storefs "placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// One record for each run lists what this machine wrote: a line "<path> <64 hex digits>"
// for every content, the newest last. A line is written before its content, so a content
// without a line was written by somebody else. A request and a state document get the same
// line again once they have their names.
const (
	issuedDir = "issued"
	// longRecord is the size above which a record is rewritten with only the newest lines
	// of each path.
	longRecord = 64 << 10
	// newestKept is how many lines of a path such a record keeps.
	newestKept = 8
	// longestRecord is the size above which the oldest paths are dropped as well.
	longestRecord = 4 << 20
)

// record returns the name of the record of the run in a folder.
func record(run string) string {
	sum := sha256.Sum256([]byte(run))
	name := hex.EncodeToString(sum[:16])
	return filepath.Join(issuedDir, name[:2], name[2:])
}

// Issued returns, by path, the digests of what this machine wrote in a run, the newest
// last; see [engine.Document].Issued. It returns nothing for a record that cannot be read.
func (d *Dir) Issued(run string) engine.Issued {
	issued, _, _ := d.IssuedSince(run, storefs.Info{})
	return issued
}

// IssuedSince is [Dir.Issued], and also describes the record. If the record looks the same
// as when it was read before, same is true and it is not read again: each new line makes
// it longer.
func (d *Dir) IssuedSince(run string, before storefs.Info) (issued engine.Issued, now storefs.Info, same bool) {
	name := record(run)
	if before != (storefs.Info{}) {
		if files, err := d.files(); err == nil {
			if now, err = files.Stat(name); err == nil && nameless(now) == before {
				return nil, before, true
			}
		}
	}
	f, err := d.openRecord(name, storefs.ForReading)
	if err != nil {
		return nil, storefs.Info{}, false
	}
	defer f.Close()
	body, now, err := d.readRecord(f, name)
	if err != nil {
		return nil, storefs.Info{}, false
	}
	return parse(body), nameless(now), false
}

// nameless returns the result of stat for a record without the name, which depends on how
// the record was opened.
func nameless(info storefs.Info) storefs.Info {
	info.Name = ""
	return info
}

// opened returns the file system of the state folder for the records, which are read at
// every look at a run. It opens a record with one system call and does not open its
// folders.
func (d *Dir) opened() (storefs.FS, error) {
	dir, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	return storefs.At(dir)
}

// readRecord reads an open record.
func (d *Dir) readRecord(f storefs.File, name string) (body []byte, info storefs.Info, err error) {
	if info, err = f.Stat(); err != nil {
		return nil, info, err
	}
	if info.Size > 2*longestRecord {
		return nil, info, templates.Errorf("statedir.read.large", "file", filepath.Join(d.path, name), "n", info.Size, "most", 2*longestRecord)
	}
	body = make([]byte, info.Size)
	n, err := f.ReadAt(body, 0)
	return body[:n], info, err
}

// openRecord opens a record.
func (d *Dir) openRecord(name string, how storefs.How) (storefs.File, error) {
	files, err := d.files()
	if err != nil {
		return nil, err
	}
	f, err := files.Open(name, how, 0o600)
	if errors.As(err, new(*storefs.NotRegular)) {
		err = templates.Errorf("statedir.read.irregular", "file", filepath.Join(d.path, name))
	}
	return f, err
}

// parse reads a record and skips a torn line.
func parse(body []byte) engine.Issued {
	issued := engine.Issued{}
	for line := range bytes.Lines(body) {
		if name, hex := split(line); len(hex) == 64 {
			sum := engine.Digest("sha256:" + hex)
			issued.Confirm(name, sum) // for its second line
			issued.Add(name, sum)
		}
	}
	return issued
}

// split splits a line; the digest of a torn line is too short.
func split(line []byte) (name, hex string) {
	at := max(0, bytes.LastIndexByte(line, ' '))
	return string(line[:at]), strings.TrimSpace(string(line[at:]))
}

// Issue records what is about to be written in a run, durably. Otherwise, after a power
// cut, a request or a state document would count as somebody else's if its path has other
// contents on record. A receipt alone waits for no disk, because its answer would then be
// verified again.
func (d *Dir) Issue(run string, docs []engine.Document) error {
	name := record(run)
	defer d.records.hold(name)()
	return d.cannotRecord(name, d.issue(name, docs))
}

// issue is Issue for one record.
func (d *Dir) issue(name string, docs []engine.Document) error {
	f, err := d.openToAdd(name)
	if err != nil {
		return err
	}
	before, _, err := d.readRecord(f, name)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	lines := newLines(parse(before), docs)
	if len(lines) == 0 {
		return f.Close()
	}
	if len(before) > 0 && before[len(before)-1] != '\n' {
		lines = append([]byte("\n"), lines...) // after a line that a crash has torn
	}
	if len(before)+len(lines) > longRecord {
		return errors.Join(f.Close(), d.Write(name, shorten(append(before, lines...)), true))
	}
	durable := slices.ContainsFunc(docs, func(doc engine.Document) bool { return doc.Kind != layout.KindReceipt })
	if err := writeAndClose(f, lines, durable); err != nil || len(before) > 0 || !durable {
		return err
	}
	return d.sync(path.Dir(name))
}

// Confirm records that documents which were issued last have their names. If a power cut
// loses such a line, the record is not wrong: only, somebody could put the content before
// back until the next one is written.
func (d *Dir) Confirm(run string, docs []engine.Document) error {
	name := record(run)
	defer d.records.hold(name)()
	var lines []byte
	for _, doc := range docs {
		lines = fmt.Appendf(lines, "%s %s\n", doc.Path, engine.Sum(doc.Body).Hex())
	}
	f, err := d.openToAdd(name)
	if err == nil {
		err = writeAndClose(f, lines, false)
	}
	return d.cannotRecord(name, err)
}

// cannotRecord names the record only once in the error, because a reader may see only the
// beginning of a longer line.
func (d *Dir) cannotRecord(name string, err error) error {
	if err == nil {
		return nil
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return templates.Errorf("statedir.issued", "file", filepath.Join(d.path, name), "error", err)
}

// newLines returns the lines for contents that are not yet the newest of their path.
func newLines(known engine.Issued, docs []engine.Document) []byte {
	var lines []byte
	for _, doc := range known.Missing(docs) {
		lines = fmt.Appendf(lines, "%s %s\n", doc.Path, doc.Sum.Hex())
	}
	return lines
}

// openToAdd opens a record to read it and to add lines, and makes it if it is missing.
func (d *Dir) openToAdd(name string) (storefs.File, error) {
	f, err := d.openRecord(name, storefs.ForAppending)
	if errors.Is(err, fs.ErrNotExist) { // its folder is missing
		dir := path.Dir(name)
		if err := errors.Join(d.root.MkdirAll(dir, 0o700), d.sync(path.Dir(dir)), d.sync(".")); err != nil {
			return nil, err
		}
		f, err = d.openRecord(name, storefs.ForAppending)
	}
	return f, err
}

// shorten returns a record with the newest lines of each path, in their order, and without
// the oldest of all if it is still too long.
func shorten(body []byte) []byte {
	lines := slices.Collect(bytes.Lines(body))
	kept, count := [][]byte{}, map[string]int{}
	size := 0
	for _, line := range slices.Backward(lines) {
		name, _ := split(line)
		if count[name]++; count[name] > newestKept || size+len(line) > longestRecord/2 {
			continue
		}
		kept, size = append(kept, line), size+len(line)
	}
	slices.Reverse(kept)
	return bytes.Join(kept, nil)
}
