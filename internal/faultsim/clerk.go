package main

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"placet/engine"
	"placet/layout"
)

// clerk is the machine of the toy family. Somebody asks, a person approves or
// rejects, an agent works and says that it is finished:
//
//	new --opened→ waiting --approved→ working --finished→ done (final)
//	              waiting --rejected→ refused (final)
//
// Every transition makes an event, a new state document and a line in each
// journal. "opened" makes the request and its form, an answer makes its receipt.
// The summary is written again with every revision and removed at the end.
type clerk struct {
	// forgetful makes the machine a mutant that does not take over the time in
	// the remains of a revision.
	forgetful bool
}

var clerkEdges = []engine.Edge{
	{Of: "run", From: "new", Event: "opened", To: "waiting"},
	{Of: "run", From: "waiting", Event: "approved", To: "working"},
	{Of: "run", From: "waiting", Event: "rejected", To: "refused"},
	{Of: "run", From: "working", Event: "finished", To: "done"},
}

// state is the state document. Words is what others write in it.
type state struct {
	Status   string `json:"status"`
	Revision int    `json:"revision"`
	Event    string `json:"event"`
	At       string `json:"at"`
	Asked    string `json:"asked"`
	Answer   string `json:"answer"`
	Answered string `json:"answered"`
	Words    string `json:"words"`
}

func (st state) body() []byte {
	return fmt.Appendf(nil, `{"status":%q,"revision":%d,"event":%q,"at":%q,"asked":%q,"answer":%q,"answered":%q,"words":%q}`+"\n",
		st.Status, st.Revision, st.Event, st.At, st.Asked, st.Answer, st.Answered, st.Words)
}

func (st state) final() bool { return st.Status == "done" || st.Status == "refused" }

// note has the members that events, receipts, requests and answers share.
type note struct {
	RequestID string `json:"request_id"`
	Response  string `json:"response"`
	Revision  int    `json:"revision"`
	At        string `json:"at"`
}

// Family implements [engine.Machine].
func (clerk) Family() string { return "desk" }

// Edges implements [engine.Machine].
func (clerk) Edges() []engine.Edge { return clerkEdges }

// Account implements [engine.Machine].
func (clerk) Account(s engine.Snapshot) engine.RunView { return engine.RunView{Key: s.Key} }

// Summarize implements [engine.Machine].
func (clerk) Summarize(body []byte) engine.Summary {
	var st state
	if json.Unmarshal(body, &st) != nil {
		return engine.Summary{}
	}
	return engine.Summary{Status: engine.Status(st.Status), Final: st.final(), Waiting: st.Status == "waiting", Touched: st.Revision > 0}
}

// Step implements [engine.Machine].
func (m clerk) Step(s engine.Snapshot) (engine.Plan, error) {
	p := &pace{m: m, s: s}
	doc := s.In("state.json")
	switch err := json.Unmarshal(doc.Body, &p.st); {
	case doc.Unsettled() || doc.Absent():
		return p.plan, nil
	case !doc.Present():
		p.notes.Beside(doc.Path, doc.Err.Error())
	case err != nil:
		p.notes.Beside(doc.Path, err.Error())
	case p.blind():
		return p.plan, nil
	case p.unlogged():
		p.log()
		return p.plan, nil // a revision's line precedes the next revision
	default:
		p.move()
		p.owe()
	}
	p.notes.Plan(s, &p.plan, nil)
	return p.plan, nil
}

// pace is one step of the machine.
type pace struct {
	m     clerk
	s     engine.Snapshot
	st    state
	plan  engine.Plan
	notes engine.Notes
}

// blind reports whether an existing document cannot be read now: it is not
// missing, so that nothing may be decided without it.
func (p *pace) blind() bool {
	for _, d := range p.s.Docs {
		if !d.Present() && !d.Absent() && (d.Kind == "log" || d.Kind == "trail" || d.Kind == "event" || d.Kind == layout.KindReceipt || d.Kind == layout.KindRequest) {
			return true
		}
	}
	return false
}

var journals = []string{"log.jsonl", "audit/trail.jsonl"}

// unlogged reports whether a line of the present revision is missing.
func (p *pace) unlogged() bool {
	for _, name := range journals {
		if p.st.Revision > 0 && !p.logged(name) {
			return true
		}
	}
	return false
}

// logged reports whether a journal has the present revision's line. A torn line
// does not count.
func (p *pace) logged(name string) bool {
	log := string(p.s.In(name).Body)
	return strings.Contains(log[:strings.LastIndex(log, "\n")+1], fmt.Sprintf(`{"revision":%d,`, p.st.Revision))
}

// lineAt returns the time in a journal for the present revision, "" for none.
func (p *pace) lineAt(name string) string {
	_, rest, _ := strings.Cut(string(p.s.In(name).Body), fmt.Sprintf(`{"revision":%d,"event":%q,"at":"`, p.st.Revision, p.st.Event))
	at, _, whole := strings.Cut(rest, `"}`+"\n")
	if !whole {
		return ""
	}
	return at
}

func (p *pace) log() {
	for _, name := range journals {
		if p.logged(name) {
			continue
		}
		p.plan.Lines = append(p.plan.Lines, engine.Line{
			Path: path.Join(p.s.Dir, name), Revision: p.st.Revision,
			Body: fmt.Appendf(nil, `{"revision":%d,"event":%q,"at":%q}`+"\n", p.st.Revision, p.st.Event, p.st.At),
		})
	}
}

// move takes the first edge that applies.
func (p *pace) move() {
	switch p.st.Status {
	case "new":
		p.take("opened", "waiting", "request.json")
	case "waiting":
		if word := p.answer(); word != "" {
			event, to := "approved", "working"
			if word == "reject" {
				event, to = "rejected", "refused"
			}
			p.st.Answer = word
			p.take(event, to, "receipt.json")
		}
	case "working":
		if p.s.In("result.json").Present() {
			p.take("finished", "done", "")
		}
	}
}

const request = "requests/q-1/"

// answer returns the word of the answer, "" for none. A receipt ahead of the
// state is fact: no answer is read again.
func (p *pace) answer() string {
	if n := p.read(request + "receipt.json"); n.Revision == p.st.Revision+1 {
		return n.Response
	}
	d := p.s.In(request + "response.json")
	if !d.Present() {
		if !d.Absent() && !d.Unsettled() {
			p.notes.Add(path.Join(p.s.Dir, request, "problem.md"), d.Err.Error())
		}
		return ""
	}
	var n note
	if err := json.Unmarshal(d.Body, &n); err != nil || n.RequestID != "q-1" || n.Response != "approve" && n.Response != "reject" {
		p.notes.Add(path.Join(p.s.Dir, request, "problem.md"), fmt.Sprintf("cannot use the answer %q of %q", n.Response, n.RequestID))
		return ""
	}
	return n.Response
}

// read returns the content of a document of the run, empty if it cannot be read.
func (p *pace) read(rel string) (n note) {
	if d := p.s.In(rel); d.Present() {
		_ = json.Unmarshal(d.Body, &n)
	}
	return n
}

// timeForm is the layout of times in the toy family: always of the same length,
// always in this year.
const timeForm = "2006-01-02T15:04:05.000000Z"

// take moves the run along an edge. Its time is the one that the remains of the
// next revision have (from before a crash, or before others restored an old
// state document), otherwise now.
func (p *pace) take(event, to, kept string) {
	from := p.st.Status
	p.st.Status, p.st.Event, p.st.Revision = to, event, p.st.Revision+1
	p.st.At = p.s.Now.UTC().Format(timeForm)
	for _, rel := range []string{p.event(), request + kept} {
		if n := p.read(rel); n.At != "" && n.Revision == p.st.Revision && !p.m.forgetful {
			p.st.At = n.At
		}
	}
	for _, name := range journals {
		if at := p.lineAt(name); at != "" && !p.m.forgetful {
			p.st.At = at
		}
	}
	switch event {
	case "opened":
		p.st.Asked = p.st.At
	case "approved", "rejected":
		p.st.Answered = p.st.At
	}
	row := engine.Edge{Of: "run", From: engine.Status(from), Event: event, To: engine.Status(to)}
	p.plan.Transitions = append(p.plan.Transitions, engine.Transition{Edge: row, Actor: "placet"})
	p.log()
	if event == "approved" {
		id := "work/" + p.s.Key.ID
		p.plan.Actions = append(p.plan.Actions, engine.Action{ID: id, Outcome: path.Join(p.s.Dir, "result.json"), Command: engine.Command{Argv: []string{"true"}}})
	}
}

// event returns the path of the present revision's event.
func (p *pace) event() string { return fmt.Sprintf("events/%03d-%s.json", p.st.Revision, p.st.Event) }

// owe writes what the state calls for. It does not write events of earlier
// revisions again, because the state does not know them any more.
func (p *pace) owe() {
	if p.st.Revision == 0 {
		return
	}
	asked := fmt.Appendf(nil, `{"request_id":"q-1","revision":1,"at":%q}`+"\n", p.st.Asked)
	p.have(request+"request.json", asked)
	if p.s.In(request + "form.md").Absent() {
		p.have(request+"form.md", []byte("- [ ] approve\n- [ ] reject\n- [ ] submit this answer\n"))
	}
	if p.st.Answer != "" {
		p.have(request+"receipt.json", fmt.Appendf(nil, `{"request_id":"q-1","response":%q,"revision":2,"at":%q,"digest":%q}`+"\n",
			p.st.Answer, p.st.Answered, engine.Sum(asked)))
	}
	p.have(p.event(), fmt.Appendf(nil, `{"revision":%d,"event":%q,"at":%q}`+"\n", p.st.Revision, p.st.Event, p.st.At))
	if len(p.plan.Transitions) > 0 {
		p.have("state.json", p.st.body())
	}
	if d := p.s.In("summary.md"); p.st.final() && d.Present() {
		p.plan.Removes = append(p.plan.Removes, d.Path)
	} else if !p.st.final() {
		p.have("summary.md", fmt.Appendf(nil, "# %s\n\nRevision %d. Others say: %s\n", p.st.Status, p.st.Revision, p.st.Words))
	}
}

// have writes a document that is missing or differs.
func (p *pace) have(rel string, body []byte) {
	d := p.s.In(rel)
	if !d.Present() && !d.Absent() || d.Present() && string(d.Body) == string(body) {
		return
	}
	f, _ := desk{}.File(layout.Run{}, rel)
	p.plan.Writes = append(p.plan.Writes, engine.Document{Path: d.Path, Kind: f.Kind, Body: body, Over: d.Sum})
}
