package afl

import (
	"path"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// promptMD renders the prompt of the current attempt.
func (cp *checkpoint) promptMD() []byte {
	r, d := cp.r, cp.definition()
	p := promptData{
		Lang: r.run.Lang, Session: r.id(), Def: d, Attempt: cp.Iteration, Max: cp.MaxIterations,
		Timeout: cp.timeout(), Prerequisites: r.run.State.Approved.Prerequisites, Architecture: findArchitecture(r), Note: string(cp.ExtraFeedback),
		Worker: r.run.Path(cp.file("worker.json")), Answer: r.run.Path(cp.file("answer.md")), Question: r.run.Path(cp.rel("pending-question.json")),
	}
	for _, dep := range d.Dependencies {
		p.Dependencies = append(p.Dependencies, dep+": "+string(r.checkpoint(dep).status()))
	}
	p.Contracts, p.ContractNames = findContracts(r, d)
	for _, f := range cp.Feedback {
		if f.Iteration == cp.Iteration-1 {
			p.FeedbackOf, p.Feedback = f.Iteration, feedbackText(cp, f)
			p.Note = "" // the feedback contains it
		}
	}
	p.Redesigned = p.FeedbackOf == 0 && len(cp.History) > 0
	return promptMD(p)
}

// feedbackText returns the content of feedback.md, or what placet is about to write there.
func feedbackText(cp *checkpoint, f Feedback) string {
	if d := cp.r.run.Snap.In(cp.fileOf(f.Iteration, "feedback.md")); d.Present() {
		return string(d.Body)
	}
	return string(cp.feedbackMD(f))
}

// findArchitecture returns the path of the session's architecture, or "".
func findArchitecture(r *session) string {
	for _, rel := range []string{"specs/architecture.md", "architecture.md"} {
		if r.run.Snap.In(rel).Present() {
			return r.run.Path(rel)
		}
	}
	return ""
}

// findContracts returns the contracts of a checkpoint. V1 has all contracts in one file: the result
// is the sections whose heading names the checkpoint, or else the whole file.
func findContracts(r *session, d Definition) (list []contract, names []string) {
	if r.run.State.Specs.Layout == layoutV1 {
		doc := r.run.Snap.In("specs/contracts.md")
		if !doc.Present() {
			return nil, nil
		}
		return []contract{{Title: "contracts.md", Path: doc.Path, Text: sections(string(doc.Body), d.ID, d.Name)}}, nil
	}
	for _, doc := range r.run.Snap.Under("contracts/" + d.ID) {
		if doc.Kind == layout.AFLContractFile && doc.Present() {
			list = append(list, contract{Title: path.Base(doc.Path), Path: doc.Path, Text: string(doc.Body)})
		}
	}
	if e, err := engine.Parse(r.run.Snap.In("checkpoints/"+d.ID+".json"), decodeV2); err == nil {
		names = e.contracts
	}
	return list, names
}

// sections returns the parts of a Markdown text whose heading contains one of the words, including
// their subsections, or the whole text if no heading does.
func sections(body string, words ...string) string {
	var kept []string
	depth := 0 // of the heading of the section being kept
	for _, line := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n") {
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if isHeading := marks > 0 && marks <= 6 && strings.HasPrefix(line[marks:], " "); isHeading && (depth == 0 || marks <= depth) {
			depth = 0
			for _, w := range words {
				if w != "" && strings.Contains(strings.ToLower(line), strings.ToLower(w)) {
					depth = marks
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

// feedbackMD renders the feedback for the next attempt.
func (cp *checkpoint) feedbackMD(f Feedback) []byte {
	d := feedbackData{
		Lang: cp.r.run.Lang, Session: cp.r.id(), Def: cp.definition(), Max: cp.MaxIterations, Timeout: cp.timeout(), Note: string(f.Note),
		Verdict: Verdict{Iteration: f.Iteration},
	}
	for _, h := range cp.History {
		if h.Iteration == f.Iteration {
			d.Verdict = cp.verdictOf(h) // the last verdict counts
		}
	}
	addOutput(cp, &d)
	return feedbackMD(d)
}

// addOutput adds to a feedback the kept outputs of the judged run, or a worker's words and the file
// that contains them.
func addOutput(cp *checkpoint, f *feedbackData) {
	v, snap := f.Verdict, cp.r.run.Snap
	switch v.Source {
	case fromValidation:
		if o := run.Peek[Validation](snap.In(cp.fileOf(v.Iteration, numbered("validation", v.Run))), "afl/validation"); o != nil {
			f.Stdout, f.Stderr = o.Stdout.Text(), o.Stderr.Text()
		}
	case fromResult:
		d := snap.In(cp.fileOf(v.Iteration, "result.json"))
		if o := run.Peek[Result](d, "afl/result"); o != nil && text(d.Sum) == v.SourceDigest {
			f.Stdout = o.Output
		}
	case fromWorker:
		for _, d := range snap.Under(cp.fileOf(v.Iteration, "")) {
			if text(d.Sum) != v.SourceDigest {
				continue
			}
			switch report, o := workerDoc(d); {
			case report != nil:
				f.Stdout, f.File = report.Message, path.Base(d.Path)
				return
			case o != nil:
				f.Stdout, f.File = o.Tail, path.Base(d.Path)
				return
			}
		}
	}
}

// escalationOf returns the data for the report of the last escalation.
func escalationOf(cp *checkpoint) escalationData {
	r, e := cp.r, cp.Escalation
	d := escalationData{
		Lang: r.run.Lang, Session: r.id(), Def: cp.definition(), C: *cp.Checkpoint, Max: e.MaxIterations, PatternAfter: r.cfg.PatternAfter,
		Timeout: cp.timeout(), Dependents: dependentsOf(r, cp.id), Question: string(e.Question),
		Files:   []string{r.run.Path(cp.fileOf(e.Iteration, "")) + "/", r.run.Path(cp.rel("escalation.json"))},
		Options: []string{optRetryMore, optRedesign, optEnvFixed, optSkip, optSkipForced, optAbort},
	}
	for _, h := range cp.History {
		if e.Run != nil && h.Iteration == e.Iteration && h.Run == *e.Run {
			d.Verdict = cp.verdictOf(h)
		}
	}
	return d
}
