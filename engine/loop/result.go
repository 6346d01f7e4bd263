package loop

import "time"

// outcome is how a pass ends.
type outcome uint8

const (
	// idle: there is nothing to do, until a moment or a change.
	idle outcome = iota
	// later: there is something to do, after a moment.
	later
	// more: there is more to do now; other runs go first.
	more
	// failed: an error keeps the run from going on.
	failed
)

// result is what came of a pass.
type result struct {
	outcome outcome
	// at is when to look at the run again if nothing happens before; zero: never.
	at  time.Time
	err error // of failed
}
