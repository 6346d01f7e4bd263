package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine/store/fs"
	"placet/engine/store/memfs"
)

// lab is the fault laboratory.
type lab struct {
	scenes []*scene
	// steps are the steps of the scenes that are run; nil: all.
	steps []int
	// wrap, if not nil, wraps the disk for the store: a mutant.
	wrap func(fs.FS) fs.FS
	// seed decides everything that is random, and the order of the work.
	seed uint64
	// until is when the laboratory stops, zero for never; most is after how many
	// schedules, zero for any number; enough is after how many failures.
	until  time.Time
	most   int64
	enough int
	failed atomic.Int64

	told     atomic.Int64
	mu       sync.Mutex
	failures []failure
}

// failure is a schedule with a wrong result, and what was wrong.
type failure struct {
	seed              uint64
	schedule, problem string
}

// newLab returns a laboratory that has run every scenario without trouble.
func newLab(all []*story, vs []variant, wrap func(fs.FS) fs.FS) (*lab, error) {
	l := &lab{wrap: wrap, enough: 20, seed: 1}
	for _, st := range all {
		for _, v := range vs {
			sc := &scene{story: st, variant: v}
			if err := l.plain(sc); err != nil {
				return nil, fmt.Errorf("%s/%s, told without trouble: %w", st.name, v.name, err)
			}
			l.scenes = append(l.scenes, sc)
		}
	}
	return l, nil
}

// plain runs a scenario without trouble, and with the words of others in between.
func (l *lab) plain(sc *scene) error {
	disk, record, at := memfs.New(nil), &memfs.Record{}, epoch
	disk.PutDir(".placet")
	for i := range sc.steps {
		sc.before, sc.starts, sc.records = append(sc.before, disk), append(sc.starts, at), append(sc.records, record)
		w := l.newWorld(sc, i)
		if err := w.take(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		sc.rests, sc.spoken = append(sc.rests, tree(w.disk)), append(sc.spoken, nil)
		disk, record, at = w.disk, w.record, w.clock.at.Add(wait)
		if sc.state == "" {
			continue
		}
		w = l.newWorld(sc, i)
		w.troubles = []trouble{{kind: "words", at: 1}}
		if err := w.take(); err != nil {
			return fmt.Errorf("step %d, with others: %w", i, err)
		}
		sc.spoken[i] = tree(w.disk)
	}
	return nil
}

// over reports whether the laboratory stops.
func (l *lab) over() bool {
	return l.failed.Load() >= int64(l.enough) || l.most > 0 && l.told.Load() >= l.most || !l.until.IsZero() && time.Now().After(l.until)
}

// fail notes a schedule with a wrong result.
func (l *lab) fail(s schedule, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed.Add(1)
	if len(l.failures) < l.enough {
		l.failures = append(l.failures, failure{l.seed, s.String(), problem})
	}
}

// tell runs a schedule from its beginning and returns what is wrong with the
// result, "" for nothing.
func (l *lab) tell(s schedule, trace io.Writer) string {
	l.told.Add(1)
	if len(s.troubles) > 0 && s.troubles[0].kind == byOrder {
		return l.ordered(s.sc, l.chance(s.troubles[0].at)).differs(l.ordered(s.sc, nil))
	}
	w := l.newWorld(s.sc, s.step)
	w.trace = trace
	rest := w.take
	for troubles := s.troubles; ; {
		n := 1 + slices.IndexFunc(troubles, trouble.crash)
		if n == 0 {
			n = len(troubles)
		}
		w.troubles, troubles = troubles[:n], troubles[n:]
		told := w.troubles
		err := rest()
		if !errors.Is(err, errDown) {
			problem := w.verdict(err, s.step)
			if problem == "" && s.onward {
				problem = w.later()
			}
			return problem
		}
		last := told[n-1]
		w = w.after(w.crashed, last.power())
		w.trace = trace
		rest = w.rest
		if trace != nil {
			fmt.Fprintf(trace, "%s\n%s", last, listing(w.disk))
		}
		if problem := w.kept(); last.power() && problem != "" {
			return problem
		}
	}
}

// listing returns the content of a disk for people.
func listing(disk *memfs.FS) string {
	text := ""
	disk.Each(func(name string, body []byte) { text += fmt.Sprintf("    %s: %.200q\n", name, body) })
	return text
}

// verdict returns what is wrong with a world that had to become idle.
func (w *world) verdict(err error, step int) string {
	if err != nil {
		return err.Error()
	}
	return w.judge(step)
}

// later runs the rest of the scenario and returns what is wrong with it.
func (w *world) later() string {
	if w.spoke {
		return ""
	}
	w.troubles = nil
	for w.step++; w.step < len(w.sc.steps); w.step++ {
		if problem := w.verdict(w.take(), w.step); problem != "" {
			return fmt.Sprintf("step %d, later: %s", w.step, problem)
		}
	}
	return ""
}
