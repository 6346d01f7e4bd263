package exec

import (
	"os"
	"path"

	"placet/engine"
)

// Alive returns the IDs of the actions whose command runs at this moment, as
// far as what their placet recorded in the state folder tells, nil where there is
// none: each process is known by its id and start time. It is for those who only look, beside a daemon or
// without one; it touches nothing, and what it cannot read it leaves out. Where
// the system does not say when a process started it knows of none.
func Alive(state *os.Root) map[string]bool {
	alive := map[string]bool{}
	records(state, func(rec record) {
		if rec.runs() == nil {
			alive[rec.ID] = true
		}
	})
	return alive
}

// Stopped returns the actions that an orderly stop ended and that begin again with
// the next placet, for those who only look; see [Alive].
func Stopped(state *os.Root) map[string]engine.Ended {
	ended := map[string]engine.Ended{}
	records(state, func(rec record) {
		if rec.Stopped && rec.Outcome == "" {
			ended[rec.ID] = rec.ended(rec.Started)
		}
	})
	return ended
}

// records reads what is recorded, as far as it can be read.
func records(state *os.Root, each func(record)) {
	if state == nil {
		return
	}
	names, _ := folders(state) // those that were listed count
	for _, name := range names {
		if rec, err := readRecord(state, path.Join(actionsDir, name)); err == nil {
			each(rec)
		}
	}
}
