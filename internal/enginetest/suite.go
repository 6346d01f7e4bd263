package enginetest

import (
	"time"

	"placet/engine"
	"placet/layout"
)

// Suite is a family's machine with what the laws must know about it.
type Suite struct {
	Machine engine.Machine
	Layout  layout.Family
	// Config holds the settings; a case may change them.
	Config engine.Config
	// Final lists the statuses that are final, by what they are of ("run",
	// "step", …).
	Final map[string][]engine.Status
	// Start lists the statuses in which others put something into the
	// world, by what they are of. Rows of the table without From count too.
	Start map[string][]engine.Status
	// Foreign are the transitions that others make. They count when the
	// table is walked, and a machine must never make one.
	Foreign []engine.Edge
	// WaysOut are rows out of a final status that the family's page grants.
	WaysOut []engine.Edge
	// Persons are the events of the table that a person can cause: with an
	// answer, a signal, a verb. Empty means that the page names none.
	Persons []string
	// EveryRow asks that the cases take every row of the table between them.
	EveryRow bool
	// Asks are the types of request that the family asks. The cases ask all of them
	// between them; empty means that nobody counts.
	Asks []string
	// Lengths takes out of a tree how long something took, where the family
	// writes that down: a telling that waits longer writes longer times. nil:
	// it writes none. It may change the tree that it is given.
	Lengths func(Tree) Tree
	// PowerCut makes equal in a tree what the family's page lets a power cut
	// change; nil: nothing. It may change the tree that it is given.
	PowerCut func(Tree) Tree
	// Fault makes equal in a tree what the family's page lets a file change
	// that could not be read or written for a moment; nil: nothing.
	Fault func(Tree) Tree
	// everyCall has Crash and Errors try every file call of placet, those of the kernel
	// included: see [Suite.thorough].
	everyCall bool
	// everyKind has them try every kind of trouble at a call, not one after the other.
	everyKind bool
	// Speak sets the language in settings of the family's own; nil: it has none there.
	Speak func(conf *engine.Config, lang string)
	// Lookup answers needs that begin with "git:"; nil: nobody can.
	Lookup func(need string) engine.Document
	// Rows answers what a look into a database asks; nil: there are no rows.
	Rows func(path string, q engine.Query) []map[string]any
	// Database, if not nil, has the first word on what is asked of a database, whose
	// rows so far it is shown; nil: the question takes its usual way.
	Database func(q engine.Database, rows []engine.Row) *engine.Ended
	// After says what is wrong with a rest of a telling: its tree, and the rows that
	// were put into databases, by path, in their order; nil: nothing ever is. It is
	// asked after every crash too, so that it can count rows.
	After func(tree Tree, rows map[string][]engine.Row) error
	Cases []Case
}

// Case is one story: a workspace, and what others do to it.
type Case struct {
	Name string
	// Files is the workspace at first, by path.
	Files Tree
	// Now is when the story begins.
	Now time.Time
	// Config, if not nil, changes the suite's settings for this case.
	Config func(*engine.Config)
	// Trusted are the digests that the owner has agreed to.
	Trusted []engine.Digest
	Steps   []Step
	// TroubleFrom is the first step at whose calls there is trouble, 0 for the beginning:
	// another case of the suite shows what comes before it.
	TroubleFrom int
	// Notes says that the story ends with problem notes standing.
	Notes bool
}

// Step is what happens once the workspace has settled.
type Step struct {
	Name string
	// After is how much time passes before it.
	After time.Duration
	// Do changes the workspace as somebody else would. It must be a function
	// of the tree alone. nil: only time passes.
	Do func(Tree)
	// outside, if not nil, is what happens beside the documents; see [EndCommand].
	outside func(*outside, time.Time) (string, error)
}

// Write is the step in which somebody puts a file into place.
func Write(path, content string) Step {
	return Step{Name: "write " + path, Do: func(t Tree) { t[path] = content }}
}

// Remove is the step in which somebody removes a file.
func Remove(path string) Step {
	return Step{Name: "remove " + path, Do: func(t Tree) { delete(t, path) }}
}

// Pass is the step in which nothing happens but time.
func Pass(d time.Duration) Step { return Step{Name: "pass " + d.String(), After: d} }
