package answer

import (
	"context"
	"errors"
	"strconv"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/store"
	"placet/layout"
	"placet/templates"
)

// write writes response.json by put, and never loses an answer that is already there: the same one is
// fine, another usable one refuses the new one, and only an unusable one is replaced. write
// waits for one that may be half written until the context is done.
func write(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response, put func(engine.Document) error) (string, error) {
	doc := engine.Document{Path: t.Response, Kind: layout.KindResponse}
	for range 3 {
		there, err := standingAnswer(ctx, b, t)
		if err != nil {
			return "", err
		}
		if !there.Absent() {
			if same, err := compare(t, there, &resp, view.GateOf(b, t.OpenRequest)); err != nil || same {
				return "same", err
			}
		}
		body, err := resp.Encode()
		if err != nil {
			return "", err
		}
		doc.Body = body
		doc.Over = there.Sum
		if err = put(doc); err == nil {
			return "written", nil
		}
		if p := (*console.Problem)(nil); errors.As(err, &p) && p.Kind != console.KindUnwritable {
			return "", err // it cannot count
		}
		if !errors.Is(err, store.ErrConflict) {
			return "", console.Refused("workspace.write", "path", t.Response, "error", err).Kinded(console.KindUnwritable)
		}
	}
	return "", console.Refused("workspace.write.busy", "path", t.Response).Try("workspace.write.busy.try").Kinded(console.KindBusy)
}

// tornFor is how long content that does not parse may still be half written.
const tornFor = 10 * time.Second

// standingAnswer reads the answer in place. It gives one that may be half written time to
// become whole, until the context is done.
func standingAnswer(ctx context.Context, b *workspace.Workspace, t view.Request) (engine.Document, error) {
	said := false
	for {
		d := b.SettledBy(ctx, t.Response, workspace.ResponseFile(t.Request))
		_, err := gate.ReadOptional(d.Path, d.Body)
		half := d.Present() && err != nil && b.Env.Now().Sub(d.Changed) < tornFor && t.Problem == ""
		if !half && !(d.Unsettled() && ctx.Err() != nil) {
			return d, nil
		}
		if !said {
			b.Env.Note("workspace.answer.waiting", "path", t.Response)
			said = true
		}
		if !workspace.Pause(ctx, 200*time.Millisecond) {
			return d, console.Refused("workspace.answer.torn", "request", t.Label(), "path", t.Response).
				Try("workspace.answer.torn.try").Kinded(console.KindBusy)
		}
	}
}

// compare checks the answer in place against the new one. same is true if they agree; an error
// means that the old one must go first; otherwise the old one cannot be used and is replaced.
// An equal answer from before since is confirmed: it is written again, with its comment.
func compare(t view.Request, there engine.Document, resp *gate.Response, g engine.Gate) (same bool, err error) {
	if there.Err != nil {
		kind := console.KindInTheWay
		if there.Unsettled() {
			kind = console.KindBusy
		}
		return false, console.Refused("workspace.answer.blocked", "request", t.Label(), "path", t.Response, "error", there.Err).
			Try("workspace.answer.blocked.try").Kinded(kind)
	}
	old, known, ok := view.AnswerIn(t, there, engine.Gate{Level: g.Level, Approvers: g.Approvers, Links: g.Links})
	if !ok {
		return false, nil
	}
	if sameAnswer(t, old, *resp) {
		if resp.Comment == "" {
			resp.Comment = old.Comment
		}
		return !there.Changed.Before(g.Since), nil
	}
	if t.Problem != "" {
		return false, nil
	}
	said, with := view.Said(t, old)
	if with == "" && len(t.Items) > 0 {
		with = templates.Phrase(t.Spoken, "workspace.with.nothing")
	}
	if sameChoice(t, old, *resp) {
		with += templates.Phrase(t.Spoken, "workspace.with.comment", "comment", strconv.Quote(console.Cut(console.OneLine(old.Comment), view.ShownAnswer)))
	}
	return false, console.Refused("workspace.answer.inplace", "request", t.Label(), "answer", said+with,
		"who", view.ShownAuthor(t.Spoken, old, known), "source", old.ProvidedBy.Source).
		Try("workspace.answer.inplace.try", "path", t.Response).Kinded(console.KindInPlace)
}
