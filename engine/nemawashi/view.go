package nemawashi

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/layout"
	"placet/schemas"
)

// view is an action, with everything it reads besides its state.
type view struct {
	run       *run.Run[State, *view]
	actionDoc engine.Document
	// action is the content of action.json: before registration if it is usable, afterwards if it
	// is unchanged.
	action *ActionFile
	// commands holds the commands that have not been handled, ordered by id.
	commands []command
}

// New returns the machine of nemawashi actions.
func New() engine.Machine { return &family }

var family = run.Family[State, *view]{
	Layout: layout.Nemawashi{},
	Format: format,
	Stamp:  run.Seconds,
	Anew:   "nemawashi.anew",
	Read:   read, Rules: rules, Final: isFinal, New: "new", Questions: questions, Outputs: outputs, Entry: entry,
	Always: always, Posts: posts,
	Notes: notes, Needs: needs, Watch: watch,
	Keeps: func(r *view, _ string) bool { return r.run.State.job() != nil }, Late: late,
	Absent: absent, Explain: explain, Tell: tell, Fabrications: fabrications,
}

// Judge returns the state of an action as a pass over a snapshot would judge it; ok is false if the
// action has no usable state.
func Judge(s engine.Snapshot) (st State, ok bool) {
	v, ok := family.Judge(s)
	if !ok {
		return st, false
	}
	return v.run.State, true
}

// always makes the changes that every transition shares. While an approval is asked for, Slack's
// place is that of its own message: see postsApproval.
func always(c *change) {
	c.State.UpdatedAt = c.Now
	if at := post.Where(c.Before); at != nil && c.State.Status != ApprovalPending {
		c.State.Slack = run.Encoded(at)
	}
}

func read(k *run.Run[State, *view]) *view {
	r := &view{run: k}
	r.run.NotePath = commandNote
	if r.run.Usable() {
		r.readAction()
		r.readCommands()
	}
	return r
}

// commandNote returns the path of the note about a command, which is in the command's folder.
func commandNote(p string) string {
	if path.Base(p) == commandFile {
		return path.Dir(p) + "/problem.md"
	}
	return ""
}

// conf returns the settings.
func (r *view) conf() Config { return run.Config(r.run.Snap, DefaultConfig) }

// ActionFile is action.json.
type ActionFile struct {
	Type            string      `json:"type"`
	Summary         string      `json:"summary"`
	RequestedBy     string      `json:"requested_by"`
	Payload         schemas.Raw `json:"payload,omitzero"`
	ProjectID       text        `json:"project_id,omitzero"`
	Severity        text        `json:"severity,omitzero"`
	Mode            text        `json:"mode,omitzero"`
	RequestApproval string      `json:"request_approval,omitzero"`
	ExpiresAt       text        `json:"expires_at,omitzero"`
	Replaces        int         `json:"replaces,omitzero"`
	SourceDigest    string      `json:"source_digest,omitzero"`
}

const actionFile = "action.json"

// readAction reads action.json. It ignores a file that has changed since registration.
func (r *view) readAction() {
	r.actionDoc = r.run.Snap.In(actionFile)
	if r.run.Begun {
		if string(r.actionDoc.Sum) == string(r.run.State.ActionDigest) {
			r.action, _ = run.Load[ActionFile](&r.run.Input, r.actionDoc, "nemawashi/action")
		}
		return
	}
	a, _ := run.Load[ActionFile](&r.run.Input, r.actionDoc, "nemawashi/action")
	if a == nil {
		return
	}
	if err := a.check(); err != nil {
		r.run.Bad(r.actionDoc, r.say("note.register", "error", err))
		return
	}
	if a.Replaces != 0 && r.run.Undecidable(r.run.Snap.Doc(otherState(r, a.Replaces))) {
		return
	}
	if err := notReplaced(r, a.Replaces); err != nil {
		r.run.Bad(r.actionDoc, r.say("note.register", "error", err))
		return
	}
	r.action = a
}

// check returns what the schema cannot find wrong with an action.json, or nil.
func (a ActionFile) check() error {
	if a.ExpiresAt != "" && a.ExpiresAt.Time().IsZero() {
		return refuse("action.time", "value", strconv.Quote(string(a.ExpiresAt)))
	}
	return CheckPayload(a.Type, a.Payload)
}

// CheckAction returns what is wrong with the bytes of an action.json, or nil.
func CheckAction(body []byte) error {
	var a ActionFile
	if err := schemas.Decode("nemawashi/action", actionFile, body, &a); err != nil {
		return err
	}
	return a.check()
}

// notReplaced returns why this action cannot renew another one, or nil.
func notReplaced(r *view, other int) error {
	if other == 0 {
		return nil
	}
	d := r.run.Snap.Doc(otherState(r, other))
	var st struct {
		Status engine.Status `json:"status"`
	}
	switch {
	case len(r.run.Snap.Lacks([]string{d.Path})) > 0:
		return nil
	case d.Err != nil || schemas.Decode("", d.Path, d.Body, &st) != nil:
		return refuse("replaces.unknown", "action", other)
	case !isFinal(st.Status):
		return refuse("replaces.open", "action", other, "status", st.Status)
	}
	return nil
}

// otherState returns the path of the state of another action.
func otherState(r *view, id int) string {
	return path.Join(path.Dir(r.run.Snap.Dir), strconv.Itoa(id), "state.json")
}

// needs returns the state of the action that this one renews, until this one is registered.
// Afterwards it returns the outcome of the next attempt: this machine may know of that attempt
// although somebody removed its files.
func needs(r *view) []string {
	if r.run.Begun {
		if g := r.lowestOpen(); g != nil && r.run.State.Status == Executing {
			return []string{r.run.Path(g.OutcomeFile(g.Attempts + 1))}
		}
		return nil
	}
	if r.actionDoc.Err != nil {
		return nil
	}
	var a ActionFile
	if schemas.Decode("nemawashi/action", actionFile, r.actionDoc.Body, &a) != nil || a.Replaces == 0 {
		return nil
	}
	return []string{otherState(r, a.Replaces)}
}

// watch returns the folders in which others write files that move the action.
func watch(r *view) []string {
	if r.run.Begun && isFinal(r.run.State.Status) {
		return nil
	}
	dirs := []string{r.run.Snap.Dir, r.run.Path("drafts"), r.run.Path(intakeDir)}
	for _, c := range r.commands {
		dirs = append(dirs, r.run.Path(intakeDir+"/"+c.id))
	}
	for _, p := range r.progress() {
		if p.UnderWay {
			dirs = append(dirs, r.run.Path(p.Dir))
		}
	}
	// The state says where the approval is in Slack once the outcome of the message is there.
	if id := string(r.run.State.ApprovalRequestID); id != "" && r.run.State.Status == ApprovalPending {
		dirs = append(dirs, r.run.Path(path.Join(layout.RequestsDir, id, layout.SlackDir, "ask")))
	}
	return dirs
}

// late names the approval that is open now, to someone who answered a closed one.
func late(r *view, q *run.Request) string {
	if id := string(r.run.State.ApprovalRequestID); id != "" && id != q.ID && r.run.State.Status == ApprovalPending {
		return r.say("late", "request", id)
	}
	return ""
}

// draftPath returns the path of a version of the draft, relative to the action's folder.
func draftPath(version int) string { return "drafts/v" + strconv.Itoa(version) + ".md" }

// changed returns the first registered file that has changed, or "". While one has, nothing is
// approved or carried out. A missing file that placet wrote and can write again does not count.
func (r *view) changed() string {
	if d := r.actionDoc; !r.run.Undecidable(d) && d.Sum != r.run.State.ActionDigest {
		return actionFile
	}
	for _, v := range r.run.State.Drafts {
		d := r.run.Snap.In(draftPath(v.Version))
		if _, ok := r.draftText(v); ok && (d.Sum == v.Digest || d.Absent() || d.Unsettled()) {
			continue
		}
		if !r.run.Undecidable(d) {
			return draftPath(v.Version)
		}
	}
	return ""
}

// draftText returns the text of a version of the draft, from its file or computed from the state.
// ok is false if neither is the registered text.
func (r *view) draftText(v Draft) (words string, ok bool) {
	if d := r.run.Snap.In(draftPath(v.Version)); d.Sum == v.Digest {
		return string(d.Body), true
	}
	switch v.Origin {
	case originSteer:
		before, known := r.draftText(r.run.State.Drafts[v.Version-2])
		words, ok = NextDraft(before, v.Feedback, string(v.SelectedPlan)), known
	case originRevise:
		words, ok = r.revision(v.Digest)
	}
	return words, ok && engine.Sum([]byte(words)) == v.Digest
}

// revision returns the draft with a digest that a command brought.
func (r *view) revision(sum engine.Digest) (words string, ok bool) {
	for _, d := range r.run.Snap.Under(intakeDir) {
		var c Command
		if path.Base(d.Path) == commandFile && d.Present() && schemas.Decode("nemawashi/command", d.Path, d.Body, &c) == nil && c.Draft != nil && engine.Sum([]byte(*c.Draft)) == sum {
			return *c.Draft, true
		}
	}
	return "", false
}

// body returns the newest text of an agent, without the line that became the payload. It serves as
// the body if nobody gave one.
func (r *view) body() string {
	for _, v := range slices.Backward(r.run.State.Drafts) {
		if v.Origin == originSteer {
			continue
		}
		words, _ := r.draftText(v)
		if v.Version == 1 && r.run.State.PayloadSource != "action" {
			if _, body, err := LiftPayload(words); err == nil {
				return body
			}
		}
		return words
	}
	return ""
}

// mayAnswer returns whom the two lists of the dialect let answer; an empty result means everybody.
func (r *view) mayAnswer() []string {
	var ids []string
	for _, id := range r.conf().ApproverIDs {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, "slack:"+id)
		}
	}
	return gate.Narrow(r.conf().Approvers, ids)
}
