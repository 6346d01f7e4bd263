package store

import (
	"path"
	"slices"

	"placet/engine"
	"placet/layout"
)

// A run may have ten thousand files that were written once and never change. What
// is known of them need not be asked of the file system at every look:
//
//   - Documents of a kind that is written once (layout.File.Once), and all of a request
//     that has its receipt, are at rest when they have settled and are so old that a
//     change of them would show.
//   - While a folder's own stat is what it was before it was listed, and was old
//     enough then, no name in it has come, gone or been replaced: it is not listed,
//     and its documents at rest are taken as they were. All others are looked at.
//   - Where the folder's stat differs, it is listed. A document at rest stays so
//     while the folder says the same inode of its name.
//   - A change in place does not show in the folder. It shows in [Store.Verify],
//     which the safety net calls, and in file events ([Store.Suspect]). The same
//     goes for a file that was removed and made again under the same inode.
//   - The first look at a run, and the first after [Store.Doubt], asks of every file.
const (
	// longRun is how many files a run has at least for any of it to be kept.
	longRun = 64
	// keepShelves bounds what is kept, in bytes; restCost is what a document at
	// rest costs besides its content.
	keepShelves = 96 << 20
	restCost    = 500
)

// shelf is what is kept of one folder of a run. It is never changed.
type shelf struct {
	stamp identity // of the folder, before it was listed
	sure  bool     // a change since would show in the stamp
	rest  rest
	names []name // all that is looked at each time
	// closed says that the folder is of a request that has its receipt.
	closed bool
	temps  []string
	stray  []string
}

// rest are documents at rest, by path.
type rest struct {
	docs []engine.Document
	ids  []identity
	at   map[uint64]int32 // inode → index
	cost int
}

// name is what the layout says of a name in a run's folder.
type name struct {
	rel, path string
	dir       bool // it is descended into
	file      layout.File
}

// shelved is what is kept of a run's folders, by their path relative to its own.
type shelved struct {
	shelves  map[string]*shelf
	suspects map[string]bool // files whose rest is over
	cost     int             // of the shelves
	long     bool            // it has so many files that shelves are worth it
	doubts   int             // memory.doubts as of the last visit
	gone     bool            // it was forgotten: nothing is kept of it
}

// shelving is what a visit finds on the shelves and what it leaves there.
type shelving struct {
	old, next map[string]*shelf
	suspects  map[string]bool
	whole     bool // every file is asked for
	doubts    int
	long      bool // shelves are worth it
	seen      int  // names so far
	near      func(rel string) (Info, error)
	done      func()
}

// holds reports whether a folder, as stat describes it now, is as it was kept.
func (v *visit) holds(old *shelf, dir string, seen Info) bool {
	if old == nil || v.whole || !old.sure || old.stamp != identityOf(seen) || !seen.Mode.IsDir() || !v.clock || v.began.Before(latest(seen)) {
		return false // before its own change: the clock was set back
	}
	for file := range v.suspects {
		if path.Dir(file) == dir {
			return false
		}
	}
	return true
}

// take looks at a folder that is as it was kept. It is false where that turns out
// not to be so.
func (v *visit) take(rel string, old *shelf, depth int) (taken bool, err error) {
	infos := make([]Info, len(old.names))
	for i, n := range old.names {
		if !n.dir {
			if infos[i], err = v.stat(n.rel); err != nil {
				return false, nil
			}
		}
	}
	v.seen += len(old.names) + len(old.rest.docs)
	v.docs.take(old.rest.docs)
	v.out.Temps = append(v.out.Temps, old.temps...)
	v.out.Stray = append(v.out.Stray, old.stray...)
	var more rest
	for i, n := range old.names {
		if !n.dir {
			v.document(n, infos[i], old.closed, &more)
		} else if err := v.walk(n.rel, depth+1); err != nil {
			return true, err
		}
	}
	v.keep(rel, old, more)
	return true, nil
}

// list looks at a folder name by name, but for what is at rest.
func (v *visit) list(rel string, seen Info, there bool, depth int) error {
	next := &shelf{stamp: identityOf(seen), sure: there && v.clock && (!racy(seen, v.began) || v.long && v.s.past(seen))}
	infos, err := v.moving(rel, next)
	if err != nil || depth > maxDepth {
		return err
	}
	v.seen += len(infos) + len(next.rest.docs)
	v.long = v.long || v.seen >= longRun
	v.docs.take(next.rest.docs)
	next.closed = v.closed(rel, infos, next.rest)
	var more rest
	for _, info := range infos {
		if err := v.entry(path.Join(rel, info.Name), info, depth, next, &more); err != nil {
			return err
		}
	}
	v.out.Temps = append(v.out.Temps, next.temps...)
	v.out.Stray = append(v.out.Stray, next.stray...)
	if there {
		v.keep(rel, next, more)
	}
	return nil
}

// sparing is a file system that describes no more of a folder's names than it must.
type sparing interface {
	// ListBut is List without the names that are known under their inodes, as the
	// folder itself has them.
	ListBut(dir string, known func(inode uint64, name []byte) bool) ([]Info, error)
}

// moving lists what is in a folder and not at rest; what is goes to next.
func (v *visit) moving(rel string, next *shelf) (infos []Info, err error) {
	dir := path.Join(v.run.Dir, rel)
	old := v.old[rel]
	if old == nil || len(old.rest.docs) == 0 {
		return v.s.list(dir)
	}
	kept := make([]bool, len(old.rest.docs))
	known := func(inode uint64, name []byte) (int, bool) {
		i, ok := old.rest.at[inode]
		if !ok || old.rest.docs[i].Path[len(dir)+1:] != string(name) || v.suspects[old.rest.docs[i].Path] {
			return 0, false
		}
		return int(i), true
	}
	if fsys, ok := v.s.fs.(sparing); ok && !v.whole {
		infos, err = fsys.ListBut(dir, func(inode uint64, name []byte) bool {
			i, ok := known(inode, name)
			if ok {
				kept[i] = true
			}
			return ok
		})
		err = noFolder(dir, err)
	} else {
		infos, err = v.s.list(dir)
		infos = slices.DeleteFunc(infos, func(info Info) bool {
			i, ok := known(info.Inode, []byte(info.Name))
			if ok = ok && old.rest.ids[i] == identityOf(info); ok {
				kept[i] = true
				v.sight(path.Join(rel, info.Name), info, true)
			}
			return ok
		})
	}
	next.rest = v.s.memory.still(v.folder, old.rest, kept)
	return infos, err
}

// entry looks at one name of a folder that was listed.
func (v *visit) entry(rel string, info Info, depth int, next *shelf, more *rest) error {
	n := name{rel: rel, path: path.Join(v.run.Dir, rel)}
	var known bool
	n.file, known = v.fam.File(v.run, rel)
	switch {
	case known:
		next.names = append(next.names, n)
		v.document(n, info, next.closed, more)
	case info.Mode.IsDir() && v.fam.Descend(v.run, rel):
		n.dir = true
		next.names = append(next.names, n)
		return v.walk(rel, depth+1)
	case layout.IsTemp(info.Name):
		next.temps = append(next.temps, n.path)
	case !layout.Noise(info.Name) && !slices.Contains(v.run.Locks, n.path):
		next.stray = append(next.stray, n.path)
	}
	return nil
}

// closed reports whether a folder, of which infos are looked at and the others at rest,
// holds the receipt of a request.
func (v *visit) closed(rel string, infos []Info, resting rest) bool {
	receipt := path.Join(rel, "receipt.json")
	if f, known := v.fam.File(v.run, receipt); !known || f.Kind != layout.KindReceipt {
		return false
	}
	_, rests := find(resting.docs, path.Join(v.run.Dir, receipt))
	return rests || slices.ContainsFunc(infos, func(info Info) bool { return info.Name == path.Base(receipt) })
}

// document looks at one document; if it may rest from now on, it is added to more. Those
// in the folder of a closed request may.
func (v *visit) document(n name, info Info, closed bool, more *rest) {
	v.sight(n.rel, info, true)
	if n.file.Writer == layout.Shared {
		v.share(n.path, info)
	}
	if n.path == v.run.State {
		v.s.memory.noteState(n.path)
		v.found.state = true
	}
	d, again := v.s.look(ask{path: n.path, file: n.file, at: v.s.memory.inside(v.folder, n.rel)}, info)
	v.found.gone = v.found.gone || d.Absent()
	v.add(d, again)
	if !v.long || !(n.file.Once || closed) || d.Err != nil || !again.IsZero() || !v.clock || racy(info, v.began) {
		return
	}
	if c := v.s.memory.bodies.get(n.path, identityOf(info)); c != nil {
		d.Parsed = new(engine.Parsed)
		more.docs, more.ids = append(more.docs, d), append(more.ids, identityOf(info))
		more.cost += len(c.body) + restCost
	}
}

// fewMore is the part of the documents at rest that may go on being looked at, so
// that one more does not move them all.
const fewMore = 64

// keep leaves a folder on its shelf, with more documents at rest.
func (v *visit) keep(rel string, sh *shelf, more rest) {
	if !v.long {
		return
	}
	if len(more.docs) > len(sh.rest.docs)/fewMore {
		grown := *sh
		grown.rest = sh.rest.with(more)
		grown.names = slices.DeleteFunc(slices.Clone(sh.names), func(n name) bool {
			_, rests := find(more.docs, n.path)
			return rests
		})
		sh = &grown
		v.s.memory.bodies.letGo(more.docs)
		v.s.memory.forget(v.folder, more.docs)
	}
	if v.next == nil {
		v.next = map[string]*shelf{}
	}
	v.next[rel] = sh
}

// with returns the documents at rest and more of them. Both are sorted.
func (r rest) with(more rest) rest {
	n := len(r.docs) + len(more.docs)
	all := rest{docs: make([]engine.Document, 0, n), ids: make([]identity, 0, n), cost: r.cost + more.cost}
	for len(r.docs) > 0 || len(more.docs) > 0 {
		from := &r
		if len(r.docs) == 0 || len(more.docs) > 0 && more.docs[0].Path < r.docs[0].Path {
			from = &more
		}
		all.docs, all.ids = append(all.docs, from.docs[0]), append(all.ids, from.ids[0])
		from.docs, from.ids = from.docs[1:], from.ids[1:]
	}
	all.at = make(map[uint64]int32, n)
	for i, id := range all.ids {
		all.at[id.inode] = int32(i)
	}
	return all
}

// stat describes a name in the run's folder.
func (v *visit) stat(rel string) (Info, error) {
	if !v.long {
		return v.s.fs.Stat(path.Join(v.run.Dir, rel))
	}
	if v.near == nil {
		v.near, v.done = v.s.below(v.run.Dir)
	}
	return v.near(rel)
}

func (v *visit) close() {
	if v.done != nil {
		v.done()
	}
}
