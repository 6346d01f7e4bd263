package nemawashi

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Names of commands.
const (
	cmdRequest = "request-approval"
	cmdExecute = "execute"
	cmdRevise  = "revise"
	cmdCancel  = "cancel"
)

const (
	intakeDir   = "intake"
	commandFile = "command.json"
)

// Command is command.json.
type Command struct {
	Command         string      `json:"command"`
	Actor           run.By      `json:"actor"`
	IdempotencyKey  text        `json:"idempotency_key,omitzero"`
	SimulateFailure bool        `json:"simulateFailure,omitzero"`
	Calendar        schemas.Raw `json:"calendar,omitzero"`
	Draft           *string     `json:"draft,omitzero"`
	Payload         schemas.Raw `json:"payload,omitzero"`
	Reason          text        `json:"reason,omitzero"`
}

// command is a command together with the folder that it came in.
type command struct {
	id  string
	doc engine.Document
	*Command
}

// IntakeReceipt is the receipt of a command.
type IntakeReceipt struct {
	IntakeID          string        `json:"intake_id"`
	Result            string        `json:"result"` // accepted or refused
	Code              text          `json:"code"`
	Reason            text          `json:"reason"`
	Revision          int           `json:"revision"`
	Status            engine.Status `json:"status"`
	ApprovalRequestID text          `json:"approval_request_id,omitzero"`
	JobID             text          `json:"job_id,omitzero"`
	IdempotencyKey    text          `json:"idempotency_key,omitzero"`
	At                text          `json:"at"`
}

// OverrideNeedsApproval is the code for an execute command whose override a person has to approve
// first.
const OverrideNeedsApproval = "override_needs_approval"

// jobBegun is the code for an execute command that would change a job which has begun.
const jobBegun = "job_begun"

// Results of commands.
const (
	accepted = "accepted"
	refused  = "refused"
)

// readCommands reads the commands that have not been handled yet.
func (r *view) readCommands() {
	for _, d := range r.run.Snap.Under(intakeDir) {
		if path.Base(d.Path) != commandFile {
			continue
		}
		id := path.Base(path.Dir(d.Path))
		if isDone(r, id) {
			continue
		}
		c := command{id, d, run.ReadWish[Command](&r.run.Input, d, "nemawashi/command")}
		if c.Command == nil {
			continue
		}
		if err := c.check(kind(r)); err != nil {
			r.run.Bad(d, r.say("note.command", "error", err))
			continue
		}
		r.commands = append(r.commands, c)
	}
}

// kind returns the type of the action.
func kind(r *view) string {
	if r.run.State.Type == "" && r.action != nil {
		return r.action.Type
	}
	return r.run.State.Type
}

// isDone reports whether a command was handled, according to the state or to its receipt. A receipt
// of a later revision does not count: it is ahead of the state.
func isDone(r *view, id string) bool {
	if slices.ContainsFunc(r.run.State.Handled, func(h Handled) bool { return h.IntakeID == id }) {
		return true
	}
	rc, known := intakeReceipt(r, id)
	return known && (rc == nil || rc.Revision <= r.run.State.Revision)
}

// intakeReceipt returns the receipt of a command, nil if it is unusable. known is false if no
// receipt exists.
func intakeReceipt(r *view, id string) (rc *IntakeReceipt, known bool) {
	d := r.run.Snap.In(intakeDir + "/" + id + "/receipt.json")
	if d.Absent() {
		return nil, false
	}
	rc, _ = run.Load[IntakeReceipt](&r.run.Input, d, "nemawashi/receipt")
	return rc, true
}

// check returns what the schema cannot find wrong with a command for an action of a type, or nil.
func (c Command) check(typ string) error {
	if c.Command != cmdRevise {
		return nil
	}
	if c.Draft == nil && c.Payload.Null() {
		return refuse("command.empty")
	}
	if c.Draft != nil {
		if err := CheckDraft([]byte(*c.Draft)); err != nil {
			return refuse("at", "at", "/draft", "error", err)
		}
	}
	if !c.Payload.Null() {
		return CheckPayload(typ, c.Payload)
	}
	return nil
}

// CheckCommand returns what is wrong with the bytes of a command.json, whatever action it is for,
// or nil.
func CheckCommand(body []byte) error {
	var c Command
	if err := schemas.Decode("nemawashi/command", commandFile, body, &c); err != nil {
		return err
	}
	return c.check(mailDraft)
}

// commandTo returns the first unhandled command of a name that moves the action, or nil.
func (r *view) commandTo(name string) *command {
	for i := range r.commands {
		if c := &r.commands[i]; c.Command.Command == name && judge(r, *c).moves {
			return c
		}
	}
	return nil
}

// verdict is the effect of a command in the present status.
type verdict struct {
	moves                bool // the transition that it causes gives the result
	result, code, reason string
}

func refusal(code, reason string) verdict {
	return verdict{result: refused, code: code, reason: reason}
}

var moves = verdict{moves: true}

func same(r *view) verdict {
	return verdict{result: accepted, code: "same", reason: r.say("refused.same")}
}

func wrongStatus(r *view) verdict {
	return refusal("wrong_status", r.say("refused.status", "status", r.run.State.Status))
}

// judge returns the effect of a command.
func judge(r *view, c command) verdict {
	switch status := r.run.State.Status; c.Command.Command {
	case cmdRequest:
		return judgeRequest(r)
	case cmdExecute:
		return judgeExecute(r, c)
	case cmdRevise:
		if status == Drafted || status == ApprovalPending || status == Approved {
			return moves
		}
	case cmdCancel:
		switch status {
		case Pending, Drafted, ApprovalPending, Approved:
			return moves
		case Canceled:
			return same(r)
		}
	}
	return wrongStatus(r)
}

func judgeRequest(r *view) verdict {
	switch r.run.State.Status {
	case Drafted:
		if code, why := cannotAsk(r); code != "" {
			return refusal(code, why)
		}
		return moves
	case ApprovalPending:
		return same(r)
	case Pending:
		return refusal("no_draft", r.say("refused.draft"))
	}
	return wrongStatus(r)
}

func judgeExecute(r *view, c command) verdict {
	switch status := r.run.State.Status; {
	case status == Executing || status == Executed || status == Failed:
		if member := ignored(r, c); member != "" {
			return refusal(jobBegun, r.say("refused.begun", "member", member, "id", r.run.State.ActionID))
		}
		return same(r)
	case isFinal(status):
		return wrongStatus(r)
	case status != Approved:
		return refusal("not_approved", notApproved(r, c))
	}
	if !c.Calendar.Null() {
		if _, _, err := override(r, c); err != nil {
			return refusal("bad_override", templates.In(r.run.Lang, err))
		}
	}
	if code, why := r.cannotStart(); code != "" {
		return refusal(code, why)
	}
	return moves
}

// notApproved says why nothing is carried out yet, and how the command could act.
func notApproved(r *view, c command) string {
	switch {
	case c.SimulateFailure && r.conf().ExecuteOnApprove:
		return r.say("refused.simulate")
	case !c.Calendar.Null():
		return r.say("refused.calendar", "status", r.run.State.Status)
	}
	return r.say("refused.approval", "status", r.run.State.Status)
}

// ignored returns the member of an execute command that the job, which has begun, does not carry
// out, or "".
func ignored(r *view, c command) string {
	member := r.run.State.Ignores(c.SimulateFailure, c.Calendar)
	if member == calendarMember && r.run.State.job().Override.Null() {
		if _, isSame, err := override(r, c); err == nil && isSame {
			return ""
		}
	}
	return member
}

// Ignores returns which of the members of an execute command, "simulateFailure" or "calendar", the
// newest job does not carry out, or "".
func (st *State) Ignores(simulate bool, calendar schemas.Raw) string {
	job := st.job()
	switch {
	case simulate && (job == nil || !job.Simulated):
		return simulateMember
	case !calendar.Null() && (job == nil || payloadDigest(job.Override) != payloadDigest(calendar)):
		return calendarMember
	}
	return ""
}

// Members of an execute command besides its name.
const (
	simulateMember = "simulateFailure"
	calendarMember = "calendar"
)

// override returns the parts with the calendar payload of a command in them. isSame is true if they
// equal the approved ones.
func override(r *view, c command) (parts []Part, isSame bool, err error) {
	whole, err := completed(r)
	if err != nil {
		return nil, false, err
	}
	return Override(whole, c.Calendar, r.body(), r.conf(), r.run.State.RequestedAt.Time())
}

// asksAnew reports whether a command brings an override that a person has to approve first.
func asksAnew(r *view, c command) bool {
	if c.Command.Command != cmdExecute || c.Calendar.Null() {
		return false
	}
	_, isSame, err := override(r, c)
	return err == nil && !isSame && (r.conf().ExecuteOverride != "allow" || !mayDecide(r, c))
}

// mayDecide reports whether the author of a command is an approver.
func mayDecide(r *view, c command) bool {
	approvers := approvers(r)
	if len(approvers) == 0 {
		return true
	}
	known, _, _ := gate.Author(c.doc, c.Actor.User, r.run.Fact)
	return slices.ContainsFunc(known, func(k string) bool {
		return slices.ContainsFunc(approvers, func(a string) bool { return gate.Admits(a, k) })
	})
}

// approvers returns who may approve now, by [gates] and by the dialect's lists.
func approvers(r *view) []string {
	return gate.Narrow(r.run.Snap.Facts.Config.GateFor("nemawashi", typeApproval).Approvers, r.mayAnswer())
}

// handle records the result of a command in a transition.
func handle(r *view, c *change, cmd *command, result, code, reason string) {
	if cmd == nil {
		return
	}
	st := c.State
	st.Handled = append(st.Handled, Handled{
		IntakeID: cmd.id, Digest: cmd.doc.Sum, Result: result, Code: text(code), Reason: text(reason), Revision: c.Revision, At: c.Now,
		Status: st.Status, JobID: st.ExecutionJobID, ApprovalRequestID: st.ApprovalRequestID, IdempotencyKey: cmd.IdempotencyKey,
	})
	st.keep(string(cmd.IdempotencyKey))
}

// receipts plans the receipts of handled commands. It plans those of commands that move nothing
// once no other transition is due.
func receipts(r *view, w *run.Outputs) {
	for _, h := range r.run.State.Handled {
		receipt(r, w, h, h.Revision == r.run.State.Revision)
	}
	if w.Fresh || isBusy(r) {
		return
	}
	for _, c := range r.commands {
		if v := judge(r, c); !v.moves {
			receipt(r, w, Handled{
				IntakeID: c.id, Result: v.result, Code: text(v.code), Reason: text(v.reason), Revision: r.run.State.Revision, At: run.Seconds(r.run.Snap.Now),
				Status: r.run.State.Status, JobID: r.run.State.ExecutionJobID, ApprovalRequestID: r.run.State.ApprovalRequestID, IdempotencyKey: c.IdempotencyKey,
			}, false)
		}
	}
}

func receipt(r *view, w *run.Outputs, h Handled, now bool) {
	w.Once(intakeDir+"/"+h.IntakeID+"/receipt.json", now, func() []byte {
		return run.Encoded(IntakeReceipt{
			h.IntakeID, h.Result, h.Code, h.Reason, h.Revision, h.Status, h.ApprovalRequestID, h.JobID, h.IdempotencyKey, h.At,
		})
	})
}

// isBusy reports whether the next pass moves the action. Commands that move nothing get their
// answers after that.
func isBusy(r *view) bool {
	if isFinal(r.run.State.Status) {
		return false
	}
	for _, q := range r.run.Requests() {
		if q.Status == run.Open && (r.run.Answer(q) != nil || q.Deadline != "" && r.run.Due(q.Deadline)) {
			return true
		}
	}
	if slices.ContainsFunc(r.commands, func(c command) bool { return judge(r, c).moves }) {
		return true
	}
	if r.run.State.Status != Pending {
		return false
	}
	_, got := firstPayload(r)
	return got == run.Good || got == run.Pending // it may turn out good once it is settled
}

// why names the command that moved the action, as the reason of the transition.
func (c command) why(r *view) string {
	source := cmp.Or(c.doc.Source, gate.SourceFile)
	pairs := []any{"command", c.Command.Command, "user", c.Actor.User, "source", source}
	if c.Reason == "" {
		return r.say("command.by", pairs...)
	}
	return r.say("command.because", append(pairs, "reason", strings.TrimSpace(string(c.Reason)))...)
}

// move returns the transition that the command causes.
func (c command) move(r *view, then func(*change)) *move {
	return run.Wished(c.doc, cmp.Or(c.Actor.User, "unknown"), c.why(r), then)
}

// broughtHome reports whether this machine wrote a command's receipt for the current job.
func broughtHome(r *view) bool {
	for _, d := range r.run.Snap.Under(intakeDir) {
		if path.Base(d.Path) != "receipt.json" || !d.IssuedHere() || d.Kind != layout.KindReceipt {
			continue
		}
		var rc IntakeReceipt
		if schemas.Decode("nemawashi/receipt", d.Path, d.Body, &rc) == nil && rc.Result == accepted && rc.JobID != "" && rc.JobID == r.run.State.ExecutionJobID {
			return true
		}
	}
	return false
}
