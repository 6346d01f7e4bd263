package afl

import (
	"fmt"
	"slices"
	"time"

	"placet/engine"
	"placet/layout"
)

// workerTail is how much of a worker's output is kept, in bytes.
const workerTail = 16 << 10

// actionID names a command of an attempt: its k-th validation or its w-th
// worker. It begins with the session's key, by which its own are known again. An
// action begins once in a process: a session that begins anew under its name has
// actions of its own.
func (r *session) actionID(cp string, n, number int, kind string) string {
	sum := engine.Sum(fmt.Appendf(nil, "%s\n%s\n%s\n%d\n%d\n%s", r.sessionID(), r.State.CreatedAt, cp, n, number, kind))
	return "afl/" + r.sessionID() + "/" + sum.Hex()[:16]
}

func numbered(stem string, k int) string { return layout.AFLNumbered(stem, k, ".json") }

// Worktrees holds a folder for each checkpoint that has a work tree of its own:
// its commands run there.
const Worktrees = ".afl/worktrees"

func worktree(id string) string { return Worktrees + "/" + id }

// actions are the commands that the state names, whether they have ended or not: none of a
// session that is over, though its checkpoints may still name some. due are those whose
// outcome is not there: of workers only while they are waited for. Without settings nobody
// knows how they are to run.
func (r *session) actions() (named, due []engine.Action) {
	if final(r.State.Status) || r.cfgBad {
		return nil, nil
	}
	for _, id := range r.order {
		c := r.checkpoint(id)
		if c == nil {
			continue
		}
		if c.Worker != nil && c.Worker.Mode == modeCommand && !over(c.Status) {
			a := r.workerAction(id, c)
			if named = append(named, a); c.Status == InProgress && r.Snap.Doc(a.Outcome).Absent() {
				due = append(due, a)
			}
		}
		if c.Status == Validating && c.Run != nil && c.Run.Mode == modeCommand && r.defs[id] != nil {
			a := r.validationAction(id, c)
			if named = append(named, a); r.Snap.Doc(a.Outcome).Absent() {
				due = append(due, a)
			}
		}
	}
	return named, due
}

func (r *session) env(id string, c *Checkpoint) []string {
	return []string{
		"AFL_SESSION=" + r.sessionID(), "AFL_CHECKPOINT=" + id, fmt.Sprintf("AFL_ITERATION=%d", c.Iteration),
	}
}

func (r *session) validationAction(id string, c *Checkpoint) engine.Action {
	d, run := r.defs[id], c.Run
	shell := make([]any, len(r.cfg.Shell))
	for i, s := range r.cfg.Shell {
		shell[i] = s
	}
	return engine.Action{
		ID:      r.actionID(id, c.Iteration, run.Number, "validation"),
		Kind:    layout.AFLValidation,
		Outcome: r.Path(place(id, c.Iteration, numbered("validation", run.Number))),
		Fields: []engine.Field{
			{Name: "iteration", Value: c.Iteration}, {Name: "run", Value: run.Number},
			{Name: "command_digest", Value: string(run.CommandDigest)}, {Name: "shell", Value: shell},
		},
		Judge: true, Expected: string(d.Expected),
		Command: engine.Command{
			Argv: append(slices.Clone(r.cfg.Shell), string(d.Command)), Dir: ".", Prefer: worktree(id),
			Env: r.env(id, c), Timeout: time.Duration(run.TimeoutMS) * time.Millisecond,
		},
	}
}

func (r *session) workerAction(id string, c *Checkpoint) engine.Action {
	w, n := c.Worker, c.Iteration
	return engine.Action{
		ID:      r.actionID(id, n, w.Number, "worker"),
		Kind:    layout.AFLWorkerRun,
		Outcome: r.Path(place(id, n, numbered("worker-run", w.Number))),
		Fields:  []engine.Field{{Name: "number", Value: w.Number}, {Name: "command_digest", Value: string(w.CommandDigest)}},
		Tail:    workerTail,
		Command: engine.Command{
			Argv: append(slices.Clone(r.cfg.Shell), r.cfg.WorkerCommand), Dir: ".", Prefer: worktree(id), Agent: true,
			Env: append(r.env(id, c), fmt.Sprintf("AFL_MAX_ITERATIONS=%d", c.MaxIterations)),
			Paths: []string{
				"AFL_PROMPT=" + r.Path(place(id, n, "prompt.md")), "AFL_ANSWER=" + r.Path(place(id, n, "answer.md")),
				"AFL_WORKER_JSON=" + r.Path(place(id, n, "worker.json")),
			},
			Timeout: w.Deadline.Time().Sub(w.StartedAt.Time()),
		},
	}
}

// CommandDigest is the digest that trust in an action's command is recorded
// under: of the command as it would begin now. ok is false where it is not the
// one that the attempt was recorded with.
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
