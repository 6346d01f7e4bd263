package read

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
)

const (
	// maxVolatile is the size up to which a volatile document is read.
	maxVolatile = 16 << 10
	// volatileGrace is how long a volatile document that is no whole object must be
	// unchanged before it counts as the content: a worker may still be writing it.
	volatileGrace = 2 * time.Second
)

// ReadVolatile reads a volatile document as it is now; see [engine.VolatileNeed]. It does
// not open the file while it looks the same as when it was last read. If the file may be
// half written, ReadVolatile returns the content that it read before, and again says when
// to look again; zero: never.
func (s *Reader) ReadVolatile(p string) (d engine.Document, again time.Time) {
	name := engine.VolatileNeed + p
	d = engine.Document{Path: name}
	if !layout.Safe(p) {
		d.Err = errOutside
		return d, time.Time{}
	}
	e := s.seen.Cache.Outside(name)
	info, err := s.disk.FS.Stat(p)
	if err == nil {
		err = fs.Irregular(p, info.Mode)
	}
	if err == nil && info.Size > maxVolatile {
		err = disk.TooLarge(info.Size, maxVolatile)
	}
	if err == nil && e.Complete && e.Trusts(disk.IdentityOf(info)) {
		return *e.Doc, time.Time{}
	}
	if err == nil {
		d, again, err = s.readVolatile(p, d, &e, info)
	}
	if err == nil {
		s.seen.Cache.SetOutside(name, e)
		return d, again
	}
	if disk.IsScarce(err) {
		return before(e, d), s.disk.Now().Add(standStill)
	}
	s.seen.Cache.SetOutside(name, statcache.Entry{})
	d.Err = disk.Unusable(p, err)
	return d, time.Time{}
}

// readVolatile opens a volatile document, for which stat returned info, and notes in the
// entry what it has seen. The error is that of the file.
func (s *Reader) readVolatile(p string, d engine.Document, e *statcache.Entry, info fs.Info) (engine.Document, time.Time, error) {
	g := s.disk.NewGrain()
	c, err := s.disk.Read(p, maxVolatile, false)
	isTorn := disk.IsAny(err, disk.ErrTorn)
	if err != nil && !isTorn {
		return d, time.Time{}, err
	}
	id := disk.IdentityOf(info)
	if !isTorn {
		info, id = c.Info, disk.IdentityOf(c.Info)
	}
	d.Body, d.Sum, d.Changed, d.Parsed = c.Body, c.Digest(), info.Changed, new(engine.Parsed)
	if !isTorn && wholeObject(c.Body) {
		*e = statcache.Entry{Name: e.Name, ID: id, Known: true, Racy: g.IsYoung(info), Complete: true, Doc: &d}
		return d, time.Time{}, nil
	}
	now := s.disk.Age()
	if e.Complete || !e.Known || e.ID != id || isTorn {
		e.Since = now
		if !isTorn {
			e.Since -= s.settler.firstSeen(info)
		}
	}
	e.ID, e.Known, e.Complete = id, true, false
	if left := volatileGrace - (now - e.Since); left > 0 {
		return before(*e, engine.Document{Path: d.Path}), s.disk.Now().Add(left), nil
	}
	e.Doc = nil // the content before is no longer that of the file
	return d, time.Time{}, nil
}

// before returns the content that a volatile document had before, or an absent document.
func before(e statcache.Entry, none engine.Document) engine.Document {
	if e.Doc != nil {
		return *e.Doc
	}
	return engine.Document{Path: none.Path, Err: engine.ErrAbsent}
}

// hasSameNames reports whether a folder of a run holds the names that it held when it was
// listed, apart from those that mean nothing. A worker that renames a volatile document
// into place changes the folder, but nothing that counts. The result is remembered, so that
// the folder is not listed again before it changes.
func (s *Reader) hasSameNames(run layout.Run, fam layout.Family, dir string, e *statcache.Entry) bool {
	rel := "."
	if dir != run.Dir {
		rel = strings.TrimPrefix(dir, run.Dir+"/")
	}
	g := s.disk.NewGrain()
	info, err := s.disk.FS.Stat(dir) // before it is listed: a later change must show
	if err != nil || !info.Mode.IsDir() {
		return false
	}
	names, err := s.disk.List(dir)
	if err != nil {
		return false
	}
	var now []statcache.Entry
	volatile := false
	for _, name := range names {
		volatile = volatile || layout.IsVolatile(fam, run, path.Join(rel, name.Name))
		if kind, ok := kindOf(run, fam, path.Join(rel, name.Name), name); ok {
			now = append(now, statcache.Entry{Name: name.Name, Kind: kind})
		}
	}
	same := volatile && slices.EqualFunc(now, e.Below, func(a, b statcache.Entry) bool { return a.Name == b.Name && a.Kind == b.Kind })
	if same {
		e.ID, e.Racy = disk.IdentityOf(info), g.IsYoung(info)
	}
	return same
}
