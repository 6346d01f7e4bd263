package enginetest

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// The toy family: somebody asks, a person approves or rejects, an agent works
// and says that it is finished. It has one of everything that the laws look
// at: a request with a form, a receipt, a view, a journal, a problem note, a
// deadline, a command, a file that another run may need, a row for a database and,
// where its state asks for that, a command whose end it writes down itself.
//
//	waiting --opened→ waiting --approved→ working --finished→ succeeded (final)
//	waiting --rejected, expired→ refused (final)
//	waiting, working --cancelled→ refused
const (
	waiting   engine.Status = "waiting"
	working   engine.Status = "working"
	succeeded engine.Status = "succeeded"
	refused   engine.Status = "refused"
)

// toyLayout is .toy/<id>/.
type toyLayout struct{}

var toyID = regexp.MustCompile(`^[a-z0-9-]+$`)

func (toyLayout) Name() string    { return "toy" }
func (toyLayout) Roots() []string { return []string{".toy"} }

func (l toyLayout) Runs(ls layout.Lister) ([]layout.Run, error) {
	entries, err := ls(".toy")
	var runs []layout.Run
	for _, e := range entries {
		if run, ok := l.At(path.Join(".toy", e.Name, "state.json")); e.Dir && ok {
			runs = append(runs, run)
		}
	}
	return runs, err
}

func (toyLayout) At(p string) (layout.Run, bool) {
	parts := strings.Split(p, "/")
	if len(parts) < 3 || parts[0] != ".toy" || !toyID.MatchString(parts[1]) {
		return layout.Run{}, false
	}
	dir := path.Join(parts[0], parts[1])
	return layout.Run{Family: "toy", ID: parts[1], Dir: dir, State: dir + "/state.json"}, true
}

func (toyLayout) File(_ layout.Run, rel string) (layout.File, bool) {
	kinds := map[string]layout.File{
		"state.json":   {Kind: engine.KindState, Writer: layout.Shared, Limit: layout.LimitState},
		"cancel.json":  {Kind: "cancel", Writer: layout.Reviewer, Limit: layout.LimitJSON},
		"result.json":  {Kind: "result", Writer: layout.Agent, Limit: layout.LimitJSON},
		"outcome.json": {Kind: "outcome", Writer: layout.Placet, Limit: layout.LimitJSON},
		"row.json":     {Kind: "row", Writer: layout.Placet, Limit: layout.LimitJSON},
		"tool.json":    {Kind: "tool", Writer: layout.Placet, Limit: layout.LimitJSON},
		"count.json":   {Kind: "count", Writer: layout.Placet, Limit: layout.LimitJSON},
		"view.md":      {Kind: "view", Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
		"log.jsonl":    {Kind: "log", Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
	}
	if f, ok := kinds[rel]; ok {
		return f, true
	}
	if rest, ok := strings.CutPrefix(rel, "requests/"); ok && strings.Count(rest, "/") == 1 {
		id, name := path.Split(rest)
		files := map[string]layout.File{
			"request.json":  {Kind: layout.KindRequest, Writer: layout.Placet, Limit: layout.LimitJSON},
			"response.json": {Kind: layout.KindResponse, Writer: layout.Anyone, Limit: layout.LimitJSON},
			"receipt.json":  {Kind: layout.KindReceipt, Writer: layout.Placet, Limit: layout.LimitJSON},
			"form.md":       {Kind: layout.KindForm, Writer: layout.Reviewer, Format: layout.Text, Limit: layout.LimitText},
			"problem.md":    {Kind: layout.KindProblem, Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText},
		}
		f, ok := files[name]
		f.Request = path.Clean(id)
		return f, ok
	}
	return layout.File{Kind: layout.KindProblem, Writer: layout.Placet, Format: layout.Text, Limit: layout.LimitText}, rel == "state.json.problem.md"
}

func (toyLayout) Descend(_ layout.Run, rel string) bool {
	return rel == "." || rel == "requests" || strings.HasPrefix(rel, "requests/") && strings.Count(rel, "/") == 1
}

// toy is the machine. A mutant breaks one law.
type toy struct {
	mutant string
	mu     *sync.Mutex
	memory map[string]int
}

func newToy(mutant string) toy {
	return toy{mutant: mutant, mu: &sync.Mutex{}, memory: map[string]int{}}
}

// recall counts its calls with a key in a memory of the machine, which no machine may have.
func (m toy) recall(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memory[key]++
	return m.memory[key]
}

func (toy) Family() string { return "toy" }

func (m toy) Edges() []engine.Edge {
	rows := []engine.Edge{
		{Of: "run", From: waiting, Event: "opened", To: waiting},
		{Of: "run", From: waiting, Event: "approved", To: working},
		{Of: "run", From: waiting, Event: "rejected", To: refused},
		{Of: "run", From: waiting, Event: "expired", To: refused},
		{Of: "run", From: working, Event: "finished", To: succeeded},
		{Of: "run", From: waiting, Event: "cancelled", To: refused},
		{Of: "run", From: working, Event: "cancelled", To: refused},
	}
	switch m.mutant {
	case "a row that nothing leads to":
		rows = append(rows, engine.Edge{Of: "run", From: "limbo", Event: "freed", To: refused})
	case "a status without a way on":
		rows = append(rows, engine.Edge{Of: "run", From: working, Event: "stalled", To: "limbo"})
	case "a way out of a final status":
		rows = append(rows, engine.Edge{Of: "run", From: refused, Event: "reopened", To: waiting})
	case "a doubled row":
		rows = append(rows, rows[0])
	case "an incomplete row":
		rows = append(rows, engine.Edge{Of: "run", From: working, To: refused})
	case "nothing that a person can do":
		rows = append(rows, engine.Edge{Of: "run", From: working, Event: "parked", To: "parked"},
			engine.Edge{Of: "run", From: "parked", Event: "resumed", To: "parked"})
	case "an empty table":
		rows = nil
	case "another table each time":
		if m.recall("edges")%2 == 0 {
			rows = rows[1:]
		}
	}
	return rows
}

// toyState is the state document.
type toyState struct {
	Status   engine.Status `json:"status"`
	Revision int           `json:"revision"`
	Request  string        `json:"request"`
	Deadline string        `json:"deadline,omitempty"`
	Edge     string        `json:"edge,omitempty"`
	At       string        `json:"at,omitempty"`
	Cause    string        `json:"cause,omitempty"`
	Extra    string        `json:"extra,omitempty"`
	Tool     bool          `json:"tool,omitempty"`
}

func (s toyState) final() bool { return s.Status == succeeded || s.Status == refused }

func (toy) Summarize(body []byte) engine.Summary {
	var st toyState
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Summary{}
	}
	return engine.Summary{Status: st.Status, Final: st.final(), Waiting: st.Status == waiting, Touched: true}
}

func (m toy) Account(s engine.Snapshot) engine.RunView {
	a := engine.RunView{Key: s.Key}
	if m.mutant == "an account of its own" {
		a.Why = []string{fmt.Sprint(m.recall("account"))}
	}
	var st toyState
	known := schemas.Decode("", "state.json", s.In("state.json").Body, &st) == nil
	switch a.Final = known && st.final(); {
	case known && st.Status == waiting:
		a.Open = []engine.OpenRequest{{Request: st.Request, Type: "approval", Options: []engine.RequestOption{{ID: "approve", Effect: "goes on"}, {ID: "reject", Effect: toyEffect}}}}
	case !a.Final && m.mutant != "a wait that nobody is told of":
		a.Await("result.json (agent)")
	}
	return a
}

// pace is one step of the toy.
type pace struct {
	m    toy
	s    engine.Snapshot
	st   toyState
	plan engine.Plan
}

func (m toy) Step(s engine.Snapshot) (engine.Plan, error) {
	p := &pace{m: m, s: s}
	if m.mutant == "an error" && s.In("result.json").Present() {
		return p.plan, fmt.Errorf("cannot go on")
	}
	doc := s.In("state.json")
	if doc.Unsettled() || m.mutant == "a language that decides" && s.Facts.Config.Language == "ko" {
		return p.plan, nil
	}
	var notes engine.Notes
	if err := schemas.Decode("", doc.Path, doc.Body, &p.st); err != nil && doc.Present() {
		notes.Beside(doc.Path, err.Error())
	} else if doc.Present() {
		p.step(&notes)
	}
	notes.Plan(s, &p.plan, nil)
	p.spoil()
	return p.plan, nil
}

func (p *pace) step(notes *engine.Notes) {
	p.plan.Needs = []string{"specs/*.md"}
	if !p.s.Has("specs/*.md") {
		return
	}
	if d := p.s.In("log.jsonl"); !d.Present() && !d.Absent() {
		return // an unreadable document is not missing
	}
	if p.unlogged() { // a revision's line precedes the next revision
		p.log()
		return
	}
	p.move(notes)
	p.owe()
	if len(p.plan.Transitions) > 0 && p.m.mutant != "a transition without its state document" {
		p.log()
	}
}

// unlogged reports whether the line of the present revision is missing. A torn
// line does not count.
func (p *pace) unlogged() bool {
	log := string(p.s.In("log.jsonl").Body)
	whole := log[:strings.LastIndex(log, "\n")+1]
	return p.st.Edge != "" && !strings.Contains(whole, fmt.Sprintf("\"revision\":%d,", p.st.Revision))
}

func (p *pace) log() {
	line := fmt.Sprintf("{\"revision\":%d,\"edge\":%q,\"at\":%q}\n", p.st.Revision, p.st.Edge, p.st.At)
	p.plan.Lines = append(p.plan.Lines, engine.Line{Path: path.Join(p.s.Dir, "log.jsonl"), Revision: p.st.Revision, Body: []byte(line)})
}

// move takes the first edge that applies.
func (p *pace) move(notes *engine.Notes) {
	switch {
	case p.st.final() && p.m.mutant != "a final run that moves":
	case p.st.final():
		p.take("finished", succeeded, "result.json")
	case p.s.In("cancel.json").Present():
		p.take("cancelled", refused, "cancel.json")
	case p.st.Status == waiting:
		p.ask(notes)
	case p.s.In("result.json").Present():
		p.take("finished", succeeded, "result.json")
	}
}

// folder is the request's folder, relative to the run.
func (p *pace) folder() string { return "requests/" + p.st.Request }

func (p *pace) ask(notes *engine.Notes) {
	if p.st.Revision == 0 {
		p.take("opened", waiting, "")
		return
	}
	word, name := p.answer(notes)
	switch word {
	case "approve":
		p.take("approved", working, name)
	case "reject":
		p.take("rejected", refused, name)
	case "":
		p.expire()
	}
}

// answer returns the word of the answer, "" for none, "?" for one that cannot
// be used or may still be half written.
func (p *pace) answer(notes *engine.Notes) (word, name string) {
	form := p.s.In(p.folder() + "/form.md")
	response := p.s.In(p.folder() + "/response.json")
	if p.m.mutant == "the answer to a request that does not exist" {
		for _, d := range p.s.Under("requests") {
			if d.Kind == layout.KindResponse {
				response = d
			}
		}
	}
	if form.Unsettled() || response.Unsettled() {
		return "?", ""
	}
	if response.Present() {
		var r struct {
			RequestID string `json:"request_id"`
			Response  string `json:"response"`
		}
		err := schemas.Decode("", response.Path, response.Body, &r)
		if err == nil && r.RequestID != p.st.Request && !strings.HasPrefix(p.m.mutant, "the answer to") {
			err = fmt.Errorf("it answers %q, and %q is asked", r.RequestID, p.st.Request)
		}
		if err == nil && (r.Response == "approve" || r.Response == "reject") {
			return r.Response, response.Path
		}
		notes.Add(path.Join(p.s.Dir, p.folder(), "problem.md"), fmt.Sprint("cannot use the answer: ", err))
		return "?", ""
	}
	for _, word := range []string{"approve", "reject"} {
		if strings.Contains(string(form.Body), "[x] "+word) {
			return word, form.Path
		}
	}
	return "", ""
}

// asked writes the files of the request that was opened.
func (p *pace) asked() {
	p.lack("request.json", `{"request_id":"`+p.st.Request+`"}`)
	p.lack("form.md", "- [ ] approve\n- [ ] reject\n")
}

// lack writes a missing file of the request's folder.
func (p *pace) lack(name, body string) {
	if p.s.In(p.folder() + "/" + name).Absent() {
		p.write(p.folder()+"/"+name, body)
	}
}

func (p *pace) expire() {
	if p.m.mutant == "impatience" && p.s.Now.Sub(p.s.In("state.json").Changed) > 30*time.Minute {
		p.take("expired", refused, "")
	}
	due, err := time.Parse(time.RFC3339, p.st.Deadline)
	if err != nil {
		return
	}
	if p.m.mutant == "a deadline by the clock's difference" && p.s.Now.Before(due.Add(-12*time.Hour)) || !p.s.Now.Before(due) {
		p.take("expired", refused, "")
		return
	}
	p.plan.WakeAt(due)
	if p.m.mutant == "a wish to be woken in the past" {
		p.plan.Wake = p.s.Now.Add(-time.Hour)
	}
}

// take moves the run along an edge.
func (p *pace) take(event string, to engine.Status, cause string) {
	from := p.st.Status
	p.st.Status, p.st.Edge, p.st.Revision, p.st.At = to, event, p.st.Revision+1, p.now()
	p.st.Cause = string(p.s.In(cause).Sum)
	body, err := schemas.Encode(p.st)
	if err != nil {
		panic(err)
	}
	row := engine.Edge{Of: "run", From: from, Event: event, To: to}
	if p.m.mutant == "a transition that is no row" && event == "approved" {
		row.Event = "waved through"
	}
	p.plan.Transitions = append(p.plan.Transitions, engine.Transition{Edge: row, Actor: "placet"})
	if p.m.mutant != "a transition without its state document" || event != "approved" {
		p.write("state.json", string(body))
	}
	if p.m.mutant == "a counter beside the state" {
		n := len(p.s.In("count.json").Body)
		p.write("count.json", strings.Repeat("1", n+1))
	}
}

// owe writes what the state calls for.
func (p *pace) owe() {
	if p.st.Revision > 0 && p.st.Edge != "" {
		p.asked()
	}
	switch p.st.Edge {
	case "approved", "rejected", "expired":
		p.lack("receipt.json", fmt.Sprintf(`{"edge":%q,"at":%q}`, p.st.Edge, p.st.At))
	}
	if p.st.Edge == "approved" || p.st.Edge == "finished" {
		p.row()
	}
	if p.st.Tool && p.st.Status == working {
		p.tool()
	}
	if p.st.Status == working {
		p.view()
		p.begin()
	} else if d := p.s.In("view.md"); d.Present() && p.m.mutant != "a view that stays" {
		p.plan.Removes = append(p.plan.Removes, d.Path)
	}
}

func (p *pace) view() {
	text := "Go on.\n"
	for _, d := range p.s.Docs {
		if strings.HasPrefix(d.Path, "specs/") {
			text += "Read " + d.Path + "\n"
		}
	}
	switch p.m.mutant {
	case "a view that is remembered, not owed":
		if len(p.plan.Transitions) == 0 && p.m.recall("view of "+p.s.Key.ID) > 4 {
			return
		}
	case "a view that changes with every look":
		text += fmt.Sprint(strings.Count(string(p.s.In("view.md").Body), "x")%2 == 0)
		if !strings.Contains(string(p.s.In("view.md").Body), "x") {
			text += "x"
		}
	case "a view that is always written anew":
		p.write("view.md", text)
		return
	case "a view that tells the time":
		if d := p.s.In("view.md"); !d.Absent() {
			return
		}
		text += fmt.Sprintln("at", p.s.Now.Nanosecond(), p.s.Now.Second())
	}
	if d := p.s.In("view.md"); d.Absent() || d.Present() && string(d.Body) != text {
		p.write("view.md", text)
	}
}

func (p *pace) begin() {
	id := "work/" + p.s.Key.ID
	if !p.s.In("outcome.json").Absent() || p.s.Facts.Alive[id] || len(p.plan.Transitions) == 0 {
		return
	}
	a := engine.Action{ID: id, Outcome: path.Join(p.s.Dir, "outcome.json"), Command: engine.Command{Argv: []string{"true"}}}
	if p.m.mutant == "a command without a name" {
		a.ID = ""
	}
	p.plan.Actions = append(p.plan.Actions, a)
}

// ledger is the database of all toys.
const ledger = ".toy/ledger.db"

// row puts a row into the database once the run was approved. It writes the end
// down, whether the row was new or existed, and then forgets it.
func (p *pace) row() {
	id := "row/" + p.s.Key.ID + "/1"
	row := engine.Row{Table: "runs", ID: "RUN-" + p.s.Key.ID}
	if p.m.mutant == "a row that forgets that it was written" {
		row.ID += fmt.Sprint("-", p.s.Now.UnixNano())
	}
	row.Values = []engine.Field{{Name: "id", Value: row.ID}}
	p.noted("row.json", engine.Action{ID: id, Database: &engine.Database{Path: ledger, Insert: &row}}, func(e engine.Ended) string {
		if e.Result == "done" || e.Result == "present" {
			return `{"row":"in"}`
		}
		return fmt.Sprintf(`{"row":%q,"reason":%q}`, e.Result, e.Reason)
	})
}

// tool is a command that may be started again, and whose output counts.
func (p *pace) tool() {
	a := engine.Action{ID: "tool/" + p.s.Key.ID, Output: "OUT", Command: engine.Command{Argv: []string{"true"}}}
	p.noted("tool.json", a, func(e engine.Ended) string {
		return fmt.Sprintf(`{"result":%q,"output":%q}`, e.Result, e.Output)
	})
}

// noted begins an action, writes its end into a file, and then forgets the end.
func (p *pace) noted(file string, a engine.Action, text func(engine.Ended) string) {
	end, ended := p.s.Facts.Ended[a.ID]
	switch absent := p.s.In(file).Absent(); {
	case absent && ended:
		p.write(file, text(end))
	case ended && p.m.mutant != "an end that is never forgotten":
		p.plan.Ends = append(p.plan.Ends, a.ID)
	case absent && !p.s.Facts.Alive[a.ID]:
		p.plan.Actions = append(p.plan.Actions, a)
	}
	if p.m.mutant == "a row begun while its end is there" && ended {
		p.plan.Actions = append(p.plan.Actions, a)
	}
}

func (p *pace) now() string { return p.s.Now.UTC().Format(time.RFC3339Nano) }

// write puts a document of the run into the plan.
func (p *pace) write(rel, body string) {
	have := p.s.In(rel)
	f, _ := toyLayout{}.File(layout.Run{}, rel)
	d := engine.Document{Path: have.Path, Kind: f.Kind, Body: []byte(body), Over: have.Sum}
	if p.m.mutant == "a write over what it has not read" && rel == "state.json" {
		d.Over = ""
	}
	if p.m.mutant == "a wrong kind" && rel == "view.md" {
		d.Kind = "vista"
	}
	i := slices.IndexFunc(p.plan.Writes, func(w engine.Document) bool { return w.Path == d.Path })
	if i >= 0 && p.m.mutant != "two writes of one file" {
		p.plan.Writes[i] = d
		return
	}
	p.plan.Writes = append(p.plan.Writes, d)
	if p.m.mutant == "two writes of one file" {
		p.plan.Writes = append(p.plan.Writes, d)
	}
}

// spoil applies the mutants that have no rule of their own.
func (p *pace) spoil() {
	if !p.s.Has("specs/*.md") {
		return
	}
	switch result := p.s.In("result.json"); p.m.mutant {
	case "chance":
		p.plan.Wake = p.s.Now.Add(time.Duration(p.m.recall("chance")) * time.Hour)
	case "the order of a map":
		for _, key := range slices.Collect(maps.Keys(map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true})) {
			if len(p.plan.Transitions) > 0 {
				p.plan.Transitions[0].Reason += key
			}
		}
	case "a changed snapshot":
		if len(p.s.Docs) > 0 && len(p.s.Docs[0].Body) > 0 {
			p.s.Docs[0].Body[0] = ' '
		}
	case "another's file, replaced":
		if result.Present() && string(result.Body) != "{}" {
			p.write("result.json", "{}")
		}
	case "another's file, removed":
		if result.Present() {
			p.plan.Removes = append(p.plan.Removes, result.Path)
		}
	case "a file outside":
		if d := p.s.Doc("specs/own.md"); d.Absent() {
			p.plan.Writes = append(p.plan.Writes, engine.Document{Path: "specs/own.md", Kind: "spec", Body: []byte("x")})
		}
	case "another's journal":
		if len(p.plan.Transitions) == 0 {
			return
		}
		p.plan.Lines = append(p.plan.Lines, engine.Line{Path: result.Path, Body: []byte("x\n")})
	case "half a line":
		if len(p.plan.Transitions) == 0 {
			return
		}
		p.plan.Lines = append(p.plan.Lines, engine.Line{Path: path.Join(p.s.Dir, "log.jsonl"), Body: []byte("x")})
	case "asleep after an error":
		if len(p.plan.Transitions) > 0 && p.m.recall(p.s.Key.ID+p.plan.Transitions[0].Event) > 2 {
			p.plan = engine.Plan{}
		}
	}
}

// toyEffect is what the toy says that its refusing option does.
var toyEffect = "stays"
