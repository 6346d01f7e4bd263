package daemon

import (
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/engine/loop"
	"placet/engine/statedir"
)

// A start waits while the machine is in trouble, whichever step meets the trouble and however
// it words it, and does no step twice. An error that a person must mend ends it at once.
func TestAStartWaitsForTheMachineAlone(t *testing.T) {
	unread := func(errno syscall.Errno) error {
		return console.Usage("cannot read the configuration %q: %v", "/w/placet.toml", console.Plain(&fs.PathError{Op: "open", Path: "/w/placet.toml", Err: errno}))
	}
	for name, c := range map[string]struct {
		err   error
		waits bool
	}{
		"EIO":               {unread(syscall.EIO), true},
		"EMFILE":            {unread(syscall.EMFILE), true},
		"ENFILE":            {unread(syscall.ENFILE), true},
		"ENOMEM":            {unread(syscall.ENOMEM), true},
		"ENOSPC":            {unread(syscall.ENOSPC), true},
		"EROFS":             {unread(syscall.EROFS), true},
		"a file in the way": {&fs.PathError{Op: "mkdir", Path: ".placet", Err: syscall.ENOTDIR}, true},
		"no leave to read":  {unread(syscall.EACCES), false},
		"a port in use":     {console.Usage("cannot answer for metrics: %v", syscall.EADDRINUSE), false},
		"a wrong setting":   {console.Usage("language must be a text"), false},
		"another placet":    {console.Refused("another placet serves it"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var done []string
			step := func(name string, troubles int, err error) func() error {
				return func() error {
					if troubles--; troubles >= 0 {
						return err
					}
					done = append(done, name)
					return nil
				}
			}
			err := begin(t.Context(), slog.New(slog.DiscardHandler), step("first", 0, nil), step("second", 3, c.err), step("third", 1, c.err))
			switch {
			case c.waits && (err != nil || !slices.Equal(done, []string{"first", "second", "third"})):
				t.Errorf("%s: %v after %q", name, err, done)
			case !c.waits && (err != c.err || !slices.Equal(done, []string{"first"})):
				t.Errorf("%s: %v after %q", name, err, done)
			}
		})
	}
}

// withoutFiles calls a function while no file can be opened.
func withoutFiles(t *testing.T, do func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Skipf("cannot lower the limit: %v", err)
	}
	do()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}

// Without descriptors nobody can tell what was agreed to. That is not the same as no agreement,
// which would open the gates that were agreed to.
func TestWithoutDescriptorsAgreementIsNotKnown(t *testing.T) {
	from := config.Sources{Workspace: t.TempDir(), StateHome: t.TempDir()}
	dir, err := statedir.Create(from.StateHome, from.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var untrusted error
	withoutFiles(t, func() { _, untrusted, err = from.Agreed() })
	if untrusted != nil || !loop.OfMachine(err) {
		t.Errorf("nothing can be trusted: %v, %v", untrusted, err)
	}
}

// Without descriptors no address can be opened, and that must not make a name unknown.
func TestWithoutDescriptorsMetricsAreWaitedFor(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		tap, err := newMetricsServer(address, "v1")
		if err != nil {
			t.Fatal(err)
		}
		withoutFiles(t, func() { err = tap.listen(nil) })
		if !loop.OfMachine(err) || !strings.Contains(err.Error(), "too many open files") {
			t.Errorf("%s: %v", address, err)
		}
		if err := tap.listen(nil); err != nil {
			t.Errorf("%s later: %v", address, err)
		}
		tap.close()
	}
}
