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

// What this machine wrote stands in one record for each run: a line
// "<path> <64 hex digits>" for every content, the newest last. It is written
// before the content itself is, so that a content without its line is somebody
// else's. A request and a state document get the same line again once they have their names.
const (
	issuedDir = "issued"
	// longRecord is the size from which on a record is written anew, with the
	// newest lines of each path.
	longRecord = 64 << 10
	// newestKept is how many lines of a path such a record keeps.
	newestKept = 8
	// longestRecord is the size at which the oldest paths are forgotten as well.
	longestRecord = 4 << 20
	// records is how many records are written side by side at most.
	records = 16
)

// record is the name of a run's record, by the run's folder.
func record(run string) string {
	sum := sha256.Sum256([]byte(run))
	name := hex.EncodeToString(sum[:16])
	return filepath.Join(issuedDir, name[:2], name[2:])
}

// Issued returns, by path, the digests of what this machine wrote in a run, the
// newest last; see [engine.Document].Issued. A record that cannot be read knows
// nothing.
func (d *Dir) Issued(run string) engine.Issued {
	issued, _, _ := d.IssuedSince(run, storefs.Info{})
	return issued
}

// IssuedSince is [Dir.Issued], and describes the record. If it looks as it did when it was
// read before, same is true and it is not read: whoever adds a line makes it longer.
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

// nameless is what stat says of a record, however it was asked.
func nameless(info storefs.Info) storefs.Info {
	info.Name = ""
	return info
}

// opened returns the state folder's files for the records, which are read at every look at a
// run: one call of the system opens a record, and none of its folders.
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

// parse reads a record; a torn line says nothing.
func parse(body []byte) engine.Issued {
	issued := engine.Issued{}
	for line := range bytes.Lines(body) {
		if name, hex := split(line); len(hex) == 64 {
			sum := engine.Digest("sha256:" + hex)
			issued.Confirm(name, sum) // by its second line
			issued.Add(name, sum)
		}
	}
	return issued
}

// split takes a line apart: of a torn one the digest is too short.
func split(line []byte) (name, hex string) {
	at := max(0, bytes.LastIndexByte(line, ' '))
	return string(line[:at]), strings.TrimSpace(string(line[at:]))
}

// Issue records what is about to be written in a run, durably: a request or a state
// document beside whose path other contents are recorded would pass for somebody
// else's after a power cut. Of a receipt the answer is verified again then, so that
// one alone waits for no disk.
func (d *Dir) Issue(run string, docs []engine.Document) error {
	name := record(run)
	one := &d.records[engine.Sum([]byte(name)).Hex()[0]%records]
	one.Lock()
	defer one.Unlock()
	return d.cannotRecord(name, d.issue(name, docs))
}

// issue is Issue of one record.
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
		lines = append([]byte("\n"), lines...) // behind the torn line of a crash
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

// Confirm records that documents which were issued last have their names. A line that a
// power cut takes away says nothing wrong: the content before it could be put back, until
// the next one is written.
func (d *Dir) Confirm(run string, docs []engine.Document) error {
	name := record(run)
	one := &d.records[engine.Sum([]byte(name)).Hex()[0]%records]
	one.Lock()
	defer one.Unlock()
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

// cannotRecord names a record once: of a longer line a reader may see the beginning only.
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

// newLines are the lines of contents that are not the newest of their path already.
func newLines(known engine.Issued, docs []engine.Document) []byte {
	var lines []byte
	for _, doc := range known.Missing(docs) {
		lines = fmt.Appendf(lines, "%s %s\n", doc.Path, doc.Sum.Hex())
	}
	return lines
}

// openToAdd opens a record to read it and add lines to it, and makes it if it is missing.
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

// shorten returns a record with the newest lines of each path, in their order, and
// without the oldest of all where it is still too long.
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
