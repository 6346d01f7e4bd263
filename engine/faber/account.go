package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// quiet is how long an agent may be silent before show says so.
const quiet = time.Hour

// tell adds to the view for people what is the family's own.
func (r *view) tell(a *engine.RunView) {
	a.ShortID = r.short()
	if r.foreign() {
		a.Class = "foreign"
	}
	if r.Begun && r.State.status == "" {
		a.Status = run.StatusUnreadable
	}
	o := r.asked()
	a.Blocked = r.State.unfit != "" || r.Unwritable != nil
	a.Facts = r.facts(o)
	if o != nil && o.a.Receipt == nil {
		q := r.askedOf(o)
		q.Counts = r.answered() != nil
		a.Open = []engine.OpenRequest{q}
	}
	a.Graph, a.Untrusted, a.Log = r.graph(), r.untrusted(), r.log()
	a.Findings = append(a.Findings, r.findings(o)...)
}

func (r *view) facts(o *openRequest) []engine.Fact {
	list := []engine.Fact{
		{Label: "run", Value: r.Snap.Key.ID},
		{Label: "work item", Value: numbered(r.State.WorkID)},
		{Label: "workflow", Value: r.workflowID()},
		{Label: "shape", Value: string(rune(r.State.shape.letter))},
		{Label: "phase", Value: r.State.CurrentPhase},
		{Label: "step", Value: r.State.CurrentStep},
		{Label: "revision", Value: fmt.Sprint(r.State.rev)},
		{Label: "updated", Value: r.State.UpdatedAt},
	}
	add := func(holds bool, label, value string) {
		if holds {
			list = append(list, engine.Fact{Label: label, Value: value})
		}
	}
	retries := r.retries()
	add(retries > 0, "retries", fmt.Sprint(retries))
	if o != nil {
		add(true, "request", o.a.ID+" ("+o.req.Type+")")
	}
	add(r.isQuiet(), "quiet", "no event and no change for over an hour")
	for _, p := range r.lostAttempts() {
		add(true, "attempt without outcome", p)
	}
	return slices.DeleteFunc(list, func(f engine.Fact) bool { return f.Value == "" })
}

// retries is how often steps were taken up again.
func (r *eventLog) retries() int {
	n := 0
	for _, e := range r.events {
		if e.Type == "step_retry" {
			n++
		}
	}
	return n
}

// isQuiet reports whether an agent that should be at work shows no sign of it.
func (r *view) isQuiet() bool {
	changed := moment(r.State.UpdatedAt)
	return r.State.status == InProgress && !changed.IsZero() && r.Snap.Now.Sub(r.notBefore(changed)) > quiet
}

// graph is the plan as phases and steps, the current one marked.
func (r *view) graph() []engine.Node {
	var nodes []engine.Node
	phase, step := r.State.at()
	for i, s := range r.plan().steps {
		n := engine.Node{ID: where(s.Phase, s.ID), Group: s.Phase, Label: s.ID, Status: r.State.shape.status(s.Phase, s.ID)}
		n.Current = s.Phase == phase && s.ID == step
		n.Gate = s.Destructive || r.namedDestructive(s.ID) || n.Current && r.State.status == Awaiting
		n.Status = cmp.Or(n.Status, Pending)
		if i > 0 {
			n.After = []string{nodes[i-1].ID}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// untrusted is the resume command while nobody has agreed to it.
func (r *view) untrusted() []engine.Untrusted {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || r.Snap.Facts.Trusted[CommandDigest(argv)] {
		return nil
	}
	return []engine.Untrusted{{Name: "faber.resume", Digest: CommandDigest(argv), Text: strings.Join(argv, " ")}}
}

func (r *eventLog) log() []engine.Entry {
	var list []engine.Entry
	for _, e := range r.events {
		list = append(list, engine.Entry{At: moment(e.Timestamp), Number: e.Number, Event: e.Type, Where: e.place(), Who: e.User, Message: e.Message})
	}
	return list
}

// askedOf is a request for the inbox.
func (r *requests) askedOf(o *openRequest) engine.OpenRequest {
	q := r.judging(o).OpenRequest()
	q.Run, q.Where, q.Summary = r.Snap.Key, where(o.q.phase, o.q.step), o.q.shown.Summary
	q.Problem = r.Notes.Text(o.a.Dir + "/problem.md")
	return q
}

// explain says what no rule says of why the run stands, and which file would move it.
func (r *view) explain(w *run.Waiting) {
	o, rp := r.asked(), r.State.ResumePoint
	switch {
	case r.Doc.Absent():
		w.Why("there is no state.json: nothing has begun")
		w.For("state.json (agent)")
	case r.eventsGone && !final(r.State.status):
		w.Why("%s", r.Notes.Text(r.Doc.Path+".problem.md"))
		w.For("events/ (person)")
		w.UnblockAt(r.Path("events/"), "the run's events, as they were")
	case r.eventsOpen:
		w.Why("an event in %s cannot be read at this moment; it may be placet's own, so nothing is decided until it can", r.Path("events"))
		w.For("an event in events/ that can be read (person)")
	case r.State.unfit != "":
		w.Why("%s", r.State.unfit)
		w.For("state.json that can be used (agent)")
		w.UnblockAt(r.Doc.Path, "a state that can be read")
	case final(r.State.status):
		w.Why("status %s is final: nothing moves this run", r.State.status)
		return
	case o != nil && o.a.Receipt != nil:
		w.Why("request %s has a receipt already: a new question needs a new request_id", o.a.ID)
		w.For("state.json with a new request_id (agent)")
	case o != nil && !o.q.isOpen():
		r.explainUnopened(w, o)
	case o != nil:
		r.explainRequest(w, o)
	case r.resumes():
		w.Why("answer %s was taken; an agent goes on at %s: %s", rp.RequestID, where(rp.Phase, rp.Step), r.Path("resume.md"))
		w.For("an event in events/ from %s (agent)", where(rp.Phase, rp.Step))
		w.UnblockAt(r.Path("events/"), "an event such as step_start by the agent that takes it up")
	case r.pointed() && !r.goesOn():
		w.Why("the answer to %s stands in state.json and is not verified: placet wrote no receipt over an answer to it, and [gates] asks for more than a claim: no agent is told to go on", rp.RequestID)
		w.For("state.json that asks again with a new request_id (agent)")
	case r.State.status == Paused:
		w.Why("status paused: upstream holds the run until it sets another status")
		w.For("state.json with another status (upstream)")
	case r.State.status == Failed:
		w.Why("status failed: ask_failed = %q does not ask about it", r.cfg.AskFailed)
		w.For("state.json with another status (upstream)")
	default:
		from := ""
		if r.State.CurrentPhase != "" {
			from = " from " + where(r.State.CurrentPhase, r.State.CurrentStep)
		}
		w.Why("status %s: an agent works; placet acts when state.json asks for feedback", r.State.status)
		w.For("state.json to move on%s (agent)", from)
	}
	if !final(r.State.status) && !r.foreign() && r.State.status != "" {
		w.UnblockAt(r.Path("cancel.json"), `{"by": "<you>", "reason": "<why>"} cancels the run`)
	}
}

// explainUnopened says why a request is not opened yet.
func (r *view) explainUnopened(w *run.Waiting, o *openRequest) {
	switch {
	case w.Next == requestOpened:
		w.Why("request %s is not opened yet: the daemon, or placet once, writes its form", o.a.ID)
	case w.Next != "":
		w.Why("request %s is not opened yet: the next pass takes %s first", o.a.ID, w.Next)
	case o.altered != "":
		w.Why("request %s cannot be opened: %s", o.a.ID, o.cannotUse())
		w.For("request.json as it was issued, or none (person)")
		w.UnblockAt(o.a.Dir+"/request.json", "removing it has the request opened")
	default:
		w.Why("request %s cannot be opened: %s", o.a.ID, r.hindrance(o))
		w.Written("state.json")
	}
}

// explainRequest says what a waiting run waits for, and what was looked for in vain.
func (r *view) explainRequest(w *run.Waiting, o *openRequest) {
	form := o.a.Dir + "/" + o.present
	w.Why("request %s (%s) waits for an answer at %s", o.a.ID, o.req.Type, where(o.q.phase, o.q.step))
	if r.claimGrows(o) {
		w.Why("another program may still be recording an answer in feedback_history and events/: no other answer is taken before it has stood still")
	}
	w.Why("looked for: an entry in feedback_history, a feedback_received event, %s, %s", "response.json", o.present)
	if ans := r.evidence(o); ans != nil {
		if _, stands := r.shownEffect(o, ans.Response); stands {
			w.Why("an answer is there (%s by %s): %s", ans.Response, ans.By.Shown(r.Lang, ans.Known), r.whenTaken(o, w.Next))
		}
	}
	if p := r.Notes.Text(o.a.Dir + "/problem.md"); p != "" {
		w.Why("the answer in place does not count: %s", p)
	}
	if len(o.moved) > 0 {
		w.Why("%s: answers must carry the digest of the present view", o.stale())
	}
	if at := moment(o.req.Deadline); !at.IsZero() {
		w.Why("deadline %s, then: %s", seconds(at), cmp.Or(o.req.Default, "the inbox marks it overdue, nothing moves"))
	}
	for _, opt := range o.req.Options {
		w.UnblockAt(form, "ticking "+opt.ID+" and submit "+cmp.Or(opt.Effect, r.effect(o.q, o.req, opt.ID).phrase(r.language())))
	}
	if o.req.FreeText() {
		w.UnblockAt(form, "writing the answer into the comment section and ticking submit goes on")
	}
}

// whenTaken says when an answer that is there is taken.
func (r *view) whenTaken(o *openRequest, next string) string {
	switch {
	case next == cancelAsked:
		return "it is not taken, since cancel.json gives the run up at the next pass"
	case next != "" && next != requestOpened:
		return "it is taken at the next pass"
	}
	return "it waits: " + r.hindrance(o)
}

// hindrance is why no edge is taken though one is due.
func (r *view) hindrance(o *openRequest) string {
	switch {
	case r.Unwritable != nil:
		return r.Unwritable.Error()
	case o.nowhere():
		return noPlace
	}
	return "a file of the run, or one that it shows, may still be being written or cannot be read"
}

// findings are what check reports: problems first, then deviations. o is the request that
// the state asks, nil where it asks none.
func (r *view) findings(o *openRequest) []engine.Finding {
	const otherID = "/run_id: %s is not the run's path %s: the path counts"
	const number = "/work_id is a number: upstream's schema has a string"
	var list []engine.Finding
	add := func(holds bool, severity, p, format string, args ...any) {
		if holds {
			list = append(list, engine.Finding{Severity: severity, Path: p, Text: fmt.Sprintf(format, args...)})
		}
	}
	state, metadata, served := r.Doc.Path, r.Path("metadata.json"), !r.foreign()
	add(r.State.unfit != "" && !r.Torn, "error", state, "%s", r.State.unfit)
	for _, id := range r.twiceAnswered() {
		add(true, "warning", state, "/feedback_history has several entries for request %s: the last one counts", quote(id))
	}
	add(o != nil && o.nowhere(), "error", state, "%s", noPlace)
	for _, b := range r.badEvents() {
		name, text, _ := strings.Cut(b, ": ")
		add(true, "warning", r.Path("events/"+name), "%s", text)
	}
	for _, gap := range r.gaps() {
		add(true, "warning", r.Path("events"), "%s", gap)
	}
	next := r.Snap.In("events/.next-id")
	add(!next.Absent() && !next.Unsettled() && r.nextID() == 0, "warning", next.Path, "is no number: the next event takes the highest number + 1")
	add(r.State.RunID != "" && r.State.RunID != r.Snap.Key.ID && served, "warning", state, otherID, quote(r.State.RunID), quote(r.Snap.Key.ID))
	add(r.badMetadata != "" && served, "warning", metadata, "%s: context.md will say so", r.badMetadata)
	add(r.meta.RunID != "" && r.meta.RunID != r.Snap.Key.ID && served, "warning", metadata, otherID, quote(r.meta.RunID), quote(r.Snap.Key.ID))
	add(r.State.Errors.Kind() == '{', "warning", state, "/errors is an object: upstream's schema has an array")
	add(r.State.WorkID.Kind() == '0', "warning", state, number)
	add(r.meta.WorkID.Kind() == '0', "warning", metadata, number)
	add(r.plan().problem != "" && !final(r.State.status), "warning", state, "plan not known from its definition: %s", r.plan().problem)
	return list
}

// twiceAnswered are the requests that have several entries in the history, sorted.
func (r *view) twiceAnswered() []string {
	var ids []string
	seen := map[string]bool{"": true}
	for _, h := range r.State.History {
		if seen[h.RequestID] && h.RequestID != "" {
			ids = append(ids, h.RequestID)
		}
		seen[h.RequestID] = true
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// gaps are numbers that no event has.
func (r *eventLog) gaps() []string {
	var gaps []string
	before := 0
	for _, e := range r.events {
		switch missing := e.Number - before - 1; {
		case missing == 1:
			gaps = append(gaps, fmt.Sprintf("no event has the number %03d", before+1))
		case missing > 1:
			gaps = append(gaps, fmt.Sprintf("no events have the numbers %03d to %03d", before+1, e.Number-1))
		}
		before = e.Number
	}
	return gaps
}

// contradictions say where state.json and what placet wrote beside it tell different
// histories: a merge took one from each side, or somebody revived a run that was given
// up. Each says what to restore. What the next pass carries out does not contradict.
func (r *view) contradictions() []engine.Finding {
	if r.State.unfit != "" || r.Torn || r.State.status == "" || r.foreign() {
		return nil
	}
	list := gate.Comparison{Lang: r.Lang, Snap: r.Snap, State: r.Doc.Path, Revision: r.State.rev, Folders: r.Folders, Stated: r.stated}.Contradictions()
	if e := r.revived(); e != nil {
		text := fmt.Sprintf("the run was cancelled by %s (events/%s), and state.json says %s: somebody revived it, or a merge took both sides. To keep it cancelled write cancel.json; to let it go on, begin a new run, or restore it. %s",
			cmp.Or(e.User, "placet"), e.Name, r.State.status, gate.Restoring(r.Snap))
		list = append(list, engine.Finding{Severity: "error", Path: r.Doc.Path, Text: text, Urgent: true})
	}
	return list
}

// stated is what the state says of a request that has a receipt. Of one that was closed
// without an answer it says nothing else: upstream may write what it likes.
func (r *view) stated(f *gate.Folder) *gate.Receipt {
	said := *f.Receipt
	h := r.State.answerTo(f.ID)
	switch {
	case r.State.Revision == nil, r.asks(f.ID), said.Result != gate.Accepted && said.Result != gate.Expired:
	case h != nil:
		said.Response, said.ProvidedBy = h.Response, gate.By{}
	case r.State.status == Cancelled:
		said.Result = gate.Cancelled
	default:
		return nil
	}
	return &said
}

// revived is placet's event that the run was cancelled, nil where the state says so too,
// or will.
func (r *view) revived() *event {
	if r.State.status == Cancelled || r.Snap.In("cancel.json").Present() {
		return nil
	}
	for _, e := range r.marked {
		if e.Type != "workflow_cancelled" || !e.ours() {
			continue
		}
		if id := e.Metadata.RequestID; id != "" && r.asks(id) {
			return nil // the answer is carried out again
		}
		return e
	}
	return nil
}
