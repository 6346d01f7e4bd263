package afl

import "placet/engine/testoutput"

// awaitsAnalysis reports whether a failed attempt waits for an analysis.
func (r *session) awaitsAnalysis(c *Checkpoint, j *judgement) bool {
	if j.Passed || r.cfg.OracleWait == 0 || j.t.analysis != nil {
		return false
	}
	until := c.AnalysisUntil.Time()
	if c.AnalysisUntil != "" && !r.Snap.Now.Before(until) {
		return false
	}
	r.WakeAt(until)
	return true
}

// routed says what becomes of an attempt: section 4.3 of the page, first that
// applies.
func (v Verdict) routed(r *session, c *Checkpoint) Verdict {
	v.Route = r.route(c, v)
	return v
}

func (r *session) route(c *Checkpoint, v Verdict) Route {
	switch {
	case v.Passed:
		return routePass
	case v.failure() == testoutput.DesignMismatch && r.cfg.EscalateDesign:
		return routeDesign
	case v.failure() == testoutput.EnvIssue, v.failure() == testoutput.Timeout && timedOutBefore(c):
		return routeEnv
	case v.Iteration >= c.MaxIterations:
		return routeMaxRetry
	case v.failure() == testoutput.Unknown && r.cfg.EscalateUnclear:
		return routeUnclear
	case r.cfg.EscalateOnPattern && r.pattern(c, v):
		return routePattern
	}
	return routeRetry
}

// timedOutBefore reports whether the last verdict of the same epoch was a
// timeout.
func timedOutBefore(c *Checkpoint) bool {
	if len(c.History) == 0 {
		return false
	}
	last := c.History[len(c.History)-1]
	return last.Epoch == c.Epoch && testoutput.Type(last.FailureType) == testoutput.Timeout
}

// pattern reports whether the last verdicts of the epoch, this one included,
// show the same failure.
func (r *session) pattern(c *Checkpoint, v Verdict) bool {
	this := Judged{Epoch: c.Epoch, Result: failed, Signature: v.Signature}
	return sameInARow(append(c.History[:len(c.History):len(c.History)], this)) >= r.cfg.PatternAfter
}
