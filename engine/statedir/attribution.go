package statedir

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"placet/engine"
	"placet/templates"
)

// attributionsName is the file with a line for every document that placet itself has written
// on somebody's behalf.
const attributionsName = "attributions.jsonl"

// longAttributions is the size, in bytes, above which the older half of the file is dropped.
// The receipt of an answer still names its author.
const longAttributions = 8 << 20

// Attribution says for whom a surface of placet has written a document: an answer or a
// command. Only the newest attribution of a path holds, because an older content may be put
// back by anybody.
type Attribution struct {
	Path    string        `json:"path"` // relative to the workspace
	Digest  engine.Digest `json:"digest"`
	Request string        `json:"request_id,omitempty"`
	// Who is "api:<token>", "slack:<user>", "link:<target>", "owner:<login>", "github:<login>" or
	// "committed:<mail>", or "claimed:<name>" for what only a document says. Older versions
	// wrote "" to say that the path belonged to nobody any more.
	Who string `json:"who"`
	// Source is the surface, one of sources. Older versions did not write it.
	Source string    `json:"source,omitempty"`
	At     time.Time `json:"at"`
}

// sources are the surfaces of placet, and those of families.
var sources = []string{"cli", "http", "slack", "mcp", "web", "link", "issue_comment", "parallel_coordination"}

// surface returns the surface through which a document came; ok is false for a surface that
// this version does not know. Lines of earlier versions have no source; their author tells
// it.
func (a Attribution) surface() (source string, ok bool) {
	if a.Source != "" {
		return a.Source, slices.Contains(sources, a.Source)
	}
	switch kind, _, _ := strings.Cut(a.Who, ":"); kind {
	case "api":
		return "http", true
	case "slack":
		return "slack", true
	}
	return "cli", true
}

// attributions holds the content of the file.
type attributions struct {
	mu     sync.Mutex
	file   fs.FileInfo // the file that was read, and read how much of it
	read   int64
	newest map[string]attributed // by path
	added  int                   // lines, by this process

	// paths are locked while a document is attributed and written.
	paths nameLocks

	flush sync.Mutex
	// flushed is how many of the lines are durable, except the first lost of them, whose
	// error is err.
	flushed, lost int
	err           error
}

// attributed holds a content, for whom it was written, and through which surface.
type attributed struct {
	digest      engine.Digest
	who, source string
}

// HoldPath keeps others in this process from writing at a path until release is called: the
// last attribution must be that of the document in place.
func (d *Dir) HoldPath(path string) (release func()) { return d.attributions.paths.hold(path) }

// WriteFor records for whom a plan is about to write documents, as their Known and Source say,
// and holds their paths until release is called; release is never nil. It records nothing for a path
// that is not free, because the attribution of the present file would end. It asks that once it holds
// the paths: somebody else may have written there while it waited.
func (d *Dir) WriteFor(docs []engine.Document, isFree func(path string) (bool, error), at time.Time) (release func(), err error) {
	var paths []string
	for _, doc := range docs {
		paths = append(paths, doc.Path)
	}
	release = d.attributions.paths.hold(paths...)
	n := 0
	for _, doc := range docs {
		free, err := isFree(doc.Path)
		if err == nil && free {
			n, err = d.addAttribution(attributionOf(doc, at))
		}
		if err != nil {
			return release, templates.Errorf("statedir.attribution", "error", err)
		}
	}
	if n == 0 {
		return release, nil
	}
	if err := d.flushAttributions(n); err != nil {
		return release, templates.Errorf("statedir.attribution", "error", err)
	}
	return release, nil
}

// attributionOf returns the line for a document that is about to be written.
func attributionOf(doc engine.Document, at time.Time) []byte {
	a := Attribution{Path: doc.Path, Digest: engine.Sum(doc.Body), Source: doc.Source, At: at.UTC()}
	if len(doc.Known) > 0 {
		a.Who = doc.Known[0]
	}
	line, _ := json.Marshal(a) // of texts and a time
	return line
}

// Attribute records for whom a document is about to be written, durably. A document without
// such a line is only a claim.
func (d *Dir) Attribute(a Attribution) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	n, err := d.addAttribution(line)
	if err == nil {
		err = d.flushAttributions(n)
	}
	if err != nil {
		return templates.Errorf("statedir.attribution", "error", err)
	}
	return nil
}

// addAttribution adds a line, and returns how many lines this process has added.
func (d *Dir) addAttribution(line []byte) (n int, err error) {
	k := &d.attributions
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := d.shortenAttributions(); err != nil {
		return 0, err
	}
	f, err := d.openAttributions(os.O_APPEND | os.O_CREATE)
	if err != nil {
		return 0, err
	}
	// A newline first, so that the line does not continue one that a crash has torn.
	if err := writeAndClose(f, append(append([]byte("\n"), line...), '\n'), false); err != nil {
		return 0, err
	}
	k.added++
	return k.added, nil
}

func (d *Dir) openAttributions(flags int) (*os.File, error) {
	return d.root.OpenFile(attributionsName, flags|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// flushAttributions makes the first n lines durable. Lines that are added meanwhile share
// the next flush.
func (d *Dir) flushAttributions(n int) error {
	k := &d.attributions
	k.flush.Lock()
	defer k.flush.Unlock()
	switch {
	case n <= k.lost:
		return k.err
	case n <= k.flushed:
		return nil
	}
	k.mu.Lock()
	added := k.added
	k.mu.Unlock()
	first := k.flushed == 0
	f, err := d.openAttributions(0)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if first && err == nil {
		err = d.sync(".") // the file may be new
	}
	if k.flushed = added; err != nil {
		k.lost, k.err = added, err
	}
	return err
}

// shortenAttributions drops the older half of a long file.
func (d *Dir) shortenAttributions() error {
	info, err := d.root.Lstat(attributionsName)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < longAttributions {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := d.Read(attributionsName, 2*longAttributions)
	if err != nil {
		return err
	}
	rest := body[len(body)/2:]
	rest = rest[bytes.IndexByte(rest, '\n')+1:]
	return d.Write(attributionsName, rest, true)
}

// Attributed returns for whom a surface of placet has written a content, and which surface;
// "" if none has, or it is no longer recorded.
func (d *Dir) Attributed(path string, digest engine.Digest) (who, source string) {
	d.attributions.mu.Lock()
	defer d.attributions.mu.Unlock()
	d.readAttributions()
	if a := d.attributions.newest[path]; a.digest == digest {
		return a.who, a.source
	}
	return "", ""
}

// readAttributions reads the lines that were added to the file. It skips a torn line. A line
// with a surface that this version does not know removes the attribution of its path.
func (d *Dir) readAttributions() {
	k := &d.attributions
	info, err := d.root.Lstat(attributionsName)
	same := err == nil && k.file != nil && os.SameFile(info, k.file) && info.Size() >= k.read
	if err != nil || same && info.Size() == k.read {
		return
	}
	if !same {
		k.read, k.newest = 0, nil
	}
	if k.newest == nil {
		k.newest = map[string]attributed{}
	}
	body, err := d.ReadFrom(attributionsName, k.read, 2*longAttributions)
	if err != nil {
		return
	}
	body = body[:bytes.LastIndexByte(body, '\n')+1] // the rest may still be being written
	for line := range bytes.Lines(body) {
		var a Attribution
		if json.Unmarshal(line, &a) != nil || a.Path == "" {
			continue
		}
		if source, known := a.surface(); known {
			k.newest[a.Path] = attributed{a.Digest, a.Who, source}
		} else {
			delete(k.newest, a.Path)
		}
	}
	k.file, k.read = info, k.read+int64(len(body))
}

// CheckAttributions says why the file cannot be trusted: somebody else could have written
// it, or it holds lines that no placet has written.
func (d *Dir) CheckAttributions() error {
	info, err := d.root.Lstat(attributionsName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return templates.Errorf("statedir.irregular", "file", attributionsName)
	case info.Mode().Perm()&0o077 != 0:
		return templates.Errorf("statedir.mode", "file", attributionsName)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != uint32(os.Geteuid()) {
		return templates.Errorf("statedir.owner", "file", attributionsName)
	}
	body, err := d.Read(attributionsName, 2*longAttributions)
	if err != nil {
		return err
	}
	return checkLines(body)
}

// checkLines says what is wrong with the lines of the file. A line that a crash has torn is
// not wrong.
func checkLines(body []byte) error {
	n := 0
	for line := range bytes.Lines(body) {
		n++
		if err := checkLine(bytes.TrimRight(line, "\x00\n")); err != nil {
			return templates.Errorf("statedir.line", "file", attributionsName, "line", n, "error", err)
		}
	}
	return nil
}

func checkLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	var a Attribution
	d := json.NewDecoder(bytes.NewReader(line))
	switch err := d.Decode(&a); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	case err != nil:
		return err
	case d.More():
		return templates.Errorf("statedir.surplus")
	case a.Path != "" && a.Digest == "" && a.Who == "":
		return nil
	case a.Path == "" || len(a.Digest.Hex()) != 2*sha256.Size || !isAuthor(a.Who):
		return templates.Errorf("statedir.entry")
	}
	return nil
}

// isAuthor reports whether a name is a possible author of a document that placet writes.
func isAuthor(who string) bool {
	kind, name, _ := strings.Cut(who, ":")
	return name != "" && slices.Contains([]string{"api", "slack", "link", "owner", "github", "committed", "claimed"}, kind)
}
