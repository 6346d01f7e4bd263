package nemawashi

import (
	"context"
	"net/http"
	"time"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/schemas"
)

// revision is the body of a call that changes an action before it is carried out.
type revision struct {
	Draft   *string     `json:"draft"`
	Payload schemas.Raw `json:"payload"`
}

// withdrawal is the body of a call that cancels an action.
type withdrawal struct {
	Reason string `json:"reason"`
}

// standing is the status of an action.
type standing struct {
	Status   engine.Status `json:"status"`
	ThreadID string        `json:"thread_id"`
	ActionID int           `json:"action_id"`
}

// give gives a command to an action that has not ended. It returns the receipt, nil if there is
// none in time.
func (a *dialect) give(ctx context.Context, c *facade.Call, v *workspace.Workspace, f loop.Found, command schemas.Object) (*nemawashi.IntakeReceipt, error) {
	switch st, err := a.hasState(ctx, v, f); {
	case err != nil:
		return nil, err
	case st.Final():
		return nil, wrongStatus(st)
	}
	return a.command(ctx, c, v, f, command)
}

// revise gives an action another draft or payload. Whoever was asked about it is asked again.
func (a *dialect) revise(c *facade.Call) (int, any, error) {
	var body revision
	if err := c.Decode(&body, false); err != nil {
		return 0, nil, err
	}
	v, f, err := a.actionOf(c)
	if err != nil {
		return 0, nil, err
	}
	ctx, stop := context.WithTimeout(c.Context(), a.Wait())
	defer stop()
	command := schemas.Object{{Name: "command", Value: "revise"}}
	if body.Draft != nil {
		command = append(command, schemas.Member{Name: "draft", Value: *body.Draft})
	}
	if !body.Payload.Null() {
		if err := nemawashi.CheckPayload(actionState(v, f).Type, body.Payload); err != nil {
			return 0, nil, invalidBody(err)
		}
		command = append(command, schemas.Member{Name: "payload", Value: body.Payload})
	}
	rc, err := a.give(ctx, c, v, f, command)
	if err != nil {
		return 0, nil, err
	}
	if rc == nil {
		return http.StatusAccepted, askedOf(f, actionState(v, f)), nil
	}
	st, over := a.until(ctx, v, f, func(st nemawashi.State) bool { return st.Revision >= rc.Revision && st.NextRequest == nil })
	data, status := askedOf(f, st), 0
	if data.Slack = a.awaitSlack(ctx, v, f, string(st.ApprovalRequestID)); !over {
		status = http.StatusAccepted
	}
	return status, data, nil
}

// cancel takes an action back.
func (a *dialect) cancel(c *facade.Call) (int, any, error) {
	var body withdrawal
	if err := c.Decode(&body, false); err != nil {
		return 0, nil, err
	}
	v, f, err := a.actionOf(c)
	if err != nil {
		return 0, nil, err
	}
	ctx, stop := context.WithTimeout(c.Context(), a.Wait())
	defer stop()
	data := standing{nemawashi.Canceled, nemawashi.ThreadID(actionID(f)), actionID(f)}
	if st, ok := actions.State(v, f); ok && st.Status == nemawashi.Canceled {
		return 0, data, nil
	}
	command := schemas.Object{{Name: "command", Value: "cancel"}}
	if body.Reason != "" {
		command = append(command, schemas.Member{Name: "reason", Value: body.Reason})
	}
	rc, err := a.give(ctx, c, v, f, command)
	if err != nil {
		return 0, nil, err
	}
	if rc == nil {
		data.Status = actionState(v, f).Status
		return http.StatusAccepted, data, nil
	}
	return 0, data, nil
}

// slackPoll is how often awaitSlack looks for the end of an attempt, which no commit brings.
const slackPoll = 50 * time.Millisecond

// awaitSlack returns where in Slack an approval is, null if it is not there. It waits while the
// approval is being posted.
func (a *dialect) awaitSlack(ctx context.Context, v *workspace.Workspace, f loop.Found, approval string) schemas.Raw {
	come, leave := a.Await(f.Run, func(engine.Document) bool { return true })
	defer leave()
	for {
		posting := actions.Posting(v, f, approval)
		if at := actions.PostedAsk(v, f, approval); at != nil {
			body, err := schemas.Line(at)
			if err != nil {
				return nil
			}
			return body
		}
		if !posting {
			return nil
		}
		select {
		case <-come:
		case <-time.After(slackPoll):
		case <-ctx.Done():
			return nil
		}
	}
}
