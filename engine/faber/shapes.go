package faber

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/jsonedit"
	"placet/schemas"
)

// shape is how a state notes its steps. Upstream's writers use five shapes; placet reads all of
// them and writes the one that it finds.
//
//	a  phases.P.steps is an array of objects
//	b  phases.P.steps is an array of strings, or executor is "deterministic"
//	c  phases.P.completed_steps[], completed_step_ids[], steps_completed[]
//	d  phases is an array, the steps are at the root
//	e  phases.P.steps is an object
type shape struct {
	letter byte
	phases map[string]phaseLists
	// steps are the steps that the state names, in its order.
	steps []plannedStep
	// entries are the objects that note a step, the first of each name.
	entries map[plannedStep]stepEntry
	// noted holds the steps that only a list names.
	noted map[plannedStep]engine.Status
	// idKeys are the members that identify entries, in the order of identityKeys; none without
	// entries.
	idKeys []string
	// done is a root steps_completed[]; placet keeps it up to date if it exists.
	done schemas.Raw
}

// phaseLists holds the string lists of a phase by name.
type phaseLists struct {
	lists  map[string][]string
	failed bool // phases.P.error is not empty
	status string
}

// stepEntry is the object that notes a step.
type stepEntry struct {
	index   int // among all entries
	status  string
	pointer string
}

// stepLists are the lists of shape c; completed_step_ids holds its steps as <phase>:<step>.
var stepLists = []string{"completed_steps", "completed_step_ids", "steps_completed"}

const skippedSteps = "skipped_steps"

// identityKeys are the members that may identify an entry; the first one present does.
var identityKeys = []string{"id", "name", "step_id"}

// shapeOf reads the shape of a state. A state without any evidence is shape a.
func shapeOf(st State) shape {
	s := shape{
		phases: map[string]phaseLists{}, entries: map[plannedStep]stepEntry{}, noted: map[plannedStep]engine.Status{}, done: st.StepsComplete,
	}
	if isArray(st.Phases) {
		s.letter = 'd'
		for _, item := range elements(st.Phases) {
			p := maps.Collect(members(item))
			s.phases[text(p["name"])] = phaseLists{status: text(p["status"])}
		}
		for i, item := range elements(st.Steps) {
			s.readEntry(item, plannedStep{}, "/steps/"+strconv.Itoa(i))
		}
	} else {
		s.readPhases(st.Phases)
	}
	if s.letter != 'd' && st.Executor == "deterministic" {
		s.letter = 'b'
	}
	s.letter = cmp.Or(s.letter, 'a')
	s.idKeys = slices.DeleteFunc(slices.Clone(identityKeys), func(key string) bool { return !slices.Contains(s.idKeys, key) })
	seen := map[plannedStep]bool{}
	s.steps = slices.DeleteFunc(s.steps, func(step plannedStep) bool {
		twice := seen[step] || step.ID == ""
		seen[step] = true
		return twice
	})
	return s
}

// readPhases reads phases if it is an object. The first phase whose content determines a shape
// decides.
func (s *shape) readPhases(phases schemas.Raw) {
	for phase, value := range members(phases) {
		p := phaseLists{lists: map[string][]string{}}
		letter := s.readPhase(phase, value, &p)
		s.letter = cmp.Or(s.letter, letter)
		s.phases[phase] = p
		for _, id := range p.lists[skippedSteps] {
			s.note(phase, id, Skipped)
		}
		for _, name := range append([]string{"steps"}, stepLists...) {
			for _, id := range p.lists[name] {
				s.note(phase, id, Completed)
				s.steps = append(s.steps, plannedStep{Phase: phase, ID: strings.TrimPrefix(id, phase+":")})
			}
		}
	}
}

// note records a step that a list of a phase names. A list may write a step as <phase>:<step>.
func (s *shape) note(phase, id string, status engine.Status) {
	s.noted[plannedStep{Phase: phase, ID: id}] = status
	s.noted[plannedStep{Phase: phase, ID: strings.TrimPrefix(id, phase+":")}] = status
}

// readPhase reads one phase and returns the shape that its content determines, 0 if it determines
// none.
func (s *shape) readPhase(phase string, body schemas.Raw, p *phaseLists) (letter byte) {
	for name, value := range members(body) {
		switch {
		case name == "status":
			p.status = text(value)
		case name == "error":
			p.failed = text(value) != ""
		case name == "steps":
			letter = cmp.Or(s.readSteps(phase, value, p), letter)
		case name == skippedSteps:
			p.lists[name] = stringList(value)
		case slices.Contains(stepLists, name) && isArray(value):
			p.lists[name] = stringList(value)
			letter = cmp.Or(letter, 'c')
		}
	}
	return letter
}

// readSteps reads phases.P.steps in shapes a, b and e.
func (s *shape) readSteps(phase string, value schemas.Raw, p *phaseLists) (letter byte) {
	base := stepsPointer(phase)
	for i, item := range elements(value) {
		if letter = 'a'; item.Kind() == '"' {
			letter = 'b'
			continue
		}
		s.readEntry(item, plannedStep{Phase: phase}, base+"/"+strconv.Itoa(i))
	}
	switch {
	case value.Kind() == '{':
		letter = 'e'
	case letter != 0:
		p.lists["steps"] = stringList(value)
	}
	for id, item := range members(value) {
		s.readEntry(item, plannedStep{Phase: phase, ID: id}, base+"/"+escape(id))
	}
	return letter
}

// readEntry reads the object of one step. If nothing else names the step, its identity is id, else
// name, else step_id. If nothing else names its phase, the object may.
func (s *shape) readEntry(value schemas.Raw, step plannedStep, pointer string) {
	has := maps.Collect(members(value))
	id := ""
	for _, key := range identityKeys {
		if has[key] != nil {
			s.idKeys = append(s.idKeys, key)
			id = cmp.Or(id, text(has[key]))
		}
	}
	e := stepEntry{index: len(s.entries), status: text(has["status"]), pointer: pointer}
	if s.letter == 'd' {
		step.Phase, e.status = text(has["phase"]), rootStatus(e.status)
	}
	step.ID = cmp.Or(step.ID, id)
	s.steps = append(s.steps, step)
	if _, twice := s.entries[step]; !twice {
		s.entries[step] = e
	}
}

// rootStatus translates the words that shape d uses for a step's status.
func rootStatus(word string) string {
	switch word {
	case "success":
		return string(Completed)
	case "failure":
		return string(Failed)
	}
	return word
}

// find returns the entry of a step. In shape d an entry without a phase matches any phase.
func (s shape) find(phase, step string) (e stepEntry, ok bool) {
	e, ok = s.entries[plannedStep{Phase: phase, ID: step}]
	if s.letter != 'd' {
		return e, ok
	}
	if of, found := s.entries[plannedStep{ID: step}]; found && (!ok || of.index < e.index) {
		return of, true
	}
	return e, ok
}

// pointer returns the place of a step's status in state.json.
func (s shape) pointer(step plannedStep) string {
	if e, ok := s.find(step.Phase, step.ID); ok {
		return e.pointer + "/status"
	}
	return "/phases/" + escape(step.Phase)
}

// status returns a step's status, "" if the state has none.
func (s shape) status(phase, step string) engine.Status {
	if e, ok := s.find(phase, step); ok {
		return engine.Status(e.status)
	}
	return s.noted[plannedStep{Phase: phase, ID: step}]
}

// reopen marks a step that has an entry as in progress again, and removes the marks of a failure. A
// step without an entry gets none.
func (s shape) reopen(phase, step string) []jsonedit.Edit {
	if s.letter == 'c' && s.phases[phase].failed {
		return []jsonedit.Edit{remove("/phases/" + escape(phase) + "/error")}
	}
	e, ok := s.find(phase, step)
	if !ok || e.status == string(InProgress) {
		return nil
	}
	return []jsonedit.Edit{
		set(e.pointer+"/status", string(InProgress)),
		remove(e.pointer + "/failed_at"), remove(e.pointer + "/completed_at"), remove(e.pointer + "/error"),
	}
}

// complete marks a step as completed at a time.
func (s shape) complete(phase, step, at string) []jsonedit.Edit {
	var edits []jsonedit.Edit
	if isArray(s.done) && !slices.Contains(stringList(s.done), step) {
		edits = append(edits, push("/steps_completed", step))
	}
	return append(edits, s.mark(phase, step, Completed, at)...)
}

// mark marks a step as completed or skipped in the state's own shape. It marks nothing in a phase
// that state.json does not have.
func (s shape) mark(phase, step string, status engine.Status, at string) []jsonedit.Edit {
	p, known := s.phases[phase]
	word := string(status)
	switch {
	case s.letter == 'd' && status == Completed:
		word = "success"
	case s.letter == 'd':
	case !known:
		return nil
	case s.letter == 'b', s.letter == 'c':
		return p.noteIn(s.letter, phase, step, status)
	case s.letter == 'e':
		at = ""
	}
	e, ok := s.find(phase, step)
	switch {
	case !ok:
		return []jsonedit.Edit{s.add(phase, step, word, at)}
	case at == "":
		return []jsonedit.Edit{set(e.pointer+"/status", word)}
	}
	return []jsonedit.Edit{set(e.pointer+"/status", word), set(e.pointer+"/completed_at", at)}
}

// add adds an entry for a step that has none. It identifies the new entry as the others are
// identified.
func (s shape) add(phase, step, word, at string) jsonedit.Edit {
	keys := s.idKeys
	if len(keys) == 0 {
		keys = map[byte][]string{'a': {"id", "name"}, 'd': {"step_id"}}[s.letter]
	}
	o := schemas.Object{}
	for _, key := range keys {
		o = append(o, schemas.Member{Name: key, Value: step})
	}
	if s.letter == 'd' {
		o = append(o, schemas.Member{Name: "phase", Value: phase})
	}
	o = append(o, schemas.Member{Name: "status", Value: word})
	if at != "" {
		o = append(o, schemas.Member{Name: "completed_at", Value: at})
	}
	switch s.letter {
	case 'd':
		return push("/steps", o)
	case 'e':
		return set(stepsPointer(phase)+"/"+escape(step), o)
	}
	return push(stepsPointer(phase), o)
}

// noteIn adds a step to the lists of its phase. In shape c it uses the lists that exist.
func (p phaseLists) noteIn(letter byte, phase, step string, status engine.Status) (edits []jsonedit.Edit) {
	names := slices.DeleteFunc(slices.Clone(stepLists), func(name string) bool { return p.lists[name] == nil })
	if letter == 'b' {
		names = []string{"steps"}
	}
	if status == Skipped {
		names = []string{skippedSteps}
	}
	for _, name := range names {
		id := step
		if name == "completed_step_ids" {
			id = where(phase, step)
		}
		if !slices.Contains(p.lists[name], id) {
			edits = append(edits, push("/phases/"+escape(phase)+"/"+name, id))
		}
	}
	return edits
}

func stepsPointer(phase string) string { return "/phases/" + escape(phase) + "/steps" }

// escape escapes a member name for a JSON pointer (RFC 6901).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// members yields the members of an object in order, none if r is no object.
func members(r schemas.Raw) iter.Seq2[string, schemas.Raw] {
	return func(yield func(string, schemas.Raw) bool) {
		all, err := schemas.Members(r)
		for _, m := range all {
			if value, _ := m.Value.(schemas.Raw); err != nil || !yield(m.Name, value) {
				return
			}
		}
	}
}

func isArray(r schemas.Raw) bool { return r.Kind() == '[' }

// elements returns the elements of an array, nil if r is no array.
func elements(r schemas.Raw) []schemas.Raw {
	list, err := schemas.Elements(r)
	if err != nil {
		return nil
	}
	return list
}

// stringList returns the strings of an array and ignores other elements.
func stringList(r schemas.Raw) []string {
	list := []string{}
	for _, e := range elements(r) {
		if e.Kind() == '"' {
			list = append(list, text(e))
		}
	}
	return list
}

// where returns the name of a step for people.
func where(phase, step string) string { return fmt.Sprintf("%s:%s", phase, step) }
