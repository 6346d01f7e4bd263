package afl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
)

// tell adds to the view of a session what is its own.
func (r *session) tell(a *engine.Account) {
	if final(r.State.Status) {
		r.readMeta() // its title
	}
	_, left := r.unfinished()
	a.Final = a.Final && !left
	a.Stands = a.Stands || r.cfgBad
	a.Facts, a.Parts, a.Graph, a.Untrusted = r.facts(), r.parts(), r.nodes(), r.untrusted()
	a.Findings = r.addFindings(a.Findings)
}

func (r *session) facts() []engine.Fact {
	var list []engine.Fact
	add := func(label, value string) {
		if value != "" {
			list = append(list, engine.Fact{Label: label, Value: value})
		}
	}
	st := r.State
	add("title", r.meta.Title)
	if st.Adopted {
		add("adopted", "upstream had completed it before placet saw it")
	}
	add("paused", pauseWords(st.Pause))
	if st.Approved != nil {
		add("approved", since("by "+orWord(string(st.Approved.By), st.Approved.Source), st.Approved.At))
	} else if r.specs.readable {
		add("checkpoints", fmt.Sprintf("%d defined, not approved", len(r.specs.entries)))
	}
	if current, total := rounds(st); total > 0 {
		add("round", fmt.Sprintf("%d of %d", current, total))
	}
	for _, id := range displayOrder(st) {
		add("checkpoint", checkpointLine(id, st.Checkpoints[id]))
	}
	if v := st.Review; v != nil {
		add("review", fmt.Sprintf("round %d, %s (%s)", v.Round, v.Status, v.Mode))
	}
	for _, q := range st.Requests {
		if q.Status == run.Open {
			add("request", q.ID+" ("+q.Type+")")
		}
	}
	if r.mayBeApproved() {
		for _, f := range r.specs.findings[:min(len(r.specs.findings), mostNamed)] {
			add("finding", f.line())
		}
	}
	for _, f := range r.misread() {
		add("finding", r.Snap.Rel(f.Path)+f.Text)
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

// pauseWords say why nothing starts, by whom and since when; "" for no pause.
func pauseWords(p *Pause) string {
	if p == nil {
		return ""
	}
	words := p.Reason
	if p.By != "" {
		words += ", by " + string(p.By)
	}
	return since(words, p.At)
}

// checkpointLine is how far one checkpoint has come, in one line.
func checkpointLine(id string, c *Checkpoint) string {
	words := []string{id + ": " + string(c.Status)}
	if c.AbortedBecause != "" {
		words[0] += " (" + string(c.AbortedBecause) + ")"
	}
	if c.Iteration > 0 {
		words = append(words, fmt.Sprintf("attempt %d/%d", c.Iteration, c.MaxIterations))
	}
	if failure := lastFailure(c); failure != "" && c.Status != Completed {
		words = append(words, "last failed: "+failure)
	}
	return strings.Join(words, ", ")
}

// lastFailure is the first failed criterion of the last verdict, "" where it
// passed or there is none.
func lastFailure(c *Checkpoint) string {
	if len(c.History) == 0 {
		return ""
	}
	h := c.History[len(c.History)-1]
	if h.Result == passed || len(h.FailedCriteria) == 0 {
		return ""
	}
	return oneLine(h.FailedCriteria[0], shownName)
}

// TrustName begins the name under which trust in a validation command is asked
// for and remembered.
const TrustName = "afl.validation "

// WorkerTrustName does for the worker command in the work tree of a checkpoint.
const WorkerTrustName = "afl.worker_command "

// untrusted are the approved commands and the settings of upstream's files that
// nobody has agreed to.
func (r *session) untrusted() []engine.Untrusted {
	if final(r.State.Status) || !r.Usable() || r.cfgBad {
		return nil
	}
	list := append([]engine.Untrusted(nil), r.cfg.waiting...)
	if r.State.Approved == nil {
		return list
	}
	facts, worker := r.Snap.Facts, r.workerDigest()
	for _, d := range r.State.Approved.Definitions {
		if c := r.checkpoint(d.ID); c != nil && over(c.Status) {
			continue
		}
		at, in := r.sessionID()+"/"+d.ID, worktree(d.ID)
		wait := func(name string, digest engine.Digest, command string) {
			list = append(list, engine.Untrusted{Name: name + at, Digest: digest, Text: command, Argv: append(slices.Clone(r.cfg.Shell), command), Prefer: in})
		}
		if r.byCommand(d) && !r.runnable(d) {
			wait(TrustName, r.validationDigest(d), string(d.Command))
		}
		// Elsewhere the setting itself waits.
		if worker != "" && facts.Trusted[worker] && !facts.Trusts(worker, in) {
			wait(WorkerTrustName, worker, r.cfg.WorkerCommand)
		}
	}
	return list
}

// onCycle is the group of checkpoints that have no level.
const onCycle = "cycle"

// nodes are the checkpoints by level, in the order in which they are shown: the
// approved ones, or those of the files while none is approved.
func (r *session) nodes() []engine.Node {
	var defs []Definition
	if r.State.Approved != nil {
		defs = r.State.Approved.Definitions
	} else {
		defs = r.specs.definitions()
	}
	level := graph.Levels(nodesOf(defs))
	shown := slices.Clone(defs)
	slices.SortStableFunc(shown, func(a, b Definition) int { return cmp.Compare(level[a.ID], level[b.ID]) })
	var nodes []engine.Node
	for _, d := range shown {
		nodes = append(nodes, r.node(d, level[d.ID]))
	}
	return nodes
}

func (r *session) node(d Definition, level int) engine.Node {
	n := engine.Node{ID: d.ID, Group: fmt.Sprint(level), Label: d.ID, Status: r.statusOf(d.ID), After: d.Dependencies}
	if level == 0 {
		n.Group = onCycle
	}
	n.Gate = n.Status == Waiting || n.Status == Escalated
	n.Current = n.Gate || n.Status == InProgress || n.Status == Validating || n.Status == Retrying
	return n
}

// addFindings adds the findings about the design of the session, and settings that nobody
// reads. Notes that say what these findings say are left out.
func (r *session) addFindings(list []engine.Finding) []engine.Finding {
	said := map[string]bool{}
	for _, f := range r.specs.findings {
		severity := "warning"
		if f.blocks() {
			severity, said[r.Path(f.file)+layout.ProblemSuffix] = "error", true
		}
		list = append(list, engine.Finding{Severity: severity, Path: r.Path(f.file), Text: f.words()})
	}
	list = slices.DeleteFunc(list, func(f engine.Finding) bool { return said[f.Path] })
	list = append(list, r.misread()...)
	for _, u := range r.cfg.unbuilt {
		list = append(list, engine.Finding{Severity: "warning", Path: u.file, Text: u.key + ": " + u.text})
	}
	return list
}

// words are a finding without its file, which stands before it.
func (f finding) words() string {
	at := ""
	if f.place != "" {
		at = f.place + ": "
	}
	return f.id + " " + f.name + ": " + at + f.text + "; " + f.suggestion
}
