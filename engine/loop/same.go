package loop

import (
	"errors"
	"maps"
	"reflect"
	"slices"

	"placet/engine"
)

// again steps the machine, unless the run is as it was at the pass's look before:
// equal snapshots give equal plans, and time alone changes nothing before Wake. So
// a look under the run's locks, or after a folder was followed, costs no decision.
// The snapshot is then that of the moment at which the plan was made.
func (k *looker) again(snap engine.Snapshot) (engine.Snapshot, engine.Plan, error) {
	if was := k.stepped; was != nil && alike(was.snap, snap) && (was.plan.Wake.IsZero() || snap.Now.Before(was.plan.Wake)) {
		return was.snap, was.plan, nil
	}
	plan, err := k.step(snap)
	k.stepped = nil
	if err == nil {
		k.stepped = &stepped{snap, plan}
	}
	return snap, plan, err
}

// stepped is a snapshot and what the machine made of it.
type stepped struct {
	snap engine.Snapshot
	plan engine.Plan
}

// alike reports whether two snapshots of one run differ in their time alone, and
// not by a clock that went back.
func alike(a, b engine.Snapshot) bool {
	return !b.Now.Before(a.Now) && a.Class == b.Class && a.Dir == b.Dir &&
		slices.Equal(a.Needs, b.Needs) && slices.EqualFunc(a.Docs, b.Docs, sameDocument) && sameFacts(a.Facts, b.Facts)
}

// sameFacts compares what a machine may look at besides the documents.
func sameFacts(a, b engine.Environment) bool {
	return maps.Equal(a.Alive, b.Alive) && maps.Equal(a.Trusted, b.Trusted) &&
		maps.EqualFunc(a.Ended, b.Ended, sameEnd) && reflect.DeepEqual(a.Config, b.Config)
}

// sameEnd compares two ends of one action. It ends once in a process, but what was
// forgotten may be asked for again.
func sameEnd(a, b engine.Ended) bool { return reflect.DeepEqual(a, b) }

// sameDocument compares contents by their digests.
func sameDocument(a, b engine.Document) bool {
	return a.Path == b.Path && a.Kind == b.Kind && a.Sum == b.Sum && a.Changed.Equal(b.Changed) &&
		slices.Equal(a.Known, b.Known) && a.Source == b.Source && sameError(a.Err, b.Err)
}

// sameError takes two errors for the same where that is beyond doubt.
func sameError(a, b error) bool {
	for _, e := range []error{engine.ErrAbsent, engine.ErrUnsettled} {
		if errors.Is(a, e) && errors.Is(b, e) {
			return true
		}
	}
	return a == nil && b == nil
}
