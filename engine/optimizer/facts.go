package optimizer

import (
	"cmp"
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/run"
)

// factList collects the facts of an account. What says nothing is left out.
type factList []engine.Fact

func (t *factList) add(label string, values ...string) {
	for _, value := range values {
		if value != "" {
			*t = append(*t, engine.Fact{Label: label, Value: value})
		}
	}
}

// sentence is a text of a document as it is shown, on one line.
func sentence(s string) string { return oneLine(s, shownSentence) }

func (r *cycle) facts() []engine.Fact {
	var t factList
	st := r.State
	t.add("workflow", r.workflow())
	t.add("trigger", triggerWords(r))
	t.add("goal asked for", sentence(string(r.trig.OptimizationGoal)))
	t.add("cycle before", string(r.trig.LastRunID))
	tellLevel(r, &t)
	t.add("kpi", linesOf(st.KPI, Metric.words)...)
	t.add("suggestion", linesOf(st.Suggestions, func(s Suggestion) string { return fmt.Sprintf("%s (%s): %s", s.ID, s.Priority, sentence(s.Text)) })...)
	if st.Report != nil {
		t.add("report", st.Report.Path)
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			t.add("request", q.ID+" ("+q.Type+")")
		}
	}
	if st.Status == Awaiting {
		t.add("deadline", cmp.Or(string(st.Deadline), "none: an answer is awaited for ever"))
	}
	t.add("audit", linesOf(r.audit.Rows, Row.words)...)
	tellGoal(r, &t)
	if r.found != nil {
		t.add("warning", linesOf(r.found.Warnings, sentence)...)
	}
	return t
}

func triggerWords(r *cycle) string {
	if r.trig.TriggerType == "" {
		return ""
	}
	words := r.trig.TriggerType
	if r.trig.CreatedBy != "" {
		words += ", by " + oneLine(string(r.trig.CreatedBy), shownName)
	}
	if r.State.TimeoutReentries > 0 {
		words += ", after " + counted(r.State.TimeoutReentries, "cycle", "cycles") + " in a row without an answer"
	}
	return words
}

// tellLevel says which level was decided, by which signals, and which is, or was,
// carried out.
func tellLevel(r *cycle, t *factList) {
	st := r.State
	d := st.Decision
	if d == nil {
		return
	}
	if st.Level != nil {
		how := "in hand"
		if st.Report != nil {
			how = "applied"
		}
		t.add("level", fmt.Sprintf("%d decided → %d %s", d.AutomationLevel, st.Level.Current, how))
	}
	b := "none"
	if d.Signals.B != nil {
		b = fmt.Sprint(*d.Signals.B)
	}
	t.add("signals", fmt.Sprintf("A %d, B %s, C %d: level %d", d.Signals.A, b, d.Signals.C, d.SignalLevel))
	t.add("because", linesOf(d.Rationale, sentence)...)
	t.add("escalation", escalationWords(d))
	t.add("demoted", linesOf(st.Demotions, func(x Demotion) string { return fmt.Sprintf("%d → %d: %s", x.From, x.To, sentence(x.Error)) })...)
}

func escalationWords(d *Decision) string {
	switch {
	case d.RecommendedLevel != nil:
		return fmt.Sprintf("needed: level %d is recommended", *d.RecommendedLevel)
	case d.EscalationNeeded:
		return "needed"
	}
	return "not needed"
}

// words are a metric in one line.
func (m Metric) words() string {
	value := "no value"
	if m.Value != nil {
		value = numeral(*m.Value)
	}
	words := []string{value}
	add := func(label string, v *float64) {
		if v != nil {
			words = append(words, label+" "+numeral(*v))
		}
	}
	add("threshold", m.Threshold)
	add("target", m.Target)
	add("margin", m.Margin)
	if m.Unit != percent {
		words = append(words, m.Unit)
	}
	if m.Direction == down {
		words = append(words, "down is better")
	}
	if !m.Gate {
		words = append(words, "no gate")
	}
	return oneLine(m.Name, shownName) + ": " + strings.Join(words, ", ")
}

// words are a row's fate in one line.
func (row Row) words() string {
	words := fmt.Sprintf("%s %s: %s", row.Table, row.ID, row.Outcome)
	if row.Tries > 0 && !row.in() {
		words += fmt.Sprintf(" after %s", counted(row.Tries, "try", "tries"))
	}
	if row.LastError != "" {
		words += ": " + sentence(string(row.LastError))
	}
	if row.Tries > 0 && row.NextTryAt != "" {
		words += "; tried again at " + string(row.NextTryAt)
	}
	return words
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// tellGoal says what was answered, and what the cycle came to.
func tellGoal(r *cycle, t *factList) {
	st := r.State
	if a := st.Answer; a != nil {
		t.add("answer", givenWords(a.Response, a.Selected, a.Comment, a.By))
	}
	if g := st.Goal; g != nil {
		t.add("goal", fmt.Sprintf("level %d next, by %s", g.NextAutomationLevel, g.ApprovedBy))
		t.add("directive", linesOf(g.OptimizationDirectives, sentence)...)
		t.add("issue", linesOf(g.CarryOverIssues, sentence)...)
	}
	if late := lateAnswer(r); late != nil {
		t.add("late answer", givenWords(late.Response, late.Selected, late.Comment, late.ProvidedBy))
	}
	t.add("failed because", sentence(string(st.Error)))
}

func givenWords(response string, selected []string, comment string, by By) string {
	words := strings.Join(append([]string{response}, selected...), ", ")
	words += fmt.Sprintf(" by %s (%s)", oneLine(by.User, shownName), by.Source)
	if comment != "" {
		words += ": " + sentence(comment)
	}
	return words
}
