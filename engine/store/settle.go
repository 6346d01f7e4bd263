package store

import (
	"bytes"
	"encoding/json"
	"time"

	"placet/engine"
	"placet/layout"
)

// How long a file must stand still, and what a clock's tick can hide.
const (
	// standStill lies between two looks that must agree.
	standStill = 120 * time.Millisecond
	// standLong is the same for artifacts: what a reviewer is shown.
	standLong = 2 * time.Second
	// oldEnough is the age, by the file system's clock, at which a file that
	// is seen for the first time counts as standing still since then.
	oldEnough = time.Second
	// fineTick and coarseTick bound the tick of file times: where a time has
	// a fraction of a second, and where it has none (FAT, HFS+, old NFS).
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// ask is one file to look at.
type ask struct {
	path  string
	file  layout.File
	at    place
	still bool // it must stand still for standLong
	need  bool // it is looked up because a plan needs it
}

// stands is how long the file must stand still; 0 means not at all.
func (a ask) stands() time.Duration {
	switch {
	case a.still:
		return standLong
	case a.file.Writer == layout.Placet, a.file.Locked:
		return 0
	}
	return standStill
}

// look reads one file as far as the rules of settling allow. The time says when
// to look again if it is unsettled.
func (s *Store) look(a ask, info Info) (engine.Document, time.Time) {
	d := engine.Document{Path: a.path, Kind: a.file.Kind, Changed: info.Changed}
	if a.file.Writer != layout.Placet {
		d.Known = s.owners.known(info.UID)
	}
	if err := a.wrong(info); err != nil {
		s.memory.put(a.at, trace{known: true, device: info.Device, inode: info.Inode, still: standLong})
		d.Err = err
		return d, time.Time{}
	}
	old, appeared := s.memory.get(a.at, info)
	if c := s.memory.bodies.get(a.path, identityOf(info)); c != nil && s.settled(a, old, *c) {
		s.memory.saw(a.at)
		d.Body, d.Sum = c.body, c.digest()
		return d, time.Time{}
	}
	began, _ := s.diskNow(staleClock)
	c, err := s.readAsked(a)
	if err != nil {
		return s.unread(a, d, info, err)
	}
	c.racy, c.name = racy(c.info, began), c.digest()
	s.memory.bodies.put(a.path, c)
	d.Changed = c.info.Changed
	t := s.agree(a, old, appeared, c)
	s.memory.put(a.at, t)
	if wait := t.wait(a.stands()); wait > 0 {
		d.Err = engine.ErrUnsettled
		return d, s.now().Add(wait)
	}
	d.Body, d.Sum = c.body, c.digest()
	return d, time.Time{}
}

// settled reports whether what is kept answers a look without reading.
func (s *Store) settled(a ask, t trace, c content) bool {
	return t.known && !t.absent && t.mark == s.memory.markOf(c, t.own) && t.wait(a.stands()) == 0 &&
		(c.body != nil || a.still && c.info.Size > a.limit())
}

// limit is the largest size that is read into memory.
func (a ask) limit() int64 {
	if a.file.Limit > 0 {
		return a.file.Limit
	}
	return layout.LimitState
}

// wrong says why a file cannot be a document, without opening it.
func (a ask) wrong(info Info) error {
	if err := irregular(a.path, info.Mode); err != nil {
		return err
	}
	if info.Size > a.limit() && !a.still && a.file.End == 0 {
		return unusable(a.path, tooLarge(info.Size, a.limit()))
	}
	return nil
}

// unread is the document for a file that could not be read.
func (s *Store) unread(a ask, d engine.Document, info Info, err error) (engine.Document, time.Time) {
	d.Err = unusable(a.path, err)
	if scarce(err) {
		return d, time.Time{}
	}
	if d.Absent() {
		s.memory.put(a.at, trace{})
		return engine.Document{Path: a.path, Err: engine.ErrAbsent}, time.Time{}
	}
	t := trace{known: true, device: info.Device, inode: info.Inode, still: standLong}
	if d.Unsettled() {
		old, appeared := s.memory.get(a.at, info)
		t.still, t.fresh = 0, s.newInode(old, appeared, info) || old.fresh
		s.memory.put(a.at, t)
		return d, s.now().Add(standStill)
	}
	s.memory.put(a.at, t)
	return d, time.Time{}
}

// wait is how long a file must go on standing still, 0 where it has settled.
func (t trace) wait(stands time.Duration) time.Duration {
	if t.own || t.whole && stands <= standStill {
		return 0
	}
	return max(stands-t.still, 0)
}

// newInode reports whether a file's inode was seen to appear: there was none
// under its name, or another.
func (s *Store) newInode(old trace, appeared bool, info Info) bool {
	if !old.known {
		return appeared
	}
	return s.isWatching() && (old.absent || !old.is(info))
}

// is reports whether a trace is of this inode.
func (t trace) is(info Info) bool { return t.device == info.Device && t.inode == info.Inode }

// agree makes the trace of a reading from the trace of the reading before.
func (s *Store) agree(a ask, old trace, appeared bool, c content) trace {
	now := s.age()
	t := trace{
		known: true, device: c.info.Device, inode: c.info.Inode,
		mark: s.memory.markOf(c, false), since: now,
	}
	same := old.known && !old.absent && old.is(c.info)
	switch {
	case s.newInode(old, appeared, c.info):
		t.fresh = true
	case !old.known:
		t.since = now - s.firstSeen(c.info)
	case same && old.own && old.mark == s.memory.markOf(c, true):
		t.own, t.mark, t.since = true, old.mark, old.since
	case same && old.mark == t.mark:
		t.fresh, t.whole = old.fresh, old.whole
		t.since = min(old.since, now-old.still) // the clock may have gone back
	case same: // other content under the same inode
		t.fresh = old.fresh
	}
	t.still = now - t.since
	if t.fresh && a.file.Format == layout.JSON && !a.need && wholeObject(c.body) {
		t.fresh, t.whole = false, true
	}
	return t
}

// age is the time since the store began.
func (s *Store) age() time.Duration { return s.now().Sub(s.began) }

func (s *Store) isWatching() bool {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.watching
}

// firstSeen is how long a file that is seen for the first time is known to have
// stood still: since its last change if that is old enough, else not at all.
func (s *Store) firstSeen(info Info) time.Duration {
	now, known := s.diskNow(freshClock)
	if age := now.Sub(info.Changed); known && age > oldEnough {
		return age
	}
	return 0
}

// racy reports whether a change after a look that began at a moment of the file
// system's clock could leave the file's times as they are.
func racy(info Info, began time.Time) bool {
	at, tick := latest(info), fineTick
	if at.Nanosecond() == 0 {
		tick = coarseTick
	}
	return began.Sub(at) < tick
}

// latest is the later of a file's times.
func latest(info Info) time.Time {
	if info.Modified.After(info.Changed) {
		return info.Modified
	}
	return info.Changed
}

// wholeObject reports whether a body is one JSON object, blanks aside. A strict
// prefix of an object never is.
func wholeObject(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(body)
}
