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
	kind := "validation"
	if a.Command.Agent {
		kind = "worker"
	}
	digest = engine.CommandDigest(kind, a.Command.Argv...)
	for _, f := range a.Fields {
		if f.Name == "command_digest" {
			return digest, f.Value == string(digest)
		}
	}
	return digest, false
}
