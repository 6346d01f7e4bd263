package answer

import (
	"cmp"
	"errors"
	"path"
	"slices"

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
	if t.Found.Family.Machine == nil || countsLater(b, t, resp) {
		return nil
	}
	snap, err := t.Snapshot(b)
	if err != nil {
		return console.Refused("workspace.answer.wrong", "request", t.Label(), "why", err)
	}
	body, err := resp.Encode()
	if err != nil {
		return err
	}
	snap = snap.With(engine.Document{Path: t.Response, Kind: layout.KindResponse, Body: body, Known: []string{b.Author()}, Source: b.Surface()})
	plan, err := t.Found.Family.Machine.Step(snap)
	if err != nil {
		plan = engine.Plan{} // the run's account says why
	}
	return counts(b, t, resp, snap, plan)
}

// counts refuses an answer that could not count, given the run with it and the plan for that.
func counts(b *workspace.Workspace, t view.Request, resp gate.Response, snap engine.Snapshot, plan engine.Plan) error {
	if countsLater(b, t, resp) {
		return nil
	}
	switch r, closes := closing(t, plan); {
	case closes && r.Result == gate.Accepted:
		return nil
	case closes:
		return console.Refused("workspace.answer.closing", "request", t.Label(), "why", r.Reason).
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
		if err == nil || !errors.As(err, &p) || !slices.Contains(unavoidable, p.Kind) {
			return nil
		}
		why = cmp.Or(why, err)
	}
	return why
}

// unavoidable are the kinds of problems that no other answer avoids.
var unavoidable = []string{console.KindNotApprover, console.KindChanged, console.KindUnusable}

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

// countsLater reports whether an answer can count once somebody has agreed to something.
func countsLater(b *workspace.Workspace, t view.Request, resp gate.Response) bool {
	return view.GateOf(b, t.OpenRequest).Waits || slices.Contains(t.AtCommandLine, resp.Response)
}

// closing returns the receipt by which a plan closes a request; closes is false if it does not.
func closing(t view.Request, plan engine.Plan) (r gate.Receipt, closes bool) {
	for _, d := range plan.Writes {
		if d.Kind != layout.KindReceipt || path.Dir(d.Path) != path.Dir(t.Response) {
			continue
		}
		if r, err := gate.ReadReceipt(d.Path, d.Body); err == nil {
			return r, true
		}
	}
	return r, false
}
