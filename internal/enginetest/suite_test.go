package enginetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
)

var begin = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

const (
	dir      = ".toy/a/"
	request  = dir + "requests/q-1/"
	waits    = `{"status":"waiting","revision":0,"request":"q-1"}`
	approval = `{"request_id":"q-1","response":"approve"}`
)

// tick ticks an item of the run's form.
func tick(word string) Step {
	return Step{Name: "tick " + word, Do: func(t Tree) { t.Replace(request+"form.md", "[ ] "+word, "[x] "+word) }}
}

// toySuite returns the toy family's suite with one machine.
func toySuite(m engine.Machine) Suite {
	foreign := []engine.Edge{}
	return Suite{
		Machine: m, Layout: toyLayout{}, EveryRow: true,
		Final:     map[string][]engine.Status{"run": {succeeded, refused}},
		Start:     map[string][]engine.Status{"run": {waiting}},
		Foreign:   foreign,
		Persons:   []string{"approved", "rejected", "cancelled"},
		everyCall: true,
		Cases: []Case{
			{Name: "approved", Now: begin, Files: Tree{dir + "state.json": waits, "specs/a.md": "a", "specs/b.md": "b"}, Steps: []Step{
				tick("approve"), Write(dir+"result.json", `{"ok":true}`),
			}},
			{Name: "rejected", Now: begin, Files: Tree{dir + "state.json": waits}, Steps: []Step{
				Write(request+"response.json", `{"request_id":"q-1","response":"reject"}`),
			}},
			{Name: "expired", Now: begin, Files: Tree{dir + "state.json": strings.Replace(waits, "}", `,"deadline":"2026-11-20T12:00:00Z"}`, 1)}, Steps: []Step{
				Pass(time.Hour), Pass(2 * time.Hour),
			}},
			{Name: "cancelled", Now: begin, Files: Tree{dir + "state.json": waits}, Steps: []Step{Write(dir+"cancel.json", `{}`)}},
			{Name: "cancelled at work", Now: begin, Files: Tree{dir + "state.json": waits, request + "response.json": approval}, Steps: []Step{
				Write(dir+"cancel.json", `{}`), Write(dir+"result.json", `{}`), Pass(48 * time.Hour),
			}},
			{Name: "bad answer, then a good one", Now: begin, Files: Tree{dir + "state.json": waits, ".toy/b/state.json": waits}, Steps: []Step{
				Write(request+"response.json", `{"request_id":"q-0","response":"approve"}`), Remove(request + "response.json"), Write(request+"response.json", approval),
			}, Trusted: []engine.Digest{engine.Sum(nil)}, Config: func(c *engine.Config) { c.Language = "ko" }},
			{Name: "bad state", Now: begin, Files: Tree{dir + "state.json": `{"status":`}, Steps: []Step{Pass(time.Minute)}, Notes: true},
			{Name: "with a tool", Now: begin, Files: Tree{dir + "state.json": strings.Replace(waits, "}", `,"tool":true}`, 1)}, Steps: []Step{
				tick("approve"), EndCommand("tool/a", engine.Ended{Result: "finished", Output: []byte("made")}), Write(dir+"result.json", `{"ok":true}`),
			}},
			{Name: "with a locked database", Now: begin, Files: Tree{dir + "state.json": waits}, Steps: []Step{
				Lock(ledger), tick("approve"), Unlock(ledger),
			}},
		},
		After: oneRowEach,
	}
}

// oneRowEach checks that a run that says that its row is added has one, and
// that no run has two.
func oneRowEach(tree Tree, rows map[string][]engine.Row) error {
	var ids []string
	for _, row := range rows[ledger] {
		ids = append(ids, row.ID)
	}
	for _, id := range []string{"a", "b"} {
		n := 0
		for _, row := range ids {
			if strings.HasPrefix(row, "RUN-"+id) {
				n++
			}
		}
		if in := strings.Contains(tree[".toy/"+id+"/row.json"], `"in"`); in && n != 1 || n > 1 {
			return fmt.Errorf("the run %s says that its row is in: %t; there are %q", id, in, ids)
		}
	}
	return nil
}

// recorder is a T that remembers what was said, and fails nothing.
type recorder struct {
	t    *testing.T
	mu   sync.Mutex
	said []string
}

func (r *recorder) Helper()          {}
func (r *recorder) TempDir() string  { return r.t.TempDir() }
func (r *recorder) Real() *testing.T { return r.t }
func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// heard reports whether one of the messages holds a text.
func (r *recorder) heard(text string) bool {
	for _, s := range r.said {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}

func TestToyKeepsTheLaws(t *testing.T)     { Run(t, toySuite(newToy(""))) }
func TestToySurvivesCrashes(t *testing.T)  { Crash(t, toySuite(newToy(""))) }
func TestToySurvivesErrors(t *testing.T)   { Errors(t, toySuite(newToy(""))) }
func TestToyIsToldInManyWays(t *testing.T) { Metamorphic(t, toySuite(newToy(""))) }

// another is the message about an unexpected tree.
const another = "the tree is another one"

// mutants break one law each; the suite must find it.
var mutants = []struct {
	name string
	law  func(T, Suite)
	want string
}{
	{"a row that nothing leads to", Run, `run: nothing leads to the status "limbo"`},
	{"a status without a way on", Run, `run: from the status "limbo" no final one can be reached`},
	{"nothing that a person can do", Run, `run: in the status "parked" there is nothing that a person can do`},
	{"a way out of a final status", Run, "run: refused --reopened→ waiting leads out of a final status"},
	{"a doubled row", Run, "run: waiting --opened→ waiting stands twice"},
	{"an incomplete row", Run, "is incomplete: of, event and to must be set"},
	{"an empty table", Run, "the table is empty"},
	{"another table each time", Run, "the table is another one when it is asked for again"},
	{"chance", Run, "give different plans"},
	{"the order of a map", Run, "give different plans"},
	{"an account of its own", Run, "give different accounts"},
	{"a wait that nobody is told of", Run, "expected a run to wait for something until it has ended"},
	{"a changed snapshot", Run, "a step changed its snapshot"},
	{"an error", Run, "the machine cannot step toy/a: cannot go on"},
	{"a transition that is no row", Run, "run: waiting --waved through→ working is no row of the table"},
	{"a transition without its state document", Run, "run: waiting --approved→ working without a write of the state document"},
	{"a final run that moves", Run, "although the run is final"},
	{"another's file, replaced", Run, "replaces .toy/a/result.json, whose writer is agent"},
	{"another's file, removed", Run, "removes .toy/a/result.json, which is not placet's"},
	{"a file outside", Run, "writes specs/own.md, which the layout does not know"},
	{"another's journal", Run, "appends to .toy/a/result.json, which is not placet's"},
	{"half a line", Run, "which is not one line"},
	{"a wrong kind", Run, `writes .toy/a/view.md as "vista", which the layout calls "view"`},
	{"a write over what it has not read", Run, `writes .toy/a/state.json over "", but there is "sha256:`},
	{"two writes of one file", Run, "does two things to .toy/a/"},
	{"a command without a name", Run, `begins "", whose id, program or outcome`},
	{"a wish to be woken in the past", Run, "and yet to be woken at"},
	{"a view that is always written anew", Run, "writes .toy/a/view.md as it is"},
	{"a view that changes with every look", Run, "it does not settle"},
	{"impatience", Run, "time alone (1h0m0s) makes it want"},
	{"a deadline by the clock's difference", Run, "time alone (-24h0m0s) makes it want"},
	{"the answer to another request", Run, "to another request in the folder of q-1 moves it"},
	{"the answer to a request that does not exist", Run, "to a request that does not exist moves it"},
	{"a row begun while its end is there", Run, `begins "row/a/1", which has ended`},
	{"an end that is never forgotten", Run, `the action "row/a/1" has ended, which is neither written down nor forgotten at the end`},
	{"a row that forgets that it was written", Crash, "the run a says that its row is in: "},
	{"a counter beside the state", Crash, another},
	{"a view that is remembered, not owed", Crash, another}, // if a power cut keeps the state and loses the view
	{"asleep after an error", Errors, another},
	{"a view that tells the time", Metamorphic, another},
	{"a view that tells the time", onDisk, "by events: after tick approve " + another},
	{"a view that tells the time", onDisk, "by half of the events: after tick approve " + another},
	{"a view that changes with every look", onDisk, "on a disk, by looks: after tick approve: it does not settle: stuck"},
	{"a machine that speaks English alone", Languages, "nobody translated"},
	{"a language that decides", Languages, "it moves otherwise where the languages change"},
	{"an error", onDisk, "on a disk, by looks: after write .toy/a/result.json: "},
}

func TestEveryMutantIsFound(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			r := &recorder{t: t}
			for _, c := range toySuite(newToy(m.name)).Cases { // one scenario is often enough, and much quicker
				s := toySuite(newToy(m.name))
				s.everyKind, s.Cases = true, []Case{c}
				if m.law(r, s); r.heard(m.want) {
					break
				}
			}
			if !r.heard(m.want) {
				t.Errorf("the suite does not say %q; it says %d things:\n%.3000s", m.want, len(r.said), strings.Join(r.said, "\n"))
			}
		})
	}
}

// deepToys are toys in whose folder an agent may make another one.
type deepToys struct{ toyLayout }

func (l deepToys) File(run layout.Run, rel string) (layout.File, bool) {
	if rel == "inputs/extra.json" {
		return layout.File{Kind: "extra", Writer: layout.Agent, Limit: layout.LimitJSON}, true
	}
	return l.toyLayout.File(run, rel)
}

func (l deepToys) Descend(run layout.Run, rel string) bool {
	return rel == "inputs" || l.toyLayout.Descend(run, rel)
}

func TestMistoldStoriesAreFound(t *testing.T) {
	sound := func() Suite {
		s := toySuite(newToy(""))
		s.EveryRow, s.Cases = false, s.Cases[3:4]
		return s
	}
	stray := engine.Edge{Of: "run", From: working, Event: "paused", To: waiting}
	nobody := Step{Name: "edit nothing", Do: func(t Tree) { t.Replace("no/such/file", "a", "b") }}
	tests := []struct {
		name  string
		law   func(T, Suite)
		spoil func(*Suite)
		want  string
	}{
		{"notes that nobody meant", Run, func(s *Suite) { s.Cases[0].Notes = true }, "the case says that notes stand at the end: true; there are 0"},
		{"notes that were meant and do not stand", Run, func(s *Suite) { *s = toySuite(newToy("")); s.Cases[6].Notes = false }, "the case says that notes stand at the end: false; there are 1\n.toy/a/state.json.problem.md:"},
		{"a step that cannot be taken", Run, func(s *Suite) { s.Cases[0].Steps = []Step{nobody} }, `after edit nothing: cannot take the step "edit nothing": cannot tell the story: "no/such/file" () does not hold "a"`},
		{"an end of no command", Run, func(s *Suite) { s.Cases[0].Steps = []Step{EndCommand("no/such", engine.Ended{})} }, `after end no/such: cannot tell the story: there are 0 commands without an outcome that end in "no/such"`},
		{"the same, plainly", Crash, func(s *Suite) { s.Cases[0].Steps = []Step{nobody} }, "told plainly: after edit nothing"},
		{"the same, on a disk", onDisk, func(s *Suite) { s.Cases[0].Steps = []Step{{Do: nobody.Do}} }, "on a disk, by looks: after step 1: cannot take the step"},
		{"a row that no case takes", Run, func(s *Suite) { s.EveryRow = true }, "no case takes the row run: waiting --approved→ working"},
		{"a request that no case asks", Run, func(s *Suite) { s.Asks = []string{"approval", "review"} }, `no case asks a request of the type "review"`},
		{"an option without an effect", Run, func(s *Suite) { toyEffect = " " }, `the option "reject" of`},
		{"a folder that nothing follows", Run, func(s *Suite) {
			s.Layout, s.Cases[0].Steps = deepToys{}, append([]Step{Write(dir+"inputs/extra.json", "{}")}, s.Cases[0].Steps...)
		}, "nothing follows the folder of .toy/a/inputs/extra.json before it is there"},
		{"a final status of no row", Run, func(s *Suite) { s.Final["run"] = append(s.Final["run"], "gone") }, `run: the final status "gone" is in no row`},
		{"a way out that is no row", Run, func(s *Suite) { s.WaysOut = []engine.Edge{stray} }, "the way out run: working --paused→ waiting is no row"},
		{"others who make a row", Run, func(s *Suite) { s.Foreign = s.Machine.Edges()[1:2] }, "run: waiting --approved→ working is said to be made by others"},
		{"a person's event of no row", Run, func(s *Suite) { s.Persons = []string{"shrugged"} }, `the event "shrugged" of a person is in no row`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer func(was string) { toyEffect = was }(toyEffect)
			r, s := &recorder{t: t}, sound()
			test.spoil(&s)
			test.law(r, s)
			if !r.heard(test.want) {
				t.Errorf("the suite does not say %q; it says:\n%.3000s", test.want, strings.Join(r.said, "\n"))
			}
		})
	}
}

func TestWhatAPageGrantsIsNoDifference(t *testing.T) {
	// The counter counts crashes; a page may permit that.
	s := toySuite(newToy("a counter beside the state"))
	s.everyKind = true
	s.Cases = s.Cases[3:4]
	s.Cases[0].Name = "counted"
	forget := func(t Tree) Tree {
		delete(t, dir+"count.json")
		return t
	}
	for _, granted := range []bool{false, true} {
		if granted {
			s.PowerCut, s.Fault = forget, forget
		}
		crash, fault := &recorder{t: t}, &recorder{t: t}
		Crash(crash, s)
		Errors(fault, s)
		if crash.heard("power cut") == granted || fault.heard("at call") == granted {
			t.Errorf("granted %t; heard of power cuts: %q; of errors: %q", granted, crash.said, fault.said)
		}
	}
}
