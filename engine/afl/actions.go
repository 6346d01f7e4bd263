package afl

import (
	"fmt"
	"slices"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// workerTail is how much of a worker's output placet keeps, in bytes.
const workerTail = 16 << 10

func numbered(stem string, k int) string { return layout.AFLNumbered(stem, k, ".json") }

// Worktrees holds a folder for each checkpoint that has a work tree of its own. The checkpoint's
// commands run there.
const Worktrees = ".afl/worktrees"

func worktree(id string) string { return Worktrees + "/" + id }

// actions returns the commands that the state names, ended or not, and those that are due: they
// have no outcome, and the session waits for them. A final session has none, although its
// checkpoints may still name some. Unusable settings yield none, because they say how to run a
// command.
func actions(r *session) (named, due []engine.Action) {
	if isFinal(r.run.State.Status) || r.cfgBad {
		return nil, nil
	}
	add := func(a engine.Action, isAwaited bool) {
		if named = append(named, a); isAwaited && r.run.Snap.Doc(a.Outcome).Absent() {
			due = append(due, a)
		}
	}
	for _, id := range r.order {
		cp := r.checkpoint(id)
		if cp.isCommandWorker() && !isFinal(cp.Status) {
			add(cp.workerAction(), cp.Status == InProgress)
		}
		if cp.Status == Validating && cp.Run != nil && cp.Run.Mode == modeCommand && cp.def != nil {
			add(cp.validationAction(), true)
		}
		if a, ok := cp.oracleAction(); ok {
			add(a, true)
		}
		if a, ok := cp.reviewAction(); ok {
			add(a, true)
		}
	}
	return named, due
}

// actionID returns the id of a command of the current attempt: its k-th validation or its w-th
// worker.
func (cp *checkpoint) actionID(number int, kind string) string {
	return run.ActionID(cp.r.run, cp.r.id(), cp.r.run.State.CreatedAt, cp.id, cp.Iteration, number, kind)
}

// command returns a command of the checkpoint that runs in the shell.
func (cp *checkpoint) command(words string) engine.Command {
	return engine.Command{
		Argv: append(slices.Clone(cp.r.cfg.Shell), words), Dir: ".", Prefer: worktree(cp.id),
		Env: []string{"AFL_SESSION=" + cp.r.id(), "AFL_CHECKPOINT=" + cp.id, fmt.Sprintf("AFL_ITERATION=%d", cp.Iteration)},
	}
}

func (cp *checkpoint) validationAction() engine.Action {
	run := cp.Run
	shell := make([]any, len(cp.r.cfg.Shell))
	for i, s := range cp.r.cfg.Shell {
		shell[i] = s
	}
	command := cp.command(string(cp.def.Command))
	command.Timeout = time.Duration(run.TimeoutMS) * time.Millisecond
	return engine.Action{
		ID: cp.actionID(run.Number, "validation"), Kind: layout.AFLValidation, Outcome: cp.r.run.Path(cp.file(numbered("validation", run.Number))),
		Fields: []engine.Field{
			{Name: "iteration", Value: cp.Iteration}, {Name: "run", Value: run.Number},
			{Name: "command_digest", Value: string(run.CommandDigest)}, {Name: "shell", Value: shell},
		},
		Judge: true, Expected: string(cp.def.Expected), Command: command,
	}
}

func (cp *checkpoint) workerAction() engine.Action {
	w, at := cp.Worker, func(name string) string { return cp.r.run.Path(cp.file(name)) }
	command := cp.command(cp.r.cfg.WorkerCommand)
	command.Agent, command.Timeout = true, w.Deadline.Time().Sub(w.StartedAt.Time())
	command.Env = append(command.Env, fmt.Sprintf("AFL_MAX_ITERATIONS=%d", cp.MaxIterations))
	command.Paths = []string{"AFL_PROMPT=" + at("prompt.md"), "AFL_ANSWER=" + at("answer.md"), "AFL_WORKER_JSON=" + at("worker.json")}
	return engine.Action{
		ID: cp.actionID(w.Number, "worker"), Kind: layout.AFLWorkerRun, Outcome: at(numbered("worker-run", w.Number)),
		Fields: []engine.Field{{Name: "number", Value: w.Number}, {Name: "command_digest", Value: string(w.CommandDigest)}},
		Tail:   workerTail, Command: command,
	}
}

// CommandDigest returns the digest under which trust in an action's command is recorded, for the
// command as it would begin now. ok is false if the attempt was recorded with another digest.
func CommandDigest(a engine.Action) (digest engine.Digest, ok bool) {
	digest = engine.CommandDigest(digestNames[a.Kind], a.Command.Argv...)
	for _, f := range a.Fields {
		if f.Name == "command_digest" {
			return digest, f.Value == string(digest)
		}
	}
	return digest, false
}

// digestNames are the first words of the digests of commands, by the kind of their outcome.
var digestNames = map[string]string{
	layout.AFLValidation: "validation", layout.AFLWorkerRun: "worker", layout.AFLOracleRun: "oracle", layout.AFLReviewRun: "reviewer",
}

// Beside the worker and the validation an attempt may have two more commands: the oracle analyses a
// failed run, and the reviewer looks at an attempt that passed. Both get the verdict on their
// standard input, and hand in a document. Without a usable one the session goes on as without the
// command. Both end with placet, and start again.

// oracleTime limits the oracle where oracle_wait says nothing.
const oracleTime = 10 * time.Minute

// sideTail is how much of such a command's output is kept, in bytes.
const sideTail = 16 << 10

// mayRun reports whether a side command is configured and trusted.
func (cp *checkpoint) mayRun(argv []string, digest engine.Digest) bool {
	return len(argv) > 0 && !cp.r.cfg.Still && cp.r.run.Snap.Facts.Trusts(digest, worktree(cp.id))
}

// sideRun returns the next start of a side command.
func (s *step) sideRun(stem string, before *SideRun, digest engine.Digest, limit time.Duration) *SideRun {
	n := s.cp.outcomes(s.c.Iteration, stem)
	if before != nil {
		n = max(n, before.Number)
	}
	return &SideRun{Number: n + 1, Run: s.c.runNumber(), StartedAt: s.Now, Deadline: s.cp.r.later(limit), CommandDigest: text(digest)}
}

// sideEnd reads how a start of a side command ended.
func (cp *checkpoint) sideEnd(stem string, of *SideRun) run.HandIn[WorkerRun] {
	name := numbered(stem, of.Number)
	return readNews(cp, cp.file(name), "afl/worker-run", nil, func(_ *checkpoint, o *WorkerRun) error {
		return checkNumber(name, o.Number, of.Number)
	})
}

// sideAction returns a start of a side command. names gives it the paths of files of the attempt.
func (cp *checkpoint) sideAction(stem, kind string, argv []string, of *SideRun, about Verdict, names ...string) engine.Action {
	command := engine.Command{
		Argv: argv, Dir: ".", Prefer: worktree(cp.id), Stdin: run.Encoded(about), Timeout: of.Deadline.Time().Sub(of.StartedAt.Time()),
		Env: []string{"AFL_SESSION=" + cp.r.id(), "AFL_CHECKPOINT=" + cp.id, fmt.Sprintf("AFL_ITERATION=%d", cp.Iteration), fmt.Sprintf("AFL_RUN=%d", of.Run)},
	}
	for i := 0; i+1 < len(names); i += 2 {
		command.Paths = append(command.Paths, names[i]+"="+cp.r.run.Path(cp.file(names[i+1])))
	}
	return engine.Action{
		ID: cp.actionID(of.Number, stem), Kind: kind, Outcome: cp.r.run.Path(cp.file(numbered(stem, of.Number))),
		Fields: []engine.Field{{Name: "number", Value: of.Number}, {Name: "command_digest", Value: string(of.CommandDigest)}},
		Tail:   sideTail, Command: command,
	}
}

// oracleAction returns the command that analyses the failed run, ok is false if none is wanted.
func (cp *checkpoint) oracleAction() (a engine.Action, ok bool) {
	if cp.Status != Validating || cp.Oracle == nil || len(cp.r.cfg.Oracle) == 0 {
		return a, false
	}
	v, ok := unanalysed(cp)
	if !ok || v.Passed {
		return a, false
	}
	return cp.sideAction("oracle-run", layout.AFLOracleRun, cp.r.cfg.Oracle, cp.Oracle, v,
		"AFL_ANALYSIS", "analysis.json", "AFL_VALIDATION", numbered("validation", cp.runNumber()), "AFL_PROMPT", "prompt.md"), true
}

// unanalysed returns the verdict on the present run as it is without an analysis.
func unanalysed(cp *checkpoint) (v Verdict, ok bool) {
	t := cp.attempt()
	switch o := cp.outcome(); {
	case cp.usesResult():
		return judgeResult(cp, t.result.Said, t.result.Sum(), nil), true
	case o != nil:
		return judgeValidation(cp, o, t.validation.Sum(), nil), true
	}
	return v, false
}

// hasOracle reports whether the oracle's command may analyse a failed run.
func (cp *checkpoint) hasOracle() bool {
	return cp.mayRun(cp.r.cfg.Oracle, OracleDigest(cp.r.cfg.Oracle))
}

// oracleEnd returns how the oracle's command for the present run ended, nil while it has not.
func (cp *checkpoint) oracleEnd() *WorkerRun {
	if cp.Oracle == nil || cp.Oracle.Run != cp.runNumber() {
		return nil
	}
	return cp.sideEnd("oracle-run", cp.Oracle).Said
}

// isAnalysing reports whether the oracle's command for the present run has begun and not ended.
func (cp *checkpoint) isAnalysing() bool {
	return cp.Oracle != nil && cp.Oracle.Run == cp.runNumber() && cp.oracleEnd() == nil
}

// startsOracle reports whether the oracle's command is to begin now: it has not begun for this run,
// or placet ended it.
func (cp *checkpoint) startsOracle() bool {
	if !cp.hasOracle() {
		return false
	}
	if cp.Oracle == nil || cp.Oracle.Run != cp.runNumber() {
		return true
	}
	o := cp.oracleEnd()
	return o != nil && o.Outcome == engine.CommandStopped
}

// oracleWait is how long an analysis is awaited.
func (cp *checkpoint) oracleWait() time.Duration {
	if wait := cp.r.cfg.OracleWait; wait > 0 || !cp.hasOracle() {
		return wait
	}
	return oracleTime
}
