package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/watch"
)

// index returns the index of a family, nil where there is none.
func (l *Loop) index(family string) *index { return l.related[family] }

// errUnrelated says why the need for other runs is not answered.
var errUnrelated = errors.New("the runs of this family do not know of one another (a bug)")

// tellRuns is the document that answers a run's need for the others. Where it is
// unsettled, again is when to ask again. sure asks for entries that were compared
// with the files a moment ago.
func (l *Loop) tellRuns(f Found, sure bool) (d engine.Document, again time.Time, err error) {
	x := l.index(f.Run.Family)
	if x == nil {
		return engine.Document{Path: engine.NeedRuns, Err: errUnrelated}, time.Time{}, nil
	}
	if err := x.ready(sure); err != nil {
		return d, again, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slot(f.Run)
	x.hears(sl, false) // it does now
	if again, unknown := x.unknown(); unknown {
		x.hears(sl, true)
		sl.unsure = true
		return engine.Document{Path: engine.NeedRuns, Err: engine.ErrUnsettled}, again, nil
	}
	if err := x.relate(); err != nil {
		return d, again, err
	}
	x.hears(sl, true)
	sl.told = x.answers[f.Run.ID]
	return engine.Document{Path: engine.NeedRuns, Body: sl.told, Sum: engine.Sum(sl.told)}, time.Time{}, nil
}

// withRuns adds what the run must know of the others to the documents, where it is
// needed.
func (k *looker) withRuns(docs []engine.Document, needs []string, loaded *store.Loaded) ([]engine.Document, error) {
	if !needsRuns(needs) {
		return docs, nil
	}
	doc, again, err := k.l.tellRuns(k.f, k.sure)
	if err != nil {
		return nil, err
	}
	if at := loaded.Again; !again.IsZero() && (at.IsZero() || again.Before(at)) {
		loaded.Again = again
	}
	return insert(docs, doc), nil
}

// Entries returns what the runs of a family say of themselves for the others, by
// id. It waits a little for files that are being written; where they still are,
// the error is engine.ErrUnsettled and names them, and their runs are left out. A
// family whose runs need not know of one another is an error. Nothing is written.
func (l *Loop) Entries(family string) (map[string][]byte, error) {
	x := l.index(family)
	if x == nil {
		return nil, fmt.Errorf("cannot tell of the runs of %q: %w", family, errUnrelated)
	}
	var waited time.Duration
	for {
		if err := x.ready(true); err != nil {
			return nil, err
		}
		entries, writing := x.entries()
		if len(writing) == 0 {
			return entries, nil
		}
		if waited >= settleWait {
			return entries, fmt.Errorf("cannot tell of all runs of %s: %q: %w", family, writing, engine.ErrUnsettled)
		}
		if err := l.o.Pause(context.Background(), settlePoll); err != nil {
			return entries, err
		}
		waited += settlePoll
	}
}

// writing are the files that keep a run from knowing of the others.
func (l *Loop) writing(f Found) []string {
	_, writing := l.index(f.Run.Family).entries()
	return writing
}

// suspect calls into question what the watcher says that may be another one.
func (l *Loop) suspect(b watch.Batch) {
	for _, x := range l.related {
		x.suspect(b.Owners...)
		if b.Lost {
			x.doubt()
		}
	}
}

// walked tells every index which runs there are.
func (l *Loop) walked(found []Found, hides func(string) bool) {
	for _, x := range l.related {
		x.walked(found, hides)
		if err := x.refresh(); err != nil {
			l.o.Log.Debug("cannot look at what others must know of a run", "err", err)
		}
		x.settle()
	}
}

// renew is walked, and has every entry compared again before anybody is answered.
func (l *Loop) renew(found []Found, hides func(string) bool) {
	for _, x := range l.related {
		x.walked(found, hides)
		x.doubt()
	}
}

// comparePart compares the part of all runs whose turn it is.
func (l *Loop) comparePart(part float64) {
	for _, x := range l.related {
		x.part(part)
	}
}
