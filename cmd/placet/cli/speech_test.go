package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"placet/cmd/placet/console"
)

func TestALogLineForPeopleIsOneLine(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(console.NewLogHandler(&out, slog.LevelInfo))
	log.Debug("not this")
	log.With("run", "faber/x").WithGroup("disk").Warn("cannot write\n\x1b[2Jhere", "error", errors.New("no\nspace"))
	want := `placet: cannot write \u{1b}[2Jhere  run: faber/x  disk.error: no space` + "\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
