package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// list describes what is in a folder. A folder that does not exist is empty;
// so is a file or a link in a folder's place, which is never followed.
func (s *Store) list(dir string) ([]Info, error) {
	infos, err := s.fs.List(dir)
	var other *NotRegular
	switch {
	case err == nil:
		return infos, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.As(err, &other):
		return nil, nil
	}
	return nil, fmt.Errorf("cannot list %s: %w", dir, err)
}
