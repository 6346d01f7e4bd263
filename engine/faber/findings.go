package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
)

// findings are what check reports: problems first, then deviations. o is the request that
// the state asks, nil where it asks none.
func (r *view) findings(o *open) []engine.Finding {
	const otherID = "/run_id: %s is not the run's path %s: the path counts"
	const number = "/work_id is a number: upstream's schema has a string"
	var list []engine.Finding
	add := func(holds bool, severity, p, format string, args ...any) {
		if holds {
			list = append(list, engine.Finding{Severity: severity, Path: p, Text: fmt.Sprintf(format, args...)})
		}
	}
	state, metadata, served := r.Doc.Path, r.Path("metadata.json"), !r.foreign()
	add(r.State.unfit != "" && !r.Torn, "error", state, "%s", r.State.unfit)
	for _, id := range r.twiceAnswered() {
		add(true, "warning", state, "/feedback_history has several entries for request %s: the last one counts", quote(id))
	}
	add(o != nil && o.nowhere(), "error", state, "%s", noPlace)
	for _, b := range r.badEvents() {
		name, text, _ := strings.Cut(b, ": ")
		add(true, "warning", r.Path("events/"+name), "%s", text)
	}
	for _, gap := range r.gaps() {
		add(true, "warning", r.Path("events"), "%s", gap)
	}
	next := r.Snap.In("events/.next-id")
	add(!next.Absent() && !next.Unsettled() && r.nextID() == 0, "warning", next.Path, "is no number: the next event takes the highest number + 1")
	add(r.State.RunID != "" && r.State.RunID != r.Snap.Key.ID && served, "warning", state, otherID, quote(r.State.RunID), quote(r.Snap.Key.ID))
	add(r.badMetadata != "" && served, "warning", metadata, "%s: context.md will say so", r.badMetadata)
	add(r.meta.RunID != "" && r.meta.RunID != r.Snap.Key.ID && served, "warning", metadata, otherID, quote(r.meta.RunID), quote(r.Snap.Key.ID))
	add(r.State.Errors.Kind() == '{', "warning", state, "/errors is an object: upstream's schema has an array")
	add(r.State.WorkID.Kind() == '0', "warning", state, number)
	add(r.meta.WorkID.Kind() == '0', "warning", metadata, number)
	add(r.plan().problem != "" && !final(r.State.status), "warning", state, "plan not known from its definition: %s", r.plan().problem)
	return list
}

// twiceAnswered are the requests that have several entries in the history, sorted.
func (r *view) twiceAnswered() []string {
	var ids []string
	seen := map[string]bool{"": true}
	for _, h := range r.State.History {
		if seen[h.RequestID] && h.RequestID != "" {
			ids = append(ids, h.RequestID)
		}
		seen[h.RequestID] = true
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// gaps are numbers that no event has.
func (r *eventLog) gaps() []string {
	var gaps []string
	before := 0
	for _, e := range r.events {
		switch missing := e.Number - before - 1; {
		case missing == 1:
			gaps = append(gaps, fmt.Sprintf("no event has the number %03d", before+1))
		case missing > 1:
			gaps = append(gaps, fmt.Sprintf("no events have the numbers %03d to %03d", before+1, e.Number-1))
		}
		before = e.Number
	}
	return gaps
}

// contradictions say where state.json and what placet wrote beside it tell different
// histories: a merge took one from each side, or somebody revived a run that was given
// up. Each says what to restore. What the next pass carries out is none.
func (r *view) contradictions() []engine.Finding {
	if r.State.unfit != "" || r.Torn || r.State.status == "" || r.foreign() {
		return nil
	}
	list := gate.Comparison{Snap: r.Snap, State: r.Doc.Path, Revision: r.State.rev, Folders: r.Folders, Stated: r.stated}.Contradictions()
	if e := r.revived(); e != nil {
		text := fmt.Sprintf("the run was cancelled by %s (events/%s), and state.json says %s: somebody revived it, or a merge took both sides. To keep it cancelled write cancel.json; to let it go on, begin a new run, or restore it%s",
			cmp.Or(e.User, "placet"), e.Name, r.State.status, gate.Restoring(r.Snap))
		list = append(list, engine.Finding{Severity: "error", Path: r.Doc.Path, Text: text, Urgent: true})
	}
	return list
}

// stated is what the state says of a request that has a receipt. Of one that was closed
// without an answer it says nothing else: upstream may write what it likes.
func (r *view) stated(f *gate.Folder) *gate.Receipt {
	said := *f.Receipt
	h := r.State.answerTo(f.ID)
	switch {
	case r.State.Revision == nil, r.asks(f.ID), said.Result != gate.Accepted && said.Result != gate.Expired:
	case h != nil:
		said.Response, said.ProvidedBy = h.Response, gate.By{}
	case r.State.status == Cancelled:
		said.Result = gate.Cancelled
	default:
		return nil
	}
	return &said
}

// asks reports whether the state asks a request: then its answer is carried out.
func (r *requests) asks(id string) bool {
	o := r.asked()
	return o != nil && o.a.ID == id
}

// revived is placet's event that the run was cancelled, nil where the state says so too,
// or will.
func (r *view) revived() *event {
	if r.State.status == Cancelled || r.Snap.In("cancel.json").Present() {
		return nil
	}
	for _, e := range r.marked {
		if e.Type != "workflow_cancelled" || !e.ours() {
			continue
		}
		if id := e.Metadata.RequestID; id != "" && r.asks(id) {
			return nil // the answer is carried out again
		}
		return e
	}
	return nil
}
