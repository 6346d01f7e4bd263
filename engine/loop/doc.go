// Package loop looks at a run, asks its machine for a plan, makes the plan durable,
// begins its actions, and looks again until nothing is left to do.
//
//	for {
//		facts, documents := read        // never the other way round
//		plan := machine.Step(snapshot)
//		if the plan needs more          { add it, look again; four rounds at most }
//		if plan is empty                { wait for a file, or for plan.Wake }
//		if the run has locks            { take them, look again }
//		commit; notify; begin actions
//	}
//
// It is level-triggered. Events, timers and scans only put runs into a queue, which does
// not record why a run is queued (for sparse families it records where to look, and the
// scan looks everywhere), so lost, doubled and reordered events change nothing.
//
// Watch has one of each: a registry of all runs, in which a run that can move has an
// active part (registry.go); a queue of the marked runs, and the timers that mark runs
// (workqueue.go); the reasons why a marked run waits (wait.go); the errors that hold runs
// up (errorlog.go); and a scan that compares every run within a minute (scan.go). At the
// start every run is admitted and marked like one that appears later; its first pass is
// skipped if the stored record of the run still holds (admit.go).
//
// Once is the same session without events (once.go): it walks, gives every run its passes
// until no file of it is being written any more, and ends when a round has moved nothing.
// It gets no events, so it follows no folder and looks at all of a run.
//
// The rules:
//
//   - One pass per run at a time; many runs side by side.
//   - A pass ends when its plan is empty, or after 64 steps: then the run is in
//     the queue again. A run is stuck when its machine wants the same step once more
//     after 64 times, with no empty plan in between and no document changed by
//     anybody else: that is a bug of its machine, logged once. The run takes one
//     more step a minute later, or when its files change.
//   - A plan whose transition is not a row of the table is never carried out.
//   - An action begins after the commit of the plan that holds it, and once per
//     process. The end of an action without an outcome document is a fact of this
//     process: [Loop.ActionEnded] has its run looked at again.
//   - A plan that depends on what the runs of a family know of one another, and
//     changes what they know, waits for the family's turn and is made once more:
//     what one run takes, no other does.
//   - While git rewrites the tree nothing is decided.
//   - A document that a surface of this process submits is seen by the next look as if it were
//     there, and is the first write of that look's plan. If no pass can take it now, it is given
//     back, and written as any editor would write it.
//   - An error leads to another look later, with the wait doubling up to a
//     minute, and is logged once per cause, not once per look.
//   - A final run keeps no documents and at most one watch, because its state document
//     may still change. Only the newest final runs have a watch, as many as can be
//     spared; the others are compared by stat every minute.
//   - Watch first, then look: see [placet/engine/watch].
//   - A pass over a run of a sparse family ([layout.Sparse]) looks at the folders that
//     have changed, and at files that have not settled. If the cause of the mark does not
//     say where (a scan, changed facts, an error, git), the pass looks at the whole run.
package loop
