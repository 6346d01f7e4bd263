package afl

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// explain adds what no rule can say: how a session ended, which settings are unusable, and how to
// abort the session.
func explain(r *session, w *run.Waiting) {
	switch id := firstUnfinished(r); {
	case r.cfgBad:
		explainSettings(r, w)
	case !r.run.Begun:
	case isFinal(r.run.State.Status) && id != "":
		w.Pass("afl.why.unfinished", "status", r.run.State.Status, "checkpoint", id)
	case isFinal(r.run.State.Status):
		w.Why("afl.why.final", "status", r.run.State.Status)
	default:
		json := fmt.Sprintf(`{"want": "abort", "by": "%s", "reason": "%s"}`, r.run.Say("run.unblock.you"), r.say("unblock.reason"))
		w.Unblock("control.json", r.say("unblock.abort", "json", json))
	}
}

// explainSettings says which settings keep every session from moving.
func explainSettings(r *session, w *run.Waiting) {
	said := false
	for _, p := range []string{upstreamYAML, upstreamJSON} {
		if words := r.run.Notes.Text(r.run.Note(p)); words != "" {
			said = true
			w.Why("say.text", "text", words)
			w.For("run.wait.usable", "file", p, "who", r.run.Say("run.who.person"))
			w.UnblockAt(p, r.say("unblock.settings"))
		}
	}
	if !said {
		files := r.run.Say("list.or", "all", upstreamYAML, "last", upstreamJSON)
		w.Why("afl.why.settings", "files", files)
		w.Written(files)
	}
}

// awaitRevalidation says what a completed checkpoint waits for before its next validation.
func awaitRevalidation(cp *checkpoint, w *run.Waiting) {
	deps, again := cp.r.bases().awaited(cp)
	switch held := cp.r.whyNothingStarts(); {
	case !again:
	case len(deps) > 0:
		w.Why("afl.why.again", "checkpoint", cp.id, "n", len(deps), "names", few(cp.r.run.Lang, deps))
	case held != "":
		w.Why("afl.why.again.held", "checkpoint", cp.id, "why", held)
	default:
		w.Why("afl.why.again.slot", "checkpoint", cp.id)
	}
}

// awaitResume says how to continue a session that a person paused.
func awaitResume(r *session, w *run.Waiting) {
	p := r.run.State.Pause
	if p == nil || p.Reason != pausePerson {
		return
	}
	key := templates.Key("afl.why.paused")
	if p.By != "" {
		key = "afl.why.paused.by"
	}
	w.Why(key, "by", p.By, "at", p.At)
	w.For("afl.wait.resume")
	w.Unblock("control.json", r.say("unblock.resume", "json", fmt.Sprintf(`{"want": "run", "by": "%s"}`, r.run.Say("run.unblock.you"))))
}

// givenBy names who has to supply a file.
func givenBy(r *session, who templates.Key) string { return "(" + r.run.Say(who) + ")" }

// awaitDesign says why the checkpoints are not approved yet.
func awaitDesign(r *session, w *run.Waiting) {
	if !r.mayBeApproved() {
		return
	}
	where, file := string(r.run.State.Status), specsPath(r)
	if p := r.run.State.Pause; p != nil {
		where += " (" + p.Reason + ")"
	}
	switch rel := r.run.Snap.Rel(file); {
	case r.specs.layout == "":
		w.Lacks(rel, givenBy(r, "run.who.agent"), r.say("unblock.checkpoints"),
			"afl.why.checkpoints", "where", where, "file", specsYAML, "files", "checkpoints/*.json")
	case !r.specs.readable && r.run.Held:
		w.Why("afl.why.checkpoints.pending", "where", where, "file", rel)
		w.Written(rel)
	case !r.specs.readable:
		key, notes := templates.Key("afl.why.checkpoints.unreadable"), specsNotes(r)
		if notes != "" {
			key = "afl.why.checkpoints.noted"
		}
		w.Lacks(rel, r.say("wanted.readable"), r.say("unblock.checkpoints.readable"), key, "where", where, "notes", notes)
	default:
		awaitApproval(r, w, file, where)
	}
}

// specsPath returns the path at which the checkpoints are or would be defined.
func specsPath(r *session) string {
	if r.specs.layout == layoutV2 {
		return r.run.Path("checkpoints/")
	}
	return r.run.Path(specsYAML)
}

// specsNotes returns the notes beside the definitions.
func specsNotes(r *session) string {
	words := r.run.Notes.Text(r.run.Note(r.run.Path(specsYAML)))
	for _, d := range v2Files(r) {
		if n := r.run.Notes.Text(r.run.Note(d.Path)); n != "" && r.specs.layout == layoutV2 {
			words += "\n" + n
		}
	}
	return strings.TrimSpace(words)
}

// awaitApproval says what the approval of readable checkpoints waits for.
func awaitApproval(r *session, w *run.Waiting, file, where string) {
	rel, blocked := r.run.Snap.Rel(file), false
	for _, f := range r.specs.findings {
		if f.blocks() {
			blocked = true
			w.Why("afl.why.design", "where", where, "finding", f.line())
		}
	}
	if blocked {
		w.For("afl.wait.design", "file", rel)
		w.UnblockAt(file, r.say("unblock.design"))
	}
	wished := r.run.State.Specs.wished()
	switch open := r.run.Open(typeApproval); {
	case open != nil:
		w.Answer(open, "afl.why.approval", "where", where)
	case wished != nil:
		w.Lacks(rel, r.say("wanted.changed"), r.say("unblock.changed"),
			"afl.why.changed", "where", where, "by", orWord(string(wished.By), r.say("somebody")), "at", wished.At, "file", r.run.Path("changes.md"))
	case w.Moving == "":
		w.Why("afl.why.quiet", "where", where, "time", r.cfg.ApprovalQuiet, "at", r.run.Wake.UTC().Format(stamp))
		w.For("afl.wait.quiet", "file", rel, "time", r.cfg.ApprovalQuiet)
	}
	// A stamp does not count if the gate demands more than a claim.
	if !blocked && !gate.Demands(r.run.Snap.Facts.Config.GateFor("afl", typeApproval)) {
		awaitStamp(r, w, file)
	}
}

// awaitStamp names the ways to approve without an answer.
func awaitStamp(r *session, w *run.Waiting, file string) {
	p := r.run.State.Pause
	if p == nil && r.run.State.Specs.ChangesRequested == nil {
		w.Unblock("meta.json", r.say("unblock.approve", "json", `"checkpointsApproved": true`))
	}
	switch {
	case r.specs.layout != layoutV1:
	case p == nil:
		w.UnblockAt(file, r.say("unblock.stamp"))
	default:
		w.UnblockAt(file, r.say("unblock.stamp.after", "at", p.At))
	}
}

// awaitReview says what the review of the whole waits for.
func awaitReview(r *session, w *run.Waiting) {
	v := r.run.State.Review
	if all, _ := r.finished(); !all || v == nil || v.Status != run.Open {
		return
	}
	if q := r.run.Request(string(v.RequestID)); q != nil && q.Status == run.Open {
		w.Answer(q, "afl.why.review", "round", v.Round)
		return
	}
	name := numbered("review", v.Round)
	w.Lacks(name, r.say("wanted.reviewer"), r.say("unblock.review", "json", `{"findings": []}`), "afl.why.review.file", "round", v.Round, "file", name)
}

// whyNothingStarts returns why no attempt may start, or "".
func (r *session) whyNothingStarts() string {
	switch st := r.run.State; {
	case st.Pause != nil:
		return r.say("why.nothing.paused", "reason", st.Pause.Reason)
	case st.Status == Approving:
		return r.say("why.nothing.approving")
	case len(r.slots().escalated) > 0:
		return r.say("why.nothing.escalated", "names", few(r.run.Lang, r.slots().escalated))
	case st.Status != Delegating:
		return r.say("why.nothing.status", "status", st.Status)
	}
	return ""
}

// awaitStart says what a checkpoint waits for before its first attempt.
func awaitStart(cp *checkpoint, w *run.Waiting) {
	r, unmet := cp.r, cp.unmet()
	switch held := r.whyNothingStarts(); {
	case len(unmet) > 0:
		w.Why("afl.why.waits", "checkpoint", cp.id, "status", Pending, "what", strings.Join(unmet, ", "))
	case held != "":
		w.Why("afl.why.held", "checkpoint", cp.id, "status", Pending, "why", held)
	case len(r.slots().taken) >= r.cfg.Workers:
		awaitSlot(cp, w, Pending, r.slots().taken)
	case r.cfg.isWithheld():
		w.Why("afl.why.withheld", "checkpoint", cp.id, "status", Pending)
	default:
		w.Pass("afl.why.starts", "checkpoint", cp.id)
	}
}

// awaitRetry says when the next attempt of a checkpoint starts.
func awaitRetry(cp *checkpoint, w *run.Waiting) {
	r, next := cp.r, cp.Iteration+1
	switch held := r.whyNothingStarts(); {
	case held != "":
		w.Why("afl.why.held", "checkpoint", cp.id, "status", Retrying, "why", held)
	case r.run.Snap.Now.Before(cp.RetryAt.Time()):
		w.Why("afl.why.retry", "checkpoint", cp.id, "status", Retrying, "attempt", next, "at", cp.RetryAt)
		w.For("afl.wait.retry", "attempt", next, "checkpoint", cp.id, "at", cp.RetryAt)
	case len(r.slots().running) >= r.cfg.Workers:
		awaitSlot(cp, w, Retrying, r.slots().running)
	default:
		w.Pass("afl.why.retry.next", "attempt", next, "checkpoint", cp.id)
	}
}

// awaitSlot says that a checkpoint waits for others to end.
func awaitSlot(cp *checkpoint, w *run.Waiting, status engine.Status, taken []string) {
	workers := cp.r.cfg.Workers
	if workers > 1 {
		workers = max(workers, len(taken))
	}
	w.Why("afl.why.slot", "checkpoint", cp.id, "status", status, "n", workers, "names", few(cp.r.run.Lang, taken))
}

// mostNamed is how many checkpoints one line names.
const mostNamed = 20

// few lists checkpoints on one line. It is short because the line repeats for every checkpoint that
// waits for them.
func few(lang string, ids []string) string {
	if more := len(ids) - mostNamed; more > 0 {
		return templates.Phrase(lang, "list.more", "all", strings.Join(ids[:mostNamed], ", "), "n", more)
	}
	return strings.Join(ids, ", ")
}

// awaitAnswer says that a checkpoint waits for a person.
func awaitAnswer(cp *checkpoint, w *run.Waiting) {
	typ, key := typeClarification, templates.Key("afl.why.question")
	if cp.Status == Escalated {
		typ, key = typeEscalation, "afl.why.decision"
	}
	if q := cp.open(typ); q != nil {
		w.Answer(q, key, "checkpoint", cp.id, "status", cp.Status)
	}
}

// awaitWorker says what an attempt waits for while a worker works on it.
func awaitWorker(cp *checkpoint, w *run.Waiting) {
	if cp.Status != InProgress {
		return
	}
	r, report := cp.r, cp.file("worker.json")
	waits := r.say("why.attempt", "checkpoint", cp.id, "status", InProgress, "attempt", cp.Iteration, "max", cp.MaxIterations, "at", cp.LastAttemptAt)
	if q := cp.open(typeInterrupted); q != nil {
		w.Answer(q, "afl.why.worker_lost", "waits", waits)
	} else if cp.isCommandWorker() {
		awaitCommand(cp, w, waits, cp.workerAction(), r.say("command.worker", "start", cp.Worker.Number, "at", cp.Worker.Deadline), cp.Worker.StartedAt)
		w.For("afl.wait.worker", "checkpoint", cp.id)
	} else {
		w.Why(whyOutside(cp), "waits", waits, "prompt", r.run.Path(cp.file("prompt.md")), "file", spoken(report), "attempt", cp.Iteration)
		w.For("run.wait.file", "file", report, "wanted", givenBy(r, "run.who.agent"))
	}
	w.Unblock(report, r.say("unblock.worker", "json", `{"status": "completed"}`,
		"failed", `"failed"`, "message", `"message"`, "question", `"question"`))
}

// whyOutside returns the key of the reason why the worker command does not work on the attempt,
// although it might be able to now. The worker of an attempt is fixed when the attempt begins.
func whyOutside(cp *checkpoint) templates.Key {
	switch digest := cp.r.cfg.workerDigest(); {
	case digest == "":
		return "afl.why.outside"
	case !cp.r.run.Snap.Facts.Trusts(digest, worktree(cp.id)):
		return "afl.why.outside.untrusted"
	}
	return "afl.why.outside.next"
}

// awaitCommand says whether the awaited command is running.
func awaitCommand(cp *checkpoint, w *run.Waiting, waits string, a engine.Action, command string, started text) {
	key := templates.Key("afl.why.command")
	if cp.r.run.Snap.Facts.Alive[a.ID] {
		key = "afl.why.command.alive"
	}
	w.Why(key, "waits", waits, "command", command, "at", started)
}

// spoken shortens the path of an attempt's file for people: iterations/2/result.json.
func spoken(rel string) string {
	if at := strings.Index(rel, "/iterations/"); at >= 0 {
		return rel[at+1:]
	}
	return rel
}

// shownCommand is how much of a command explain shows, in characters.
const shownCommand = 80

// awaitVerdict says what an attempt waits for during its validation.
func awaitVerdict(cp *checkpoint, w *run.Waiting) {
	r, result := cp.r, cp.file("result.json")
	changed := cp.open(typeChanged)
	switch q := cp.open(typeInterrupted); {
	case q != nil:
		w.Answer(q, "afl.why.run_lost", "checkpoint", cp.id, "status", Validating)
	case changed != nil:
		w.Answer(changed, "afl.why.changed_command", "checkpoint", cp.id, "status", Validating, "files", cp.stoppedAt(changed).names())
	case cp.AnalysisUntil != "":
		analysis := cp.file("analysis.json")
		w.Lacks(analysis, givenBy(r, "run.who.agent"), r.say("unblock.analysis", "json", `{"failure_type": "…"}`),
			"afl.why.analysis", "checkpoint", cp.id, "status", Validating, "file", spoken(analysis), "at", cp.AnalysisUntil)
	case cp.Run != nil && cp.Run.Mode == modeCommand && cp.def != nil:
		waits := r.say("why.validating", "checkpoint", cp.id, "status", Validating)
		awaitCommand(cp, w, waits, cp.validationAction(), r.say("command.validation", "run", cp.Run.Number, "time", cp.timeout()), cp.Run.StartedAt)
		w.For("afl.wait.validation", "checkpoint", cp.id)
	case cp.isByCommand():
		w.Why("afl.why.trust", "checkpoint", cp.id, "status", Validating,
			"command", templates.Line(string(cp.def.Command), shownCommand), "file", spoken(result), "word", `"`+validateCommand+`"`)
		w.For("afl.wait.trust", "checkpoint", cp.id)
	default:
		json := fmt.Sprintf(`{"iteration": %d, "exitCode": 0, "output": "%s"}`, cp.Iteration, r.say("unblock.output"))
		w.Lacks(result, givenBy(r, "run.who.agent"), json, "afl.why.waits", "checkpoint", cp.id, "status", Validating, "what", spoken(result))
	}
}
