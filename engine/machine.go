package engine

import "time"

// Machine is one family. All methods are pure; the table never changes.
type Machine interface {
	// Family returns the family's name, the first part of its runs' keys.
	Family() string
	// Edges returns the transition table.
	Edges() []Edge
	// Step returns what to do next for one run.
	Step(Snapshot) (Plan, error)
	// Account returns one run as people see it.
	Account(Snapshot) RunView
	// Summarize reads as much of a state document as it takes to tell whether the run can
	// move.
	Summarize(state []byte) Summary
}

// Classed is a machine for which a run's class changes what its state document means: a
// run that nobody drives, for example.
type Classed interface {
	Machine
	// SummarizeClass is Summarize for a run of a class. state is nil where no state document can
	// be used. ok is false where Summarize applies.
	SummarizeClass(class string, state []byte) (p Summary, ok bool)
}

// Summary is a short summary of a state document.
type Summary struct {
	Status  Status
	Final   bool // nothing but a new state document can move the run
	Waiting bool // a person is asked
	// Open is the number of open requests. Asked is when the oldest of them was made,
	// in UTC; zero where the document does not say.
	Open  int
	Asked time.Time
	// Touched is true for a run that placet has moved: after a crash an output may be
	// missing, which a step finds.
	Touched bool
}

// Ask counts an open request, made at a moment or the zero time.
func (p *Summary) Ask(at time.Time) {
	p.Waiting, p.Open = true, p.Open+1
	if at = at.UTC(); !at.IsZero() && (p.Asked.IsZero() || at.Before(p.Asked)) {
		p.Asked = at
	}
}
