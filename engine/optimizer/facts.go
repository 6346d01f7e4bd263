package optimizer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

func (r *cycle) facts() []engine.Fact {
	t := run.NewFacts(r.run.Lang, "optimizer")
	st := r.run.State
	t.Add("workflow", r.workflow())
	t.Add("trigger", triggerWords(r))
	t.Add("asked", run.OneLine(string(r.trig.OptimizationGoal)))
	t.Add("before", string(r.trig.LastRunID))
	tellLevel(r, t)
	t.Add("kpi", linesOf(st.KPI, func(m Metric) string { return m.words(r.run.Lang) })...)
	t.Add("suggestion", linesOf(st.Suggestions, func(s Suggestion) string { return fmt.Sprintf("%s (%s): %s", s.ID, s.Priority, run.OneLine(s.Text)) })...)
	if st.Goal == nil {
		t.Add("issue", st.issueWords()...)
	}
	if st.Report != nil {
		t.Add("report", st.Report.Path)
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			t.Add("request", q.ID+" ("+q.Type+")")
		}
	}
	if st.Status == Awaiting {
		t.Add("deadline", cmp.Or(string(st.Deadline), r.words("deadline.none")))
	}
	t.Add("audit", linesOf(r.audit.Rows, r.rowWords)...)
	tellGoal(r, t)
	if r.found != nil {
		t.Add("warning", linesOf(r.found.Warnings, run.OneLine)...)
	}
	return t.List
}

// issueWords returns the open issues with the ids under which the request offers them.
func (st State) issueWords() (lines []string) {
	for at, issue := range st.Issues {
		lines = append(lines, issueID(at)+": "+run.OneLine(issue))
	}
	return lines
}

func triggerWords(r *cycle) string {
	if r.trig.TriggerType == "" {
		return ""
	}
	words := r.trig.TriggerType
	if r.trig.CreatedBy != "" {
		words = r.words("trigger.by", "trigger", words, "who", templates.Line(string(r.trig.CreatedBy), shownName))
	}
	if r.run.State.TimeoutReentries > 0 {
		words = r.words("trigger.after", "trigger", words, "n", r.run.State.TimeoutReentries)
	}
	return words
}

// tellLevel adds the decided level, its signals, and the level that the cycle carries out or
// carried out.
func tellLevel(r *cycle, t *run.Facts) {
	st := r.run.State
	d := st.Decision
	if d == nil {
		return
	}
	if st.Level != nil {
		key := "level.hand"
		if st.Report != nil {
			key = "level.applied"
		}
		t.Add("level", r.words(key, "decided", d.AutomationLevel, "current", st.Level.Current))
	}
	b := r.words("signals.none")
	if d.Signals.B != nil {
		b = fmt.Sprint(*d.Signals.B)
	}
	t.Add("signals", r.words("signals", "a", d.Signals.A, "b", b, "c", d.Signals.C, "level", d.SignalLevel))
	t.Add("because", linesOf(d.Rationale, run.OneLine)...)
	t.Add("escalation", escalationWords(d).In(r.run.Lang))
	t.Add("demoted", linesOf(st.Demotions, func(x Demotion) string { return fmt.Sprintf("%d → %d: %s", x.From, x.To, run.OneLine(x.Error)) })...)
}

func escalationWords(d *Decision) templates.Message {
	switch {
	case d.RecommendedLevel != nil:
		return templates.NewMessage("optimizer.escalation.level", "level", *d.RecommendedLevel)
	case d.EscalationNeeded:
		return templates.NewMessage("optimizer.escalation.yes")
	}
	return templates.NewMessage("optimizer.escalation.no")
}

// words describes a metric in one line.
func (m Metric) words(lang string) string {
	value := phrase(lang, "metric.none")
	if m.Value != nil {
		value = numeral(*m.Value)
	}
	words := []string{value}
	add := func(key string, v *float64) {
		if v != nil {
			words = append(words, phrase(lang, "metric."+key, "value", numeral(*v)))
		}
	}
	add("threshold", m.Threshold)
	add("target", m.Target)
	add("margin", m.Margin)
	if m.Unit != percent {
		words = append(words, m.Unit)
	}
	if m.Direction == down {
		words = append(words, phrase(lang, "metric.down"))
	}
	if !m.Gate {
		words = append(words, phrase(lang, "metric.ungated"))
	}
	return templates.Line(m.Name, shownName) + ": " + strings.Join(words, ", ")
}

// rowWords describes in one line what became of a row.
func (r *cycle) rowWords(row Row) string {
	words := fmt.Sprintf("%s %s: %s", row.Table, row.ID, row.Outcome)
	if row.Tries > 0 && !row.in() {
		words = r.words("row.after", "row", words, "n", row.Tries)
	}
	if row.LastError != "" {
		words += ": " + run.OneLine(string(row.LastError))
	}
	if row.Tries > 0 && row.NextTryAt != "" {
		words = r.words("row.again", "row", words, "at", row.NextTryAt)
	}
	return words
}

// tellGoal adds the answer and the goal.
func tellGoal(r *cycle, t *run.Facts) {
	st := r.run.State
	if a := st.Answer; a != nil {
		t.Add("answer", r.givenWords(a.Response, a.Selected, a.Comment, a.By))
	}
	if g := st.Goal; g != nil {
		t.Add("goal", r.words("level.next", "level", g.NextAutomationLevel, "by", g.ApprovedBy))
		t.Add("directive", linesOf(g.OptimizationDirectives, run.OneLine)...)
		t.Add("issue", linesOf(g.CarryOverIssues, run.OneLine)...)
	}
	if late := lateAnswer(r); late != nil {
		t.Add("late", r.givenWords(late.Response, late.Selected, late.Comment, late.ProvidedBy))
	}
	t.Add("failed", run.OneLine(string(st.Error)))
}

func (r *cycle) givenWords(response string, selected []string, comment string, by By) string {
	given := strings.Join(append([]string{response}, selected...), ", ")
	words := r.words("given", "answer", given, "who", templates.Line(by.User, shownName), "source", by.Source)
	if comment != "" {
		words += ": " + run.OneLine(comment)
	}
	return words
}

// Statuses of a level that only a view has.
const (
	levelDone    engine.Status = "done"     // its report is written
	levelDemoted engine.Status = "demoted"  // it could not be carried out
	levelUnused  engine.Status = "not used" // the cycle runs at another one
)

// parts returns the automation levels for `show`, none before the level is decided.
func (r *cycle) parts() []engine.Part {
	if r.run.State.Decision == nil {
		return nil
	}
	return []engine.Part{levelPart(r, 10), levelPart(r, 20), levelPart(r, 30)}
}

func levelPart(r *cycle, level int) engine.Part {
	t := run.NewFacts(r.run.Lang, "optimizer")
	p := engine.Part{ID: fmt.Sprintf("level%d", level), Status: levelUnused}
	if r.run.State.Decision.AutomationLevel == level {
		t.Add("decided", strings.Join(r.run.State.Decision.Rationale, "; "))
	}
	if r.run.State.Level != nil && r.run.State.Level.Current == level {
		if p.Status = r.run.State.Status; r.run.State.Report != nil {
			p.Status = levelDone
		}
	}
	if i := slices.IndexFunc(r.run.State.Demotions, func(d Demotion) bool { return d.From == level }); i >= 0 {
		d := r.run.State.Demotions[i]
		p.Status = levelDemoted
		t.Add("demoted", r.words("part.demoted", "to", d.To, "at", d.At, "error", d.Error))
	}
	if d := r.run.Snap.In(layout.OptimizerReportName(level)); d.Present() {
		t.Add("report", d.Path)
	}
	p.Facts = t.List
	tries := linesOf(r.allAttempts(), func(t levelAttempt) string {
		if t.level != level {
			return ""
		}
		return r.words("part.attempt", "attempt", t.n, "how", r.why(t))
	})
	if len(tries) > 0 {
		p.Sections = []engine.Section{{Title: r.words("part.attempts"), Text: strings.Join(tries, "\n")}}
	}
	return p
}
