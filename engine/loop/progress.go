package loop

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

const (
	// mostProgressHz is how many times a second a volatile document is read at most.
	mostProgressHz = 2
	// firstProgress is how long after its first change a volatile document is read at the
	// latest: with further changes within the second this makes two reads.
	firstProgress = 500 * time.Millisecond
	// mostVolatile limits how many volatile documents are remembered.
	mostVolatile = 4096
)

// progress reads the volatile documents that changed while Watch runs, each a few times a
// second at most, and reports their content. It always reads the last content: a document
// is due again as soon as it changes after it was read. A change costs the reading of one
// file, and no pass. A run is marked only if its machine would act on the content: a
// threshold of its last plan is reached, or the content cannot be used any more, or can be
// used again.
//
// A nil *progress is for families without such documents.
type progress struct {
	*session
	every  time.Duration
	timers *timers // by path

	mu    sync.Mutex
	files map[string]*volatileFile // by path
	runs  map[string]*volatileRun  // by state document
}

// volatileFile is what is known of one volatile document.
type volatileFile struct {
	run     string
	pending bool      // the document must be read
	heard   time.Time // when it last changed
	at      time.Time // when it was last read
	sum     engine.Digest
	used    int
	bad     bool // the content cannot be used
}

// volatileRun is what the last pass of a run needs of its volatile documents.
type volatileRun struct {
	needed     []string                // the paths
	reads      map[string]volatileRead // by need
	thresholds []threshold
}

// threshold is a threshold of a plan. reached is true if it has had its run marked.
type threshold struct {
	engine.Threshold
	reached bool
}

// newProgress returns a reader for the volatile documents of a session, or nil if no family
// has any, and in Once.
func newProgress(s *session) *progress {
	if s.w == nil || len(s.l.volatile) == 0 {
		return nil
	}
	s.w.Volatile(func(p string) bool { _, ok := s.l.volatileAt(p); return ok })
	hz := min(max(s.l.o.ProgressHz, 0), mostProgressHz)
	if hz == 0 {
		hz = mostProgressHz
	}
	return &progress{
		session: s, every: time.Second / time.Duration(hz), timers: newTimers(),
		files: map[string]*volatileFile{}, runs: map[string]*volatileRun{},
	}
}

// volatileAt returns the run to which a volatile document belongs.
func (l *Loop) volatileAt(p string) (Found, bool) {
	for _, f := range l.volatile {
		run, ok := f.Layout.At(p)
		if rel, inside := strings.CutPrefix(p, run.Dir+"/"); ok && inside && layout.IsVolatile(f.Layout, run, rel) {
			return Found{run, f}, true
		}
	}
	return Found{}, false
}

// read reads documents when they are due, until the context ends.
func (p *progress) read(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now()
		for _, name := range p.timers.due(now) {
			p.readOne(name)
		}
		p.timers.sleep(ctx, now)
	}
}

// changed schedules documents that may have changed.
func (p *progress) changed(names ...string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		p.schedule(name)
	}
}

// schedule schedules the reading of a document. The caller holds the lock.
func (p *progress) schedule(name string) {
	v := p.file(name)
	if v == nil {
		return
	}
	now := time.Now()
	if v.heard = now; v.pending {
		return
	}
	at := v.at.Add(p.every)
	if at.Before(now) {
		at = now.Add(min(p.every, firstProgress))
	}
	v.pending = true
	p.timers.set(name, at)
}

// file returns what is known of a document, or nil if it belongs to no run that can move.
// The caller holds the lock.
func (p *progress) file(name string) *volatileFile {
	v := p.files[name]
	if v != nil {
		return v
	}
	f, ok := p.l.volatileAt(name)
	if !ok {
		return nil
	}
	if _, lv := p.registry.get(f.Run.State); lv == nil {
		return nil
	}
	for other, o := range p.files {
		if len(p.files) < mostVolatile {
			break
		}
		if !o.pending && !o.bad {
			delete(p.files, other)
		}
	}
	if len(p.files) >= mostVolatile {
		return nil // the scan will find the change
	}
	v = &volatileFile{run: f.Run.State}
	p.files[name] = v
	return v
}

// readOne reads a document, reports new content, and marks its run if the run must act on
// it.
func (p *progress) readOne(name string) {
	p.mu.Lock()
	v := p.files[name]
	if v == nil {
		p.mu.Unlock()
		return
	}
	v.pending, v.at = false, time.Now()
	state := v.run
	p.mu.Unlock()
	r, lv := p.registry.get(state)
	if lv == nil {
		return
	}
	f := p.registry.found(r)
	doc, again := p.l.o.Store.ReadVolatile(name)
	now, bad := f.progressOf(name, doc)

	p.mu.Lock()
	news := !bad && doc.Present() && doc.Sum != v.sum
	marks := bad != v.bad
	v.bad = bad
	if news {
		v.sum, v.used = doc.Sum, now.Used
		marks = p.reaches(state, name, now.Used) || marks
	}
	if !again.IsZero() {
		p.schedule(name)
	}
	p.mu.Unlock()
	if marks {
		p.queue.markHeard(state)
	}
	if news {
		for _, o := range p.l.o.Observers {
			o.Progressed(f.Run, name, now)
		}
	}
}

// progressOf returns the content of a volatile document, and whether it cannot be used. An
// absent document has no content, and is not bad.
func (f Found) progressOf(name string, doc engine.Document) (now engine.Progress, bad bool) {
	m, ok := f.Family.Machine.(engine.Progressing)
	if !ok || doc.Absent() {
		return engine.Progress{}, false
	}
	if doc.Err != nil {
		return engine.Progress{}, true
	}
	defer func() {
		// If the machine panics, Step will report it.
		if recover() != nil {
			now, bad = engine.Progress{}, true
		}
	}()
	now, err := m.ReadProgress(name, doc.Body)
	return now, err != nil
}

// unchanged returns a volatile document as the last pass of its run read it, if it has not
// changed since. ok is false if that is not known.
func (p *progress) unchanged(lv *activeRun, need string) (read volatileRead, ok bool) {
	name := strings.TrimPrefix(need, engine.VolatileNeed)
	if p == nil || !slices.Contains(lv.dirs, path.Dir(name)) {
		return read, false // changes in that folder are not reported
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.runs[lv.state]
	if r == nil {
		return read, false
	}
	if read, ok = r.reads[need]; !ok || !read.again.IsZero() {
		return read, false
	}
	v := p.files[name]
	return read, v == nil && len(p.files) < mostVolatile || v != nil && v.heard.Before(read.at)
}

// reaches reports whether a run must be marked because a document has reached one of its
// thresholds. The caller holds the lock.
func (p *progress) reaches(state, name string, used int) (marks bool) {
	r := p.runs[state]
	if r == nil {
		return false
	}
	for i := range r.thresholds {
		if t := &r.thresholds[i]; !t.reached && t.Path == name && used >= t.AtLeast {
			t.reached, marks = true, true
		}
	}
	return marks
}

// passed records what a pass has read of a run's volatile documents, and the thresholds of
// its plan. If a document was read again after the pass had read it, that content counts,
// and marks the run if the pass would have acted on it.
func (p *progress) passed(lv *activeRun, pass *pass) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lk, was := pass.last, p.runs[lv.state]
	r := &volatileRun{reads: pass.volatile}
	marks := false
	seen := map[string]int{}
	for _, doc := range volatileDocs(lk.snap.Docs) {
		name := strings.TrimPrefix(doc.Path, engine.VolatileNeed)
		r.needed = append(r.needed, name)
		now, bad := pass.f.progressOf(name, doc)
		read := pass.volatile[doc.Path]
		v := p.files[name]
		if v == nil && (bad || !read.again.IsZero()) {
			v = p.file(name)
		}
		seen[name] = now.Used
		switch {
		case v == nil:
		case v.at.After(read.at):
			marks = marks || v.bad != bad
		default:
			v.bad, v.used = bad, now.Used
		}
		if !read.again.IsZero() {
			p.schedule(name)
		}
	}
	for _, t := range lk.plan.Thresholds {
		next := threshold{Threshold: t}
		if was != nil {
			for _, before := range was.thresholds {
				next.reached = next.reached || before.Threshold == t && before.reached
			}
		}
		// The machine knows what the pass has read.
		next.reached = next.reached || seen[t.Path] >= t.AtLeast
		if v := p.files[t.Path]; !next.reached && v != nil && v.used >= t.AtLeast {
			next.reached, marks = true, true
		}
		r.thresholds = append(r.thresholds, next)
	}
	if delete(p.runs, lv.state); len(r.needed)+len(r.thresholds) > 0 {
		p.runs[lv.state] = r
	}
	if marks {
		p.queue.markHeard(lv.state)
	}
}

// volatileDocs returns the volatile documents among sorted ones.
func volatileDocs(docs []engine.Document) []engine.Document {
	from := sort.Search(len(docs), func(i int) bool { return docs[i].Path >= engine.VolatileNeed })
	to := sort.Search(len(docs)-from, func(i int) bool { return !strings.HasPrefix(docs[from+i].Path, engine.VolatileNeed) })
	return docs[from : from+to]
}

// poll schedules the documents that the last pass of a run needed, because a change may not
// have been reported.
func (p *progress) poll(state string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.runs[state]; r != nil {
		for _, name := range r.needed {
			p.schedule(name)
		}
	}
}

// pollAll is poll for every run.
func (p *progress) pollAll() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.runs {
		for _, name := range r.needed {
			p.schedule(name)
		}
	}
}

// drop forgets a run that has ended or is gone.
func (p *progress) drop(state string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, state)
	for name, v := range p.files {
		if v.run == state {
			delete(p.files, name)
			p.timers.drop(name)
		}
	}
}

// volatileRead is a volatile document as a pass has read it.
type volatileRead struct {
	doc   engine.Document
	at    time.Time // before it was read
	again time.Time // see [store.Store.ReadVolatile]
}

// readVolatile reads a volatile document once per pass. A pass over parts of the run does
// not read it if the previous pass knows it.
func (k *looker) readVolatile(need string) volatileRead {
	read, ok := k.volatile[need]
	if ok {
		return read
	}
	if k.heard != nil {
		read, ok = k.s.progress.unchanged(k.lv, need)
	}
	if !ok {
		name := strings.TrimPrefix(need, engine.VolatileNeed)
		read = volatileRead{at: time.Now()}
		if layout.Under(name, k.f.Run.Dir) && layout.IsVolatile(k.f.Family.Layout, k.f.Run, strings.TrimPrefix(name, k.f.Run.Dir+"/")) {
			read.doc, read.again = k.l.o.Store.ReadVolatile(name)
		} else {
			read.doc = engine.Document{Path: need, Err: fmt.Errorf("%s is no volatile document of the run", name)}
		}
	}
	if k.volatile == nil {
		k.volatile = map[string]volatileRead{}
	}
	k.volatile[need] = read
	return read
}
