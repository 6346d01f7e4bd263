package disk

import (
	"errors"
	"os"
	"sync"
	"time"

	"placet/engine/store/fs"
)

// clockFile is touched to learn what time the file system thinks it is.
const clockFile = PrivateDir + "/now"

// How long a measured difference between the two clocks is believed.
const (
	FreshClock = 200 * time.Millisecond
	staleClock = time.Minute
)

// fineTick and coarseTick bound the tick of file times: where a time has a
// fraction of a second, and where it has none (FAT, HFS+, old NFS).
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// clock is the difference between the file system's clock and ours. It is kept
// as a difference so that a step of a clock that both share changes nothing.
type clock struct {
	mu       sync.Mutex
	ahead    time.Duration
	measured time.Time // by our clock
	touched  time.Time // what the file system said then
	device   uint64    // of the file system
	known    bool
	made     bool // .placet/ was made by this process, or found
}

// DiskNow returns the file system's present, measured no longer than maxAge
// ago. It is not known where .placet/ cannot be written.
func (s *Disk) DiskNow(maxAge time.Duration) (time.Time, bool) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	now := s.Now()
	if age := now.Sub(s.clock.measured); s.clock.measured.IsZero() || age < 0 || age > maxAge {
		s.measure(now)
	}
	return now.Add(s.clock.ahead).Round(0), s.clock.known
}

// measure asks the file system. The caller holds the lock.
func (s *Disk) measure(now time.Time) {
	touched, err := s.touchClock()
	s.clock.measured, s.clock.known = now, err == nil
	if err == nil {
		s.clock.ahead, s.clock.touched = touched.Sub(now.Round(0)), touched
	}
}

// IsYounger reports whether a moment of the file system's clock may be no longer than
// limit ago.
func (s *Disk) IsYounger(at time.Time, limit time.Duration) bool {
	now, known := s.DiskNow(FreshClock)
	return !known || now.Sub(at) <= limit
}

// Hold notes that this process holds the workspace's lock from now on, until it is released.
func (s *Disk) Hold() (release func()) {
	s.clock.mu.Lock()
	s.heldSince, _ = s.touchClock()
	s.clock.mu.Unlock()
	s.held.Store(true)
	return func() { s.held.Store(false) }
}

// touchClock touches the clock's file. The caller holds the clock's lock.
func (s *Disk) touchClock() (time.Time, error) {
	if !s.clock.made {
		if err := s.Private(); err != nil {
			return time.Time{}, err
		}
		s.clock.made = true
	}
	at, err := s.FS.Touch(clockFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.clock.made = false // the folder went away
	case err == nil && s.clock.device == 0:
		info, err := s.FS.Stat(clockFile)
		s.clock.device = info.Device
		return at, err
	}
	return at, err
}

// Grain tells, during one look, which files could change once more and look the
// same: those that were changed within the tick of the file system's clock.
type Grain struct {
	s     *Disk
	began time.Time // by the file system's clock, as far as it is known
	known bool
	asked bool      // the file system was asked during this look
	past  time.Time // what it said then: a later change bears this time or a later one
	on    uint64    // its device
}

// NewGrain begins a look.
func (s *Disk) NewGrain() Grain {
	began, known := s.DiskNow(staleClock)
	return Grain{s: s, began: began, known: known}
}

// IsRacy reports whether a change that is made from now on could leave the times of
// a file as they are. It must be asked before the file is read, too: what counts is
// that the clock has moved on by then.
func (g *Grain) IsRacy(info fs.Info) bool {
	at := Latest(info)
	if !g.known || g.began.Sub(at) >= tickOf(info) {
		return !g.known
	}
	if !g.past.After(at) && !g.asked {
		g.ask()
	}
	return !g.past.After(at) || g.on != info.Device
}

// tickOf is the tick of the clock that a file's times come from.
func tickOf(info fs.Info) time.Duration {
	if Latest(info).Nanosecond() == 0 {
		return coarseTick
	}
	return fineTick
}

// IsYoung reports whether a change that is made from now on could leave the times of a file
// as they are, as IsRacy does, but without asking the file system for its present: what
// changes many times a second is read again rather.
func (g *Grain) IsYoung(info fs.Info) bool {
	return !g.known || g.began.Sub(Latest(info)) < tickOf(info)
}

// ask asks the file system for its present. A clock that was set back says nothing.
func (g *Grain) ask() {
	g.asked = true
	s := g.s
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	was := s.clock.touched
	s.measure(s.Now())
	if s.clock.known && !s.clock.touched.Before(was) {
		g.past, g.on = s.clock.touched, s.clock.device
	}
}

// IsAhead reports whether a file's times lie ahead of the look: a clock was set
// back, and the times may come again.
func (g *Grain) IsAhead(info fs.Info) bool {
	return !g.known || g.began.Before(Latest(info)) && !g.past.After(Latest(info))
}

// IsKnown reports whether the file system's clock could be asked.
func (g *Grain) IsKnown() bool { return g.known }

// IsFresh reports whether a file was changed so short a while ago that any file system could
// give a change from now on the same times.
func (g *Grain) IsFresh(info fs.Info) bool { return g.began.Sub(Latest(info)) < coarseTick }

// Latest is the later of a file's times.
func Latest(info fs.Info) time.Time {
	if info.Modified.After(info.Changed) {
		return info.Modified
	}
	return info.Changed
}
