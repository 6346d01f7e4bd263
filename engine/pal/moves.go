package pal

import (
	"cmp"
	"maps"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// step is a transition in the making.
type step struct {
	*change
	r *view
	// moved lists the events of the commit, beginning with that of the rule.
	moved []happened
}

// happened is one thing that moved in a commit.
type happened struct{ of, subject, event string }

// note records that something moved.
func (s *step) note(of, subject, event string) {
	s.moved = append(s.moved, happened{of, subject, event})
}

// along moves something in the same commit.
func (s *step) along(of, subject string, from engine.Status, event string, to engine.Status) {
	s.Also(engine.Transition{Edge: engine.Edge{Of: of, From: from, Event: event, To: to}, Subject: subject})
	s.note(of, subject, event)
}

// port returns a port of the state after the transition.
func (s *step) port(id string) *Port { return s.State.Ports[id] }

// isMoving reports whether the run has started and has not ended.
func (r *view) isMoving() bool { return slices.Contains(moving, r.run.State.Status) }

// admits creates the state of an orchestration.
func admits(r *view, _ run.On) *turn {
	if r.sources.design == nil || r.run.Held {
		return nil
	}
	return &turn{reason: orchestrationFile, causes: []engine.Document{r.sources.doc}, then: func(s *step) {
		st := s.State
		st.SchemaVersion, st.ID, st.Language, st.CreatedAt = 1, r.run.Snap.Key.ID, cmp.Or(r.run.Lang, templates.English), s.Now
		st.Loops, st.Sessions, st.Escalations = map[string]*Loop{}, map[string]*Session{}, map[string]*Escalation{}
		s.takeIn(r.sources.design)
	}}
}

// takeIn copies the design into the state.
func (s *step) takeIn(d *Design) {
	st := s.State
	st.Title, st.Digest, st.Specs, st.AdmittedRevision = d.Title, d.Digest, maps.Clone(d.Specs), s.Revision
	st.Settings = Settings{d.MaxConcurrency, d.Parallel}
	st.Ports = map[string]*Port{}
	for _, p := range d.Ports {
		one := &Port{
			Status: Pending, Title: p.Title, Order: p.Order, DependsOn: p.DependsOn, Waived: []string{}, Spec: p.SpecPath, Body: p.Body, Agent: p.Agent,
			Limits: p.Limits, Workers: p.Workers, BlockedBy: BlockedBy{[]string{}, []string{}},
		}
		event := "admitted"
		if p.Complete {
			one.Status, one.CompletedAt, event = Complete, s.Now, "declared"
		}
		st.Ports[p.ID] = one
		s.along(ofPort, p.ID, "", event, one.Status)
	}
}

// replans copies the sources into the state again if they changed before the start.
func replans(r *view, _ run.On) *turn {
	d := r.sources.design
	if d == nil || r.run.Held || d.Digest == r.run.State.Digest && maps.Equal(d.Specs, r.run.State.Specs) && d.isAsIn(&r.run.State) {
		return nil
	}
	return &turn{reason: r.say("reason.replanned"), causes: []engine.Document{r.sources.doc}, then: func(s *step) { s.takeIn(d) }}
}

// isAsIn reports whether the settings of a design equal those in a state.
func (d *Design) isAsIn(st *State) bool {
	if d.MaxConcurrency != st.Settings.MaxConcurrency || d.Parallel != st.Settings.Parallel || len(d.Ports) != len(st.Ports) {
		return false
	}
	for _, p := range d.Ports {
		if have := st.Ports[p.ID]; have == nil || have.Limits != p.Limits {
			return false
		}
	}
	return true
}

// starts starts the run.
func starts(r *view, _ run.On) *turn {
	if r.sources.design == nil || r.run.Held || r.control.Want != run.WantRun && (r.control.Want != "" || !r.sources.design.Autostart) {
		return nil
	}
	t := &turn{reason: r.say("reason.valid"), then: func(s *step) { s.State.StartedAt = s.Now }}
	if r.control.Want == run.WantRun {
		asWished(r, t)
	}
	return t
}

// asWished completes a turn that control.json asks for.
func asWished(r *view, t *turn) *turn {
	t.reason, t.causes, t.actor = r.say("reason.wants", "want", r.control.Want), []engine.Document{r.run.Snap.In(controlFile)}, engine.Person(r.control.By)
	if !templates.Blank(r.control.Reason) {
		t.reason = r.control.Reason
	}
	return t
}

func pauses(r *view, _ run.On) *turn {
	if r.control.Want != run.WantPause {
		return nil
	}
	return asWished(r, &turn{then: func(s *step) { s.State.PausedAt = s.Now }})
}

// resumes continues a paused run. The pause does not count against the deadlines of the ports.
func resumes(r *view, _ run.On) *turn {
	if r.control.Want != run.WantRun {
		return nil
	}
	return asWished(r, &turn{then: func(s *step) {
		length := s.Now.Time().Sub(s.State.PausedAt.Time())
		for _, p := range s.State.Ports {
			if p.Status == Running && p.Deadline != "" && length > 0 {
				p.Deadline = run.Seconds(p.Deadline.Time().Add(length))
			}
		}
		s.State.PausedAt = ""
	}})
}

func cancelsAsWished(r *view, _ run.On) *turn {
	if r.control.Want != run.WantAbort {
		return nil
	}
	return asWished(r, &turn{then: func(s *step) { s.cancel(nil) }})
}

func cancelsAsTold(_ *view, on run.On) *turn {
	return &turn{reason: on.Answer.Why(), then: func(s *step) { s.cancel(on.Answer) }}
}

// cancel ends the run and everything in it.
func (s *step) cancel(a *run.Answer) {
	st, why := s.State, s.r.say("reason.cancelled")
	st.CompletedAt, st.PausedAt = s.Now, ""
	if a != nil {
		s.resolve(a, "answered", Resolved)
	}
	for _, id := range st.order() {
		p := st.Ports[id]
		if isFinal(p.Status) {
			continue
		}
		s.along(ofPort, id, p.Status, "run_cancelled", Cancelled)
		p.Status = Cancelled
		s.end(id, why)
	}
	s.supersedeAll(func(*Escalation) bool { return true }, gate.Cancelled, why)
}

// finishes ends a run once all its ports have ended, with or without a failure among
// them.
func finishes(withFailures bool) func(*view, run.On) *turn {
	return func(r *view, _ run.On) *turn {
		failed := 0
		for _, p := range r.ports {
			if !isFinal(p.Status) {
				return nil
			}
			if p.Status == Failed {
				failed++
			}
		}
		if (failed > 0) != withFailures {
			return nil
		}
		reason := r.say("reason.ended")
		if failed > 0 {
			reason = r.say("reason.ended.failed", "n", failed)
		}
		return &turn{reason: reason, then: func(s *step) {
			s.State.CompletedAt = s.Now
			s.supersedeAll(func(*Escalation) bool { return true }, gate.Superseded, reason)
		}}
	}
}

// finish makes the changes of every transition: what blocks the ports, the progress of the run, its
// sessions, and the lines of the journal.
func (s *step) finish() {
	st := s.State
	cutOff, open := cutOffIn(st), st.openByPort()
	complete := 0
	for id, p := range st.Ports {
		if p.Status == Complete {
			complete++
		}
		p.BlockedBy = blockedBy(st, id, open, cutOff)
	}
	if len(st.Ports) > 0 {
		st.Percent = 100 * complete / len(st.Ports)
	}
	s.markSessions()
	s.journal()
}
