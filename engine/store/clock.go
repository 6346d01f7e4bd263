package store

import (
	"sync"
	"time"
)

// clockFile is touched to learn what time the file system thinks it is.
const clockFile = PrivateDir + "/now"

// How long a measured difference between the two clocks is believed.
const (
	freshClock = 200 * time.Millisecond
	staleClock = time.Minute
)

// clock is the difference between the file system's clock and ours. It is kept
// as a difference so that a step of a clock that both share changes nothing.
type clock struct {
	mu       sync.Mutex
	ahead    time.Duration
	measured time.Time
	known    bool
}

// diskNow returns the file system's present, measured no longer than maxAge
// ago. It is not known where .placet/ cannot be written.
func (s *Store) diskNow(maxAge time.Duration) (time.Time, bool) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.clock.measured); s.clock.measured.IsZero() || age < 0 || age > maxAge {
		s.clock.measured = now
		touched, err := s.touchClock()
		s.clock.known = err == nil
		if err == nil {
			s.clock.ahead = touched.Sub(now.Round(0))
		}
	}
	return now.Add(s.clock.ahead).Round(0), s.clock.known
}

// DiskNow is the file system's present, as far as it can be had; else ours, and
// false.
func (s *Store) DiskNow() (time.Time, bool) {
	now, known := s.diskNow(freshClock)
	if !known {
		now = s.now()
	}
	return now, known
}

// past reports whether the file system, asked now, gives later times than those of
// something that lies on it: then a change after this would show in them, however
// short its tick is.
func (s *Store) past(info Info) bool {
	now, err := s.touchClock()
	if err != nil || !now.After(latest(info)) {
		return false
	}
	clock, err := s.fs.Stat(clockFile)
	return err == nil && clock.Device == info.Device
}

func (s *Store) touchClock() (time.Time, error) {
	if err := s.private(); err != nil {
		return time.Time{}, err
	}
	return s.fs.Touch(clockFile)
}
