package store

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"path"
	"strings"
	"time"

	"placet/layout"
)

// Sight is all that a look depended on, as the file system described it then.
// Unlike a glance it means something to another process. The zero Sight is of
// nothing and never holds.
type Sight struct {
	// Names are the paths that were looked at, each ended by a NUL: relative to
	// the run's folder, those outside with a slash before them.
	Names string
	// Print stands for what stat said of each, in order: kind, device, inode,
	// size, mtime and ctime in nanoseconds, or that there was nothing.
	Print [16]byte
}

// Zero reports whether there is nothing in a sight.
func (s Sight) Zero() bool { return s.Names == "" }

// sightAge is how much older than a look all times must be, by the file system's
// clock, for the look to be kept. Git calls what is younger racy: a change in the
// same tick of that clock would leave the times as they are. The coarsest file
// systems have a tick of two seconds.
const sightAge = coarseTick

// seeing makes a sight while files are looked at.
type seeing struct {
	hash   hash.Hash
	buf    [57]byte
	latest time.Time
}

func newSeeing() *seeing { return &seeing{hash: sha256.New()} }

func (s *seeing) add(info Info, there bool) {
	if !there {
		s.buf[0] = 0
		s.hash.Write(s.buf[:1])
		return
	}
	le := binary.LittleEndian
	s.buf[0] = 1
	le.PutUint32(s.buf[1:], uint32(info.Mode))
	le.PutUint64(s.buf[5:], info.Device)
	le.PutUint64(s.buf[13:], info.Inode)
	le.PutUint64(s.buf[21:], uint64(info.Size))
	s.putTime(29, info.Modified)
	s.putTime(41, info.Changed)
	le.PutUint32(s.buf[53:], info.UID) // a name stands for it in the document
	s.hash.Write(s.buf[:57])
	for _, t := range [...]time.Time{info.Modified, info.Changed} {
		if t.After(s.latest) {
			s.latest = t
		}
	}
}

func (s *seeing) putTime(at int, t time.Time) {
	binary.LittleEndian.PutUint64(s.buf[at:], uint64(t.Unix()))
	binary.LittleEndian.PutUint32(s.buf[at+8:], uint32(t.Nanosecond()))
}

func (s *seeing) print() (p [16]byte) {
	copy(p[:], s.hash.Sum(nil))
	return p
}

// sight is what was seen, if a later change of it must show.
func (s *seeing) sight(names string, began time.Time, clock bool) Sight {
	if !clock || began.Sub(s.latest) < sightAge {
		return Sight{}
	}
	return Sight{Names: strings.Clone(names), Print: s.print()}
}

// Sighting has Load return sights from now on, or no more. They cost a hash of
// everything that is looked at.
func (s *Store) Sighting(on bool) { s.sighting.Store(on) }

// Holds reports, by stat alone, that all of a sight still looks the same. It
// takes nothing over from the look.
func (s *Store) Holds(dir string, old Sight) bool { return s.Again().Holds(dir, old) }

// SightState is the sight of a run's state document alone, as it is now.
func (s *Store) SightState(run layout.Run) Sight {
	began, known := s.diskNow(staleClock)
	v := newSeeing()
	info, err := s.fs.Stat(run.State)
	v.add(info, err == nil)
	return v.sight(stateName(run), began, known)
}

// stateName is the name of a run's state document in a sight.
func stateName(run layout.Run) string {
	if rel, ok := strings.CutPrefix(run.State, run.Dir+"/"); ok {
		return rel + "\x00"
	}
	return "/" + run.State + "\x00"
}

// HoldsState is Holds for the sight of a state document alone. That it was seen is
// remembered as Read does.
func (s *Store) HoldsState(run layout.Run, old Sight) bool {
	info, err := s.fs.Stat(run.State)
	v := newSeeing()
	v.add(info, err == nil)
	if err != nil || old.Zero() || v.print() != old.Print {
		return false
	}
	s.memory.noteState(run.State)
	return true
}

// near is a file system that describes many names below one folder for less.
type near interface {
	// Below returns what describes names relative to a folder. done must be called.
	Below(dir string) (stat func(rel string) (Info, error), done func(), err error)
}

func (s *Store) below(dir string) (stat func(rel string) (Info, error), done func()) {
	if fsys, ok := s.fs.(near); ok {
		if stat, done, err := fsys.Below(dir); err == nil {
			return stat, done
		}
	}
	return func(rel string) (Info, error) { return s.fs.Stat(path.Join(dir, rel)) }, func() {}
}
