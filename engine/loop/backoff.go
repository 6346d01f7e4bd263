package loop

import (
	"errors"
	"time"

	"placet/engine/store/fs"
)

const (
	firstWait = 100 * time.Millisecond
	// busyWait follows a wait for a lock that was as long already.
	busyWait = 5 * time.Second
	lastWait = time.Minute
)

// backoff is how long a run rests after an error: the wait doubles with every
// error and is forgotten with the first success. The zero value has had none.
type backoff struct{ wait time.Duration }

// next is the wait after another error.
func (b *backoff) next(err error) time.Duration {
	first := firstWait
	if errors.Is(err, fs.ErrBusy) {
		first = busyWait
	}
	b.wait = min(max(first, 2*b.wait), lastWait)
	return b.wait
}

func (b *backoff) reset() { b.wait = 0 }
