package afl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// levels are the checkpoints' levels by dependency: 1 + the highest level among
// the dependencies.
func levels(defs []Definition) map[string]int { return graph.Levels(nodesOf(defs)) }

// rounds are the number of levels and the lowest, from 1, with a checkpoint
// that is not over; the last level where all are.
func rounds(st State) (current, total int) {
	if st.Approved == nil {
		return 0, 0
	}
	level := levels(st.Approved.Definitions)
	for _, l := range level {
		total = max(total, l)
	}
	current = total
	for id, l := range level {
		if c := st.Checkpoints[id]; c == nil || !isFinal(c.Status) {
			current = min(current, l)
		}
	}
	return current, total
}

// order are all checkpoints: as they were approved, then those no longer defined, by id.
func (st State) order() (ids []string) {
	gone := maps.Clone(st.Checkpoints)
	for _, def := range st.definitions() {
		ids = append(ids, def.ID)
		delete(gone, def.ID)
	}
	return append(ids, slices.Sorted(maps.Keys(gone))...)
}

// displayOrder are the checkpoints that have begun, in their order.
func displayOrder(st State) []string {
	return slices.DeleteFunc(st.order(), func(id string) bool { return st.Checkpoints[id] == nil })
}

// upstreamStatus is a session's status in upstream's words.
func upstreamStatus(s engine.Status) engine.Status {
	switch s {
	case Designing, Approving:
		return "pending"
	case Delegating:
		return "in_progress"
	}
	return s
}

// signedBy are the members that mark a rendering as placet's. The revision is
// that of the last transition which changed what is rendered: the others leave
// the file as it is.
func signedBy(revision int) schemas.Object {
	return schemas.Object{{Name: "written_by", Value: "placet"}, {Name: "revision", Value: revision}}
}

// statusJSON returns delegations/status.json.
func statusJSON(st State) []byte {
	checkpoints := schemas.Object{}
	for _, id := range displayOrder(st) {
		c := st.Checkpoints[id]
		row := schemas.Object{{Name: "status", Value: c.Status}}
		if c.Iteration > 0 {
			row = append(row, schemas.Member{Name: "iterations", Value: c.Iteration})
		}
		checkpoints = append(checkpoints, schemas.Member{Name: id, Value: row})
	}
	current, total := rounds(st)
	return run.Encoded(append(schemas.Object{
		{Name: "sessionId", Value: st.SessionID}, {Name: "status", Value: upstreamStatus(st.Status)},
		{Name: "startedAt", Value: st.StartedAt}, {Name: "checkpoints", Value: checkpoints},
		{Name: "totalRounds", Value: total}, {Name: "currentRound", Value: current},
	}, signedBy(st.Revision)...))
}

// checkpointStatusJSON returns delegations/{cp}/status.json.
func checkpointStatusJSON(st State, id string) []byte {
	c := st.Checkpoints[id]
	history := []schemas.Object{}
	for _, j := range c.History {
		history = append(history, schemas.Object{
			{Name: "iteration", Value: j.Iteration}, {Name: "result", Value: j.Result},
			{Name: "failedCriteria", Value: j.FailedCriteria}, {Name: "timestamp", Value: j.Timestamp},
		})
	}
	return run.Encoded(append(schemas.Object{
		{Name: "checkpointId", Value: id}, {Name: "status", Value: c.Status}, {Name: "iteration", Value: c.Iteration},
		{Name: "maxIterations", Value: c.MaxIterations}, {Name: "startedAt", Value: c.StartedAt},
		{Name: "lastAttemptAt", Value: c.LastAttemptAt}, {Name: "history", Value: history},
	}, signedBy(c.Revision)...))
}

// routingJSON returns delegations/{cp}/routing.json, the seed's metrics.
func routingJSON(st State, id string) []byte {
	c := st.Checkpoints[id]
	history := []schemas.Object{}
	for _, j := range c.History {
		row := schemas.Object{{Name: "iteration", Value: j.Iteration}, {Name: "result", Value: j.Route}}
		if j.Route != routePass {
			row = append(row, schemas.Member{Name: "reason", Value: j.FailureType})
		}
		history = append(history, row)
	}
	doc := schemas.Object{
		{Name: "sessionId", Value: st.SessionID}, {Name: "checkpoint", Value: id}, {Name: "routingHistory", Value: history},
	}
	if words, ms, ok := totalTime(*c); ok {
		doc = append(doc, schemas.Member{Name: "totalTime", Value: words}, schemas.Member{Name: "totalTimeMs", Value: ms})
	}
	doc = append(doc, schemas.Member{Name: "feedbackQuality", Value: feedbackQuality(*c)})
	return run.Encoded(append(doc, signedBy(c.Revision)...))
}

// totalTime is the time from a checkpoint's start to its last verdict, floored:
// "45s", "15m", "1h05m". ok is false before the first verdict.
func totalTime(c Checkpoint) (words string, ms int64, ok bool) {
	if len(c.History) == 0 {
		return "", 0, false
	}
	from, to := c.StartedAt.Time(), c.History[len(c.History)-1].Timestamp.Time()
	if from.IsZero() || to.IsZero() {
		return "", 0, false
	}
	// A clock that was set back makes no time negative.
	d := max(to.Sub(from), 0)
	switch {
	case d < time.Minute:
		words = fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		words = fmt.Sprintf("%dm", d/time.Minute)
	default:
		words = fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return words, d.Milliseconds(), true
}

// feedbackQuality says what a checkpoint's feedback was good for. A pass that a
// review reopened before any feedback counts as feedback not judged yet.
func feedbackQuality(c Checkpoint) string {
	judged, changed := 0, 0
	// latest are the highest attempts up to each verdict: they only grow.
	latest := make([]int, len(c.History))
	for i, h := range c.History {
		latest[i] = h.Iteration
		if i > 0 {
			latest[i] = max(h.Iteration, latest[i-1])
		}
	}
	for _, f := range c.Feedback {
		if next := sort.SearchInts(latest, f.Iteration+1); next < len(latest) {
			judged++
			if next == 0 || c.History[next-1].Signature != c.History[next].Signature {
				changed++
			}
		}
	}
	passing := len(c.History) > 0 && c.History[len(c.History)-1].Route == routePass
	switch {
	case passing && judged > 0:
		return "effective"
	case passing && len(c.Feedback) == 0:
		return "not_needed"
	case len(c.Feedback) == 0:
		return "none"
	case judged == 0:
		return "pending"
	case 2*changed >= judged:
		return "partial"
	}
	return "ineffective"
}

// reportMD returns report.md: what became of a session.
func reportMD(st State) []byte { return rendered(st.Language, "report", report{st}) }

// report is what the template afl/report shows of a session.
type report struct{ State }

// First is the line that names the document.
func (r report) First() string { return docLine(r.SessionID, "", "report", 0) }

// Dates are the rows of the first table.
func (r report) Dates() []templates.FormFact {
	approval := ""
	if a := r.Approved; a != nil {
		by := slices.DeleteFunc([]string{string(a.By), a.Source}, func(s string) bool { return s == "" })
		approval = fmt.Sprintf("%s (%s)", templates.OrDash(string(a.At)), strings.Join(by, ", "))
	}
	return labelled(r.Language, "report.created", string(r.CreatedAt), "report.approved", approval,
		"report.started", string(r.StartedAt), "report.finished", string(r.FinishedAt))
}

// checkpointRow is what a report says of a checkpoint.
type checkpointRow struct {
	*Checkpoint
	ID string
}

// Time is how long the checkpoint took.
func (c checkpointRow) Time() string {
	took, _, _ := totalTime(*c.Checkpoint)
	return templates.OrDash(took)
}

// Quality is what the feedback was good for.
func (c checkpointRow) Quality() string { return feedbackQuality(*c.Checkpoint) }

// Rows are the checkpoints.
func (r report) Rows() (rows []checkpointRow) {
	for _, id := range displayOrder(r.State) {
		rows = append(rows, checkpointRow{r.Checkpoints[id], id})
	}
	return rows
}

// requestRow is what a report says of a request: why it was asked, and who answered what.
type requestRow struct {
	*run.Request
	Why, Words, Remark, Who string
}

// Asked are the requests in the order in which they were opened.
func (r report) Asked() (rows []requestRow) {
	for _, q := range slices.SortedFunc(slices.Values(r.Requests), func(a, b *run.Request) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.ID, b.ID))
	}) {
		row := requestRow{q, r.asked(q), answerWords(q), templates.OrDash(templates.Line(string(q.Comment), shownSentence)), templates.Dash}
		if q.By != nil {
			row.Who = templates.OrDash(q.By.User)
		}
		rows = append(rows, row)
	}
	return rows
}

// asked is why a checkpoint was escalated or what its worker asked, as far as
// the state still says.
func (r report) asked(q *run.Request) string {
	c := r.Checkpoints[string(q.Subject)]
	if c == nil {
		return templates.Dash
	}
	if e := c.Escalation; e != nil && e.RequestID == q.ID {
		return templates.OrDash(templates.Line(e.Reason, shownSentence))
	}
	for _, asked := range c.Questions {
		if asked.RequestID == q.ID {
			return templates.OrDash(templates.Line(asked.Text, shownSentence))
		}
	}
	for _, j := range c.History {
		// A request that a crash left behind is older than the verdict.
		if q.Type == typeEscalation && j.Route.escalates() && j.Timestamp >= q.OpenedAt && (q.ClosedAt == "" || j.Timestamp <= q.ClosedAt) {
			return strings.TrimSuffix(string(j.Route)+": "+string(j.FailureType), ": ")
		}
	}
	return templates.Dash
}

// answerWords is what was answered, else what became of the request.
func answerWords(q *run.Request) string {
	if q.Status != gate.Accepted {
		return q.Status
	}
	answers := q.Selected
	if q.Response != "" && !slices.Contains(answers, string(q.Response)) {
		answers = slices.Concat([]string{string(q.Response)}, answers)
	}
	return joined(answers, ", ")
}

// Skipped are the checkpoints that were aborted, and why.
func (r report) Skipped() (lines []string) {
	for _, id := range displayOrder(r.State) {
		c := r.Checkpoints[id]
		why := string(cmp.Or(c.Skip, c.AbortedBecause))
		if c.Status == Aborted && why != "" {
			lines = append(lines, templates.Inline(id)+": "+templates.Inline(phrase(r.Language, "report.because."+why)))
		}
	}
	return lines
}

// LastReview says how the last review stands.
func (r report) LastReview() string {
	v := r.Review
	if v == nil {
		return templates.Dash
	}
	return phrase(r.Language, "report.round", "round", strconv.Itoa(v.Round), "mode", v.Mode, "status", v.Status)
}

// Notes are those of the last review, as Markdown.
func (r report) Notes() (lines []string) {
	if r.Review == nil {
		return nil
	}
	for _, n := range r.Review.Notes {
		line := templates.Inline(templates.Line(n.Text, shownNote))
		if n.Checkpoint != "" {
			line = templates.Inline(fmt.Sprintf("%s (%s)", n.Checkpoint, templates.OrDash(string(n.Severity)))) + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// changesMD returns changes.md: what a person asked to change in the checkpoints, and what
// is wrong with them, one finding a line.
func changesMD(lang, session string, wished ChangesRequested, findings []string) []byte {
	return rendered(lang, "changes", struct {
		ChangesRequested
		First, Session string
		Findings       []string
	}{wished, docLine(session, "", "changes", 0), session, findings})
}
