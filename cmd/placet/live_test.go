package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/afl"
)

func TestADaemonTakesChangedSettingsUp(t *testing.T) {
	from := places(t)
	file := put(t, from.workspace, "placet.toml", "language = \"ko\"\n")
	now := noon
	var said bytes.Buffer
	l := newLive(from, mustLoad(t, from), slog.New(newSpeech(&said, slog.LevelInfo)), func() time.Time { return now })
	if got := l.get().Language; got != "ko" {
		t.Fatalf("begins with %q", got)
	}

	put(t, from.workspace, "placet.toml", "language = \"ja\" # later\n")
	if got := l.get().Language; got != "ko" {
		t.Errorf("looked again at once: %q", got)
	}
	now = now.Add(lookEvery)
	if got := l.get().Language; got != "ja" {
		t.Errorf("after a while: %q, want the changed settings", got)
	}

	put(t, from.workspace, "placet.toml", "language = \"nowhere\"\n")
	for range 3 {
		now = now.Add(lookEvery)
		if got := l.get(); got.Language != "ja" || len(got.trusted) > 0 || !got.Afl.Still {
			t.Errorf("with a broken file: %q, want those before, and nothing trusted", got.Language)
		}
	}
	if n := strings.Count(said.String(), "cannot use the changed settings"); n != 1 {
		t.Errorf("said %d times: %s", n, said.String())
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	now = now.Add(lookEvery)
	if got := l.get().Language; got != "en" {
		t.Errorf("without a file: %q, want the default", got)
	}
	now = now.Add(-time.Hour)
	put(t, from.workspace, "placet.toml", "language = \"ko\"\n")
	if got := l.get().Language; got != "ko" {
		t.Errorf("after the clock went back: %q", got)
	}
}

func TestTrustCountsInARunningDaemonAndRevokingToo(t *testing.T) {
	from := places(t)
	put(t, from.workspace, "placet.toml", "[faber.resume]\ncommand = [\"go\"]\n")
	now := noon
	b := &bench{w: &world{now: func() time.Time { return now }}}
	b.settings = mustLoad(t, from)
	b.changing = newLive(from, b.settings, slog.New(slog.DiscardHandler), b.w.now)
	action := engine.Action{Command: engine.Command{Argv: []string{"go"}}}
	if b.permit(action, ".") == nil {
		t.Error("an untrusted command may begin")
	}
	agree(t, from, waitingSetting(b.settings.waiting[0]))
	now = now.Add(lookEvery)
	if err := b.permit(action, "."); err != nil {
		t.Errorf("a trusted command: %v", err)
	}
	digest, _ := commandDigest(action)
	if got := b.facts("faber").Trusted; !got[digest] {
		t.Error("the machine does not learn of it")
	}
	agree(t, from)
	now = now.Add(lookEvery)
	if b.permit(action, ".") == nil {
		t.Error("a revoked command may begin")
	}
}

// What holds a waiting run may be trust alone: news of it comes unasked.
func TestADaemonHearsOfTrustThoughNobodyLooks(t *testing.T) {
	from := places(t)
	now := noon
	l := newLive(from, mustLoad(t, from), slog.New(slog.DiscardHandler), func() time.Time { return now })
	agree(t, from)
	l.get()
	if len(l.news) > 0 {
		t.Error("news though nobody looked again")
	}
	now = now.Add(lookEvery)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go l.poll(ctx, func() {})
	select {
	case <-l.news:
	case <-time.After(10 * time.Second):
		t.Fatal("no news")
	}
}

// A command begins only if it is trusted at that moment, and is the one that the
// attempt was recorded with.
func TestAValidationBeginsOnlyAsItWasTrusted(t *testing.T) {
	from := places(t)
	argv := []string{"sh", "-c", "npm test"}
	validation := func(argv []string, recorded engine.Digest) engine.Action {
		return engine.Action{
			ID: "afl/shop/0123", Command: engine.Command{Argv: argv},
			Fields: []engine.Field{{Name: "command_digest", Value: string(recorded)}},
		}
	}
	digest, _ := afl.CommandDigest(validation(argv, ""))
	b := &bench{w: &world{now: func() time.Time { return noon }}, settings: mustLoad(t, from)}
	if err := b.permit(validation(argv, digest), "."); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("untrusted: %v", err)
	}
	b.changing = newLive(from, b.settings, slog.New(slog.DiscardHandler), b.w.now)
	agree(t, from, untrustedLine{Name: afl.TrustName + "shop/a", Digest: digest, of: digest, argv: argv})
	if err := b.permit(validation(argv, digest), "."); err != nil {
		t.Errorf("trusted a moment ago: %v", err)
	}
	if err := b.permit(validation([]string{"bash", "-c", "npm test"}, digest), "."); err == nil || !strings.Contains(err.Error(), "not the one") {
		t.Errorf("by another shell: %v", err)
	}
	if err := b.permit(validation([]string{"sh", "-c", "rm"}, digest), "."); err == nil {
		t.Error("another command may begin")
	}
	if b.permit(engine.Action{ID: "faber/x/resume-r1", Command: engine.Command{Argv: argv}}, ".") == nil {
		t.Error("trust in a validation is trust in another family's command")
	}
}

func TestAFIFOInPlaceOfTheSettingsBlocksNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "placet.toml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSmall(path); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("says %v", err)
	}
}

func TestADaemonIsKnownByItsLock(t *testing.T) {
	root := t.TempDir()
	if daemonRuns(root) {
		t.Error("without a lock file")
	}
	path := put(t, root, lockFile, "")
	if daemonRuns(root) {
		t.Error("with a lock that nobody holds")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if !daemonRuns(root) {
		t.Error("with a lock that is held")
	}
}

// While another folder has the workspace's name, its settings count for nothing,
// and no command begins in it.
func TestSettingsOfAnotherFolderDoNotCount(t *testing.T) {
	from := places(t)
	put(t, from.workspace, "placet.toml", "language = \"ko\"\n")
	now := noon
	b := &bench{w: &world{now: func() time.Time { return now }}}
	b.settings = mustLoad(t, from)
	b.changing = newLive(from, b.settings, slog.New(slog.DiscardHandler), b.w.now)
	b.changing.away = func() string { return "the workspace is gone" }
	put(t, from.workspace, "placet.toml", "language = \"ja\" # of another folder\n")
	now = now.Add(lookEvery)
	if got := b.changing.get().Language; got != "ko" {
		t.Errorf("got %q from another folder", got)
	}
	if err := b.permit(engine.Action{Command: engine.Command{Argv: []string{"go"}}}, "."); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a command may begin in another folder: %v", err)
	}
	b.changing.away = func() string { return "" }
	now = now.Add(lookEvery)
	if got := b.changing.get().Language; got != "ja" {
		t.Errorf("got %q when it is back", got)
	}
}

// A command ends when agreement to it is taken back, and not because settings or files
// have changed.
func TestOnlyWhatWasRevokedIsEnded(t *testing.T) {
	from := places(t)
	put(t, from.workspace, "placet.toml", "[faber.resume]\ncommand = [\"sh\", \"work.sh\"]\n")
	put(t, from.workspace, "work.sh", "true\n")
	put(t, filepath.Dir(from.user), "placet.toml", "[optimizer.workflows]\nw = { analysis = [\"mine\"] }\n")
	agree(t, from, waitingSetting(mustLoad(t, from).waiting[0]))
	now := noon
	l := newLive(from, mustLoad(t, from), slog.New(slog.DiscardHandler), func() time.Time { return now })
	theirs := engine.Action{ID: "faber/x/resume-r1", Command: engine.Command{Argv: []string{"sh", "work.sh"}}}
	own := engine.Action{ID: "optimizer/x/level/20-1", Command: engine.Command{Argv: []string{"mine"}}}
	check := func(when string, trusted, want bool) {
		t.Helper()
		now = now.Add(lookEvery)
		digest, _ := commandDigest(theirs)
		if got := l.get().trusted[digest]; got != trusted {
			t.Errorf("%s: trusted: %v", when, got)
		}
		if got := l.revoked(theirs); got != want {
			t.Errorf("%s: revoked: %v", when, got)
		}
		if l.revoked(own) || l.revoked(engine.Action{ID: "faber/y/resume-r1"}) {
			t.Errorf("%s: what needs no agreement, or is not known, is revoked", when)
		}
	}
	check("agreed to", true, false)
	put(t, from.workspace, "work.sh", "false\n")
	check("with another script", false, false)
	put(t, from.workspace, "work.sh", "true\n")
	check("with the script of before", true, false)
	put(t, from.workspace, "placet.toml", "")
	check("without the setting", false, false)
	put(t, from.workspace, "placet.toml", "[")
	check("with broken settings", false, false)
	agree(t, from)
	check("taken back", false, true)
}

// The user's own command needs no agreement, but for the files of the workspace that
// it names.
func TestAnOwnCommandThatNamesFilesOfTheWorkspaceWaits(t *testing.T) {
	from := places(t)
	put(t, filepath.Dir(from.user), "placet.toml", "[faber.resume]\ncommand = [\"sh\", \"work.sh\"]\n[afl]\nworker_command = \"sh work.sh\"\n[optimizer.workflows]\nw = { analysis = [\"sh\", \"work.sh\"] }\n")
	if s := mustLoad(t, from); len(s.waiting) > 0 || len(s.trusted) != 3 {
		t.Errorf("waiting %+v, trusted %v", s.waiting, s.trusted)
	}
	put(t, from.workspace, "work.sh", "true\n")
	s := mustLoad(t, from)
	if len(s.waiting) != 3 || len(s.trusted) != 0 || s.Faber.Resume.Command != nil || s.Afl.WorkerCommand != nil {
		t.Errorf("waiting %+v, trusted %v", s.waiting, s.trusted)
	}
	agree(t, from, waitingSetting(s.waiting[0]), waitingSetting(s.waiting[1]), waitingSetting(s.waiting[2]))
	put(t, from.workspace, afl.Worktrees+"/a/work.sh", "false\n")
	put(t, from.workspace, afl.Worktrees+"/b/work.sh", "true\n")
	s = mustLoad(t, from)
	facts := engine.Facts{Trusted: s.trusted}
	digest := s.Afl.WorkerDigest()
	if len(s.waiting) > 0 || !facts.Trusts(digest, "") || facts.Trusts(digest, afl.Worktrees+"/a") || !facts.Trusts(digest, afl.Worktrees+"/b") {
		t.Errorf("waiting %+v, trusted %v", s.waiting, s.trusted)
	}
}
