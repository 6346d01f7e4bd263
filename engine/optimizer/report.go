package optimizer

import (
	"fmt"
	"strconv"
	"strings"

	"placet/templates"
)

// inputs are the files that a report is made of beside state and context.
type inputs struct {
	Records     []Record
	Suggestions Suggestions
}

// How much a report shows, so that one of hostile inputs can still be read
// back: a text in bytes, the lines of a list, metrics, and anomalies of one.
const (
	reportSentence  = 1000
	reportLines     = 20
	reportMetrics   = 50
	reportAnomalies = 10
	reportOffered   = 50
)

// reportMD returns the report of the level in hand, in the cycle's language.
// revision is that of the transition that reports: the report stays the same in
// later ones.
func reportMD(st State, f Findings, in inputs, revision int) []byte {
	r := report{State: st, Found: f, in: in, stats: statistics(in.Records)}
	last := fmt.Sprintf("<!-- placet %s r%d -->", st.RunID, revision)
	var data any
	switch st.Level.Current {
	case 10:
		data = templates.OptimizerLevel10Data{Summary: r.summary(), Metrics: r.metrics(), Anomalies: r.irregular(), Last: last}
	case 20:
		data = templates.OptimizerLevel20Data{
			Summary: r.summary(), Trends: r.trends(), Patterns: r.patterns(), Outliers: r.outliers(), Suggestions: r.suggested(high, normal), Last: last,
		}
	default:
		data = templates.OptimizerLevel30Data{
			Summary: r.summary(), KPI: r.attained(), Short: append(r.short(), r.outliers()...),
			High: r.suggested(high), Normal: r.suggested(normal), Next: r.next(), Last: last,
		}
	}
	name := fmt.Sprintf("optimizer/level%d", st.Level.Current)
	body, err := templates.Render(st.Lang, name, data)
	if err != nil {
		// The data is complete: the tests render every template.
		panic("optimizer: cannot render " + name + ": " + err.Error())
	}
	return []byte(body)
}

// report is what a report is made of.
type report struct {
	State
	Found Findings
	in    inputs
	stats []Statistics
}

func (r report) say(key string, pairs ...string) string {
	return phrase(r.Lang, "report."+key, pairs...)
}

// mdText is a text from a file as Markdown on one line, mdName a short one.
func mdText(s string) string { return markdown(s, reportSentence) }
func mdName(s string) string { return markdown(s, shownName) }

func markdown(s string, limit int) string {
	if !visible(s) {
		return "–"
	}
	return templates.Inline(oneLine(s, limit))
}

// texts are lines of a list, as Markdown.
func texts(list []string) []string {
	var lines []string
	for _, s := range list {
		lines = append(lines, mdText(s))
	}
	return atMost(lines, reportLines)
}

// atMost are the first lines of a list; what is left out is counted.
func atMost(lines []string, limit int) []string {
	if more := len(lines) - limit; more > 0 {
		return append(lines[:limit:limit], fmt.Sprintf("… +%d", more))
	}
	return lines
}

// summary says what ran, why, and what was known.
func (r report) summary() []templates.OptimizerLine {
	var lines []templates.OptimizerLine
	one := func(key, value string) {
		if value != "" {
			lines = append(lines, templates.OptimizerLine{Line: r.say(key) + ": " + value})
		}
	}
	list := func(key string, below []string) {
		if len(below) > 0 {
			lines = append(lines, templates.OptimizerLine{Line: r.say(key) + ":", Below: below})
		}
	}
	one("workflow", mdText(r.WorkflowName))
	one("run", mdName(r.RunID))
	one("decided", strconv.Itoa(r.Decision.AutomationLevel))
	one("applied", strconv.Itoa(r.Level.Current))
	if known := r.trig.CurrentLevel; known != nil {
		one("known", strconv.Itoa(*known))
	}
	list("rationale", texts(r.Decision.Rationale))
	list("demotions", r.demoted())
	if visible(string(r.trig.OptimizationGoal)) {
		one("goal", mdText(string(r.trig.OptimizationGoal)))
	}
	list("directives", texts(r.directives()))
	list("issues", texts(r.Found.OpenIssues))
	one("late", r.late())
	list("warnings", texts(r.Found.Warnings))
	one("audit", r.audit())
	if visible(string(r.in.Suggestions.Summary)) {
		one("summary", mdText(string(r.in.Suggestions.Summary)))
	}
	if r.Level.Current == highest {
		list("trends", r.trends())
	}
	return lines
}

func (r report) demoted() []string {
	var lines []string
	for _, d := range r.Demotions {
		lines = append(lines, fmt.Sprintf("%d → %d: %s", d.From, d.To, mdText(d.Error)))
	}
	return lines
}

// directives are those of the goal before; a trigger that names no such goal may
// bring its own.
func (r report) directives() []string {
	if r.Found.PreviousGoal != nil {
		return r.Found.PreviousGoal.OptimizationDirectives
	}
	return r.trig.OptimizationDirectives
}

// late is the answer that came too late for the goal before, "" for none.
func (r report) late() string {
	l := r.Found.LateAnswer
	if l == nil {
		return ""
	}
	parts := []string{mdName(l.Response)}
	if len(l.Selected) > 0 {
		parts = append(parts, mdName(strings.Join(l.Selected, " ")))
	}
	if visible(l.Comment) {
		parts = append(parts, mdText(l.Comment))
	}
	return fmt.Sprintf("%s (%s, %s)", strings.Join(parts, ", "), mdName(l.ProvidedBy.User), mdName(string(l.ReceivedAt)))
}

func (r report) audit() string {
	if !r.Found.Audit.Available {
		return r.say("audit.unavailable")
	}
	failed := 0
	for _, row := range r.Found.Audit.Rows {
		if row.Status == "fail" {
			failed++
		}
	}
	return r.say("audit.rows", "n", strconv.Itoa(len(r.Found.Audit.Rows)), "failed", strconv.Itoa(failed))
}

// suggested are the suggestions of the given priorities.
func (r report) suggested(priorities ...string) []string {
	var lines []string
	for _, p := range priorities {
		for _, s := range r.Suggestions {
			if s.Priority == p {
				lines = append(lines, mdName(s.ID)+": "+mdText(s.Text))
			}
		}
	}
	return atMost(lines, reportOffered)
}

// next is what the next cycle should mind.
func (r report) next() []string {
	var lines []string
	if level := r.Decision.RecommendedLevel; level != nil {
		lines = append(lines, r.say("recommended", "level", strconv.Itoa(*level)))
	}
	for _, d := range r.Demotions {
		lines = append(lines, phrase(r.Lang, "goal.failed", "level", strconv.Itoa(d.From), "error", mdText(d.Error)))
	}
	for _, issue := range r.Found.OpenIssues {
		lines = append(lines, r.say("issue", "issue", mdText(issue)))
	}
	return atMost(lines, reportLines)
}
