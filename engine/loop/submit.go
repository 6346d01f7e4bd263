package loop

import (
	"context"
	"errors"
	"path"
	"slices"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/watch"
)

// ErrNotSubmitted says that no pass of this process writes a document: whoever has it writes it as any
// editor would.
var ErrNotSubmitted = errors.New("no pass of this process writes the document")

// submission is a document that a surface of this process hands to a run. The next look at the run sees
// it as if it were there, and the plan of that look writes it, with everything that follows from it.
// So an answer is read, judged and made durable once, and no file event is waited for.
type submission struct {
	run *activeRun // to which it was handed
	doc engine.Document
	// judge returns why the document must not be written, given a look that sees it.
	judge func(engine.Snapshot, engine.Plan) error
	// ended receives nil once the document is durable, else why it was not written.
	ended chan error
}

// Submit has the next pass over a run write a document whose name is free, unless judge refuses the
// plan that follows from it. It returns nil once both are durable, judge's error, the error of the
// commit ([store.ErrConflict] if the name is taken), or ErrNotSubmitted: Watch does not run, git or
// an error holds the run up, or the context ended before a pass came to it.
func (l *Loop) Submit(ctx context.Context, f Found, doc engine.Document, judge func(engine.Snapshot, engine.Plan) error) error {
	g := &submission{doc: doc, judge: judge, ended: make(chan error, 1)}
	s := l.serving.Load()
	if _, held := l.o.Store.Paused(); held || s == nil || !s.registry.submit(f.Run.State, g) {
		return ErrNotSubmitted
	}
	s.markHeard(watch.Batch{Owners: []string{f.Run.State}, Heard: map[string][]string{f.Run.State: {path.Dir(doc.Path)}}})
	select {
	case err := <-g.ended:
		return err
	case <-ctx.Done():
		s.registry.returnSubmission(g)
		return <-g.ended // a commit that has it ends soon
	}
}

// submit hands a document to a run that can move; it returns false for another one.
func (b *registry) submit(state string, g *submission) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[state]
	if r == nil || r.active == nil {
		return false
	}
	g.run = r.active
	r.active.submitted = append(r.active.submitted, g)
	return true
}

// returnSubmission ends a document that no commit has.
func (b *registry) returnSubmission(g *submission) {
	if b.takeSubmission(g) {
		g.ended <- ErrNotSubmitted
	}
}

// firstSubmission returns the document that the next look at a run sees, nil for none.
func (b *registry) firstSubmission(lv *activeRun) *submission {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(lv.submitted) == 0 {
		return nil
	}
	return lv.submitted[0]
}

// takeSubmission takes a document from its run, and reports whether the run still had it.
func (b *registry) takeSubmission(g *submission) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(g.run.submitted, g)
	if i >= 0 {
		g.run.submitted = slices.Delete(g.run.submitted, i, i+1)
	}
	return i >= 0
}

// committed ends a document that a commit had. After a conflict the next look sees it again.
func (s *session) committed(g *submission, err error) {
	if !errors.Is(err, store.ErrConflict) || !s.registry.submit(g.run.state, g) {
		g.ended <- err
	}
}

// returnSubmissions ends the documents of a run that no pass writes soon.
func (s *session) returnSubmissions(lv *activeRun) {
	for g := s.registry.firstSubmission(lv); g != nil; g = s.registry.firstSubmission(lv) {
		s.registry.returnSubmission(g)
	}
}

// withSubmission adds to the documents of a look the first one that was submitted to the run, and returns
// it. A document whose name is taken is not written.
func (k *looker) withSubmission(snap engine.Snapshot) (engine.Snapshot, *submission) {
	if k.lv == nil {
		return snap, nil
	}
	for g := k.s.registry.firstSubmission(k.lv); g != nil; g = k.s.registry.firstSubmission(k.lv) {
		if snap.Doc(g.doc.Path).Absent() {
			return snap.With(g.doc), g
		}
		k.refuse(g, store.ErrConflict)
	}
	return snap, nil
}

// refuse ends a document that is not written.
func (k *looker) refuse(g *submission, why error) {
	if k.s.registry.takeSubmission(g) {
		g.ended <- why
	}
}

// admitsSubmission puts the document that a look has seen before everything that its plan writes. It
// returns false if the look must be made again without the document.
func (k *looker) admitsSubmission(lk *look) bool {
	if lk.submitted == nil {
		return true
	}
	if err := lk.submitted.judge(lk.snap, lk.plan); err != nil {
		k.refuse(lk.submitted, err)
		return false
	}
	lk.plan.Writes = slices.Concat([]engine.Document{lk.submitted.doc}, lk.plan.Writes)
	return true
}
