package faber

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// findings are what check reports: problems first, then deviations. o is the request that
// the state asks, nil where it asks none.
func (r *reading) findings(o *open) []engine.Finding {
	var list []engine.Finding
	add := func(severity, p, format string, args ...any) {
		list = append(list, engine.Finding{Severity: severity, Path: p, Text: fmt.Sprintf(format, args...)})
	}
	if r.stateErr != "" && !r.torn {
		add("error", r.doc.Path, "%s", r.stateErr)
	}
	if text := r.revived(); text != "" {
		add("error", r.doc.Path, "%s", text)
	}
	for _, id := range r.twiceAnswered() {
		add("warning", r.doc.Path, "/feedback_history has several entries for request %s: the last one counts", quote(id))
	}
	if o != nil && o.nowhere() {
		add("error", r.doc.Path, "%s", noPlace)
	}
	for _, d := range r.Snap.Docs {
		if d.Kind == layout.KindResponseCopy {
			add("warning", d.Path, "a synchroniser's second copy of an answer: remove the one that does not count")
		}
	}
	for _, b := range r.bad() {
		name, text, _ := strings.Cut(b, ": ")
		add("warning", r.Path("events/"+name), "%s", text)
	}
	for _, gap := range r.gaps() {
		add("warning", r.Path("events"), "%s", gap)
	}
	if d := r.Snap.In("events/.next-id"); !d.Absent() && !d.Unsettled() && r.nextID() == 0 {
		add("warning", d.Path, "is no number: the next event takes the highest number + 1")
	}
	if r.st.RunID != "" && r.st.RunID != r.runID() && !r.foreign() {
		add("warning", r.doc.Path, "/run_id: %s is not the run's path %s: the path counts", quote(r.st.RunID), quote(r.runID()))
	}
	if problem := r.metadataProblem(); problem != "" && !r.foreign() {
		add("warning", r.Path("metadata.json"), "%s: context.md will say so", problem)
	}
	if strings.HasPrefix(strings.TrimSpace(string(r.st.Errors)), "{") {
		add("warning", r.doc.Path, "/errors is an object: upstream's schema has an array")
	}
	if r.flow.problem != "" && !final(r.status) {
		add("warning", r.doc.Path, "plan not known from its definition: %s", r.flow.problem)
	}
	return list
}

// revived says that another writer goes on with a run that placet cancelled, "" where
// nobody does. Such a run has two ends, and only a person knows which one is meant.
func (r *reading) revived() string {
	if r.status == "" || r.status == Cancelled || r.stateErr != "" {
		return ""
	}
	var end *event
	for _, e := range r.marked {
		if e.ours() && e.Type == "workflow_cancelled" {
			end = e
		}
	}
	if end == nil || r.Snap.In("cancel.json").Present() {
		return ""
	}
	if q, ok := r.question(); ok && q.RequestID == end.Metadata.RequestID {
		return "" // an older state was put back: the answer ends it again
	}
	return fmt.Sprintf("/status is %q, and the run was cancelled by %s (events/%s): set status to \"cancelled\" again, or write cancel.json; what is still to be done is for a new run",
		r.st.Status, orElse(end.User, "placet"), end.Name)
}

// twiceAnswered are the requests that have several entries in the history, sorted.
func (r *reading) twiceAnswered() []string {
	times := map[string]int{}
	for _, h := range r.st.History {
		times[h.RequestID]++
	}
	maps.DeleteFunc(times, func(id string, n int) bool { return id == "" || n == 1 })
	return slices.Sorted(maps.Keys(times))
}

// metadataProblem is why metadata.json says nothing of the run, "" where it does.
func (r *reading) metadataProblem() string {
	d := r.Snap.In("metadata.json")
	if !d.Present() {
		return "missing or unreadable"
	}
	if err := schemas.Decode("faber/metadata", "metadata.json", d.Body, nil); err != nil {
		return "cannot read " + err.Error()
	}
	return ""
}

// gaps are numbers that no event has.
func (r *reading) gaps() []string {
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
