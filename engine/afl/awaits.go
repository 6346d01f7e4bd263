package afl

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// explain adds what no rule says: how a session ended, settings that cannot be used, and
// how it is aborted.
func explain(r *session, w *run.Waiting) {
	switch id := r.unfinished(); {
	case r.cfgBad:
		explainSettings(r, w)
	case !r.Begun:
	case isFinal(r.State.Status) && id != "":
		w.Pass("the session is %s; its checkpoints, %s first, end at the next pass", r.State.Status, id)
	case isFinal(r.State.Status):
		w.Why("status %s is final: nothing moves this session", r.State.Status)
	default:
		w.Unblock("control.json", `{"want": "abort", "by": "<you>", "reason": "<why>"} aborts the session (placet afl abort)`)
	}
}

// explainSettings says why no session moves.
func explainSettings(r *session, w *run.Waiting) {
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

// awaitRevalidation says what a completed checkpoint waits for before it is validated
// again.
func awaitRevalidation(cp *checkpoint, w *run.Waiting) {
	deps, again := cp.r.bases().awaited(cp)
	switch held := cp.r.whyNothingStarts(); {
	case !again:
	case len(deps) == 1:
		w.Why("%s is completed, and is validated again once %s has ended anew", cp.id, deps[0])
	case len(deps) > 0:
		w.Why("%s is completed, and is validated again once %s have ended anew", cp.id, few(deps))
	case held != "":
		w.Why("%s is to be validated again: %s", cp.id, held)
	default:
		w.Why("%s is to be validated again as soon as a slot is free (parallel_workers)", cp.id)
	}
}

// awaitResume says how a session goes on that a person paused.
func awaitResume(r *session, w *run.Waiting) {
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

// awaitDesign says why the checkpoints are not approved.
func awaitDesign(r *session, w *run.Waiting) {
	if !r.mayBeApproved() {
		return
	}
	where, file := string(r.State.Status), r.specsFile()
	if p := r.State.Pause; p != nil {
		where += " (" + p.Reason + ")"
	}
	switch rel := r.Snap.Rel(file); {
	case r.specs.layout == "":
		w.Lacks(rel, "(agent)", "the checkpoints", "%s waits for checkpoints: there is neither %s nor checkpoints/*.json", where, specsYAML)
	case !r.specs.readable && r.Held:
		w.Why("%s waits for %s, which is still being written", where, rel)
		w.Written(rel)
	case !r.specs.readable:
		w.Lacks(rel, "that can be read (agent)", "checkpoints that can be read", "%s waits for checkpoints that can be read%s", where, specsNotes(r))
	default:
		awaitApproval(r, w, file, where)
	}
}

// specsFile is where the checkpoints stand, or would.
func (r *session) specsFile() string {
	if r.specs.layout == layoutV2 {
		return r.Path("checkpoints/")
	}
	return r.Path(specsYAML)
}

// specsNotes are the notes beside the checkpoints.
func specsNotes(r *session) string {
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

// awaitApproval says what an approval of checkpoints that can be read waits for.
func awaitApproval(r *session, w *run.Waiting, file, where string) {
	rel, blocked := r.Snap.Rel(file), false
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
	wished := r.State.Specs.wished()
	switch open := r.Open(typeApproval); {
	case open != nil:
		w.Answer(open, "%s waits for an approval", where)
	case wished != nil:
		w.Lacks(rel, "with the changes (agent)", "the checkpoints with the changes", "%s waits for other checkpoints: %s asked for changes at %s, see %s", where, orWord(string(wished.By), "somebody"), wished.At, r.Path("changes.md"))
	case w.Moving == "":
		w.Why("%s waits until nobody has touched the checkpoints for %s (approval_quiet): then approval is asked for, at %s", where, r.cfg.ApprovalQuiet, r.Wake.UTC().Format(stamp))
		w.For("%s to be left alone for %s (placet)", rel, r.cfg.ApprovalQuiet)
	}
	// Where the gate demands more than a claim no stamp counts.
	if !blocked && !gate.Demands(r.Snap.Facts.Config.GateFor("afl", typeApproval)) {
		awaitStamp(r, w, file)
	}
}

// awaitStamp names the approvals besides an answer.
func awaitStamp(r *session, w *run.Waiting, file string) {
	p := r.State.Pause
	if p == nil && r.State.Specs.ChangesRequested == nil {
		w.Unblock("meta.json", `"checkpointsApproved": true approves them`)
	}
	if r.specs.layout == layoutV1 {
		moment := "now"
		if p != nil {
			moment = "a moment after " + string(p.At)
		}
		w.UnblockAt(file, "approved_at: <"+moment+"> approves them")
	}
}

// awaitReview says what the look at the whole waits for.
func awaitReview(r *session, w *run.Waiting) {
	v := r.State.Review
	if all, _ := r.finished(); !all || v == nil || v.Status != run.Open {
		return
	}
	if q := r.Request(string(v.RequestID)); q != nil && q.Status == run.Open {
		w.Answer(q, "review round %d waits for an answer", v.Round)
		return
	}
	name := numbered("review", v.Round)
	w.Lacks(name, "(reviewer)", `{"findings": []} completes the session; a blocking finding has its checkpoint worked on again`, "review round %d waits for %s by an outside reviewer", v.Round, name)
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

// awaitStart says what a checkpoint waits for before its first attempt.
func awaitStart(cp *checkpoint, w *run.Waiting) {
	r, unmet := cp.r, cp.unmet()
	says := cp.id + " waits in pending"
	switch held := r.whyNothingStarts(); {
	case len(unmet) > 0:
		w.Why("%s for %s", says, strings.Join(unmet, ", "))
	case held != "":
		w.Why("%s: %s", says, held)
	case len(r.slots().taken) >= r.cfg.Workers:
		awaitSlot(r, w, says, r.slots().taken)
	case r.cfg.isWithheld():
		w.Why("%s: no command may begin", says)
	default:
		w.Pass("%s starts as soon as what is before it has moved", cp.id)
	}
}

// awaitRetry says when the next attempt of a checkpoint starts.
func awaitRetry(cp *checkpoint, w *run.Waiting) {
	r, next, says := cp.r, cp.Iteration+1, cp.id+" waits in retrying"
	switch held := r.whyNothingStarts(); {
	case held != "":
		w.Why("%s: %s", says, held)
	case r.Snap.Now.Before(cp.RetryAt.Time()):
		w.Why("%s for its moment: attempt %d starts at %s", says, next, cp.RetryAt)
		w.For("attempt %d of %s at %s (placet)", next, cp.id, cp.RetryAt)
	case len(r.slots().running) >= r.cfg.Workers:
		awaitSlot(r, w, says, r.slots().running)
	default:
		w.Pass("attempt %d of %s starts as soon as what is before it has moved", next, cp.id)
	}
}

// awaitSlot says that a checkpoint waits until others have ended.
func awaitSlot(r *session, w *run.Waiting, says string, taken []string) {
	words := fmt.Sprintf("all %d are taken", max(len(taken), r.cfg.Workers))
	if r.cfg.Workers == 1 {
		words = "the one is taken"
	}
	w.Why("%s for a slot: %s by %s (parallel_workers)", says, words, few(taken))
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

// awaitAnswer says that a checkpoint waits for a person.
func awaitAnswer(cp *checkpoint, w *run.Waiting) {
	typ, what := typeClarification, "an answer to its worker's question"
	if cp.Status == Escalated {
		typ, what = typeEscalation, "a decision"
	}
	if q := cp.open(typ); q != nil {
		w.Answer(q, "%s waits in %s for %s", cp.id, cp.Status, what)
	}
}

// awaitWorker says what an attempt waits for that a worker has in hand.
func awaitWorker(cp *checkpoint, w *run.Waiting) {
	if cp.Status != InProgress {
		return
	}
	report := cp.file("worker.json")
	says := fmt.Sprintf("%s waits in in_progress (attempt %d/%d, since %s)", cp.id, cp.Iteration, cp.MaxIterations, cp.LastAttemptAt)
	if q := cp.open(typeInterrupted); q != nil {
		w.Answer(q, "%s: nobody knows what became of the worker command", says)
	} else if cp.isCommandWorker() {
		awaitCommand(cp, w, says, cp.workerAction(), fmt.Sprintf("worker command (start %d, until %s)", cp.Worker.Number, cp.Worker.Deadline), cp.Worker.StartedAt)
		w.For("the worker command of %s (agent)", cp.id)
	} else {
		w.Why("%s for a worker that reads %s and writes %s%s", says, cp.r.Path(cp.file("prompt.md")), spoken(report), whyOutside(cp))
		w.For("%s (agent)", report)
	}
	w.Unblock(report, `{"status": "completed"} has the attempt validated; "failed" with a "message", or "question" with a "question", are the other words`)
}

// whyOutside says why the worker command does not work on an attempt that it could work on
// now: who works on an attempt is settled when it begins.
func whyOutside(cp *checkpoint) string {
	switch digest := cp.r.cfg.workerDigest(); {
	case digest == "":
		return ""
	case !cp.r.Snap.Facts.Trusts(digest, worktree(cp.id)):
		return fmt.Sprintf("; the worker command waits for trust (placet trust), and begins with an attempt after %d", cp.Iteration)
	}
	return fmt.Sprintf("; attempt %d is worked on outside: the worker command begins with the next attempt", cp.Iteration)
}

// awaitCommand says whether a command that is waited for is under way.
func awaitCommand(cp *checkpoint, w *run.Waiting, says string, a engine.Action, what string, started text) {
	if cp.r.Snap.Facts.Alive[a.ID] {
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

// shownCommand is how much of a command explain shows, in characters.
const shownCommand = 80

// awaitVerdict says what an attempt waits for that is validated.
func awaitVerdict(cp *checkpoint, w *run.Waiting) {
	says, result := cp.id+" waits in validating", cp.file("result.json")
	switch q := cp.open(typeInterrupted); {
	case q != nil:
		w.Answer(q, "%s: nobody knows how the validation ended", says)
	case cp.AnalysisUntil != "":
		analysis := cp.file("analysis.json")
		w.Lacks(analysis, "(agent)", `{"failure_type": "…"} says what kind of failure it is`, "%s for %s, until %s (oracle_wait)", says, spoken(analysis), cp.AnalysisUntil)
	case cp.Run != nil && cp.Run.Mode == modeCommand && cp.def != nil:
		what := fmt.Sprintf("validation (run %d, at most %s)", cp.Run.Number, cp.timeout())
		awaitCommand(cp, w, says, cp.validationAction(), what, cp.Run.StartedAt)
		w.For("the validation command of %s (placet)", cp.id)
	case cp.isByCommand():
		w.Why("%s for trust in `%s` (placet trust); %s does not count, for afl.validation is \"command\"", says, oneLine(string(cp.def.Command), shownCommand), spoken(result))
		w.For("placet trust for the validation command of %s (person)", cp.id)
	default:
		w.Lacks(result, "(agent)", fmt.Sprintf(`{"iteration": %d, "exitCode": 0, "output": "<what the tests printed>"}`, cp.Iteration), "%s for %s", says, spoken(result))
	}
}
