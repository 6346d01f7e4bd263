package afl

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
)

// Statuses that only an account has.
const (
	unbegun    engine.Status = "new"        // a session of which placet has written nothing yet
	unreadable engine.Status = "unreadable" // state.json cannot be used
	nowhere    engine.Status = "absent"     // the folder is no session
)

// Account implements [engine.Machine].
func (Machine) Account(s engine.Snapshot) engine.Account {
	a := engine.Account{Key: s.Key, Class: "served", Short: s.Key.ID, Status: nowhere}
	if vacant(s) {
		a.Absent = true
		a.Why = []string{"this folder is no session: it has neither meta.json nor " + specsYAML + " nor state.json"}
		return a
	}
	r := read(s)
	if final(r.st.Status) {
		r.readMeta() // its title
	}
	a.Status = r.word()
	_, left := r.unfinished()
	a.Final = final(r.st.Status) && !left
	a.Stands = r.stateErr != "" && !r.torn || r.cfgBad
	a.Unaccounted = r.unaccounted
	a.Contradict(r.contradictions())
	next := r.foresee()
	r.explain(&a, next)
	a.Facts, a.Open, a.Parts = r.facts(), r.asked(), r.parts()
	a.Graph, a.Findings, a.Untrusted, a.Log = r.nodes(), append(a.Findings, r.accountFindings()...), r.untrusted(), r.log()
	a.Holding = r.BeingWritten()
	return a
}

// vacant reports whether a folder is no session, nor was one.
func vacant(s engine.Snapshot) bool {
	return !session(s) && s.In("events.jsonl").Absent() && len(s.Under("requests")) == 0
}

func (r *reading) word() engine.Status {
	switch {
	case r.st.Status != "":
		return r.st.Status
	case r.begins:
		return unbegun
	}
	return unreadable
}

// foresee judges all that a pass would judge, so that the notes are those of a
// pass, and returns the transition that the next one makes; nil for none.
func (r *reading) foresee() *engine.Transition {
	if r.begins || r.torn || r.stateErr != "" {
		return nil
	}
	p, moved := r.next()
	r.judgeAll()
	r.standNotes()
	if !moved || len(p.Transitions) == 0 {
		return nil
	}
	return &p.Transitions[0]
}

func (r *reading) facts() []engine.Fact {
	var list []engine.Fact
	add := func(label, value string) {
		if value != "" {
			list = append(list, engine.Fact{Label: label, Value: value})
		}
	}
	st := r.st
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
	for _, id := range r.openIDs() {
		add("request", id+" ("+st.Requests[id].Type+")")
	}
	if r.awaits() {
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

// asked are the open requests, oldest first.
func (r *reading) asked() []engine.Asked {
	var list []engine.Asked
	if final(r.st.Status) || r.stateErr != "" {
		return nil
	}
	for _, id := range r.openIDs() {
		list = append(list, r.askedOf(id))
	}
	return list
}

// whereOf is the place of a request that is of no checkpoint.
var whereOf = map[string]string{typeApproval: "specs", typeReview: "review"}

func (r *reading) askedOf(id string) engine.Asked {
	q, f := r.st.Requests[id], r.folder(id)
	a := r.judging(id, q, f).Account()
	a.Run, a.Where = r.Snap.Key, orWord(string(q.Checkpoint), whereOf[q.Type])
	a.Problem = orWord(r.Notes.Text(f.Dir+"/problem.md"), r.Notes.Text(r.Note(f.Doc.Path)))
	return a
}

// TrustName begins the name under which trust in a validation command is asked
// for and remembered.
const TrustName = "afl.validation "

// WorkerTrustName does for the worker command in the work tree of a checkpoint.
const WorkerTrustName = "afl.worker_command "

// untrusted are the approved commands and the settings of upstream's files that
// nobody has agreed to.
func (r *reading) untrusted() []engine.Untrusted {
	if final(r.st.Status) || r.stateErr != "" || r.torn || r.cfgBad {
		return nil
	}
	list := append([]engine.Untrusted(nil), r.cfg.waiting...)
	if r.st.Approved == nil {
		return list
	}
	facts, worker := r.Snap.Facts, r.workerDigest()
	for _, d := range r.st.Approved.Definitions {
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
