package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/afl"
)

func TestADaemonTakesChangedSettingsUp(t *testing.T) {
	from := places(t)
	file := put(t, from.Workspace, "placet.toml", "language = \"ko\"\n")
	now := noon
	var said bytes.Buffer
	l := NewLive(from, mustLoad(t, from), slog.New(console.NewLogHandler(&said, slog.LevelInfo)), func() time.Time { return now })
	if got := l.Get().Language; got != "ko" {
		t.Fatalf("begins with %q", got)
	}

	put(t, from.Workspace, "placet.toml", "language = \"ja\" # later\n")
	if got := l.Get().Language; got != "ko" {
		t.Errorf("looked again at once: %q", got)
	}
	now = now.Add(LookEvery)
	if got := l.Get().Language; got != "ja" {
		t.Errorf("after a while: %q, want the changed settings", got)
	}

	put(t, from.Workspace, "placet.toml", "language = \"nowhere\"\n")
	for range 3 {
		now = now.Add(LookEvery)
		if got := l.Get(); got.Language != "ja" || len(got.Trusted) > 0 || !got.Afl.Still {
			t.Errorf("with a broken file: %q, want those before, and nothing trusted", got.Language)
		}
	}
	if n := strings.Count(said.String(), "cannot use the changed settings"); n != 1 {
		t.Errorf("said %d times: %s", n, said.String())
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	now = now.Add(LookEvery)
	if got := l.Get().Language; got != "en" {
		t.Errorf("without a file: %q, want the default", got)
	}
	now = now.Add(-time.Hour)
	put(t, from.Workspace, "placet.toml", "language = \"ko\"\n")
	if got := l.Get().Language; got != "ko" {
		t.Errorf("after the clock went back: %q", got)
	}
}

// A waiting run may lack only trust, so a daemon learns of trust although nobody asks for the settings.
func TestADaemonHearsOfTrustThoughNobodyLooks(t *testing.T) {
	from := places(t)
	synctest.Test(t, func(t *testing.T) {
		l := NewLive(from, mustLoad(t, from), slog.New(slog.DiscardHandler), time.Now)
		agree(t, from)
		l.Get()
		if len(l.News) > 0 {
			t.Error("news though nobody looked again")
		}
		go l.Poll(t.Context(), func() {})
		time.Sleep(2 * LookEvery)
		if len(l.News) == 0 {
			t.Error("no news")
		}
	})
}

func TestAFIFOInPlaceOfTheSettingsBlocksNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "placet.toml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSmall(path); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("says %v", err)
	}
}

// A command ends when agreement to it is taken back, and not because settings or files
// have changed.
func TestOnlyWhatWasRevokedIsEnded(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[faber.resume]\ncommand = [\"sh\", \"work.sh\"]\n")
	put(t, from.Workspace, "work.sh", "true\n")
	put(t, filepath.Dir(from.User), "placet.toml", "[optimizer.workflows]\nw = { analysis = [\"mine\"] }\n")
	agree(t, from, waitingSetting(mustLoad(t, from).Waiting[0]))
	now := noon
	l := NewLive(from, mustLoad(t, from), slog.New(slog.DiscardHandler), func() time.Time { return now })
	theirs := engine.Action{ID: "faber/x/resume-r1", Command: engine.Command{Argv: []string{"sh", "work.sh"}}}
	own := engine.Action{ID: "optimizer/x/level/20-1", Command: engine.Command{Argv: []string{"mine"}}}
	check := func(when string, trusted, want bool) {
		t.Helper()
		now = now.Add(LookEvery)
		digest, _ := CommandDigest(theirs)
		if got := l.Get().Trusted[digest]; got != trusted {
			t.Errorf("%s: trusted: %v", when, got)
		}
		if got := l.Revoked(theirs); got != want {
			t.Errorf("%s: revoked: %v", when, got)
		}
		if l.Revoked(own) || l.Revoked(engine.Action{ID: "faber/y/resume-r1"}) {
			t.Errorf("%s: what needs no agreement, or is not known, is revoked", when)
		}
	}
	check("agreed to", true, false)
	put(t, from.Workspace, "work.sh", "false\n")
	check("with another script", false, false)
	put(t, from.Workspace, "work.sh", "true\n")
	check("with the script of before", true, false)
	put(t, from.Workspace, "placet.toml", "")
	check("without the setting", false, false)
	put(t, from.Workspace, "placet.toml", "[")
	check("with broken settings", false, false)
	agree(t, from)
	check("taken back", false, true)
}

// The user's own command needs no agreement, except for the files of the
// workspace that it names.
func TestAnOwnCommandThatNamesFilesOfTheWorkspaceWaits(t *testing.T) {
	from := places(t)
	put(t, filepath.Dir(from.User), "placet.toml", "[faber.resume]\ncommand = [\"sh\", \"work.sh\"]\n[afl]\nworker_command = \"sh work.sh\"\n[optimizer.workflows]\nw = { analysis = [\"sh\", \"work.sh\"] }\n")
	if s := mustLoad(t, from); len(s.Waiting) > 0 || len(s.Trusted) != 3 {
		t.Errorf("waiting %+v, trusted %v", s.Waiting, s.Trusted)
	}
	put(t, from.Workspace, "work.sh", "true\n")
	s := mustLoad(t, from)
	if len(s.Waiting) != 3 || len(s.Trusted) != 0 || s.Faber.Resume.Command != nil || s.Afl.WorkerCommand != nil {
		t.Errorf("waiting %+v, trusted %v", s.Waiting, s.Trusted)
	}
	agree(t, from, waitingSetting(s.Waiting[0]), waitingSetting(s.Waiting[1]), waitingSetting(s.Waiting[2]))
	put(t, from.Workspace, afl.Worktrees+"/a/work.sh", "false\n")
	put(t, from.Workspace, afl.Worktrees+"/b/work.sh", "true\n")
	s = mustLoad(t, from)
	facts := engine.Environment{Trusted: s.Trusted}
	digest := s.Afl.WorkerDigest()
	if len(s.Waiting) > 0 || !facts.Trusts(digest, "") || facts.Trusts(digest, afl.Worktrees+"/a") || !facts.Trusts(digest, afl.Worktrees+"/b") {
		t.Errorf("waiting %+v, trusted %v", s.Waiting, s.Trusted)
	}
}

// A file that somebody writes again and again does not fill the log.
func TestUnusableSettingsAreSaidOnceForEachReason(t *testing.T) {
	from, now := places(t), noon
	var said bytes.Buffer
	l := NewLive(from, mustLoad(t, from), slog.New(console.NewLogHandler(&said, slog.LevelInfo)), func() time.Time { return now })
	write := func(body string) {
		put(t, from.Workspace, "placet.toml", body)
		now = now.Add(LookEvery)
		l.Get()
	}
	times := func(want int) {
		t.Helper()
		if n := strings.Count(said.String(), "cannot use the changed settings"); n != want {
			t.Errorf("said %d times, expected %d: %s", n, want, said.String())
		}
	}
	for i := range 5 {
		write("language = \"nowhere\" #" + strings.Repeat("x", i) + "\n")
		write("language = 7 #" + strings.Repeat("x", i) + "\n")
	}
	times(2)
	for i := range 20 {
		write("nobody_knows_" + strings.Repeat("x", i) + " = 1\n")
	}
	times(mostSaid)
	write("language = \"ko\"\n")
	write("language = \"nowhere\"\n")
	times(mostSaid + 1)
}

// A daemon reports settings that cannot be used any more until they can.
func TestUnusableSettingsAreTold(t *testing.T) {
	from := places(t)
	now := noon
	l := NewLive(from, mustLoad(t, from), slog.New(slog.DiscardHandler), func() time.Time { return now })
	for _, step := range []struct {
		text string
		want bool
	}{{"language = \"ko\"\n", false}, {"language = \"nowhere\"\n", true}, {"language = \"ja\"\n", false}} {
		put(t, from.Workspace, "placet.toml", step.text)
		for range 2 {
			now = now.Add(LookEvery)
			l.Get()
			if got := l.Unusable(); got != step.want {
				t.Errorf("%q: unusable %v", step.text, got)
			}
		}
	}
}
