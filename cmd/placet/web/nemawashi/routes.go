// Package nemawashi is the dialect of Nemawashi over HTTP: the endpoints of its seed, with the
// paths, bodies and answers that the seed lists, and some of placet's own. It writes what any
// editor could have written, and approvals are answered as all other requests are.
package nemawashi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/actions"
	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/nemawashi"
	"placet/layout"
	"placet/schemas"
)

// Answers have no envelope, and unknown members of bodies are ignored.

// Surface is the part of the serving surface that the routes need.
type Surface interface {
	// Viewer returns the workspace for one call.
	Viewer(c *facade.Call) *workspace.Workspace
	// Wait returns how long a call waits for the outcome of what it has written.
	Wait() time.Duration
	// Request returns the request of a name, among those of the families that sees accepts.
	Request(v *workspace.Workspace, name string, sees func(family string) bool) (view.RequestAt, error)
	// Answer gives an answer for a person who was shown what the digest says.
	Answer(ctx context.Context, v *workspace.Workspace, who facade.Identity, at view.RequestAt, shown string, r answer.Reply) (int, any, error)
	// Await starts to wait for those documents of a run that wants accepts, until done is
	// called.
	Await(run layout.Run, wants func(engine.Document) bool) (come <-chan engine.Document, done func())
}

// dialect answers the calls.
type dialect struct{ Surface }

// newAction is the body of a call that begins an action.
type newAction struct {
	Type     string      `json:"type"`
	Summary  string      `json:"summary"`
	Draft    string      `json:"draft"`
	Payload  schemas.Raw `json:"payload"`
	Project  string      `json:"project_id"`
	Severity string      `json:"severity"`
	Expires  string      `json:"expires_at"`
	Replaces schemas.Raw `json:"replaces"`
}

// begun is an action that was begun.
type begun struct {
	ActionID int           `json:"action_id"`
	ThreadID string        `json:"thread_id"`
	Status   engine.Status `json:"status"`
}

// asked is the approval that an action waits for.
type asked struct {
	ThreadID string         `json:"thread_id"`
	Approval schemas.OrNull `json:"approval_request_id"`
	Status   engine.Status  `json:"status"`
	ActionID int            `json:"action_id"`
	Slack    schemas.Raw    `json:"slack"`
}

// carriedOut is the job of an action.
type carriedOut struct {
	JobID    schemas.OrNull `json:"job_id"`
	Status   engine.Status  `json:"status"`
	ThreadID string         `json:"thread_id"`
	ActionID int            `json:"action_id"`
}

// decision is the body of a call that approves or rejects.
type decision struct {
	Comment string `json:"comment"`
	Digest  string `json:"digest"`
}

// steering is the body of a call that asks for changes.
type steering struct {
	Feedback string `json:"feedback"`
	Plan     string `json:"selectedPlan"`
	Key      string `json:"idempotencyKey"`
}

// execution is the body of a call that carries an action out.
type execution struct {
	SimulateFailure bool        `json:"simulateFailure"`
	Calendar        schemas.Raw `json:"calendar"`
}

// audit lists the events of an action.
type audit struct {
	ThreadID string            `json:"thread_id"`
	Events   []nemawashi.Event `json:"events"`
}

// Routes returns the routes of the dialect.
func Routes(s Surface) []facade.Route {
	a := &dialect{s}
	post := func(path, summary string, role facade.Role, body, data any, handle func(*facade.Call) (int, any, error)) facade.Route {
		return facade.Route{Method: http.MethodPost, Path: path, Summary: summary, Access: facade.TokenOrSession, Role: role, Family: family, Bare: true, Loose: true, Body: body, Data: data, Handle: handle}
	}
	strict := func(r facade.Route) facade.Route { // the seed has no such route
		r.Loose = false
		return r
	}
	return []facade.Route{
		strict(post("/api/v1/nemawashi", "Begin an action; nobody is asked yet", facade.Write, &newAction{}, begun{}, a.beginAction)),
		post("/api/v1/nemawashi/{action}/request-approval", "Have a person asked about an action", facade.Write, nil, asked{}, a.requestApproval),
		post("/api/v1/nemawashi/{action}/execute", "Have carried out what was approved", facade.Write, &execution{}, carriedOut{}, a.execute),
		strict(post("/api/v1/nemawashi/{action}/revise", "Change an action before it is carried out; whoever was asked is asked again", facade.Write, &revision{}, asked{}, a.revise)),
		strict(post("/api/v1/nemawashi/{action}/cancel", "Take an action back before it is carried out", facade.Write, &withdrawal{}, standing{}, a.cancel)),
		post("/api/v1/approvals/{id}/approve", "Approve an action", facade.Decide, &decision{}, carriedOut{}, a.decide("approve")),
		post("/api/v1/approvals/{id}/reject", "Reject an action", facade.Decide, &decision{}, map[string]string{}, a.decide("reject")),
		post("/api/v1/approvals/{id}/steer", "Ask for changes of an action", facade.Decide, &steering{}, asked{}, a.steer),
		{
			Method: http.MethodGet, Path: "/api/v1/audit/{thread}", Summary: "The events of an action", Access: facade.TokenOrSession, Role: facade.Read, Family: family, Bare: true,
			Query: []facade.Param{{Name: "limit", Summary: "how many, the newest", Least: 1, Most: 500, Default: "200"}}, Data: audit{}, Handle: a.audit,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/history", Summary: "The actions, the one that moved last first", Access: facade.TokenOrSession, Role: facade.Read, Family: family, Bare: true,
			Query: []facade.Param{
				{Name: "status", Summary: "of one status alone", Words: nemawashi.StatusWords()}, {Name: "project_id", Summary: "of one project alone"},
				{Name: "limit", Summary: "how many at most", Least: 1, Most: 500, Default: "50"},
			},
			Data: []actions.Thread{}, Handle: a.history,
		},
	}
}

// family is the name of the family.
const family = "nemawashi"

// beginAction writes an action's files, after the machine's own checks.
func (a *dialect) beginAction(c *facade.Call) (int, any, error) {
	var body newAction
	if err := c.Decode(&body, false); err != nil {
		return 0, nil, err
	}
	action := schemas.Object{{Name: "type", Value: body.Type}, {Name: "summary", Value: body.Summary}, {Name: "requested_by", Value: c.Who.User}, {Name: "request_approval", Value: "explicit"}}
	add := func(name string, value any, is bool) {
		if is {
			action = append(action, schemas.Member{Name: name, Value: value})
		}
	}
	add("payload", body.Payload, !body.Payload.Null())
	add("project_id", body.Project, body.Project != "")
	add("severity", body.Severity, body.Severity != "")
	add("expires_at", body.Expires, body.Expires != "")
	add("replaces", body.Replaces, !body.Replaces.Null())
	draft := body.Draft
	if draft == "" {
		draft = body.Summary + "\n"
	}
	if err := actions.Check(action); err != nil {
		return 0, nil, invalidBody(err)
	}
	if err := nemawashi.CheckDraft([]byte(draft)); err != nil {
		return 0, nil, facade.Invalid(facade.FieldError{Loc: []string{"body", "draft"}, Msg: console.Plain(err).Error(), Type: "value_error"})
	}
	v := a.Viewer(c)
	id, err := actions.Begin(v, action, draft)
	if err != nil {
		return 0, nil, err
	}
	f, err := actionNamed(v, strconv.Itoa(id))
	if err != nil {
		return 0, nil, err
	}
	ctx, stop := context.WithTimeout(c.Context(), a.Wait())
	defer stop()
	data := begun{id, nemawashi.ThreadID(id), nemawashi.Pending}
	_, ok, err := a.registered(ctx, v, f, func(st nemawashi.State) bool { return st.Status != nemawashi.Pending })
	if !ok && err == nil {
		return http.StatusAccepted, data, nil
	}
	return 0, data, err
}

// registered waits until an action is registered and done accepts its state; ok is false if
// that takes too long. The error is a problem with the text of the note that prevents it.
func (a *dialect) registered(ctx context.Context, v *workspace.Workspace, f loop.Found, done func(nemawashi.State) bool) (st nemawashi.State, ok bool, err error) {
	come, leave := a.Await(f.Run, func(engine.Document) bool { return true })
	defer leave()
	for {
		if st, ok = actions.State(v, f); ok && done(st) {
			return st, true, nil
		}
		if note := actions.Note(v, f); note != "" {
			return st, false, facade.Refuse(http.StatusConflict, "unusable", console.Lines(note)).With("action_id", actionID(f)).With("thread_id", nemawashi.ThreadID(actionID(f)))
		}
		select {
		case <-come:
		case <-ctx.Done():
			return st, false, nil
		}
	}
}

// hasState waits for the state of an action that a call is about. Without a state, a command
// could move nothing.
func (a *dialect) hasState(ctx context.Context, v *workspace.Workspace, f loop.Found) (nemawashi.State, error) {
	st, ok, err := a.registered(ctx, v, f, func(nemawashi.State) bool { return true })
	if !ok && err == nil {
		err = facade.Refuse(http.StatusConflict, "no_draft", "the action is not registered yet: there is no draft that can be used")
	}
	return st, err
}

// actionID returns the number of an action.
func actionID(f loop.Found) int {
	id, _ := strconv.Atoi(f.Run.ID) // the layout accepts only numbers
	return id
}

// invalidBody returns an error of the machine's checks as one of the body, at the member that
// it names.
func invalidBody(err error) error {
	if bad := (*schemas.Error)(nil); errors.As(err, &bad) {
		return facade.Invalid(facade.BodyError(bad))
	}
	return facade.Invalid(facade.PointerError(nemawashi.Pointer(err), console.Plain(err).Error()))
}

// actionNamed returns the action of a number.
func actionNamed(v *workspace.Workspace, number string) (loop.Found, error) {
	if layout.IsNemawashiID(number) {
		for _, f := range actions.All(v) {
			if f.Run.ID == number {
				return f, nil
			}
		}
	}
	return loop.Found{}, facade.Refuse(http.StatusNotFound, "not_found", fmt.Sprintf("there is no action %q; GET /api/v1/history lists them", console.OneLine(number)))
}

// actionOf returns the action that a call's path names, with the workspace as its caller sees it.
func (a *dialect) actionOf(c *facade.Call) (*workspace.Workspace, loop.Found, error) {
	v := a.Viewer(c)
	f, err := actionNamed(v, c.Values["action"])
	return v, f, err
}

// requestApproval makes placet ask a person for approval.
func (a *dialect) requestApproval(c *facade.Call) (int, any, error) {
	v, f, err := a.actionOf(c)
	if err != nil {
		return 0, nil, err
	}
	ctx, stop := context.WithTimeout(c.Context(), a.Wait())
	defer stop()
	rc, err := a.give(ctx, c, v, f, schemas.Object{{Name: "command", Value: "request-approval"}})
	if err != nil {
		return 0, nil, err
	}
	data := askedOf(f, actionState(v, f))
	if rc == nil {
		return http.StatusAccepted, data, nil
	}
	data.Approval, data.Status, data.Slack = rc.ApprovalRequestID, rc.Status, a.awaitSlack(ctx, v, f, string(rc.ApprovalRequestID))
	return 0, data, nil
}

// jobBegun says that a member of a body would change nothing any more, and how it could.
func jobBegun(st nemawashi.State, member string) error {
	why := fmt.Sprintf("the job is over, and %s would change nothing: begin a new action with \"replaces\": %d", member, st.ActionID)
	return facade.Refuse(http.StatusConflict, "job_begun", why).With("state", st.Status)
}

func wrongStatus(st nemawashi.State) error {
	return facade.Refuse(http.StatusConflict, "wrong_status", "the action is "+string(st.Status)+": begin a new one, with its number in replaces").With("state", st.Status)
}

// actionState returns the state of an action, with the status unknown if it cannot be read.
func actionState(v *workspace.Workspace, f loop.Found) nemawashi.State {
	st, ok := actions.State(v, f)
	if !ok {
		st.Status = "unknown"
	}
	return st
}

func askedOf(f loop.Found, st nemawashi.State) asked {
	return asked{nemawashi.ThreadID(actionID(f)), st.ApprovalRequestID, st.Status, actionID(f), st.Slack}
}

// command gives an action a command, and returns its receipt, nil if there is none when the
// call has waited long enough.
func (a *dialect) command(ctx context.Context, c *facade.Call, v *workspace.Workspace, f loop.Found, command schemas.Object) (*nemawashi.IntakeReceipt, error) {
	body, err := schemas.Encode(append(command, schemas.Member{Name: "actor", Value: map[string]string{"user": c.Who.User, "source": c.Who.Source}}))
	if err != nil {
		return nil, err
	}
	if err := nemawashi.CheckCommand(body); err != nil {
		return nil, invalidBody(err)
	}
	id := intakeID(v, f, command, body)
	come, leave := a.Await(f.Run, func(d engine.Document) bool { return path.Dir(d.Path) == path.Join(f.Run.Dir, "intake", id) })
	defer leave()
	if _, err := actions.WriteCommand(v, f, id, body); err != nil {
		return nil, err
	}
	for {
		rc, problem := actions.CommandReceipt(v, f, id)
		switch {
		case problem != "":
			return nil, facade.Refuse(http.StatusConflict, "unusable", engine.NoteBody(problem))
		case rc != nil && rc.Result != "accepted":
			return rc, a.refusedCommand(ctx, v, f, rc)
		case rc != nil:
			return rc, nil
		}
		select {
		case <-come:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// intakeID names the folder of a command by the thread, its revision, the command's name and
// its document. The same command in the same state of the action has one folder. A refused
// command gets another, because it may be tried again: not only the action decides about it.
func intakeID(v *workspace.Workspace, f loop.Found, command schemas.Object, body []byte) string {
	st, _ := actions.State(v, f)
	seed := fmt.Sprintf("%s\n%d\n%s\n%s", nemawashi.ThreadID(actionID(f)), st.Revision, command.Get("command"), body)
	for {
		id := "api-" + engine.Sum([]byte(seed)).Hex()[:12]
		if rc, problem := actions.CommandReceipt(v, f, id); problem == "" && (rc == nil || rc.Result == "accepted") {
			return id
		}
		seed += "\n" + id
	}
}

// refusedCommand returns why a command was refused. If the command made placet ask a person,
// the error names that request.
func (a *dialect) refusedCommand(ctx context.Context, v *workspace.Workspace, f loop.Found, rc *nemawashi.IntakeReceipt) error {
	p := facade.Refuse(http.StatusConflict, string(rc.Code), console.OneLine(string(rc.Reason))).With("state", rc.Status)
	if rc.Code == nemawashi.OverrideNeedsApproval {
		st, _ := a.until(ctx, v, f, func(st nemawashi.State) bool { return st.Status != nemawashi.Drafted })
		p = p.With("approval_request_id", st.ApprovalRequestID)
	}
	return p
}

// until waits until done accepts the state of an action; ok is false if that takes too long.
func (a *dialect) until(ctx context.Context, v *workspace.Workspace, f loop.Found, done func(nemawashi.State) bool) (st nemawashi.State, ok bool) {
	come, leave := a.Await(f.Run, func(d engine.Document) bool { return d.Path == f.Run.State })
	defer leave()
	for {
		if st, ok = actions.State(v, f); ok && done(st) {
			return st, true
		}
		select {
		case <-come:
		case <-ctx.Done():
			return actionState(v, f), false
		}
	}
}

// execute carries out an action, and waits for the end of its job.
func (a *dialect) execute(c *facade.Call) (int, any, error) {
	var body execution
	if err := c.Decode(&body, true); err != nil {
		return 0, nil, err
	}
	v, f, err := a.actionOf(c)
	if err != nil {
		return 0, nil, err
	}
	ctx, stop := context.WithTimeout(c.Context(), a.Wait())
	defer stop()
	switch st, err := a.hasState(ctx, v, f); {
	case err != nil:
		return 0, nil, err
	case st.Status == nemawashi.Executed:
		if member := st.Ignores(body.SimulateFailure, body.Calendar); member != "" {
			return 0, nil, jobBegun(st, member)
		}
		return 0, jobOf(f, st, st.ExecutionJobID), nil
	case st.Final():
		return 0, nil, wrongStatus(st)
	}
	command, err := executeCommand(c, v, body)
	if err != nil {
		return 0, nil, err
	}
	rc, err := a.command(ctx, c, v, f, command)
	if err != nil {
		return 0, nil, err
	}
	if rc == nil {
		st := actionState(v, f)
		return http.StatusAccepted, jobOf(f, st, st.ExecutionJobID), nil
	}
	return a.awaitJob(ctx, v, f, string(rc.JobID))
}

// executeCommand returns the command of a call. An override that is carried out without being
// shown to anybody is a decision, and needs that role.
func executeCommand(c *facade.Call, v *workspace.Workspace, body execution) (schemas.Object, error) {
	command := schemas.Object{{Name: "command", Value: "execute"}}
	if body.SimulateFailure {
		command = append(command, schemas.Member{Name: "simulateFailure", Value: true})
	}
	if body.Calendar.Null() {
		return command, nil
	}
	if v.Settings.Nemawashi.ExecuteOverride == "allow" && !c.Who.May(facade.Decide) {
		return nil, facade.Refuse(http.StatusForbidden, "role", "this caller lacks the role decide: what it brings would be carried out unseen")
	}
	return append(command, schemas.Member{Name: "calendar", Value: body.Calendar}), nil
}

func jobOf(f loop.Found, st nemawashi.State, job schemas.OrNull) carriedOut {
	return carriedOut{job, st.Status, nemawashi.ThreadID(actionID(f)), actionID(f)}
}

// awaitJob waits for the end of a job, "" for the newest.
func (a *dialect) awaitJob(ctx context.Context, v *workspace.Workspace, f loop.Found, job string) (int, any, error) {
	st, ended := a.until(ctx, v, f, func(st nemawashi.State) bool {
		return st.Status != nemawashi.Executing && (st.Status != nemawashi.Approved || !v.Settings.Nemawashi.ExecuteOnApprove)
	})
	if job == "" {
		job = string(st.ExecutionJobID)
	}
	status := http.StatusOK
	if !ended {
		status = http.StatusAccepted
	}
	return status, jobOf(f, st, schemas.OrNull(job)), nil
}

// audit lists the newest events of an action, oldest first.
func (a *dialect) audit(c *facade.Call) (int, any, error) {
	v := a.Viewer(c)
	number, ok := strings.CutPrefix(c.Values["thread"], "action-")
	if !ok {
		number = ""
	}
	f, err := actionNamed(v, number)
	if err != nil {
		return 0, nil, facade.Refuse(http.StatusNotFound, "not_found", fmt.Sprintf("there is no thread %q", console.OneLine(c.Values["thread"])))
	}
	events := actions.Events(v, f)
	return 0, audit{c.Values["thread"], events[max(0, len(events)-c.Number("limit")):]}, nil
}

// history lists the actions, the one that changed last first.
func (a *dialect) history(c *facade.Call) (int, any, error) {
	status, project := c.Text("status"), c.Text("project_id")
	list := actions.Threads(a.Viewer(c), func(st nemawashi.State) bool {
		return (status == "" || string(st.Status) == status) && (project == "" || string(st.ProjectID) == project)
	})
	return 0, list[:min(len(list), c.Number("limit"))], nil
}
