package faber

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"placet/engine"
	"placet/schemas"
)

// Upstream's writers note a run's steps in five shapes. All are read; the shape
// found is the shape written.
//
//	a  phases.P.steps is an array of objects
//	b  phases.P.steps is an array of strings, or executor is "deterministic"
//	c  phases.P.completed_steps[], completed_step_ids[], steps_completed[]
//	d  phases is an array, the steps stand at the root
//	e  phases.P.steps is an object
type shape struct {
	letter byte
	phases []phaseEntry
	root   []stepEntry // shape d
	// idKeys are the members by which the other entries are identified, in the order of
	// identityKeys; none if there are no others.
	idKeys []string
	// kept is true where a root steps_completed[] exists: it is kept up too.
	kept     bool
	rootDone []string
	rootList bool // a root steps[] exists
	// places finds phases and steps by name: a state may name a hundred thousand.
	places func() places
}

// places are where a shape has its phases and steps, and what its lists note.
// Doubled names are read as one: the first stands for all.
type places struct {
	phases map[string]int
	// steps are the indexes of the entries, in shape d those of root; noted are the
	// steps that only a list names.
	steps map[plannedStep]int
	noted map[plannedStep]engine.Status
}

// index finds the places of a shape that is read.
func (s shape) index() places {
	at := places{phases: map[string]int{}, steps: map[plannedStep]int{}, noted: map[plannedStep]engine.Status{}}
	for i, p := range s.phases {
		if _, twice := at.phases[p.name]; twice {
			continue
		}
		at.phases[p.name] = i
		for k, e := range p.steps {
			at.step(p.name, e.id, k)
		}
		at.note(p, Skipped, "skipped_steps")
		at.note(p, Completed, append([]string{"steps"}, stepLists...)...)
	}
	for i, e := range s.root {
		at.step(e.phase, e.id, i)
	}
	return at
}

// step takes an entry in, the first of its name.
func (at places) step(phase, id string, i int) {
	s := plannedStep{Phase: phase, ID: id}
	if _, twice := at.steps[s]; !twice {
		at.steps[s] = i
	}
}

// note takes in the steps that lists of a phase name. A list may write a step as
// <phase>:<step>.
func (at places) note(p phaseEntry, status engine.Status, names ...string) {
	for _, name := range names {
		for _, id := range p.lists[name] {
			at.noted[plannedStep{Phase: p.name, ID: id}] = status
			if bare, ok := strings.CutPrefix(id, p.name+":"); ok {
				at.noted[plannedStep{Phase: p.name, ID: bare}] = status
			}
		}
	}
}

// phaseEntry is one phase as state.json has it, in its order there.
type phaseEntry struct {
	name    string
	status  string
	steps   []stepEntry
	lists   map[string][]string // the string lists of shapes b and c
	hasList bool                // phases.P.steps exists
	failure bool                // phases.P.error exists (shape c)
}

// stepEntry is one step's entry.
type stepEntry struct {
	id, phase string
	status    string
	pointer   string
	members   map[string]bool
}

var stepLists = []string{"completed_steps", "completed_step_ids", "steps_completed"}

// shapeOf reads the shape of a state. A state without any evidence is shape a.
func shapeOf(st State) shape {
	s := readShape(st)
	s.idKeys = s.keysOf()
	s.places = sync.OnceValue(s.index)
	return s
}

func readShape(st State) shape {
	s := shape{letter: 'a', rootDone: stringList(st.StepsComplete)}
	s.kept, s.rootList = isArray(st.StepsComplete), isArray(st.Steps)
	if isArray(st.Phases) {
		s.letter = 'd'
		s.readArray(st)
		return s
	}
	members, err := schemas.Members(st.Phases)
	if err != nil {
		members = nil
	}
	found := byte(0)
	for _, m := range members {
		p, letter := readPhase(m)
		s.phases = append(s.phases, p)
		if found == 0 {
			found = letter
		}
	}
	if found != 0 {
		s.letter = found
	}
	if st.Executor == "deterministic" {
		s.letter = 'b'
	}
	return s
}

// readPhase reads one member of phases and what its content says about the
// shape; 0 where it says nothing.
func readPhase(m schemas.Member) (phaseEntry, byte) {
	p := phaseEntry{name: m.Name, lists: map[string][]string{}}
	members, err := schemas.Members(raw(m.Value))
	if err != nil {
		return p, 0
	}
	letter := byte(0)
	for _, f := range members {
		value := raw(f.Value)
		switch {
		case f.Name == "status":
			p.status = text(value)
		case f.Name == "error":
			p.failure = text(value) != ""
		case f.Name == "steps":
			p.hasList = true
			letter = p.readSteps(value, letter)
		case f.Name == "skipped_steps":
			p.lists[f.Name] = stringList(value)
		case isStepList(f.Name) && isArray(value):
			p.lists[f.Name] = stringList(value)
			if letter == 0 {
				letter = 'c'
			}
		}
	}
	return p, letter
}

// readSteps reads phases.P.steps in shapes a, b and e.
func (p *phaseEntry) readSteps(value schemas.Raw, letter byte) byte {
	base := "/phases/" + escape(p.name) + "/steps/"
	if !isArray(value) {
		members, err := schemas.Members(value)
		if err != nil {
			return letter
		}
		for _, m := range members {
			e := entry(raw(m.Value), p.name, base+escape(m.Name))
			e.id = m.Name
			p.steps = append(p.steps, e)
		}
		return 'e'
	}
	for i, item := range elements(value) {
		if strings.HasPrefix(strings.TrimSpace(string(item)), `"`) {
			p.lists["steps"] = append(p.lists["steps"], text(item))
			letter = 'b'
			continue
		}
		p.steps = append(p.steps, entry(item, p.name, base+strconv.Itoa(i)))
		letter = 'a'
	}
	return letter
}

// identityKeys are the members that may identify an entry, the first that is there.
var identityKeys = []string{"id", "name", "step_id"}

// keysOf are the identity members that entries of a state have, in any of them.
// Upstream's readers look for one of them, and placet does not know which.
func (s shape) keysOf() []string {
	has := map[string]bool{}
	note := func(entries []stepEntry) {
		for _, e := range entries {
			for _, key := range identityKeys {
				has[key] = has[key] || e.members[key]
			}
		}
	}
	note(s.root)
	for _, p := range s.phases {
		note(p.steps)
	}
	return slices.DeleteFunc(slices.Clone(identityKeys), func(key string) bool { return !has[key] })
}

// readArray reads shape d: an array of phases, and the steps at the root.
func (s *shape) readArray(st State) {
	for _, item := range elements(st.Phases) {
		p := entry(item, "", "")
		s.phases = append(s.phases, phaseEntry{name: p.id, status: p.status})
	}
	for i, item := range elements(st.Steps) {
		e := entry(item, "", "/steps/"+strconv.Itoa(i))
		e.status = rootStatus(e.status)
		s.root = append(s.root, e)
	}
}

// rootStatus reads the words that shape d uses for a step's status.
func rootStatus(word string) string {
	switch word {
	case "success":
		return string(Completed)
	case "failure":
		return string(Failed)
	}
	return word
}

// entry reads one step's object. Its identity is id, else name, else step_id.
func entry(value schemas.Raw, phase, pointer string) stepEntry {
	e := stepEntry{phase: phase, pointer: pointer, members: map[string]bool{}}
	members, err := schemas.Members(value)
	if err != nil {
		return e
	}
	ids := map[string]string{}
	for _, m := range members {
		e.members[m.Name] = true
		switch m.Name {
		case "id", "name", "step_id":
			ids[m.Name] = text(raw(m.Value))
		case "status":
			e.status = text(raw(m.Value))
		case "phase":
			e.phase = text(raw(m.Value))
		}
	}
	for _, key := range []string{"step_id", "name", "id"} {
		if ids[key] != "" {
			e.id = ids[key]
		}
	}
	return e
}

// phase returns the entry of a phase, nil if state.json has none.
func (s shape) phase(name string) *phaseEntry {
	if len(s.phases) == 0 {
		return nil
	}
	if i, ok := s.places().phases[name]; ok {
		return &s.phases[i]
	}
	return nil
}

// find returns the entry of a step, nil if it has none. In shape d an entry without
// a phase is one of any phase.
func (s shape) find(phase, step string) *stepEntry {
	if s.letter != 'd' {
		p := s.phase(phase)
		if p == nil {
			return nil
		}
		if i, ok := s.places().steps[plannedStep{Phase: phase, ID: step}]; ok {
			return &p.steps[i]
		}
		return nil
	}
	if len(s.root) == 0 {
		return nil
	}
	i, ok := s.places().steps[plannedStep{Phase: phase, ID: step}]
	if any, also := s.places().steps[plannedStep{ID: step}]; also && (!ok || any < i) {
		i, ok = any, true
	}
	if !ok {
		return nil
	}
	return &s.root[i]
}

// status is where a step stands; "" where nothing is noted of it.
func (s shape) status(phase, step string) engine.Status {
	if e := s.find(phase, step); e != nil {
		return engine.Status(e.status)
	}
	if s.phase(phase) == nil {
		return ""
	}
	return s.places().noted[plannedStep{Phase: phase, ID: step}]
}

// order lists the steps that state.json names, in its order: the plan where
// no definition says more.
func (s shape) order() []plannedStep {
	var steps []plannedStep
	add := func(phase, id string) {
		if id != "" {
			steps = append(steps, plannedStep{Phase: phase, ID: id})
		}
	}
	for _, p := range s.phases {
		for _, e := range p.steps {
			add(p.name, e.id)
		}
		for _, name := range append([]string{"steps"}, stepLists...) {
			for _, id := range p.lists[name] {
				add(p.name, strings.TrimPrefix(id, p.name+":"))
			}
		}
	}
	for _, e := range s.root {
		add(e.phase, e.id)
	}
	return unique(steps)
}

func unique(steps []plannedStep) []plannedStep {
	seen := map[string]bool{}
	kept := steps[:0]
	for _, s := range steps {
		if key := s.Phase + "\x00" + s.ID; !seen[key] {
			seen[key] = true
			kept = append(kept, s)
		}
	}
	return kept
}

// escape writes a member name as a part of a JSON pointer (RFC 6901).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func raw(v any) schemas.Raw {
	r, _ := v.(schemas.Raw)
	return r
}

func isArray(r schemas.Raw) bool { return strings.HasPrefix(strings.TrimSpace(string(r)), "[") }

func isStepList(name string) bool { return contains(stepLists, name) }

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// elements returns the elements of an array, none where it is none.
func elements(r schemas.Raw) []schemas.Raw {
	var list []schemas.Raw
	if !isArray(r) || schemas.DecodeValue(r, &list) != nil {
		return nil
	}
	return list
}

// stringList returns the strings of an array; other elements are passed over.
func stringList(r schemas.Raw) []string {
	list := []string{}
	for _, e := range elements(r) {
		if strings.HasPrefix(strings.TrimSpace(string(e)), `"`) {
			list = append(list, text(e))
		}
	}
	return list
}

// index is a plan's step number for state.json: nil is written as null.
func index(i int) any {
	if i < 0 {
		return nil
	}
	return i
}

// where names a step as people read it.
func where(phase, step string) string { return fmt.Sprintf("%s:%s", phase, step) }
