package afl

import (
	"bytes"
	"path"

	"placet/engine"
	"placet/layout"
)

// maybeStarts reports whether anything may start at all.
func (r *reading) mayStart() bool {
	return r.st.Status == Delegating && r.st.Pause == nil && len(r.escalated()) == 0
}

// dependents aborts what waits for an aborted checkpoint, and reopens what a
// review blocks.
func (r *reading) dependents() (p engine.Plan, ok bool) {
	for _, id := range r.order {
		c, d := r.checkpoint(id), r.defs[id]
		if c == nil || d == nil || c.Status != Pending {
			continue
		}
		for _, dep := range d.Dependencies {
			other := r.checkpoint(dep)
			if other == nil || other.Status != Aborted || other.Skip == skipForced {
				continue
			}
			m := r.checkpointMove(id, dependencyAborted, Aborted, dep+" was aborted", nil)
			m.c.AbortedBecause, m.c.FinishedAt = becauseDependency, m.now
			m.close(id, cancelled, dep+" was aborted")
			return m.plan(), true
		}
	}
	return r.reopens()
}

// starts are the attempts that are due.
func (r *reading) starts() (p engine.Plan, ok bool) {
	if !r.mayStart() {
		return p, false
	}
	taken, running := 0, 0
	for _, id := range r.order {
		switch c := r.checkpoint(id); {
		case c == nil:
		case c.Status == InProgress || c.Status == Validating:
			taken++
			running++
		case c.Status == Retrying:
			taken++ // it keeps its slot
		}
	}
	for _, id := range r.order {
		if p, ok := r.retryDue(id, running); ok {
			return p, true
		}
	}
	if p, ok := r.revalidates(running); ok {
		return p, true
	}
	for _, id := range r.order {
		if p, ok := r.start(id, taken); ok {
			return p, true
		}
	}
	return p, false
}

func (r *reading) retryDue(id string, running int) (p engine.Plan, ok bool) {
	c := r.checkpoint(id)
	if c == nil || c.Status != Retrying || running >= r.cfg.Workers || r.withheld() {
		return p, false
	}
	if due := c.RetryAt.Time(); r.Snap.Now.Before(due) {
		r.WakeAt(due)
		return p, false
	}
	if r.writing(id, c.Iteration+1) {
		return p, false
	}
	m := r.checkpointMove(id, retryDue, InProgress, "the next attempt is due", nil)
	m.attempt()
	return m.plan(), true
}

func (r *reading) start(id string, taken int) (p engine.Plan, ok bool) {
	c := r.checkpoint(id)
	if c == nil || c.Status != Pending || taken >= r.cfg.Workers || !r.ready(id) || r.withheld() || r.writing(id, c.Iteration+1) {
		return p, false
	}
	m := r.checkpointMove(id, start, InProgress, "its dependencies are met", nil)
	if m.c.StartedAt == "" {
		m.c.StartedAt = m.now
	}
	m.attempt()
	return m.plan(), true
}

// writing reports whether something that lies with an attempt to come is still
// being written or cannot be read: whether it is news later could not be told.
func (r *reading) writing(id string, n int) bool {
	for _, rel := range []string{
		place(id, n, "worker.json"), place(id, n, "result.json"), "delegations/" + id + "/pending-question.json",
	} {
		if r.Unsure(r.Snap.In(rel)) {
			return true
		}
	}
	return false
}

// outcomes is the highest number among the outcomes of a kind that lie with an
// attempt, 0 for none.
func (r *reading) outcomes(id string, n int, stem string) int {
	highest := 0
	for _, d := range r.Snap.Under(place(id, n, "")) {
		if of, k, ok := layout.AFLNumber(path.Base(d.Path)); ok && of == stem && !d.Absent() {
			highest = max(highest, k)
		}
	}
	return highest
}

// withheld reports whether an attempt would begin with a command while none
// may.
func (r *reading) withheld() bool { return r.cfg.Still && r.cfg.WorkerCommand != "" }

// ready reports whether a checkpoint's dependencies are met.
func (r *reading) ready(id string) bool {
	for _, dep := range r.defs[id].Dependencies {
		if c := r.checkpoint(dep); c == nil || !met(c) {
			return false
		}
	}
	return true
}

// met reports whether what depends on a checkpoint may start.
func met(c *Checkpoint) bool {
	return c.Status == Completed || c.Status == Aborted && c.Skip == skipForced
}

// attempt begins the next attempt: a fresh worker, nothing asked, and nothing
// that lies there already is news.
func (m *move) attempt() {
	c, r := m.c, m.r
	c.Iteration++
	c.LastAttemptAt, c.RetryAt, c.AnalysisUntil, c.Run = m.now, "", "", nil
	c.Questions = nil
	c.Worker = &Worker{Mode: modeOutside, Number: 1 + r.outcomes(m.id, c.Iteration, "worker-run"), StartedAt: m.now}
	if digest := r.workerDigest(); digest != "" && r.Snap.Facts.Trusts(digest, worktree(m.id)) {
		c.Worker.Mode, c.Worker.CommandDigest = modeCommand, text(digest)
		c.Worker.Deadline = millis(r.Snap.Now.Add(r.cfg.WorkerTimeout))
	}
	m.look()
}

// look notes what lies there already.
func (m *move) look() {
	c, r := m.c, m.r
	sum := func(rel string) []text {
		if d := r.Snap.In(rel); d.Present() {
			return []text{text(d.Sum)}
		}
		return nil
	}
	if m.prompted() {
		c.Seen.Result, c.Seen.Worker = nil, nil
		return
	}
	c.Seen = Seen{
		Result: sum(place(m.id, c.Iteration, "result.json")), Worker: sum(place(m.id, c.Iteration, "worker.json")),
		Question: sum("delegations/" + m.id + "/pending-question.json"),
	}
}

// prompted reports whether a crash came between the attempt's prompt and its
// becoming fact, and left the prompt as it is to be: a worker may have handed
// in by now, and that is news.
func (m *move) prompted() bool {
	n, after := m.c.Iteration, *m.r
	prompt := m.r.Snap.In(place(m.id, n, "prompt.md"))
	if !prompt.Present() {
		return false
	}
	for _, d := range m.r.Snap.Under(place(m.id, n, "")) {
		switch d.Kind {
		case layout.AFLPrompt, layout.AFLWorker, layout.AFLResult, layout.KindProblem:
		default:
			if !d.Absent() {
				return false // the attempt was fact once: the state is an older one
			}
		}
	}
	after.st = m.st
	after.index(m.st)
	return bytes.Equal(prompt.Body, after.promptMD(m.id))
}

// workerDigest is that of the worker command, "" where there is none.
func (r *reading) workerDigest() engine.Digest {
	if r.cfg.WorkerCommand == "" {
		return ""
	}
	return commandDigest("worker", r.cfg.Shell, r.cfg.WorkerCommand)
}
