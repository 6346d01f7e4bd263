package optimizer

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// Prefixes of the row ids, and the purposes that their hash contains.
const (
	auditPrefix     = "TASK"
	feedbackPrefix  = "FB"
	purposeAudit    = "audit"
	purposeFeedback = "feedback"
	purposeLate     = "late"
)

// domain is the value that marks rows of this family.
const domain = "workflow_optimization"

// rowID returns the id of a row. revision and at are those of the state that first calls for the
// row; run is the run's id in its key.
func rowID(prefix, run string, revision int, purpose string, at text) string {
	return prefix + "-" + at.Time().UTC().Format("20060102") + "-" + strings.ToUpper(id(run, revision, purpose))
}

// day and clock format a time as the database stores it, in UTC.
func day(at text) string   { return at.Time().UTC().Format("2006-01-02") }
func clock(at text) string { return at.Time().UTC().Format("2006-01-02 15:04:05") }

// orNull returns a text as a column stores it: nil for "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// line returns a value as JSON on one line. It cannot fail for the values here: strings that were
// decoded strictly, numbers, and lists of them.
func line(v any) string {
	body, err := schemas.Line(v)
	if err != nil {
		panic("optimizer: cannot write a row: " + err.Error())
	}
	return strings.TrimSuffix(string(body), "\n")
}

// auditRow returns the row of audit_logs for a cycle's report, or for its failure before it had
// one. id and at come from the transition that calls for the row; dir is the run's folder.
func auditRow(st State, id, dir string, at text) Row {
	var output, files any
	if st.Report != nil {
		output, files = st.Report.Path, line([]string{st.Report.Path})
	}
	status, by := "success", "user_request"
	if st.Report == nil {
		status = "fail"
	}
	if st.trig.TriggerType != direct {
		by = "auto"
	}
	return Row{ID: id, Table: auditLogs, Outcome: rowOwed, Row: schemas.Object{
		{Name: "id", Value: id},
		{Name: "date", Value: day(at)},
		{Name: "task_name", Value: "optimizer/" + st.WorkflowName},
		{Name: "mode", Value: domain},
		{Name: "action", Value: st.auditAction()},
		{Name: "input_path", Value: path.Join(dir, "trigger.json")},
		{Name: "output_path", Value: output},
		{Name: "status", Value: status},
		{Name: "notes", Value: nil},
		{Name: "context_for_next", Value: line(st.contextForNext())},
		{Name: "continuation_hint", Value: nil},
		{Name: "work_type", Value: "review"},
		{Name: "triggered_by", Value: by},
		{Name: "duration_sec", Value: max(0, at.Time().Sub(st.BeganAt.Time()).Seconds())},
		{Name: "files_affected", Value: files},
		{Name: "pattern_tag", Value: domain},
		{Name: "session_id", Value: st.RunID},
		{Name: "intent", Value: orNull(templates.Cut(string(st.trig.OptimizationGoal), mostIntent))},
		{Name: "created_at", Value: clock(at)},
		{Name: "updated_at", Value: clock(at)},
	}}
}

func (st State) auditAction() string {
	switch {
	case st.Level == nil:
		return "cycle_failed"
	case st.Report == nil:
		return fmt.Sprintf("level%02d_failed", st.Level.Current)
	}
	return fmt.Sprintf("level%02d_report", st.Level.Current)
}

// contextForNext returns what the next cycle may read in the database. Members that were not
// decided are null.
func (st State) contextForNext() schemas.Object {
	var d Decision
	var decided, applied *int
	if st.Decision != nil {
		d = *st.Decision
		decided = &d.AutomationLevel
	}
	if st.Level != nil {
		applied = &st.Level.Current
	}
	return schemas.Object{
		{Name: "run_id", Value: st.RunID},
		{Name: "workflow_name", Value: st.WorkflowName},
		{Name: "automation_level", Value: decided},
		{Name: "applied_level", Value: applied},
		{Name: "rationale", Value: d.Rationale},
		{Name: "escalation_needed", Value: d.EscalationNeeded},
		{Name: "recommended_level", Value: d.RecommendedLevel},
	}
}

// feedbackRow returns the row of user_feedback for an answer: the one that made the goal, or one
// that came after the deadline. user is who answered, "" if unknown. refused says that the database
// refused the row of audit_logs, so this row cannot name it.
func feedbackRow(st State, id, user string, at text, refused bool, given Given) Row {
	before, after := st.Level.Current, st.levelAfter(given.Response)
	taken, left := st.sorted(given.Selected)
	if len(taken) == 0 {
		left = nil // who picks no suggestion has not judged them
	}
	related := orNull(string(st.AuditID))
	if refused {
		related = nil
	}
	said := schemas.Object{
		{Name: "feedback_type", Value: feedbackType(given.Response, len(taken))},
		{Name: "workflow_name", Value: st.WorkflowName},
		{Name: "level_before", Value: before},
		{Name: "level_after", Value: after},
		{Name: "accepted_suggestions", Value: taken},
		{Name: "rejected_suggestions", Value: left},
		{Name: "free_text", Value: strings.TrimSpace(given.Comment)},
	}
	summary := phrase(st.Lang, "feedback.summary", "before", strconv.Itoa(before), "after", strconv.Itoa(after), "n", strconv.Itoa(len(taken)))
	return Row{ID: id, Table: userFeedback, Outcome: rowOwed, Row: schemas.Object{
		{Name: "id", Value: id},
		{Name: "date", Value: day(at)},
		{Name: "user_id", Value: orNull(user)},
		{Name: "feedback_text", Value: line(said)},
		{Name: "source_ref_path", Value: st.Report.Path},
		{Name: "impact_domain", Value: domain},
		{Name: "impact_summary", Value: summary},
		{Name: "reversibility", Value: "High"},
		{Name: "related_audit_id", Value: related},
		{Name: "created_at", Value: clock(at)},
		{Name: "updated_at", Value: clock(at)},
	}}
}

// levelAdjustment is the type of an answer that asks for another level, even if there is none.
const levelAdjustment = "level_adjustment"

// feedbackType returns the most important part of an answer, since the column holds one value.
func feedbackType(response string, taken int) string {
	switch {
	case response == optRaise || response == optLower:
		return levelAdjustment
	case taken > 0:
		return "suggestion_acceptance"
	}
	return "free_text"
}

// userOf returns who answered, as the receipt says: its user, else the author of the answer's
// commit, else "".
func userOf(by *By, known []string) string {
	user, author := "", ""
	if by != nil {
		user = by.User
	}
	for _, k := range known {
		if who, ok := strings.CutPrefix(k, "committed:"); ok && author == "" {
			author = who
		}
	}
	return cmp.Or(user, author)
}

// ReadAudit decodes an audit.json. The error is a *schemas.Error.
func ReadAudit(body []byte) (Audit, error) { return decodeAudit("audit.json", body) }

// Into returns the insertion of one row, together with the row of audit_logs that it names: a
// database that replaced another one lacks that row, although placet inserted it once.
func (a Audit) Into(row Row) engine.Database {
	d := row.Into(a.DB)
	named := columnText(row, "related_audit_id")
	for _, other := range a.Rows {
		if other.ID == named && other.Table == auditLogs {
			d.First = other.Into(a.DB).Insert
		}
	}
	return d
}

// AuditSchema is the name of the schema that says what an audit database may hold, and of the SQL
// that creates it.
const AuditSchema = "optimizer/audit"

// Into returns the insertion of the row alone, with plain values and with the requirements on the
// database. db is relative to the workspace.
func (row Row) Into(db string) engine.Database {
	var values []engine.Field
	for _, m := range row.Row {
		values = append(values, engine.Field{Name: m.Name, Value: plainValue(m.Value)})
	}
	return engine.Database{
		Path: db, Schema: AuditSchema, Columns: auditColumns, Optional: laterColumns, Hint: MigrateHint(templates.English),
		Insert: &engine.Row{Table: row.Table, ID: row.ID, Values: values},
	}
}
