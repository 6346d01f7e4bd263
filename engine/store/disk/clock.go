package disk

import (
	"errors"
	"os"
	"sync"
	"time"

	"placet/engine/store/fs"
)

// clockFile is touched to learn the file system's present time.
const clockFile = PrivateDir + "/now"

// The ages up to which a measured difference between the two clocks is used.
const (
	FreshClock = 200 * time.Millisecond
	staleClock = time.Minute
)

// fineTick and coarseTick bound the tick of file times: if a time has a fraction of a
// second, and if it has none (FAT, HFS+, old NFS).
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// clock holds the difference between the file system's clock and ours. It holds a
// difference so that a step of a clock that both share changes nothing.
type clock struct {
	mu       sync.Mutex
	ahead    time.Duration
	measured time.Time // by our clock
	touched  time.Time // the file system's time at that moment
	device   uint64    // of the file system
	known    bool
	made     bool // .placet/ was made by this process, or found
}

// DiskNow returns the file system's present time, measured no longer than maxAge ago. It is
// unknown if .placet/ cannot be written.
func (s *Disk) DiskNow(maxAge time.Duration) (time.Time, bool) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	now := s.Now()
	if age := now.Sub(s.clock.measured); s.clock.measured.IsZero() || age < 0 || age > maxAge {
		s.measure(now)
	}
	return now.Add(s.clock.ahead).Round(0), s.clock.known
}

// measure measures the file system's present time. The caller holds the lock.
func (s *Disk) measure(now time.Time) {
	touched, err := s.touchClock()
	s.clock.measured, s.clock.known = now, err == nil
	if err == nil {
		s.clock.ahead, s.clock.touched = touched.Sub(now.Round(0)), touched
	}
}

// IsYounger reports whether a time of the file system's clock may be no more than limit
// ago.
func (s *Disk) IsYounger(at time.Time, limit time.Duration) bool {
	now, known := s.DiskNow(FreshClock)
	return !known || now.Sub(at) <= limit
}

// Hold notes that this process holds the workspace's lock from now on, until release is
// called.
func (s *Disk) Hold() (release func()) {
	s.clock.mu.Lock()
	s.heldSince, _ = s.touchClock()
	s.clock.mu.Unlock()
	s.held.Store(true)
	return func() { s.held.Store(false) }
}

// touchClock touches the clock file. The caller holds the clock's lock.
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

// Grain decides, during one look, which files could change again and look the same: those
// that were changed within the current tick of the file system's clock.
type Grain struct {
	s     *Disk
	began time.Time // by the file system's clock, as far as it is known
	known bool
	asked bool      // the file system's time was measured during this look
	past  time.Time // the measured time: a later change has this time or a later one
	on    uint64    // the device of the clock file
}

// NewGrain returns the Grain of a look that begins now.
func (s *Disk) NewGrain() Grain {
	began, known := s.DiskNow(staleClock)
	return Grain{s: s, began: began, known: known}
}

// IsRacy reports whether a change that is made from now on could leave the times of a file
// as they are. It must also be called before the file is read, because the clock must have
// moved on by then.
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

// tickOf returns the tick of the clock that a file's times come from.
func tickOf(info fs.Info) time.Duration {
	if Latest(info).Nanosecond() == 0 {
		return coarseTick
	}
	return fineTick
}

// IsYoung reports whether a change that is made from now on could leave the times of a file
// as they are, like IsRacy, but without measuring the file system's time: a file that
// changes many times a second is simply read again.
func (g *Grain) IsYoung(info fs.Info) bool {
	return !g.known || g.began.Sub(Latest(info)) < tickOf(info)
}

// ask measures the file system's present time, and ignores it if the clock was set back.
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

// IsAhead reports whether a file's times are later than the look: a clock was set back, and
// the same times may occur again.
func (g *Grain) IsAhead(info fs.Info) bool {
	return !g.known || g.began.Before(Latest(info)) && !g.past.After(Latest(info))
}

// IsKnown reports whether the file system's time is known.
func (g *Grain) IsKnown() bool { return g.known }

// IsFresh reports whether a file was changed so recently that any file system could give a
// change from now on the same times.
func (g *Grain) IsFresh(info fs.Info) bool { return g.began.Sub(Latest(info)) < coarseTick }

// Latest returns the later of a file's times.
func Latest(info fs.Info) time.Time {
	if info.Modified.After(info.Changed) {
		return info.Modified
	}
	return info.Changed
}
