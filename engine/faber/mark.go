package faber

import (
	"placet/engine/patch"
	"placet/schemas"
)

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
	o := append(s.identity(step, "id", "name"), schemas.Member{Name: "status", Value: word})
	if at != "" {
		o = append(o, schemas.Member{Name: "completed_at", Value: at})
	}
	return appendTo("/phases/"+escape(p.name)+"/steps", p.hasList, o)
}

// identity are the members that identify a new entry: those that the others have, else
// those given.
func (s shape) identity(step string, keys ...string) schemas.Object {
	if len(s.idKeys) > 0 {
		keys = s.idKeys
	}
	o := schemas.Object{}
	for _, key := range keys {
		o = append(o, schemas.Member{Name: key, Value: step})
	}
	return o
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
	o := append(s.identity(step, "step_id"), schemas.Member{Name: "phase", Value: phase}, schemas.Member{Name: "status", Value: word})
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
		Value: append(s.identity(step), schemas.Member{Name: "status", Value: word}),
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
