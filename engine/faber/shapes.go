package faber

import (
	"fmt"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/patch"
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
	// idKey is how other entries of shape a are identified; "" if there are none.
	idKey string
	// kept is true where a root steps_completed[] exists: it is kept up too.
	kept     bool
	rootDone []string
	rootList bool // a root steps[] exists
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
		if s.idKey == "" {
			s.idKey = p.idKey()
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

func (p phaseEntry) idKey() string {
	for _, e := range p.steps {
		for _, key := range []string{"id", "name", "step_id"} {
			if e.members[key] {
				return key
			}
		}
	}
	return ""
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
	for i := range s.phases {
		if s.phases[i].name == name {
			return &s.phases[i]
		}
	}
	return nil
}

// find returns the entry of a step, nil if it has none. Doubled ids are read
// as one: the first stands for all.
func (s shape) find(phase, step string) *stepEntry {
	list := s.root
	if s.letter != 'd' {
		p := s.phase(phase)
		if p == nil {
			return nil
		}
		list = p.steps
	}
	for i := range list {
		if list[i].id == step && (s.letter != 'd' || list[i].phase == "" || list[i].phase == phase) {
			return &list[i]
		}
	}
	return nil
}

// status is where a step stands; "" where nothing is noted of it.
func (s shape) status(phase, step string) engine.Status {
	if e := s.find(phase, step); e != nil {
		return engine.Status(e.status)
	}
	p := s.phase(phase)
	if p == nil {
		return ""
	}
	for name, list := range p.lists {
		for _, id := range list {
			if id != step && id != phase+":"+step {
				continue
			}
			if name == "skipped_steps" {
				return Skipped
			}
			return Completed
		}
	}
	return ""
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

// complete notes a step as completed.
func (s shape) complete(phase, step, at string) []patch.Edit {
	var edits []patch.Edit
	if s.kept && !contains(s.rootDone, step) {
		edits = append(edits, patch.Edit{Pointer: "/steps_completed", Op: patch.Append, Value: step})
	}
	return append(edits, s.mark(phase, step, string(Completed), at)...)
}

// skip notes a step as skipped.
func (s shape) skip(phase, step string) []patch.Edit {
	return s.mark(phase, step, string(Skipped), "")
}

// reopen notes a step that has an entry as in progress again, without the
// marks of a failure. A step without an entry gets none.
func (s shape) reopen(phase, step string) []patch.Edit {
	p := s.phase(phase)
	if s.letter == 'c' && p != nil && p.failure {
		return []patch.Edit{{Pointer: "/phases/" + escape(phase) + "/error", Op: patch.Remove}}
	}
	e := s.find(phase, step)
	if e == nil || e.status == string(InProgress) {
		return nil
	}
	edits := []patch.Edit{{Pointer: e.pointer + "/status", Op: patch.Set, Value: string(InProgress)}}
	for _, mark := range []string{"failed_at", "completed_at", "error"} {
		if e.members[mark] {
			edits = append(edits, patch.Edit{Pointer: e.pointer + "/" + mark, Op: patch.Remove})
		}
	}
	return edits
}

// mark notes completed or skipped in the state's own shape. A phase that
// state.json does not have marks nothing.
func (s shape) mark(phase, step, word, at string) []patch.Edit {
	p := s.phase(phase)
	if p == nil && s.letter != 'd' {
		return nil
	}
	switch s.letter {
	case 'b', 'c':
		return s.markList(p, step, word)
	case 'd':
		return s.markRoot(phase, step, word, at)
	case 'e':
		return s.markObject(p, step, word)
	}
	return s.markArray(p, step, word, at)
}

func (s shape) markArray(p *phaseEntry, step, word, at string) []patch.Edit {
	if e := s.find(p.name, step); e != nil {
		return setEntry(e, word, at)
	}
	o := schemas.Object{}
	switch s.idKey {
	case "":
		o = append(o, schemas.Member{Name: "id", Value: step}, schemas.Member{Name: "name", Value: step})
	default:
		o = append(o, schemas.Member{Name: s.idKey, Value: step})
	}
	o = append(o, schemas.Member{Name: "status", Value: word})
	if at != "" {
		o = append(o, schemas.Member{Name: "completed_at", Value: at})
	}
	return appendTo("/phases/"+escape(p.name)+"/steps", p.hasList, o)
}

func (s shape) markList(p *phaseEntry, step, word string) []patch.Edit {
	base := "/phases/" + escape(p.name) + "/"
	if word == string(Skipped) {
		_, exists := p.lists["skipped_steps"]
		return appendTo(base+"skipped_steps", exists, step)
	}
	if s.letter == 'b' {
		if contains(p.lists["steps"], step) {
			return nil
		}
		return appendTo(base+"steps", p.hasList, step)
	}
	var edits []patch.Edit
	for _, name := range stepLists {
		list, exists := p.lists[name]
		id := step
		if name == "completed_step_ids" {
			id = p.name + ":" + step
		}
		if exists && !contains(list, id) {
			edits = append(edits, patch.Edit{Pointer: base + name, Op: patch.Append, Value: id})
		}
	}
	return edits
}

func (s shape) markRoot(phase, step, word, at string) []patch.Edit {
	if word == string(Completed) {
		word = "success"
	}
	if e := s.find(phase, step); e != nil {
		return setEntry(e, word, at)
	}
	o := schemas.Object{{Name: "step_id", Value: step}, {Name: "phase", Value: phase}, {Name: "status", Value: word}}
	if at != "" {
		o = append(o, schemas.Member{Name: "completed_at", Value: at})
	}
	return appendTo("/steps", s.rootList, o)
}

func (s shape) markObject(p *phaseEntry, step, word string) []patch.Edit {
	if e := s.find(p.name, step); e != nil {
		return setEntry(e, word, "")
	}
	return []patch.Edit{{
		Pointer: "/phases/" + escape(p.name) + "/steps/" + escape(step), Op: patch.Set,
		Value: schemas.Object{{Name: "status", Value: word}},
	}}
}

func setEntry(e *stepEntry, word, at string) []patch.Edit {
	edits := []patch.Edit{{Pointer: e.pointer + "/status", Op: patch.Set, Value: word}}
	if at != "" {
		edits = append(edits, patch.Edit{Pointer: e.pointer + "/completed_at", Op: patch.Set, Value: at})
	}
	return edits
}

// appendTo appends to an array, which it makes where there is none.
func appendTo(pointer string, exists bool, value any) []patch.Edit {
	if exists {
		return []patch.Edit{{Pointer: pointer, Op: patch.Append, Value: value}}
	}
	return []patch.Edit{{Pointer: pointer, Op: patch.Set, Value: []any{value}}}
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
