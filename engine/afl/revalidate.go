package afl

import (
	"placet/engine/run"
)

// bases says of the checkpoints that depend on a reopened one whether they stand on what
// passed last. A checkpoint that a review reopens changes the base of what was built on
// it: that is validated again, in the order of the dependencies, before the next round.
type bases struct {
	r        *session
	reopened map[string]bool // by the round in hand
	known    map[string]*base
}

// base is what is known of one checkpoint.
type base struct {
	below bool // it depends on a reopened one, directly or not
	stale bool // a dependency ended after it did
	sound bool // it is over and not stale, and so is all that it depends on
}

// bases are those of the round in hand; nil while no round has reopened anything. One
// that became void since the design changed has reopened what it named all the same.
func (r *session) bases() *bases {
	return run.Once(r.Run, "bases", r.readBases)
}

func (r *session) readBases() *bases {
	v := r.State.Review
	if v == nil || v.Status != reopened && v.Status != void {
		return nil
	}
	b := &bases{r: r, reopened: map[string]bool{}, known: map[string]*base{}}
	for _, n := range v.Notes {
		if n.Severity == blockingSeverity {
			b.reopened[string(n.Checkpoint)] = true
		}
	}
	return b
}

// of is what is known of a checkpoint, worked out once.
func (b *bases) of(id string) *base {
	if known := b.known[id]; known != nil {
		return known
	}
	this, c := &base{}, b.r.checkpoint(id)
	b.known[id] = this // a circle ends here
	this.sound = c != nil && over(c.Status)
	if d := b.r.defs[id]; d != nil {
		for _, dep := range d.Dependencies {
			under, other := b.of(dep), b.r.checkpoint(dep)
			this.below = this.below || under.below || b.reopened[dep]
			this.sound = this.sound && under.sound
			this.stale = this.stale || c != nil && other != nil && other.Since.Revision > c.Since.Revision
		}
	}
	// What upstream completed before placet saw it has no attempt to validate.
	this.stale = this.stale && this.below && c != nil && c.Status == Completed && c.Iteration > 0
	this.sound = this.sound && !this.stale
	return this
}

// awaited are the dependencies that a completed checkpoint waits for before it is
// validated again; again is false where it is not.
func (b *bases) awaited(id string) (deps []string, again bool) {
	c, d := b.r.checkpoint(id), b.r.defs[id]
	if c == nil || d == nil || c.Status != Completed || c.Iteration == 0 {
		return nil, false
	}
	this := b.of(id)
	for _, dep := range d.Dependencies {
		if other := b.of(dep); (other.below || b.reopened[dep]) && !other.sound {
			deps = append(deps, dep)
		}
	}
	return deps, this.stale || len(deps) > 0
}

// explainRevalidation says what completed checkpoints wait for before they are validated
// again.
func (r *session) explainRevalidation(w *run.Waiting) {
	b := r.bases()
	if b == nil {
		return
	}
	for _, id := range r.order {
		deps, again := b.awaited(id)
		switch held := r.whyNothingStarts(); {
		case !again || w.Moving == id:
		case len(deps) > 0:
			w.Why("%s is completed, and is validated again once %s ended anew", id, few(deps)+map[bool]string{true: " has", false: " have"}[len(deps) == 1])
		case held != "":
			w.Why("%s is to be validated again: %s", id, held)
		default:
			w.Why("%s is to be validated again as soon as a slot is free (parallel_workers)", id)
		}
	}
}
