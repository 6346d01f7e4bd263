package optimizer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/templates"
)

// inputs are the contents that a report is made from besides state and context.
type inputs struct {
	Records     []Record
	Suggestions Suggestions
}

// These limits bound what a report shows, so that a report made from hostile inputs stays readable:
// bytes of a text, lines of a list, metrics, and anomalies of one metric.
const (
	reportSentence  = 1000
	reportLines     = 20
	reportMetrics   = 50
	reportAnomalies = 10
	reportOffered   = 50
)

// reportMD returns the report of the current level in the cycle's language. revision is that of the
// transition that makes the report; the report stays the same in later revisions.
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
	body, err := templates.Render(st.Lang, fmt.Sprintf("optimizer/level%d", st.Level.Current), data)
	if err != nil {
		panic(err) // the data is complete: the tests render every template
	}
	return []byte(body)
}

// reportHeadings returns the headings of a level's report, without the title.
func reportHeadings(level int, lang string) []string {
	nothing := State{Lang: lang, Level: &Level{Current: level}, Decision: &Decision{}}
	all := strings.Split(string(reportMD(nothing, Findings{}, inputs{}, 0)), "\n")
	return slices.DeleteFunc(all, func(line string) bool { return !strings.HasPrefix(line, "##") })
}

// report holds what a report is made from.
type report struct {
	State
	Found Findings
	in    inputs
	stats []Statistics
}

func (r report) say(word string, pairs ...any) string {
	return phrase(r.Lang, "report."+word, pairs...)
}

// mdText returns a text from a file as Markdown on one line; mdName does so for a short name.
func mdText(s string) string { return markdown(s, reportSentence) }
func mdName(s string) string { return markdown(s, shownName) }

func markdown(s string, limit int) string {
	if templates.Blank(s) {
		return "–"
	}
	return templates.Inline(templates.Line(s, limit))
}

// linesOf returns one line for each element of a list, except where say returns "".
func linesOf[T any](list []T, say func(T) string) []string {
	var lines []string
	for _, v := range list {
		if line := say(v); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// texts returns the entries of a list as Markdown lines.
func texts(list []string) []string { return atMost(linesOf(list, mdText), reportLines) }

// atMost returns the first lines of a list, and counts the rest in a last line.
func atMost(lines []string, limit int) []string {
	if more := len(lines) - limit; more > 0 {
		return append(lines[:limit:limit], fmt.Sprintf("… +%d", more))
	}
	return lines
}

// summary returns what ran, why, and what was known.
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
	if !templates.Blank(string(r.trig.OptimizationGoal)) {
		one("goal", mdText(string(r.trig.OptimizationGoal)))
	}
	list("directives", texts(r.directives()))
	list("issues", texts(r.Found.OpenIssues))
	one("late", r.late())
	list("warnings", texts(r.Found.Warnings))
	one("audit", r.audit())
	if !templates.Blank(string(r.in.Suggestions.Summary)) {
		one("summary", mdText(string(r.in.Suggestions.Summary)))
	}
	if r.Level.Current == highest {
		list("trends", r.trends())
	}
	return lines
}

func (r report) demoted() []string {
	return linesOf(r.Demotions, func(d Demotion) string { return fmt.Sprintf("%d → %d: %s", d.From, d.To, mdText(d.Error)) })
}

// directives returns the directives of the previous goal. A trigger that names no such goal may
// bring its own.
func (r report) directives() []string {
	if r.Found.PreviousGoal != nil {
		return r.Found.PreviousGoal.OptimizationDirectives
	}
	return r.trig.OptimizationDirectives
}

// late returns the answer that came too late for the previous goal, or "".
func (r report) late() string {
	l := r.Found.LateAnswer
	if l == nil {
		return ""
	}
	parts := []string{mdName(l.Response)}
	if len(l.Selected) > 0 {
		parts = append(parts, mdName(strings.Join(l.Selected, " ")))
	}
	if !templates.Blank(l.Comment) {
		parts = append(parts, mdText(l.Comment))
	}
	return fmt.Sprintf("%s (%s, %s)", strings.Join(parts, ", "), mdName(l.ProvidedBy.User), mdName(string(l.ReceivedAt)))
}

func (r report) audit() string {
	if !r.Found.Audit.Available {
		return r.say("audit.unavailable")
	}
	return r.say("audit.rows", "n", strconv.Itoa(len(r.Found.Audit.Rows)), "failed", strconv.Itoa(len(r.failedRows())))
}

// failedRows returns the rows of the audit database that report a failure.
func (r report) failedRows() []AuditRow {
	return slices.DeleteFunc(slices.Clone(r.Found.Audit.Rows), func(row AuditRow) bool { return row.Status != "fail" })
}

// suggested returns the suggestions with the given priorities.
func (r report) suggested(priorities ...string) []string {
	var lines []string
	for _, p := range priorities {
		lines = append(lines, linesOf(r.Suggestions, func(s Suggestion) string {
			if s.Priority != p {
				return ""
			}
			return mdName(s.ID) + ": " + mdText(s.Text)
		})...)
	}
	return atMost(lines, reportOffered)
}

// next returns what the next cycle should consider.
func (r report) next() []string {
	var lines []string
	if level := r.Decision.RecommendedLevel; level != nil {
		lines = append(lines, r.say("recommended", "level", strconv.Itoa(*level)))
	}
	failed := linesOf(r.Demotions, func(d Demotion) string {
		return phrase(r.Lang, "goal.failed", "level", strconv.Itoa(d.From), "error", mdText(d.Error))
	})
	open := linesOf(r.Found.OpenIssues, func(issue string) string { return r.say("issue", "issue", mdText(issue)) })
	return atMost(slices.Concat(lines, failed, open), reportLines)
}
