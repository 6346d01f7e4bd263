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

// mostReruns is how often an idempotent command is started again unasked after
// its end was lost.
const mostReruns = 3

// tailKept is how much of each output an outcome keeps, in bytes.
const tailKept = 4 << 10

// levelAttempt is one attempt of a level.
type levelAttempt struct {
	level, n   int
	doc        engine.Document
	attempt    Attempt
	isRead     bool // its document can be used
	outcomeDoc engine.Document
	outcome    *Outcome // nil while there is none that can be used
	bad        bool     // of the level in hand: one of its documents cannot be used
}

// why is how an attempt failed, in a few words.
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

// name is how requests and actions call an attempt.
func (t levelAttempt) name() string { return subject(t.level, t.n) }

// attempts are those of one level, in order.
type attempts []levelAttempt

// allAttempts are those of every level, as they can be read.
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

// attempts are those of the level in hand. What cannot be used of them is noted.
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

// earlier reports whether an attempt began before the cycle did: then it is another
// cycle's, whose folder was copied or begun anew, and counts for nothing in this one.
func (r *cycle) earlier(t levelAttempt) bool {
	at := t.attempt.StartedAt.Time()
	return !at.IsZero() && at.Before(r.run.State.BeganAt.Time())
}

// noteEarlier says so beside such attempts.
func noteEarlier(r *cycle) {
	for _, t := range r.allAttempts() {
		if t.isRead && r.earlier(t) {
			r.run.Notes.Beside(t.doc.Path, r.words("note.before", "at", t.attempt.StartedAt, "began", r.run.State.BeganAt))
		}
	}
}

// last is the newest attempt, nil for none.
func (all attempts) last() *levelAttempt {
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// haveFailed reports whether the last attempt has failed. One whose end nobody knows is a
// person's to judge first.
func (all attempts) haveFailed(r *cycle) bool {
	last := all.last()
	return last != nil && !last.bad && last.outcome != nil && last.outcome.Result != resultOK && !isAsked(r, *last)
}

// left is how many attempts there may still be. All that failed count, and those whose end
// nobody knows but the ones that an idempotent command may be started again after.
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

// isAsked reports whether an attempt goes to a person, who has not had the command begun
// again yet: nobody knows how it ended, and it may not be started again unasked.
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

// subject names an attempt.
func subject(level, n int) string { return fmt.Sprintf("%d-%d", level, n) }

// attempting writes down what the level's command is at: its end, and the next
// attempt, which is recorded before it begins.
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

// abandoned writes down how the commands ended that the cycle waits for no longer,
// once they have ended: the kernel ends those that still run.
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

// startable reports whether the next attempt is to begin.
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

// startAttempt records the next attempt. It begins in the same plan. While the clock is
// set back it begins with the cycle, so that it is never taken for an earlier one's.
func startAttempt(r *cycle, w *run.Outputs, all attempts) {
	level, n, at := r.run.State.Level.Current, nextAttempt(r, all), r.run.Snap.Now
	if began := r.run.State.BeganAt.Time(); at.Before(began) {
		at = began
	}
	a := Attempt{Level: level, N: n, Argv: r.cfg.argv(level), StartedAt: run.Seconds(at), Deadline: run.Seconds(at.Add(r.cfg.LevelTimeout))}
	w.Begin(levelAction(r, a), layout.OptimizerAttemptFile(level, n), run.Encoded(a))
}

// nextAttempt is the first number after the last attempt under which nothing lies,
// whoever's: none is written over, and no outcome is taken for another attempt's.
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

// levelID names the command of an attempt.
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

// ending writes down how an attempt ended: first what it retrieved, so that an
// outcome never says more than there is. An attempt that is neither under way nor
// known to have ended has an unknown end.
func ending(r *cycle, w *run.Outputs, t levelAttempt) {
	id := levelID(r, t.name())
	end, over := r.run.Snap.Facts.Ended[id]
	switch {
	case wasStopped(r, t), !over && r.run.Snap.Facts.Alive[id]:
		// What placet itself stopped begins again, unasked and uncounted.
		a := levelAction(r, t.attempt)
		a.Recorded = !over
		w.Plan.Actions = append(w.Plan.Actions, a)
		return
	case over:
	default:
		end = engine.Ended{Result: engine.CommandLost, At: r.run.Snap.Now, Reason: r.words("outcome.meanwhile")}
	}
	if r.data().pending {
		return // what it comes to is told by them
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

// outcome is what an end comes to.
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

// judge says what a command came to that ended by itself.
func (r *cycle) judge(end engine.Ended) (result string, problem text) {
	switch {
	case end.Exit == nil:
		return resultFailed, text(cmp.Or(end.Reason, r.words("outcome.signal")))
	case *end.Exit != 0:
		return resultFailed, text(r.words("outcome.exit", "code", *end.Exit))
	case end.Output == nil && r.data().ok:
		return resultOK, "" // it put its data where they belong itself
	case end.Output == nil:
		return resultInvalid, text(cmp.Or(end.Reason, r.words("outcome.nothing")))
	}
	if _, err := parseRecords(end.Output); err != nil {
		return resultInvalid, text(r.words("outcome.invalid", "problem", err))
	}
	return resultOK, ""
}

// clean is a text that JSON can hold.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// unknownAttempt is the attempt that goes to a person, nil for none.
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
