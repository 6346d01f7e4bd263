package nemawashi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/answer"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/engine/run"
)

// decide returns the handler that approves or rejects.
func (a *dialect) decide(option string) func(*facade.Call) (int, any, error) {
	return func(c *facade.Call) (int, any, error) {
		var body decision
		if err := c.Decode(&body, true); err != nil {
			return 0, nil, err
		}
		v := a.Viewer(c)
		at, err := a.approvalNamed(v, c)
		if err != nil {
			return 0, nil, err
		}
		ctx, stop := context.WithTimeout(c.Context(), a.Wait())
		defer stop()
		reply := answer.Reply{Option: option, Comment: body.Comment, By: c.Who.User}
		t, open := view.OpenRequestAt(v, at)
		if !open {
			return a.closedApproval(ctx, v, at, reply)
		}
		if body.Digest == "" && view.IDSaysShown(v, t) { // clients of the dialect send no more
			body.Digest = string(t.Digest)
		}
		status, _, err := a.Answer(c.Context(), v, c.Who, at, body.Digest, reply)
		if isClosed(err) {
			return a.closedApproval(ctx, v, at, reply)
		}
		if err != nil {
			return 0, nil, err
		}
		if status == 0 {
			return a.decided(ctx, v, at, option)
		}
		st := actionState(v, at.Found)
		if option == "reject" {
			return status, map[string]engine.Status{"status": st.Status}, nil
		}
		return status, jobOf(at.Found, st, ""), nil
	}
}

func isClosed(err error) bool {
	var p *facade.Problem
	return errors.As(err, &p) && p.Code == "closed"
}

// decided answers a call that has approved or rejected, now or earlier.
func (a *dialect) decided(ctx context.Context, v *workspace.Workspace, at view.RequestAt, option string) (int, any, error) {
	if option == "reject" {
		return 0, map[string]engine.Status{"status": nemawashi.Rejected}, nil
	}
	var first string
	if st, ok := actions.State(v, at.Found); ok {
		first = st.FirstJob(at.ID)
	}
	return a.awaitJob(ctx, v, at.Found, first)
}

// approvalNamed returns the approval that a call is about, open or closed.
func (a *dialect) approvalNamed(v *workspace.Workspace, c *facade.Call) (view.RequestAt, error) {
	return a.Request(v, c.Values["id"], func(name string) bool { return name == family })
}

// closedApproval answers a call that approves or rejects a closed request. Repeating its answer
// is fine, whatever came later.
func (a *dialect) closedApproval(ctx context.Context, v *workspace.Workspace, at view.RequestAt, r answer.Reply) (int, any, error) {
	// The receipt of an answer is written before its state.
	st, _ := a.until(ctx, v, at.Found, func(st nemawashi.State) bool {
		return string(st.ApprovalRequestID) != at.ID || st.Status != nemawashi.ApprovalPending
	})
	closed, ok := view.ClosedRequest(v, at)
	if ok && r.Option != "steer" && answer.Took(closed, r) {
		return a.decided(ctx, v, at, r.Option)
	}
	i := slices.IndexFunc(st.Superseded, func(s nemawashi.Supersession) bool { return s.ApprovalRequestID == at.ID })
	if i < 0 {
		return 0, nil, facade.Refuse(http.StatusConflict, "closed", "the approval is closed: the action is "+string(st.Status)).With("state", st.Status)
	}
	return 0, nil, facade.Refuse(http.StatusConflict, "stale_approval", "another approval stands in the place of this one: look at what it shows").
		With("superseded_by", st.Superseded[i].SupersededBy).With("current_approval_request_id", st.ApprovalRequestID)
}

// steer asks for changes.
func (a *dialect) steer(c *facade.Call) (int, any, error) {
	var body steering
	if err := c.Decode(&body, true); err != nil {
		return 0, nil, err
	}
	v := a.Viewer(c)
	at, err := a.approvalNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	reply := answer.Reply{Option: "steer", Comment: body.Feedback, By: c.Who.User}
	if strings.TrimSpace(body.Feedback) == "" {
		return 0, nil, facade.Invalid(facade.FieldError{Loc: []string{"body", "feedback"}, Msg: "feedback is missing: what should change", Type: "missing"})
	}
	if body.Plan != "" {
		letter, ok := nemawashi.Plan(body.Plan)
		if !ok {
			return 0, nil, facade.Invalid(facade.FieldError{Loc: []string{"body", "selectedPlan"}, Msg: "selectedPlan takes A, B or C", Type: "value_error"})
		}
		reply.Selected = []string{letter}
	}
	if body.Key != "" {
		reply.Keys = []string{body.Key}
		if known, err := a.steeredBefore(v, at.Found, body.Key, reply); known || err != nil {
			return 0, askedOf(at.Found, actionState(v, at.Found)), err
		}
	}
	ctx, stop := context.WithTimeout(c.Context(), a.Wait())
	defer stop()
	t, open := view.OpenRequestAt(v, at)
	if !open {
		return a.closedApproval(ctx, v, at, reply)
	}
	status, _, err := a.Answer(c.Context(), v, c.Who, at, string(t.Digest), reply)
	if isClosed(err) {
		return a.closedApproval(ctx, v, at, reply)
	}
	if err != nil {
		return 0, nil, err
	}
	st, anew := a.until(ctx, v, at.Found, func(st nemawashi.State) bool {
		return st.Status == nemawashi.ApprovalPending && string(st.ApprovalRequestID) != at.ID || st.Final()
	})
	if status == 0 && !anew {
		status = http.StatusAccepted
	}
	data := askedOf(at.Found, st)
	data.Slack = a.awaitSlack(ctx, v, at.Found, string(st.ApprovalRequestID))
	return status, data, nil
}

// steeredBefore reports whether an accepted answer of an action has a key. A key belongs to one
// answer alone.
func (a *dialect) steeredBefore(v *workspace.Workspace, f loop.Found, key string, r answer.Reply) (bool, error) {
	st, _ := actions.State(v, f)
	if !slices.Contains(st.IdempotencyKeys, key) {
		return false, nil
	}
	if slices.ContainsFunc(st.Requests, func(q *run.Request) bool {
		return slices.Contains(q.Keys, key) && string(q.Response) == r.Option && nemawashi.Feedback(string(q.Comment)) == nemawashi.Feedback(r.Comment) && slices.Equal(q.Selected, r.Selected)
	}) {
		return true, nil
	}
	return false, facade.Refuse(http.StatusConflict, "key_reused", "another answer has this idempotencyKey already")
}
