package run

import (
	"strconv"
	"time"

	"placet/engine"
	"placet/schemas"
)

// Outcome is outcome-<n>.json: how an attempt to send something ended.
type Outcome struct {
	FinishedAt Text        `json:"finished_at"`
	Outcome    string      `json:"outcome"`
	Code       *int        `json:"code"`
	Response   schemas.Raw `json:"response"`
	RetryAfter int         `json:"retry_after_seconds,omitzero"`
	Reason     string      `json:"reason,omitzero"`
}

// Limits and pauses of attempts.
const (
	MostAttempts  = 3
	retryPause    = 60 * time.Second
	longestPause  = time.Hour
	afterDeadline = 20 * time.Second // an attempt counts as lost this long after its time limit
)

// Sending is a delivery to somebody outside this machine, as read from the documents of its
// attempts in a folder of the run.
type Sending struct {
	// Dir is the folder, relative to the run's folder.
	Dir string
	// Attempts is the number of the last attempt, 0 for none. UnderWay is true while that
	// attempt has no outcome; Due is then the time at which it counts as lost.
	Attempts int
	UnderWay bool
	Due      Text
	// Last is the outcome of the last attempt, nil while it has none. Here is true if this
	// machine recorded it.
	Last *Outcome
	Here bool
}

// AttemptFile returns the path of the document that records an attempt.
func (s Sending) AttemptFile(n int) string { return s.Dir + "/attempt-" + strconv.Itoa(n) + ".json" }

// OutcomeFile returns the path of the document that records how an attempt ended.
func (s Sending) OutcomeFile(n int) string { return s.Dir + "/outcome-" + strconv.Itoa(n) + ".json" }

// Sends reads the attempts in a folder. schema is that of their outcomes, and longest is
// how long an attempt may take.
func Sends(r *Input, dir, schema string, longest time.Duration) Sending {
	s := Sending{Dir: dir}
	for n := 1; ; n++ {
		attempt, outcome := r.Snap.In(s.AttemptFile(n)), r.Snap.In(s.OutcomeFile(n))
		if attempt.Absent() && outcome.Absent() {
			if len(outcome.Issued) == 0 {
				return s
			}
			s.Attempts, s.UnderWay, s.Due, s.Here = n, false, "", false
			s.Last = &Outcome{Outcome: engine.SendLost, Reason: r.Say("run.send.removed")}
			continue
		}
		s.Attempts, s.UnderWay, s.Last, s.Here = n, true, nil, outcome.IssuedHere()
		s.Due = latest(attempt, longest)
		o, got := Load[Outcome](r, outcome, schema)
		if got == Good && len(outcome.Issued) > 0 && !outcome.IssuedHere() {
			r.Bad(outcome, r.Say("run.send.foreign"))
			o, got = nil, Bad
		}
		if o != nil {
			s.Last, s.UnderWay, s.Due = o, false, ""
		}
		if got == Pending {
			s.Due = ""
		}
	}
}

// latest returns when an attempt without an outcome counts as lost. It ignores a deadline
// that is later than any that placet sets.
func latest(attempt engine.Document, longest time.Duration) Text {
	bound := attempt.Changed.Add(longest + afterDeadline)
	var a struct {
		Deadline Text `json:"deadline"`
	}
	if attempt.Present() && schemas.Decode("", attempt.Path, attempt.Body, &a) == nil {
		if at := a.Deadline.Time(); !at.IsZero() && at.Before(bound) {
			return a.Deadline
		}
	}
	return Seconds(bound.Add(time.Second))
}

// Deadline returns when an attempt that begins now counts as lost.
func Deadline(now time.Time, timeout time.Duration) Text {
	return Seconds(now.Add(timeout + afterDeadline + time.Second))
}

// Why returns why the last attempt failed, "" if it did not.
func (s Sending) Why() string {
	o := s.Last
	switch {
	case o == nil || o.Outcome == engine.SendDone:
		return ""
	case o.Reason == "":
		return o.Outcome
	}
	return o.Outcome + ": " + o.Reason
}

// Again returns when the next attempt may begin after one that certainly failed.
func (s Sending) Again() Text {
	wait := max(retryPause, time.Duration(s.Last.RetryAfter)*time.Second)
	return Seconds(s.Last.FinishedAt.Time().Add(wait + time.Second - 1)) // never too early
}

// IsExhausted reports whether no attempt follows one that certainly failed.
func (s Sending) IsExhausted() bool {
	return s.Attempts >= MostAttempts || time.Duration(s.Last.RetryAfter)*time.Second > longestPause
}
