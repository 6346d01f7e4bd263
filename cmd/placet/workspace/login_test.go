package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/facade"
	"placet/engine/statedir"
)

func TestALinkIsGoodOnceForTenMinutes(t *testing.T) {
	from := places(t)
	dir, err := statedir.Create(from.StateHome, from.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	now := noon
	b := &Workspace{Env: &console.Env{Now: func() time.Time { return now }}, Root: from.Workspace, StateDir: dir}
	newLink := func(token string) (word string) {
		t.Helper()
		word, err := NewLogin(b, token)
		if err != nil {
			t.Fatal(err)
		}
		return word
	}
	takes := func(what, word, token string, want bool) {
		t.Helper()
		got, ok := TakeLogin(b, facade.HashOf(word), now)
		if ok != want || ok && got != token {
			t.Errorf("%s: %q, %v", what, got, ok)
		}
	}
	owner, lead, late := newLink(""), newLink("lead"), newLink("lead")
	takes("the owner's", owner, "", true)
	takes("the owner's again", owner, "", false)
	takes("another word", owner+"x", "", false)
	now = noon.Add(10*time.Minute - time.Second)
	takes("a token's, just in time", lead, "lead", true)
	now = noon.Add(10 * time.Minute)
	takes("one that is over", late, "", false)

	// The word is stored nowhere, and expired links are removed.
	unused := newLink("")
	err = filepath.WalkDir(dir.Location(), func(path string, d os.DirEntry, err error) error {
		body, _ := os.ReadFile(path)
		if strings.Contains(path+string(body), unused) {
			t.Errorf("%s holds the word", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	newLink("")
	if left, err := os.ReadDir(filepath.Join(dir.Location(), "logins")); err != nil || len(left) != 1 {
		t.Errorf("%d links are left, %v", len(left), err)
	}
}
