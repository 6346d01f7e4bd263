package faber

import (
	"strconv"

	"placet/engine/jsonedit"
	"placet/schemas"
	"placet/templates"
)

func set(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Set, Value: value}
}

func push(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Append, Value: value}
}

func remove(pointer string) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Remove}
}

// patch holds a transition's changes to state.json besides status, revision and origin of the
// transition. It appends new members to the document in this order.
type patch struct {
	body []byte // state.json as it was read
	// lastEvent is the number of the last event; nil if the run keeps no events.
	lastEvent *int
	moves     []jsonedit.Edit
	// reason is the full reason of the transition.
	reason  string
	history []jsonedit.Edit
}

// encode returns state.json after a transition. Every byte that the transition does not change
// stays as it was. A state whose members lack the shape that an edit needs is bad input.
func (st State) encode() ([]byte, error) {
	edits := []jsonedit.Edit{set("/status", string(st.status))}
	if st.patch.lastEvent != nil {
		edits = append(edits, set("/last_event_id", *st.patch.lastEvent))
	}
	edits = append(edits, set("/updated_at", string(st.last.At)))
	edits = append(edits, st.patch.moves...)
	edits = append(edits, set("/revision", st.rev), set("/last_transition", schemas.Object{
		{Name: "edge", Value: st.last.Event}, {Name: "at", Value: st.last.At}, {Name: "actor", Value: st.last.Actor},
		{Name: "reason", Value: st.patch.reason}, {Name: "cause", Value: st.last.Cause},
	}))
	body, err := jsonedit.Apply(st.patch.body, append(edits, st.patch.history...)...)
	if err != nil {
		return nil, templates.Errorf("faber.note.edit", "error", err)
	}
	return body, nil
}

// closeEdits remove the request and set the resume point; nil removes the resume point, too.
func closeEdits(point *ResumePoint) []jsonedit.Edit {
	if point == nil {
		return []jsonedit.Edit{remove("/feedback_request"), remove("/resume_point")}
	}
	return []jsonedit.Edit{remove("/feedback_request"), set("/resume_point", *point)}
}

// cancelEdits record when and why the run was cancelled.
func cancelEdits(at, reason string) []jsonedit.Edit {
	return append([]jsonedit.Edit{set("/completed_at", at), set("/cancellation_reason", reason)}, closeEdits(nil)...)
}

// resolveError marks a step's newest entry of errors as resolved by a retry.
func (st State) resolveError(phase, step string) []jsonedit.Edit {
	type failure struct {
		Phase string `json:"phase"`
		Step  string `json:"step"`
	}
	pointer := ""
	match := func(value schemas.Raw, name string) {
		var f failure
		if schemas.DecodeValue(value, &f) == nil && f.Step == step && (f.Phase == "" || f.Phase == phase) {
			pointer = "/errors/" + escape(name) + "/resolved"
		}
	}
	for i, e := range elements(st.Errors) {
		match(e, strconv.Itoa(i))
	}
	for name, value := range members(st.Errors) {
		match(value, name)
	}
	if pointer == "" {
		return nil
	}
	return []jsonedit.Edit{set(pointer, retries.action)}
}
