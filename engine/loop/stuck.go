package loop

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
)

// stuckWait is how long a run that is stuck waits before it takes one more step.
const stuckWait = time.Minute

// stuckError says that a machine goes in circles.
type stuckError struct {
	key   engine.Key
	steps map[step]int
}

func (s *stuckError) Error() string {
	kinds, steps := map[string]bool{}, 0
	for taken, times := range s.steps {
		kinds[taken.String()] = true
		steps += times
	}
	return fmt.Sprintf("%s is stuck: after %d steps its machine still wants another (a bug); they were: %s",
		s.key, steps, strings.Join(slices.Sorted(maps.Keys(kinds)), "; "))
}

// step tells one step from another: by its first transition, or by what it did to the
// first of the files where it has none.
type step struct {
	edge                engine.Edge
	subject, does, file string
}

func stepOf(plan engine.Plan) step {
	switch {
	case len(plan.Transitions) > 0:
		return step{edge: plan.Transitions[0].Edge, subject: plan.Transitions[0].Subject}
	case len(plan.Writes) > 0:
		return step{does: "wrote", file: plan.Writes[0].Path}
	case len(plan.Removes) > 0:
		return step{does: "removed", file: plan.Removes[0]}
	case len(plan.Lines) > 0:
		return step{does: "appended to", file: plan.Lines[0].Path}
	}
	return step{}
}

// String says in a few words what the step did.
func (s step) String() string {
	if s.file != "" {
		return s.does + " " + s.file
	}
	return fmt.Sprintf("%s %s: %q → %q", s.edge.Of, s.edge.Event, s.edge.From, s.edge.To)
}

// stepCounts are the steps that a run took since there was nothing to do, and since
// somebody else last changed a document. A run that is answered quickly takes the
// same steps again and again, but each time because of another answer.
type stepCounts struct {
	steps map[step]int
	// own are the digests of what the last step wrote, by path; "" for a file to
	// which it appended or which it removed. It is nil while no step was taken so
	// often that others' changes matter.
	own map[string]engine.Digest
	// others is the fingerprint of all other documents.
	others uint64
}

// seed makes the fingerprints of this process.
var seed = maphash.MakeSeed()

// sumOthers sums up the documents but those that are left out, in any order.
func sumOthers(docs []engine.Document, leaveOut func(engine.Document) bool) (sum uint64) {
	for _, d := range docs {
		if !leaveOut(d) {
			sum += maphash.Comparable(seed, [2]string{d.Path, string(d.Sum)})
		}
	}
	return sum
}

// count notes that a plan was carried out.
func (p *pass) count(plan engine.Plan) {
	if p.steps == nil {
		p.steps = &stepCounts{steps: map[step]int{}}
	}
	p.steps.steps[stepOf(plan)]++
	p.steps.own = nil
	if slices.Max(slices.Collect(maps.Values(p.steps.steps))) >= maxSteps/2 {
		p.steps.expect(plan, p.last.snap.Docs)
	}
}

// expect notes how the documents are after a plan that was made over them, unless
// somebody else changes one.
func (t *stepCounts) expect(plan engine.Plan, docs []engine.Document) {
	t.own = map[string]engine.Digest{}
	for _, d := range plan.Writes {
		t.own[d.Path] = engine.Sum(d.Body)
	}
	for _, l := range plan.Lines {
		t.own[l.Path] = ""
	}
	for _, removed := range plan.Removes {
		t.own[removed] = ""
	}
	t.others = sumOthers(docs, func(d engine.Document) bool {
		_, own := t.own[d.Path]
		return own
	})
}

// seen forgets the steps where a document is not as the last of them left it.
func (t *stepCounts) seen(docs []engine.Document) {
	if t == nil || t.own == nil {
		return
	}
	now := sumOthers(docs, func(d engine.Document) bool {
		own, is := t.own[d.Path]
		return is && (own == "" || own == d.Sum)
	})
	if now != t.others {
		t.steps, t.own = map[step]int{}, nil
	}
}

// times returns how often a step was taken.
func (t *stepCounts) times(s step) int {
	if t == nil {
		return 0
	}
	return t.steps[s]
}

// stuck says that the run is stuck. Once it has waited it may take one more step:
// what made it go in circles may be gone.
func (p *pass) stuck() error {
	err := &stuckError{p.f.Key(), maps.Clone(p.steps.steps)}
	p.steps.steps[stepOf(p.last.plan)]--
	return err
}

// circling reports whether a run was stuck and has not shown yet that it is not.
func (t *stepCounts) circling() bool {
	return t != nil && slices.Contains(slices.Collect(maps.Values(t.steps)), maxSteps)
}
