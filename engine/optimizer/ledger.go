package optimizer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// ledger is audit.json: the rows that belong in the audit database, and what became of each.
type ledger struct {
	doc engine.Document
	Audit
	// sound is false while the file is unusable. placet then inserts nothing, because it cannot
	// know what it has inserted before.
	sound bool
}

func readAudit(r *cycle) ledger {
	l := ledger{doc: r.run.Snap.In("audit.json")}
	if l.doc.Absent() {
		l.sound = true
		return l
	}
	l.sound = r.run.Decode(l.doc, "optimizer/audit", &l.Audit)
	return l
}

// row returns the row with an id, or nil.
func (l ledger) row(id string) *Row {
	for i := range l.Rows {
		if l.Rows[i].ID == id {
			return &l.Rows[i]
		}
	}
	return nil
}

// auditPath returns the path of the audit database, relative to the workspace.
func auditPath(r *cycle) string { return layout.OptimizerDatabase(r.run.Snap.Dir, r.cfg.AuditDB) }

// rowTries are the delays between the first tries of a row. After them the row is pending, and
// placet tries it every slowTry.
var rowTries = []time.Duration{time.Second, 5 * time.Second, 25 * time.Second, 2 * time.Minute}

const slowTry = 10 * time.Minute

// in reports whether the row is in the database.
func (row Row) in() bool { return row.Outcome == rowInserted || row.Outcome == rowPresent }

// Settled reports whether a row needs no more tries: the database has it or refused it.
func (row Row) Settled() bool { return row.in() || row.Outcome == rowRefused }

// tryID returns the id of the next try of a row. It contains the time of the try, because an action
// begins only once in a process, whatever others write into audit.json meanwhile.
func tryID(r *cycle, row Row) string {
	return r.actionID(fmt.Sprintf("row/%s/%d@%s", row.ID, row.Tries, row.NextTryAt))
}

// scheduled sets the time of a row's next try if the row has none or its time is long past. If this
// process had begun that try, the snapshot would know of it.
func scheduled(r *cycle, row Row) Row {
	next, id := row.NextTryAt.Time(), tryID(r, row)
	_, over := r.run.Snap.Facts.Ended[id]
	if over || r.run.Snap.Facts.Alive[id] || r.run.Snap.Now.Before(next.Add(slowTry)) {
		return row
	}
	row.NextTryAt = run.Seconds(r.run.Snap.Now)
	return row
}

// rowDue reports whether to try a row now.
func rowDue(r *cycle, row Row) bool {
	next := row.NextTryAt.Time()
	if !r.run.Snap.Now.Before(next) || r.run.Snap.Facts.Alive[tryID(r, row)] {
		r.run.WakeAt(next.Add(slowTry))
		return true
	}
	if asked := r.cfg.TryNow; row.Outcome == rowPending && !asked.IsZero() && next.Add(-slowTry).Before(asked) {
		return true
	}
	r.run.WakeAt(next)
	return false
}

// waitsFor reports whether a row names another row that is not settled: that one has to enter the
// database first.
func (l ledger) waitsFor(row Row, audit text) bool {
	first := l.row(string(audit))
	return row.Table == userFeedback && audit != "" && (first == nil || !first.Settled())
}

// newLedger returns the ledger that the state calls for, with what became of its rows so far.
func newLedger(r *cycle) ledger {
	// The setting decides where rows go, not the path in the file. If rows are left for the new
	// database, the ones that are already in the old one go there, too.
	l := ledger{Audit: Audit{DB: auditPath(r), Rows: owing(r, r.audit)}}
	if old := r.audit.DB; old != "" && old != l.DB {
		if slices.ContainsFunc(l.Rows, func(row Row) bool { return !row.Settled() }) {
			l.Rows = owing(r, ledger{})
		} else {
			l.DB = old
		}
	}
	for i, row := range l.Rows {
		switch {
		case row.Settled():
		case !l.waitsFor(row, r.run.State.AuditID):
			l.Rows[i] = scheduled(r, row)
		case row.Outcome == rowOwed && l.row(string(r.run.State.AuditID)).Outcome == rowPending:
			l.Rows[i].Outcome, l.Rows[i].LastError = rowPending, text(r.words("row.waits", "row", r.run.State.AuditID))
		}
	}
	return l
}

// owing returns the rows that the state calls for, with what is known of each.
func owing(r *cycle, known ledger) (rows []Row) {
	for _, row := range owedRows(r) {
		if have := known.row(row.ID); have != nil {
			row.Outcome, row.Tries, row.NextTryAt = have.Outcome, have.Tries, have.NextTryAt
			row.LastError, row.SettledAt = have.LastError, have.SettledAt
			if have.Settled() {
				row.Row = have.Row
			}
		}
		rows = append(rows, afterTry(r, row))
	}
	return rows
}

// afterTry returns a row with the result of its try, if the try has ended.
func afterTry(r *cycle, row Row) Row {
	if row.Settled() {
		return row
	}
	end, over := r.run.Snap.Facts.Ended[tryID(r, row)]
	if !over {
		return row
	}
	row.Tries++
	row.LastError = text(templates.Cut(end.Reason, longestError))
	if outcome, settled := settledAs[end.Result]; settled {
		row.Outcome, row.NextTryAt, row.SettledAt = outcome, "", run.Seconds(r.run.Snap.Now)
		return row
	}
	next := slowTry
	if row.Tries <= len(rowTries) {
		next = rowTries[row.Tries-1]
	} else {
		row.Outcome = rowPending
	}
	row.NextTryAt = run.Millis(r.run.Snap.Now.Add(next))
	return row
}

// settledAs maps the result of a try to the outcome of its row. After any other result placet tries
// again.
var settledAs = map[string]string{"done": rowInserted, "present": rowPresent, "refused": rowRefused}

// recording plans audit.json, audit-pending.jsonl, and the actions for the rows that are due.
func recording(r *cycle, w *run.Outputs) {
	if !r.audit.sound || unsureLate(r) || r.run.State.AuditID == "" {
		return
	}
	now := newLedger(r)
	w.Always("audit.json", run.Encoded(now.Audit))
	listPending(r, w, now.Rows)
	for _, row := range now.Rows {
		switch {
		case row.Outcome == rowRefused:
			r.run.Notes.Beside(r.audit.doc.Path, r.words("note.refused", "db", now.DB, "row", row.ID, "error", row.LastError))
		case row.Settled() || now.waitsFor(row, r.run.State.AuditID):
		case rowDue(r, row):
			into := now.Into(row)
			into.Hint = MigrateHint(r.run.Lang)
			w.Plan.Actions = append(w.Plan.Actions, engine.Action{ID: tryID(r, row), Database: &into})
		}
	}
}

// listPending writes audit-pending.jsonl, the list of the pending rows, and removes it when none is
// left.
func listPending(r *cycle, w *run.Outputs, rows []Row) {
	var lines []byte
	for _, row := range rows {
		if row.Outcome == rowPending {
			lines = append(lines, run.Must(schemas.Line(schemas.Object{
				{Name: "table", Value: row.Table}, {Name: "id", Value: row.ID}, {Name: "row", Value: row.Row},
				{Name: "since", Value: rowSince(row)}, {Name: "last_error", Value: row.LastError},
			}))...)
		}
	}
	switch d := r.run.Snap.In("audit-pending.jsonl"); {
	case d.Err != nil && !d.Absent():
	case lines == nil && !d.Absent():
		w.Plan.Removes = append(w.Plan.Removes, d.Path)
	case lines != nil && d.Sum != engine.Sum(lines):
		w.Put("audit-pending.jsonl", lines)
	}
}

// rowSince returns the time from which a row has been waiting.
func rowSince(row Row) text {
	created, _ := plainValue(row.Row.Get("created_at")).(string)
	at, err := time.Parse(time.DateTime, created)
	if err != nil {
		return ""
	}
	return run.Seconds(at)
}

// auditColumns are the columns that a database must have, those of upstream's version 1.3.
// laterColumns came with version 1.5; placet leaves them out if a table lacks them.
var (
	auditColumns = map[string][]string{
		auditLogs: {
			"id", "date", "task_name", "mode", "action", "input_path", "output_path", "script_path", "status", "notes", "context_for_next",
			"continuation_hint", "transition_repeated", "transition_reuse", "transition_decision", "created_at", "updated_at",
		},
		userFeedback: {
			"id", "date", "user_id", "feedback_text", "source_ref_path", "impact_domain", "impact_summary", "reversibility", "related_audit_id",
			"created_at", "updated_at",
		},
	}
	laterColumns = map[string][]string{auditLogs: {
		"work_type", "triggered_by", "duration_sec", "files_affected", "sprint", "pattern_tag", "session_id", "intent",
	}}
)

// MigrateHint returns advice, in a language, for a database that lacks a column. init_db alone
// fails on a table without the later columns, because it creates their indexes first.
func MigrateHint(lang string) string { return phrase(lang, "row.migrate") }

// actionID returns the id of an action of the cycle. An action begins only once in a process, so a
// cycle that begins anew under the same run gets ids of its own.
func (r *cycle) actionID(what string) string {
	return r.run.Actions() + string(r.run.State.BeganAt) + "/" + what
}

// keeps reports whether an action that the state does not name is kept: a query from which
// context.json may be written once more, and an action that depends on a document which is unusable
// now.
func (r *cycle) keeps(id string) bool {
	what := strings.TrimPrefix(id, r.actionID(""))
	switch {
	case r.looked(id):
		return true
	case strings.HasPrefix(what, "row/"):
		return !r.audit.sound || unsureLate(r)
	case strings.HasPrefix(what, "level/") && r.run.State.Status == Running:
		last := r.attempts().last()
		return last != nil && (last.bad || last.outcome == nil && r.data().pending)
	}
	return false
}

// plainValue returns a column's value as a database takes it: a text, a number or nil. The value
// was made here or read from audit.json.
func plainValue(v any) any {
	raw, ok := v.(schemas.Raw)
	if !ok {
		return v
	}
	if s, isText := raw.Text(); isText {
		return s
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return n
	}
	return nil
}
