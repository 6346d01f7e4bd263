package workspace

import (
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/afl"
)

func TestTrustCountsInARunningDaemonAndRevokingToo(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[faber.resume]\ncommand = [\"go\"]\n")
	now := noon
	b := &Workspace{Env: &console.Env{Now: func() time.Time { return now }, Getenv: os.Getenv}}
	b.Settings = mustLoad(t, from)
	b.Changing = config.NewLive(from, b.Settings, slog.New(slog.DiscardHandler), b.Env.Now)
	action := engine.Action{ID: "faber/a/resume-r1", Command: engine.Command{Argv: []string{"go"}}}
	if b.Permit(action, ".") == nil {
		t.Error("an untrusted command may begin")
	}
	agree(t, from, waitingSetting(b.Settings.Waiting[0]))
	now = now.Add(config.LookEvery)
	if err := b.Permit(action, "."); err != nil {
		t.Errorf("a trusted command: %v", err)
	}
	digest, _ := config.CommandDigest(action)
	if got := b.Environment("faber").Trusted; !got[digest] {
		t.Error("the machine does not learn of it")
	}
	agree(t, from)
	now = now.Add(config.LookEvery)
	if b.Permit(action, ".") == nil {
		t.Error("a revoked command may begin")
	}
}

// A command begins only if it is trusted at that moment, and is the one that was recorded with
// the attempt.
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
	b := &Workspace{Env: &console.Env{Now: func() time.Time { return noon }, Getenv: os.Getenv}, Settings: mustLoad(t, from)}
	if err := b.Permit(validation(argv, digest), "."); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("untrusted: %v", err)
	}
	b.Changing = config.NewLive(from, b.Settings, slog.New(slog.DiscardHandler), b.Env.Now)
	agree(t, from, config.UntrustedLine{Name: afl.TrustName + "shop/a", Digest: digest, Of: digest, Argv: argv})
	if err := b.Permit(validation(argv, digest), "."); err != nil {
		t.Errorf("trusted a moment ago: %v", err)
	}
	if err := b.Permit(validation([]string{"bash", "-c", "npm test"}, digest), "."); err == nil || !strings.Contains(err.Error(), "not the one") {
		t.Errorf("by another shell: %v", err)
	}
	if err := b.Permit(validation([]string{"sh", "-c", "rm"}, digest), "."); err == nil {
		t.Error("another command may begin")
	}
	if b.Permit(engine.Action{ID: "faber/x/resume-r1", Command: engine.Command{Argv: argv}}, ".") == nil {
		t.Error("trust in a validation is trust in another family's command")
	}
}

func TestADaemonIsKnownByItsLock(t *testing.T) {
	root := t.TempDir()
	if DaemonRuns(root) {
		t.Error("without a lock file")
	}
	path := put(t, root, lockFile, "")
	if DaemonRuns(root) {
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
	if !DaemonRuns(root) {
		t.Error("with a lock that is held")
	}
}

// While another folder has the workspace's name, its settings do not count, and no command
// begins in it.
func TestSettingsOfAnotherFolderDoNotCount(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "language = \"ko\"\n")
	now := noon
	b := &Workspace{Env: &console.Env{Now: func() time.Time { return now }, Getenv: os.Getenv}}
	b.Settings = mustLoad(t, from)
	b.Changing = config.NewLive(from, b.Settings, slog.New(slog.DiscardHandler), b.Env.Now)
	b.Changing.Away = func() string { return "the workspace is gone" }
	put(t, from.Workspace, "placet.toml", "language = \"ja\" # of another folder\n")
	now = now.Add(config.LookEvery)
	if got := b.Changing.Get().Language; got != "ko" {
		t.Errorf("got %q from another folder", got)
	}
	if err := b.Permit(engine.Action{ID: "faber/a", Command: engine.Command{Argv: []string{"go"}}}, "."); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a command may begin in another folder: %v", err)
	}
	b.Changing.Away = func() string { return "" }
	now = now.Add(config.LookEvery)
	if got := b.Changing.Get().Language; got != "ja" {
		t.Errorf("got %q when it is back", got)
	}
}
