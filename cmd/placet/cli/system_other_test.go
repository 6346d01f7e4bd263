//go:build !linux

package cli_test

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// detach unmounts what is still in use.
const detach = unix.MNT_FORCE

// endingWithTests changes nothing: no program here can be told to end with another.
func endingWithTests(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }

// changedAt returns when a file or its attributes were changed last.
func changedAt(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }

// renameNew renames a file to a name that nothing has.
func renameNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// hasEnded returns false: a child cannot be asked without taking its status from whoever waits.
func hasEnded(int) bool { return false }

// session is placet on a terminal; the tests have none here.
type session struct{}

func (p *place) terminal(string, ...string) (string, int) {
	p.onTerminal(80)
	return "", 0
}

func (p *place) onTerminal(uint16, ...string) *session {
	p.t.Helper()
	p.t.Skip("the tests have a terminal on Linux alone")
	return nil
}

func (*session) end() (string, int) { return "", 0 }
