package faber

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/jsonedit"
	"placet/schemas"
)

func set(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Set, Value: value}
}

// hasMember reports whether state.json has a member of this name at its root.
func (r *reading) hasMember(name string) bool {
	if r.members == nil {
		r.members = map[string]bool{}
		if members, err := schemas.Members(r.doc.Body); err == nil {
			for _, m := range members {
				r.members[m.Name] = true
			}
		}
	}
	return r.members[name]
}

// stampEdits are the members that every transition moves.
func (r *reading) stampEdits(lastEvent int, at time.Time) []jsonedit.Edit {
	var edits []jsonedit.Edit
	if r.hasEvents() {
		edits = append(edits, set("/last_event_id", lastEvent))
	}
	return append(edits, set("/updated_at", millis(at)))
}

// closeEdits take the request out and put the resume point in; nil removes it.
func (r *reading) closeEdits(point *ResumePoint) []jsonedit.Edit {
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
func (r *reading) transitionEdits(revision int, edge string, at time.Time, reason, cause string, sum engine.Digest) []jsonedit.Edit {
	causes := schemas.Object{}
	if cause != "" {
		causes = append(causes, schemas.Member{Name: cause, Value: string(sum)})
	}
	return []jsonedit.Edit{
		set("/revision", revision),
		set("/last_transition", schemas.Object{
			{Name: "edge", Value: edge}, {Name: "at", Value: millis(at)}, {Name: "actor", Value: "placet"},
			{Name: "reason", Value: reason}, {Name: "cause", Value: causes},
		}),
	}
}

// resolveError marks the newest errors entry of a step as resolved by retry.
func (r *reading) resolveError(phase, step string) []jsonedit.Edit {
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
	if isArray(r.st.Errors) {
		for i, e := range elements(r.st.Errors) {
			match(e, "/errors/"+strconv.Itoa(i))
		}
	} else if strings.HasPrefix(strings.TrimSpace(string(r.st.Errors)), "{") {
		members, _ := schemas.Members(r.st.Errors)
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
func (r *reading) patched(edits []jsonedit.Edit) engine.Document {
	body, err := jsonedit.Apply(r.doc.Body, edits...)
	if err != nil {
		r.editErr = fmt.Errorf("cannot edit state.json: %w: give the member the shape that the other phases have", err)
	}
	return engine.Document{Path: r.doc.Path, Kind: engine.KindState, Body: body, Over: r.doc.Sum}
}
