package view

import (
	"time"

	"github.com/go-json-experiment/json"

	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
)

// storedView is the part of a view that the verbs over all runs show: no facts, no plan, no
// log.
type storedView struct {
	Class, Short           string        `json:",omitempty"`
	Status                 engine.Status `json:",omitempty"`
	Final, Absent, Blocked bool          `json:",omitempty"`
	Since                  time.Time
	Waits                  string                  `json:",omitempty"`
	MoreWaits              int                     `json:",omitempty"`
	Open                   []storedRequest         `json:",omitempty"`
	Required               []engine.RequiredAction `json:",omitempty"`
	Notes                  []Note                  `json:",omitempty"`
	Untrusted              []engine.Untrusted      `json:",omitempty"`
	Findings               []engine.Finding        `json:",omitempty"`
	Stray                  []string                `json:",omitempty"`
}

// storedRequest is a request, with members that --json leaves out.
type storedRequest struct {
	engine.OpenRequest
	Members  []string          `json:",omitempty"`
	NoReject string            `json:",omitempty"`
	Lang     string            `json:",omitempty"`
	Words    [][]string        `json:",omitempty"` // of its options
	Details  []engine.Fact     `json:",omitempty"`
	Unread   []string          `json:",omitempty"`
	Foreign  bool              `json:",omitempty"`
	Final    bool              `json:",omitempty"` // it is irreversible
	Command  *engine.Untrusted `json:",omitempty"`
}

func storeRequests(open []engine.OpenRequest) (stored []storedRequest) {
	for _, a := range open {
		r := storedRequest{OpenRequest: a, Members: a.Members, NoReject: a.NoReject, Lang: a.Lang, Details: a.Details, Unread: a.Unread, Foreign: a.Foreign, Final: a.Irreversible, Command: a.Command}
		for _, o := range a.Options {
			r.Words = append(r.Words, o.Words)
		}
		stored = append(stored, r)
	}
	return stored
}

func (r storedRequest) request() engine.OpenRequest {
	a := r.OpenRequest
	a.Members, a.NoReject, a.Lang, a.Details, a.Unread = r.Members, r.NoReject, r.Lang, r.Details, r.Unread
	a.Foreign, a.Irreversible, a.Command = r.Foreign, r.Final, r.Command
	for i := range min(len(a.Options), len(r.Words)) {
		a.Options[i].Words = r.Words[i]
	}
	return a
}

// findStoredView returns the stored view of a run, if it is still valid.
func findStoredView(b *workspace.Workspace, round *loop.Stored, f loop.Found) (v Run, ok bool) {
	body, ok := round.View(f)
	var s storedView
	if !ok || json.Unmarshal(body, &s) != nil {
		return Run{}, false
	}
	v.Class, v.ShortID, v.Status, v.Final, v.Absent, v.Blocked = s.Class, s.Short, s.Status, s.Final, s.Absent, s.Blocked
	v.Since, v.awaited, v.awaitedToo, v.Notes, v.Untrusted, v.Findings, v.stray = s.Since, s.Waits, s.MoreWaits, s.Notes, s.Untrusted, s.Findings, s.Stray
	v.Required = s.Required
	v.Found, v.Key = f, f.Key()
	now := b.Env.Now()
	for _, r := range s.Open {
		a := r.request()
		a.Run, a.Overdue = v.Key, !a.Deadline.IsZero() && !now.Before(a.Deadline)
		v.Open = append(v.Open, a)
	}
	return v, true
}

// storeView stores the view of a run for later looks.
func storeView(b *workspace.Workspace, f loop.Found, seen loop.Seen, v Run) {
	body, err := json.Marshal(storedView{
		v.Class, v.ShortID, v.Status, v.Final, v.Absent, v.Blocked, v.Since.UTC(), v.awaited, v.awaitedToo, storeRequests(v.Open), v.Required, v.Notes, v.Untrusted, v.Findings, v.stray,
	}, json.FormatNilSliceAsNull(true))
	if err == nil {
		b.Loop.StoreView(f, seen, body)
	}
}
