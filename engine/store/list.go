package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"placet/layout"
)

// lister is a file system that tells what is in a folder without looking at each
// name: the folder itself says what is one.
type lister interface {
	// Entries lists a folder, sorted by name.
	Entries(dir string) ([]layout.Entry, error)
}

// list describes what is in a folder. A folder that does not exist is empty;
// so is a file or a link in a folder's place, which is never followed.
func (s *Store) list(dir string) ([]Info, error) {
	infos, err := s.fs.List(dir)
	if err != nil {
		return nil, noFolder(dir, err)
	}
	return infos, nil
}

// noFolder makes no error of there being no folder.
func noFolder(dir string, err error) error {
	var other *NotRegular
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.As(err, &other):
		return nil
	}
	return fmt.Errorf("cannot list %s: %w", dir, err)
}
