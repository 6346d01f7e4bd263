package faber

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"sync"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// history is what the files of a run's events/ say. It is a function of those
// documents alone, shared between looks, and never changed.
type history struct {
	files []eventFile // sorted by name
	// events are those that can be used, in numeric order.
	events []*event
	// marked are those of them that placet wrote or that name a request.
	marked []*event
	// highest is the highest number that a file has, readable or not.
	highest int
	bad     func() []string
}

// eventFile is one file of events/ by all that decides what is read from it.
type eventFile struct {
	path, kind string
	sum        engine.Digest
	present    bool // it can be read
	settled    bool
	number     int
	event      *event // nil for what is none
}

// fileOf is a document of events/, not decoded yet.
func fileOf(d *engine.Document) eventFile {
	return eventFile{path: d.Path, kind: d.Kind, sum: d.Sum, present: d.Present(), settled: !d.Unsettled()}
}

// same reports whether two files are one: what is read from them is the same.
func (f eventFile) same(other eventFile) bool {
	return f.path == other.path && f.sum == other.sum && f.kind == other.kind && f.present == other.present && f.settled == other.settled
}

// isEvent reports whether a document of events/ may be an event.
func isEvent(d *engine.Document) bool {
	return d.Kind == layout.FaberEvent || d.Kind == layout.FaberBadEvent
}

// historyOf reads the documents of events/, sorted by name. What an earlier history
// of the run holds of them is not decoded again.
func historyOf(docs []engine.Document, before *history) *history {
	h := &history{files: make([]eventFile, 0, len(docs))}
	var old []eventFile
	if before != nil {
		old = before.files
	}
	all := true // of before, and nothing else
	for i := range docs {
		d := &docs[i]
		if !isEvent(d) {
			continue
		}
		f := fileOf(d)
		for len(old) > 0 && old[0].path < f.path {
			old, all = old[1:], false
		}
		if len(old) > 0 && old[0].same(f) {
			f, old = old[0], old[1:]
		} else {
			f.decode(d)
			f.share(h.files)
			all = false
		}
		h.files = append(h.files, f)
	}
	if all && before != nil && len(old) == 0 {
		return before
	}
	h.fold()
	return h
}

// decode reads the event in a file.
func (f *eventFile) decode(d *engine.Document) {
	name := path.Base(d.Path)
	f.number, _, _ = layout.FaberEventName(name)
	if d.Kind != layout.FaberEvent || !d.Present() {
		return
	}
	if f.event = decodeEvent(*d); f.event != nil {
		f.event.Name, f.event.Number = name, f.number
	}
}

// share has an event hold the same texts as the one before it, where they are equal.
func (f *eventFile) share(before []eventFile) {
	if f.event == nil || len(before) == 0 || before[len(before)-1].event == nil {
		return
	}
	e, other := f.event, before[len(before)-1].event
	for _, s := range [][2]*string{
		{&e.Type, &other.Type}, {&e.RunID, &other.RunID}, {&e.Phase, &other.Phase}, {&e.Step, &other.Step},
		{&e.Status, &other.Status}, {&e.User, &other.User}, {&e.Source, &other.Source},
	} {
		if *s[0] == *s[1] {
			*s[0] = *s[1]
		}
	}
}

// fold gathers what a step asks for.
func (h *history) fold() {
	h.events = make([]*event, 0, len(h.files))
	for i := range h.files {
		f := &h.files[i]
		h.highest = max(h.highest, f.number)
		if f.event != nil {
			h.events = append(h.events, f.event)
		}
	}
	if less := func(i, j int) bool { return h.events[i].Number < h.events[j].Number }; !sort.SliceIsSorted(h.events, less) {
		sort.SliceStable(h.events, less)
	}
	for _, e := range h.events {
		if e.Metadata.Placet != (mark{}) || e.Metadata.RequestID != "" {
			h.marked = append(h.marked, e)
		}
	}
	h.bad = sync.OnceValue(h.unusable)
}

// unusable are the files that cannot be used, sorted by name, and why.
func (h *history) unusable() []string {
	var bad []string
	for i, e := range h.events {
		if i > 0 && h.events[i-1].Number == e.Number {
			bad = append(bad, e.Name+": has the number of "+h.events[i-1].Name)
		}
	}
	for _, f := range h.files {
		if f.event == nil && f.settled {
			bad = append(bad, fmt.Sprintf("%s: cannot be read as an event", path.Base(f.path)))
		}
	}
	sort.Strings(bad)
	return bad
}

// decodeEvent decodes one event, without its name and number. It is nil for what
// is none.
func decodeEvent(d engine.Document) *event {
	e := event{Sum: d.Sum}
	if schemas.Decode("faber/event", path.Base(d.Path), d.Body, &e) != nil {
		return nil
	}
	if len(e.Raw) > 0 {
		e.Metadata = decodeMetadata(e.Raw)
	}
	e.Raw = nil // it would keep the body
	return &e
}

// histories remembers what was read of runs with many events: equal documents give
// equal histories, and each look would decode them all again.
type histories struct {
	mu    sync.Mutex
	known map[string]*history // by the run's folder
	size  int                 // events in all of them
}

var remembered histories

const (
	// longHistory is how many events a run has at least that are remembered:
	// ten thousand runs with a few each would only fill the memory.
	longHistory = 64
	// mostRemembered bounds the events that are; then it begins anew.
	mostRemembered = 1 << 17
)

// of reads the documents of a run's events/.
func (m *histories) of(dir string, docs []engine.Document) *history {
	if len(docs) <= longHistory {
		return historyOf(docs, nil)
	}
	m.mu.Lock()
	before := m.known[dir]
	m.mu.Unlock()
	h := historyOf(docs, before)
	if h != before {
		m.keep(strings.Clone(dir), h)
	}
	return h
}

func (m *histories) keep(dir string, h *history) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.known[dir]; old != nil {
		m.size -= len(old.files)
	}
	if m.known == nil || m.size+len(h.files) > mostRemembered {
		m.known, m.size = map[string]*history{}, 0
	}
	m.known[dir] = h
	m.size += len(h.files)
}
