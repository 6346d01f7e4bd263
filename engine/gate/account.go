package gate

import (
	"placet/engine"
	"placet/schemas"
)

// Account is an open request as people are told of it: what it asks, where it is
// answered, and until when. What it is about, and what is wrong with an answer, is
// for the family to add.
func (a Asked) Account() engine.Asked {
	r := a.Request
	told := engine.Asked{
		Request: r.RequestID, Type: r.Type, Prompt: r.Prompt, FreeText: r.FreeText(), Default: a.Default,
		Form: a.Present, Response: a.Dir + "/response.json", Digest: a.View,
		RequestedAt: schemas.OrNull(r.RequestedAt).Time(), Deadline: schemas.OrNull(r.Deadline).Time(), CommentRequired: r.CommentRequired, Several: r.Several,
		Members: a.Members,
	}
	told.Overdue = !told.Deadline.IsZero() && !a.Now.Before(told.Deadline)
	for _, o := range r.Options {
		told.Options = append(told.Options, engine.AskedOption(o))
	}
	for _, i := range r.Items {
		told.Items = append(told.Items, engine.AskedItem{ID: i.ID, Label: i.Label})
	}
	for _, artifact := range r.Artifacts {
		told.Artifacts = append(told.Artifacts, artifact.Path)
	}
	return told
}
