package faber

import (
	"fmt"
	"strconv"
	"time"

	"placet/engine/jsonedit"
	"placet/schemas"
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

// stampEdits are the members that every transition moves.
func (r *answers) stampEdits(lastEvent int, at time.Time) []jsonedit.Edit {
	var edits []jsonedit.Edit
	if r.hasEvents() {
		edits = append(edits, set("/last_event_id", lastEvent))
	}
	return append(edits, set("/updated_at", millis(at)))
}

// closeEdits take the request out and put the resume point in; nil removes it.
func closeEdits(point *ResumePoint) []jsonedit.Edit {
	if point == nil {
		return []jsonedit.Edit{remove("/feedback_request"), remove("/resume_point")}
	}
	return []jsonedit.Edit{remove("/feedback_request"), set("/resume_point", pointObject(*point))}
}

func pointObject(rp ResumePoint) schemas.Object {
	var i any
	if rp.StepIndex != nil {
		i = *rp.StepIndex
	}
	return schemas.Object{
		{Name: "phase", Value: rp.Phase}, {Name: "step", Value: rp.Step}, {Name: "step_index", Value: i},
		{Name: "position", Value: rp.Position}, {Name: "action", Value: rp.Action}, {Name: "request_id", Value: rp.RequestID},
	}
}

// transitionEdits write the revision and what made it.
func (r *answers) transitionEdits(revision int, t transition) []jsonedit.Edit {
	causes := schemas.Object{}
	if t.cause.Path != "" {
		causes = append(causes, schemas.Member{Name: r.Snap.Rel(t.cause.Path), Value: string(t.cause.Sum)})
	}
	return []jsonedit.Edit{
		set("/revision", revision),
		set("/last_transition", schemas.Object{
			{Name: "edge", Value: t.event}, {Name: "at", Value: millis(t.at)}, {Name: "actor", Value: "placet"},
			{Name: "reason", Value: t.reason}, {Name: "cause", Value: causes},
		}),
	}
}

// resolveError marks the newest errors entry of a step as resolved by retry.
func (r *answers) resolveError(phase, step string) []jsonedit.Edit {
	type failure struct {
		Phase string `json:"phase"`
		Step  string `json:"step"`
	}
	pointer := ""
	match := func(value schemas.Raw, name string) {
		var f failure
		if schemas.DecodeValue(value, &f) == nil && f.Step == step && (f.Phase == "" || f.Phase == phase) {
			pointer = "/errors/" + escape(name)
		}
	}
	for i, e := range elements(r.State.Errors) {
		match(e, strconv.Itoa(i))
	}
	if members, err := schemas.Members(r.State.Errors); err == nil {
		for _, m := range members {
			match(members.Raw(m.Name), m.Name)
		}
	}
	if pointer == "" {
		return nil
	}
	return []jsonedit.Edit{set(pointer+"/resolved", actRetry)}
}

// patched is state.json with edits, every other byte as it was read. A state
// whose members do not have the shape that an edit needs is bad input: nothing
// of the plan is carried out then.
func (r *answers) patched(edits []jsonedit.Edit) []byte {
	body, err := jsonedit.Apply(r.Doc.Body, edits...)
	if err != nil {
		r.editErr = fmt.Errorf("cannot edit state.json: %w: give the member the shape that the other phases have", err)
	}
	return body
}
