package afl

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// explain adds what no rule says: how a session ended, settings that cannot be used, what
// is validated again, and how it is aborted.
func (r *session) explain(w *run.Waiting) {
	switch id, left := r.unfinished(); {
	case r.cfgBad:
		r.explainSettings(w)
		return
	case !r.Begun:
		return
	case final(r.State.Status) && left:
		w.Pass("the session is %s; its checkpoints, %s first, end at the next pass", r.State.Status, id)
		return
	case final(r.State.Status):
		w.Why("status %s is final: nothing moves this session", r.State.Status)
		return
	}
	r.explainRevalidation(w)
	w.Unblock("control.json", `{"want": "abort", "by": "<you>", "reason": "<why>"} aborts the session (placet afl abort)`)
}

func (r *session) explainSettings(w *run.Waiting) {
	said := false
	for _, p := range []string{upstreamYAML, upstreamJSON} {
		if words := r.Notes.Text(r.Note(p)); words != "" {
			said = true
			w.Why("%s", words)
			w.For("%s that can be used (person)", p)
			w.UnblockAt(p, "settings that can be used")
		}
	}
	if !said {
		w.Why("%s or %s is still being written: no AFL session moves meanwhile", upstreamYAML, upstreamJSON)
		w.Written(upstreamYAML + " or " + upstreamJSON)
	}
}

// awaitsResume says how a session goes on that a person paused.
func (r *session) awaitsResume(w *run.Waiting) {
	p := r.State.Pause
	if p == nil || p.Reason != pausePerson {
		return
	}
	by := ""
	if p.By != "" {
		by = " by " + string(p.By)
	}
	w.Why("nothing starts: the session was paused%s at %s", by, p.At)
	w.For("placet afl resume (person)")
	w.Unblock("control.json", `{"want": "run", "by": "<you>"} has it go on (placet afl resume)`)
}

// awaitsDesign says why the checkpoints are not approved.
func (r *session) awaitsDesign(w *run.Waiting) {
	if !r.mayBeApproved() {
		return
	}
	where := string(r.State.Status)
	if p := r.State.Pause; p != nil {
		where += " (" + p.Reason + ")"
	}
	file := r.specsFile()
	switch rel := r.Snap.Rel(file); {
	case r.specs.layout == "":
		w.Why("%s waits for checkpoints: there is neither %s nor checkpoints/*.json", where, specsYAML)
		w.For("%s (agent)", rel)
		w.UnblockAt(file, "the checkpoints")
	case !r.specs.readable && r.Held:
		w.Why("%s waits for %s, which is still being written", where, rel)
		w.Written(rel)
	case !r.specs.readable:
		w.Why("%s waits for checkpoints that can be read%s", where, r.specsNotes())
		w.For("%s that can be read (agent)", rel)
		w.UnblockAt(file, "checkpoints that can be read")
	default:
		r.awaitsApproval(w, file, where)
	}
}

// specsFile is where the checkpoints stand, or would.
func (r *session) specsFile() string {
	if r.specs.layout == layoutV2 {
		return r.Path("checkpoints/")
	}
	return r.Path(specsYAML)
}

func (r *session) specsNotes() string {
	words := r.Notes.Text(r.Note(r.Path(specsYAML)))
	for _, d := range r.v2Files() {
		if n := r.Notes.Text(r.Note(d.Path)); n != "" && r.specs.layout == layoutV2 {
			words += "\n" + n
		}
	}
	if words = strings.TrimSpace(words); words == "" {
		return ""
	}
	return ": " + words
}

func (r *session) awaitsApproval(w *run.Waiting, file, where string) {
	rel := r.Snap.Rel(file)
	blocked := false
	for _, f := range r.specs.findings {
		if f.blocks() {
			blocked = true
			w.Why("%s cannot begin: %s", where, f.line())
		}
	}
	if blocked {
		w.For("%s without errors (agent)", rel)
		w.UnblockAt(file, "checkpoints without these errors")
	}
	wish := r.State.Specs.ChangesRequested
	switch open := r.Open(typeApproval); {
	case open != nil:
		w.Answer(open, "%s waits for an approval", where)
	case wish != nil && wish.Digest == r.State.Specs.Digest:
		w.Why("%s waits for other checkpoints: %s asked for changes at %s, see %s", where, orWord(string(wish.By), "somebody"), wish.At, r.Path("changes.md"))
		w.For("%s with the changes (agent)", rel)
		w.UnblockAt(file, "the checkpoints with the changes")
	case w.Moving == "":
		w.Why("%s waits until nobody has touched the checkpoints for %s (approval_quiet): then approval is asked for, at %s", where, r.cfg.ApprovalQuiet, r.Wake.UTC().Format(stamp))
		w.For("%s to be left alone for %s (placet)", rel, r.cfg.ApprovalQuiet)
	}
	if !blocked {
		r.awaitsStamp(w, file)
	}
}

// awaitsStamp names the approvals besides an answer.
func (r *session) awaitsStamp(w *run.Waiting, file string) {
	if gate.Demands(r.Snap.Facts.Config.GateFor("afl", typeApproval)) {
		return // none of them counts
	}
	p := r.State.Pause
	if p == nil && r.State.Specs.ChangesRequested == nil {
		w.Unblock("meta.json", `"checkpointsApproved": true approves them`)
	}
	if r.specs.layout == layoutV1 {
		words := "approved_at: <now> approves them"
		if p != nil {
			words = fmt.Sprintf("approved_at: <a moment after %s> approves them", p.At)
		}
		w.UnblockAt(file, words)
	}
}

// awaitsReview says what the look at the whole waits for.
func (r *session) awaitsReview(w *run.Waiting) {
	v := r.State.Review
	if all, _ := r.finished(); !all || v == nil || v.Status != run.Open {
		return
	}
	if q := r.Request(string(v.RequestID)); q != nil && q.Status == run.Open {
		w.Answer(q, "review round %d waits for an answer", v.Round)
		return
	}
	name := numbered("review", v.Round)
	w.Why("review round %d waits for %s by an outside reviewer", v.Round, name)
	w.For("%s (reviewer)", name)
	w.Unblock(name, `{"findings": []} completes the session; a blocking finding has its checkpoint worked on again`)
}

// whyNothingStarts says why nothing starts at all, "" where something may.
func (r *session) whyNothingStarts() string {
	switch st := r.State; {
	case st.Pause != nil:
		return "nothing starts: the session is paused (" + st.Pause.Reason + ")"
	case st.Status == Approving:
		return "nothing starts before the approved definitions are applied"
	case len(r.slots().escalated) > 0:
		return "nothing starts while " + few(r.slots().escalated) + " waits for a person"
	case st.Status != Delegating:
		return "nothing starts: the session is " + string(st.Status)
	}
	return ""
}

// awaitsStart says what a checkpoint waits for before its first attempt.
func (r *session) awaitsStart(w *run.Waiting) {
	id, taken := w.Subject, r.slots().taken
	unmet := r.unmet(id)
	switch held := r.whyNothingStarts(); {
	case len(unmet) > 0:
		w.Why("%s waits in pending for %s", id, strings.Join(unmet, ", "))
	case held != "":
		w.Why("%s waits in pending: %s", id, held)
	case len(taken) >= r.cfg.Workers:
		w.Why("%s waits in pending for a slot: %s by %s (parallel_workers)", id, slotsTaken(len(taken), r.cfg.Workers), few(taken))
	case r.withheld():
		w.Why("%s waits in pending: no command may begin", id)
	default:
		w.Pass("%s starts as soon as what is before it has moved", id)
	}
}

// mostNamed is how many checkpoints one line names.
const mostNamed = 20

// few are checkpoints in one line, which is repeated for each that waits for them.
func few(ids []string) string {
	if more := len(ids) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:mostNamed], ", "), more)
	}
	return strings.Join(ids, ", ")
}

func slotsTaken(taken, all int) string {
	if all == 1 {
		return "the one is taken"
	}
	return fmt.Sprintf("all %d are taken", max(taken, all))
}

// unmet are the dependencies that keep a checkpoint from starting.
func (r *session) unmet(id string) []string {
	d := r.defs[id]
	if d == nil {
		return nil
	}
	var list []string
	for _, dep := range d.Dependencies {
		if !isMet(r.checkpoint(dep)) {
			list = append(list, fmt.Sprintf("%s (%s)", dep, r.statusOf(dep)))
		}
	}
	return list
}

// awaitsRetry says when the next attempt of a checkpoint starts.
func (r *session) awaitsRetry(w *run.Waiting) {
	id, running := w.Subject, r.slots().running
	c := r.checkpoint(id)
	switch held := r.whyNothingStarts(); {
	case held != "":
		w.Why("%s waits in retrying: %s", id, held)
	case r.Snap.Now.Before(c.RetryAt.Time()):
		w.Why("%s waits in retrying for its moment: attempt %d starts at %s", id, c.Iteration+1, c.RetryAt)
		w.For("attempt %d of %s at %s (placet)", c.Iteration+1, id, c.RetryAt)
	case len(running) >= r.cfg.Workers:
		w.Why("%s waits in retrying for a slot: %s by %s (parallel_workers)", id, slotsTaken(len(running), r.cfg.Workers), few(running))
	default:
		w.Pass("attempt %d of %s starts as soon as what is before it has moved", c.Iteration+1, id)
	}
}

// awaitsAnswer says that a checkpoint waits for a person.
func (r *session) awaitsAnswer(w *run.Waiting) {
	id, typ, what := w.Subject, typeClarification, "an answer to its worker's question"
	if r.statusOf(id) == Escalated {
		typ, what = typeEscalation, "a decision"
	}
	if q := r.OpenAbout(typ, id); q != nil {
		w.Answer(q, "%s waits in %s for %s", id, r.statusOf(id), what)
	}
}

// awaitsWorker says what an attempt waits for that a worker has in hand.
func (r *session) awaitsWorker(w *run.Waiting) {
	id := w.Subject
	c := r.checkpoint(id)
	if c.Status != InProgress {
		return
	}
	report := place(id, c.Iteration, "worker.json")
	says := fmt.Sprintf("%s waits in in_progress (attempt %d/%d, since %s)", id, c.Iteration, c.MaxIterations, c.LastAttemptAt)
	if q := r.OpenAbout(typeInterrupted, id); q != nil {
		w.Answer(q, "%s: nobody knows what became of the worker command", says)
	} else if c.Worker != nil && c.Worker.Mode == modeCommand {
		r.awaitsCommand(w, says, r.workerAction(id, c), fmt.Sprintf("worker command (start %d, until %s)", c.Worker.Number, c.Worker.Deadline), c.Worker.StartedAt)
		w.For("the worker command of %s (agent)", id)
	} else {
		w.Why("%s for a worker that reads %s and writes %s%s", says, r.Path(place(id, c.Iteration, "prompt.md")), spoken(report), r.whyOutside(id, c))
		w.For("%s (agent)", report)
	}
	w.Unblock(report, `{"status": "completed"} has the attempt validated; "failed" with a "message", or "question" with a "question", are the other words`)
}

// whyOutside says why the worker command does not work on an attempt that it could work on
// by now: who works on an attempt is settled when it begins.
func (r *session) whyOutside(id string, c *Checkpoint) string {
	switch digest := r.workerDigest(); {
	case digest == "":
		return ""
	case !r.Snap.Facts.Trusts(digest, worktree(id)):
		return fmt.Sprintf("; the worker command waits for trust (placet trust), and begins with an attempt after %d", c.Iteration)
	}
	return fmt.Sprintf("; attempt %d is worked on outside: the worker command begins with the next attempt", c.Iteration)
}

// awaitsCommand says whether a command that is waited for is under way.
func (r *session) awaitsCommand(w *run.Waiting, says string, a engine.Action, what string, started text) {
	if r.Snap.Facts.Alive[a.ID] {
		w.Why("%s for its %s: it runs since %s", says, what, started)
		return
	}
	w.Why("%s for its %s: the daemon, or placet once, carries it out", says, what)
}

// spoken is a path of an attempt as people say it: iterations/2/result.json.
func spoken(rel string) string {
	if at := strings.Index(rel, "/iterations/"); at >= 0 {
		return rel[at+1:]
	}
	return rel
}

// awaitsVerdict says what an attempt waits for that is validated.
func (r *session) awaitsVerdict(w *run.Waiting) {
	id := w.Subject
	c := r.checkpoint(id)
	says := id + " waits in validating"
	switch q := r.OpenAbout(typeInterrupted, id); {
	case q != nil:
		w.Answer(q, "%s: nobody knows how the validation ended", says)
	case c.AnalysisUntil != "":
		analysis := place(id, c.Iteration, "analysis.json")
		w.Why("%s for %s, until %s (oracle_wait)", says, spoken(analysis), c.AnalysisUntil)
		w.For("%s (agent)", analysis)
		w.Unblock(analysis, `{"failure_type": "…"} says what kind of failure it is`)
	case c.Run != nil && c.Run.Mode == modeCommand && r.defs[id] != nil:
		what := fmt.Sprintf("validation (run %d, at most %s)", c.Run.Number, r.timeout(id))
		r.awaitsCommand(w, says, r.validationAction(id, c), what, c.Run.StartedAt)
		w.For("the validation command of %s (placet)", id)
	default:
		r.awaitsResult(w, id, c, says)
	}
}

// awaitsResult says that an attempt is validated outside, unless its command is trusted.
func (r *session) awaitsResult(w *run.Waiting, id string, c *Checkpoint, says string) {
	file := place(id, c.Iteration, "result.json")
	d := r.definition(id)
	if r.byCommand(d) {
		w.Why("%s for trust in `%s` (placet trust); %s does not count, for afl.validation is \"command\"", says, oneLine(string(d.Command), shownCommand), spoken(file))
		w.For("placet trust for the validation command of %s (person)", id)
		return
	}
	w.Why("%s for %s", says, spoken(file))
	w.For("%s (agent)", file)
	w.Unblock(file, fmt.Sprintf(`{"iteration": %d, "exitCode": 0, "output": "<what the tests printed>"}`, c.Iteration))
}

// shownCommand is how much of a command explain shows, in characters.
const shownCommand = 80
