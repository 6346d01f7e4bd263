package actions

import (
	"errors"
	"path"
	"slices"
	"strconv"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// mostNotes limits the notes that a request may have in threads.
const mostNotes = 20

// InThread reports whether this machine has asked about an action in a Slack thread.
func InThread(b *workspace.Workspace, f loop.Found, st nemawashi.State, channel, ts string) bool {
	fits := func(at post.Place) bool { return at.Channel == channel && (at.ThreadTS == ts || at.MessageTS == ts) }
	var known post.Place
	if schemas.DecodeValue(st.Slack, &known) == nil && fits(known) {
		return true
	}
	ids := []string{string(st.ApprovalRequestID)}
	if st.OpenRequest != nil {
		ids = append(ids, st.OpenRequest.RequestID)
	}
	// A question that is asked anew is in the thread of those before, even while it is on its way.
	for _, s := range slices.Backward(st.Superseded) {
		ids = append(ids, s.ApprovalRequestID)
	}
	for _, id := range ids {
		if at := PostedAsk(b, f, id); at != nil && fits(*at) {
			return true
		}
	}
	return false
}

// Posting reports whether the question of a request is still on its way to Slack: no attempt to
// post it has ended.
func Posting(b *workspace.Workspace, f loop.Found, id string) bool {
	conf := b.Settings.Slack.Machine()
	return id != "" && conf.HasToken && conf.Posts(f.Run.Family) && b.ReadDocument(f, path.Join(AskDir(id), "outcome-1.json")).Absent()
}

// AskDir returns the folder of the message with the question of a request, relative to the run's.
func AskDir(id string) string { return path.Join(layout.RequestsDir, id, layout.SlackDir, "ask") }

// PostedAsk returns the place where this machine has posted the question of a request, nil if
// it has not.
func PostedAsk(b *workspace.Workspace, f loop.Found, id string) *post.Place {
	if id == "" || b.StateDir == nil {
		return nil
	}
	issued := b.StateDir.Issued(f.Run.Dir)
	for n := run.MostAttempts; n > 0; n-- {
		dir := AskDir(id)
		d := b.ReadDocument(f, path.Join(dir, "outcome-"+strconv.Itoa(n)+".json"))
		var said run.Outcome
		if !d.Present() || !slices.Contains(issued[d.Path], d.Sum) || schemas.Decode("kernel/slack-outcome", d.Path, d.Body, &said) != nil {
			continue
		}
		if at := post.ReadPlace(said, b.ReadDocument(f, path.Join(dir, "attempt-"+strconv.Itoa(n)+".json"))); at != nil {
			return at
		}
	}
	return nil
}

// KnowsKey reports whether an answer or a command of an action has one of some keys, be it
// taken or still waiting.
func KnowsKey(b *workspace.Workspace, f loop.Found, st nemawashi.State, keys ...string) bool {
	known := slices.Clone(st.IdempotencyKeys)
	for _, q := range st.Requests {
		known = append(known, q.Keys...)
	}
	if id := string(st.ApprovalRequestID); id != "" {
		var waiting struct {
			Keys []string `json:"idempotency_keys"`
		}
		if d := b.Store.Read(layout.RequestPath(f.Run.Dir, id, "response.json"), workspace.ResponseFile(id)); d.Present() && schemas.Decode("", d.Path, d.Body, &waiting) == nil {
			known = append(known, waiting.Keys...)
		}
	}
	return slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(known, k) })
}

// SayInThread writes a note for the thread of a request, once for each name of twelve hex
// digits. It drops every note after the first mostNotes.
func SayInThread(b *workspace.Workspace, f loop.Found, request, name, text string) error {
	dir := path.Join(f.Run.Dir, layout.RequestsDir, request, layout.SlackDir)
	if entries, err := b.Store.List(dir); err == nil {
		entries = slices.DeleteFunc(entries, func(e layout.Entry) bool { return len(e.Name) < 5 || e.Name[:5] != "note-" })
		if len(entries) >= mostNotes {
			return nil
		}
	}
	body, err := schemas.Encode(schemas.Object{{Name: "text", Value: text}})
	if err != nil {
		return err
	}
	doc := engine.Document{Path: path.Join(dir, "note-"+name, "note.json"), Kind: layout.SlackNote, Body: body}
	if err := b.Put(doc, request); err != nil && !errors.Is(err, store.ErrConflict) {
		return console.Refused("workspace.write", "path", doc.Path, "error", console.Plain(err))
	}
	b.Loop.LookAgain(f.Run)
	return nil
}
