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
func reportMD(st State) []byte {
	data := templates.AFLReportData{
		First: docLine(st.SessionID, "", "report", 0), Session: st.SessionID, Status: string(st.Status),
		Dates: st.dates(), Requests: st.requestRows(), Skipped: st.skipped(), Review: dash,
	}
	for _, id := range displayOrder(st) {
		data.Checkpoints = append(data.Checkpoints, checkpointRow(id, *st.Checkpoints[id]))
	}
	if r := st.Review; r != nil {
		data.Review = phrase(st.Language, "report.round", "round", strconv.Itoa(r.Round), "mode", r.Mode, "status", r.Status)
		data.Notes = r.lines()
	}
	return rendered(st.Language, "report", data)
}

func (st State) dates() []templates.FormFact {
	approval := ""
	if a := st.Approved; a != nil {
		approval = fmt.Sprintf("%s (%s)", orDash(string(a.At)), strings.Join(slices.DeleteFunc([]string{string(a.By), a.Source}, empty), ", "))
	}
	return labelled(st.Language, "report.created", string(st.CreatedAt), "report.approved", approval,
		"report.started", string(st.StartedAt), "report.finished", string(st.FinishedAt))
}

func empty(s string) bool { return s == "" }

func checkpointRow(id string, c Checkpoint) templates.AFLCheckpointRow {
	took, _, ok := totalTime(c)
	if !ok {
		took = dash
	}
	return templates.AFLCheckpointRow{
		ID: id, Status: string(c.Status), Attempts: fmt.Sprintf("%d/%d", c.Iteration, c.MaxIterations),
		Time: took, Feedback: feedbackQuality(c),
	}
}

// requestRows are the requests in the order in which they were opened.
func (st State) requestRows() []templates.AFLRequestRow {
	all := slices.SortedFunc(slices.Values(st.Requests), func(a, b *run.Request) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.ID, b.ID))
	})
	var rows []templates.AFLRequestRow
	for _, q := range all {
		by := ""
		if q.By != nil {
			by = q.By.User
		}
		rows = append(rows, templates.AFLRequestRow{
			At: orDash(string(q.OpenedAt)), Type: q.Type, Checkpoint: orDash(string(q.Subject)), Asked: st.asked(q),
			Answer: answerWords(q), Comment: orDash(oneLine(string(q.Comment), shownSentence)), By: orDash(by),
		})
	}
	return rows
}

// asked is why a checkpoint was escalated or what its worker asked, as far as
// the state still says.
func (st State) asked(r *run.Request) string {
	c := st.Checkpoints[string(r.Subject)]
	if c == nil {
		return dash
	}
	if e := c.Escalation; e != nil && e.RequestID == r.ID {
		return orDash(oneLine(e.Reason, shownSentence))
	}
	for _, q := range c.Questions {
		if q.RequestID == r.ID {
			return orDash(oneLine(q.Text, shownSentence))
		}
	}
	for _, j := range c.History {
		// A request that a crash left behind is older than the verdict.
		if r.Type == typeEscalation && j.Route.escalates() && j.Timestamp >= r.OpenedAt && (r.ClosedAt == "" || j.Timestamp <= r.ClosedAt) {
			return strings.TrimSuffix(string(j.Route)+": "+string(j.FailureType), ": ")
		}
	}
	return dash
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

// skipped are the checkpoints that were aborted, and why.
func (st State) skipped() []string {
	var lines []string
	for _, id := range displayOrder(st) {
		c := st.Checkpoints[id]
		why := string(cmp.Or(c.Skip, c.AbortedBecause))
		if c.Status == Aborted && why != "" {
			lines = append(lines, templates.Inline(id)+": "+templates.Inline(phrase(st.Language, "report.because."+why)))
		}
	}
	return lines
}

// lines are a review's notes as Markdown.
func (r Review) lines() []string {
	var lines []string
	for _, n := range r.Notes {
		line := templates.Inline(oneLine(n.Text, shownNote))
		if n.Checkpoint != "" {
			line = templates.Inline(fmt.Sprintf("%s (%s)", n.Checkpoint, orDash(string(n.Severity)))) + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// changesMD returns changes.md: what a person asked to change in the
// checkpoints, and what is wrong with them, one finding a line.
func changesMD(lang, session string, ch ChangesRequested, findings []string) []byte {
	return rendered(lang, "changes", templates.AFLChangesData{
		First: docLine(session, "", "changes", 0), Session: session,
		By: orDash(string(ch.By)), At: orDash(string(ch.At)), Digest: orDash(string(ch.Digest)),
		Comment: string(ch.Comment), Findings: findings,
	})
}
