package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
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
	a.Blocked = r.State.unfit != nil || r.Unwritable != nil
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
	var list []engine.Fact
	add := func(label templates.Key, value string) {
		if value != "" {
			list = append(list, engine.Fact{Label: r.Say("faber.fact." + label), Value: value})
		}
	}
	add("run", r.Snap.Key.ID)
	add("work", numbered(r.State.WorkID))
	add("workflow", r.workflowID())
	if letter := r.State.shape.letter; letter != 0 {
		add("shape", string(rune(letter)))
	}
	add("phase", r.State.CurrentPhase)
	add("step", r.State.CurrentStep)
	add("revision", fmt.Sprint(r.State.rev))
	add("updated", r.State.UpdatedAt)
	if retries := r.retries(); retries > 0 {
		add("retries", fmt.Sprint(retries))
	}
	if o != nil {
		add("request", o.a.ID+" ("+o.req.Type+")")
	}
	if r.isQuiet() {
		add("quiet", r.Say("faber.fact.quiet.hour"))
	}
	for _, p := range r.lostAttempts() {
		add("lost", p)
	}
	return list
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
		w.Why("faber.why.absent")
		w.For("faber.wait.state")
	case r.eventsGone && !final(r.State.status):
		w.Why("say.text", "text", r.Notes.Text(r.Doc.Path+".problem.md"))
		w.For("faber.wait.events")
		w.UnblockAt(r.Path("events/"), r.Say("faber.unblock.events"))
	case r.eventsOpen:
		w.Why("faber.why.event", "dir", r.Path("events"))
		w.For("faber.wait.event.readable")
	case r.State.unfit != nil:
		w.Why("say.text", "text", r.State.unfit)
		w.For("run.wait.usable", "file", "state.json", "who", r.Say("run.who.agent"))
		w.UnblockAt(r.Doc.Path, r.Say("faber.unblock.state"))
	case final(r.State.status):
		w.Why("faber.why.final", "status", r.State.status)
		return
	case o != nil && o.a.Receipt != nil:
		w.Why("faber.why.receipt", "request", o.a.ID)
		w.For("faber.wait.renewed")
	case o != nil && !o.q.isOpen():
		r.explainUnopened(w, o)
	case o != nil:
		r.explainRequest(w, o)
	case r.resumes():
		w.Why("faber.why.taken", "request", rp.RequestID, "step", where(rp.Phase, rp.Step), "file", r.Path("resume.md"))
		w.For("faber.wait.event", "step", where(rp.Phase, rp.Step))
		w.UnblockAt(r.Path("events/"), r.Say("faber.unblock.event"))
	case r.pointed() && !r.goesOn():
		w.Why("faber.why.unverified", "request", rp.RequestID)
		w.For("faber.wait.again")
	case r.State.status == Paused:
		w.Why("faber.why.paused")
		w.For("faber.wait.status")
	case r.State.status == Failed:
		w.Why("faber.why.failed", "setting", strconv.Quote(r.cfg.AskFailed))
		w.For("faber.wait.status")
	default:
		w.Why("faber.why.works", "status", r.State.status)
		if r.State.CurrentPhase == "" {
			w.For("faber.wait.moves")
		} else {
			w.For("faber.wait.moves.from", "step", where(r.State.CurrentPhase, r.State.CurrentStep))
		}
	}
	if !final(r.State.status) && !r.foreign() && r.State.status != "" {
		w.UnblockAt(r.Path("cancel.json"), r.Say("faber.unblock.cancel"))
	}
}

// explainUnopened says why a request is not opened yet.
func (r *view) explainUnopened(w *run.Waiting, o *openRequest) {
	switch {
	case w.Next == requestOpened:
		w.Why("faber.why.unopened", "request", o.a.ID)
	case w.Next != "":
		w.Why("faber.why.unopened.next", "request", o.a.ID, "event", w.Next)
	case o.altered != "":
		w.Why("faber.why.unopenable", "request", o.a.ID, "why", r.cannotUse(o))
		w.For("faber.wait.request")
		w.UnblockAt(o.a.Dir+"/request.json", r.Say("faber.unblock.request"))
	default:
		w.Why("faber.why.unopenable", "request", o.a.ID, "why", r.hindrance(o))
		w.Written("state.json")
	}
}

// explainRequest says what a waiting run waits for, and what was looked for in vain.
func (r *view) explainRequest(w *run.Waiting, o *openRequest) {
	form := o.a.Dir + "/" + o.present
	w.Why("faber.why.waits", "request", o.a.ID, "type", o.req.Type, "step", where(o.q.phase, o.q.step))
	if r.claimGrows(o) {
		w.Why("faber.why.claim")
	}
	w.Why("faber.why.looked", "file", "response.json", "form", o.present)
	if ans := r.evidence(o); ans != nil {
		if _, stands := r.shownEffect(o, ans.Response); stands {
			w.Why("faber.why.there", "response", ans.Response, "user", ans.By.Shown(r.Lang, ans.Known), "when", r.whenTaken(o, w.Next))
		}
	}
	if p := r.Notes.Text(o.a.Dir + "/problem.md"); p != "" {
		w.Why("run.why.held", "note", p)
	}
	if len(o.moved) > 0 {
		w.Why("faber.why.stale", "stale", r.stale(o))
	}
	if at := moment(o.req.Deadline); !at.IsZero() && o.req.Default == "" {
		w.Why("faber.why.deadline", "at", seconds(at))
	} else if !at.IsZero() {
		w.Why("faber.why.deadline.option", "at", seconds(at), "option", o.req.Default)
	}
	for _, opt := range o.req.Options {
		w.UnblockAt(form, r.Say("faber.unblock.option", "option", opt.ID, "effect", cmp.Or(opt.Effect, r.effect(o.q, o.req, opt.ID).message().In(r.Lang))))
	}
	if o.req.FreeText() {
		w.UnblockAt(form, r.Say("faber.unblock.words"))
	}
}

// whenTaken says when an answer that is there is taken.
func (r *view) whenTaken(o *openRequest, next string) string {
	switch {
	case next == cancelAsked:
		return r.Say("faber.when.never")
	case next != "" && next != requestOpened:
		return r.Say("faber.when.next")
	}
	return r.Say("faber.when.waits", "why", r.hindrance(o))
}

// hindrance is why no edge is taken though one is due.
func (r *view) hindrance(o *openRequest) string {
	switch {
	case r.Unwritable != nil:
		return templates.In(r.Lang, r.Unwritable)
	case o.nowhere():
		return r.Say(noPlace)
	}
	return r.Say("faber.when.busy")
}

// findings are what check reports: problems first, then deviations. o is the request that
// the state asks, nil where it asks none.
func (r *view) findings(o *openRequest) []engine.Finding {
	var list []engine.Finding
	add := func(holds bool, severity, p string, key templates.Key, pairs ...any) {
		if holds {
			list = append(list, engine.Finding{Severity: severity, Path: p, Text: r.Say(key, pairs...)})
		}
	}
	state, metadata, served := r.Doc.Path, r.Path("metadata.json"), !r.foreign()
	add(r.State.unfit != nil && !r.Torn, "error", state, "say.text", "text", r.State.unfit)
	for _, id := range r.twiceAnswered() {
		add(true, "warning", state, "faber.finding.answers", "request", quote(id))
	}
	add(o != nil && o.nowhere(), "error", state, noPlace)
	for _, b := range r.badEvents() {
		add(true, "warning", r.Path("events/"+b.name), "say.text", "text", b.why)
	}
	for _, gap := range r.gaps() {
		add(true, "warning", r.Path("events"), "say.text", "text", gap)
	}
	next := r.Snap.In("events/.next-id")
	add(!next.Absent() && !next.Unsettled() && r.nextID() == 0, "warning", next.Path, "faber.finding.next")
	add(r.State.RunID != "" && r.State.RunID != r.Snap.Key.ID && served, "warning", state, "faber.finding.run", "id", quote(r.State.RunID), "run", quote(r.Snap.Key.ID))
	add(r.badMetadata != "" && served, "warning", metadata, "faber.finding.metadata", "problem", r.badMetadata)
	add(r.meta.RunID != "" && r.meta.RunID != r.Snap.Key.ID && served, "warning", metadata, "faber.finding.run", "id", quote(r.meta.RunID), "run", quote(r.Snap.Key.ID))
	add(r.State.Errors.Kind() == '{', "warning", state, "faber.finding.errors")
	add(r.State.WorkID.Kind() == '0', "warning", state, "faber.finding.work")
	add(r.meta.WorkID.Kind() == '0', "warning", metadata, "faber.finding.work")
	add(r.plan().problem != "" && !final(r.State.status), "warning", state, "faber.finding.plan", "problem", r.plan().problem)
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
func (r *eventLog) gaps() []templates.Message {
	var gaps []templates.Message
	before := 0
	for _, e := range r.events {
		switch missing := e.Number - before - 1; {
		case missing == 1:
			gaps = append(gaps, templates.NewMessage("faber.finding.gap", "number", fmt.Sprintf("%03d", before+1)))
		case missing > 1:
			gaps = append(gaps, templates.NewMessage("faber.finding.gaps", "from", fmt.Sprintf("%03d", before+1), "to", fmt.Sprintf("%03d", e.Number-1)))
		}
		before = e.Number
	}
	return gaps
}

// contradictions say where state.json and what placet wrote beside it tell different
// histories: a merge took one from each side, or somebody revived a run that was given
// up. Each says what to restore. What the next pass carries out does not contradict.
func (r *view) contradictions() []engine.Finding {
	if r.State.unfit != nil || r.Torn || r.State.status == "" || r.foreign() {
		return nil
	}
	list := gate.Comparison{Lang: r.Lang, Snap: r.Snap, State: r.Doc.Path, Revision: r.State.rev, Folders: r.Folders, Stated: r.stated}.Contradictions()
	if e := r.revived(); e != nil {
		text := r.Say("faber.finding.revived", "user", cmp.Or(e.User, "placet"), "event", e.Name, "status", r.State.status, "restoring", gate.Restoring(r.Snap))
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
