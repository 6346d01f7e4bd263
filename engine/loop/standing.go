package loop

import (
	"context"
	"math"
	"time"

	"placet/engine"
)

// Standing is how the runs that Watch serves stand at one moment.
type Standing struct {
	// Families are those of the loop, by name.
	Families map[string]Count
	// Holding are the errors that hold runs up, one for each cause, and Unlisted
	// says that there are folders in which runs may lie and that cannot be listed.
	Holding  []error
	Unlisted bool
}

// Count counts the runs of a family. Each is counted in one of Waiting, HeldUp,
// Live and Final.
type Count struct {
	// HeldUp cannot go on because of an error; of the others Waiting wait for a
	// person, and Live for anything else.
	Waiting, HeldUp, Live, Final int
	// Requests is the number of open requests, Oldest when the oldest of them
	// was made; zero where there is none.
	Requests int
	Oldest   time.Time
}

// Standing counts the runs. It reads no file and keeps no pass waiting: what the
// passes share is held for a few runs at a time. Without a Watch under way there
// are none.
func (l *Loop) Standing() Standing {
	st := Standing{Families: map[string]Count{}}
	counts := make([]Count, len(l.o.Families))
	s := l.serving.Load()
	if s != nil {
		var held map[string]string
		held, st.Holding = l.errors.standing(math.MaxInt)
		_, st.Unlisted = held[walking]
		s.registry.tally(counts, held)
	}
	for i, f := range l.o.Families {
		st.Families[f.Layout.Name()] = counts[i]
	}
	return st
}

// HeldUp returns why runs cannot go on, by the path of their state document. Of many
// it names so many at most.
func (l *Loop) HeldUp(most int) map[string]string {
	held, _ := l.errors.standing(most)
	delete(held, walking)
	return held
}

// add counts one run; lv is nil where it is final.
func (c *Count) add(lv *activeRun, held bool) {
	if lv == nil {
		c.Final++
		return
	}
	status := lv.status
	switch {
	case held:
		c.HeldUp++
	case status.Waiting:
		c.Waiting++
	default:
		c.Live++
	}
	c.Requests += status.Open
	if at := status.Asked; !at.IsZero() && (c.Oldest.IsZero() || at.Before(c.Oldest)) {
		c.Oldest = at
	}
}

// timed is run, and tells the observers how long it took.
func (p *pass) timed(ctx context.Context) result {
	began := time.Now()
	r := p.run(ctx)
	p.l.o.Observers.passed(p.f.Run, time.Since(began))
	return r
}

// durable has a plan made durable, and tells the observers how long it took.
func (p *pass) durable(plan engine.Plan) error {
	began := time.Now()
	err := p.l.o.Store.Commit(p.f.Run, p.f.Family.Layout, plan)
	if err == nil {
		p.l.o.Observers.committed(p.f.Run, plan, time.Since(began))
	}
	return err
}
