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
)

// tellSession adds to the view of a session what is its own.
func tellSession(r *session, a *engine.RunView) {
	if isFinal(r.State.Status) {
		r.readMeta() // its title
	}
	a.Final = a.Final && r.unfinished() == ""
	a.Blocked = a.Blocked || r.cfgBad
	misread := misread(r)
	a.Facts, a.Parts, a.Graph, a.Untrusted = sessionFacts(r, misread), parts(r), nodes(r), untrustedCommands(r)
	a.Findings = append(addFindings(r, a.Findings), misread...)
}

// factList are labelled lines; what says nothing is left out.
type factList []engine.Fact

func (f *factList) add(label, value string) {
	if value != "" {
		*f = append(*f, engine.Fact{Label: label, Value: value})
	}
}

// sessionFacts are what show says of a session.
func sessionFacts(r *session, misread []engine.Finding) (list factList) {
	st := r.State
	list.add("title", r.meta.Title)
	if st.Adopted {
		list.add("adopted", "upstream had completed it before placet saw it")
	}
	if p := st.Pause; p != nil {
		words := p.Reason
		if p.By != "" {
			words += ", by " + string(p.By)
		}
		list.add("paused", since(words, p.At))
	}
	if st.Approved != nil {
		list.add("approved", since("by "+orWord(string(st.Approved.By), st.Approved.Source), st.Approved.At))
	} else if r.specs.readable {
		list.add("checkpoints", fmt.Sprintf("%d defined, not approved", len(r.specs.entries)))
	}
	if current, total := rounds(st); total > 0 {
		list.add("round", fmt.Sprintf("%d of %d", current, total))
	}
	for _, id := range displayOrder(st) {
		list.add("checkpoint", checkpointLine(r.checkpoint(id)))
	}
	if v := st.Review; v != nil {
		list.add("review", fmt.Sprintf("round %d, %s (%s)", v.Round, v.Status, v.Mode))
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			list.add("request", q.ID+" ("+q.Type+")")
		}
	}
	if r.mayBeApproved() {
		for _, f := range r.specs.findings[:min(len(r.specs.findings), mostNamed)] {
			list.add("finding", f.line())
		}
	}
	for _, f := range misread {
		list.add("finding", r.Snap.Rel(f.Path)+f.Text)
	}
	return list
}

// since adds a moment to a text.
func since(words string, at text) string {
	if at == "" {
		return words
	}
	return words + ", " + string(at)
}

// checkpointLine is how far the checkpoint has come, in one line.
func checkpointLine(cp *checkpoint) string {
	words := []string{cp.id + ": " + string(cp.Status)}
	if cp.AbortedBecause != "" {
		words[0] += " (" + string(cp.AbortedBecause) + ")"
	}
	if cp.Iteration > 0 {
		words = append(words, fmt.Sprintf("attempt %d/%d", cp.Iteration, cp.MaxIterations))
	}
	if n := len(cp.History); n > 0 && cp.Status != Completed {
		if h := cp.History[n-1]; h.Result != passed && len(h.FailedCriteria) > 0 {
			if criterion := oneLine(h.FailedCriteria[0], shownName); criterion != "" {
				words = append(words, "last failed: "+criterion)
			}
		}
	}
	return strings.Join(words, ", ")
}

// TrustName begins the name under which trust in a validation command is asked for and
// remembered.
const TrustName = "afl.validation "

// WorkerTrustName does for the worker command in the work tree of a checkpoint.
const WorkerTrustName = "afl.worker_command "

// untrustedCommands are the approved commands and the settings of upstream's files that nobody has
// agreed to.
func untrustedCommands(r *session) []engine.Untrusted {
	if isFinal(r.State.Status) || !r.Usable() || r.cfgBad {
		return nil
	}
	list := append([]engine.Untrusted(nil), r.cfg.waiting...)
	worker := r.cfg.workerDigest()
	for _, d := range r.State.definitions() {
		cp, in := r.checkpoint(d.ID), worktree(d.ID)
		if isFinal(cp.Status) {
			continue
		}
		wait := func(name string, digest engine.Digest, command string) {
			list = append(list, engine.Untrusted{
				Name: name + r.id() + "/" + d.ID, Digest: digest, Text: command, Argv: append(slices.Clone(r.cfg.Shell), command), Prefer: in,
			})
		}
		if cp.isByCommand() && !cp.isRunnable() {
			wait(TrustName, cp.validationDigest(), string(d.Command))
		}
		// Elsewhere the setting itself waits.
		if worker != "" && r.Snap.Facts.Trusted[worker] && !r.Snap.Facts.Trusts(worker, in) {
			wait(WorkerTrustName, worker, r.cfg.WorkerCommand)
		}
	}
	return list
}

// onCycle is the group of checkpoints that have no level.
const onCycle = "cycle"

// nodes are the checkpoints by level, in the order in which they are shown: the approved
// ones, or those of the files while none is approved.
func nodes(r *session) []engine.Node {
	defs := r.specs.definitions()
	if r.State.Approved != nil {
		defs = slices.Clone(r.State.Approved.Definitions)
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

// addFindings adds the findings about the design. Notes that say what these findings say
// are left out.
func addFindings(r *session, list []engine.Finding) []engine.Finding {
	said := map[string]bool{}
	for _, f := range r.specs.findings {
		severity := "warning"
		if f.blocks() {
			severity, said[r.Path(f.file)+layout.ProblemSuffix] = "error", true
		}
		list = append(list, engine.Finding{Severity: severity, Path: r.Path(f.file), Text: f.words()})
	}
	return slices.DeleteFunc(list, func(f engine.Finding) bool { return said[f.Path] })
}

// parts are the checkpoints as show prints one of them.
func parts(r *session) []engine.Part {
	var list []engine.Part
	for _, id := range displayOrder(r.State) {
		list = append(list, checkpointPart(r.checkpoint(id)))
	}
	if len(list) > 0 || r.State.Approved != nil {
		return list
	}
	for _, d := range r.specs.definitions() {
		list = append(list, engine.Part{ID: d.ID, Status: "not approved", Facts: d.facts()})
	}
	return list
}

// checkpointPart is the checkpoint as show prints it.
func checkpointPart(cp *checkpoint) engine.Part {
	var list factList
	if cp.def != nil {
		list = cp.def.facts()
	}
	if cp.Iteration > 0 {
		list.add("attempt", fmt.Sprintf("%d/%d", cp.Iteration, cp.MaxIterations))
	}
	list.add("aborted because", string(cp.AbortedBecause))
	if cp.Status == Retrying {
		list.add("next attempt", string(cp.RetryAt))
	}
	if words, _, ok := totalTime(*cp.Checkpoint); ok {
		list.add("time", words)
	}
	if len(cp.History) > 0 {
		list.add("feedback quality", feedbackQuality(*cp.Checkpoint))
	}
	if e := cp.Escalation; e != nil {
		list.add("last escalation", since(e.Reason, e.At))
	}
	return engine.Part{ID: cp.id, Status: cp.Status, Facts: list, Sections: checkpointSections(cp)}
}

// checkpointSections are the texts about the checkpoint that are longer than a line.
func checkpointSections(cp *checkpoint) []engine.Section {
	all := []engine.Section{{Title: "History", Text: historyLines(cp.History)}}
	if cp.Escalation != nil {
		if rep := readEscalationReport(cp); rep != nil {
			all = append(all, engine.Section{Title: "Last escalation", Text: rep.lines()})
		}
	}
	if n := len(cp.Feedback); n > 0 {
		last := cp.Feedback[n-1].Iteration
		words := string(cp.r.Snap.In(cp.fileOf(last, "feedback.md")).Body)
		if strings.HasPrefix(words, mark) {
			_, words, _ = strings.Cut(words, "\n")
		}
		all = append(all, engine.Section{Title: fmt.Sprintf("Feedback on attempt %d", last), Text: words})
	}
	all = append(all, engine.Section{Title: "Files", Text: strings.Join(checkpointFiles(cp), "\n")})
	return slices.DeleteFunc(all, func(s engine.Section) bool { return strings.TrimSpace(s.Text) == "" })
}

// facts are what a checkpoint is to be.
func (d Definition) facts() (list factList) {
	list.add("name", d.Name)
	list.add("type", d.Type)
	list.add("description", string(d.Description))
	list.add("depends on", strings.Join(d.Dependencies, ", "))
	for _, c := range d.Criteria {
		list.add("criterion", c)
	}
	list.add("command", string(d.Command))
	list.add("expected", string(d.Expected))
	if d.TimeoutMS != nil {
		list.add("timeout", (time.Duration(*d.TimeoutMS) * time.Millisecond).String())
	}
	return list
}

// historyLines are the verdicts, one a line.
func historyLines(history []Judged) string {
	var lines []string
	for _, h := range history {
		line := fmt.Sprintf("%s  attempt %d", h.Timestamp, h.Iteration)
		if h.Run > 1 {
			line += fmt.Sprintf(", run %d", h.Run)
		}
		line += fmt.Sprintf("  %s  %s", h.Result, h.Route)
		if h.FailureType != "" {
			line += "  " + string(h.FailureType)
		}
		if h.Result == failed && len(h.FailedCriteria) > 0 {
			line += "  " + oneLine(strings.Join(h.FailedCriteria, "; "), shownName)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// checkpointFiles are the files of the checkpoint that are there: of the whole of it, and of the
// attempt in hand.
func checkpointFiles(cp *checkpoint) []string {
	var list []string
	latest := cp.r.Path(cp.file("")) + "/"
	for _, d := range cp.r.Snap.Under("delegations/" + cp.id) {
		isOwn := !strings.Contains(strings.TrimPrefix(d.Path, cp.r.Path(cp.rel(""))+"/"), "/")
		if !d.Absent() && (isOwn || cp.Iteration > 0 && strings.HasPrefix(d.Path, latest)) {
			list = append(list, d.Path)
		}
	}
	return list
}
