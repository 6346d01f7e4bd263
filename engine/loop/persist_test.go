package loop

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Persist logs each cause once, continues when it is over, and waits a second at most.
func TestPersistSaysEachCauseOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		final := errors.New("the lock is held")
		ends := func(err error) bool { return errors.Is(err, final) }
		tries, began := 0, time.Now()
		err := Persist(t.Context(), log, func() error {
			switch tries++; {
			case tries <= 10:
				return fmt.Errorf("try %d: %w", tries, syscall.ENOSPC)
			case tries <= 20:
				return fmt.Errorf("try %d: %w", tries, syscall.EROFS)
			}
			return nil
		}, ends)
		if said := strings.Count(out.String(), "cannot begin"); err != nil || tries != 21 || said != 2 || strings.Count(out.String(), "going on") != 1 {
			t.Errorf("%v after %d tries, said %d times:\n%s", err, tries, said, out.String())
		}
		if took := time.Since(began); took > 20*probeWait {
			t.Errorf("took %s", took)
		}
		tries = 0
		if err := Persist(t.Context(), log, func() error { tries++; return final }, ends); err != final || tries != 1 {
			t.Errorf("a lock that is held: %v after %d tries", err, tries)
		}
	})
}
