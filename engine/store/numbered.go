package store

import (
	"path"
	"slices"
	"strings"

	"placet/engine/store/disk"
	"placet/engine/store/fs"
)

// isNumberTaken reports whether a folder in which the commit numbers a new document holds one
// that the last look has not found. A look is not atomic: it may have listed the folder before
// another placet wrote there, and read the other's count afterwards. The document would then
// be there twice, under two numbers.
func (s *committer) isNumberTaken(j *commit) bool {
	looked := map[string]bool{}
	for _, p := range j.writes {
		rel, inside := strings.CutPrefix(p.doc.Path, j.run.Dir+"/")
		if !inside || j.fam == nil || p.there || p.doc.Over != "" {
			continue
		}
		if file, _ := j.fam.File(j.run, rel); file.Numbered && !looked[path.Dir(rel)] {
			looked[path.Dir(rel)] = true
			if s.hasNew(j, path.Dir(rel)) {
				return true
			}
		}
	}
	return false
}

// hasNew reports whether a folder of the commit's run holds a document that the last look has
// not found.
func (s *committer) hasNew(j *commit, rel string) bool {
	at := path.Join(j.run.Dir, rel)
	tree := s.seen.Cache.Lock(j.run.State)
	defer tree.Unlock()
	e := tree.At(at)
	info, err := s.disk.FS.Stat(at)
	if tree.Look == 0 || err == nil && e != nil && e.Trusts(disk.IdentityOf(info)) {
		return false
	}
	names, err := s.disk.List(at)
	return err != nil || slices.ContainsFunc(names, func(name fs.Name) bool {
		_, known := j.fam.File(j.run, path.Join(rel, name.Name))
		return known && (e == nil || e.Child(name.Name) == nil)
	})
}
