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

// levels returns the checkpoints' levels by dependency: 1 + the highest level among the
// dependencies.
func levels(defs []Definition) map[string]int { return graph.Levels(nodesOf(defs)) }

// rounds returns the number of levels, and the lowest one, from 1, with an unfinished checkpoint;
// if none is unfinished, the last level.
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

// order returns the ids of all checkpoints: the approved ones in file order, then those that are no
// longer defined, by id.
func (st State) order() (ids []string) {
	gone := maps.Clone(st.Checkpoints)
	for _, def := range st.definitions() {
		ids = append(ids, def.ID)
		delete(gone, def.ID)
	}
	return append(ids, slices.Sorted(maps.Keys(gone))...)
}

// displayOrder returns the ids of the checkpoints that exist in the state, in order.
func displayOrder(st State) []string {
	return slices.DeleteFunc(st.order(), func(id string) bool { return st.Checkpoints[id] == nil })
}

// upstreamStatus translates a session's status into upstream's words.
func upstreamStatus(s engine.Status) engine.Status {
	switch s {
	case Designing, Approving:
		return "pending"
	case Delegating:
		return "in_progress"
	}
	return s
}

// signedBy returns the members that mark a rendering as placet's. revision is the last one that
// changed the rendered content; other transitions leave the file unchanged.
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

// totalTime returns the time from a checkpoint's start to its last verdict, rounded down: "45s",
// "15m", "1h05m". ok is false before the first verdict.
func totalTime(c Checkpoint) (words string, ms int64, ok bool) {
	if len(c.History) == 0 {
		return "", 0, false
	}
	from, to := c.StartedAt.Time(), c.History[len(c.History)-1].Timestamp.Time()
	if from.IsZero() || to.IsZero() {
		return "", 0, false
	}
	// A clock that was set back must not make the time negative.
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

// feedbackQuality rates a checkpoint's feedback. If a review reopened a pass, the feedback of that
// review is pending until the next verdict.
func feedbackQuality(c Checkpoint) string {
	judged, changed := 0, 0
	// latest holds the highest attempt up to each verdict, in ascending order for the search below.
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

// reportMD returns report.md: the results of a session.
func reportMD(st State) []byte { return rendered(st.Language, "report", report{st}) }

// report is the data of the template afl/report.
type report struct{ State }

// First returns the line that identifies the document.
func (r report) First() string { return docLine(r.SessionID, "", "report", 0) }

// Dates returns the rows of the first table.
func (r report) Dates() []templates.FormFact {
	approval := ""
	if a := r.Approved; a != nil {
		by := slices.DeleteFunc([]string{string(a.By), a.Source}, func(s string) bool { return s == "" })
		approval = fmt.Sprintf("%s (%s)", templates.OrDash(string(a.At)), strings.Join(by, ", "))
	}
	return labelled(r.Language, "report.created", string(r.CreatedAt), "report.approved", approval,
		"report.started", string(r.StartedAt), "report.finished", string(r.FinishedAt))
}

// checkpointRow is a checkpoint's row in a report.
type checkpointRow struct {
	*Checkpoint
	ID string
}

// Time returns how long the checkpoint took.
func (c checkpointRow) Time() string {
	took, _, _ := totalTime(*c.Checkpoint)
	return templates.OrDash(took)
}

// Quality rates the checkpoint's feedback.
func (c checkpointRow) Quality() string { return feedbackQuality(*c.Checkpoint) }

// Rows returns a row for each checkpoint.
func (r report) Rows() (rows []checkpointRow) {
	for _, id := range displayOrder(r.State) {
		rows = append(rows, checkpointRow{r.Checkpoints[id], id})
	}
	return rows
}

// requestRow is a request's row in a report: why it was opened, and who answered what.
type requestRow struct {
	*run.Request
	Why, Words, Remark, Who string
}

// Asked returns the requests in the order in which they were opened.
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

// asked returns why a checkpoint was escalated or what its worker asked, as far as the state still
// says.
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
		// The request may be older than the verdict: a crash may have left it behind.
		if q.Type == typeEscalation && j.Route.escalates() && j.Timestamp >= q.OpenedAt && (q.ClosedAt == "" || j.Timestamp <= q.ClosedAt) {
			return strings.TrimSuffix(string(j.Route)+": "+string(j.FailureType), ": ")
		}
	}
	return templates.Dash
}

// answerWords returns the answer, or else the status of the request.
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

// Skipped returns the aborted checkpoints with the reasons.
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

// LastReview returns the status of the last review.
func (r report) LastReview() string {
	v := r.Review
	if v == nil {
		return templates.Dash
	}
	return phrase(r.Language, "report.round", "round", strconv.Itoa(v.Round), "mode", v.Mode, "status", v.Status)
}

// Notes returns the notes of the last review as Markdown.
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

// changesMD returns changes.md: the changes that a person requested in the checkpoints, and the
// findings about them, one per line.
func changesMD(lang, session string, wished ChangesRequested, findings []string) []byte {
	return rendered(lang, "changes", struct {
		ChangesRequested
		First, Session string
		Findings       []string
	}{wished, docLine(session, "", "changes", 0), session, findings})
}
