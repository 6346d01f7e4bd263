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
	// Summarize reads as much of a state document as is needed to know whether the run
	// can move.
	Summarize(state []byte) Summary
}

// Classed is a machine for which a run's class changes what its state document means: a
// run that nobody drives, for example.
type Classed interface {
	Machine
	// SummarizeClass is Summarize for a run of a class. state is nil if there is no
	// usable state document. ok is false if Summarize applies.
	SummarizeClass(class string, state []byte) (p Summary, ok bool)
}

// Summary is a short summary of a state document.
type Summary struct {
	Status  Status
	Final   bool // nothing but a new state document can move the run
	Waiting bool // a person is asked
	// Open is the number of open requests. Asked is when the oldest of them was made, in
	// UTC; zero if the document does not say.
	Open  int
	Asked time.Time
	// Touched is true for a run that placet has moved. One of its outputs may be missing
	// after a crash, and a step finds that.
	Touched bool
}

// Ask counts an open request. at is when it was made, zero if unknown.
func (p *Summary) Ask(at time.Time) {
	p.Waiting, p.Open = true, p.Open+1
	if at = at.UTC(); !at.IsZero() && (p.Asked.IsZero() || at.Before(p.Asked)) {
		p.Asked = at
	}
}
