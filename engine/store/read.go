package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/templates"
)

// errTorn says that a file changed while it was being read.
var errTorn = templates.Errorf("store.moving")

// maxArtifact is the size up to which an artifact is hashed.
const maxArtifact = 1 << 30

// opened is a file that was opened for reading, and what it looked like then.
type opened struct {
	fs.File
	info fs.Info
}

// open opens a file for reading and describes it.
func (s *disk) open(name string) (*opened, error) {
	f, err := s.fs.Open(name, fs.ForReading, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &opened{f, info}, nil
}

// openOrStat opens a file that is to be read: what opening it shows, stat need not. What cannot be
// opened is described alone.
func (s *disk) openOrStat(name string) (f *opened, info fs.Info, err error) {
	if f, err = s.open(name); err == nil {
		return f, f.info, nil
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, info, err
	}
	info, err = s.fs.Stat(name)
	return nil, info, err
}

// read reads a whole regular file in one piece: a file that changed in the
// meantime gives errTorn. A file larger than limit gives an error, unless
// hashOnly: then its content is not kept.
func (s *disk) read(name string, limit int64, hashOnly bool) (content, error) {
	f, err := s.open(name)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	return f.read(limit, hashOnly)
}

// read is [disk.read] of an open file.
func (f *opened) read(limit int64, hashOnly bool) (c content, err error) {
	c.info = f.info
	switch {
	case c.info.Size <= limit:
		c.body, err = readWhole(f, 0, c.info.Size)
		c.sum = sha256.Sum256(c.body)
	case hashOnly && c.info.Size <= maxArtifact:
		c.sum, err = hashWhole(f, c.info.Size)
	default:
		err = tooLarge(c.info.Size, limit)
	}
	if err != nil {
		return c, err
	}
	after, err := f.Stat()
	if err == nil && identityOf(after) != identityOf(c.info) {
		err = errTorn
	}
	return c, err
}

// readAsked reads a file, or the end of one of which no more is asked. f is nil where it is not
// open yet.
func (s *disk) readAsked(a target, f *opened) (c content, err error) {
	if f == nil {
		if f, err = s.open(a.path); err != nil {
			return c, err
		}
		defer f.Close()
	}
	if a.file.End == 0 {
		return f.read(a.limit(), a.still)
	}
	size := min(f.info.Size, a.file.End)
	c.info = f.info
	c.body, err = readWhole(f, f.info.Size-size, size)
	c.sum = sha256.Sum256(c.body)
	return c, err
}

func tooLarge(size, limit int64) error {
	return templates.Errorf("store.large", "n", size, "most", limit)
}

// readWhole reads a part of a file; a smaller one is torn. That the file has not
// grown is for the caller to see, who describes it once more.
func readWhole(f fs.File, from, size int64) ([]byte, error) {
	body := make([]byte, size)
	n, err := f.ReadAt(body, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if int64(n) != size {
		return nil, errTorn
	}
	return body, nil
}

func hashWhole(f fs.File, size int64) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, size))
	if err == nil && n != size {
		err = errTorn
	}
	copy(sum[:], h.Sum(nil))
	return sum, err
}

// isScarce reports whether an error says nothing about a file, only that placet
// is short of something for the moment.
func isScarce(err error) bool { return isAny(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM) }

// isAny reports whether an error is one of several.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// unusable says why a file cannot be read, for the document that stands for it.
func unusable(name string, err error) error {
	var other *fs.NotRegular
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return engine.ErrAbsent
	case errors.Is(err, errTorn):
		return engine.ErrUnsettled
	case errors.As(err, &other):
		return other
	case errors.Is(err, os.ErrPermission):
		return templates.Errorf("store.denied", "file", name, "error", err)
	}
	return templates.Errorf("store.read", "file", name, "error", err)
}

// content is what one reading of a file gave.
type content struct {
	info fs.Info
	sum  [sha256.Size]byte
	body []byte // nil where only the hash was wanted
}

// withLF returns the content with LF in the place of every CR LF. git writes one for the
// other when it checks a file out, and that changes nothing of what a document says.
func (c content) withLF() content {
	if bytes.Contains(c.body, crlf) {
		c.body = bytes.ReplaceAll(c.body, crlf, crlf[1:])
		c.sum = sha256.Sum256(c.body)
	}
	return c
}

var crlf = []byte("\r\n")

// digest is the digest of the content.
func (c content) digest() engine.Digest {
	return engine.Digest("sha256:" + hex.EncodeToString(c.sum[:]))
}
