package loop

import (
	"time"

	"placet/engine"
	"placet/layout"
)

// Observer is told what a loop does. A function that is nil is not called, and none of them may
// wait for anything.
type Observer struct {
	// Moved is called for every transition after its commit.
	Moved func(run layout.Run, t engine.Transition)
	// Committed is called for every plan that was made durable, with how long that took.
	Committed func(run layout.Run, plan engine.Plan, took time.Duration)
	// Progressed is called in Watch with what a volatile document holds, after it changed: a
	// few times a second at most, with the last content in any case. path is relative to the
	// workspace.
	Progressed func(run layout.Run, path string, p engine.Progress)
	// Passed is called in Watch after every pass over a run, with how long it took, the waits
	// for locks included.
	Passed func(run layout.Run, took time.Duration)
}

// Observers are told in their order.
type Observers []Observer

func (all Observers) moved(run layout.Run, t engine.Transition) {
	for _, o := range all {
		if o.Moved != nil {
			o.Moved(run, t)
		}
	}
}

func (all Observers) committed(run layout.Run, plan engine.Plan, took time.Duration) {
	for _, o := range all {
		if o.Committed != nil {
			o.Committed(run, plan, took)
		}
	}
}

func (all Observers) progressed(run layout.Run, path string, p engine.Progress) {
	for _, o := range all {
		if o.Progressed != nil {
			o.Progressed(run, path, p)
		}
	}
}

func (all Observers) passed(run layout.Run, took time.Duration) {
	for _, o := range all {
		if o.Passed != nil {
			o.Passed(run, took)
		}
	}
}
