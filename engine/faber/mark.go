package faber

import (
	"placet/engine/jsonedit"
	"placet/schemas"
)

// complete notes a step as completed.
func (s shape) complete(phase, step, at string) []jsonedit.Edit {
	var edits []jsonedit.Edit
	if s.kept && !contains(s.rootDone, step) {
		edits = append(edits, jsonedit.Edit{Pointer: "/steps_completed", Op: jsonedit.Append, Value: step})
	}
	return append(edits, s.mark(phase, step, string(Completed), at)...)
}

// skip notes a step as skipped.
func (s shape) skip(phase, step string) []jsonedit.Edit {
	return s.mark(phase, step, string(Skipped), "")
}

// reopen notes a step that has an entry as in progress again, without the
// marks of a failure. A step without an entry gets none.
func (s shape) reopen(phase, step string) []jsonedit.Edit {
	p := s.phase(phase)
	if s.letter == 'c' && p != nil && p.failure {
		return []jsonedit.Edit{{Pointer: "/phases/" + escape(phase) + "/error", Op: jsonedit.Remove}}
	}
	e := s.find(phase, step)
	if e == nil || e.status == string(InProgress) {
		return nil
	}
	edits := []jsonedit.Edit{{Pointer: e.pointer + "/status", Op: jsonedit.Set, Value: string(InProgress)}}
	for _, mark := range []string{"failed_at", "completed_at", "error"} {
		if e.members[mark] {
			edits = append(edits, jsonedit.Edit{Pointer: e.pointer + "/" + mark, Op: jsonedit.Remove})
		}
	}
	return edits
}

// mark notes completed or skipped in the state's own shape. A phase that
// state.json does not have marks nothing.
func (s shape) mark(phase, step, word, at string) []jsonedit.Edit {
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

func (s shape) markArray(p *phaseEntry, step, word, at string) []jsonedit.Edit {
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

func (s shape) markList(p *phaseEntry, step, word string) []jsonedit.Edit {
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
	var edits []jsonedit.Edit
	for _, name := range stepLists {
		list, exists := p.lists[name]
		id := step
		if name == "completed_step_ids" {
			id = p.name + ":" + step
		}
		if exists && !contains(list, id) {
			edits = append(edits, jsonedit.Edit{Pointer: base + name, Op: jsonedit.Append, Value: id})
		}
	}
	return edits
}

func (s shape) markRoot(phase, step, word, at string) []jsonedit.Edit {
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

func (s shape) markObject(p *phaseEntry, step, word string) []jsonedit.Edit {
	if e := s.find(p.name, step); e != nil {
		return setEntry(e, word, "")
	}
	return []jsonedit.Edit{{
		Pointer: "/phases/" + escape(p.name) + "/steps/" + escape(step), Op: jsonedit.Set,
		Value: append(s.identity(step), schemas.Member{Name: "status", Value: word}),
	}}
}

func setEntry(e *stepEntry, word, at string) []jsonedit.Edit {
	edits := []jsonedit.Edit{{Pointer: e.pointer + "/status", Op: jsonedit.Set, Value: word}}
	if at != "" {
		edits = append(edits, jsonedit.Edit{Pointer: e.pointer + "/completed_at", Op: jsonedit.Set, Value: at})
	}
	return edits
}

// appendTo appends to an array, which it makes where there is none.
func appendTo(pointer string, exists bool, value any) []jsonedit.Edit {
	if exists {
		return []jsonedit.Edit{{Pointer: pointer, Op: jsonedit.Append, Value: value}}
	}
	return []jsonedit.Edit{{Pointer: pointer, Op: jsonedit.Set, Value: []any{value}}}
}
