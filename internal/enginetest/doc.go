// Package enginetest holds the laws of placet as tests: one suite, run for every family. A
// family's test declares its scenarios,
//
//	func suite() enginetest.Suite {
//		return enginetest.Suite{
//			Machine: faber.New(), Layout: layout.Faber{}, Config: …,
//			Final: map[string][]engine.Status{"run": {"completed", "cancelled"}},
//			Cases: []enginetest.Case{{
//				Name:  "approved",
//				Files: enginetest.Tree{".fractary/…/state.json": …},
//				Now:   time.Date(2025, 12, 6, 18, 0, 0, 0, time.UTC),
//				Steps: []enginetest.Step{enginetest.Write(".fractary/…/response.json", …)},
//			}},
//		}
//	}
//
//	func TestLaws(t *testing.T)        { enginetest.Run(t, suite()) }
//	func TestCrash(t *testing.T)       { enginetest.Crash(t, suite()) }
//	func TestErrors(t *testing.T)      { enginetest.Errors(t, suite()) }
//	func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, suite()) }
//
// and the real store and the real loop run them, on a disk in memory whose time passes
// only when the scenario says so; on a real disk for what only real file events show.
//
// Commands run until a step of the scenario puts their outcome in place, or ends those that
// have none ([EndCommand]), also across a restart. Databases outlive every crash too: an
// added row is done, or present if it was there already. How an action without an outcome
// ended is a fact of the process, which a restart loses; [Suite].After counts the rows.
//
// The scenarios that a family's page numbers are run step by step, at a [Desk]: with the
// same store, loop and laws, and with turns that no list of steps can take.
//
// # The laws
//
// Laws of the table: rows are complete and distinct; no row leaves a final status, unless
// the family's page grants it; every status can be reached; from every status a final one
// can be reached, and a person can move things on.
//
// Laws of every step: equal snapshots give equal plans, byte for byte, and remain
// unchanged; every transition is a row of the table and comes with a write of the state
// document; a final run does not move; no file of another writer is written or removed,
// and nothing outside the run's folder; a write names the content that it replaces; one
// plan does one thing to one path; a plan that wants nothing does not ask to be woken in
// the past; what a person sees is a function of the snapshot.
//
// Laws of every idle state, when a run has settled (which it must, within a bound): time
// alone changes nothing before the moment that the machine named, and a clock that is set
// back changes nothing; an answer to a request that does not exist, that is closed, or that
// is not the one of its folder, moves nothing; every option of an open request says what
// choosing it does; a folder of the run that others make next is followed before it is there. At
// the end of a scenario every end of an action has been forgotten.
//
// Laws of every execution: the same scenario ends in the same tree, times aside
// ([Tree.Normal] defines that), with a crash or an error at any file call, with one worker
// or eight, with or without restarts, with all file events or half of them.
package enginetest
