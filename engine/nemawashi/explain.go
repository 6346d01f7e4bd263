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

// notes checks everything that could hold the action up, whichever rule applied first.
func notes(r *view) {
	st := r.run.State
	if isFinal(st.Status) {
		return
	}
	if file := r.changed(); file != "" {
		r.run.Bad(r.run.Snap.In(file), r.say("note.changed", "id", r.run.Snap.Key.ID))
	}
	switch st.Status {
	case Pending:
		firstPayload(r)
	case Drafted:
		if code, why := cannotAsk(r); code != "" && code != "draft_changed" && asksByItself(r) {
			r.run.Bad(r.actionDoc, r.say("note.ask", "why", why))
		}
	case Approved:
		if code, why := r.cannotStart(); code != "" && code != "draft_changed" {
			r.run.Bad(r.actionDoc, r.say("note.begin", "why", why))
		}
	}
	r.progress()
}

func absent(r *view, a *engine.RunView) bool {
	if !r.actionDoc.Absent() {
		return false
	}
	a.Why = []string{r.say("why.none")}
	a.Unblock = []engine.UnblockingFile{{Path: r.actionDoc.Path, Content: r.say("unblock.action")}}
	return true
}

func awaitsAction(r *view, w *run.Waiting) {
	if w.Bad(actionFile, r.say("why.unregistered"), r.say("who.creator"), r.say("unblock.action")) {
		return
	}
	w.Why("nemawashi.why.torn")
	w.Written(actionFile)
}

func awaitsDraft(r *view, w *run.Waiting) {
	creator, draft := r.say("who.creator"), r.say("unblock.draft")
	if w.Bad(draftPath(1), r.say("why.draft.bad"), creator, draft) || w.Bad(actionFile, r.say("why.still"), creator, r.say("unblock.file")) {
		return
	}
	w.Lacks(draftPath(1), "("+creator+")", draft, "nemawashi.why.draft.none")
}

func awaitsAsking(r *view, w *run.Waiting) {
	for _, v := range r.run.State.Drafts {
		if w.Bad(draftPath(v.Version), r.say("why.unasked"), r.say("who.creator"), r.say("unblock.draft.was")) {
			return
		}
	}
	switch code, why := cannotAsk(r); {
	case code == "draft_changed":
		w.Bad(actionFile, r.say("why.unasked"), r.say("who.creator"), r.say("unblock.action.was"))
		return
	case code != "":
		w.Why("nemawashi.why.unasked.because", "why", why)
		w.For("nemawashi.wait.settings")
		return
	}
	w.Why("nemawashi.why.unrequested")
	awaitsCommand(r, w, cmdRequest)
}

// awaitsCommand says that the action waits for a command of its creator.
func awaitsCommand(r *view, w *run.Waiting, command string) {
	const at = intakeDir + "/<id>/" + commandFile
	w.For("nemawashi.wait.creator", "file", at)
	w.Unblock(at, fmt.Sprintf(`{"command": "%s", "actor": {"user": "%s", "source": "file"}}`, command, r.run.Say("run.unblock.you")))
}

func awaitsAnswer(r *view, w *run.Waiting) {
	for _, q := range r.run.Requests() {
		if q.Status == run.Open {
			w.Answer(q, "nemawashi.why.asked")
		}
	}
}

func awaitsStart(r *view, w *run.Waiting) {
	code, why := r.cannotStart()
	switch {
	case code != "":
		w.Why("nemawashi.why.idle", "why", why)
		w.For("nemawashi.wait.approved")
		return
	case !isProven(r):
		w.Why("nemawashi.why.unproven", "request", r.run.State.ApprovalRequestID)
	case r.conf().ExecuteOnApprove && !r.isHome():
		w.Why("nemawashi.why.elsewhere")
	default:
		w.Why("nemawashi.why.explicit")
	}
	awaitsCommand(r, w, cmdExecute)
}

func awaitsParts(r *view, w *run.Waiting) {
	if o := r.run.State.OpenRequest; o != nil {
		awaitsAnswer(r, w)
		return
	}
	if !r.isHome() {
		w.Why("nemawashi.why.job.elsewhere")
		awaitsCommand(r, w, cmdExecute)
		return
	}
	g := r.lowestOpen()
	switch {
	case g == nil:
		w.Pass("nemawashi.why.ending")
	case g.UnderWay:
		w.Why("nemawashi.why.part", "part", g.Part.Part, "time", g.Due)
		w.For("nemawashi.wait.outcome", "part", g.Part.Part)
	default:
		w.Why("nemawashi.why.again", "part", g.Part.Part, "time", g.Due, "problem", g.problem)
		w.For("nemawashi.wait.time", "time", g.Due)
	}
}

// explain adds what no rule can say.
func explain(r *view, w *run.Waiting) {
	if !r.run.Begun {
		return
	}
	if isFinal(r.run.State.Status) {
		w.Why("nemawashi.why.final", "status", r.run.State.Status, "reason", r.run.State.Last.Reason)
		return
	}
	if r.run.State.OpenRequest != nil && r.run.State.Status == Executing {
		for _, g := range r.progress() {
			if g.status == partUnclear {
				w.Why("nemawashi.why.unclear", "part", g.Part.Part, "request", r.run.State.OpenRequest.RequestID)
			}
		}
	}
}

// tell adds facts to the view of an action.
func tell(r *view, a *engine.RunView) {
	if !r.run.Begun {
		return
	}
	st := r.run.State
	facts := run.NewFacts(r.run.Lang, "nemawashi")
	add := facts.Add
	a.ShortID = st.ThreadID
	add("summary", st.Summary)
	add("type", st.Type)
	add("project", string(st.ProjectID))
	add("severity", string(st.Severity))
	add("requester", string(st.RequestedBy))
	if d, ok := st.current(); ok {
		add("draft", r.say("draft.by", "file", draftPath(d.Version), "origin", d.Origin, "actor", d.Actor))
		a.Parts = append(a.Parts, engine.Part{ID: "draft", Sections: []engine.Section{{Title: draftPath(d.Version), Text: string(r.run.Snap.In(draftPath(d.Version)).Body)}}})
	}
	add("expires", string(st.ExpiresAt))
	for _, s := range st.Superseded {
		add("superseded", r.say("superseded.by", "request", s.ApprovalRequestID, "other", templates.OrDash(string(s.SupersededBy)), "reason", s.Reason))
	}
	for _, p := range r.approved() {
		add("part", r.say("part.by", "part", partWords([]Part{p}), "provider", p.by()))
	}
	for _, j := range st.Jobs {
		add("job", jobWords(r, j))
	}
	for _, g := range r.progress() {
		pairs := []any{"part", g.Part.Part, "status", g.status, "attempts", g.Attempts}
		if g.problem.Key == "" {
			add("progress", r.say("progress", pairs...))
		} else {
			add("progress", r.say("progress.problem", append(pairs, "problem", g.problem)...))
		}
	}
	a.Facts, a.Graph = facts.List, nodes(r)
	a.Findings = append(a.Findings, findings(r)...)
}

// Ids of the nodes in an action's plan.
const (
	nodeDraft    = "draft"
	nodeApproval = "approval"
	nodePart     = "part"
)

// nodes returns the steps of an action: the draft, the approval, and each of its parts.
func nodes(r *view) []engine.Node {
	st := r.run.State
	draft := engine.Node{ID: nodeDraft, Label: r.say("node.draft"), Status: Drafted}
	approval := engine.Node{ID: nodeApproval, Label: r.say("node.approval"), Status: Pending, After: []string{nodeDraft}}
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
		draft.Status = st.Status // the action ended before it had a draft
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
			n.Status = Canceled // the part is never carried out
		}
		list = append(list, n)
	}
	return list
}

// earlier returns the status of a part of the current approval that the newest job does not retry,
// "" if no job has tried it.
func (st *State) earlier(part int) string {
	for _, j := range slices.Backward(st.Jobs) {
		if p := j.part(part); p != nil && j.Approval == string(st.ApprovalRequestID) {
			return p.Status
		}
	}
	return ""
}

// findings returns what `check` reports besides the notes: rows that contradict the outcomes, and
// unknown members of action.json.
func findings(r *view) (list []engine.Finding) {
	for _, g := range r.progress() {
		d := r.run.Snap.In(rowFile(g))
		if job := r.run.State.job(); d.Present() && g.Last != nil && d.Sum != engine.Sum(row(r, job, g)) {
			list = append(list, engine.Finding{Severity: "error", Path: d.Path, Text: r.say("finding.row", "file", g.OutcomeFile(g.Attempts))})
		}
	}
	members, err := schemas.Members(r.actionDoc.Body)
	if err != nil {
		return list // the note about the file says more
	}
	for _, s := range schemas.Strays("", members, &ActionFile{}) {
		list = append(list, engine.Finding{Severity: "warning", Path: r.actionDoc.Path, Text: r.say("finding.stray", "member", s.Pointer)})
	}
	return list
}

func jobWords(r *view, j *Job) string {
	words := []string{j.ID}
	if j.RetryOf != "" {
		words[0] = r.say("job.retry", "job", j.ID, "other", j.RetryOf)
	}
	for _, p := range j.Parts {
		words = append(words, r.say("job.part", "part", p.Part, "status", p.Status))
	}
	return strings.Join(words, ", ")
}

// fabrications finds a state.json in which somebody moved the action on while a person was still
// being asked for the approval.
func fabrications(r *view) []run.Fabrication {
	id := string(r.run.State.ApprovalRequestID)
	q := r.run.Request(id)
	if !r.run.IsForged() || q == nil || q.Status != run.Open || !slices.Contains([]engine.Status{Approved, Executing, Failed}, r.run.State.Status) || !r.run.IsUnanswered(id) {
		return nil
	}
	return []run.Fabrication{{Path: r.run.Doc.Path, Pointer: "/status", Says: string(r.run.State.Status), Request: id, Fact: run.Unanswered(id)}}
}
