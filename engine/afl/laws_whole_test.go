package afl

import (
	"maps"
	"testing"

	"placet/engine/run"
	"placet/internal/enginetest"
)

// wholeCases have checkpoints in every status at once. They begin where another placet was killed.
func wholeCases(t *testing.T) []enginetest.Case {
	files := everyStatus(t)
	from := func(name string, steps ...enginetest.Step) enginetest.Case {
		c := newCase(name, all, steps...)
		c.Files = maps.Clone(files)
		return c
	}
	return []enginetest.Case{
		from("all redefined", redesigns(approvedHead, redefinedAll()...), stands(Escalated), restamps(redefinedAll()...),
			stands(Delegating, "done=in_progress", "asks=in_progress", "stuck=in_progress", "next=pending")),
		from("all removed", redesigns(approvedHead, cp{id: "new"}), restamps(cp{id: "new"}),
			stands(Delegating, "done=completed", "works=aborted", "judged=aborted", "again=aborted", "asks=aborted", "stuck=aborted", "next=aborted", "new=in_progress")),
		from("all aborted", wants(run.WantAbort),
			stands(Aborted, "done=completed", "works=aborted", "judged=aborted", "again=aborted", "asks=aborted", "stuck=aborted", "next=aborted")),
	}
}

// all is a design with one checkpoint for every status.
var all = []cp{{id: "done"}, {id: "works"}, {id: "judged"}, {id: "again"}, {id: "asks"}, {id: "stuck"}, {id: "next", after: []string{"works"}}}

func redefinedAll() []cp {
	list := make([]cp, len(all))
	for i, c := range all {
		c.expected = "another"
		list[i] = c
	}
	return list
}

// everyStatus is a session with a checkpoint in every status.
func everyStatus(t *testing.T) enginetest.Tree {
	w := approvedWorld(t, all...)
	w.Facts.Config.Family = lawConfig(nil)
	w.untilBegun()
	w.trust()
	w.passOnce("done")
	w.done("judged")
	w.failOnce("again", "FAILED a.py::b\n")
	w.Write("delegations/asks/pending-question.json", `{"timestamp": "2025-12-06T18:00:00Z", "checkpoint": "asks", "question": "Which way?"}`)
	w.done("stuck")
	w.settle()
	w.validated("stuck", outcome{exit: 127, stderr: "no such tool\n"})
	w.settle()
	w.status(Escalated, "done=completed", "works=in_progress", "judged=validating", "again=retrying", "asks=waiting_for_human", "stuck=escalated", "next=pending")
	return w.Files
}
