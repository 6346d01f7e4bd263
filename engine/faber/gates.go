package faber

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// An agent may ask before it starts or ends a step, or starts a phase: it writes a call,
// gates/<phase>[.<step>].json. placet replies beside it, and while a gate is due that no person has
// passed, it asks a person. What is due follows from settings, metadata.json and the definition;
// what was passed follows from receipts, and from the history where [gates] demands no more.

// Kinds of gates that placet opens.
const (
	phaseEntry   = "phase_entry"
	stepGate     = "step"
	irreversible = "destructive"
)

// Results of a call.
const (
	GatePass    = "pass"
	GateWaits   = "waits"
	GateRefused = "refused"
)

// GateReply is placet's reply to a call.
type GateReply struct {
	Phase, Step string
	// Kind and Attempt are those of the gate that the result is about, "" and 0 if none is due.
	Kind    string
	Attempt int
	Result  string
	Why     string
	// RequestID and Revision are those of the answer or of the open request that the result follows
	// from.
	RequestID string
	Revision  int
	// Unnamed is true if the call must name a step before anybody can be asked.
	Unnamed bool
	// due is the gate about which a person is asked next, nil if none is.
	due *Gate
}

// Members returns the reply as placet writes it.
func (g GateReply) Members() schemas.Object {
	return schemas.Object{
		{Name: "phase", Value: g.Phase}, {Name: "step", Value: g.Step}, {Name: "kind", Value: g.Kind}, {Name: "attempt", Value: g.Attempt},
		{Name: "result", Value: g.Result}, {Name: "why", Value: g.Why}, {Name: "request_id", Value: g.RequestID}, {Name: "revision", Value: g.Revision},
	}.NullWhereEmpty("step", "kind", "request_id")
}

// Gate returns the reply to the call about a phase or a step of it. ok is false if the state of the
// run cannot be used, or if there is no such call.
func (Machine) Gate(s engine.Snapshot, phase, step string) (reply GateReply, ok bool) {
	r, ok := family.Judge(s)
	if !ok || r.state.unfit != nil || r.foreign() {
		return reply, false
	}
	for _, c := range gateCalls(r) {
		if c.phase == phase && c.step == step {
			return replyOf(r, c), true
		}
	}
	return reply, false
}

// gateCall is a call, by the name of its file.
type gateCall struct {
	phase, step string
	doc         engine.Document
	// bad is why the file does not say what its name says.
	bad string
}

// gateCalls returns the calls of a run, in the order of the phases. A call that is still being
// written, a link, and what else cannot be read is none.
func gateCalls(r *view) []gateCall {
	return run.Once(r.run, "gates", func() (calls []gateCall) {
		for _, d := range r.Snap.Under(layout.FaberGates) {
			if d.Kind != layout.FaberGate || !d.Present() {
				continue
			}
			c := gateCall{doc: d}
			c.phase, c.step, _ = layout.FaberGateName(path.Base(d.Path))
			said, err := engine.Parse(d, decodeGateCall)
			switch {
			case err != nil && r.MaybePartial(d, err):
				continue
			case err != nil:
				c.bad = r.Say("run.invalid", "error", err)
			case said.Phase != c.phase || said.Step != c.step:
				c.bad = r.Say("faber.gate.name", "says", quote(where(said.Phase, said.Step)))
			}
			calls = append(calls, c)
		}
		slices.SortStableFunc(calls, func(a, b gateCall) int {
			return slices.Index(phaseOrder, a.phase) - slices.Index(phaseOrder, b.phase)
		})
		return calls
	})
}

// calledGate is what a call says.
type calledGate struct {
	Phase string `json:"phase"`
	Step  string `json:"step"`
}

func decodeGateCall(p string, body []byte) (c calledGate, err error) {
	err = schemas.Decode("faber/gate", path.Base(p), body, &c)
	return c, err
}

// replyOf returns the reply to a call.
func replyOf(r *view, c gateCall) GateReply {
	g := GateReply{Phase: c.phase, Step: c.step}
	refused := func(key templates.Key, pairs ...any) GateReply {
		g.Result, g.Why = GateRefused, r.Say(key, pairs...)
		return g
	}
	level, _ := autonomyOf(r)
	switch {
	case c.bad != "":
		return refused("say.text", "text", c.bad)
	case !slices.Contains(phaseOrder, c.phase):
		return refused("faber.gate.phase", "phase", quote(c.phase), "phases", strings.Join(phaseOrder, ", "))
	case final(r.state.status), r.state.status == Failed:
		return refused("faber.gate.ended", "status", r.state.status)
	case level == "dry-run":
		return refused("faber.gate.dry")
	case !isPlanned(r, c.phase, c.step):
		return refused("faber.gate.unplanned", "step", strings.TrimSuffix(where(c.phase, c.step), ":"), "workflow", quote(r.workflowID()))
	}
	return replyTo(r, c, g)
}

// replyTo completes the reply to a call that may pass.
func replyTo(r *view, c gateCall, g GateReply) GateReply {
	due := gatesAt(r, c.phase, c.step)
	waits := func(key templates.Key, pairs ...any) GateReply {
		g.Result, g.Why = GateWaits, r.Say(key, pairs...)
		return g
	}
	g.Result, g.Why = GatePass, r.Say("faber.gate.free")
	var next *Gate
	for i := range due {
		a := passedBy(r, due[i])
		if g.Kind, g.Attempt = due[i].Kind, due[i].Attempt; a == nil {
			next = &due[i]
			break
		}
		g.RequestID, g.Revision = a.request, a.revision
		g.Why = r.Say("faber.gate.passed", "user", cmp.Or(a.user, "?"), "request", a.request)
	}
	if next != nil {
		g.RequestID, g.Revision = "", 0
	}
	switch {
	case r.state.status == Awaiting:
		o := r.asked()
		if o == nil {
			return waits("faber.gate.busy")
		}
		g.RequestID, g.Revision = o.folder.ID, o.req.Revision
		return waits("faber.gate.waits", "request", o.folder.ID)
	case r.state.status == Paused:
		return waits("faber.why.paused")
	case areGatesBusy(r):
		return waits("faber.gate.busy")
	case next == nil:
		return g
	case isOverdue(r, c, *next):
		g.Result, g.Why = GateRefused, r.Say("faber.gate.again", "step", where(c.phase, c.step), "attempt", next.Attempt)
		return g
	}
	if next.Step = cmp.Or(next.Step, r.plan().first(c.phase)); next.Step == "" {
		g.Result, g.Why, g.Unnamed = GateRefused, r.Say("faber.gate.unnamed", "phase", c.phase), true
		return g
	}
	g.due = next
	return waits("faber.gate.opens")
}

// areGatesBusy reports whether a file that says which gates are due, or which were passed, is still
// being written or cannot be read now. What it says is not nothing.
func areGatesBusy(r *view) bool {
	return run.Once(r.run, "gates busy", func() bool {
		files := []engine.Document{r.Snap.In("metadata.json")}
		for _, a := range r.run.Folders {
			for _, d := range a.Docs {
				if d.Kind == layout.KindRequest || d.Kind == layout.KindReceipt {
					files = append(files, d)
				}
			}
		}
		r.plan()
		return r.anyBusy(files, "faber.locked.gate") || r.Held || r.events.open || r.definitions().unreadable
	})
}

// isOverdue reports whether a call was made for an attempt of its step that another one has followed,
// or before a reviewer asked for changes at the gate: whoever repeats the step calls again.
func isOverdue(r *view, c gateCall, due Gate) bool {
	again := r.events.lastRetry(plannedStep{Phase: c.phase, ID: c.step})
	if c.step != "" && again != nil && c.doc.Changed.Before(r.Snap.In("events/"+again.Name).Changed) {
		return true
	}
	return slices.ContainsFunc(r.run.Folders, func(a *gate.Folder) bool {
		return isRevised(a, due) && c.doc.Changed.Before(moment(a.Receipt.ReceivedAt))
	})
}

// isRevised reports whether a reviewer asked for changes in the request at a gate.
func isRevised(a *gate.Folder, g Gate) bool {
	if a.Request == nil || a.Receipt == nil || a.Receipt.Result != gate.Accepted || outcomeOf(*a.Request, a.Receipt.Response) != revises {
		return false
	}
	own := readContext(a.Request.Context).Gate
	return own != nil && *own == g
}

// isPlanned reports whether a phase, or a step of it, may be reached according to a definition.
// Without one everything may.
func isPlanned(r *view, phase, step string) bool {
	w := r.plan()
	return !w.defined || w.first(phase) != "" && (step == "" || w.position(phase, step) >= 0)
}

// opensGate asks a person at the first gate that is due.
func opensGate(r *view, _ run.On) *move {
	o := dueGate(r)
	if o == nil || r.Held || o.q.artifactsBusy() || owesAnswer(r) {
		return nil
	}
	q := o.q
	return transition{
		at: r.Snap.Now, reason: r.Say("faber.reason.gate", "gate", q.gate.name()),
		docs: func(int) []engine.Document { return o.files() }, events: o.openingEvents(),
		moves: []jsonedit.Edit{
			set("/resume_point", schemas.Object{{Name: "phase", Value: q.phase}, {Name: "step", Value: q.step}, {Name: "step_index", Value: r.stepIndex(q.phase, q.step)}}),
			set("/feedback_request", schemas.Object{
				{Name: "request_id", Value: q.RequestID}, {Name: "type", Value: q.Type}, {Name: "prompt", Value: q.Prompt},
				{Name: "options", Value: q.Options}, {Name: "context", Value: q.Context}, {Name: "requested_at", Value: o.req.RequestedAt},
				{Name: "notification_sent", Value: schemas.Object{
					{Name: "cli", Value: false}, {Name: "issue_comment", Value: false}, {Name: "comment_url", Value: nil}, {Name: "form", Value: formPath(q.RequestID)},
				}},
			}),
		},
	}.move(r)
}

// owesAnswer reports whether the last answer lacks its receipt or its events. After a crash only the
// state that the answer made can tell what they say, and upstream may still be recording its own
// answer: what that passes is known once its request is closed.
func owesAnswer(r *view) bool {
	var p engine.Plan
	eventOutputs(r, &p)
	return len(p.Writes) > 0 || slices.ContainsFunc(r.run.Folders, func(a *gate.Folder) bool {
		return a.Request != nil && a.Receipt == nil && !a.BadReceipt && (a.Request.Revision <= r.state.rev || r.state.answerTo(a.ID) != nil)
	})
}

// dueGate returns the request at the first gate that is due, nil if none is.
func dueGate(r *view) *request {
	return run.Once(r.run, "gate", func() *request {
		if r.state.unfit != nil || r.foreign() || r.state.status != Pending && r.state.status != InProgress {
			return nil
		}
		for _, c := range gateCalls(r) {
			if g := replyOf(r, c); g.due != nil {
				return gateQuestion(r, *g.due).open()
			}
		}
		return nil
	})
}

// gateQuestion returns the question at a gate. Its id is a function of the state, so a repeated pass
// gives the same id.
func gateQuestion(r *view, g Gate) *question {
	q := &question{view: r, phase: g.Phase, step: g.Step, gate: g, ownGate: true, forStatus: Awaiting, openedBy: "state.json"}
	q.Type, q.RequestID, q.RequestedAt = "approval", r.requestID(g), seconds(r.Snap.Now)
	key, at := "faber.ask.gate.", where(g.Phase, g.Step)
	var shows []string
	switch d := r.plan().definition(g.Phase, g.Step); {
	case g.Kind == phaseEntry:
		at = g.Phase
	case g.Kind == irreversible:
		q.Type = "confirmation"
		shows = d.produces()
	default:
		shows = d.produces()
		if q.Prompt = d.Prompt; d.ApprovalType == "review" {
			q.Type, shows = "review", append(slices.Clip(shows), r.state.spec())
		}
	}
	if q.Prompt == "" || len(q.Prompt) > longestPrompt {
		q.Prompt = r.Say(templates.Key(key+g.Kind), "at", at)
	}
	q.Options = defaultOptions[q.Type]
	var context schemas.Object
	if shows = slices.DeleteFunc(shows, func(p string) bool { return p == "" }); len(shows) > 0 {
		context = append(context, schemas.Member{Name: "artifact_paths", Value: shows})
	}
	q.Context = run.Must(schemas.Encode(append(context, schemas.Member{Name: "gate", Value: g})))
	q.shown = readContext(q.Context)
	return q
}

// longestPrompt is the longest prompt of a step that a gate asks with, in bytes.
const longestPrompt = 4000

// produces returns the paths that a step produces, none if no definition has the step.
func (d *definitionStep) produces() []string {
	if d == nil {
		return nil
	}
	return slices.Clone(d.Produces)
}

// name returns the name of a gate for people.
func (g Gate) name() string {
	if g.Kind == phaseEntry {
		return g.Phase
	}
	return where(g.Phase, g.Step)
}

// isMade reports whether a folder holds the request at a gate that a crash, or an older state that
// somebody restored, left without its transition.
func isMade(r *view, a *gate.Folder, g Gate) bool {
	if a.Receipt != nil || a.BadReceipt {
		return false
	}
	if a.Request == nil {
		return a.Doc.Absent() || a.Doc.Unsettled()
	}
	own := readContext(a.Request.Context).Gate
	return own != nil && *own == g && a.Request.Revision == r.state.rev+1
}

// gateOutputs plans the replies to the calls.
func gateOutputs(r *view, p *engine.Plan) {
	for _, c := range gateCalls(r) {
		_, reply := layout.FaberGateFiles(c.phase, c.step)
		r.put(p, reply, layout.FaberPass, run.Must(schemas.Encode(replyOf(r, c).Members())))
	}
}
