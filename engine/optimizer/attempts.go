package optimizer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// mostReruns is how many times placet restarts an idempotent command by itself after losing track
// of how it ended.
const mostReruns = 3

// tailKept is how much of each output an outcome keeps, in bytes.
const tailKept = 4 << 10

// levelAttempt is one attempt of a level.
type levelAttempt struct {
	level, n   int
	doc        engine.Document
	attempt    Attempt
	isRead     bool // its document is usable
	outcomeDoc engine.Document
	outcome    *Outcome // nil unless a usable outcome exists
	bad        bool     // for the current level: one of its documents is unusable
}

// why returns how an attempt failed, in a few words.
func (r *cycle) why(t levelAttempt) string {
	switch {
	case t.outcome == nil:
		return r.words("outcome.none")
	case t.outcome.Result == resultOK:
		return resultOK
	case t.outcome.Error != "":
		return string(t.outcome.Error)
	case t.outcome.Exit != nil:
		return r.words("outcome.exit", "code", *t.outcome.Exit)
	}
	return t.outcome.Result
}

// name returns the name that requests and actions use for an attempt.
func (t levelAttempt) name() string { return subject(t.level, t.n) }

// attempts holds the attempts of one level, in order.
type attempts []levelAttempt

// allAttempts returns the attempts of every level, as far as their documents are readable.
func (r *cycle) allAttempts() attempts {
	return run.Once(r.run, "attempts", func() (all attempts) {
		for _, d := range r.run.Snap.Under("attempts") {
			level, n, outcome, ok := layout.OptimizerAttempt(r.run.Snap.Rel(d.Path))
			if !ok || outcome {
				continue
			}
			t := levelAttempt{level: level, n: n, doc: d, outcomeDoc: r.run.Snap.In(layout.OptimizerOutcomeFile(level, n))}
			if a := run.Peek[Attempt](d, "optimizer/attempt"); a != nil {
				t.attempt, t.isRead = *a, true
			}
			t.outcome = run.Peek[Outcome](t.outcomeDoc, "optimizer/outcome")
			all = append(all, t)
		}
		return all
	})
}

// attempts returns the attempts of the current level. It notes the documents that are unusable.
func (r *cycle) attempts() attempts {
	return run.Once(r.run, fmt.Sprint("attempts/", r.run.State.Level.Current), func() (all attempts) {
		for _, t := range r.allAttempts() {
			if t.level != r.run.State.Level.Current {
				continue
			}
			_, got := run.Load[Attempt](&r.run.Input, t.doc, "optimizer/attempt")
			t.bad = got != run.Good
			if r.earlier(t) {
				continue
			}
			if _, got = run.Load[Outcome](&r.run.Input, t.outcomeDoc, "optimizer/outcome"); got != run.Good && got != run.Absent {
				t.bad, t.outcome = true, &Outcome{}
			}
			all = append(all, t)
		}
		slices.SortFunc(all, func(a, b levelAttempt) int { return a.n - b.n })
		return all
	})
}

// earlier reports whether an attempt began before the cycle did. It then belongs to another cycle,
// whose folder was copied or started anew, and does not count in this one.
func (r *cycle) earlier(t levelAttempt) bool {
	at := t.attempt.StartedAt.Time()
	return !at.IsZero() && at.Before(r.run.State.BeganAt.Time())
}

// noteEarlier writes a note beside every attempt that began before the cycle.
func noteEarlier(r *cycle) {
	for _, t := range r.allAttempts() {
		if t.isRead && r.earlier(t) {
			r.run.Notes.Beside(t.doc.Path, r.words("note.before", "at", t.attempt.StartedAt, "began", r.run.State.BeganAt))
		}
	}
}

// last returns the newest attempt, or nil.
func (all attempts) last() *levelAttempt {
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// haveFailed reports whether the last attempt failed. It is false while a person still has to judge
// an attempt whose result is unknown.
func (all attempts) haveFailed(r *cycle) bool {
	last := all.last()
	return last != nil && !last.bad && last.outcome != nil && last.outcome.Result != resultOK && !isAsked(r, *last)
}

// left returns how many attempts remain. Every failed attempt counts, and every one with an unknown
// result, except those after which an idempotent command restarts by itself.
func (all attempts) left(r *cycle) int {
	left, reruns := r.cfg.LevelAttempts+r.run.State.Level.ExtraAttempts, 0
	for _, t := range all {
		switch {
		case t.outcome == nil || t.outcome.Result == resultOK:
		case t.outcome.Result == resultUnknown && r.cfg.Workflow.Idempotent && reruns < mostReruns:
			reruns++
		default:
			left--
		}
	}
	return left
}

// isAsked reports whether a person has to judge an attempt: its result is unknown, the command may
// not restart by itself, and nobody has answered with a retry yet.
func isAsked(r *cycle, t levelAttempt) bool {
	isLost := func(t levelAttempt) bool { return t.outcome != nil && t.outcome.Result == resultUnknown }
	if !isLost(t) || slices.ContainsFunc(r.run.State.Requests, func(q *run.Request) bool {
		return q.Type == typeUnknown && string(q.Subject) == t.name() && q.Status != run.Open && string(q.Response) == optRetry
	}) {
		return false
	}
	lost := slices.DeleteFunc(slices.Clone(r.attempts()), func(t levelAttempt) bool { return !isLost(t) })
	return !r.cfg.Workflow.Idempotent || len(lost) > mostReruns
}

// subject returns the name of attempt n of a level.
func subject(level, n int) string { return fmt.Sprintf("%d-%d", level, n) }

// attempting records how the level's command ended, and then the next attempt, before that begins.
func attempting(r *cycle, w *run.Outputs) {
	abandoned(r, w)
	if r.run.State.Status != Running || r.run.State.Level.Current < 20 {
		return
	}
	all := r.attempts()
	last := all.last()
	switch {
	case last != nil && last.bad:
		return
	case last != nil && last.outcome == nil:
		ending(r, w, *last)
	case startable(r, all):
		startAttempt(r, w, all)
	}
}

// abandoned records how the commands ended that the cycle no longer waits for. It waits until they
// have ended: the kernel ends those that still run.
func abandoned(r *cycle, w *run.Outputs) {
	for _, t := range r.allAttempts() {
		id := levelID(r, t.name())
		inHand := r.run.State.Status == Running && t.level == r.run.State.Level.Current
		if inHand || !t.isRead || r.earlier(t) || !t.outcomeDoc.Absent() || r.run.Snap.Facts.Alive[id] {
			continue
		}
		end, known := r.run.Snap.Facts.Ended[id]
		if !known {
			end = engine.Ended{Result: engine.CommandLost, At: r.run.Snap.Now}
		}
		o := r.outcome(end)
		if o.Result == resultUnknown {
			o.Error = text(r.words("outcome.abandoned"))
		}
		w.Put(layout.OptimizerOutcomeFile(t.level, t.n), run.Encoded(o))
	}
}

// startable reports whether the next attempt should begin.
func startable(r *cycle, all attempts) bool {
	argv := r.cfg.argv(r.run.State.Level.Current)
	if len(argv) == 0 || r.cfg.Still || !r.run.Snap.Facts.Trusted[CommandDigest(argv)] || r.run.State.Level.Retrieved != "" {
		return false
	}
	e, pending := levelError(r)
	if !r.run.Snap.In("retrieved.jsonl").Absent() || r.stop != nil || r.run.Unsure || pending || e != nil {
		return false
	}
	return len(all) == 0 || all.haveFailed(r) && all.left(r) > 0
}

// startAttempt records the next attempt and begins it in the same plan. If the clock was set back,
// the attempt gets the time at which the cycle began: an earlier time would make it look like
// another cycle's attempt.
func startAttempt(r *cycle, w *run.Outputs, all attempts) {
	level, n, at := r.run.State.Level.Current, nextAttempt(r, all), r.run.Snap.Now
	if began := r.run.State.BeganAt.Time(); at.Before(began) {
		at = began
	}
	a := Attempt{Level: level, N: n, Argv: r.cfg.argv(level), StartedAt: run.Seconds(at), Deadline: run.Seconds(at.Add(r.cfg.LevelTimeout))}
	w.Begin(levelAction(r, a), layout.OptimizerAttemptFile(level, n), run.Encoded(a))
}

// nextAttempt returns the first number after the last attempt that no file uses, whoever wrote it.
// So placet overwrites no file, and no attempt gets the outcome of another.
func nextAttempt(r *cycle, all attempts) int {
	level, n := r.run.State.Level.Current, 1
	if last := all.last(); last != nil {
		n = last.n + 1
	}
	for !r.run.Snap.In(layout.OptimizerAttemptFile(level, n)).Absent() || !r.run.Snap.In(layout.OptimizerOutcomeFile(level, n)).Absent() {
		n++
	}
	return n
}

// levelID returns the id of the action that runs an attempt.
func levelID(r *cycle, attempt string) string { return r.actionID("level/" + attempt) }

func levelAction(r *cycle, a Attempt) engine.Action {
	return engine.Action{
		ID: levelID(r, subject(a.Level, a.N)), Output: "PLACET_OUT", Tail: tailKept,
		Command: engine.Command{
			Argv: a.Argv, Dir: ".", Paths: []string{"PLACET_RUN_DIR=" + r.run.Snap.Dir},
			Env:     []string{"PLACET_WORKFLOW=" + r.run.State.WorkflowName, fmt.Sprintf("PLACET_LEVEL=%d", a.Level)},
			Timeout: a.Deadline.Time().Sub(a.StartedAt.Time()),
		},
	}
}

// ending records how an attempt ended. It writes the retrieved data first, so that an outcome never
// claims more than exists. An attempt that neither runs nor has a known end gets an unknown result.
func ending(r *cycle, w *run.Outputs, t levelAttempt) {
	id := levelID(r, t.name())
	end, over := r.run.Snap.Facts.Ended[id]
	switch {
	case wasStopped(r, t), !over && r.run.Snap.Facts.Alive[id]:
		// The command restarts by itself, and the attempt does not count, because placet stopped
		// it.
		a := levelAction(r, t.attempt)
		a.Recorded = !over
		w.Plan.Actions = append(w.Plan.Actions, a)
		return
	case over:
	default:
		end = engine.Ended{Result: engine.CommandLost, At: r.run.Snap.Now, Reason: r.words("outcome.meanwhile")}
	}
	if r.data().pending {
		return // the outcome depends on these data
	}
	o := r.outcome(end)
	if d := r.run.Snap.In("retrieved.jsonl"); o.Result == resultOK && d.Absent() {
		w.Put("retrieved.jsonl", end.Output)
		return
	}
	w.Put(layout.OptimizerOutcomeFile(t.level, t.n), run.Encoded(o))
}

// wasStopped reports whether an orderly stop of placet ended an attempt's command.
func wasStopped(r *cycle, t levelAttempt) bool {
	return r.run.Snap.Facts.Ended[levelID(r, t.name())].Result == engine.CommandStopped
}

// outcome turns the end of a command into the outcome of its attempt.
func (r *cycle) outcome(end engine.Ended) Outcome {
	o := Outcome{
		Exit: end.Exit, StdoutTail: clean(end.Stdout), StderrTail: clean(end.Stderr), EndedAt: run.Seconds(end.At), Error: text(end.Reason),
	}
	switch end.Result {
	case engine.CommandTimedOut:
		o.Result, o.Error = resultTimeout, text(r.words("outcome.timeout"))
	case engine.CommandFinished:
		o.Result, o.Error = r.judge(end)
	case engine.CommandNotStarted:
		o.Result = resultFailed
	default:
		o.Result = resultUnknown
	}
	return o
}

// judge returns the result of a command that ended by itself.
func (r *cycle) judge(end engine.Ended) (result string, problem text) {
	switch {
	case end.Exit == nil:
		return resultFailed, text(cmp.Or(end.Reason, r.words("outcome.signal")))
	case *end.Exit != 0:
		return resultFailed, text(r.words("outcome.exit", "code", *end.Exit))
	case end.Output == nil && r.data().ok:
		return resultOK, "" // the command wrote retrieved.jsonl itself
	case end.Output == nil:
		return resultInvalid, text(cmp.Or(end.Reason, r.words("outcome.nothing")))
	}
	if _, err := parseRecords(end.Output); err != nil {
		return resultInvalid, text(r.words("outcome.invalid", "problem", err))
	}
	return resultOK, ""
}

// clean replaces what JSON cannot hold: invalid UTF-8.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// unknownAttempt returns the attempt that a person has to judge, or nil.
func unknownAttempt(r *cycle) *levelAttempt {
	if r.run.State.Status != Running || r.run.State.Level.Current < 20 || r.run.State.Level.Retrieved != "" {
		return nil
	}
	last := r.attempts().last()
	if last == nil || last.bad || !isAsked(r, *last) {
		return nil
	}
	return last
}
