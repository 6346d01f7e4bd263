package optimizer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/templates"
)

// The run and the workflow of most tests.
const (
	runA  = "20260302-msowd-sop-masking"
	runB  = "20260303-msowd-sop-masking"
	runC  = "20260304-msowd-sop-masking"
	flow  = "sop-masking-engine"
	theDB = ".mso-context/audit_global.db"
)

var storyNow = time.Date(2026, 3, 2, 9, 12, 0, 0, time.UTC)

// suiteOf returns what the laws need to know of the family.
func suiteOf(change func(*Config)) enginetest.Suite {
	own := configOf(change)
	return enginetest.Suite{
		Machine: New(), Layout: layout.Optimizer{}, Config: engine.Config{Language: own.Language, Family: own},
		Final: map[string][]engine.Status{ofCycle: {Reached, Failed}}, Persons: byPersons,
	}
}

// byPersons are the events that a person can cause: with an answer, or with a file that fails a
// level or abandons the cycle.
var byPersons = []string{continued, declined, retried, demoted, levelFailed, answered, stopped}

// configOf returns the default settings in English, with changes.
func configOf(change func(*Config)) Config {
	c := DefaultConfig()
	c.Language = templates.English
	if change != nil {
		change(&c)
	}
	return c
}

// korean restores the language of the default settings.
func korean(c *Config) { c.Language = DefaultConfig().Language }

// desk is a workspace of cycles; run is the current one.
type desk struct {
	*enginetest.Desk
	run string
	db  *database
	// put holds what the test itself wrote, by path.
	put map[string]string
}

// Put writes a file as somebody else would.
func (d *desk) Put(p, body string) {
	d.put[p] = body
	d.Desk.Put(p, body)
}

// tell runs a test with the default settings.
func tell(t *testing.T, story func(d *desk)) {
	t.Helper()
	tellWith(t, nil, story)
}

// tellWith runs a test with changed settings.
func tellWith(t *testing.T, change func(*Config), story func(d *desk)) {
	t.Helper()
	db := &database{}
	s := suiteOf(change)
	s.Database = db.ask
	enginetest.AtDesk(t, s, enginetest.Case{Now: storyNow, Files: enginetest.Tree{}}, func(e *enginetest.Desk) {
		d := &desk{e, runA, db, map[string]string{}}
		story(d)
		tree := e.Tree()
		maps.DeleteFunc(tree, func(p, body string) bool { return d.put[p] == body && body != "" })
		writtenWell(t, tree)
	})
}

// each runs one subtest per name.
func each[V any](t *testing.T, cases map[string]V, story func(d *desk, c V)) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { tell(t, func(d *desk) { story(d, c) }) })
	}
}

// config changes the settings from now on.
func (d *desk) config(change func(*Config)) {
	before := d.Case.Config
	d.Case.Config = func(all *engine.Config) {
		if before != nil {
			before(all)
		}
		c := all.Family.(Config)
		change(&c)
		all.Family = c
	}
}

// trust makes the owner agree to commands.
func (d *desk) trust(argv ...[]string) {
	for _, a := range argv {
		d.Case.Trusted = append(d.Case.Trusted, CommandDigest(a))
	}
}

// in returns the path of a file of the current run.
func (d *desk) in(rel string) string { return path.Join(dirOf(d.run), rel) }

func dirOf(run string) string {
	if in, ok := strings.CutPrefix(run, "workspace/"); ok {
		return path.Join("workspace/.mso-context/active", in, "optimizer")
	}
	return path.Join(".mso-context/active", run, "optimizer")
}

func (d *desk) write(rel, body string)   { d.Put(d.in(rel), body) }
func (d *desk) read(rel string) string   { d.T.Helper(); return d.Read(d.in(rel)) }
func (d *desk) there(rel string) bool    { return d.Has(d.in(rel)) }
func (d *desk) unlink(rel string)        { d.Remove(d.in(rel)) }
func (d *desk) pass(by time.Duration)    { d.Pass(by) }
func (d *desk) on(run string) *desk      { return &desk{d.Desk, run, d.db, d.put} }
func (d *desk) decode(rel string, v any) { d.T.Helper(); decodeAt(d.T, d.in(rel), d.read(rel), v) }

func decodeAt(t testing.TB, where, body string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), v); err != nil {
		t.Fatalf("%s: %v\n%s", where, err, body)
	}
}

// trigger begins a cycle; the fields are members of trigger.json after the workflow's name.
func (d *desk) trigger(fields ...string) {
	d.write("trigger.json", triggerOf(flow, fields...))
}

func triggerOf(workflow string, fields ...string) string {
	return "{" + strings.Join(append([]string{fmt.Sprintf(`"workflow_name": %q`, workflow)}, fields...), ", ") + "}"
}

// assetsOf returns an assets.json that allows a level.
func assetsOf(level int) string {
	switch level {
	case 30:
		return `{"evaluation_script": "scripts/evaluation.py", "analysis_script": null, "criteria_fixed": true}`
	case 20:
		return `{"analysis_script": "scripts/analyse.py"}`
	}
	return `{}`
}

func (d *desk) assets(level int) { d.write("inputs/assets.json", assetsOf(level)) }

// kpi writes one gated metric with a value.
func (d *desk) kpi(value float64) {
	d.write("inputs/kpi.json", fmt.Sprintf(`{"metrics": [{"name": "precision", "value": %v, "target": 95}]}`, value))
}

// retrievedLines are the data of a level.
const retrievedLines = `{"record_id": "r1", "metric": "precision", "value": 86}
{"record_id": "r2", "metric": "precision", "value": 88, "flag": null}
{"record_id": "r3", "metric": "recall", "value": 70, "flag": "anomaly"}
`

const threeSuggestions = `{"suggestions": [
  {"text": "희귀 라벨 검사 추가"},
  {"text": "규칙 정리", "priority": "high"},
  {"text": "로그 줄이기", "priority": "normal"}
], "summary": "정밀도가 조금 낮다", "patterns": ["월말에 낮음"]}`

// level20 brings the current run to its reviewer at level 20.
func (d *desk) level20(fields ...string) {
	d.T.Helper()
	d.assets(20)
	d.kpi(87)
	d.write("retrieved.jsonl", retrievedLines)
	d.write("suggestions.json", threeSuggestions)
	d.trigger(fields...)
	d.Settle()
	d.status(Awaiting)
}

// level10 brings the current run to its reviewer at level 10.
func (d *desk) level10(fields ...string) {
	d.T.Helper()
	d.assets(10)
	d.trigger(fields...)
	d.Settle()
	d.status(Awaiting)
}

// edges settles, and returns the events of all runs.
func (d *desk) edges() string {
	d.T.Helper()
	var events []string
	for _, t := range d.Settle() {
		events = append(events, t.Event)
	}
	return strings.Join(events, " ")
}

// goes settles, and checks for these events.
func (d *desk) goes(events ...string) {
	d.T.Helper()
	if got, want := d.edges(), strings.Join(events, " "); got != want {
		d.T.Errorf("the edges are %q, expected %q", got, want)
	}
}

func (d *desk) state() State {
	d.T.Helper()
	st, err := decodeState("state.json", []byte(d.read("state.json")))
	if err != nil {
		d.T.Fatal(err)
	}
	return st
}

func (d *desk) status(want engine.Status) {
	d.T.Helper()
	if got := d.state().Status; got != want {
		d.T.Fatalf("%s is %s, expected %s; notes %q", d.run, got, want, d.notes())
	}
}

// asked returns the id of the newest request of a type; it fails the test without one.
func (d *desk) asked(typ string) string {
	d.T.Helper()
	found := ""
	prefix := d.in("requests") + "/" + typ + "-"
	for p := range d.Tree() {
		if rest, ok := strings.CutPrefix(p, prefix); ok && strings.HasSuffix(rest, "/request.json") {
			id := typ + "-" + strings.TrimSuffix(rest, "/request.json")
			if found == "" || !d.there("requests/"+id+"/receipt.json") {
				found = id
			}
		}
	}
	if found == "" {
		d.T.Fatalf("no request of type %s was made; there are %q", typ, d.Tree().Paths())
	}
	return found
}

// request returns the path of a file of the request of a type.
func (d *desk) request(typ, name string) string {
	d.T.Helper()
	return "requests/" + d.asked(typ) + "/" + name
}

// respond answers the request of a type by response.json; fields are members of
// it after the request's id.
func (d *desk) respond(typ string, fields ...string) {
	d.T.Helper()
	id := d.asked(typ)
	all := append([]string{fmt.Sprintf(`"request_id": %q`, id)}, fields...)
	d.write("requests/"+id+"/response.json", "{"+strings.Join(append(all, `"provided_by": {"user": "kim", "source": "file"}`), ", ")+"}")
}

// tick ticks items of the form of hitl, as a reviewer does; submit is one of them.
func (d *desk) tick(items ...string) {
	d.T.Helper()
	d.tickIn(d.request(typeHITL, "form.md"), items...)
}

// tickAgain ticks items of the form that was issued after answers to hitl became void.
func (d *desk) tickAgain(items ...string) {
	d.T.Helper()
	for rel := range d.Tree() {
		if ok, _ := path.Match("form-*.md", path.Base(rel)); ok {
			d.tickIn(strings.TrimPrefix(rel, d.in("")+"/"), items...)
		}
	}
}

func (d *desk) tickIn(rel string, items ...string) {
	d.T.Helper()
	body := d.read(rel)
	for _, item := range items {
		ticked := strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
		if ticked == body {
			d.T.Fatalf("the form has no item %q:\n%s", item, body)
		}
		body = ticked
	}
	d.write(rel, body)
}

// comment writes into the comment section of the form of hitl.
func (d *desk) comment(words string) {
	d.T.Helper()
	rel := d.request(typeHITL, "form.md")
	body := d.read(rel)
	at := strings.Index(body, "3. ")
	open := strings.Index(body[at:], "-->")
	if at < 0 || open < 0 {
		d.T.Fatalf("the form has no place for a comment:\n%s", body)
	}
	at += open + len("-->\n")
	d.write(rel, body[:at]+words+"\n"+body[at:])
}

func (d *desk) goal() Goal {
	d.T.Helper()
	var g Goal
	d.decode("goal.json", &g)
	return g
}

// rows returns the rows of a table of the workspace's database that placet added.
func (d *desk) rows(table string) []map[string]any {
	var all []map[string]any
	for _, row := range d.Rows(theDB) {
		if row.Table == table {
			all = append(all, columns(row))
		}
	}
	return all
}

// notes returns the problem notes, relative to the folder of the current run.
func (d *desk) notes() []string {
	var list []string
	for p := range d.Tree() {
		if strings.HasSuffix(p, "problem.md") {
			list = append(list, strings.TrimPrefix(p, dirOf(d.run)+"/"))
		}
	}
	slices.Sort(list)
	return list
}

// noted checks for exactly these notes, each with a word.
func (d *desk) noted(pairs ...string) {
	d.T.Helper()
	var want []string
	for i := 0; i < len(pairs); i += 2 {
		want = append(want, pairs[i])
		if body := d.notes(); slices.Contains(body, pairs[i]) && !strings.Contains(d.noteBody(pairs[i]), pairs[i+1]) {
			d.T.Errorf("%s does not say %q:\n%s", pairs[i], pairs[i+1], d.noteBody(pairs[i]))
		}
	}
	slices.Sort(want)
	if got := d.notes(); !slices.Equal(got, want) {
		d.T.Errorf("the notes are %q, expected %q", got, want)
	}
}

func (d *desk) noteBody(rel string) string { return d.Read(path.Join(dirOf(d.run), rel)) }

// holds checks that a file contains words.
func (d *desk) holds(rel string, words ...string) {
	d.T.Helper()
	for _, w := range words {
		if !strings.Contains(d.read(rel), w) {
			d.T.Errorf("%s does not hold %q:\n%s", rel, w, d.read(rel))
		}
	}
}

// database replaces the audit databases of a test. It answers the machine's two queries as their
// SQL does, over the rows that placet added and those of others.
type database struct {
	// fails is why the database is unusable, "" if it is usable.
	fails string
	// forbids lists tables whose rules refuse every row.
	forbids []string
	// others holds the rows that placet did not add, by table.
	others map[string][]map[string]any
	// asked counts the queries.
	asked int
}

// ask returns the answer of such a database, nil for a row that may go in.
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

// named reports whether the row of audit_logs exists that a row names, if it names one.
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

// columns returns a row's values by column.
func columns(row engine.Row) map[string]any {
	m := map[string]any{}
	for _, v := range row.Values {
		m[v.Name] = v.Value
	}
	return m
}

// feedbackOn returns a row of user_feedback about a workflow, as placet writes it.
func feedbackOn(id, date string, before, after int) map[string]any {
	text, err := json.Marshal(map[string]any{"feedback_type": "level_adjustment", "workflow_name": flow, "level_before": before, "level_after": after, "free_text": ""})
	if err != nil {
		panic(err)
	}
	return map[string]any{"id": id, "date": date, "created_at": date + " 08:00:00", "impact_domain": domain, "feedback_text": string(text)}
}

// stage is a cycle in memory, without store and loop, for tests that step the machine very often.
type stage struct{ *enginetest.Stage }

// newStage returns a run that nobody has begun, without a wait for inputs.
func newStage(t testing.TB) *stage {
	run, ok := layout.Optimizer{}.At(dirOf(runA))
	if !ok {
		t.Fatal("the layout does not know the run")
	}
	s := enginetest.NewStage(t, New(), layout.Optimizer{}, run, engine.Config{Language: "en", Family: configOf(func(c *Config) { c.InputsWait = "0s" })})
	s.Now = storyNow
	return &stage{s}
}

// rest settles the cycle: the database answers its queries, and no file counts as incomplete any
// more.
func (s *stage) rest() {
	s.T.Helper()
	for range 16 {
		s.Calm()
		ended := false
		for _, a := range s.Begun {
			if !s.Facts.Alive[a.ID] {
				continue
			}
			e := engine.Ended{Result: "done"}
			if a.Database != nil && a.Database.Insert == nil {
				e.Output = []byte(`{"audit_logs": [], "user_feedback": []}`)
			}
			s.End(a.ID, e)
			ended = true
		}
		if !ended {
			return
		}
	}
	s.T.Fatal("it wants something of a database again and again")
}

// copyOf returns a copy of a cycle for a test of its own, with a judge.
func copyOf(t *testing.T, s *stage) *stage {
	c := *s.Stage
	c.Files = enginetest.Tree(c.Files).Clone()
	c.Changed, c.Owner, c.Unsettled = map[string]time.Time{}, map[string]string{}, map[string]bool{}
	c.Facts.Alive, c.Facts.Ended, c.Begun, c.Ended, c.Forgotten = map[string]bool{}, map[string]engine.Ended{}, nil, nil, nil
	c.Machine = New()
	return &stage{enginetest.Fuzzed(t, &c, enginetest.Suite{Layout: layout.Optimizer{}})}
}

// put writes a file with content.
func (s *stage) put(rel, body string) {
	if body != "" {
		s.Write(rel, body)
	}
}

// find returns the path of a request's file, or "".
func (s *stage) find(name string) string {
	return enginetest.Tree(s.Files).Find(s.In("requests/*/" + name))
}

// backTo restores state and journal to before a commit whose receipt already exists.
func (d *desk) backTo(state, events string) {
	d.PutBack(dirOf(d.run), d.in("state.json"), state)
	d.write("events.jsonl", events)
}

// snapshot returns the run as its machine sees it. All of its files are settled, except those that
// a change affects.
func (d *desk) snapshot(change map[string]func(*engine.Document)) engine.Snapshot {
	dir, tree := dirOf(d.run), d.Tree()
	s := engine.Snapshot{
		Key: engine.Key{Family: "optimizer", ID: d.run}, Dir: dir, Now: d.Now(),
		Facts: engine.Environment{Config: engine.Config{Language: "en", Family: DefaultConfig()}, Trusted: map[engine.Digest]bool{}},
	}
	if d.Case.Config != nil {
		d.Case.Config(&s.Facts.Config)
	}
	for _, digest := range d.Case.Trusted {
		s.Facts.Trusted[digest] = true
	}
	run, _ := layout.Optimizer{}.At(dir)
	for _, p := range tree.Paths() {
		rel, own := strings.CutPrefix(p, dir+"/")
		f, known := layout.Optimizer{}.File(run, rel)
		if !own || !known {
			continue
		}
		doc := engine.Document{Path: p, Kind: f.Kind, Body: []byte(tree[p]), Sum: engine.Sum([]byte(tree[p])), Changed: d.Now().Add(-calmFor)}
		if c := change[rel]; c != nil {
			c(&doc)
		}
		s.Docs = append(s.Docs, doc)
	}
	slices.SortFunc(s.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	return s
}

// calmFor is how long the files of a snapshot have been unchanged.
const calmFor = 60e9

// beingWritten makes a document look as if somebody were writing it.
func beingWritten(d *engine.Document) { d.Body, d.Sum, d.Err = nil, "", engine.ErrUnsettled }

// step returns the machine's plan.
func (d *desk) step(change map[string]func(*engine.Document)) engine.Plan {
	d.T.Helper()
	p, err := New().Step(d.snapshot(change))
	if err != nil {
		d.T.Fatal(err)
	}
	return p
}

// took returns the events of a plan.
func took(p engine.Plan) string {
	var events []string
	for _, t := range p.Transitions {
		events = append(events, t.Event)
	}
	return strings.Join(events, " ")
}
