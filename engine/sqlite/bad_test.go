package sqlite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
)

// A file that is not a database is reported, is not changed, and delays nobody.
func TestWhatIsNoDatabaseStaysAsItIs(t *testing.T) {
	const page = "The audit database is not this.\n"
	whole := aDatabase(t)
	broken := bytes.Clone(whole)
	for i := 4096; i < len(broken); i++ { // the first page, and so the schema, is whole
		broken[i] ^= 0x5a
	}
	for name, tt := range map[string]struct {
		make func(l *mirror) error
		want string
	}{
		"text": {writes(audit, []byte(page)), audit + " is not a database: expected one of SQLite; move the file away, and a new one is made"},
		"long text": {writes(audit, bytes.Repeat([]byte(page), 4096)),
			audit + " is not a database: expected one of SQLite; move the file away, and a new one is made"},
		"half a page": {writes(audit, whole[:2048]), "the database " + audit + " is damaged: "},
		"half a file": {writes(audit, whole[:len(whole)/2]), "the database " + audit + " is damaged: "},
		"bad pages":   {writes(audit, broken), "the database " + audit + " is damaged: "},
		"a folder":    {func(l *mirror) error { return os.Mkdir(l.path(audit), 0o777) }, "the database " + audit + ": " + audit + " is a folder: expected a file of its own"},
		"a pipe":      {pipe(audit), "the database " + audit + ": " + audit + " is neither file nor folder: expected a file of its own"},
		"a link": {func(l *mirror) error { return os.Symlink("other.db", l.path(audit)) },
			"the database " + audit + ": " + audit + " is a link, and placet follows none: expected a file of its own"},
		"a link out": {func(l *mirror) error { return os.Symlink(filepath.Join(l.t.TempDir(), "x.db"), l.path(audit)) },
			"the database " + audit + ": " + audit + " is a link, and placet follows none: expected a file of its own"},
		"a pipe for its journal": {pipe(audit + "-journal"), "the database " + audit + ": " + audit + "-journal is neither file nor folder: expected a file of its own"},
		"a link for its log": {func(l *mirror) error { return os.Symlink("x", l.path(audit+"-wal")) },
			"the database " + audit + ": " + audit + "-wal is a link, and placet follows none: expected a file of its own"},
		"a file for its folder": {func(l *mirror) error {
			return os.WriteFile(l.path("deep"), nil, 0o666)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newMirror(t)
			if err := tt.make(l); err != nil {
				t.Fatal(err)
			}
			before := l.bytes()
			q := engine.Database{Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Hint: migrate}
			if tt.want == "" {
				q.Path, tt.want = "deep/a.db", "the database deep/a.db: deep is a file: expected a folder"
			}
			row := task(1)
			q.Insert = &row
			look := engine.Database{Path: q.Path, Schema: "optimizer/audit", Select: []engine.Query{{Name: "q", SQL: "SELECT * FROM audit_logs"}}}
			for _, e := range []engine.Ended{l.Do(look), l.Do(q), l.Do(look)} {
				if e.Result != "failed" || !strings.HasPrefix(e.Reason, tt.want) {
					t.Errorf("%s, %q, want %q", e.Result, e.Reason, tt.want)
				}
			}
			l.Release(q.Path)
			if !bytes.Equal(before, l.bytes()) {
				t.Error("the file was changed")
			}
		})
	}
}

// bytes returns the content of the database's file, nil if there is none.
func (l *mirror) bytes() []byte {
	if info, err := os.Lstat(l.path(audit)); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	body, err := os.ReadFile(l.path(audit))
	if err != nil {
		l.t.Fatal(err)
	}
	return body
}

func writes(name string, body []byte) func(*mirror) error {
	return func(l *mirror) error { return os.WriteFile(l.path(name), body, 0o666) }
}

func pipe(name string) func(*mirror) error {
	return func(l *mirror) error {
		if err := syscall.Mkfifo(l.path(name), 0o666); err != nil || name == audit {
			return err
		}
		return os.WriteFile(l.path(audit), aDatabase(l.t), 0o666)
	}
}

// aDatabase returns the file of a database with a row.
func aDatabase(t testing.TB) []byte {
	l := newMirror(t)
	l.must("done", task(7))
	l.Release(audit)
	return l.bytes()
}

// SQLite leaves an empty file if a program opens a database and closes it; a
// program that dies while it makes a database leaves one without a table.
func TestWhatHoldsNothingIsFilled(t *testing.T) {
	for name, prepare := range map[string]func(*mirror){
		"empty file": func(l *mirror) { l.touch() },
		"no table":   func(l *mirror) { l.script("PRAGMA journal_mode=WAL; CREATE TABLE t (x); DROP TABLE t") },
		"died while it was made": func(l *mirror) {
			o := l.other()
			o.must("PRAGMA journal_mode=WAL", "BEGIN IMMEDIATE", "CREATE TABLE audit_logs (id TEXT)")
			o.kill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newMirror(t)
			prepare(l)
			if e := l.query("SELECT * FROM audit_logs"); e.Result != "absent" {
				t.Errorf("a look: %s, %q", e.Result, e.Reason)
			}
			l.must("done", task(1))
			l.must("present", task(1))
			if n := len(l.names("table")); n != len(pageTables) {
				t.Errorf("%d tables, want %d", n, len(pageTables))
			}
		})
	}
}

func TestAPathOutsideTheWorkspaceIsRefused(t *testing.T) {
	l := newMirror(t)
	out := t.TempDir()
	if err := os.Symlink(out, l.path("linked")); err != nil {
		t.Fatal(err)
	}
	row := task(1)
	for name, want := range map[string]string{
		"../a.db": `the database ../a.db: "../a.db" is no path of a file in the workspace`, "": `the database .: "." is no path of a file in the workspace`,
		out + "/a.db": `the database ` + out + `/a.db: "` + out + `/a.db" is no path of a file in the workspace`,
		"linked/a.db": "the database linked/a.db: linked is a link, and placet follows none: expected a folder",
	} {
		if e := l.Do(engine.Database{Path: name, Schema: "optimizer/audit", Insert: &row}); e.Result != "failed" || e.Reason != want {
			t.Errorf("%q: %s, %q, want %q", name, e.Result, e.Reason, want)
		}
	}
	if names, err := os.ReadDir(out); err != nil || len(names) != 0 {
		t.Errorf("written outside: %v, %v", names, err)
	}
	l.must("done", task(1))
	l.Release(audit)
	moved := l.root + ".moved"
	if err := os.Rename(l.root, moved); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(moved) })
	if err := os.MkdirAll(l.path(".mso-context"), 0o777); err != nil {
		t.Fatal(err)
	}
	if e := l.insertRow(task(2)); e.Result != "failed" || !strings.HasSuffix(e.Reason, ": the workspace was moved away: what has its name now is another one") {
		t.Errorf("another workspace: %s, %q", e.Result, e.Reason)
	}
	if names := l.files(); len(names) != 0 {
		t.Errorf("written into another workspace: %v", names)
	}
}

// Names of folders may contain everything that has a meaning in SQLite's names.
func TestAnyNameOfAWorkspaceWillDo(t *testing.T) {
	root := filepath.Join(t.TempDir(), "50% a?b#c&d=e;'f\"g 희귀")
	if err := os.MkdirAll(filepath.Join(root, ".mso-context"), 0o777); err != nil {
		t.Fatal(err)
	}
	l := &mirror{t: t, root: root, Databases: New(root)}
	l.must("done", task(1))
	l.Release(audit)
	l.home.Close()
	if names := l.files(); len(names) != 1 {
		t.Errorf("files %v", names)
	}
}

// FuzzDatabase puts arbitrary bytes in the place of the database.
func FuzzDatabase(f *testing.F) {
	whole := aDatabase(f)
	f.Add([]byte("SQLite format 3\x00"))
	f.Add(whole[:100])
	f.Add(whole[:4096])
	f.Add(whole[:8192])
	f.Add(whole)
	f.Fuzz(func(t *testing.T, body []byte) {
		l := newMirror(t)
		if err := os.WriteFile(l.path(audit), body, 0o666); err != nil {
			t.Fatal(err)
		}
		seen := l.query("SELECT id, date, created_at FROM audit_logs ORDER BY id LIMIT 3")
		if !bytes.Equal(body, l.bytes()) {
			t.Errorf("a look changed the file: %s, %q", seen.Result, seen.Reason)
		}
		e := l.insertRow(task(1))
		l.Release(audit)
		if e.Result == "failed" && seen.Result != "absent" && !bytes.Equal(body, l.bytes()) {
			t.Errorf("a row that failed changed the file: %q", e.Reason)
		}
		if e.Result == "done" {
			l.must("present", task(1))
		}
	})
}

// A damaged full-text index does not make the database a damaged one.
func TestADamagedFullTextIndexSaysHowToMendIt(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.Release(audit)
	raw, err := sql.Open("sqlite", l.path(audit)) // not one of ours, which must not do this
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("UPDATE audit_logs_fts_data SET block = x'00ff'"); err != nil {
		t.Fatal(err)
	}
	want := "the full-text index of the database " + audit + " does not fit its rows: have SQLite make it anew (INSERT INTO <table>_fts (<table>_fts) VALUES ('rebuild'))"
	if reason := l.must("failed", task(2)); reason != want {
		t.Errorf("reason %q, want %q", reason, want)
	}
	if _, err := raw.Exec("INSERT INTO audit_logs_fts (audit_logs_fts) VALUES ('rebuild')"); err != nil {
		t.Fatal(err)
	}
	l.must("done", task(2))
}

func TestARowWithoutValuesMakesNothing(t *testing.T) {
	l := newMirror(t)
	if e := l.insertRow(engine.Row{Table: "audit_logs"}); e.Result != "failed" || !strings.HasSuffix(e.Reason, ": a row without values: expected its id first") {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
	if files := l.files(); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}
