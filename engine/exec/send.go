package exec

import (
	"context"
	"errors"
	"time"

	"placet/engine"
	"placet/schemas"
)

// sendGrace is how long an orderly stop waits for a send that is under way.
const sendGrace = 10 * time.Second

// errCut is why a send is interrupted.
var errCut = errors.New("placet was stopped")

// beginSend starts a send. If something prevents it, that becomes its outcome.
func beginSend(r *Runner, t *attempt, stopping bool) {
	a, now := t.action, r.o.Now()
	switch {
	case a.Recorded:
		concludeSend(r, t, now, engine.Sent{Outcome: engine.SendLost, Reason: lostReason})
	case stopping:
		concludeSend(r, t, now, engine.Sent{Outcome: engine.SendNotStarted, Reason: "placet was stopping"})
	default:
		if err := r.issue(a, nil); err != nil {
			concludeSend(r, t, now, engine.Sent{Outcome: engine.SendNotStarted, Reason: err.Error()})
			return
		}
		go send(r, t, now)
	}
}

// send carries out a send. An orderly stop interrupts it after sendGrace.
func send(r *Runner, t *attempt, from time.Time) {
	ctx, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	go func() {
		select {
		case <-r.leaving:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(sendGrace):
			cut(errCut)
		case <-ctx.Done():
		}
	}()
	concludeSend(r, t, from, r.o.Send(ctx, *t.action.Send))
}

// concludeSend records how a send ended and releases it.
func concludeSend(r *Runner, t *attempt, from time.Time, sent engine.Sent) {
	r.o.Log.Info("a send ended", "action", t.action.ID, "outcome", sent.Outcome, "reason", sent.Reason)
	to := latest(from, r.o.Now())
	r.record(t, func() error {
		body, err := schemas.Encode(sendDocument(t.action, from, to, sent))
		if err != nil {
			return err
		}
		return r.storeOutcome(t.action, body)
	})
}

// sendDocument lists the members of a send's outcome: the action's own fields first, and
// last those that exist only if there is something to say.
func sendDocument(a engine.Action, from, to time.Time, sent engine.Sent) schemas.Object {
	var doc schemas.Object
	add := func(name string, value any) { doc = append(doc, schemas.Member{Name: name, Value: value}) }
	for _, f := range a.Fields {
		add(f.Name, f.Value)
	}
	add("started_at", from.UTC().Format(stamp))
	add("finished_at", to.UTC().Format(stamp))
	add("duration_ms", to.Sub(from).Milliseconds())
	add("outcome", sent.Outcome)
	add("code", sent.Code)
	add("response", sent.Response)
	if wait := sent.RetryAfter; wait > 0 {
		add("retry_after_seconds", int64((wait+time.Second-1)/time.Second))
	}
	if sent.Reason != "" {
		add("reason", sent.Reason)
	}
	return doc
}
