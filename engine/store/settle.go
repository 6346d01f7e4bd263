package store

import (
	"bytes"
	"encoding/json"
	"errors"
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
		d.Known = []string{"owner:" + s.owners.login(info.UID)}
	}
	if err := s.wrong(a, info); err != nil {
		s.memory.put(a.at, nil)
		d.Err = err
		return d, time.Time{}
	}
	old, appeared := s.memory.get(a.at)
	if r := old; r != nil && r.usable(identityOf(info), a) {
		d.Body, d.Sum = r.body, r.digest()
		return d, time.Time{}
	}
	c, err := s.read(a.path, a.limit(), a.still)
	if err != nil {
		return s.unread(a, d, err)
	}
	d.Changed = c.info.Changed
	r := s.agree(a, old, appeared, c)
	s.memory.put(a.at, r)
	if again := r.again(a); !again.IsZero() {
		d.Err = engine.ErrUnsettled
		return d, again
	}
	d.Body, d.Sum = c.body, r.digest()
	return d, time.Time{}
}

// limit is the largest size that is read into memory.
func (a ask) limit() int64 {
	if a.file.Limit > 0 {
		return a.file.Limit
	}
	return layout.LimitState
}

// wrong says why a file cannot be a document, without opening it.
func (s *Store) wrong(a ask, info Info) error {
	if err := irregular(a.path, info.Mode); err != nil {
		return err
	}
	if info.Size > a.limit() && !a.still {
		return unusable(a.path, tooLarge(info.Size, a.limit()))
	}
	return nil
}

// unread is the document for a file that could not be read.
func (s *Store) unread(a ask, d engine.Document, err error) (engine.Document, time.Time) {
	s.memory.put(a.at, nil)
	d.Err = unusable(a.path, err)
	if errors.Is(err, errTorn) {
		return d, s.now().Add(standStill)
	}
	if d.Absent() {
		return engine.Document{Path: a.path, Err: engine.ErrAbsent}, time.Time{}
	}
	return d, time.Time{}
}

// usable reports whether what is remembered answers a look at a file without
// reading it.
func (r *record) usable(id identity, a ask) bool {
	return !r.absent && r.id == id && !r.racy && (r.body != nil || a.still && id.size > a.limit()) && r.again(a).IsZero()
}

// again is when to look again, zero where the file has settled.
func (r *record) again(a ask) time.Time {
	stands := a.stands()
	if r.own || r.whole && stands <= standStill || r.read.Sub(r.since) >= stands {
		return time.Time{}
	}
	return r.since.Add(stands)
}

// agree makes the record of a reading from the record of the reading before.
func (s *Store) agree(a ask, old *record, appeared bool, c content) *record {
	now := s.now()
	r := &record{id: identityOf(c.info), sum: c.sum, body: c.body, since: now, read: now}
	r.racy = s.racy(c.info)
	switch {
	case old == nil && appeared, old != nil && (old.absent || old.id.inode != r.id.inode || old.id.device != r.id.device):
		r.fresh = s.isWatching()
	case old == nil:
		s.firstSeen(r, c.info)
	case old.own && old.sum == r.sum && old.id.size == r.id.size && old.id.modified == r.id.modified:
		r.own, r.since = true, old.since
	case old.sum == r.sum && old.id.size == r.id.size && old.id.changed == r.id.changed:
		r.fresh, r.whole = old.fresh, old.whole
		if !old.since.After(now) { // else the clock went back: begin anew
			r.since = old.since
		}
	default: // other content under the same inode
		r.fresh = old.fresh
	}
	if r.fresh && a.file.Format == layout.JSON && !a.need && wholeObject(c.body) {
		r.fresh, r.whole = false, true
	}
	return r
}

func (s *Store) isWatching() bool {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.watching
}

// firstSeen lets a file that is old enough count as standing still since its
// last change.
func (s *Store) firstSeen(r *record, info Info) {
	now, known := s.diskNow(freshClock)
	if age := now.Sub(info.Changed); known && age > oldEnough {
		r.since = r.read.Add(-age)
	}
}

// racy reports whether a change right after this reading could leave the file's
// times as they are.
func (s *Store) racy(info Info) bool {
	now, _ := s.diskNow(staleClock)
	latest := info.Changed
	if info.Modified.After(latest) {
		latest = info.Modified
	}
	tick := fineTick
	if latest.Nanosecond() == 0 {
		tick = coarseTick
	}
	return now.Sub(latest) < tick
}

// wholeObject reports whether a body is one JSON object, blanks aside. A strict
// prefix of an object never is.
func wholeObject(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(body)
}
