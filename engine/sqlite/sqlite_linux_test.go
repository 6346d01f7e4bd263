package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"placet/engine"
)

// nobody is a user that owns nothing here.
const nobody = 65534

// asNobody calls f without the right to write files of others than nobody. For root it uses
// another user for the file system calls of this thread, which ends afterwards.
func (l *mirror) asNobody(f func()) {
	l.t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	over := make(chan error)
	go func() {
		runtime.LockOSThread()
		_ = unix.Setfsgid(nobody)
		_ = unix.Setfsuid(nobody)
		_, err := os.Stat(l.root)
		if err == nil {
			f()
		}
		over <- err
	}()
	if err := <-over; err != nil {
		l.t.Skip("another user cannot reach the test's folder: ", err)
	}
}

// readOnly removes the right to write for everybody but root.
func (l *mirror) readOnly(file os.FileMode) {
	l.t.Helper()
	for name, mode := range map[string]os.FileMode{audit: file, ".mso-context": 0o555} {
		if err := os.Chmod(l.path(name), mode); err != nil && !os.IsNotExist(err) {
			l.t.Fatal(err)
		}
	}
	l.t.Cleanup(func() { _ = os.Chmod(l.path(".mso-context"), 0o777) })
	// The folders above are the test's own, which others must get through.
	for _, dir := range []string{l.root, l.root + "/.."} {
		if err := os.Chmod(dir, 0o755); err != nil {
			l.t.Fatal(err)
		}
	}
}

func TestAReadOnlyDatabaseKeepsTheRow(t *testing.T) {
	const readOnly, shut = " is read-only: allow placet to write the file and into its folder",
		" cannot be opened: allow placet to read and write the file and its folder"
	for name, tt := range map[string]struct {
		mode      string
		file      os.FileMode
		look, row string // what is said; "" where it is done
	}{
		"read-only":           {"DELETE", 0o444, "", readOnly},
		"read-only, with log": {"WAL", 0o444, readOnly, readOnly},
		"not readable":        {"DELETE", 0o000, shut, shut},
	} {
		t.Run(name, func(t *testing.T) {
			l := newMirror(t)
			l.must("done", task(1))
			l.Release(audit)
			l.script("PRAGMA journal_mode=" + tt.mode)
			l.readOnly(tt.file)
			before, err := os.Stat(l.path(audit))
			if err != nil {
				t.Fatal(err)
			}
			l.asNobody(func() {
				row := task(2)
				for want, q := range map[string]engine.Database{
					tt.look + " ": {Path: audit, Schema: "optimizer/audit", Select: []engine.Query{{Name: "q", SQL: "SELECT id FROM audit_logs"}}},
					tt.row:        {Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Insert: &row},
				} {
					e := l.Do(q)
					want = strings.TrimRight(want, " ")
					if want == "" && e.Result != "done" || want != "" && (e.Result != "failed" || e.Reason != "the database "+audit+want) {
						t.Errorf("%s, %q, want %q", e.Result, e.Reason, want)
					}
				}
			})
			after, err := os.Stat(l.path(audit))
			if err != nil || !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size() {
				t.Errorf("the file was changed: %v", err)
			}
			if files := l.files(); len(files) != 1 {
				t.Errorf("files %v", files)
			}
		})
	}
}

func TestADatabaseInAReadOnlyFolderIsNotMade(t *testing.T) {
	l := newMirror(t)
	l.readOnly(0o666)
	l.asNobody(func() {
		e := l.insertRow(task(1))
		if want := "the database " + audit + " cannot be made: openat " + audit + ": permission denied"; e.Result != "failed" || e.Reason != want {
			t.Errorf("%s, %q, want %q", e.Result, e.Reason, want)
		}
	})
}

// exchange exchanges two names in a folder.
func exchange(t *testing.T, dir, a, b string) {
	t.Helper()
	if err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, a), unix.AT_FDCWD, filepath.Join(dir, b), unix.RENAME_EXCHANGE); err != nil {
		t.Error(err)
	}
}

// exchanging exchanges two names as fast as possible until the returned function is called,
// which leaves them unchanged.
func exchanging(t *testing.T, dir, a, b string) (stop func()) {
	t.Helper()
	over, times := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				times <- n
				return
			default:
				exchange(t, dir, a, b)
			}
		}
	}()
	return func() {
		close(over)
		if n := <-times; n%2 != 0 {
			exchange(t, dir, a, b)
		}
	}
}

// exchanges are the ways in which somebody may exchange a part of the path to a database:
// aside leads to a database of theirs.
var exchanges = map[string]struct {
	dir, name string
	make      func(other, aside string) error
	mode      string // of both databases' journals
}{
	"a link for the database":             {".mso-context", "audit_global.db", os.Symlink, "WAL"},
	"a link for the folder":               {"", ".mso-context", linkToFolder, "WAL"},
	"a link for the folder and a journal": {"", ".mso-context", linkToFolder, "DELETE"},
}

func linkToFolder(other, aside string) error { return os.Symlink(filepath.Dir(other), aside) }

// Exchanging names, at any moment, never decides which file gets a row, or which folder gets
// a journal or a log.
func TestNoRowGoesWhereAnExchangedNameLeads(t *testing.T) {
	const rows = 100
	for name, tt := range exchanges {
		t.Run(name, func(t *testing.T) {
			l, other := newMirror(t), newMirror(t)
			for _, m := range []*mirror{l, other} {
				m.must("done", task(9999))
				m.Release(audit)
				m.script("PRAGMA journal_mode=" + tt.mode)
			}
			before, dir := other.bytes(), filepath.Join(l.root, tt.dir)
			aside := filepath.Join(dir, "aside")
			if err := tt.make(other.path(audit), aside); err != nil {
				t.Fatal(err)
			}

			// The exchange comes just between the look and the opening, which is the worst
			// moment.
			q := engine.Database{Path: audit, Schema: "optimizer/audit"}
			there, err := l.find(audit)
			if err != nil {
				t.Fatal(err)
			}
			exchange(t, dir, tt.name, "aside")
			c, err := l.connect(t.Context(), q, there, l.busy)
			exchange(t, dir, tt.name, "aside")
			if err == nil {
				l.open[audit] = c
				l.insertRow(task(rows))
				l.Release(audit)
			}

			stop := exchanging(t, dir, tt.name, "aside")
			for n := range rows {
				l.insertRow(task(n))
				l.Release(audit)
			}
			stop()
			if err := os.Remove(aside); err != nil {
				t.Fatal(err)
			}
			if files := other.files(); len(files) != 1 || !bytes.Equal(before, other.bytes()) {
				t.Errorf("the other database's folder was written to: %v", files)
			}
			if n := other.count("SELECT count(*) FROM audit_logs"); n != 1 {
				t.Errorf("%d rows outside, want none", n-1)
			}
			for n := range rows + 1 { // what was refused is given again
				if e := l.insertRow(task(n)); e.Result != rowDone && e.Result != rowPresent {
					t.Fatalf("%s, %q", e.Result, e.Reason)
				}
			}
			if n := l.count("SELECT count(*) FROM audit_logs"); n != rows+2 {
				t.Errorf("%d rows, want %d", n, rows+2)
			}
		})
	}
}
