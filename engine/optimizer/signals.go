package optimizer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"placet/templates"
)

// Levels of automation: report, script analysis, evaluation.
const (
	lowest  = 10
	highest = 30
	stride  = 10
)

// within returns a level clamped to 10 through 30.
func within(level int) int { return min(max(level, lowest), highest) }

// reasons are the facts behind each signal, independent of language; "" if there are none.
type reasons struct{ A, B, C string }

// Decide is the decision table. a is the signal of the assets (10, 20, 30), b of the KPI (10, 20,
// 30, or nil for neutral), and c of the history (-10, 0, 10). The rationale names the signals
// alone.
func Decide(a int, b *int, c int) Decision {
	return decide(Signals{A: a, B: b, C: c}, nil, nil, templates.English)
}

// decide is the table with reasons. The level of the previous cycle's goal overrides the table: a
// person chose it, or nobody answered, and the level is kept. Without reasons the rationale names
// the signals alone.
func decide(s Signals, why *reasons, goal *PreviousGoal, lang string) Decision {
	d := Decision{Signals: s, Rationale: rationale(s, why, lang)}
	level, escalate := combined(s)
	d.SignalLevel, d.AutomationLevel, d.EscalationNeeded = level, level, escalate
	if goal != nil {
		wanted := goal.NextAutomationLevel
		d.AutomationLevel, d.GoalLevel = wanted, &wanted
	}
	if d.AutomationLevel != d.SignalLevel {
		d.EscalationNeeded = true
		d.Rationale = append(d.Rationale, "Goal: "+goal.words(lang, d.SignalLevel))
	}
	if s.conflict() {
		d.Rationale = append(d.Rationale, "Conflict: "+phrase(lang, "rationale.conflict", "a", strconv.Itoa(s.A), "b", strconv.Itoa(*s.B), "level", strconv.Itoa(level)))
	}
	if s.B != nil && *s.B == highest && d.AutomationLevel < highest {
		recommended := highest
		d.RecommendedLevel = &recommended
	}
	return d
}

// words says why a goal's level is applied although the signals come to another one.
func (g PreviousGoal) words(lang string, signals int) string {
	key := "rationale.goal"
	if g.ApprovedBy == byTimeout {
		key = "rationale.kept"
	}
	return phrase(lang, key, "goal", strconv.Itoa(g.NextAutomationLevel), "run", g.RunID, "signals", strconv.Itoa(signals))
}

// conflict reports whether assets and KPI name different levels.
func (s Signals) conflict() bool { return s.B != nil && s.A != *s.B }

// combined returns the level of the table, and whether a person should check it.
func combined(s Signals) (level int, escalate bool) {
	if s.conflict() {
		return min(s.A, *s.B), true
	}
	level = within(s.A + s.C)
	return level, s.B != nil && *s.B == highest && level < highest
}

func rationale(s Signals, why *reasons, lang string) []string {
	b := "–"
	if s.B != nil {
		b = strconv.Itoa(*s.B)
	}
	c := strconv.Itoa(s.C)
	if s.C > 0 {
		c = "+" + c
	}
	lines := []string{"Signal A: " + strconv.Itoa(s.A), "Signal B: " + b, "Signal C: " + c}
	if why == nil {
		return lines
	}
	for i, fact := range []string{why.A, why.B, why.C} {
		if fact == "" {
			fact = phrase(lang, "rationale.none."+string("abc"[i]))
		}
		lines[i] += " (" + fact + ")"
	}
	return lines
}

// signalA returns the level that the assets allow: by assets.json, else by the workflow's settings,
// else 10 once the wait for the file is over. ok is false until then.
func signalA(assets *Assets, s settings, waited bool) (level int, why string, ok bool) {
	if assets != nil {
		level, why = allowed(string(assets.EvaluationScript), string(assets.AnalysisScript), assets.CriteriaFixed)
		return level, why + ", inputs/assets.json", true
	}
	w := s.Workflow
	if len(w.Evaluation) == 0 && len(w.Analysis) == 0 {
		return lowest, "", waited
	}
	level, why = allowed(strings.Join(w.Evaluation, " "), strings.Join(w.Analysis, " "), w.CriteriaFixed)
	return level, why + ", [optimizer.workflows]", true
}

func allowed(evaluation, analysis string, fixed bool) (level int, why string) {
	what := fmt.Sprintf("evaluation: %s, criteria_fixed: %t, analysis: %s", nameOr(evaluation), fixed, nameOr(analysis))
	switch {
	case !templates.Blank(evaluation) && fixed:
		return 30, what
	case !templates.Blank(analysis):
		return 20, what
	}
	return 10, what
}

// nameOr returns a name on one line, or a dash.
func nameOr(name string) string {
	if templates.Blank(name) {
		return "–"
	}
	return templates.Line(name, shownName)
}

// shownMetrics is how many metrics a signal's reason names.
const shownMetrics = 5

// signalB returns the level that the KPI call for, the highest one of any gated metric with a
// value; nil if no metric has one.
func signalB(kpi []Metric) (level *int, why string) {
	var facts []string
	most := 0
	for _, m := range kpi {
		if m.Margin == nil {
			continue
		}
		called := calledFor(*m.Margin)
		if called > most {
			most, facts = called, nil
		}
		if called == most {
			facts = append(facts, fmt.Sprintf("%s %s/%s: %s", templates.Line(m.Name, shownName), numeral(*m.Value), numeral(*m.Threshold), decimals(*m.Margin, 6)))
		}
	}
	if most == 0 {
		return nil, ""
	}
	if more := len(facts) - shownMetrics; more > 0 {
		facts = append(facts[:shownMetrics], fmt.Sprintf("+%d", more))
	}
	return &most, strings.Join(facts, ", ")
}

// calledFor returns the level for a metric that is so far beyond its threshold.
func calledFor(margin float64) int {
	switch {
	case margin >= 5:
		return 10
	case margin >= -5:
		return 20
	}
	return 30
}

// votes is how many of the newest rows count.
const votes = 3

// wishes are the answers that raise the level (1) and lower it (-1).
var wishes = map[int]string{1: optRaise, -1: optLower}

// vote returns whether a row raises the level (1), lowers it (-1) or neither (0). A wish for more
// than the highest level, or for less than the lowest, leaves the level as it is, and counts.
func (row FeedbackRow) vote() int {
	way := cmp.Compare(row.LevelAfter, row.LevelBefore)
	switch {
	case way != 0 || row.FeedbackType != levelAdjustment:
	case row.LevelBefore == highest:
		return 1
	case row.LevelBefore == lowest:
		return -1
	}
	return way
}

// signalC returns what people made of the previous levels: up or down if more than half of the
// newest three rows say so. The newest row comes first.
func signalC(rows []FeedbackRow) (step int, why string) {
	rows = rows[:min(len(rows), votes)]
	toward := map[int]int{} // how many rows raise the level (1) and how many lower it (-1)
	var facts []string
	for _, row := range rows {
		way := row.vote()
		toward[way]++
		facts = append(facts, fmt.Sprintf("%d → %d", row.LevelBefore, row.LevelAfter))
		if way != 0 && row.LevelBefore == row.LevelAfter {
			facts[len(facts)-1] += " (" + wishes[way] + ")"
		}
	}
	for _, way := range []int{1, -1} {
		if 2*toward[way] > len(rows) {
			step = way * stride
		}
	}
	return step, strings.Join(facts, ", ")
}
