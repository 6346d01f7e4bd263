package optimizer

// link is one cycle on the way back: what is known of a run by its trigger,
// state, goal and late answer. A nil member is a document that is not there or
// cannot be used.
type link struct {
	Goal     *Goal
	State    *State
	Trigger  *Trigger
	Late     *Late
	Archived bool
}

// mostLinks is how many cycles back open issues are looked for.
const mostLinks = 10

// before is the run whose goal a cycle took up, "" for none. What its state says
// holds; a goal without our state counts as well, and so does its trigger.
func (l link) before() string {
	switch {
	case l.State != nil:
		return string(l.State.trig.LastRunID)
	case l.Trigger != nil:
		return string(l.Trigger.LastRunID)
	}
	return ""
}

// openIssues are the issues of the goal behind, and while that goal is a
// timeout's also those of the goal behind it: a person's words survive cycles
// that nobody answered. There are no doubles, and the timeout's own sentence is
// nobody's words. The chain begins with the run that last_run_id names; each
// further link is the run before. It ends where a goal is missing, or is one of
// another workflow.
func openIssues(chain []link) []string {
	issues, workflow, known := []string{}, "", map[string]bool{}
	for _, l := range chain[:min(len(chain), mostLinks)] {
		if l.Goal == nil || l.State != nil && workflow != "" && l.State.WorkflowName != workflow {
			break
		}
		if l.State != nil {
			workflow = l.State.WorkflowName
		}
		for _, issue := range l.Goal.CarryOverIssues {
			if !timeoutIssue(issue) && !known[issue] {
				known[issue] = true
				issues = append(issues, issue)
			}
		}
		if l.Goal.ApprovedBy != byTimeout {
			break
		}
	}
	return issues
}
