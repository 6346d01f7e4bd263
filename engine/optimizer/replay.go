package optimizer

import (
	"placet/engine"
	"placet/templates"
)

// ReadAudit decodes an audit.json. The error is a *schemas.Error.
func ReadAudit(body []byte) (Audit, error) { return decodeAudit("audit.json", body) }

// Into is one of the rows for its database, with the row of audit_logs that it names:
// a database that was put in the place of another lacks that, though it went in once.
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

// AuditSchema names what an audit database may hold, and the SQL that makes it.
const AuditSchema = "optimizer/audit"

// Into is the row alone for a database, whose path is relative to the workspace: plain
// values, and what the database must be like.
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
