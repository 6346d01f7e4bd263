package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"placet/engine"
	"placet/engine/store/fs"
)

// errTorn says that a file changed while it was being read.
var errTorn = errors.New("changed while it was being read")

// maxArtifact is the size up to which an artifact is hashed.
const maxArtifact = 1 << 30

// read reads a whole regular file in one piece: a file that changed in the
// meantime gives errTorn. A file larger than limit gives an error, unless
// hashOnly: then its content is not kept.
func (s *disk) read(name string, limit int64, hashOnly bool) (content, error) {
	f, err := s.fs.Open(name, fs.ForReading, 0)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	c := content{info: before}
	switch {
	case before.Size <= limit:
		c.body, err = readWhole(f, before.Size)
		c.sum = sha256.Sum256(c.body)
	case hashOnly && before.Size <= maxArtifact:
		c.sum, err = hashWhole(f, before.Size)
	default:
		return c, tooLarge(before.Size, limit)
	}
	if err != nil {
		return c, err
	}
	after, err := f.Stat()
	if err == nil && identityOf(after) != identityOf(before) {
		err = errTorn
	}
	return c, err
}

// readAsked reads a file, or the end of one of which no more is asked.
func (s *disk) readAsked(a ask) (content, error) {
	if a.file.End == 0 {
		return s.read(a.path, a.limit(), a.still)
	}
	f, err := s.fs.Open(a.path, fs.ForReading, 0)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	c := content{info: info, body: make([]byte, min(info.Size, a.file.End))}
	if n, err := f.ReadAt(c.body, info.Size-int64(len(c.body))); n < len(c.body) {
		return c, errors.Join(errTorn, err)
	}
	c.sum = sha256.Sum256(c.body)
	return c, nil
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("%d bytes are too many; expected at most %d", size, limit)
}

// readWhole reads a file of a known size; a smaller one is torn. That it has not
// grown is for the caller to see, who describes it once more.
func readWhole(f fs.File, size int64) ([]byte, error) {
	body := make([]byte, size)
	n, err := f.ReadAt(body, 0)
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

// scarce reports whether an error says nothing about a file, only that placet
// is short of something for the moment.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// unusable says why a file cannot be read, for the document that stands for it.
func unusable(name string, err error) error {
	var other *fs.NotRegular
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return engine.ErrAbsent
	case errors.Is(err, errTorn):
		return engine.ErrUnsettled
	case errors.As(err, &other):
		return other
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot read %s: permission denied; expected a file that placet's user may read: %w", name, err)
	}
	return fmt.Errorf("cannot read %s: %w", name, err)
}
