package store

import (
	"errors"
	"os"
	"path"
	"slices"
	"strconv"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/read"
	"placet/engine/store/statcache"
	"placet/layout"
	"placet/templates"
)

// committer makes plans durable.
type committer struct {
	disk      *disk.Disk
	seen      *read.Seen
	record    Record // nil remembers nothing
	temps     *temps
	syncer    *syncer
	swapper   *swapper
	queue     queue
	leftovers leftovers
}

// fileWrite is one document that a commit writes.
type fileWrite struct {
	commit *commit
	doc    engine.Document
	// old describes the file that was under the name when it was compared, nil if there
	// was none. sure says that a later change would show in stat.
	old  *fs.Info
	sure bool
	// tried: the name was once assumed to be free without a stat.
	tried bool
	// there: the file already holds these bytes; they only need to be durable.
	there bool
	// isNew: the name must be free, even if the same bytes are there.
	isNew bool
	// journal: the file is an append-only one whose bytes need to be durable.
	journal bool
	run     string // the run of the journal
	// temp is the temporary name that holds the content, "" before it is written and
	// after it has its name.
	temp string
	// file is the open temporary file until its content is synced; nil before and after.
	file fs.File
	// written: the content is durable. placed: the content has its name.
	written, placed bool
	// again: the content is written once more, although its own fsync did not fail.
	again bool
	// info describes the new file.
	info fs.Info
	// displaced is the content that the state document was exchanged with; it keeps its
	// temporary name until the commit is durable.
	displaced *disk.Content
	err       error
}

// commit is one plan while it goes through the rounds.
type commit struct {
	run     layout.Run
	fam     layout.Family // set for the commit of a plan
	writes  []*fileWrite  // in the order of the plan, the state document last
	removes []string
	lines   []engine.Line   // one for each journal
	all     bool            // take the journals of all runs
	dirs    map[string]bool // folders to sync before the commit is durable
	made    map[string]bool // folders known to exist
	err     error
	done    chan struct{} // closed when the rounds have ended
}

// Commit makes a plan's writes, removals and lines durable; its transitions are fact
// when it returns nil. Plans that are ready together share two rounds of fsync. It
// returns ErrConflict if the workspace is not what the plan was made over, ErrStopped,
// or the error that kept a file from being written, which may pass. Files that got their
// names before an error stay: the run needs them anyway.
//
// Lines are appended after the state document is durable and made durable with
// the run's next commit, by Finish, or by Flush.
func (s *Store) Commit(run layout.Run, fam layout.Family, p engine.Plan) error {
	return s.committer.commit(newCommit(run, fam, p))[0]
}

// newCommit returns a plan's commit.
func newCommit(run layout.Run, fam layout.Family, p engine.Plan) *commit {
	j := &commit{run: run, fam: fam, removes: p.Removes, lines: joinLines(p.Lines)}
	for _, doc := range p.Writes {
		j.writes = append(j.writes, &fileWrite{doc: doc})
	}
	slices.SortStableFunc(j.writes, func(a, b *fileWrite) int { return a.order() - b.order() })
	return j
}

// order is 1 for the state document, which comes last, and 0 for all others.
func (p *fileWrite) order() int {
	if p.doc.Kind == engine.KindState {
		return 1
	}
	return 0
}

// Write makes one document durable outside a plan. If Over is "", the file must not
// exist: Write accepts one with the same bytes, and returns ErrConflict for any
// other.
func (s *Store) Write(doc engine.Document) error {
	return s.committer.commit(&commit{writes: []*fileWrite{{doc: doc}}})[0]
}

// Create makes a document durable under a name that must be free: it returns ErrConflict
// even if the same bytes are there. If several callers create it at once, one succeeds.
func (s *Store) Create(doc engine.Document) error {
	return s.committer.commit(&commit{writes: []*fileWrite{{doc: doc, isNew: true}}})[0]
}

// Flush makes durable the lines of journals that commits have left for the next commit.
// It must be called before placet ends.
func (s *Store) Flush() error { return s.committer.commit(&commit{all: true})[0] }

// commit takes commits through their rounds and returns the error of each.
func (s *committer) commit(commits ...*commit) []error {
	var batch []*commit
	for _, j := range commits {
		if j.err = s.admit(j); j.err != nil {
			continue
		}
		release := s.attribute(j)
		defer release()
		if j.err == nil {
			batch = append(batch, j)
		}
	}
	if len(batch) > 0 {
		s.queue.enter(batch, s.rounds)
	}
	errs := make([]error, len(commits))
	for i, j := range commits {
		errs[i] = j.err
	}
	return errs
}

// admit prepares a commit for its rounds, or returns why it cannot go through them.
func (s *committer) admit(j *commit) error {
	if s.syncer.stopped.Load() {
		return ErrStopped
	}
	j.dirs, j.made, j.done = map[string]bool{}, map[string]bool{}, make(chan struct{})
	for _, p := range j.writes {
		p.commit = j
	}
	return j.valid()
}

// valid refuses paths that lead out of the workspace, which no plan may hold.
func (j *commit) valid() error {
	paths := append(j.targets(), j.removes...)
	for _, p := range paths {
		if !layout.Safe(p) || path.Clean(p) != p || layout.IsTemp(path.Base(p)) {
			return templates.Errorf("store.write.path", "file", strconv.Quote(p))
		}
	}
	return nil
}

// prepare compares the present files with those that the plan was made over, before
// anything is written, and makes the missing folders.
func (s *committer) prepare(j *commit) {
	if !j.replacesState() && s.isBeingRemoved(j) {
		j.err = moved(j.run.State)
		return
	}
	journals, err := s.syncer.newJournals(j)
	if err != nil {
		j.err = err
		return
	}
	j.writes = slices.Concat(s.syncer.takePendingJournals(j), journals, j.writes)
	for _, p := range j.writes {
		if j.err = s.compare(p); j.err == nil && s.syncer.hasFailedSync(p) {
			j.err = s.syncer.writeAnew(p, nil)
		}
		if j.err != nil {
			return
		}
	}
	if s.isNumberTaken(j) {
		j.err = moved(j.run.State)
		return
	}
	for _, name := range j.targets() {
		if j.err = s.folder(j, path.Dir(name)); j.err != nil {
			return
		}
	}
}

// replacesState reports whether the commit replaces the state document, and so compares
// it.
func (j *commit) replacesState() bool {
	return slices.ContainsFunc(j.writes, func(p *fileWrite) bool { return p.doc.Kind == engine.KindState && p.doc.Over != "" })
}

// targets returns the names that the commit writes.
func (j *commit) targets() []string {
	var names []string
	for _, p := range j.writes {
		if !p.journal {
			names = append(names, p.doc.Path)
		}
	}
	for _, l := range j.lines {
		names = append(names, l.Path)
	}
	return names
}

// compare compares a write with the file that is under its name now.
func (s *committer) compare(p *fileWrite) error {
	if p.journal {
		return nil
	}
	if p.doc.Kind == engine.KindState {
		if err := s.swapper.bringBack(p.doc.Path); err != nil {
			return err
		}
	}
	there, withLF, err := s.present(p)
	if err != nil {
		return err
	}
	switch {
	case p.isNew && there != "":
		return moved(p.doc.Path)
	case there == engine.Sum(p.doc.Body):
		p.there, p.doc.Over = true, there
	case there == p.doc.Over:
	case withLF != "" && withLF == p.doc.Over: // the plan was made over this, as it was read
		p.doc.Over = there
	default:
		return moved(p.doc.Path)
	}
	return nil
}

func moved(name string) error {
	return templates.Errorf("store.write", "file", name, "error", ErrConflict)
}

// present returns the digest of the file under a name, "" if there is none, and the
// digest that it has with LF for every CR LF. A file that the last look read and that
// still looks the same is not read again. A file that the look did not find is not
// looked for, because the rename refuses to create a name that exists.
func (s *committer) present(p *fileWrite) (there, withLF engine.Digest, err error) {
	kept, isFree := s.lastSeen(p)
	if isFree && !p.tried {
		p.tried = true
		return "", "", nil
	}
	g := s.disk.NewGrain()
	info, err := s.disk.FS.Stat(p.doc.Path)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", nil
	}
	if err == nil && kept.HasBytes() && kept.Trusts(disk.IdentityOf(info)) {
		p.old, p.sure = &info, true
		return kept.Doc.Sum, "", nil
	}
	g.IsRacy(info) // before it is read
	c, err := contentUnder(s.disk, p.doc.Path)
	if !c.IsRead() {
		return "", "", err
	}
	p.old, p.sure = &c.Info, !g.IsRacy(c.Info)
	return c.Digest(), c.WithLF().Digest(), err
}

// lastSeen returns what the last look has seen under a file's name. isFree says that it
// found nothing there and that the plan expects nothing.
func (s *committer) lastSeen(p *fileWrite) (kept statcache.Entry, isFree bool) {
	run := p.commit.run
	if run.State == "" {
		return kept, false
	}
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	if e := tree.At(p.doc.Path); e != nil {
		return *e, false
	}
	return kept, tree.Look != 0 && p.doc.Over == "" && layout.Under(p.doc.Path, run.Dir)
}

// contentUnder is contentOf for a name that a commit is about to write. It returns no
// content if there is no file, and ErrConflict if others are writing it.
func contentUnder(d *disk.Disk, name string) (disk.Content, error) {
	c, err := d.ContentOf(name)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, engine.ErrAbsent):
		return disk.Content{}, nil
	case errors.Is(err, engine.ErrUnsettled):
		return disk.Content{}, moved(name)
	}
	return disk.Content{}, templates.Errorf("store.write", "file", name, "error", err)
}

// folder makes a folder and those above it, and notes which folders must be synced for
// the new ones to be durable: the name of each is in the folder above.
func (s *committer) folder(j *commit, dir string) error {
	if j.made[dir] || dir == "." {
		return nil
	}
	if looked, found := s.seen.LastLook(j.run, dir); looked && found && j.run.State != "" {
		return nil // if it went since, nothing can be written there
	}
	there, err := s.disk.IsFolder(dir)
	if err != nil {
		return templates.Errorf("store.folder", "file", dir, "error", err)
	}
	if there {
		j.made[dir] = true
		return nil
	}
	if j.owns(dir) && !s.canMakeDir(j, dir) {
		return moved(dir)
	}
	if err := s.folder(j, path.Dir(dir)); err != nil {
		return err
	}
	err = s.disk.FS.Mkdir(dir, modeOf(layout.IsRequestDir(dir), 0o777))
	if errors.Is(err, os.ErrNotExist) {
		return moved(dir)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return templates.Errorf("store.folder", "file", dir, "error", err)
	}
	j.made[dir] = true
	j.dirs[path.Dir(dir)] = true
	return nil
}

// renameCommit renames a commit's contents to their names, in order, and removes the
// files that the plan removes. It ends at the first name that others have changed. If
// the run is being removed, it takes back the files that it has created so far.
func (s *committer) renameCommit(j *commit) {
	s.renameAll(j)
	if slices.ContainsFunc(j.writes, (*fileWrite).created) && !j.hasReplacedState() && s.isBeingRemoved(j) {
		s.takeBack(j)
	}
}

// created reports whether a write has made a file under a name that was free.
func (p *fileWrite) created() bool { return p.placed && p.doc.Over == "" }

// hasReplacedState reports whether the commit has replaced the state document.
func (j *commit) hasReplacedState() bool {
	return slices.ContainsFunc(j.writes, func(p *fileWrite) bool { return p.placed && p.doc.Kind == engine.KindState })
}

// takeBack removes the files that a commit has created in a run that is being removed.
// Otherwise the folder could not be removed, or would hold only these files.
func (s *committer) takeBack(j *commit) {
	for _, p := range j.writes {
		if !p.created() || p.info.Inode == 0 {
			continue
		}
		info, err := s.disk.FS.Stat(p.doc.Path)
		if err == nil && info.Device == p.info.Device && info.Inode == p.info.Inode && info.Size == p.info.Size && info.Modified.Equal(p.info.Modified) {
			_ = s.disk.FS.Remove(p.doc.Path)
		}
		p.placed = false
	}
	j.err = moved(j.run.State)
}

func (s *committer) renameAll(j *commit) {
	for _, p := range j.writes {
		if p.placed {
			continue
		}
		if j.err = s.rename(p); j.err != nil {
			return
		}
		p.placed = true
		if !p.journal {
			j.dirs[path.Dir(p.doc.Path)] = true
		}
	}
	for _, name := range j.removes {
		switch err := s.disk.FS.Remove(name); {
		case err == nil:
			s.forgetOwn(j.run, name)
			j.dirs[path.Dir(name)] = true
		case !errors.Is(disk.Unusable(name, err), engine.ErrAbsent):
			j.err = templates.Errorf("store.remove", "file", name, "error", err)
			return
		}
	}
}

// rename gives one content its name.
func (s *committer) rename(p *fileWrite) error {
	switch {
	case p.there, p.journal:
		return nil
	case p.doc.Over == "":
		return s.create(p)
	case p.doc.Kind == engine.KindState:
		return s.swapper.swap(p)
	}
	return s.swapper.replace(p)
}

// create gives a content a name that must be free or hold the same bytes.
func (s *committer) create(p *fileWrite) error {
	err := s.disk.FS.Rename(p.temp, p.doc.Path, fs.Exclusive)
	if errors.Is(err, os.ErrExist) {
		if err := s.compare(p); err != nil {
			return err
		}
		if p.there {
			p.info = fs.Info{} // not our file; cleanUpAndAppend removes ours
			return s.syncer.syncFile(p)
		}
		return moved(p.doc.Path) // it came and went
	}
	return s.swapper.renamed(p, err)
}

// replace gives a content the name of the document that it was made over. Only placet
// writes such a document, so comparing the present content is enough.
func (s *swapper) replace(p *fileWrite) error {
	if err := s.checkUnmoved(p); err != nil {
		return err
	}
	return s.renamed(p, s.disk.FS.Rename(p.temp, p.doc.Path, fs.Replace))
}

// checkUnmoved compares the file under the name again, by its times alone if they are
// sure.
func (s *swapper) checkUnmoved(p *fileWrite) error {
	info, err := s.disk.FS.Stat(p.doc.Path)
	if err == nil && p.sure && disk.IdentityOf(info) == disk.IdentityOf(*p.old) {
		return nil
	}
	c, err := contentUnder(s.disk, p.doc.Path)
	if err == nil && (!c.IsRead() || c.Digest() != p.doc.Over) {
		err = moved(p.doc.Path)
	}
	return err
}

// renamed ends a rename: it frees the temporary name, or returns the error.
func (s *swapper) renamed(p *fileWrite, err error) error {
	if err == nil {
		s.temps.freeTemp(p.temp)
		p.temp = ""
		return nil
	}
	if errors.Is(err, os.ErrNotExist) { // the folder went away
		return moved(p.doc.Path)
	}
	return templates.Errorf("store.write", "file", p.doc.Path, "error", err)
}
