package afl

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/schemas"
	"placet/templates"
)

// isStopped reports whether an attempt waits only because its validation command is not trusted.
func (cp *checkpoint) isStopped() bool {
	return cp.Status == Validating && cp.Run != nil && cp.Run.Mode == modeResult && cp.isByCommand() && !cp.isRunnable() && !cp.usesResult()
}

// changedNow returns the files that keep the validation command of an attempt from running, if a
// person can be asked about them now: the command was agreed to with other contents of these
// files, and they are settled.
func changedNow(cp *checkpoint) []engine.ChangedFile {
	if !cp.isStopped() {
		return nil
	}
	files := cp.r.run.Snap.Facts.ChangedFiles(cp.validationDigest(), worktree(cp.id))
	for _, f := range files {
		if strings.ContainsAny(f.Path, `*?[\:`) {
			return nil // no need can name it: it is for placet trust
		}
		if d, known := cp.r.run.Fact(f.Path); !known || cp.r.run.Undecidable(d) || d.Sum != f.Now {
			return nil // another look follows
		}
	}
	return files
}

// askChanged asks a person whether a validation command may run although files that it names have
// changed. Files that change again are asked about anew, not more often than every approval_quiet.
func askChanged(cp *checkpoint) *move {
	r, open := cp.r, cp.open(typeChanged)
	if cp.isStopped() && cp.attempt().isPending() {
		return nil
	}
	files := changedNow(cp)
	if len(files) == 0 || open != nil && cp.Stopped.isAbout(files) || open != nil && !r.run.Due(run.Millis(open.OpenedAt.Time().Add(r.cfg.ApprovalQuiet))) {
		return nil
	}
	asked := stoppedBy(cp, files)
	return cp.move(r.say("move.command_changed", "files", asked.names()), func(s *step) {
		s.closeRequests(gate.Superseded, r.say("move.asked_instead"), typeChanged)
		asked.RequestID = r.requestID(typeChanged, cp.id, s.Revision)
		s.c.Stopped = asked
		s.ask(typeChanged)
	})
}

// shownDifference limits the difference of a file in a request, in bytes.
const shownDifference = 16 << 10

// stoppedBy returns the question about changed files.
func stoppedBy(cp *checkpoint, files []engine.ChangedFile) *Stopped {
	s := &Stopped{Command: string(cp.def.Command), CommandDigest: text(cp.validationDigest()), MayChange: cp.r.cfg.MayChange}
	for _, f := range files {
		s.Files = append(s.Files, ChangedFile{Path: f.Path, Was: text(f.Was), Now: text(f.Now), Difference: text(cp.r.difference(f))})
	}
	return s
}

// difference returns how a file differs from the one that was agreed to, "" if that is not known,
// or if git ignores the file, which may hold what must not come into git.
func (r *session) difference(f engine.ChangedFile) string {
	if f.Then == nil || !run.MayShow(&r.run.Input, f.Path) {
		return ""
	}
	lines, more := gate.Difference(*f.Then, string(r.run.Snap.Doc(f.Path).Body))
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… +%d", more))
	}
	return templates.Cut(strings.Join(lines, "\n"), shownDifference)
}

// isAbout reports whether a question is about these files as they are.
func (s *Stopped) isAbout(files []engine.ChangedFile) bool {
	return s != nil && slices.EqualFunc(s.Files, files, func(a ChangedFile, b engine.ChangedFile) bool {
		return a.Path == b.Path && string(a.Now) == string(b.Now)
	})
}

// names lists the changed files.
func (s *Stopped) names() string {
	var all []string
	for _, f := range s.Files {
		all = append(all, f.Path)
	}
	return joined(all, ", ")
}

// stoppedAt returns the question of a request, an empty one if another has replaced it.
func (cp *checkpoint) stoppedAt(q *run.Request) *Stopped {
	if cp.Stopped != nil && cp.Stopped.RequestID == q.ID {
		return cp.Stopped
	}
	return &Stopped{}
}

// fillChanged shows what the command would run: the files as they are, and how they differ from
// those that were agreed to.
func fillChanged(r *session, q *run.Request, req *gate.Request) schemas.Object {
	cp := r.checkpoint(string(q.Subject))
	s := cp.stoppedAt(q)
	req.Prompt = phrase(r.run.Lang, "ask.changed_command", "checkpoint", cp.id, "files", s.names(), "request", q.ID)
	offer(r, req, optRun)
	if s.MayChange {
		offer(r, req, engine.TrustChanges)
	}
	req.Options = append(req.Options, gate.Option{
		ID: optEscalate, Description: phrase(r.run.Lang, "option.escalate.changed"), Effect: phrase(r.run.Lang, "effect.escalate"),
	})
	files := []any{}
	for _, f := range s.Files {
		req.Artifacts = append(req.Artifacts, gate.Artifact{Path: f.Path, SHA256: engine.Digest(f.Now).Hex(), Binding: true})
		files = append(files, schemas.Object{
			{Name: "path", Value: f.Path}, {Name: "was", Value: f.Was}, {Name: "now", Value: f.Now}, {Name: "difference", Value: f.Difference},
		})
	}
	return schemas.Object{
		{Name: "checkpoint", Value: cp.id}, {Name: "iteration", Value: cp.Iteration}, {Name: "command", Value: s.Command}, {Name: "files", Value: files},
	}
}

// differenceLines returns the differences as lines of the form.
func differenceLines(r *session, q *run.Request) (lines []string) {
	s := r.checkpoint(string(q.Subject)).stoppedAt(q)
	lines = append(lines, templates.Fence(s.Command))
	for _, f := range s.Files {
		lines = append(lines, "", "### "+templates.Inline(f.Path), "")
		switch {
		case f.Difference != "":
			lines = append(lines, templates.Fence(string(f.Difference)))
		case f.Now == "":
			lines = append(lines, phrase(r.run.Lang, "ask.changed_command.gone"))
		default:
			lines = append(lines, phrase(r.run.Lang, "ask.changed_command.unknown"))
		}
	}
	return lines
}

// isAsShown reports whether the files are those that a request shows.
func isAsShown(r *session, q *run.Request) (problem string, ok bool) {
	for _, f := range r.checkpoint(string(q.Subject)).stoppedAt(q).Files {
		switch d := r.run.Snap.Doc(f.Path); {
		case r.run.Undecidable(d):
			return "", false
		case string(d.Sum) != string(f.Now):
			return r.say("bad.changed_again", "file", f.Path), false
		}
	}
	return "", true
}

// changedPaths returns the files that open requests show.
func changedPaths(r *session) (paths []string) {
	for _, id := range r.inStatus(Validating) {
		if cp := r.checkpoint(id); cp.open(typeChanged) != nil && cp.Stopped != nil {
			for _, f := range cp.Stopped.Files {
				paths = append(paths, f.Path)
			}
		}
	}
	return paths
}

// tellChanged adds the command that an answer lets run.
func tellChanged(r *session, q *run.Request, a *engine.OpenRequest) {
	if u, ok := r.checkpoint(string(q.Subject)).untrustedValidation(); ok {
		a.Command = &u
	}
}

// runAsTold runs the validation command because a person let it run. The person's own process has
// recorded the agreement; without it nothing runs.
func runAsTold(r *session, on run.On) *move {
	cp := r.checkpoint(on.Subject)
	if cp.Run == nil || !cp.isRunnable() {
		return nil
	}
	return cp.move(on.Answer.Why(), (*step).runTrusted)
}

// runTrusted makes the recorded run of an attempt one of its validation command.
func (s *step) runTrusted() {
	cp, run := s.cp, s.c.Run
	run.Mode, run.CommandDigest, run.StartedAt = modeCommand, text(cp.validationDigest()), s.Now
	if cp.outcomes(s.c.Iteration, "validation") >= run.Number {
		s.run() // the existing outcome does not belong to this run
	}
}

// escalateChanged hands a checkpoint to a person whose validation command may not run.
func escalateChanged(s *step, a *run.Answer) {
	why := s.cp.r.say("reason.changed", "files", s.cp.stoppedAt(a.Request).names())
	s.c.Worker = nil
	s.escalate(Escalation{
		Route: routeUnclear, FailureType: testoutput.Unknown, Question: text(why),
		Reason: escalationReason(s.cp.r.run.Lang, routeUnclear, Verdict{}, s.c.Iteration, s.c.MaxIterations, 0, why),
	})
}
