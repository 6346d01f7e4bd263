package enginetest

import (
	"errors"
	"time"

	"placet/engine"
	"placet/engine/store/memfs"
	"placet/layout"
)

// Suite is a family's machine with what the laws need to know about it.
type Suite struct {
	Machine engine.Machine
	Layout  layout.Family
	// Config holds the settings; a case may change them.
	Config engine.Config
	// Final lists the statuses that are final, by kind ("run", "step", …).
	Final map[string][]engine.Status
	// Start lists the statuses in which others create something, by kind. Rows of the
	// table without From count too.
	Start map[string][]engine.Status
	// Foreign are the transitions that others make. They count when the table is
	// walked, and a machine must never make one.
	Foreign []engine.Edge
	// WaysOut are rows that leave a final status with the permission of the family's page.
	WaysOut []engine.Edge
	// Persons are the events of the table that a person can cause with an answer, a
	// signal or a verb. Empty means that the page names none.
	Persons []string
	// EveryRow requires that the cases together take every row of the table.
	EveryRow bool
	// Asks are the types of request that the family asks. The cases together must ask
	// all of them; empty means that they are not counted.
	Asks []string
	// Lengths removes durations from a tree if the family writes them: an execution
	// that waits longer writes longer ones. nil: it writes none. It may change the
	// tree that it gets.
	Lengths func(Tree) Tree
	// PowerCut removes from a tree the differences that a power cut may make according
	// to the family's page; nil: none. It may change the tree that it gets.
	PowerCut func(Tree) Tree
	// Fault removes from a tree the differences that a file that could not be read or
	// written for a moment may make according to the family's page; nil: none.
	Fault func(Tree) Tree
	// everyCall lets Crash and Errors try every file call of placet, including those of
	// the kernel: see [Suite.thorough].
	everyCall bool
	// everyKind lets them try every kind of trouble at a call, instead of one in turn.
	everyKind bool
	// Speak sets the language in the family's own settings; nil: it has no such setting.
	Speak func(conf *engine.Config, lang string)
	// Lookup answers needs that begin with "git:"; nil: there is no answer.
	Lookup func(need string) engine.Document
	// Rows answers questions to a database; nil: there are no rows.
	Rows func(path string, q engine.Query) []map[string]any
	// Database, if not nil, is called first for an action for a database, with the
	// rows so far. If it returns nil, the action takes its usual way.
	Database func(q engine.Database, rows []engine.Row) *engine.Ended
	// After says what is wrong with an idle state of an execution, given its tree and
	// the rows that were put into databases, by path, in their order; nil: nothing
	// ever is. It is called after every crash too, so that it can count rows.
	After func(tree Tree, rows map[string][]engine.Row) error
	Cases []Case
}

// Case is one scenario: a workspace, and what others do to it.
type Case struct {
	Name string
	// Files is the initial workspace, by path.
	Files Tree
	// Now is when the scenario begins.
	Now time.Time
	// Config, if not nil, changes the suite's settings for this case.
	Config func(*engine.Config)
	// Trusted are the digests that the owner has agreed to.
	Trusted []engine.Digest
	// Agree adds what the owner has agreed to as the workspace is, and what has changed since;
	// nil: nothing.
	Agree func(Tree, *engine.Environment)
	Steps []Step
	// TroubleFrom is the first step in which calls have trouble, 0 for the beginning:
	// another case of the suite covers the steps before it.
	TroubleFrom int
	// Notes says that the scenario ends with open problem notes.
	Notes bool
}

// Step is what happens after the workspace has settled.
type Step struct {
	Name string
	// After is how much time passes before the step.
	After time.Duration
	// Do changes the workspace as somebody else would. It must be a function of the
	// tree alone. nil: only time passes.
	Do func(Tree)
	// Outcome says that Do writes the outcome of an action: placet's runner writes it, so it
	// is recorded as what this machine wrote.
	Outcome bool
	// outside, if not nil, is the part of the step besides the documents; see [EndCommand].
	outside func(*outside, time.Time) (string, error)
}

// record records what the step has written if it is the outcome of an action.
func (s Step) record(r *memfs.Record, l layout.Family, before, after Tree) error {
	if !s.Outcome {
		return nil
	}
	for _, p := range after.Paths() {
		run, ok := l.At(p)
		if content, there := before[p]; !ok || there && content == after[p] {
			continue
		}
		docs := []engine.Document{{Path: p, Body: []byte(after[p])}}
		if err := errors.Join(r.Issue(run.Dir, docs), r.Confirm(run.Dir, docs)); err != nil {
			return err
		}
	}
	return nil
}

// Write is the step in which somebody puts a file in place.
func Write(path, content string) Step {
	return Step{Name: "write " + path, Do: func(t Tree) { t[path] = content }}
}

// Remove is the step in which somebody removes a file.
func Remove(path string) Step {
	return Step{Name: "remove " + path, Do: func(t Tree) { delete(t, path) }}
}

// Pass is the step in which only time passes.
func Pass(d time.Duration) Step { return Step{Name: "pass " + d.String(), After: d} }
