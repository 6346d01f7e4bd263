package view

import (
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/workspace"
	"placet/engine/statedir"
)

// The newest refused answers are kept, and never more than 2 MiB of them.
func TestRefusedAnswersAreBounded(t *testing.T) {
	dir, err := statedir.Create(t.TempDir()+"/state", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	b := &workspace.Workspace{StateDir: dir}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	size := func() (all int64) {
		for _, name := range []string{refusedName, refusedOld} {
			if info, err := dir.Root().Lstat(name); err == nil {
				all += info.Size()
			}
		}
		return all
	}
	most := int64(0)
	for i := range 30_000 {
		who := "api:guest"
		if i == 29_999 {
			who = "api:last"
		}
		if err := KeepRefusal(b, Refusal{At: at, Run: "nemawashi/1", Request: "apr-0123456789ab", Who: who, Answer: "approve"}); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 {
			most = max(most, size())
		}
	}
	if most = max(most, size()); most < longestRefused || most > 2*longestRefused {
		t.Errorf("%d bytes of refused answers are kept", most)
	}
	if said, want := refused("", dir, "nemawashi/1", ""), "the last was by api:last at "; !strings.Contains(said, want) {
		t.Errorf("%q, want %q in it", said, want)
	}
}
