package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/engine/store"
)

// A start says each cause once, goes on when it is over, and waits a second at most.
func TestPersistSaysEachCauseOnce(t *testing.T) {
	var log bytes.Buffer
	l := &Loop{o: Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Pause: func(_ context.Context, d time.Duration) error {
		if d > canaryWait {
			t.Errorf("waits %s", d)
		}
		return nil
	}}}
	tries := 0
	err := l.Persist(t.Context(), func() error {
		switch tries++; {
		case tries <= 10:
			return fmt.Errorf("try %d: %w", tries, syscall.ENOSPC)
		case tries <= 20:
			return fmt.Errorf("try %d: %w", tries, syscall.EROFS)
		}
		return nil
	})
	if said := strings.Count(log.String(), "cannot begin"); err != nil || tries != 21 || said != 2 || strings.Count(log.String(), "going on") != 1 {
		t.Errorf("%v after %d tries, said %d times:\n%s", err, tries, said, log.String())
	}
	tries = 0
	if err := l.Persist(t.Context(), func() error { tries++; return store.ErrBusy }); err != store.ErrBusy || tries != 1 {
		t.Errorf("a lock that is held: %v after %d tries", err, tries)
	}
}
