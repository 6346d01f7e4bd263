package afl

import (
	"path"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// definition is what a checkpoint is to be; of one that is defined no longer
// only the id is known.
func (r *session) definition(id string) Definition {
	if d := r.defs[id]; d != nil {
		return *d
	}
	return Definition{ID: id, Name: id, Type: types[0]}
}

// promptMD renders the prompt of the attempt in hand.
func (r *session) promptMD(id string) []byte {
	c, d := r.checkpoint(id), r.definition(id)
	p := promptData{
		Lang: r.lang(), Session: r.sessionID(), Def: d, Attempt: c.Iteration, Max: c.MaxIterations,
		Timeout: r.timeout(id), Prerequisites: r.State.Approved.Prerequisites, Architecture: r.architecture(), Note: string(c.ExtraFeedback),
		Paths: handIn{
			Prompt: r.Path(place(id, c.Iteration, "prompt.md")), Worker: r.Path(place(id, c.Iteration, "worker.json")),
			Answer: r.Path(place(id, c.Iteration, "answer.md")), Question: r.Path("delegations/" + id + "/pending-question.json"),
		},
	}
	for _, dep := range d.Dependencies {
		p.Dependencies = append(p.Dependencies, dependency{ID: dep, Status: r.statusOf(dep)})
	}
	p.Contracts, p.ContractNames = r.contracts(d)
	for _, f := range c.Feedback {
		if f.Iteration == c.Iteration-1 {
			p.FeedbackOf, p.Feedback = f.Iteration, r.feedback(id, f)
			p.Note = "" // it stands in the feedback
		}
	}
	p.Redesigned = p.FeedbackOf == 0 && len(c.History) > 0
	return promptMD(p)
}

func (r *session) statusOf(id string) engine.Status {
	if c := r.checkpoint(id); c != nil {
		return c.Status
	}
	return Pending
}

// feedback is feedback.md as it stands, or as it is about to.
func (r *session) feedback(id string, f Feedback) string {
	if d := r.Snap.In(place(id, f.Iteration, "feedback.md")); d.Present() {
		return string(d.Body)
	}
	return string(r.feedbackMD(id, f))
}

func (r *session) architecture() string {
	for _, rel := range []string{"specs/architecture.md", "architecture.md"} {
		if r.Snap.In(rel).Present() {
			return r.Path(rel)
		}
	}
	return ""
}

// contracts are the contracts that bear on a checkpoint. V1 has them all in one
// file: the sections whose heading names the checkpoint, else the whole.
func (r *session) contracts(d Definition) (list []contract, names []string) {
	if r.State.Specs.Layout == layoutV1 {
		doc := r.Snap.In("specs/contracts.md")
		if !doc.Present() {
			return nil, nil
		}
		found := sections(string(doc.Body), d.ID, d.Name)
		return []contract{{Title: "contracts.md", Path: doc.Path, Text: found}}, nil
	}
	for _, doc := range r.Snap.Under("contracts/" + d.ID) {
		if doc.Kind == layout.AFLContractFile && doc.Present() {
			list = append(list, contract{Title: path.Base(doc.Path), Path: doc.Path, Text: string(doc.Body)})
		}
	}
	var f checkpointV2
	if doc := r.Snap.In("checkpoints/" + d.ID + ".json"); doc.Present() && schemas.Decode("afl/checkpoint", doc.Path, doc.Body, &f) == nil {
		names = append(append(names, f.Contract.Interface...), f.Contract.Tests...)
	}
	return list, names
}

// sections are the parts of a Markdown text whose heading contains one of the
// words, with what lies below them; the whole text where there is none.
func sections(body string, words ...string) string {
	var kept []string
	depth := 0 // of the heading whose section is being kept
	for _, line := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n") {
		if marks := len(line) - len(strings.TrimLeft(line, "#")); marks > 0 && marks <= 6 && strings.HasPrefix(line[marks:], " ") {
			if depth == 0 || marks <= depth {
				depth = 0
				for _, w := range words {
					if w != "" && strings.Contains(strings.ToLower(line), strings.ToLower(w)) {
						depth = marks
					}
				}
			}
		}
		if depth > 0 {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		return body
	}
	return strings.Join(kept, "\n")
}

// answerMD renders the answered questions of the attempt in hand, nil for none.
func (r *session) answerMD(id string, c *Checkpoint) []byte {
	var list []Question
	for _, q := range c.Questions {
		if q.AnsweredAt != "" {
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return answerMD(r.lang(), r.sessionID(), id, c.Iteration, list)
}

// outputOf is what is kept of the two outputs of a judged run, or of a worker's
// words, and the file that holds them.
func (r *session) outputOf(id string, v Verdict) (stdout, stderr, file string) {
	switch v.Source {
	case fromValidation:
		var o Validation
		d := r.Snap.In(place(id, v.Iteration, numbered("validation", v.Run)))
		if d.Present() && schemas.Decode("afl/validation", d.Path, d.Body, &o) == nil {
			return o.Stdout.text(), o.Stderr.text(), path.Base(d.Path)
		}
	case fromResult:
		var o Result
		d := r.Snap.In(place(id, v.Iteration, "result.json"))
		if d.Present() && string(d.Sum) == string(v.SourceDigest) && schemas.Decode("afl/result", d.Path, d.Body, &o) == nil {
			return o.Output, "", "result.json"
		}
	case fromWorker:
		return r.workerWords(id, v)
	}
	return "", "", ""
}

// workerWords are what a worker left that did not finish its attempt: its
// message, or the end of what its command printed.
func (r *session) workerWords(id string, v Verdict) (stdout, stderr, file string) {
	for _, d := range r.Snap.Under(place(id, v.Iteration, "")) {
		if !d.Present() || string(d.Sum) != string(v.SourceDigest) {
			continue
		}
		var report WorkerReport
		var run WorkerRun
		switch {
		case d.Kind == layout.AFLWorker && schemas.Decode("afl/worker", d.Path, d.Body, &report) == nil:
			return report.Message, "", path.Base(d.Path)
		case d.Kind == layout.AFLWorkerRun && schemas.Decode("afl/worker-run", d.Path, d.Body, &run) == nil:
			return run.Tail, "", path.Base(d.Path)
		}
	}
	return "", "", ""
}

// lastVerdict is the last verdict on an attempt.
func (r *session) lastVerdict(id string, n int) (v Verdict, ok bool) {
	c := r.checkpoint(id)
	for i := len(c.History) - 1; i >= 0; i-- {
		if c.History[i].Iteration == n {
			return r.verdictOf(id, c.History[i]), true
		}
	}
	return v, false
}

func (r *session) feedbackMD(id string, f Feedback) []byte {
	c := r.checkpoint(id)
	v, ok := r.lastVerdict(id, f.Iteration)
	if !ok {
		v = Verdict{Iteration: f.Iteration}
	}
	stdout, stderr, file := r.outputOf(id, v)
	return feedbackMD(feedbackData{
		Lang: r.lang(), Session: r.sessionID(), Def: r.definition(id), Max: c.MaxIterations, Verdict: v,
		Timeout: r.timeout(id), Stdout: stdout, Stderr: stderr, File: file, Note: string(f.Note),
	})
}

// escalationReason says why a checkpoint is handed to a person.
func (r *session) escalationReason(c *Checkpoint, v *Verdict, route Route, asked string) string {
	same := 0
	if v != nil {
		same = sameInARow(append(c.History[:len(c.History):len(c.History)], Judged{Epoch: c.Epoch, Result: failed, Signature: v.Signature}))
	}
	return escalationReason(r.lang(), route, v, c.Iteration, c.MaxIterations, same, asked)
}

// escalationOf is what the report of a checkpoint's last escalation shows. The
// history ends with it.
func (r *session) escalationOf(id string) escalationData {
	c := r.checkpoint(id).clone()
	e := c.Escalation
	var history []Judged
	for _, h := range c.History {
		if h.Timestamp <= e.At {
			history = append(history, h)
		}
	}
	c.History = history
	d := escalationData{
		Lang: r.lang(), Session: r.sessionID(), Def: r.definition(id), C: *c, Max: e.MaxIterations, PatternAfter: r.patternAfter(), Timeout: r.timeout(id),
		Dependents: r.dependentsOf(id), Files: r.filesOf(id, e.Iteration), Options: []string{optRetryMore, optRedesign, optEnvFixed, optSkip, optSkipForced, optAbort},
	}
	if e.Run != nil {
		for _, h := range history {
			if h.Iteration == e.Iteration && h.Run == *e.Run {
				v := r.verdictOf(id, h)
				d.Verdict = &v
			}
		}
	} else {
		d.Question = string(e.Question)
	}
	return d
}

func (r *session) patternAfter() int {
	if r.cfg.PatternAfter == 0 {
		return 3
	}
	return r.cfg.PatternAfter
}

// filesOf are the files of an attempt that tell what happened.
func (r *session) filesOf(id string, n int) []string {
	return []string{r.Path(place(id, n, "")) + "/", r.Path("delegations/" + id + "/escalation.json")}
}

func (r *session) escalationMD(id string) []byte   { return escalationMD(r.escalationOf(id)) }
func (r *session) escalationJSON(id string) []byte { return escalationJSON(r.escalationOf(id)) }
