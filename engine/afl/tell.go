package afl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// tellSession adds the family's own facts to the view of a session.
func tellSession(r *session, a *engine.RunView) {
	if isFinal(r.run.State.Status) {
		readMeta(r) // for its title
	}
	a.Final = a.Final && firstUnfinished(r) == ""
	a.Blocked = a.Blocked || r.cfgBad
	misread := misread(r)
	a.Facts, a.Parts, a.Graph, a.Untrusted = sessionFacts(r, misread), parts(r), nodes(r), untrustedCommands(r)
	a.Findings = append(addFindings(r, a.Findings), misread...)
}

// sessionFacts returns the facts that `show` prints for a session.
func sessionFacts(r *session, misread []engine.Finding) []engine.Fact {
	st, list := r.run.State, run.NewFacts(r.run.Lang, "afl")
	list.Add("title", r.meta.Title)
	if st.Adopted {
		list.Add("adopted", r.say("show.adopted"))
	}
	if p := st.Pause; p != nil {
		words := p.Reason
		if p.By != "" {
			words = r.say("show.paused", "reason", p.Reason, "by", p.By)
		}
		list.Add("paused", since(words, p.At))
	}
	if st.Approved != nil {
		list.Add("approved", since(r.say("show.approved", "by", orWord(string(st.Approved.By), st.Approved.Source)), st.Approved.At))
	} else if r.specs.readable {
		list.Add("checkpoints", r.say("show.defined", "count", len(r.specs.entries)))
	}
	if current, total := rounds(st); total > 0 {
		list.Add("round", r.say("show.round", "current", current, "total", total))
	}
	for _, id := range displayOrder(st) {
		list.Add("checkpoint", checkpointLine(r.checkpoint(id)))
	}
	if v := st.Review; v != nil {
		list.Add("review", r.say("show.review", "round", v.Round, "status", v.Status, "mode", v.Mode))
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			list.Add("request", q.ID+" ("+q.Type+")")
		}
	}
	if r.mayBeApproved() {
		for _, f := range r.specs.findings[:min(len(r.specs.findings), mostNamed)] {
			list.Add("finding", f.line())
		}
	}
	for _, f := range misread {
		place := ""
		if !strings.HasPrefix(f.Text, "/") {
			place = ": "
		}
		list.Add("finding", r.run.Snap.Rel(f.Path)+place+f.Text)
	}
	return list.List
}

// since appends a time to a text.
func since(words string, at text) string {
	if at == "" {
		return words
	}
	return words + ", " + string(at)
}

// checkpointLine describes the checkpoint's progress in one line.
func checkpointLine(cp *checkpoint) string {
	words := []string{cp.id + ": " + string(cp.Status)}
	if cp.AbortedBecause != "" {
		words[0] += " (" + string(cp.AbortedBecause) + ")"
	}
	if cp.Iteration > 0 {
		words = append(words, cp.r.say("show.attempt", "attempt", cp.Iteration, "max", cp.MaxIterations))
	}
	if n := len(cp.History); n > 0 && cp.Status != Completed {
		if h := cp.History[n-1]; h.Result != passed && len(h.FailedCriteria) > 0 {
			if said := templates.Line(criterion(cp.r.run.Lang, h.FailedCriteria[0]), shownName); said != "" {
				words = append(words, cp.r.say("show.failed", "criterion", said))
			}
		}
	}
	return strings.Join(words, ", ")
}

// TrustName is the prefix of the name under which placet asks for and remembers trust in a
// validation command.
const TrustName = "afl.validation "

// WorkerTrustName is that prefix for the worker command in the work tree of a checkpoint.
const WorkerTrustName = "afl.worker_command "

// untrustedCommands returns the approved commands and the settings of upstream's files that nobody
// has agreed to.
func untrustedCommands(r *session) []engine.Untrusted {
	if isFinal(r.run.State.Status) || !r.run.Usable() || r.cfgBad {
		return nil
	}
	list := append([]engine.Untrusted(nil), r.cfg.waiting...)
	worker := r.cfg.workerDigest()
	for _, d := range r.run.State.definitions() {
		cp := r.checkpoint(d.ID)
		if isFinal(cp.Status) {
			continue
		}
		if u, waits := cp.untrustedValidation(); waits {
			list = append(list, u)
		}
		// A worker command that is trusted nowhere is listed with the settings instead.
		if worker != "" && r.run.Snap.Facts.Trusted[worker] && !r.run.Snap.Facts.Trusts(worker, worktree(d.ID)) {
			list = append(list, cp.untrusted(WorkerTrustName, worker, r.cfg.WorkerCommand))
		}
	}
	return list
}

// untrusted returns a command of the checkpoint that nobody has agreed to.
func (cp *checkpoint) untrusted(name string, digest engine.Digest, command string) engine.Untrusted {
	return engine.Untrusted{
		Name: name + cp.r.id() + "/" + cp.id, Digest: digest, Text: command, Argv: append(slices.Clone(cp.r.cfg.Shell), command), Prefer: worktree(cp.id),
	}
}

// untrustedValidation returns the validation command if nobody has agreed to it as it is now. It
// stops the session while its attempt waits for nothing else.
func (cp *checkpoint) untrustedValidation() (u engine.Untrusted, waits bool) {
	if !cp.isByCommand() || cp.isRunnable() {
		return u, false
	}
	u = cp.untrusted(TrustName, cp.validationDigest(), string(cp.def.Command))
	u.Stops = cp.isStopped() && cp.open(typeChanged) == nil
	return u, true
}

// onCycle is the group of the checkpoints that have no level.
const onCycle = "cycle"

// nodes returns the checkpoints ordered by level: the approved ones, or those of the files if none
// is approved.
func nodes(r *session) []engine.Node {
	defs := r.specs.definitions()
	if r.run.State.Approved != nil {
		defs = slices.Clone(r.run.State.Approved.Definitions)
	}
	level, critical := graph.Levels(nodesOf(defs)), graph.CriticalPath(nodesOf(defs))
	slices.SortStableFunc(defs, func(a, b Definition) int { return cmp.Compare(level[a.ID], level[b.ID]) })
	var nodes []engine.Node
	for _, d := range defs {
		n := engine.Node{ID: d.ID, Group: fmt.Sprint(level[d.ID]), Label: d.ID, Status: r.checkpoint(d.ID).status(), After: d.Dependencies, Critical: slices.Contains(critical, d.ID)}
		if level[d.ID] == 0 {
			n.Group = onCycle
		}
		n.Gate = n.Status == Waiting || n.Status == Escalated
		n.Current = n.Gate || n.Status == InProgress || n.Status == Validating || n.Status == Retrying
		nodes = append(nodes, n)
	}
	return nodes
}

// addFindings adds the findings about the design. It leaves out notes that repeat them.
func addFindings(r *session, list []engine.Finding) []engine.Finding {
	said := map[string]bool{}
	for _, f := range r.specs.findings {
		severity := "warning"
		if f.blocks() {
			severity, said[r.run.Path(f.file)+layout.ProblemSuffix] = "error", true
		}
		list = append(list, engine.Finding{Severity: severity, Path: r.run.Path(f.file), Text: f.words()})
	}
	return slices.DeleteFunc(list, func(f engine.Finding) bool { return said[f.Path] })
}

// parts returns the checkpoints for `show`.
func parts(r *session) []engine.Part {
	var list []engine.Part
	for _, id := range displayOrder(r.run.State) {
		list = append(list, checkpointPart(r.checkpoint(id)))
	}
	if len(list) > 0 || r.run.State.Approved != nil {
		return list
	}
	for _, d := range r.specs.definitions() {
		list = append(list, engine.Part{ID: d.ID, Status: engine.Status(r.say("show.not_approved")), Facts: d.facts(r.run.Lang).List})
	}
	return list
}

// checkpointPart returns a checkpoint for `show`.
func checkpointPart(cp *checkpoint) engine.Part {
	list := run.NewFacts(cp.r.run.Lang, "afl")
	if cp.def != nil {
		list = cp.def.facts(cp.r.run.Lang)
	}
	if cp.Iteration > 0 {
		list.Add("attempt", fmt.Sprintf("%d/%d", cp.Iteration, cp.MaxIterations))
	}
	list.Add("aborted_because", string(cp.AbortedBecause))
	if cp.Status == Retrying {
		list.Add("next_attempt", string(cp.RetryAt))
	}
	if words, _, ok := totalTime(*cp.Checkpoint); ok {
		list.Add("time", words)
	}
	if len(cp.History) > 0 {
		list.Add("feedback_quality", feedbackQuality(*cp.Checkpoint))
	}
	if e := cp.Escalation; e != nil {
		list.Add("last_escalation", since(e.Reason, e.At))
	}
	return engine.Part{ID: cp.id, Status: cp.Status, Facts: list.List, Sections: checkpointSections(cp)}
}

// checkpointSections returns the longer texts about the checkpoint.
func checkpointSections(cp *checkpoint) []engine.Section {
	all := []engine.Section{{Title: cp.r.say("section.history"), Text: historyLines(cp.r.run.Lang, cp.History)}}
	if cp.Escalation != nil {
		if rep := readEscalationReport(cp); rep != nil {
			all = append(all, engine.Section{Title: cp.r.say("section.escalation"), Text: rep.lines(cp.r.run.Lang)})
		}
	}
	if n := len(cp.Feedback); n > 0 {
		last := cp.Feedback[n-1].Iteration
		words := string(cp.r.run.Snap.In(cp.fileOf(last, "feedback.md")).Body)
		if strings.HasPrefix(words, mark) {
			_, words, _ = strings.Cut(words, "\n")
		}
		all = append(all, engine.Section{Title: cp.r.say("section.feedback", "attempt", last), Text: words})
	}
	all = append(all, engine.Section{Title: cp.r.say("section.files"), Text: strings.Join(checkpointFiles(cp), "\n")})
	return slices.DeleteFunc(all, func(s engine.Section) bool { return strings.TrimSpace(s.Text) == "" })
}

// facts returns the facts of a definition.
func (d Definition) facts(lang string) *run.Facts {
	list := run.NewFacts(lang, "afl")
	list.Add("name", d.Name)
	list.Add("type", d.Type)
	list.Add("description", string(d.Description))
	list.Add("depends_on", strings.Join(d.Dependencies, ", "))
	for _, c := range d.Criteria {
		list.Add("criterion", c)
	}
	list.Add("command", string(d.Command))
	list.Add("expected", string(d.Expected))
	if d.TimeoutMS != nil {
		list.Add("timeout", (time.Duration(*d.TimeoutMS) * time.Millisecond).String())
	}
	return list
}

// historyLines returns the verdicts, one per line.
func historyLines(lang string, history []Judged) string {
	var lines []string
	for _, h := range history {
		which := "show.history"
		if h.Run > 1 {
			which = "show.history.run"
		}
		line := fmt.Sprintf("%s  %s  %s  %s", h.Timestamp, phrase(lang, which, "attempt", h.Iteration, "run", h.Run), h.Result, h.Route)
		if h.FailureType != "" {
			line += "  " + string(h.FailureType)
		}
		if h.Result == failed && len(h.FailedCriteria) > 0 {
			line += "  " + templates.Line(criteria(lang, h.FailedCriteria), shownName)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// checkpointFiles returns the existing files of the checkpoint itself and of its current attempt.
func checkpointFiles(cp *checkpoint) []string {
	var list []string
	latest := cp.r.run.Path(cp.file("")) + "/"
	for _, d := range cp.r.run.Snap.Under("delegations/" + cp.id) {
		isOwn := !strings.Contains(strings.TrimPrefix(d.Path, cp.r.run.Path(cp.rel(""))+"/"), "/")
		if !d.Absent() && (isOwn || cp.Iteration > 0 && strings.HasPrefix(d.Path, latest)) {
			list = append(list, d.Path)
		}
	}
	return list
}

// fabrications returns the documents of others that claim a completion too early. A rendering in
// the place of placet's does not count, because it may come from a time before placet.
func fabrications(r *session) (list []run.Fabrication) {
	if !r.run.Usable() || !r.run.Begun || isFinal(r.run.State.Status) {
		return nil
	}
	if asked := unansweredOf(r, ""); asked != "" && r.meta.Status == string(Completed) {
		list = append(list, run.Fabrication{
			Path: r.run.Path("meta.json"), Pointer: "/status", Says: r.meta.Status, Request: asked, Fact: run.Unanswered(asked),
		})
	}
	for _, id := range r.order {
		list = append(list, r.checkpoint(id).unbegunReports()...)
	}
	return list
}

// unansweredOf returns the first open request about a checkpoint, or about any if id is "", that
// nobody has begun to answer.
func unansweredOf(r *session, id string) string {
	for _, q := range r.run.State.Requests {
		if q.Status == run.Open && (id == "" || string(q.Subject) == id) && r.run.IsUnanswered(q.ID) {
			return q.ID
		}
	}
	return ""
}

// unbegunReports finds attempts that a worker completed before they began. An attempt with a prompt
// may have begun before a crash, and a report older than the current state may come from an earlier
// session in the same folder; neither counts.
func (cp *checkpoint) unbegunReports() (list []run.Fabrication) {
	r := cp.r
	if r.run.State.Last == nil {
		return nil
	}
	for _, d := range r.run.Snap.Under("delegations/" + cp.id + "/iterations") {
		_, n, _, ok := layout.AFLPlace(r.run.Snap.Rel(d.Path))
		if d.Kind != layout.AFLWorker || !ok || n <= cp.Iteration || !d.Changed.After(r.run.State.Last.At.Time()) || !r.run.Snap.In(cp.fileOf(n, "prompt.md")).Absent() {
			continue
		}
		if w := run.Peek[WorkerReport](d, "afl/worker"); w != nil && w.Status == string(Completed) {
			list = append(list, run.Fabrication{
				Path: d.Path, Pointer: "/status", Says: w.Status, Request: unansweredOf(r, cp.id),
				Fact: templates.NewMessage("afl.fabrication.attempt", "attempt", n, "checkpoint", cp.id),
			})
		}
	}
	return list
}
