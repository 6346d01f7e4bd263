// Package loop looks at a run, asks its machine what is to
// be done, has that made durable, begins what follows, and looks again until
// nothing is left to do.
//
//	for {
//		facts, documents := read        // never the other way round
//		plan := machine.Step(snapshot)
//		if plan needs what is lacking   { add it, look again; four rounds at most }
//		if plan is empty                { wait for a file, or for plan.Wake }
//		if the run has locks            { take them, look again }
//		commit; tell; begin actions
//	}
//
// It is level-triggered. Events, timers and scans only put runs into a queue; why a
// run is there is not kept (of sparse families where to look is, and the scan looks
// everywhere), so lost, doubled and reordered events change nothing.
//
// Watch has one of each: a registry of all runs, in which a run that can move has an
// active part (registry.go); a queue of the marked ones, and the moments at which runs
// are marked (workqueue.go); what keeps a marked run waiting (wait.go); the errors
// that hold runs up (errorlog.go); and a scan that compares every run within a minute
// (scan.go). At the start every run is admitted and marked like one that appears later;
// a pass ends before its first load where the stored record of the run still holds
// (admit.go).
//
// Once is the same session without events (once.go): it walks, gives every run its passes
// until no file of it is being written any more, and ends when a round has moved nothing.
// Nobody says there what happens, so it follows no folder and looks at all of a run.
//
// The rules:
//
//   - One pass per run at a time; many runs side by side.
//   - A pass ends when its plan is empty, or after 64 steps: then the run is in
//     the queue again. When the same step was taken 64 times, and once more is
//     wanted, without a pass that had nothing left to do and while nobody else
//     changed a document, the run is stuck: that is a bug of its machine, said
//     once. The run takes one more step a minute later, or when its files change.
//   - A plan whose transition is no row of the table is never carried out.
//   - An action begins after the commit of the plan that holds it, and once per
//     process. One without an outcome document ends as a fact: its run is looked
//     at again when [Loop.ActionEnded] hears of it.
//   - A plan that was made over what the runs of a family know of one another, and
//     changes what they know, waits for the family's turn and is made once more:
//     what one run takes up, no other does.
//   - While git rewrites the tree nothing is decided.
//   - An error leads to another look later, with the wait doubling up to a
//     minute, and is said once per cause, not once per look.
//   - Of a final run no documents are kept, and no more than one watch, of the newest
//     as many as can be spared: its state document may become another one. Of the
//     others a stat per minute tells.
//   - Watch first, then look: see [placet/engine/watch].
//   - Of a run of a sparse family ([layout.Sparse]) a pass looks at the folders in which
//     something was heard of, and at what was never settled. What marks it without saying
//     where (a scan, changed facts, an error, git) has all of it looked at.
package loop
