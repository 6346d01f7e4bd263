package optimizer

import (
	"slices"
	"strconv"
	"strings"

	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// goalOf returns the goal that follows from the answer to the request hitl, or from its deadline if
// a is nil. It starts from the level that was carried out, not from the one that was decided. Issues
// that an answer passes over stay open.
func goalOf(st State, a *Given) Goal {
	g := Goal{NextAutomationLevel: st.Level.Current, ApprovedBy: byTimeout}
	if a == nil {
		g.CarryOverIssues = []string{unanswered(st.Lang)}
	} else {
		g.ApprovedBy = byHuman
		g.NextAutomationLevel = st.levelAfter(a.Response)
		g.OptimizationDirectives, _ = st.sorted(a.Selected)
		if comment := strings.TrimSpace(a.Comment); comment != "" {
			g.CarryOverIssues = []string{comment}
		}
	}
	for _, d := range st.Demotions {
		g.CarryOverIssues = append(g.CarryOverIssues, phrase(st.Lang, "goal.failed", "level", strconv.Itoa(d.From), "error", d.Error))
	}
	if a == nil {
		return g
	}
	for _, issue := range st.stillOpen(a.Selected) {
		if !slices.Contains(g.CarryOverIssues, issue) {
			g.CarryOverIssues = append(g.CarryOverIssues, issue)
		}
	}
	return g
}

// issueID returns the id under which the request offers the open issue at an index.
func issueID(at int) string { return "i" + strconv.Itoa(at+1) }

// settled returns the open issues that an answer settles by picking them.
func (st State) settled(selected []string) (settled []string) {
	for at, issue := range st.Issues {
		if slices.Contains(selected, issueID(at)) {
			settled = append(settled, issue)
		}
	}
	return settled
}

// stillOpen returns the open issues that an answer does not settle.
func (st State) stillOpen(selected []string) []string {
	settled := st.settled(selected)
	return slices.DeleteFunc(slices.Clone(st.Issues), func(issue string) bool { return slices.Contains(settled, issue) })
}

// unanswered returns the issue that an expired deadline leaves behind.
func unanswered(lang string) string { return phrase(lang, "goal.unanswered") }

// timeoutIssue reports whether an issue is the sentence that an expired deadline leaves, in any
// language, and no person's words.
func timeoutIssue(issue string) bool {
	return slices.ContainsFunc(templates.Languages(), func(lang string) bool { return issue == unanswered(lang) })
}

// levelAfter returns the level that an answer asks for.
func (st State) levelAfter(response string) int {
	switch response {
	case optRaise:
		return within(st.Level.Current + stride)
	case optLower:
		return within(st.Level.Current - stride)
	}
	return st.Level.Current
}

// sorted splits the offered suggestions into the selected and the other ones, and returns their
// texts in order.
func (st State) sorted(selected []string) (taken, left []string) {
	for _, s := range st.Suggestions {
		if slices.Contains(selected, s.ID) {
			taken = append(taken, s.Text)
		} else {
			left = append(left, s.Text)
		}
	}
	return taken, left
}

// suggestionsOffered numbers the suggestions of a file: those of high priority first, otherwise in
// the file's order.
func (st State) suggestionsOffered(sg Suggestions) []Suggestion {
	var all []Suggestion
	for _, priority := range []string{high, normal} {
		for _, s := range sg.Suggestions {
			if (s.Priority == high) == (priority == high) {
				all = append(all, Suggestion{ID: "s" + strconv.Itoa(len(all)+1), Text: s.Text, Priority: priority})
			}
		}
	}
	return all
}

// resultJSON returns the optimizer_result.json of a cycle whose last transition reached the goal.
func resultJSON(st State) []byte {
	return run.Encoded(schemas.Object{
		{Name: "run_id", Value: st.RunID}, {Name: "workflow_name", Value: st.WorkflowName}, {Name: "trigger_type", Value: st.trig.TriggerType},
		{Name: "decision_output", Value: schemas.Object{
			{Name: "automation_level", Value: st.Decision.AutomationLevel}, {Name: "rationale", Value: st.Decision.Rationale},
			{Name: "escalation_needed", Value: st.Decision.EscalationNeeded},
		}},
		{Name: "report_path", Value: st.Report.Path}, {Name: "goal", Value: st.Goal},
		{Name: "metadata", Value: schemas.Object{
			{Name: "created_at", Value: st.Last.At}, {Name: "level_before", Value: st.Level.Current},
			{Name: "level_after", Value: st.Goal.NextAutomationLevel}, {Name: "hitl_responded", Value: st.Goal.ApprovedBy == byHuman},
		}},
	})
}
