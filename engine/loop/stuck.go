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

// stuckWait is how long a stuck run waits before it takes one more step.
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

// step identifies a step: by its first transition, or if it has none by what it did to its
// first file.
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

// String describes the step in a few words.
func (s step) String() string {
	if s.file != "" {
		return s.does + " " + s.file
	}
	return fmt.Sprintf("%s %s: %q → %q", s.edge.Of, s.edge.Event, s.edge.From, s.edge.To)
}

// stepCounts counts the steps that a run took since its plan was last empty, and since
// somebody else last changed a document. A run that is answered quickly repeats the same
// steps, but each time because of another answer.
type stepCounts struct {
	steps map[step]int
	// own are the digests of what the last step wrote, by path; "" for a file that it
	// appended to or removed. It is nil until some step was repeated so often that changes
	// by others matter.
	own map[string]engine.Digest
	// others is the fingerprint of all other documents.
	others uint64
}

// seed is the seed of the fingerprints of this process.
var seed = maphash.MakeSeed()

// sumOthers returns a fingerprint of the documents without those that are left out, in any
// order.
func sumOthers(docs []engine.Document, leaveOut func(engine.Document) bool) (sum uint64) {
	for _, d := range docs {
		if !leaveOut(d) {
			sum += maphash.Comparable(seed, [2]string{d.Path, string(d.Sum)})
		}
	}
	return sum
}

// count records that a plan was carried out.
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

// expect records how the documents will look after a plan that was made from them, unless
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

// seen resets the counts if a document is not as the last step left it.
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

// stuck returns the error that the run is stuck. After a wait the run may take one more
// step, because the reason why it went in circles may be gone.
func (p *pass) stuck() error {
	err := &stuckError{p.f.Key(), maps.Clone(p.steps.steps)}
	p.steps.steps[stepOf(p.last.plan)]--
	return err
}

// circling reports whether a run was stuck and has not yet proved that it no longer is.
func (t *stepCounts) circling() bool {
	return t != nil && slices.Contains(slices.Collect(maps.Values(t.steps)), maxSteps)
}
