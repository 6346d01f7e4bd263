package statedir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/statedir"
)

var linkTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func linkOf(option string) statedir.Link {
	return statedir.Link{Request: "ask/a:k-1", Digest: engine.Sum([]byte("shown")), Option: option, Target: "ntfy-00000000", Expires: linkTime.Add(time.Hour)}
}

func TestACodeIsUsedByOneMessage(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	code, err := d.NewLink(linkOf("approve"), linkTime)
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := d.Link(code); !ok || l != linkOf("approve") {
		t.Errorf("%+v, %v", l, ok)
	}
	use := func(message string, want statedir.LinkUse) {
		t.Helper()
		if got, err := create(t, home, workspace).UseLink(code, message); got != want || err != nil {
			t.Errorf("%s: %v, %v, expected %v", message, got, err, want)
		}
	}
	use("first", statedir.LinkTaken)
	use("second", statedir.LinkUsed)
	use("first", statedir.LinkTaken) // it was killed before the end
	if err := d.EndLink(code); err != nil {
		t.Fatal(err)
	}
	use("first", statedir.LinkDone)
	use("second", statedir.LinkUsed)
	if err := d.EndLink(code); err != nil {
		t.Error(err)
	}
}

func TestACodeIsKeptByItsHash(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	code, err := d.NewLink(linkOf("approve"), linkTime)
	if err != nil || len(code) != 32 {
		t.Fatalf("%q, %v", code, err)
	}
	dir := filepath.Join(d.Location(), "links")
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	file := filepath.Join(dir, names[0].Name())
	if body, err := os.ReadFile(file); err != nil || strings.Contains(string(body)+file, code) {
		t.Errorf("%s, %v", body, err)
	}
	for _, other := range []string{"", names[0].Name(), "../" + code, strings.ToUpper(code), code + "0", strings.Repeat("0", 32)} {
		if l, ok := d.Link(other); ok {
			t.Errorf("%q stands for %+v", other, l)
		}
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if l, ok := d.Link(code); ok {
		t.Errorf("others can write %+v", l)
	}
}

func TestCodesExpireWithTheirQuestion(t *testing.T) {
	for deadline, want := range map[time.Time]time.Time{
		{}: linkTime.Add(24 * time.Hour), linkTime.Add(time.Hour): linkTime.Add(time.Hour), linkTime.Add(48 * time.Hour): linkTime.Add(24 * time.Hour),
	} {
		if got := statedir.LinkExpires(linkTime, deadline); !got.Equal(want) {
			t.Errorf("%v: %v, expected %v", deadline, got, want)
		}
	}
}

func TestOldCodesAreForgotten(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	if err := d.HearLinks("00000000", "last"); err != nil {
		t.Fatal(err)
	}
	code, err := d.NewLink(linkOf("approve"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewLink(linkOf("reject"), time.Now().AddDate(0, 0, 9)); err != nil {
		t.Fatal(err)
	}
	if l, ok := d.Link(code); ok || d.LinksHeard("00000000") != "last" {
		t.Errorf("%+v is kept", l)
	}
}
