package optimizer

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// needs returns the documents outside its folder that a run reads.
func (r *cycle) needs() []string {
	if !r.run.Begun {
		return reentryNeeds(r)
	}
	needs := []string{}
	if uncollected(r) {
		needs = append(needs, engine.NeedPeers, layout.OptimizerManifest(r.run.Snap.Dir), layout.OptimizerCallbacks(r.run.Snap.Dir))
		needs = append(needs, chainNeeds(r)...)
	}
	if uncollected(r) || r.run.State.Status == Deciding {
		needs = append(needs, usagePath(r))
	}
	return append(needs, ticketNeeds(r)...)
}

// uncollected reports whether placet still has to write context.json: the file is absent, and the
// report is not made yet.
func uncollected(r *cycle) bool {
	return r.run.Begun && !final(r.run.State.Status) && r.run.State.Report == nil && r.run.Snap.In("context.json").Absent()
}

func usagePath(r *cycle) string {
	return layout.OptimizerUsage(r.cfg.UsageDir, r.run.State.WorkflowName)
}

// chainNeeds returns the documents of the cycles behind last_run_id. It names those of every cycle
// in the peers' entries at once, because the loop asks for needs only a few times in a pass.
func chainNeeds(r *cycle) []string {
	last := string(r.run.State.trig.LastRunID)
	if last == "" || last == r.runID() {
		return nil
	}
	needs := layout.OptimizerOther(r.run.Snap.Dir, last)
	for _, run := range readShared(r.run.Snap.Doc(engine.NeedPeers).Body).Before {
		if run != last {
			needs = append(needs, layout.OptimizerOther(r.run.Snap.Dir, run)...)
		}
	}
	return needs
}

// linkTo reads a cycle of the same root. It prefers the active folder to the archive.
func linkTo(r *cycle, run string) (l link) {
	for _, archived := range []bool{false, true} {
		found := false
		for _, d := range r.run.Snap.Docs {
			if d.Present() && layout.OptimizerIsOther(r.run.Snap.Dir, run, archived, d.Path) {
				found = true
				l.read(d)
			}
		}
		if l.Archived = found && archived; found {
			break
		}
	}
	return l
}

// read reads one document of an earlier cycle. An unusable document counts as absent.
func (l *link) read(d engine.Document) {
	switch path.Base(d.Path) {
	case "goal.json":
		l.Goal = usable(d, decodeGoal)
	case "state.json":
		l.State = usable(d, decodeState)
	case "trigger.json":
		l.Trigger = usable(d, decodeTrigger)
	case "late.json":
		l.Late = cmp.Or(usable(d, decodeLate), l.Late)
	}
}

// chain returns the cycles behind last_run_id, the newest first.
func (r *cycle) chain() []link {
	var all []link
	at, seen := string(r.run.State.trig.LastRunID), map[string]bool{r.runID(): true}
	for range mostLinks {
		if at == "" || seen[at] || !layout.IsOptimizerRunID(at) {
			break
		}
		seen[at] = true
		l := linkTo(r, at)
		all = append(all, l)
		at = l.before()
	}
	return all
}

// collectTries are the times, after the cycle began, at which placet tries to query the audit
// database.
var collectTries = []time.Duration{0, time.Second, 6 * time.Second, 31 * time.Second, 151 * time.Second}

// collectID returns the id of the k-th query.
func collectID(r *cycle, k int) string { return r.actionID(fmt.Sprintf("collect/%d", k)) }

// collecting returns the state of the query to the audit database: the action to begin or to keep
// running, or the end that decides.
func collecting(r *cycle) (action *engine.Action, ended *engine.Ended) {
	k, last := 0, len(collectTries)-1
	for i, after := range collectTries {
		if !r.run.Snap.Now.Before(r.run.State.BeganAt.Time().Add(after)) {
			k = i
		}
	}
	for i := range collectTries { // a clock that was set back does not start over
		end, over := r.run.Snap.Facts.Ended[collectID(r, i)]
		if over && (end.Result != "failed" || i == last) {
			return nil, &end
		}
		if r.run.Snap.Facts.Alive[collectID(r, i)] || over && i > k {
			k = i
		}
	}
	if _, failed := r.run.Snap.Facts.Ended[collectID(r, k)]; !failed {
		a := collectAction(r, k)
		return &a, nil
	}
	r.run.WakeAt(r.run.State.BeganAt.Time().Add(collectTries[k+1]))
	return nil, nil
}

// looked reports whether an action is a query whose result makes context.json, or may make it once
// more: if somebody deletes the file, placet does not query the database again.
func (r *cycle) looked(id string) bool {
	return !final(r.run.State.Status) && r.run.State.Report == nil && strings.HasPrefix(id, r.actionID("collect/"))
}

// These limits bound what the query reads of other people's text, so that a long history does not
// make the result too large to use: rows of feedback (some of them may be unusable) and characters
// of their comments, characters of all notes together, and characters of one note.
const (
	mostLookedAt = 10
	mostComment  = 16000
	mostNotes    = 100000
	mostNote     = 4000
)

func collectAction(r *cycle, k int) engine.Action {
	like := "/" + r.runID() + "/"
	return engine.Action{ID: collectID(r, k), Database: &engine.Database{
		Path: auditPath(r), Schema: AuditSchema, Columns: auditColumns, Hint: MigrateHint(r.run.Lang),
		Select: []engine.Query{
			{
				Name: auditLogs,
				SQL: fmt.Sprintf("SELECT id, date, task_name, action, status, substr(notes, 1, %d) AS notes FROM audit_logs", min(mostNote, mostNotes/max(r.cfg.AuditRows, 1))) +
					" WHERE task_name = ? OR instr(coalesce(input_path, ''), ?) > 0" +
					" OR instr(coalesce(output_path, ''), ?) > 0 ORDER BY date DESC, created_at DESC, id DESC LIMIT ?",
				Args: []any{"optimizer/" + r.run.State.WorkflowName, like, like, r.cfg.AuditRows},
			},
			{
				Name: userFeedback,
				SQL:  fmt.Sprintf(feedbackSQL, mostComment),
				Args: []any{domain, r.run.State.WorkflowName, mostLookedAt},
			},
		},
	}}
}

// feedbackSQL selects the newest rows about a workflow that have levels. Other rows may hold any
// text, so it parses the text only where it is valid JSON.
const feedbackSQL = `SELECT id, date, created_at, json_object(
  'feedback_type', json_extract(feedback_text, '$.feedback_type'), 'workflow_name', json_extract(feedback_text, '$.workflow_name'),
  'level_before', json_extract(feedback_text, '$.level_before'), 'level_after', json_extract(feedback_text, '$.level_after'),
  'free_text', substr(json_extract(feedback_text, '$.free_text'), 1, %d)) AS feedback_text
FROM user_feedback WHERE impact_domain = ? AND CASE WHEN json_valid(feedback_text) THEN
  json_extract(feedback_text, '$.workflow_name') = ? AND json_type(feedback_text, '$.level_before') IN ('integer', 'real')
  AND json_type(feedback_text, '$.level_after') IN ('integer', 'real') END
ORDER BY date DESC, created_at DESC, id DESC LIMIT ?`

// collect writes context.json once everything is known. It waits for sources that somebody is still
// writing.
func collect(r *cycle, w *run.Outputs) {
	if !uncollected(r) {
		return
	}
	action, ended := collecting(r)
	if action != nil {
		w.Plan.Actions = append(w.Plan.Actions, *action)
	}
	if ended == nil {
		return
	}
	others := r.run.Snap.Doc(engine.NeedPeers)
	if others.Err != nil || othersHeld(r) {
		r.run.Held = true
		return
	}
	w.Put("context.json", run.Encoded(gather(r, *ended, readShared(others.Body))))
}

// othersHeld reports whether a document of another run, a callback, or the usage document is still
// being written, or a cycle behind this one is unreadable: the goal of that cycle may decide.
func othersHeld(r *cycle) bool {
	return slices.ContainsFunc(r.run.Snap.Docs, func(d engine.Document) bool {
		if layout.Under(d.Path, r.run.Snap.Dir) {
			return false
		}
		behind := layout.Under(d.Path, layout.OptimizerRoot(r.run.Snap.Dir)) && !layout.IsOptimizerCallback(d.Path)
		return d.Unsettled() || behind && run.IsUnreadable(d)
	})
}

// gather returns the content of context.json.
func gather(r *cycle, ended engine.Ended, others shared) Findings {
	f := Findings{
		SchemaVersion: 1, RunID: r.runID(), WorkflowName: r.run.State.WorkflowName, CollectedAt: run.Seconds(r.run.Snap.Now),
		Usage:      Usage{Path: usagePath(r), Found: !r.run.Snap.Doc(usagePath(r)).Absent()},
		OpenIssues: []string{}, Feedback: []FeedbackRow{}, Callbacks: []Callback{}, Warnings: []string{},
	}
	if !f.Usage.Found {
		f.Warnings = append(f.Warnings, r.words("warning.usage", "path", f.Usage.Path))
	}
	if names := others.Others; len(names) > 0 && !r.cfg.Named {
		f.Warnings = append(f.Warnings, r.words("warning.name", "workflow", f.WorkflowName, "names", strings.Join(names, ", ")))
	}
	gatherGoal(r, &f)
	gatherRows(r, &f, ended, others)
	gatherCallbacks(r, &f)
	return r.fitting(f)
}

// gatherGoal adds the goal of the previous cycle and the open issues behind it.
func gatherGoal(r *cycle, f *Findings) {
	last := string(r.run.State.trig.LastRunID)
	if last == "" {
		return
	}
	chain := r.chain()
	warn := func(key string, pairs ...any) {
		f.Warnings = append(f.Warnings, r.words("warning."+key, append(pairs, "run", last)...))
	}
	switch {
	case len(chain) == 0:
		warn("previous.nowhere")
		return
	case chain[0].State != nil && chain[0].State.WorkflowName != r.run.State.WorkflowName:
		warn("previous.other", "workflow", chain[0].State.WorkflowName)
		return
	case chain[0].Goal == nil:
		warn("previous.none")
		return
	}
	g := chain[0].Goal
	f.PreviousGoal = &PreviousGoal{
		RunID: last, Archived: chain[0].Archived, ApprovedBy: g.ApprovedBy, NextAutomationLevel: g.NextAutomationLevel,
		OptimizationDirectives: g.OptimizationDirectives, CarryOverIssues: g.CarryOverIssues,
	}
	f.LateAnswer = chain[0].Late
	if g.ApprovedBy == byTimeout && f.LateAnswer == nil {
		warn("previous.silent", "level", g.NextAutomationLevel)
	}
	issues, left := carried(openIssues(chain))
	if f.OpenIssues = issues; left > 0 {
		f.Warnings = append(f.Warnings, r.words("warning.issues", "n", left))
	}
}

// gatherRows adds the rows of the database, and the rows in the files of the other runs.
func gatherRows(r *cycle, f *Findings, ended engine.Ended, others shared) {
	f.Audit = AuditRows{DB: auditPath(r), Rows: []AuditRow{}}
	rows := foundRows{}
	reason := ended.Reason
	switch ended.Result {
	case "done":
		err := schemas.Decode("", r.words("rows"), ended.Output, &rows)
		if f.Audit.Available = err == nil; err != nil {
			reason = templates.In(r.run.Lang, err)
		}
	case "absent":
		f.Audit.Available = true // no database yet: no rows
	}
	if !f.Audit.Available {
		f.Warnings = append(f.Warnings, r.words("warning.audit", "reason", reason))
	}
	f.Audit.Rows = append(f.Audit.Rows, rows.audit()...)
	f.Feedback = newestFeedback(rows.feedback(r.run.State.WorkflowName), others.Feedback)
}

// foundRows are the rows that the query returned. Others may write any type into the columns; a
// value that is not text keeps its JSON spelling.
type foundRows struct {
	AuditLogs    []schemas.Object `json:"audit_logs"`
	UserFeedback []schemas.Object `json:"user_feedback"`
}

// inColumn returns a column of a row as text, "" if the row has none.
func inColumn(row schemas.Object, column string) text {
	v := row.Raw(column)
	if s, is := v.Text(); is || v.Null() {
		return text(s)
	}
	return text(v)
}

// audit returns the rows of audit_logs.
func (rows foundRows) audit() []AuditRow {
	all := []AuditRow{}
	for _, row := range rows.AuditLogs {
		of := func(column string) text { return inColumn(row, column) }
		all = append(all, AuditRow{
			ID: string(of("id")), Date: of("date"), TaskName: of("task_name"), Action: of("action"), Status: of("status"), Notes: of("notes"),
		})
	}
	return all
}

// feedback returns the rows that are about a workflow and have levels.
func (rows foundRows) feedback(workflow string) []FeedbackRow {
	var all []FeedbackRow
	for _, row := range rows.UserFeedback {
		if f, ok := feedbackOf(workflow, string(inColumn(row, "id")), func(column string) text { return inColumn(row, column) }); ok {
			all = append(all, f)
		}
	}
	return all
}

// mostFeedback is how many rows of feedback vote.
const mostFeedback = 3

// newestFeedback merges rows by id and returns the newest, ordered by date, created_at and id.
func newestFeedback(lists ...[]FeedbackRow) []FeedbackRow {
	all, known := []FeedbackRow{}, map[string]bool{}
	for _, row := range slices.Concat(lists...) {
		if !known[row.ID] {
			known[row.ID] = true
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b FeedbackRow) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return all[:min(len(all), mostFeedback)]
}

// gatherCallbacks adds the reports of upstream's observer about this run.
func gatherCallbacks(r *cycle, f *Findings) {
	dir := path.Dir(layout.OptimizerCallbacks(r.run.Snap.Dir)) + "/"
	for _, d := range r.run.Snap.Docs {
		if !strings.HasPrefix(d.Path, dir) || !layout.IsOptimizerCallback(d.Path) || d.Absent() {
			continue
		}
		var c callbackFile
		if d.Err != nil || schemas.Decode("optimizer/callback", d.Path, d.Body, &c) != nil {
			f.Warnings = append(f.Warnings, r.words("warning.callback", "name", path.Base(d.Path)))
			continue
		}
		c.Severity, c.Message = cmp.Or(c.Payload.Severity, c.Severity), cmp.Or(c.Payload.Message, c.Message)
		f.Callbacks = append(f.Callbacks, c.Callback)
	}
}

// usage reads the kpi block of the usage document. The note about a problem goes into the run's own
// folder.
func (r *cycle) usage() (kpi *KPI, ok bool) {
	d := r.run.Snap.Doc(usagePath(r))
	note := r.run.Path("usage.problem.md")
	switch {
	case d.Absent():
		return nil, true
	case d.Unsettled():
		r.run.Held = true
		return nil, false
	case d.Err != nil:
		r.run.Notes.Add(note, r.run.Say("run.unreadable", "file", d.Path, "error", d.Err))
		return nil, false
	case bytes.IndexByte(d.Body, 0) >= 0:
		r.run.Notes.Add(note, r.words("note.usage.nul", "file", d.Path))
		return nil, false
	}
	front, any := frontMatter(d.Body)
	if !any {
		return nil, true
	}
	kpi, err := decodeUsage(d.Path, front)
	if err != nil {
		r.run.Notes.Add(note, r.words("note.usage", "error", err))
		return nil, false
	}
	return kpi, true
}

// frontMatter returns the YAML between the first two lines of three hyphens.
func frontMatter(body []byte) ([]byte, bool) {
	body = bytes.ReplaceAll(bytes.TrimPrefix(body, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(body, []byte("---\n"))
	if !ok {
		return nil, false
	}
	front, _, closed := bytes.Cut(append([]byte("\n"), rest...), []byte("\n---"))
	return front, closed
}
