package optimizer

import "placet/templates"

// How much others may have placet write, in bytes of JSON: every document that it
// writes must be one that it reads, and what was found is shown with what is offered
// in one request.
const (
	mostFound   = 512 << 10
	mostOffered = 128 << 10
	// mostIntent is how much of the optimization goal goes into the database.
	mostIntent = 64 << 10
)

// fitting is what was found, shortened until it fits, which a warning says.
func (r *cycle) fitting(f Findings) Findings {
	if len(encoded(f)) <= mostFound {
		return f
	}
	f.Warnings = append([]string{r.words("warning.shortened")}, f.Warnings...)
	var s Findings
	for _, to := range []cutting{{16 << 10, 1000}, {2 << 10, 200}, {200, 50}, {100, 20}} {
		if s = to.findings(f); len(encoded(s)) <= mostFound {
			break
		}
	}
	return s
}

// cutting is how long texts may be, in bytes, and lists.
type cutting struct{ words, list int }

func (c cutting) text(s text) text { return text(templates.Cut(string(s), c.words)) }

// texts are the first texts of a list, each cut.
func (c cutting) texts(list []string) []string {
	all := []string{}
	for _, s := range list[:min(len(list), c.list)] {
		all = append(all, templates.Cut(s, c.words))
	}
	return all
}

// findings is a copy of what was found, cut.
func (c cutting) findings(f Findings) Findings {
	f.OpenIssues, f.Warnings = c.texts(f.OpenIssues), c.texts(f.Warnings)
	if f.PreviousGoal != nil {
		g := *f.PreviousGoal
		g.OptimizationDirectives, g.CarryOverIssues = c.texts(g.OptimizationDirectives), c.texts(g.CarryOverIssues)
		f.PreviousGoal = &g
	}
	if f.LateAnswer != nil {
		l := *f.LateAnswer
		l.Response, l.Comment, l.Selected = templates.Cut(l.Response, c.words), templates.Cut(l.Comment, c.words), c.texts(l.Selected)
		l.ProvidedBy = By{User: templates.Cut(l.ProvidedBy.User, c.words), Source: templates.Cut(l.ProvidedBy.Source, c.words)}
		f.LateAnswer = &l
	}
	rows, feedback, calls := []AuditRow{}, []FeedbackRow{}, []Callback{}
	for _, row := range f.Audit.Rows[:min(len(f.Audit.Rows), c.list)] {
		rows = append(rows, AuditRow{
			ID: templates.Cut(row.ID, c.words), Date: c.text(row.Date), TaskName: c.text(row.TaskName), Action: c.text(row.Action), Status: c.text(row.Status), Notes: c.text(row.Notes),
		})
	}
	for _, row := range f.Feedback {
		row.ID, row.Date, row.CreatedAt = templates.Cut(row.ID, c.words), c.text(row.Date), c.text(row.CreatedAt)
		row.FeedbackType, row.FreeText = c.text(row.FeedbackType), c.text(row.FreeText)
		feedback = append(feedback, row)
	}
	for _, call := range f.Callbacks[:min(len(f.Callbacks), c.list)] {
		calls = append(calls, Callback{
			EventType: templates.Cut(call.EventType, c.words), CheckpointID: c.text(call.CheckpointID), Severity: c.text(call.Severity),
			Message: c.text(call.Message), Timestamp: c.text(call.Timestamp),
		})
	}
	f.Audit.Rows, f.Feedback, f.Callbacks = rows, feedback, calls
	return f
}

// bytes is how much of a request the suggestions take, each time that they stand in
// it.
func (s Suggestions) bytes() int {
	var texts []string
	for _, g := range s.Suggestions {
		texts = append(texts, g.Text)
	}
	return len(line(texts))
}
