package optimizer

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// The findings of check about optimisation cycles, outside their own documents, are of scripts
// that are named and do not exist, and of rows that the audit database ought to have.

// CycleFindings returns these findings of some runs.
func CycleFindings(b *workspace.Workspace, views []view.Run) []view.FindingLine {
	var lines []view.FindingLine
	rows := map[string][]auditRow{} // by their database
	for _, v := range views {
		if v.Found.Run.Family != "optimizer" || v.Found.Run.Class == layout.OptimizerMisnamed {
			continue
		}
		if !v.Final {
			lines = append(lines, missingScripts(b, v)...)
		}
		for _, o := range rowsOf(b, v.Found) {
			if o.isRecorded() {
				rows[o.audit.DB] = append(rows[o.audit.DB], o)
			}
		}
	}
	databases := sqlite.New(b.Root)
	for _, db := range slices.Sorted(maps.Keys(rows)) {
		lines = append(lines, missingRows(b.Env, databases, db, rows[db])...)
		databases.Release(db)
	}
	return lines
}

// missingScripts returns the scripts that a run's assets.json names and that do not exist.
// Nothing of the workspace is executed by such a name.
func missingScripts(b *workspace.Workspace, v view.Run) []view.FindingLine {
	d := b.ReadDocument(v.Found, "inputs/assets.json")
	var a optimizer.Assets
	if !d.Present() || schemas.Decode("optimizer/assets", "assets.json", d.Body, &a) != nil {
		return nil
	}
	var lines []view.FindingLine
	for _, name := range []string{string(a.EvaluationScript), string(a.AnalysisScript)} {
		if name == "" || !layout.Safe(name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(b.Root, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			lines = append(lines, view.FindingLine{Run: v.Key.String(), Severity: "warning", Path: d.Path, Text: b.Env.Text("cli.check.script", "name", strconv.Quote(name))})
		}
	}
	return lines
}

// askedAtOnce limits the rows in one query.
const askedAtOnce = 200

// missingRows returns the rows that runs call inserted and that a database does not have.
func missingRows(w *console.Env, databases *sqlite.Databases, db string, rows []auditRow) (lines []view.FindingLine) {
	for some := range slices.Chunk(rows, askedAtOnce) {
		there, gone, problem := rowIDs(w, databases, db, some)
		if gone {
			problem = w.Text("cli.check.nodatabase", "rows", templates.NewMessage("count.rows", "n", len(rows)))
		}
		if problem != "" {
			return []view.FindingLine{{Run: rows[0].found.Key().String(), Severity: "warning", Path: db, Text: problem}}
		}
		for _, o := range some {
			if !there[o.row.ID] {
				text := w.Text("cli.check.norow", "row", o.row.ID, "table", o.row.Table, "outcome", o.row.Outcome, "database", db)
				lines = append(lines, view.FindingLine{Run: o.found.Key().String(), Severity: "warning", Path: path.Join(o.found.Run.Dir, "audit.json"), Text: text})
			}
		}
	}
	return lines
}

// rowIDs returns which of some rows a database has, by their ids. gone says that the database
// does not exist, problem why it cannot be queried.
func rowIDs(w *console.Env, databases *sqlite.Databases, db string, rows []auditRow) (there map[string]bool, gone bool, problem string) {
	end := databases.Do(idQuery(db, rows))
	switch end.Result {
	case "absent":
		return nil, true, ""
	case "done":
	default:
		return nil, false, w.Text("cli.check.unasked", "reason", end.Reason)
	}
	var found map[string][]struct {
		ID string `json:"id"`
	}
	if err := schemas.Decode("", db, end.Output, &found); err != nil {
		return nil, false, templates.In(w.Lang, err)
	}
	there = map[string]bool{}
	for _, list := range found {
		for _, row := range list {
			there[row.ID] = true
		}
	}
	return there, false, ""
}

// idQuery returns a query for the ids of rows.
func idQuery(db string, rows []auditRow) engine.Database {
	ids := map[string][]any{}
	for _, o := range rows {
		ids[o.row.Table] = append(ids[o.row.Table], o.row.ID)
	}
	q := engine.Database{Path: db, Schema: optimizer.AuditSchema}
	for _, table := range slices.Sorted(maps.Keys(ids)) {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(ids[table])), ",")
		q.Select = append(q.Select, engine.Query{Name: table, SQL: "SELECT id FROM " + table + " WHERE id IN (" + marks + ")", Args: ids[table]})
	}
	return q
}
