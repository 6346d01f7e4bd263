package store

import (
	"path"
	"slices"
	"sort"
	"strings"

	"placet/engine"
)

// documents are those of one look: single ones, and blocks of those that are
// taken over from an earlier look as they were, each sorted by path.
type documents struct {
	single []engine.Document
	blocks [][]engine.Document
	over   bool           // the run's own are all there
	run    int            // so many of single are they, sorted
	extra  map[string]int // path → index in single, of those after them
}

// smallBlock is the number of documents that are no block of their own.
const smallBlock = 32

// spareDocs is room for facts that are added to many documents, so that these need
// not be copied once more.
const spareDocs = 8

// take takes over documents of an earlier look, sorted by path.
func (ds *documents) take(block []engine.Document) {
	if len(block) < smallBlock {
		ds.single = append(ds.single, block...)
		return
	}
	ds.blocks = append(ds.blocks, block)
}

// walked says that the run's own documents are all there.
func (ds *documents) walked() {
	slices.SortFunc(ds.blocks, func(a, b []engine.Document) int { return strings.Compare(a[0].Path, b[0].Path) })
	// No block reaches into the next one.
	apart := ds.blocks[:0]
	for _, b := range ds.blocks {
		if n := len(apart); n > 0 && apart[n-1][len(apart[n-1])-1].Path > b[0].Path {
			ds.single = append(ds.single, b...)
			continue
		}
		apart = append(apart, b)
	}
	ds.blocks = apart
	sortDocs(ds.single)
	ds.run, ds.over = len(ds.single), true
}

func sortDocs(docs []engine.Document) {
	slices.SortFunc(docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
}

// folders are those of the documents that were taken over.
func (ds *documents) folders() []string {
	dirs := make([]string, len(ds.blocks))
	for i, b := range ds.blocks {
		dirs[i] = path.Dir(b[0].Path)
	}
	return dirs
}

// find returns where a path is in sorted documents.
func find(docs []engine.Document, p string) (int, bool) {
	i := sort.Search(len(docs), func(i int) bool { return docs[i].Path >= p })
	return i, i < len(docs) && docs[i].Path == p
}

// has reports whether a document was looked at.
func (ds *documents) has(p string) bool {
	if _, ok := ds.extra[p]; ok {
		return true
	}
	if _, ok := find(ds.single[:ds.run], p); ok {
		return true
	}
	return slices.ContainsFunc(ds.blocks, func(b []engine.Document) bool { _, ok := find(b, p); return ok })
}

// add takes a document in. Before walked, none comes twice. After it, of two
// looks at one file the one that says more about its stillness stands.
func (ds *documents) add(d engine.Document) {
	if !ds.over {
		ds.single = append(ds.single, d)
		return
	}
	i, twice := ds.extra[d.Path]
	if !twice {
		i, twice = find(ds.single[:ds.run], d.Path)
	}
	switch {
	case twice && d.Unsettled():
		ds.single[i] = d
	case twice, !d.Unsettled() && ds.has(d.Path):
	default:
		if ds.extra == nil {
			ds.extra = map[string]int{}
		}
		ds.extra[d.Path] = len(ds.single)
		ds.single = append(ds.single, d)
	}
}

// sorted returns all documents by path. Of two with the same path the single
// one stands.
func (ds *documents) sorted() []engine.Document {
	sortDocs(ds.single)
	single := ds.single
	if len(ds.blocks) == 0 {
		return slices.Clip(single)
	}
	size := len(single) + spareDocs
	for _, b := range ds.blocks {
		size += len(b)
	}
	all := make([]engine.Document, 0, size)
	for _, b := range ds.blocks {
		for len(b) > 0 && len(single) > 0 {
			i, both := find(b, single[0].Path)
			all = append(all, b[:i]...)
			if b = b[i:]; both {
				b = b[1:]
			}
			if len(b) == 0 {
				break
			}
			n, _ := find(single, b[0].Path)
			all = append(all, single[:n]...)
			single = single[n:]
		}
		all = append(all, b...)
	}
	return append(all, single...)
}
