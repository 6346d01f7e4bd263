package optimizer

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"placet/engine"
)

// database is what stands for the audit databases of a story: it answers the two
// questions of the machine as their SQL does, over the rows that placet added and
// those of others.
type database struct {
	// fails is why nothing can be done with it, "" where it can.
	fails string
	// forbids are tables whose rules refuse every row.
	forbids []string
	// others are the rows that placet did not add, by table.
	others map[string][]map[string]any
	// asked counts what it was asked for.
	asked int
}

// ask is what such a database answers, nil for a row that may go in.
func (d *database) ask(q engine.Database, rows []engine.Row) *engine.Ended {
	d.asked++
	switch {
	case d.fails != "":
		return &engine.Ended{Result: "failed", Reason: d.fails}
	case q.Insert != nil && slices.Contains(d.forbids, q.Insert.Table):
		return &engine.Ended{Result: "refused", Reason: "the rules of " + q.Path + " forbid it: CHECK constraint failed"}
	case q.Insert != nil && !d.named(*q.Insert, rows):
		return &engine.Ended{Result: "refused", Reason: "FOREIGN KEY constraint failed"}
	case q.Insert != nil:
		return nil
	case len(rows)+len(d.others) == 0:
		return &engine.Ended{Result: "absent"}
	}
	found := map[string][]map[string]any{}
	for _, query := range q.Select {
		found[query.Name] = d.look(query, rows)
	}
	body, err := json.Marshal(found)
	if err != nil {
		panic(err)
	}
	return &engine.Ended{Result: "done", Output: body}
}

// named reports whether the row of audit_logs is there that a row names, if it names
// one.
func (d *database) named(row engine.Row, rows []engine.Row) bool {
	parent, names := columns(row)["related_audit_id"].(string)
	return !names || slices.ContainsFunc(rows, func(r engine.Row) bool { return r.Table == auditLogs && r.ID == parent })
}

func (d *database) look(q engine.Query, rows []engine.Row) []map[string]any {
	all, most := slices.Clone(d.others[q.Name]), q.Args[len(q.Args)-1].(int)
	for _, row := range rows {
		if row.Table == q.Name {
			all = append(all, columns(row))
		}
	}
	text := func(row map[string]any, name string) string { s, _ := row[name].(string); return s }
	all = slices.DeleteFunc(all, func(row map[string]any) bool {
		if q.Name == auditLogs {
			like := q.Args[1].(string)
			return row["task_name"] != q.Args[0] && !strings.Contains(text(row, "input_path"), like) && !strings.Contains(text(row, "output_path"), like)
		}
		var said map[string]any
		return row["impact_domain"] != q.Args[0] || json.Unmarshal([]byte(text(row, "feedback_text")), &said) != nil || said["workflow_name"] != q.Args[1]
	})
	slices.SortFunc(all, func(a, b map[string]any) int {
		return -cmp.Or(cmp.Compare(text(a, "date"), text(b, "date")), cmp.Compare(text(a, "created_at"), text(b, "created_at")), cmp.Compare(text(a, "id"), text(b, "id")))
	})
	return append([]map[string]any{}, all[:min(len(all), most)]...)
}

// columns are a row's values by column.
func columns(row engine.Row) map[string]any {
	m := map[string]any{}
	for _, v := range row.Values {
		m[v.Name] = v.Value
	}
	return m
}

// feedbackOn is a row of user_feedback about a workflow, as placet writes it.
func feedbackOn(id, date string, before, after int) map[string]any {
	text, err := json.Marshal(map[string]any{"feedback_type": "level_adjustment", "workflow_name": flow, "level_before": before, "level_after": after, "free_text": ""})
	if err != nil {
		panic(err)
	}
	return map[string]any{"id": id, "date": date, "created_at": date + " 08:00:00", "impact_domain": domain, "feedback_text": string(text)}
}
