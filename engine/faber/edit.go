package faber

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"placet/engine/jsonedit"
	"placet/engine/run"
	"placet/schemas"
)

func set(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Set, Value: value}
}

// hasMember reports whether state.json has a member of this name at its root.
func (r *sources) hasMember(name string) bool {
	return run.Once(r.Run, "members", func() map[string]bool {
		has := map[string]bool{}
		members, _ := schemas.Members(r.Doc.Body)
		for _, m := range members {
			has[m.Name] = true
		}
		return has
	})[name]
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
func (r *answers) closeEdits(point *ResumePoint) []jsonedit.Edit {
	var edits []jsonedit.Edit
	if r.hasMember("feedback_request") {
		edits = append(edits, jsonedit.Edit{Pointer: "/feedback_request", Op: jsonedit.Remove})
	}
	switch {
	case point != nil:
		edits = append(edits, set("/resume_point", pointObject(*point)))
	case r.hasMember("resume_point"):
		edits = append(edits, jsonedit.Edit{Pointer: "/resume_point", Op: jsonedit.Remove})
	}
	return edits
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
	match := func(value schemas.Raw, p string) {
		var f failure
		if schemas.DecodeValue(value, &f) == nil && f.Step == step && (f.Phase == "" || f.Phase == phase) {
			pointer = p
		}
	}
	if isArray(r.State.Errors) {
		for i, e := range elements(r.State.Errors) {
			match(e, "/errors/"+strconv.Itoa(i))
		}
	} else if strings.HasPrefix(strings.TrimSpace(string(r.State.Errors)), "{") {
		members, _ := schemas.Members(r.State.Errors)
		for _, m := range members {
			match(raw(m.Value), "/errors/"+escape(m.Name))
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
