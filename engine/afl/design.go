package afl

import (
	"slices"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// mayBeApproved reports whether the checkpoints may await approval in this status.
func (r *session) mayBeApproved() bool {
	switch p := r.run.State.Pause; r.run.State.Status {
	case Designing:
		return true
	case Paused, Escalated:
		return p != nil && p.Reason != pausePerson
	}
	return false
}

// isChanged reports whether the files hold a design other than the approved one.
func isChanged(r *session) bool {
	return r.specs.readable && r.run.State.Approved != nil && r.specs.digest != r.run.State.Approved.Digest
}

// isUndone reports whether somebody took back the change that paused the session.
func isUndone(r *session) bool {
	p := r.run.State.Pause
	return p != nil && p.Reason == pauseChanged && r.specs.readable && !isChanged(r)
}

// readNewSpecs records the definitions that the files contain now.
func readNewSpecs(r *session, _ run.On) *move {
	was := r.run.State.Specs
	same := r.specs.digest == was.Digest && slices.Equal(r.specs.ids(true), was.Errors) && slices.Equal(r.specs.ids(false), was.Warnings)
	if !r.mayBeApproved() || !r.specs.readable || same || isUndone(r) {
		return nil
	}
	return &move{Reason: r.say("move.specs_read"), Causes: r.specs.causes, Then: func(c *change) {
		noteSpecs(r, c)
		closeOf(c, "", gate.Superseded, r.say("move.changed"), typeApproval)
	}}
}

// noteSpecs records the definitions of the files in the state.
func noteSpecs(r *session, c *change) {
	s, now := &c.State.Specs, r.specs
	if now.digest != s.Digest || s.SeenAt == "" {
		s.SeenAt = c.Now
	}
	s.Layout, s.Digest, s.Errors, s.Warnings = text(now.layout), now.digest, now.ids(true), now.ids(false)
}

// pauseForSpecs pauses a running session whose design changes.
func pauseForSpecs(r *session, _ run.On) *move {
	if r.run.State.Pause != nil || !isChanged(r) {
		return nil
	}
	return &move{Reason: r.say("move.specs_changed"), Causes: r.specs.causes, Then: func(c *change) {
		c.State.Pause = &Pause{Reason: pauseChanged, At: c.Now}
	}}
}

// pauseAsWished pauses a session because control.json asks for it.
func pauseAsWished(r *session, _ run.On) *move {
	if r.run.State.Pause != nil || r.control.Want != run.WantPause {
		return nil
	}
	return wished(r, "move.pause", func(c *change) {
		c.State.Pause = &Pause{Reason: pausePerson, At: c.Now, By: text(templates.Cut(r.control.By, engine.LongestReason))}
	})
}

// resume continues a paused session.
func resume(r *session, _ run.On) *move {
	pause := r.run.State.Pause
	switch {
	case pause == nil:
		return nil
	case pause.Reason == pausePerson && r.control.Want == run.WantRun:
		return wished(r, "move.run", func(c *change) { c.State.Pause = nil })
	case !isUndone(r):
		return nil
	}
	why := r.say("move.specs_undone")
	return &move{Reason: why, Causes: r.specs.causes, Then: func(c *change) {
		c.State.Pause = nil
		noteSpecs(r, c)
		closeOf(c, "", gate.Cancelled, why, typeApproval)
	}}
}

// approval is the origin of a valid approval of the current design.
type approval struct {
	source, by string
	// file is the file that carries a stamp.
	file string
}

// stamped returns a valid approval other than an answer (section 4.6 of the page), or nil.
func stamped(r *session) *approval {
	at, known := stampedAt(r)
	isAfter := func(since text) bool { return known && at.After(since.Time()) }
	p, stamp := r.run.State.Pause, approval{source: "stamp", by: r.specs.approvedBy, file: specsYAML}
	switch wish := r.run.State.Specs.ChangesRequested; {
	case wish != nil && wish.Digest == r.run.State.Specs.Digest:
		if isAfter(wish.At) && (p == nil || isAfter(p.At)) {
			return checkStamp(r, stamp)
		}
	case p != nil:
		if isAfter(p.At) {
			return checkStamp(r, stamp)
		}
	case r.meta.Approved:
		return checkStamp(r, approval{source: "meta", file: "meta.json"})
	case r.specs.approvedAt != "" || r.specs.approvedBy != "":
		return checkStamp(r, stamp)
	}
	return nil
}

// checkStamp returns the approval that a file carries itself. If the gate asks for more, it writes
// a note and returns nil: anybody who can write the file can write a stamp.
func checkStamp(r *session, a approval) *approval {
	d := r.run.Snap.In(a.file)
	c := gate.Claim{Source: gate.FromStamp, Place: d.Path, Saved: d.Changed}
	c.Response, c.By.User = optApprove, a.by
	asked := gate.Evaluation{Lang: r.run.Lang, Gate: r.run.Snap.Facts.Config.GateFor("afl", typeApproval)}
	if open := r.run.Open(typeApproval); open != nil {
		asked.Present = r.run.Folder(open.ID).Dir + "/form.md"
	}
	if _, problem := gate.Verify(c, asked); problem != "" {
		r.run.Notes.Beside(d.Path, problem)
		return nil
	}
	return &a
}

// stampedAt returns when the checkpoints were approved according to the file, to be compared with a
// later event. known is false for a stamp without a time zone, from the future, or from before the
// last approval.
func stampedAt(r *session) (time.Time, bool) {
	if a := r.run.State.Approved; a != nil && string(a.Stamp) == r.specs.approvedAt {
		return time.Time{}, false
	}
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		t, err := time.Parse(form, r.specs.approvedAt)
		if err == nil && t.After(r.run.Snap.Now) {
			r.run.WakeAt(t) // a stamp of the future counts from then on
		} else if err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// approve accepts an approval: a person's answer, or a stamp in a file.
func approve(r *session, on run.On) *move {
	if !r.mayBeApproved() || !r.specs.readable || len(r.specs.ids(true)) > 0 || r.specs.digest != r.run.State.Specs.Digest {
		return nil
	}
	m, a := &move{}, &approval{source: "request"}
	if on.Answer != nil {
		a.by = on.Answer.By.User
	} else if a = stamped(r); a == nil {
		return nil
	} else {
		m.Causes, m.Actor = []engine.Document{r.run.Snap.In(a.file)}, byUpstream
		if a.by != "" {
			m.Actor = engine.Person(a.by)
		}
	}
	m.Reason = r.say("move.approved", "source", a.source)
	m.Then = func(c *change) {
		closeOf(c, "", gate.Superseded, r.say("move.approved_elsewhere"), typeApproval)
		c.State.Pause, c.State.Specs.ChangesRequested = nil, nil
		voidReview(c)
		c.State.Approved = &Approved{
			Digest: r.specs.digest, At: c.Now, By: text(templates.Cut(a.by, engine.LongestReason)), Source: a.source,
			Stamp:       text(templates.Cut(r.specs.approvedAt, engine.LongestReason)),
			Definitions: r.specs.definitions(), Prerequisites: r.specs.pre,
		}
		voidPassReviews(c)
	}
	return m
}

// noteChanges records that a person requests changes to the checkpoints.
func noteChanges(r *session, on run.On) *move {
	if !r.mayBeApproved() {
		return nil
	}
	a := on.Answer
	return &move{Reason: a.Why(), Then: func(c *change) {
		c.State.Specs.ChangesRequested = &ChangesRequested{Digest: c.State.Specs.Digest, At: c.Now, By: text(a.By.User), Comment: text(a.Comment)}
	}}
}

// askApproval requests the approval once the checkpoints have been unchanged for a while, so that
// nobody is asked about half-saved ones.
func askApproval(r *session, _ run.On) *move {
	s := r.run.State.Specs
	if !r.mayBeApproved() || r.run.Held || s.Digest == "" || !r.specs.readable || r.run.Open(typeApproval) != nil || s.wished() != nil {
		return nil
	}
	since := s.SeenAt.Time()
	if p := r.run.State.Pause; p != nil && p.At.Time().After(since) {
		since = p.At.Time()
	}
	if due := since.Add(r.cfg.ApprovalQuiet); r.run.Snap.Now.Before(due) {
		r.run.WakeAt(due)
		return nil
	}
	return &move{Reason: r.say("move.approval_asked"), Then: func(c *change) { r.ask(c, typeApproval, "") }}
}

// wished returns the changes that a person requested in the current checkpoints, or nil.
func (s Specs) wished() *ChangesRequested {
	if w := s.ChangesRequested; w != nil && w.Digest == s.Digest {
		return w
	}
	return nil
}

// delegate starts the session's work once the approved definitions are applied.
func delegate(r *session, _ run.On) *move {
	return &move{Reason: r.say("move.delegate"), Then: func(c *change) {
		if c.State.StartedAt == "" {
			c.State.StartedAt = c.Now
		}
	}}
}
