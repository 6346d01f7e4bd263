package read

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os/user"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
)

// The times for which a file must be unchanged to be settled.
const (
	// standStill is the time between two looks that must agree.
	standStill = 120 * time.Millisecond
	// standLong is the same for artifacts, which a reviewer is shown.
	standLong = 2 * time.Second
	// oldEnough is the age, by the file system's clock, at which a file that is seen for the
	// first time counts as unchanged since its last change.
	oldEnough = time.Second
)

// KeepBody is the size up to which the bytes of a document are kept.
const KeepBody = 4 << 20

// target is one file to look at.
type target struct {
	path  string
	file  layout.File
	still bool // the file must be unchanged for standLong
	need  bool // it is looked up because a plan needs it
	// appeared says that a file of which nothing is remembered did not exist before.
	appeared bool
}

// settleTime returns how long the file must be unchanged; 0 means not at all.
func (a target) settleTime() time.Duration {
	switch {
	case a.still:
		return standLong
	case a.file.Writer == layout.Placet, a.file.Locked:
		return 0
	}
	return standStill
}

// look reads one file as far as the rules of settling allow, and notes in the entry what it
// has seen. f is nil if the file is not open. The time says when to look again if the file is
// unsettled.
func (s *settler) look(a target, e *statcache.Entry, info fs.Info, f *disk.Opened, g *disk.Grain) (engine.Document, time.Time) {
	d := engine.Document{Path: a.path, Kind: a.file.Kind, Changed: info.Changed, Modified: info.Modified}
	if err := a.check(info); err != nil {
		*e = statcache.Entry{Name: e.Name, ID: disk.IdentityOf(info), Known: true, Still: standLong, Racy: g.IsRacy(info)}
		d.Known, d.Err = s.seen.Owner(a.file, info), err
		return d, time.Time{}
	}
	if e.Doc != nil && e.Trusts(disk.IdentityOf(info)) && wait(e, a.settleTime()) == 0 && (e.Doc.Body != nil || a.still) && (a.hasFreeLineEnds() || e.HasBytes()) {
		d = *e.Doc
		d.Kind = a.file.Kind
		return d, time.Time{}
	}
	shared, err := s.isShared(a, info)
	if err != nil {
		return s.unreadDocument(a, e, d, info, err)
	}
	if !shared { // otherwise anybody may have written it
		d.Known = s.seen.Owner(a.file, info)
	}
	g.IsRacy(info) // before it is read: a change after this shows
	c, err := s.readAsked(a, f)
	if err != nil {
		return s.unreadDocument(a, e, d, info, err)
	}
	d.Changed, d.Modified = c.Info.Changed, c.Info.Modified
	before := e.Doc
	*e = s.nextEntry(a, e, c, g)
	if wait := wait(e, a.settleTime()); wait > 0 {
		d.Err = engine.ErrUnsettled
		return d, s.disk.Now().Add(wait)
	}
	if a.hasFreeLineEnds() {
		c = c.WithLF()
	}
	d.Body, d.Sum, d.Parsed = c.Body, c.Digest(), new(engine.Parsed)
	if who, source := s.attributed(a, d.Sum); who != "" {
		d.Known, d.Source = []string{who}, source
	}
	if before != nil && before.Sum == d.Sum && before.Parsed != nil {
		d.Parsed = before.Parsed // the same bytes mean the same
	}
	if len(d.Body) <= KeepBody {
		kept := d
		e.Doc = &kept
	}
	return d, time.Time{}
}

// readAsked reads a file, or only its end if the layout asks for no more. f is nil if the
// file is not open yet.
func (s *settler) readAsked(a target, f *disk.Opened) (c disk.Content, err error) {
	if f == nil {
		if f, err = s.disk.Open(a.path); err != nil {
			return c, err
		}
		defer f.Close()
	}
	if a.file.End == 0 {
		return f.Read(a.limit(), a.still)
	}
	return f.ReadEnd(a.file.End)
}

// ForOthers holds the permissions of others than its owner to write a file.
const ForOthers = 0o022

// isShared reports whether others than its owner may have written an answer, or moved another
// of the owner's files to its place. Programs that run as placet's own user could do so
// anyway.
func (s *settler) isShared(a target, info fs.Info) (bool, error) {
	switch a.file.Kind {
	case layout.KindResponse, layout.KindForm, layout.FaberPrompt, layout.FaberPromptReply:
	default:
		return false, nil
	}
	dir, err := s.disk.FS.Stat(path.Dir(a.path))
	isOwn := dir.UID == info.UID || dir.UID == 0 || dir.UID == s.seen.owners.self
	return !isOwn || s.seen.owners.letsOthersWrite(dir) || s.seen.owners.letsOthersWrite(info), err
}

// attributed returns the person for whom this machine has written a file that anyone may
// write, and the surface that it came through. It returns "" if this machine has not written
// the file; then only the file's owner is known.
func (s *settler) attributed(a target, sum engine.Digest) (who, source string) {
	if s.record == nil || a.file.Writer != layout.Anyone {
		return "", ""
	}
	return s.record.Attributed(a.path, sum)
}

// hasFreeLineEnds reports whether a document means the same with CR LF as with LF. Documents
// that other programs keep for themselves are changed byte for byte, and an artifact that
// placet has not written is shown to a person byte for byte.
func (a target) hasFreeLineEnds() bool {
	return a.file.Writer == layout.Placet || !a.need && a.file.Writer != layout.Shared && a.file.Writer != layout.Upstream
}

// limit returns the largest size that is read into memory.
func (a target) limit() int64 {
	if a.file.Limit > 0 {
		return a.file.Limit
	}
	return layout.LimitState
}

// check returns why a file cannot be a document, without opening it.
func (a target) check(info fs.Info) error {
	if err := fs.Irregular(a.path, info.Mode); err != nil {
		return err
	}
	if info.Size > a.limit() && !a.still && a.file.End == 0 {
		return disk.Unusable(a.path, disk.TooLarge(info.Size, a.limit()))
	}
	return nil
}

// unreadDocument returns the document for a file that could not be read.
func (s *settler) unreadDocument(a target, e *statcache.Entry, d engine.Document, info fs.Info, err error) (engine.Document, time.Time) {
	d.Err = disk.Unusable(a.path, err)
	if disk.IsScarce(err) {
		e.Racy = true // nothing was learned of it
		return d, time.Time{}
	}
	if d.Absent() {
		*e = statcache.Entry{Name: e.Name}
		return engine.Document{Path: a.path, Err: engine.ErrAbsent}, time.Time{}
	}
	id := disk.IdentityOf(info)
	next := statcache.Entry{Name: e.Name, ID: id, Known: true, Racy: true, Still: standLong}
	if !d.Unsettled() {
		*e = next
		return d, time.Time{}
	}
	next.Still, next.Fresh = 0, s.isNewInode(a, e, id) || e.Fresh
	*e = next
	return d, s.disk.Now().Add(standStill)
}

// wait returns how much longer a file must be unchanged, 0 if it has settled.
func wait(e *statcache.Entry, stands time.Duration) time.Duration {
	if e.Own || e.Complete && stands <= standStill {
		return 0
	}
	return max(stands-e.Still, 0)
}

// isNewInode reports whether the file's inode appeared while placet was watching: before,
// its name had no inode, or another.
func (s *settler) isNewInode(a target, e *statcache.Entry, id statcache.Identity) bool {
	if !e.Known {
		return a.appeared
	}
	return s.seen.watching.Load() && !e.ID.Is(id)
}

// nextEntry returns the entry for a reading, given the entry of the reading before.
func (s *settler) nextEntry(a target, old *statcache.Entry, c disk.Content, g *disk.Grain) statcache.Entry {
	now := s.disk.Age()
	id := disk.IdentityOf(c.Info)
	e := statcache.Entry{
		Name: old.Name, ID: id, Sum: binary.NativeEndian.Uint64(c.Sum[:]), Known: true, Since: now, Racy: g.IsRacy(c.Info),
	}
	same := old.Known && old.ID.Is(id)
	alike := same && (old.Trusts(id) || old.Sum == e.Sum && old.ID.Size == id.Size)
	switch {
	case s.isNewInode(a, old, id):
		e.Fresh = true
	case !old.Known:
		e.Since = now - s.firstSeen(c.Info)
	case alike && old.Own && old.ID.Modified == id.Modified: // a rename changes the ctime
		e.Own, e.Since = true, old.Since
	case alike && old.ID.Changed == id.Changed:
		e.Fresh, e.Complete = old.Fresh, old.Complete
		e.Since = min(old.Since, now-old.Still) // the clock may have gone back
	case same: // other content under the same inode
		e.Fresh = old.Fresh
	}
	e.Still = now - e.Since
	if e.Fresh && a.file.Format == layout.JSON && !a.need && wholeObject(c.Body) {
		e.Fresh, e.Complete = false, true
	}
	return e
}

// firstSeen returns how long a file that is seen for the first time is known to have been
// unchanged: since its last change if that is old enough, otherwise not at all.
func (s *settler) firstSeen(info fs.Info) time.Duration {
	now, known := s.disk.DiskNow(disk.FreshClock)
	if age := now.Sub(info.Changed); known && age > oldEnough {
		return age
	}
	return 0
}

// wholeObject reports whether a body is one JSON object, apart from blanks. A strict prefix
// of an object never is.
func wholeObject(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(body)
}

// owners remembers the logins of user ids.
type owners struct {
	byID, private sync.Map
	self          uint32 // the user of this process
}

// letsOthersWrite reports whether others than its owner can write a file. A group with the
// owner's own name, which many systems make for each user, counts as the owner.
func (o *owners) letsOthersWrite(info fs.Info) bool {
	mode := info.Mode.Perm()
	return mode&ForOthers&0o007 != 0 || mode&ForOthers != 0 && !o.isPrivate(info.UID, info.GID)
}

// isPrivate reports whether a group belongs to one user alone.
func (o *owners) isPrivate(uid, gid uint32) bool {
	key := [2]uint32{uid, gid}
	if known, ok := o.private.Load(key); ok {
		return known.(bool)
	}
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	is := err == nil && u.Gid == strconv.FormatUint(uint64(gid), 10)
	if is {
		g, err := user.LookupGroupId(u.Gid)
		is = err == nil && g.Name == u.Username
	}
	o.private.Store(key, is)
	return is
}

// known returns the owner of a file, as a document's Known.
func (o *owners) known(uid uint32) []string {
	if known, ok := o.byID.Load(uid); ok {
		return known.([]string)
	}
	name := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	known := []string{"owner:" + name}
	o.byID.Store(uid, slices.Clip(known))
	return known
}
