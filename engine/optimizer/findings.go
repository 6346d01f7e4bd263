package optimizer

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// findings returns the inconsistencies that `check` reports besides the notes.
func (r *cycle) findings() []engine.Finding {
	var list []engine.Finding
	add := func(severity, path, text string) {
		list = append(list, engine.Finding{Severity: severity, Path: path, Text: text})
	}
	if _, key, _, ok := layout.OptimizerParts(r.runID()); ok && !slices.Contains(layout.OptimizerKeys(), key) {
		add("warning", r.run.Snap.Dir, r.words("finding.key", "key", strconv.Quote(key), "keys", strings.Join(layout.OptimizerKeys(), ", ")))
	}
	checkKeys(r, add)
	if r.run.Begun {
		checkReportText(r, add)
		checkGoal(r, add)
	}
	for _, row := range r.audit.Rows {
		if row.Outcome == rowPending || row.in() && row.LastError != "" {
			add("warning", r.audit.doc.Path, r.rowWords(row))
		}
	}
	return list
}

// mostStrays is how many unknown keys of one file `check` names.
const mostStrays = 20

// checkKeys reports the keys of kpi.json that nobody reads. placet keeps a misspelt key but ignores
// its value.
func checkKeys(r *cycle, add func(severity, path, text string)) {
	d := r.run.Snap.In("inputs/kpi.json")
	if !d.Present() {
		return
	}
	strays := strayKeys(d.Body)
	for i, s := range strays {
		if i == mostStrays {
			add("warning", d.Path, r.words("finding.strays", "n", len(strays)-i))
			return
		}
		text := "finding.stray"
		if s.Meant != "" {
			text = "finding.stray.meant"
		}
		add("warning", d.Path, r.words(text, "at", run.OneLine(s.Pointer), "key", strconv.Quote(templates.Line(s.Name, shownName)), "meant", strconv.Quote(s.Meant)))
	}
}

// strayKeys returns the unknown keys of a kpi.json and of its metrics, and none if the file is
// unreadable.
func strayKeys(body []byte) []schemas.Stray {
	var whole schemas.Object
	if schemas.Decode("", "kpi.json", body, &whole) != nil {
		return nil // the note about the file says what is wrong
	}
	strays := schemas.Strays("", whole, &KPI{})
	metrics, _ := schemas.Elements(whole.Raw("metrics"))
	for i, raw := range metrics {
		if metric, err := schemas.Members(raw); err == nil {
			strays = append(strays, schemas.Strays(fmt.Sprintf("/metrics/%d", i), metric, &Measure{})...)
		}
	}
	return strays
}

// checkReportText reports a report that is missing or differs from the recorded one.
func checkReportText(r *cycle, add func(severity, path, text string)) {
	rep := r.run.State.Report
	if rep == nil {
		return
	}
	d := r.run.Snap.Doc(rep.Path)
	switch {
	case d.Absent() && final(r.run.State.Status):
		add("warning", rep.Path, r.words("finding.report.gone"))
	case !d.Present() || d.Sum.Hex() == rep.SHA256:
	default:
		text := r.words("finding.report")
		if missing := missingHeadings(d.Body, r.run.State.Level.Current, r.run.State.Lang); len(missing) > 0 {
			text = r.words("finding.report.headings", "headings", strings.Join(missing, ", "))
		}
		add("error", rep.Path, text)
	}
}

// missingHeadings returns the headings of a level's report that a text lacks, in their order.
func missingHeadings(body []byte, level int, lang string) []string {
	var missing []string
	rest := body
	for _, h := range reportHeadings(level, lang) {
		_, after, found := bytes.Cut(append([]byte("\n"), rest...), []byte("\n"+h+"\n"))
		if !found {
			missing = append(missing, h)
			continue
		}
		rest = after
	}
	return missing
}

// checkGoal compares goal.json with the goal that follows from the answer.
func checkGoal(r *cycle, add func(severity, path, text string)) {
	st := r.run.State
	d := r.run.Snap.In("goal.json")
	if st.Goal == nil || !d.Present() {
		return
	}
	var have Goal
	if err := schemas.Decode("optimizer/goal", "goal.json", d.Body, &have); err != nil {
		add("error", d.Path, templates.In(r.run.Lang, err))
		return
	}
	if !sameGoal(have, *st.Goal) {
		add("error", d.Path, r.words("finding.goal", "differences", r.differences(have, *st.Goal)))
	}
	if should := goalOf(st, st.Answer); !sameGoal(should, *st.Goal) {
		add("error", r.run.Doc.Path, r.words("finding.goal.unfounded", "differences", r.differences(*st.Goal, should)))
	}
}

// sameGoal compares goals. An empty list equals a nil one.
func sameGoal(a, b Goal) bool { return bytes.Equal(run.Encoded(a), run.Encoded(b)) }

// differences names the members in which a goal differs from the expected one.
func (r *cycle) differences(have, should Goal) string {
	var words []string
	h, s := reflect.ValueOf(have), reflect.ValueOf(should)
	for i := range h.NumField() {
		if a, b := fmt.Sprint(h.Field(i)), fmt.Sprint(s.Field(i)); a != b {
			words = append(words, r.words("finding.goal.member", "member", h.Type().Field(i).Tag.Get("json"), "have", templates.Line(a, shownName), "want", templates.Line(b, shownName)))
		}
	}
	return strings.Join(words, "; ")
}

// LevelInHand returns the level that a cycle is carrying out according to its state document, or 0.
func LevelInHand(state []byte) int {
	st, err := decodeState("state.json", state)
	if err != nil || st.Status != Running || st.Level == nil {
		return 0
	}
	return st.Level.Current
}

// NamesLevel reports whether a level-error.json says that a level cannot be carried out.
func NamesLevel(body []byte, level int) bool {
	var e LevelError
	return schemas.Decode("optimizer/level-error", "level-error.json", body, &e) == nil && e.Level == level
}

// fabrications finds a goal.json that claims a person's approval and was written while the person
// was still being asked.
func (r *cycle) fabrications() []run.Fabrication {
	d, q := r.run.Snap.In("goal.json"), r.hitl()
	if !r.run.Usable() || !r.run.Begun || r.run.State.Goal != nil || q == nil || q.Status != run.Open || !r.run.IsUnanswered(q.ID) || !d.Changed.After(q.OpenedAt.Time()) {
		return nil
	}
	var goal Goal
	if !d.Present() || schemas.Decode("optimizer/goal", "goal.json", d.Body, &goal) != nil || goal.ApprovedBy != byHuman {
		return nil
	}
	return []run.Fabrication{{Path: d.Path, Pointer: "/approved_by", Says: goal.ApprovedBy, Request: q.ID, Fact: run.Unanswered(q.ID)}}
}

// These limits, in bytes of JSON, bound what others can make placet write. placet has to be able to
// read every document that it writes, and one request shows the findings together with the
// suggestions.
const (
	mostFound   = 512 << 10
	mostOffered = 128 << 10
	// mostIntent is how much of the optimization goal goes into the database.
	mostIntent = 64 << 10
)

// fitting shortens the findings until they fit, and adds a warning if it had to.
func (r *cycle) fitting(f Findings) Findings {
	if len(run.Encoded(f)) <= mostFound {
		return f
	}
	f.Warnings = append([]string{r.words("warning.shortened")}, f.Warnings...)
	var s Findings
	for _, to := range []cutting{{16 << 10, 1000}, {2 << 10, 200}, {200, 50}, {100, 20}} {
		if s = to.findings(f); len(run.Encoded(s)) <= mostFound {
			break
		}
	}
	return s
}

// cutting limits the length of texts, in bytes, and of lists.
type cutting struct{ words, list int }

// findings returns a shortened copy of the findings. It keeps the names of the cycle and its files
// whole.
func (c cutting) findings(f Findings) Findings {
	cut := f
	c.cut(reflect.ValueOf(&cut).Elem())
	cut.RunID, cut.WorkflowName, cut.Usage, cut.Audit.DB = f.RunID, f.WorkflowName, f.Usage, f.Audit.DB
	return cut
}

// cut shortens all texts and lists of a value. It copies lists and pointers before it changes them.
func (c cutting) cut(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(templates.Cut(v.String(), c.words))
	case reflect.Slice:
		n := min(v.Len(), c.list)
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, n), v.Slice(0, n)))
		for i := range n {
			c.cut(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			c.cut(own.Elem())
			v.Set(own)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.cut(v.Field(i))
		}
	}
}

// bytes returns how many bytes of a request the suggestions take each time that it lists them.
func (s Suggestions) bytes() int {
	var texts []string
	for _, g := range s.Suggestions {
		texts = append(texts, g.Text)
	}
	return len(line(texts))
}
