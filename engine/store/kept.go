package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Kept returns a file of the private folder that [Store.Keep] has written; the
// error wraps fs.ErrNotExist where there is none.
func (s *Store) Kept(name string, limit int64) ([]byte, error) {
	c, err := s.readPrivate(PrivateDir+"/"+name, limit)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s/%s: %w", PrivateDir, name, err)
	}
	return c, nil
}

func (s *Store) readPrivate(name string, limit int64) ([]byte, error) {
	f, err := s.fs.Open(name, ForReading, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := asOpened(f)
	if err != nil {
		return nil, err
	}
	if info.Size > limit {
		return nil, tooLarge(info.Size, limit)
	}
	return readWhole(f, info.Size)
}

// keptAge is how old a half-written private file must be to be somebody's no more.
const keptAge = time.Minute

// Keep replaces a file of the private folder. It is not made durable: whoever
// reads it must see by its content whether it is whole. Of two that write at the
// same time one gives way, with an error that wraps fs.ErrExist.
func (s *Store) Keep(name string, body []byte) error {
	at := PrivateDir + "/" + name
	if err := s.keep(at, body); err != nil {
		return fmt.Errorf("cannot keep %s: %w", at, err)
	}
	return nil
}

func (s *Store) keep(at string, body []byte) error {
	if err := s.private(); err != nil {
		return err
	}
	half := at + ".new"
	f, err := s.fs.Open(half, ForCreating, 0o600)
	if errors.Is(err, fs.ErrExist) && s.leftBehind(half) {
		f, err = s.fs.Open(half, ForCreating, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.fs.Rename(half, at, Replace)
	}
	if err != nil {
		return errors.Join(err, s.fs.Remove(half))
	}
	return nil
}

// leftBehind removes a half-written file of a crash, and reports whether it did.
func (s *Store) leftBehind(half string) bool {
	info, err := s.fs.Stat(half)
	now, known := s.diskNow(freshClock)
	return err == nil && known && now.Sub(info.Changed) > keptAge && s.fs.Remove(half) == nil
}

// DiskNow is the file system's present, as far as it can be had; else ours, and
// false.
func (s *Store) DiskNow() (time.Time, bool) {
	now, known := s.diskNow(freshClock)
	if !known {
		now = s.now()
	}
	return now, known
}
