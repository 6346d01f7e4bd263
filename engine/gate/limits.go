package gate

import (
	"fmt"

	"placet/engine"
	"placet/layout"
)

// Limits of an answer, in bytes. States, receipts and events repeat it, each byte as
// six at worst, and must stay files that can be read.
const (
	// LongestAnswer is how much text an answer may hold, its response and its comment
	// together.
	LongestAnswer = 64 << 10
	// LongestUser is how long the name of who answers may be.
	LongestUser = 1 << 10
)

// CheckLimits says which limit an answer exceeds, "" for none. Whatever else holds a
// person's words and name is held to the same limits.
func CheckLimits(place string, a Answer) string {
	if n := len(a.Response) + len(a.Comment); n > LongestAnswer {
		return fmt.Sprintf("%s has %d bytes of text: expected at most %d. Put the rest into a file and name it.", code(place), n, LongestAnswer)
	}
	if n := len(a.By.User); n > LongestUser {
		return fmt.Sprintf("%s is by a name of %d bytes: expected at most %d.", code(place), n, LongestUser)
	}
	return ""
}

// Check holds a response.json against the request before it is written: it returns
// the answer that [Judge] will find in it, or says why it would not count.
func (a Asked) Check(d engine.Document) (Decision, string) {
	if n := len(d.Body); n > layout.LimitJSON {
		return Decision{}, fmt.Sprintf("%s has %d bytes: expected at most %d.", code(d.Path), n, layout.LimitJSON)
	}
	switch r := a.judgeResponse(d); {
	case r.wait != nil:
		return Decision{}, code(d.Path) + " is still being written."
	case r.answer == nil:
		return Decision{}, r.problem
	default:
		return *r.answer, ""
	}
}

// Told is an open request again, from what people are told of it: as much of it as
// an answer in response.json is held against. One without a digest means what is
// shown.
func Told(told engine.Asked, g engine.Gate) Asked {
	a := Asked{
		Request: Request{RequestID: told.Request, Type: told.Type, CommentRequired: told.CommentRequired, Several: told.Several},
		View:    told.Digest, Issued: told.Digest, Present: told.Form, Default: told.Default, Members: told.Members, Gate: g,
	}
	for _, o := range told.Options {
		a.Request.Options = append(a.Request.Options, Option(o))
	}
	for _, i := range told.Items {
		a.Request.Items = append(a.Request.Items, Item{ID: i.ID, Label: i.Label})
	}
	return a
}
