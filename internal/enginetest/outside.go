package enginetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
)

// outside carries out a scenario's actions besides the documents: commands run until the
// scenario puts their outcome in place or ends them, and rows go into databases. It outlives
// placet; how an action without Outcome ended does not, until that is written down.
type outside struct {
	answers func(path string, q engine.Query) []map[string]any // nil: none
	first   func(engine.Database, []engine.Row) *engine.Ended  // nil: it decides nothing

	mu    sync.Mutex
	alive map[string]string // the outcomes of begun actions, by id
	// ended is how actions without Outcome ended in this process, and lost is how
	// commands ended of which only an earlier process knew: if they begin again, they
	// end the same way.
	ended, lost map[string]engine.Ended
	databases   map[string]bool // the ids of actions for a database
	waiting     []engine.Action // begun, but not carried out yet
	rows        map[string][]engine.Row
	locked      map[string]bool
}

func newOutside(s Suite) *outside {
	return &outside{
		answers: s.Rows, first: s.Database, alive: map[string]string{}, ended: map[string]engine.Ended{}, lost: map[string]engine.Ended{},
		databases: map[string]bool{}, rows: map[string][]engine.Row{}, locked: map[string]bool{},
	}
}

// clone returns a copy.
func (o *outside) clone() *outside {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &outside{
		answers: o.answers, first: o.first, alive: maps.Clone(o.alive), ended: maps.Clone(o.ended), lost: maps.Clone(o.lost),
		databases: maps.Clone(o.databases), waiting: slices.Clone(o.waiting), rows: map[string][]engine.Row{}, locked: maps.Clone(o.locked),
	}
	for p, rows := range o.rows {
		c.rows[p] = slices.Clone(rows)
	}
	return c
}

// restart is a restart of placet: actions not yet carried out are lost, and the ends
// of actions are forgotten.
func (o *outside) restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.waiting {
		delete(o.alive, a.ID)
	}
	o.waiting = nil
	for id, e := range o.ended {
		if !o.databases[id] {
			o.lost[id] = e
		}
	}
	o.ended = map[string]engine.Ended{}
}

// begin begins an action. A command is alive, also across a restart, until the
// scenario puts its outcome in place or ends it; so is a command whose attempt was
// recorded before a crash.
func (o *outside) begin(a engine.Action) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alive[a.ID] = a.Outcome
	if _, again := o.lost[a.ID]; a.Database != nil || again {
		o.databases[a.ID] = a.Database != nil
		o.waiting = append(o.waiting, a)
	}
}

// end ends a command, which is then no longer alive; the scenario writes its outcome.
// end forgets an end that is a fact.
func (o *outside) end(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	outcome, alive := o.alive[id]
	delete(o.ended, id)
	delete(o.lost, id)
	if !alive || o.databases[id] {
		return // writing a row is never interrupted
	}
	delete(o.alive, id)
	if outcome == "" {
		o.ended[id] = engine.Ended{Result: "stopped"}
	}
}

// deliver carries out the waiting actions and returns the ids of those that have ended.
func (o *outside) deliver(now time.Time) (told []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.waiting {
		e := o.lost[a.ID]
		if a.Database != nil {
			e = o.database(*a.Database)
			e.Began, e.At = now, now
		}
		delete(o.alive, a.ID)
		delete(o.lost, a.ID)
		o.ended[a.ID] = e
		told = append(told, a.ID)
	}
	o.waiting = nil
	return told
}

// database carries out an action for a database.
func (o *outside) database(d engine.Database) engine.Ended {
	if o.locked[d.Path] {
		return engine.Ended{Result: "failed", Reason: "the database is locked: end the program that holds it"}
	}
	if o.first != nil {
		if e := o.first(d, o.rows[d.Path]); e != nil {
			return *e
		}
	}
	if d.Insert != nil {
		return o.insert(d.Path, *d.Insert)
	}
	answers := map[string]any{}
	for _, q := range d.Select {
		rows := []map[string]any{}
		if o.answers != nil {
			rows = append(rows, o.answers(d.Path, q)...)
		}
		answers[q.Name] = rows
	}
	body, err := json.Marshal(answers)
	if err != nil {
		return engine.Ended{Result: "failed", Reason: err.Error()}
	}
	return engine.Ended{Result: "done", Output: body}
}

func (o *outside) insert(p string, row engine.Row) engine.Ended {
	for _, have := range o.rows[p] {
		switch {
		case have.Table != row.Table || have.ID != row.ID:
		case reflect.DeepEqual(have, row):
			return engine.Ended{Result: "present"}
		default:
			return engine.Ended{Result: "refused", Reason: fmt.Sprintf("another row of %s has the id %s", row.Table, row.ID)}
		}
	}
	o.rows[p] = append(o.rows[p], row)
	return engine.Ended{Result: "done"}
}

// command ends the command whose id ends in suffix. It returns an error unless exactly
// one command matches, because the scenario then differs from its description.
func (o *outside) command(suffix string, e engine.Ended, now time.Time) (id string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var ids []string
	for at, outcome := range o.alive {
		if outcome == "" && !o.databases[at] && strings.HasSuffix(at, suffix) {
			ids = append(ids, at)
		}
	}
	if len(ids) != 1 {
		return "", fmt.Errorf("cannot tell the story: there are %d commands without an outcome that end in %q", len(ids), suffix)
	}
	delete(o.alive, ids[0])
	if e.At.IsZero() {
		e.Began, e.At = now, now
	}
	o.ended[ids[0]] = e
	return ids[0], nil
}

// lock lets another program lock a database, or unlock it.
func (o *outside) lock(p string, locked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.locked[p] = locked
}

// facts puts into f which actions run and which have ended. there reports whether
// an outcome is in place.
func (o *outside) facts(f *engine.Environment, there func(outcome string) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, outcome := range o.alive {
		if outcome == "" || !there(outcome) {
			f.Alive[id] = true
		}
	}
	f.Ended = maps.Clone(o.ended)
}

// busy reports whether, by these facts, an action for a database is under way.
func (o *outside) busy(f engine.Environment) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range f.Alive {
		if o.databases[id] {
			return true
		}
	}
	return false
}

// after calls the suite's After for an idle state.
func (o *outside) after(s Suite, tree Tree) error {
	if s.After == nil {
		return nil
	}
	return s.After(tree, o.clone().rows)
}

// take takes the part of a step besides the documents, and returns the id of the
// command that it ended, "" for none.
func (s Step) take(o *outside, now time.Time) (id string, err error) {
	if s.outside == nil {
		return "", nil
	}
	return s.outside(o, now)
}

// EndCommand is the step in which a command without an outcome document ends, whose
// ID ends in suffix. A crash may lose that end: if its machine begins the same action
// again, the action ends in the same way. An end without times is of this moment.
func EndCommand(suffix string, e engine.Ended) Step {
	return Step{Name: "end " + suffix, outside: func(o *outside, now time.Time) (string, error) { return o.command(suffix, e, now) }}
}

// Lock is the step in which another program locks a database, so that every action
// for it fails. Unlock ends that.
func Lock(path string) Step {
	return Step{Name: "lock " + path, outside: func(o *outside, _ time.Time) (string, error) { o.lock(path, true); return "", nil }}
}

// Unlock is the step in which a database can be used again.
func Unlock(path string) Step {
	return Step{Name: "unlock " + path, outside: func(o *outside, _ time.Time) (string, error) { o.lock(path, false); return "", nil }}
}
