// Package engine holds the types that all families share.
//
// A family's machine is a pure function. It gets a [Snapshot] of one run (its
// documents, those it needs from elsewhere, the kernel's facts, the time) and
// returns a [Plan]: what to write, what to remove, what to do, and when to call it
// again. The loop around it is always the same:
//
//	for {
//		snapshot := load(run)              // the documents as they are now
//		plan := machine.Step(snapshot)     // pure: no files, no clock
//		if plan.Needs names what the snapshot lacks { load it and step again }
//		if plan.Empty() { wake at plan.Wake, or when a file changes; return }
//		commit(plan)                       // two rounds of fsync, state last
//		begin(plan.Actions)                // attempts recorded before
//	}
//
// The rules that every implementation keeps:
//
//   - Files are the record. A machine keeps nothing between two steps.
//   - Equal snapshots give equal plans, byte for byte: no clock, no randomness,
//     no map order, no goroutine inside.
//   - A transition becomes fact by one durable write of the run's state
//     document. Every other file is an output: it follows from the state, not from
//     the step that led there, so placet finds that it is missing and writes it again.
//   - Every transition is a row of the machine's table. The first transition of a
//     plan is the step; the others happen in the same commit.
//   - Bad input moves nothing. placet writes a problem note about it, and removes the
//     note with its cause.
package engine
