package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// settling is how long a form must be unchanged before it counts.
const settling = 120 * time.Millisecond

// duel is placet and the two kinds of floor in one measurement.
type duel struct {
	*site
	files, whole *rival // fsync of every file; syncfs
	shape        shape
}

// duel sets up so many answers for each side.
func (b *bench) duel(answers, completed, events int) (*duel, error) {
	s, err := b.open("placet", answers+1, completed, events)
	if err != nil {
		return nil, err
	}
	d := &duel{site: s}
	if d.shape, err = s.learn(answers); err != nil {
		return nil, err
	}
	if d.files, err = b.beside("floor-fsync", answers, d.shape, false); err != nil {
		return nil, err
	}
	d.whole, err = b.beside("floor-syncfs", answers, d.shape, true)
	return d, err
}

func (d *duel) end() error {
	for _, close := range []func() error{d.close, d.files.close, d.whole.close} {
		if err := close(); err != nil {
			return err
		}
	}
	return nil
}

// turns answers run by run, each side in turn, so that all three meet the same disk.
func (d *duel) turns(n int) (placet, files, whole times, err error) {
	for i := range n {
		for _, side := range []struct {
			site *site
			p    *program
			into *times
		}{{d.site, d.daemon, &placet}, {&d.files.site, d.files.floor, &files}, {&d.whole.site, d.whole.floor, &whole}} {
			took, err := side.site.answer(i, side.p)
			if err != nil {
				return nil, nil, nil, err
			}
			*side.into = append(*side.into, took)
		}
	}
	return placet, files, whole, nil
}

// cheaper returns the floor with the smaller median.
func cheaper(a, b times) (times, string) {
	if a.median() <= b.median() {
		return a, "fsync"
	}
	return b, "syncfs"
}

// oneAnswer is S1: one answer at a time.
func (b *bench) oneAnswer() error {
	d, err := b.duel(b.answers, 10, 5)
	if err != nil {
		return err
	}
	placet, files, whole, err := d.turns(b.answers)
	if err != nil {
		return err
	}
	floor, kind := cheaper(files, whole)
	b.table.note("S1", "a transition writes", fmt.Sprintf("%d × %d B", len(d.shape), d.shape.bytes()/len(d.shape)))
	b.table.ratio("S1", "answer → durable transition, p50 (floor: "+kind+")", placet.median(), floor.median(), 1.3)
	b.table.ratio("S1", "answer → durable transition, p99", placet.at(0.99), floor.at(0.99), 3)
	return d.end()
}

// oneForm is S2: a form saved by an editor, measured from the end of the settling time.
func (b *bench) oneForm() error {
	d, err := b.duel(b.forms, 10, 5)
	if err != nil {
		return err
	}
	var placet times
	for i := range b.forms {
		took, err := d.tick(i)
		if err != nil {
			return err
		}
		placet = append(placet, took-settling)
	}
	files, whole, err := d.floors(b.forms)
	if err != nil {
		return err
	}
	floor, kind := cheaper(files, whole)
	b.table.ratio("S2", "form → durable transition, p50 (floor: "+kind+")", placet.median(), floor.median(), 1.3)
	return d.end()
}

// floors lets only the floors answer.
func (d *duel) floors(n int) (files, whole times, err error) {
	for i := range n {
		took, err := d.files.answer(i, d.files.floor)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, took)
		if took, err = d.whole.answer(i, d.whole.floor); err != nil {
			return nil, nil, err
		}
		whole = append(whole, took)
	}
	return files, whole, nil
}

// tick answers the n-th run in its form as editors save: the new content is
// renamed over the old.
func (s *site) tick(n int) (time.Duration, error) {
	name := filepath.Join(s.root, s.request(n), "form.md")
	body, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	ticked := strings.NewReplacer("- [ ] approve", "- [x] approve", "- [ ] submit", "- [x] submit").Replace(string(body))
	if ticked == string(body) {
		return 0, fmt.Errorf("cannot measure: %s has no items to tick", name)
	}
	if err := os.WriteFile(name+"~", []byte(ticked), 0o644); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := os.Rename(name+"~", name); err != nil {
		return 0, err
	}
	m, err := s.daemon.next()
	return m.at.Sub(began), err
}

// burstOfAnswers is S3: many answers at once.
func (b *bench) burstOfAnswers() error {
	d, err := b.duel(b.burst, 10, 5)
	if err != nil {
		return err
	}
	var rates []float64
	for _, side := range []struct {
		site *site
		p    *program
	}{{d.site, d.daemon}, {&d.files.site, d.files.floor}, {&d.whole.site, d.whole.floor}} {
		took, err := side.site.burst(b.burst, side.p)
		if err != nil {
			return err
		}
		rates = append(rates, float64(b.burst)/took.Seconds())
	}
	floor, kind := rates[1], "fsync"
	if rates[2] > floor {
		floor, kind = rates[2], "syncfs"
	}
	b.table.rate("S3", fmt.Sprintf("burst of %d answers (floor: %s)", b.burst, kind), rates[0], floor, 0.6)
	return d.end()
}

// burst answers n runs as fast as files can be renamed, and waits until all have moved.
func (s *site) burst(n int, p *program) (time.Duration, error) {
	type staged struct{ from, to string }
	var all []staged
	for i := range n {
		from, to, err := s.stage(i)
		if err != nil {
			return 0, err
		}
		all = append(all, staged{from, to})
	}
	began := time.Now()
	for _, a := range all {
		if err := os.Rename(a.from, a.to); err != nil {
			return 0, err
		}
	}
	var last time.Time
	seen := map[string]bool{}
	for len(seen) < n {
		m, err := p.next()
		if err != nil {
			return 0, err
		}
		seen[m.run], last = true, m.at
	}
	return last.Sub(began), nil
}

// growth is S4: one answer among few and among many runs, and with a short and
// with a long history. Each pair is measured one after the other, the small one
// again at the end.
func (b *bench) growth() error {
	n := b.answers / 3
	few, err := b.medianAnswer(n, 10, 10)
	if err != nil {
		return err
	}
	runs, err := b.medianAnswer(n, b.runs, 10)
	if err != nil {
		return err
	}
	events, err := b.medianAnswer(min(n, 10), 10, b.events)
	if err != nil {
		return err
	}
	again, err := b.medianAnswer(n, 10, 10)
	if err != nil {
		return err
	}
	few = (few + again) / 2
	b.table.ratio("S4", fmt.Sprintf("one answer: %d runs against 10, p50", b.runs), runs, few, 1.2)
	b.table.ratio("S4", fmt.Sprintf("one answer: %d events against 10, p50", b.events), events, few, 1.5)
	return nil
}

// medianAnswer is S1's median without a floor.
func (b *bench) medianAnswer(answers, completed, events int) (time.Duration, error) {
	s, err := b.open("placet", answers, completed, events)
	if err != nil {
		return 0, err
	}
	var all times
	for i := range answers {
		took, err := s.answer(i, s.daemon)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return all.median(), s.close()
}
