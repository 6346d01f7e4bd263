package enginetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/engine"
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

// toySuite is the toy's suite with one machine.
func toySuite(m engine.Machine) Suite {
	foreign := []engine.Edge{}
	return Suite{
		Machine: m, Layout: toyLayout{}, EveryRow: true,
		Final:   map[string][]engine.Status{"run": {succeeded, refused}},
		Start:   map[string][]engine.Status{"run": {waiting}},
		Foreign: foreign,
		Persons: []string{"approved", "rejected", "cancelled"},
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
				Write(request+"response.json", `{"request_id":"q-0","response":"approve"}`), Write(request+"response.json", approval),
			}},
			{Name: "bad state", Now: begin, Files: Tree{dir + "state.json": `{"status":`}, Steps: []Step{Pass(time.Minute)}, Notes: true},
		},
	}
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

// another is what the tellings say of a tree that is not as it ought to be.
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
	{"a counter beside the state", Crash, another},
	{"a view that is remembered, not owed", Crash, another},
	{"asleep after an error", Errors, another},
	{"a view that tells the second", Metamorphic, another},
}

func TestEveryMutantIsFound(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			r := &recorder{t: t}
			s := toySuite(newToy(m.name))
			if m.want == another { // one story is enough, and much quicker
				s.Cases = s.Cases[:1]
			}
			m.law(r, s)
			if !r.heard(m.want) {
				t.Errorf("the suite does not say %q; it says %d things:\n%.3000s", m.want, len(r.said), strings.Join(r.said, "\n"))
			}
		})
	}
}
