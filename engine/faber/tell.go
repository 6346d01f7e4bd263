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
	"placet/templates"
)

// quiet is how long an agent may be silent before `show` mentions it.
const quiet = time.Hour

// tell adds the family's own facts to the view for people.
func tell(r *view, a *engine.RunView) {
	a.ShortID = r.short()
	if r.foreign() {
		a.Class = "foreign"
	}
	if r.run.Begun && r.state.status == "" {
		a.Status = run.StatusUnreadable
	}
	o := r.asked()
	a.Blocked = r.state.unfit != nil || r.run.Unwritable != nil
	a.Facts = facts(r, o)
	if o != nil && o.folder.Receipt == nil {
		a.Open = []engine.OpenRequest{o.openRequest()}
	}
	a.Graph, a.Untrusted, a.Log = graph(r), untrusted(r), r.events.entries()
	a.Findings = append(a.Findings, findings(r, o)...)
}

func facts(r *view, o *request) []engine.Fact {
	list := run.NewFacts(r.Lang, "faber")
	add := list.Add
	add("run", r.Snap.Key.ID)
	if id := r.workID(); id != "" {
		add("work", "#"+id)
	}
	add("branch", r.branch())
	add("workflow", r.workflowID())
	if letter := r.state.shape.letter; letter != 0 {
		add("shape", string(rune(letter)))
	}
	add("phase", r.state.CurrentPhase)
	add("step", r.state.CurrentStep)
	add("revision", fmt.Sprint(r.state.rev))
	add("updated", r.state.UpdatedAt)
	if retries := r.events.retries(); retries > 0 {
		add("retries", fmt.Sprint(retries))
	}
	add("unplanned", strings.Join(unplannedSteps(r), ", "))
	if o != nil {
		add("request", o.folder.ID+" ("+o.req.Type+")")
	}
	if isQuiet(r) {
		add("quiet", r.Say("faber.fact.quiet.hour"))
	}
	for _, p := range lostAttempts(r) {
		add("lost", p)
	}
	return list.List
}

// isQuiet reports whether an agent that should be working has been silent for longer than quiet.
func isQuiet(r *view) bool {
	changed := moment(r.state.UpdatedAt)
	return r.state.status == InProgress && !changed.IsZero() && r.Snap.Now.Sub(r.events.notBefore(changed)) > quiet
}

// graph returns the plan as phases and steps, with the current step marked.
func graph(r *view) []engine.Node {
	var nodes []engine.Node
	phase, step := r.state.at()
	for i, s := range r.plan().steps {
		n := engine.Node{ID: where(s.Phase, s.ID), Group: s.Phase, Label: s.ID, Status: r.state.shape.status(s.Phase, s.ID)}
		n.Current = s.Phase == phase && s.ID == step
		n.Gate = r.isDestructive(s.Phase, s.ID) || hasGate(r, s) || n.Current && r.state.status == Awaiting
		n.Status = cmp.Or(n.Status, Pending)
		if i > 0 {
			n.After = []string{nodes[i-1].ID}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// untrusted returns the commands to which nobody has agreed: the resume command, and the built-in
// program that asks GitHub, which stands in no file.
func untrusted(r *view) (list []engine.Untrusted) {
	if argv := r.cfg.Resume.Command; len(argv) > 0 && !r.Snap.Facts.Trusted[CommandDigest(argv)] {
		list = append(list, engine.Untrusted{Name: "faber.resume", Digest: CommandDigest(argv), Text: strings.Join(argv, " "), Stops: !r.foreign() && r.resumes() && stop(r) == ""})
	}
	builtIn := DefaultConfig().Issue.GH
	if c := r.cfg.Issue; r.isAnnounced() && c.PollEvery() > 0 && slices.Equal(c.GH, builtIn) && !r.Snap.Facts.Trusted[GHDigest(builtIn)] {
		list = append(list, engine.Untrusted{Name: "faber.issue.gh", Digest: GHDigest(builtIn), Text: strings.Join(builtIn, " "), Argv: builtIn})
	}
	return list
}

// openRequest returns the request for the inbox.
func (o *request) openRequest() engine.OpenRequest {
	q := o.evaluation().OpenRequest()
	q.Run, q.Where, q.Summary = o.view.Snap.Key, where(o.q.phase, o.q.step), o.q.shown.Summary
	q.WorkID, q.Branch = o.view.workID(), o.view.branch()
	q.Problem = o.view.Notes.Text(o.path("problem.md"))
	q.Counts = o.view.answered() != nil
	return q
}

// findings returns what `check` reports: problems first, then deviations. o is the request that the
// state asks, or nil.
func findings(r *view, o *request) []engine.Finding {
	var list []engine.Finding
	add := func(holds bool, severity, p string, key templates.Key, pairs ...any) {
		if holds {
			list = append(list, engine.Finding{Severity: severity, Path: p, Text: r.Say(key, pairs...)})
		}
	}
	state, metadata, served := r.doc.Path, r.Path("metadata.json"), !r.foreign()
	add(r.state.unfit != nil && !r.run.Torn, "error", state, "say.text", "text", r.state.unfit)
	for _, id := range r.state.twiceAnswered() {
		add(true, "warning", state, "faber.finding.answers", "request", quote(id))
	}
	add(o != nil && o.nowhere(), "error", state, noPlace)
	for _, b := range r.events.badEvents() {
		add(true, "warning", r.Path("events/"+b.name), "say.text", "text", b.why)
	}
	for _, gap := range r.events.gaps() {
		add(true, "warning", r.Path("events"), "say.text", "text", gap)
	}
	next := r.Snap.In("events/.next-id")
	add(!next.Absent() && !next.Unsettled() && r.events.next == 0, "warning", next.Path, "faber.finding.next")
	add(r.state.RunID != "" && r.state.RunID != r.Snap.Key.ID && served, "warning", state, "faber.finding.run", "id", quote(r.state.RunID), "run", quote(r.Snap.Key.ID))
	add(r.badMetadata != "" && served, "warning", metadata, "faber.finding.metadata", "problem", r.badMetadata)
	add(r.meta.RunID != "" && r.meta.RunID != r.Snap.Key.ID && served, "warning", metadata, "faber.finding.run", "id", quote(r.meta.RunID), "run", quote(r.Snap.Key.ID))
	add(r.state.Errors.Kind() == '{', "warning", state, "faber.finding.errors")
	add(r.state.WorkID.Kind() == '0', "warning", state, "faber.finding.work")
	add(r.meta.WorkID.Kind() == '0', "warning", metadata, "faber.finding.work")
	add(r.cfg.AskFailed == "driven", "warning", "placet.toml", "faber.finding.driven")
	if o != nil && o.folder.Receipt == nil {
		why := o.posting().why()
		add(why.Key != "" && r.cfg.Issue.Enabled, "info", o.path("request.json"), "say.text", "text", why)
	}
	add(r.plan().problem != "" && !final(r.state.status), "warning", state, "faber.finding.plan", "problem", r.plan().problem)
	_, unknown := autonomyOf(r)
	add(unknown != "" && served, "warning", metadata, "faber.finding.autonomy", "level", quote(unknown))
	return append(list, deviations(r)...)
}

// contradictions finds places where state.json and placet's documents beside it tell different
// histories: a merge took one from each side, or somebody revived a cancelled run. Each finding
// says what to restore. What the next pass will carry out is no contradiction.
func contradictions(r *view) []engine.Finding {
	if r.state.unfit != nil || r.run.Torn || r.state.status == "" || r.foreign() {
		return nil
	}
	list := gate.Comparison{Lang: r.Lang, Snap: r.Snap, State: r.doc.Path, Revision: r.state.rev, Folders: r.run.Folders, Stated: func(f *gate.Folder) *gate.Receipt { return stated(r, f) }}.Contradictions()
	if e := revived(r); e != nil {
		text := r.Say("faber.finding.revived", "user", cmp.Or(e.User, "placet"), "event", e.Name, "status", r.state.status, "restoring", gate.Restoring(r.Snap))
		list = append(list, engine.Finding{Severity: "error", Path: r.doc.Path, Text: text, Urgent: true})
	}
	return list
}

// stated returns the receipt of a request according to the state, nil if the state lacks its answer.
// A request that was closed without an answer keeps its receipt: upstream may write what it likes,
// so the state need not mention it.
func stated(r *view, f *gate.Folder) *gate.Receipt {
	said := *f.Receipt
	h := r.state.answerTo(f.ID)
	switch {
	case r.state.Revision == nil, r.asks(f.ID), said.Result != gate.Accepted && said.Result != gate.Expired:
	case h != nil:
		said.Response, said.ProvidedBy = h.Response, gate.By{}
	case r.state.status == Cancelled:
		said.Result = gate.Cancelled
	default:
		return nil
	}
	return &said
}

// revived returns placet's event that the run was cancelled, nil if the state says so, too, or
// will.
func revived(r *view) *event {
	if r.state.status == Cancelled || r.Snap.In("cancel.json").Present() {
		return nil
	}
	for _, e := range r.events.marked {
		if e.Type != "workflow_cancelled" || !e.ours() {
			continue
		}
		if id := e.Metadata.RequestID; id != "" && r.asks(id) {
			return nil // the answer will be carried out again
		}
		return e
	}
	return nil
}
