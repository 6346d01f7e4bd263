package nemawashi

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// Report is a text that somebody wrote about a project on a day.
type Report struct {
	ProjectID string `json:"project_id"`
	Text      string `json:"text"`
	Date      string `json:"date"` // YYYY-MM-DD
	// File is the name of the report's file.
	File string `json:"-"`
}

// longestProject is the maximum length of a project's name, in bytes.
const longestProject = 200

// ReadReports reads a file of reports: a JSON object, an array of objects, or Markdown with
// project_id and date between two lines of three hyphens.
func ReadReports(name string, body []byte) (list []Report, err error) {
	switch {
	case strings.HasSuffix(name, ".md"):
		var r Report
		r, err = readMarkdown(string(body))
		list = []Report{r}
	default:
		list, err = readJSON(body)
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		r := &list[i]
		r.File = name
		if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
			return nil, refuse("report.date", "value", strconv.Quote(r.Date))
		}
		if strings.TrimSpace(r.ProjectID) == "" || len(r.ProjectID) > longestProject || strings.ContainsAny(r.ProjectID, "\r\n") {
			return nil, refuse("report.project", "most", longestProject)
		}
	}
	return list, nil
}

func readJSON(body []byte) (list []Report, err error) {
	all := []schemas.Raw{body}
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("[")) {
		if all, err = schemas.Elements(body); err != nil {
			return nil, err
		}
	}
	for _, raw := range all {
		var r Report
		if err := schemas.Decode("", "report", raw, &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func readMarkdown(text string) (r Report, err error) {
	text, ok := strings.CutPrefix(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "---\n")
	front, body, closed := strings.Cut(text, "\n---\n")
	if !ok || !closed {
		return r, refuse("report.front")
	}
	for line := range strings.Lines(front) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(name) {
		case "project_id":
			r.ProjectID = value
		case "date":
			r.Date = value
		}
	}
	r.Text = strings.TrimSpace(body)
	return r, nil
}

// signs are words that show how the people in a project are doing, and what each occurrence adds to
// the score.
var signs = []struct {
	worth int
	words []string
}{
	{8, []string{"挑戦", "伸びしろ", "育成", "学び", "成長"}},
	{-15, []string{"疲労", "飽き", "燃え尽き", "限界"}},
	{-10, []string{"炎上", "対人トラブル", "噂", "不満"}},
}

// Levels of risk.
const (
	levelSafe     = "Safe"
	levelWarning  = "Warning"
	levelCritical = "Critical"
)

// Alert is the watchdog's result for a project.
type Alert struct {
	ProjectID   string        `json:"project_id"`
	RiskLevel   string        `json:"risk_level"`
	HealthScore int           `json:"health_score"`
	Message     string        `json:"message"`
	Source      engine.Digest `json:"-"` // digest of the evidence
}

// Score returns the score of a text by its signs, and the level of risk.
func Score(text string) (score int, level string) {
	score = 80
	for _, s := range signs {
		for _, word := range s.words {
			score += s.worth * strings.Count(text, word)
		}
	}
	score = min(100, max(0, score))
	switch {
	case score <= 50:
		return score, levelCritical
	case score <= 70:
		return score, levelWarning
	}
	return score, levelSafe
}

// Watch returns an alert for each project in the reports, ordered by name.
func Watch(reports []Report) (alerts []Alert) {
	slices.SortStableFunc(reports, func(a, b Report) int {
		return cmp.Or(strings.Compare(a.ProjectID, b.ProjectID), strings.Compare(a.Date, b.Date), strings.Compare(a.File, b.File))
	})
	for len(reports) > 0 {
		project := reports[0].ProjectID
		var texts []string
		for len(reports) > 0 && reports[0].ProjectID == project {
			texts = append(texts, reports[0].Text)
			reports = reports[1:]
		}
		text := strings.Join(texts, " ")
		score, level := Score(text)
		alerts = append(alerts, Alert{project, level, score, fmt.Sprintf("%s risk %s score %d", project, level, score), engine.Sum([]byte(text))})
	}
	return alerts
}

// Seen is what the watchdog needs to know of an existing action.
type Seen struct {
	ID      int
	Project string
	Final   bool
	// Source is the digest of the evidence, "" if the watchdog did not open the action.
	Source engine.Digest
}

// Opens reports whether an alert opens an action: the project is not safe, no action of it is
// running, and the newest one that the watchdog opened had other evidence.
func (a Alert) Opens(actions []Seen) bool {
	newest := Seen{}
	for _, s := range actions {
		if s.Project != a.ProjectID {
			continue
		}
		if !s.Final {
			return false
		}
		if s.Source != "" && s.ID > newest.ID {
			newest = s
		}
	}
	return a.RiskLevel != levelSafe && newest.Source != a.Source
}

// Action returns the action.json of an alert, and the first draft in a language.
func (a Alert) Action(lang string) (action schemas.Object, draft string) {
	typ, title, summary := mailDraft, "subject", fmt.Sprintf("%s risk %s", a.ProjectID, a.RiskLevel)
	if a.RiskLevel == levelCritical {
		typ, title = meetingRequest, "title"
	}
	action = schemas.Object{
		{Name: "type", Value: typ}, {Name: "summary", Value: summary}, {Name: "requested_by", Value: "watchdog"},
		{Name: "payload", Value: schemas.Object{{Name: title, Value: summary}}}, {Name: "project_id", Value: a.ProjectID},
		{Name: "severity", Value: a.RiskLevel}, {Name: "mode", Value: "watchdog"}, {Name: "request_approval", Value: "auto"},
		{Name: "source_digest", Value: a.Source},
	}
	return action, a.draft(lang)
}

// draft returns the first draft of an alert.
func (a Alert) draft(lang string) string {
	say := func(key string, pairs ...any) string {
		return templates.Phrase(lang, "nemawashi.watchdog."+key, pairs...)
	}
	plan, what, impact := "Plan_A", say("plan_a"), say("plan_a.impact")
	if a.HealthScore <= 60 {
		plan, what, impact = "Plan_B", say("plan_b"), say("plan_b.impact")
	}
	lines := []string{say("title", "project", a.ProjectID, "plan", plan), what, impact, say("risk", "level", a.RiskLevel, "score", a.HealthScore)}
	return strings.Join(lines, "\n") + "\n"
}
