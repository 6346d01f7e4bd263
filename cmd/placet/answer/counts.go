package answer

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// CheckCounts refuses an answer that could not count, in the words of the note that the engine
// would write about it: the machine of the run judges the answer before it is written.
func CheckCounts(b *workspace.Workspace, t view.Request, resp gate.Response) error {
	if t.Found.Family.Machine == nil || view.GateOf(b, t.OpenRequest).Waits || slices.Contains(t.AtCommandLine, resp.Response) {
		return nil // it can count once somebody has agreed
	}
	snap, err := snapshotWith(b, t, resp)
	if err != nil {
		return err
	}
	if why := closedBy(t, snap); why != "" {
		return console.Refused("workspace.answer.closing", "request", t.Label(), "why", why).
			Try("workspace.answer.wrong.try", "command", console.Typed("show", t.Request)).Kinded(console.KindUnusable)
	}
	open := t.Found.Family.Machine.Account(snap).Open
	i := slices.IndexFunc(open, func(a engine.OpenRequest) bool { return a.Request == t.Request })
	if i < 0 || open[i].Counts || open[i].Problem == "" {
		return nil
	}
	p := console.Refused("workspace.answer.wrong", "request", t.Label(), "why", engine.NoteBody(open[i].Problem)).
		Try("workspace.answer.wrong.try", "command", console.Typed("show", t.Request)).Kinded(console.KindUnusable)
	if len(open[i].Changed) > 0 {
		p = p.Kinded(console.KindChanged)
	}
	return p
}

// WhyNoneCounts returns why no answer that a person could give to a request would count now, nil if
// one would.
func WhyNoneCounts(b *workspace.Workspace, t view.Request, by string) (why error) {
	if len(t.Changed) > 0 {
		return changed(t)
	}
	for _, r := range trials(t, by) {
		_, err := NewResponse(b, t, r)
		var p *console.Problem
		if err == nil || !errors.As(err, &p) || !slices.Contains(closing, p.Kind) {
			return nil
		}
		why = cmp.Or(why, err)
	}
	return why
}

// closing are the kinds of problems that no other answer avoids.
var closing = []string{console.KindNotApprover, console.KindChanged, console.KindUnusable}

// trials returns one answer for each option that is offered to people elsewhere than at the command
// line.
func trials(t view.Request, by string) (all []Reply) {
	if t.FreeText {
		return []Reply{{Option: "-", By: by}}
	}
	for _, o := range t.Options {
		if !slices.Contains(t.AtCommandLine, o.ID) {
			all = append(all, Reply{Option: o.ID, Comment: "-", By: by})
		}
	}
	return all
}

// snapshotWith returns the run of a request as it would be with an answer. It waits until the
// files that the answer is bound to have settled.
func snapshotWith(b *workspace.Workspace, t view.Request, resp gate.Response) (engine.Snapshot, error) {
	body, err := resp.Encode()
	if err != nil {
		return engine.Snapshot{}, err
	}
	for _, f := range t.Binding {
		b.Artifact(f.Path)
	}
	seen, err := b.Loop.Look(t.Found)
	if err != nil {
		return engine.Snapshot{}, console.Refused("workspace.answer.wrong", "request", t.Label(), "why", err)
	}
	snap := seen.Snap
	given := engine.Document{
		Path: t.Response, Kind: layout.KindResponse, Body: body, Sum: engine.Sum(body), Changed: snap.Now,
		Known: []string{b.Author()}, Source: b.Surface(),
	}
	docs := slices.DeleteFunc(slices.Clone(snap.Docs), func(d engine.Document) bool { return d.Path == given.Path })
	at, _ := slices.BinarySearchFunc(docs, given.Path, func(d engine.Document, name string) int { return strings.Compare(d.Path, name) })
	snap.Docs = slices.Insert(docs, at, given)
	return snap, nil
}

// closedBy returns why the next step closes a request although it has an answer, "" if it does
// not.
func closedBy(t view.Request, snap engine.Snapshot) string {
	plan, err := t.Found.Family.Machine.Step(snap)
	if err != nil {
		return ""
	}
	for _, d := range plan.Writes {
		if d.Kind != layout.KindReceipt || path.Dir(d.Path) != path.Dir(t.Response) {
			continue
		}
		if r, err := gate.ReadReceipt(d.Path, d.Body); err == nil && r.Result != gate.Accepted {
			return r.Reason
		}
	}
	return ""
}
