package afl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

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
		approval = fmt.Sprintf("%s (%s)", templates.OrDash(string(a.At)), strings.Join(slices.DeleteFunc([]string{string(a.By), a.Source}, empty), ", "))
	}
	return labelled(r.Language, "report.created", string(r.CreatedAt), "report.approved", approval,
		"report.started", string(r.StartedAt), "report.finished", string(r.FinishedAt))
}

func empty(s string) bool { return s == "" }

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
		row := requestRow{q, r.asked(q), answerWords(q), templates.OrDash(oneLine(string(q.Comment), shownSentence)), templates.Dash}
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
		return templates.OrDash(oneLine(e.Reason, shownSentence))
	}
	for _, asked := range c.Questions {
		if asked.RequestID == q.ID {
			return templates.OrDash(oneLine(asked.Text, shownSentence))
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
		line := templates.Inline(oneLine(n.Text, shownNote))
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
