package afl

import (
	"fmt"
	"strings"

	"placet/engine"
)

// checkpoint says what one checkpoint waits for.
func (x explaining) checkpoint(id string, c *Checkpoint) {
	switch c.Status {
	case Pending:
		x.pending(id)
	case InProgress:
		x.working(id, c)
	case Waiting:
		x.answerTo(id, c, typeClarification, "an answer to its worker's question")
	case Validating:
		x.validating(id, c)
	case Retrying:
		x.retrying(id, c)
	case Escalated:
		x.answerTo(id, c, typeEscalation, "a decision")
	}
}

// answerTo says that a checkpoint waits for a person.
func (x explaining) answerTo(id string, c *Checkpoint, typ, what string) {
	if open := x.openFor(typ, id); open != "" {
		x.request(open, fmt.Sprintf("%s waits in %s for %s", id, c.Status, what))
	}
}

// held says why nothing starts at all, "" where something may.
func (x explaining) held() string {
	switch st := x.r.st; {
	case st.Pause != nil:
		return "nothing starts: the session is paused (" + st.Pause.Reason + ")"
	case st.Status == Approving:
		return "nothing starts before the approved definitions are applied"
	case len(x.escalated()) > 0:
		return "nothing starts while " + few(x.escalated()) + " waits for a person"
	case st.Status != Delegating:
		return "nothing starts: the session is " + string(st.Status)
	}
	return ""
}

func (x explaining) pending(id string) {
	r := x.r
	if unmet := r.unmet(id); len(unmet) > 0 {
		x.why("%s waits in pending for %s", id, strings.Join(unmet, ", "))
		return
	}
	taken := x.taken()
	switch held := x.held(); {
	case held != "":
		x.why("%s waits in pending: %s", id, held)
	case len(taken) >= r.cfg.Workers:
		x.why("%s waits in pending for a slot: %s by %s (parallel_workers)", id, slotsTaken(len(taken), r.cfg.Workers), few(taken))
	case r.withheld():
		x.why("%s waits in pending: no command may begin", id)
	default:
		x.why("%s starts as soon as what is before it has moved", id)
		x.a.Await(engine.NextPass)
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
func (r *reading) unmet(id string) []string {
	d := r.defs[id]
	if d == nil {
		return nil
	}
	var list []string
	for _, dep := range d.Dependencies {
		c := r.checkpoint(dep)
		if c == nil || !met(c) {
			list = append(list, fmt.Sprintf("%s (%s)", dep, r.statusOf(dep)))
		}
	}
	return list
}

// inStatus are the checkpoints of some statuses.
func (r *reading) inStatus(statuses ...engine.Status) []string {
	var list []string
	for _, id := range r.order {
		for _, s := range statuses {
			if c := r.checkpoint(id); c != nil && c.Status == s {
				list = append(list, id)
			}
		}
	}
	return list
}

func (x explaining) retrying(id string, c *Checkpoint) {
	r := x.r
	running := x.running()
	switch held := x.held(); {
	case held != "":
		x.why("%s waits in retrying: %s", id, held)
	case r.Snap.Now.Before(c.RetryAt.Time()):
		x.why("%s waits in retrying for its moment: attempt %d starts at %s", id, c.Iteration+1, c.RetryAt)
		x.a.Await("attempt %d of %s at %s (placet)", c.Iteration+1, id, c.RetryAt)
	case len(running) >= r.cfg.Workers:
		x.why("%s waits in retrying for a slot: %s by %s (parallel_workers)", id, slotsTaken(len(running), r.cfg.Workers), few(running))
	default:
		x.why("attempt %d of %s starts as soon as what is before it has moved", c.Iteration+1, id)
		x.a.Await(engine.NextPass)
	}
}

func (x explaining) working(id string, c *Checkpoint) {
	r := x.r
	report := place(id, c.Iteration, "worker.json")
	says := fmt.Sprintf("%s waits in in_progress (attempt %d/%d, since %s)", id, c.Iteration, c.MaxIterations, c.LastAttemptAt)
	if open := x.openFor(typeInterrupted, id); open != "" {
		x.request(open, says+": nobody knows what became of the worker command")
	} else if c.Worker != nil && c.Worker.Mode == modeCommand {
		x.command(says, r.workerAction(id, c), fmt.Sprintf("worker command (start %d, until %s)", c.Worker.Number, c.Worker.Deadline), c.Worker.StartedAt)
		x.a.Await("the worker command of %s (agent)", id)
	} else {
		x.why("%s for a worker that reads %s and writes %s%s", says, r.Path(place(id, c.Iteration, "prompt.md")), spoken(report), x.outside(id, c))
		x.a.Await("%s (agent)", report)
	}
	x.move(r.Path(report), `{"status": "completed"} has the attempt validated; "failed" with a "message", or "question" with a "question", are the other words`)
}

// outside says why the worker command does not work on an attempt that it could work on
// by now: who works on an attempt is settled when it begins.
func (x explaining) outside(id string, c *Checkpoint) string {
	switch digest := x.r.workerDigest(); {
	case digest == "":
		return ""
	case !x.r.Snap.Facts.Trusts(digest, worktree(id)):
		return fmt.Sprintf("; the worker command waits for trust (placet trust), and begins with an attempt after %d", c.Iteration)
	}
	return fmt.Sprintf("; attempt %d is worked on outside: the worker command begins with the next attempt", c.Iteration)
}

// command says whether a command that is waited for is under way.
func (x explaining) command(says string, a engine.Action, what string, started text) {
	if x.r.Snap.Facts.Alive[a.ID] {
		x.why("%s for its %s: it runs since %s", says, what, started)
		return
	}
	x.why("%s for its %s: the daemon, or placet once, carries it out", says, what)
}

// spoken is a path of an attempt as people say it: iterations/2/result.json.
func spoken(rel string) string {
	if at := strings.Index(rel, "/iterations/"); at >= 0 {
		return rel[at+1:]
	}
	return rel
}

func (x explaining) validating(id string, c *Checkpoint) {
	r := x.r
	says := fmt.Sprintf("%s waits in validating", id)
	switch {
	case x.openFor(typeInterrupted, id) != "":
		x.request(x.openFor(typeInterrupted, id), says+": nobody knows how the validation ended")
	case c.AnalysisUntil != "":
		analysis := place(id, c.Iteration, "analysis.json")
		x.why("%s for %s, until %s (oracle_wait)", says, spoken(analysis), c.AnalysisUntil)
		x.a.Await("%s (agent)", analysis)
		x.move(r.Path(analysis), `{"failure_type": "…"} says what kind of failure it is`)
	case c.Run != nil && c.Run.Mode == modeCommand && r.defs[id] != nil:
		what := fmt.Sprintf("validation (run %d, at most %s)", c.Run.Number, r.timeout(id))
		x.command(says, r.validationAction(id, c), what, c.Run.StartedAt)
		x.a.Await("the validation command of %s (placet)", id)
	default:
		x.result(id, c, says)
	}
}

// result says that an attempt is validated outside, unless its command is
// trusted.
func (x explaining) result(id string, c *Checkpoint, says string) {
	r := x.r
	file := place(id, c.Iteration, "result.json")
	d := r.definition(id)
	if r.byCommand(d) {
		x.why("%s for trust in `%s` (placet trust); %s does not count, for afl.validation is \"command\"", says, oneLine(string(d.Command), shownCommand), spoken(file))
		x.a.Await("placet trust for the validation command of %s (person)", id)
		return
	}
	x.why("%s for %s", says, spoken(file))
	x.a.Await("%s (agent)", file)
	x.move(r.Path(file), fmt.Sprintf(`{"iteration": %d, "exitCode": 0, "output": "<what the tests printed>"}`, c.Iteration))
}

// shownCommand is how much of a command explain shows, in characters.
const shownCommand = 80
