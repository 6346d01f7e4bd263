package disk

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
	"placet/layout"
	"placet/templates"
)

// ErrTorn says that a file changed while it was being read.
var ErrTorn = templates.Errorf("store.moving")

// MaxArtifact is the size up to which an artifact is hashed.
const MaxArtifact = 1 << 30

// Opened is a file that was opened for reading, with its description at that moment.
type Opened struct {
	fs.File
	Info fs.Info
}

// Open opens a file for reading and describes it.
func (s *Disk) Open(name string) (*Opened, error) {
	f, err := s.FS.Open(name, fs.ForReading, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Opened{f, info}, nil
}

// OpenOrStat opens a file that is to be read, which saves a stat. It only describes a
// file that it cannot open.
func (s *Disk) OpenOrStat(name string) (f *Opened, info fs.Info, err error) {
	if f, err = s.Open(name); err == nil {
		return f, f.Info, nil
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, info, err
	}
	info, err = s.FS.Stat(name)
	return nil, info, err
}

// Read reads a whole regular file in one piece. It returns ErrTorn if the file changed
// in the meantime. For a file larger than limit it returns an error or, with hashOnly,
// the content without its bytes.
func (s *Disk) Read(name string, limit int64, hashOnly bool) (Content, error) {
	f, err := s.Open(name)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	return f.Read(limit, hashOnly)
}

// Read is [Disk.Read] of an open file.
func (f *Opened) Read(limit int64, hashOnly bool) (c Content, err error) {
	c.Info = f.Info
	switch {
	case c.Info.Size <= limit:
		c.Body, err = readWhole(f, 0, c.Info.Size)
		c.Sum = sha256.Sum256(c.Body)
	case hashOnly && c.Info.Size <= MaxArtifact:
		c.Sum, err = hashWhole(f, c.Info.Size)
	default:
		err = TooLarge(c.Info.Size, limit)
	}
	if err != nil {
		return c, err
	}
	after, err := f.Stat()
	if err == nil && IdentityOf(after) != IdentityOf(c.Info) {
		err = ErrTorn
	}
	return c, err
}

// ReadEnd reads the last bytes of an open file, at most size of them.
func (f *Opened) ReadEnd(size int64) (c Content, err error) {
	size = min(f.Info.Size, size)
	c.Info = f.Info
	c.Body, err = readWhole(f, f.Info.Size-size, size)
	c.Sum = sha256.Sum256(c.Body)
	return c, err
}

// TooLarge returns the error for a file that is larger than the limit for reading.
func TooLarge(size, limit int64) error {
	return templates.Errorf("store.large", "n", size, "most", limit)
}

// readWhole reads a part of a file; a file that is too short is torn. The caller must
// describe the file once more to see whether it has grown.
func readWhole(f fs.File, from, size int64) ([]byte, error) {
	body := make([]byte, size)
	n, err := f.ReadAt(body, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if int64(n) != size {
		return nil, ErrTorn
	}
	return body, nil
}

func hashWhole(f fs.File, size int64) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, size))
	if err == nil && n != size {
		err = ErrTorn
	}
	copy(sum[:], h.Sum(nil))
	return sum, err
}

// patience is how often placet reads a file that others keep changing.
const patience = 50

// ContentOf reads the file under a name, up to the size of an artifact. Only the digest
// is kept if the file is larger than a state document. A file that changes during every
// reading is unsettled.
func (s *Disk) ContentOf(name string) (c Content, err error) {
	for range patience {
		if c, err = s.Read(name, layout.LimitState, true); !errors.Is(err, ErrTorn) {
			break
		}
	}
	if err != nil {
		return c, Unusable(name, err)
	}
	return c, nil
}

// IsScarce reports whether an error says nothing about a file, only that placet is short
// of something at the moment.
func IsScarce(err error) bool { return IsAny(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM) }

// IsAny reports whether an error is one of several.
func IsAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// Unusable returns why a file cannot be read, for the document that represents it.
func Unusable(name string, err error) error {
	var other *fs.NotRegular
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return engine.ErrAbsent
	case errors.Is(err, ErrTorn):
		return engine.ErrUnsettled
	case errors.As(err, &other):
		return other
	case errors.Is(err, os.ErrPermission):
		return templates.Errorf("store.denied", "file", name, "error", err)
	}
	return templates.Errorf("store.read", "file", name, "error", err)
}

// Content is the result of reading a file once.
type Content struct {
	Info fs.Info
	Sum  [sha256.Size]byte
	Body []byte // nil if only the hash was wanted
}

// WithLF returns the content with LF for every CR LF. git replaces one by the other when
// it checks a file out, which does not change the meaning of a document.
func (c Content) WithLF() Content {
	if bytes.Contains(c.Body, crlf) {
		c.Body = bytes.ReplaceAll(c.Body, crlf, crlf[1:])
		c.Sum = sha256.Sum256(c.Body)
	}
	return c
}

var crlf = []byte("\r\n")

// IsRead reports whether the content was read.
func (c Content) IsRead() bool { return c.Sum != [sha256.Size]byte{} }

// Digest returns the digest of the content.
func (c Content) Digest() engine.Digest {
	return engine.Digest("sha256:" + hex.EncodeToString(c.Sum[:]))
}
