package afl

import (
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// fabrications are what others say to be completed in documents of their own. A rendering
// in the place of placet's is none: it may be from a time before placet.
func fabrications(r *session) (list []run.Fabrication) {
	if !r.run.Usable() || !r.run.Begun || isFinal(r.run.State.Status) {
		return nil
	}
	if asked := unansweredOf(r, ""); asked != "" && r.meta.Status == string(Completed) {
		list = append(list, run.Fabrication{
			Path: r.run.Path("meta.json"), Pointer: "/status", Says: r.meta.Status, Request: asked, Fact: run.Unanswered(asked),
		})
	}
	for _, id := range r.order {
		list = append(list, r.checkpoint(id).unbegunReports()...)
	}
	return list
}

// unansweredOf is the first open request of a checkpoint that nobody has begun to answer,
// of any where it is "".
func unansweredOf(r *session, id string) string {
	for _, q := range r.run.State.Requests {
		if q.Status == run.Open && (id == "" || string(q.Subject) == id) && r.run.IsUnanswered(q.ID) {
			return q.ID
		}
	}
	return ""
}

// unbegunReports find attempts that a worker completed before they began. One with a
// prompt may have begun before a crash, and a report that is older than the present state
// may be from a session that was begun anew.
func (cp *checkpoint) unbegunReports() (list []run.Fabrication) {
	r := cp.r
	if r.run.State.Last == nil {
		return nil
	}
	for _, d := range r.run.Snap.Under("delegations/" + cp.id + "/iterations") {
		_, n, _, ok := layout.AFLPlace(r.run.Snap.Rel(d.Path))
		if d.Kind != layout.AFLWorker || !ok || n <= cp.Iteration || !d.Changed.After(r.run.State.Last.At.Time()) || !r.run.Snap.In(cp.fileOf(n, "prompt.md")).Absent() {
			continue
		}
		if w := run.Peek[WorkerReport](d, "afl/worker"); w != nil && w.Status == string(Completed) {
			list = append(list, run.Fabrication{
				Path: d.Path, Pointer: "/status", Says: w.Status, Request: unansweredOf(r, cp.id),
				Fact: templates.NewMessage("afl.fabrication.attempt", "attempt", n, "checkpoint", cp.id),
			})
		}
	}
	return list
}
