package nemawashi

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// notes looks at whatever stands in the way, whatever a rule came first.
func notes(r *view) {
	st := r.State
	if isFinal(st.Status) {
		return
	}
	if file := r.changed(); file != "" {
		r.Bad(r.Snap.In(file), "this file was changed or removed after it was registered: restore it, or `placet nemawashi revise "+r.Snap.Key.ID+"`; nothing is approved or carried out until then")
	}
	switch st.Status {
	case Pending:
		draftUsable(r)
	case Drafted:
		if code, why := cannotAsk(r); code != "" && code != "draft_changed" && asksByItself(r) {
			r.Bad(r.actionDoc, "cannot ask: "+why)
		}
	case Approved:
		if code, why := r.cannotStart(); code != "" && code != "draft_changed" {
			r.Bad(r.actionDoc, "cannot begin: "+why)
		}
	}
	r.progress()
}

func absent(r *view, a *engine.RunView) bool {
	if !r.actionDoc.Absent() {
		return false
	}
	a.Why = []string{"there is no action.json: nothing has begun"}
	a.Unblock = []engine.UnblockingFile{{Path: r.actionDoc.Path, Content: actionExample}}
	return true
}

const actionExample = `{"type": "mail_draft", "summary": "<what is to be done>", "requested_by": "<you>"} begins the action`

func awaitsAction(r *view, w *run.Waiting) {
	if w.Bad(actionFile, "the action is not registered", "creator", actionExample) {
		return
	}
	w.Why("action.json is still being written: it is looked at again")
	w.Written(actionFile)
}

func awaitsDraft(r *view, w *run.Waiting) {
	const like = "the text of the draft; a last line that is a JSON object becomes the payload"
	if w.Bad(draftPath(1), "the draft cannot be used", "creator", like) || w.Bad(actionFile, "the action stands still", "creator", "the file as it was") {
		return
	}
	w.Lacks(draftPath(1), "(creator)", like, "there is no draft yet")
}

func awaitsAsking(r *view, w *run.Waiting) {
	for _, v := range r.State.Drafts {
		if w.Bad(draftPath(v.Version), "nobody is asked", "creator", "the draft as it was") {
			return
		}
	}
	switch code, why := cannotAsk(r); {
	case code == "draft_changed":
		w.Bad(actionFile, "nobody is asked", "creator", "the action as it was")
		return
	case code != "":
		w.Why("nobody is asked: %s", why)
		w.For("settings or a payload that can be used (person)")
		return
	}
	w.Why("nobody is asked before somebody requests it")
	w.For("%s (creator)", intakeDir+"/<id>/"+commandFile)
	w.Unblock(intakeDir+"/<id>/"+commandFile, `{"command": "request-approval", "actor": {"user": "<you>", "source": "file"}}`)
}

func awaitsAnswer(r *view, w *run.Waiting) {
	for _, q := range r.Requests() {
		if q.Status != run.Open {
			continue
		}
		until := ""
		if q.Deadline != "" {
			until = fmt.Sprintf(" until %s; silence ends the action", q.Deadline)
		}
		w.Answer(q, "a person is asked%s", until)
	}
}

func awaitsStart(r *view, w *run.Waiting) {
	const command = `{"command": "execute", "actor": {"user": "<you>", "source": "file"}}`
	at := intakeDir + "/<id>/" + commandFile
	code, why := r.cannotStart()
	switch {
	case code != "":
		w.Why("nothing begins: %s", why)
		w.For("what was approved, or revise (creator)")
		return
	case !isProven(r):
		w.Why("nothing begins: no receipt of this machine, and no answer that counts, says that %s was approved", r.State.ApprovalRequestID)
	case r.conf().ExecuteOnApprove && !r.isHome():
		w.Why("nothing begins: the approval was given on another machine, or the state folder was lost; `execute` here has it carried out here")
	default:
		w.Why("approved, and nothing is sent before `execute`")
	}
	w.For("%s (creator)", at)
	w.Unblock(at, command)
}

func awaitsParts(r *view, w *run.Waiting) {
	if o := r.State.OpenRequest; o != nil {
		awaitsAnswer(r, w)
		return
	}
	if !r.isHome() {
		w.Why("the job was begun on another machine, or the state folder was lost; `execute` here has it go on here")
		w.For("%s (creator)", intakeDir+"/<id>/"+commandFile)
		w.Unblock(intakeDir+"/<id>/"+commandFile, `{"command": "execute", "actor": {"user": "<you>", "source": "file"}}`)
		return
	}
	g := r.lowestOpen()
	switch {
	case g == nil:
		w.Pass("the job is about to end")
	case g.UnderWay:
		w.Why("part %d is under way; without an outcome by %s it counts as lost", g.Part.Part, g.Due)
		w.For("the outcome of part %d (placet)", g.Part.Part)
	default:
		w.Why("part %d is tried again at %s: %s", g.Part.Part, g.Due, g.problem)
		w.For("%s (placet)", g.Due)
	}
}

// explain adds what no rule says.
func explain(r *view, w *run.Waiting) {
	if !r.Begun {
		return
	}
	if isFinal(r.State.Status) {
		w.Why("status %s is final: %s", r.State.Status, r.State.Last.Reason)
		return
	}
	if r.State.OpenRequest != nil && r.State.Status == Executing {
		for _, g := range r.progress() {
			if g.status == partUnclear {
				w.Why("part %d is unclear: answer %s", g.Part.Part, r.State.OpenRequest.RequestID)
			}
		}
	}
}

// tell adds facts to the view of an action.
func tell(r *view, a *engine.RunView) {
	if !r.Begun {
		return
	}
	st := r.State
	add := func(label, value string) {
		if value != "" {
			a.Facts = append(a.Facts, engine.Fact{Label: label, Value: value})
		}
	}
	a.ShortID = st.ThreadID
	add("Summary", st.Summary)
	add("Type", st.Type)
	add("Project", string(st.ProjectID))
	add("Severity", string(st.Severity))
	add("Requested by", string(st.RequestedBy))
	if d, ok := st.current(); ok {
		add("Draft", fmt.Sprintf("%s (%s by %s)", draftPath(d.Version), d.Origin, d.Actor))
		a.Parts = append(a.Parts, engine.Part{ID: "draft", Sections: []engine.Section{{Title: draftPath(d.Version), Text: string(r.Snap.In(draftPath(d.Version)).Body)}}})
	}
	add("Expires", string(st.ExpiresAt))
	for _, s := range st.Superseded {
		add("Superseded", fmt.Sprintf("%s by %s (%s)", s.ApprovalRequestID, templates.OrDash(string(s.SupersededBy)), s.Reason))
	}
	for _, p := range r.approved() {
		add("Part", strings.TrimSpace(partWords([]Part{p})+" by "+p.Provider+" "+p.Target))
	}
	for _, j := range st.Jobs {
		add("Job", jobWords(r, j))
	}
	for _, g := range r.progress() {
		add("Progress", fmt.Sprintf("part %d %s, attempts %d%s", g.Part.Part, g.status, g.Attempts, afterColon(g.problem)))
	}
	a.Graph = nodes(r)
	a.Findings = append(a.Findings, findings(r)...)
}

// The places of an action's plan.
const (
	nodeDraft    = "draft"
	nodeApproval = "approval"
	nodePart     = "part"
)

// nodes are what an action goes through: the draft, the approval, and each of its parts.
func nodes(r *view) []engine.Node {
	st := r.State
	draft := engine.Node{ID: nodeDraft, Label: nodeDraft, Status: Drafted}
	approval := engine.Node{ID: nodeApproval, Label: nodeApproval, Status: Pending, After: []string{nodeDraft}}
	switch {
	case st.Status == Pending || st.Status == Drafted:
		draft.Status, draft.Current = st.Status, true
	case st.Status == ApprovalPending:
		approval.Status, approval.Current, approval.Gate = st.Status, true, true
	case st.IsApproved:
		approval.Status = Approved
	case isFinal(st.Status):
		approval.Status = st.Status
	}
	if _, ok := st.current(); !ok && isFinal(st.Status) {
		draft.Status = st.Status // it ended before there was a draft
	}
	list := []engine.Node{draft, approval}
	status := map[int]progress{}
	for _, g := range r.progress() {
		status[g.Part.Part] = g
	}
	for _, p := range r.approved() {
		n := engine.Node{
			ID: fmt.Sprintf("%s-%d", nodePart, p.Part), Label: strings.TrimSpace(partWords([]Part{p})), Status: Pending, After: []string{nodeApproval},
		}
		g, known := status[p.Part]
		switch {
		case known:
			n.Status, n.Current = engine.Status(g.status), st.Status == Executing && g.status == partOpen
			n.Gate = g.status == partUnclear
			if n.Current {
				n.Status = Executing
			}
		case st.earlier(p.Part) != "":
			n.Status = engine.Status(st.earlier(p.Part))
		case isFinal(st.Status):
			n.Status = Canceled // it never happens
		}
		list = append(list, n)
	}
	return list
}

// earlier is where a part of the present approval stands that the newest job does not try
// again, "" where no job has tried it.
func (st *State) earlier(part int) string {
	for _, j := range slices.Backward(st.Jobs) {
		if p := j.part(part); p != nil && j.Approval == string(st.ApprovalRequestID) {
			return p.Status
		}
	}
	return ""
}

// findings are what check reports besides: rows that say something else than the
// outcomes, and members of action.json that nobody reads.
func findings(r *view) (list []engine.Finding) {
	for _, g := range r.progress() {
		d := r.Snap.In(rowFile(g))
		if job := r.State.job(); d.Present() && g.Last != nil && d.Sum != engine.Sum(row(r, job, g)) {
			list = append(list, engine.Finding{Severity: "error", Path: d.Path, Text: "this row says something else than " + g.OutcomeFile(g.Attempts) + ": restore it, or remove it to have placet write it again"})
		}
	}
	members, err := schemas.Members(r.actionDoc.Body)
	if err != nil {
		return list // its note says more
	}
	for _, s := range schemas.Strays("", members, &ActionFile{}) {
		list = append(list, engine.Finding{Severity: "warning", Path: r.actionDoc.Path, Text: s.Pointer + ": nobody reads this member"})
	}
	return list
}

func jobWords(r *view, j *Job) string {
	words := j.ID
	if j.RetryOf != "" {
		words += " retries " + string(j.RetryOf)
	}
	for _, p := range j.Parts {
		words += fmt.Sprintf(", part %d %s", p.Part, p.Status)
	}
	return words
}
