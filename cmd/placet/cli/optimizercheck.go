package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
	"placet/layout"
	"placet/schemas"
)

// What check finds of optimisation cycles outside their own documents: scripts
// that are named and do not exist, and rows that the audit database ought to have.

// cycleFindings are those of some runs.
func cycleFindings(b *workspace.Workspace, views []workspace.View) []workspace.FindingLine {
	var lines []workspace.FindingLine
	rows := recorded{}
	for _, v := range views {
		if v.Found.Run.Family != "optimizer" || v.Found.Run.Class == layout.OptimizerMisnamed {
			continue
		}
		if !v.Final {
			lines = append(lines, missingScripts(b, v)...)
		}
		rows.add(rowsOf(b, v.Found))
	}
	databases := sqlite.New(b.Root)
	for _, db := range slices.Sorted(maps.Keys(rows)) {
		lines = append(lines, missingRows(databases, db, rows[db])...)
		databases.Release(db)
	}
	return lines
}

// missingScripts are the scripts that a run's assets.json names and that do not
// exist. Nothing of the workspace is executed by such a name.
func missingScripts(b *workspace.Workspace, v workspace.View) []workspace.FindingLine {
	kind, _ := v.Found.Family.Layout.File(v.Found.Run, "inputs/assets.json")
	d := b.Settled(path.Join(v.Found.Run.Dir, "inputs/assets.json"), kind)
	var a optimizer.Assets
	if !d.Present() || schemas.Decode("optimizer/assets", "assets.json", d.Body, &a) != nil {
		return nil
	}
	var lines []workspace.FindingLine
	for _, name := range []string{string(a.EvaluationScript), string(a.AnalysisScript)} {
		if name == "" || !layout.Safe(name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(b.Root, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			lines = append(lines, workspace.FindingLine{Run: v.Key.String(), Severity: "warning", Path: d.Path, Text: fmt.Sprintf("it names the script %q, which does not exist", name)})
		}
	}
	return lines
}

// recorded are the rows that runs call inserted, by their database.
type recorded map[string][]auditRow

func (r recorded) add(rows []auditRow) {
	for _, o := range rows {
		if o.row.Outcome == "inserted" || o.row.Outcome == "present" {
			r[o.audit.DB] = append(r[o.audit.DB], o)
		}
	}
}

// lost are those of some rows that a database does not have; gone says that there is
// no such database any more.
func lost(databases *sqlite.Databases, db string, rows []auditRow) (all []auditRow, gone bool, problem string) {
	for some := range slices.Chunk(rows, askedAtOnce) {
		there, gone, problem := rowIDs(databases, db, some)
		if gone || problem != "" {
			return rows, gone, problem
		}
		for _, o := range some {
			if !there[o.row.ID] {
				all = append(all, o)
			}
		}
	}
	return all, false, ""
}

// askedAtOnce is how many rows one query asks a database for.
const askedAtOnce = 200

// missingRows are the rows that runs call inserted and that a database does not
// have.
func missingRows(databases *sqlite.Databases, db string, rows []auditRow) []workspace.FindingLine {
	const again = "; placet optimizer replay --missing puts back what is lost"
	away, gone, problem := lost(databases, db, rows)
	if gone {
		problem = fmt.Sprintf("there is no such database, while %s were recorded in it", console.Plural(len(rows), "row", "rows")) + again
	}
	if problem != "" {
		return []workspace.FindingLine{{Run: rows[0].found.Key().String(), Severity: "warning", Path: db, Text: problem}}
	}
	var lines []workspace.FindingLine
	for _, o := range away {
		text := fmt.Sprintf("the row %s of %s is %s, and %s does not have it", o.row.ID, o.row.Table, o.row.Outcome, db) + again
		lines = append(lines, workspace.FindingLine{Run: o.found.Key().String(), Severity: "warning", Path: path.Join(o.found.Run.Dir, "audit.json"), Text: text})
	}
	return lines
}

// rowIDs are the ids of those of some rows that a database has; gone says that there
// is no such database, problem why it cannot be asked.
func rowIDs(databases *sqlite.Databases, db string, rows []auditRow) (there map[string]bool, gone bool, problem string) {
	ids := map[string][]any{}
	for _, o := range rows {
		ids[o.row.Table] = append(ids[o.row.Table], o.row.ID)
	}
	q := engine.Database{Path: db, Schema: optimizer.AuditSchema}
	for _, table := range slices.Sorted(maps.Keys(ids)) {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(ids[table])), ",")
		q.Select = append(q.Select, engine.Query{Name: table, SQL: "SELECT id FROM " + table + " WHERE id IN (" + marks + ")", Args: ids[table]})
	}
	end := databases.Do(q)
	switch end.Result {
	case "absent":
		return nil, true, ""
	case "done":
	default:
		return nil, false, "it cannot be asked whether it has what was recorded: " + end.Reason
	}
	var found map[string][]struct {
		ID string `json:"id"`
	}
	if err := schemas.Decode("", db, end.Output, &found); err != nil {
		return nil, false, err.Error()
	}
	there = map[string]bool{}
	for _, list := range found {
		for _, row := range list {
			there[row.ID] = true
		}
	}
	return there, false, ""
}
