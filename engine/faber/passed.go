package faber

import (
	"cmp"
	"slices"

	"placet/engine/gate"
	"placet/engine/run"
)

// levels are the levels of autonomy, the tightest first.
var levels = []string{"dry-run", "assist", "guarded", "autonomous"}

// Levels returns the levels of autonomy, the tightest first.
func Levels() []string { return slices.Clone(levels) }

// levelNames are upstream's other names of levels.
var levelNames = map[string]string{"assisted": "assist", "supervised": "guarded"}

// autonomyOf returns the level of a run: the tightest of those that metadata.json, the definition and
// the settings name; guarded if neither of the first two names any. unknown is a word of metadata.json
// or the definition that names no level, "" if there is none.
func autonomyOf(r *view) (level, unknown string) {
	tightest := len(levels)
	for _, word := range []string{r.meta.Autonomy, r.plan().autonomy.Level} {
		if word == "" {
			continue
		}
		i := slices.Index(levels, cmp.Or(levelNames[word], word))
		if i < 0 {
			i, unknown = slices.Index(levels, "guarded"), word
		}
		tightest = min(tightest, i)
	}
	if tightest == len(levels) {
		tightest = slices.Index(levels, "guarded")
	}
	if i := slices.Index(levels, r.cfg.Autonomy); i >= 0 {
		tightest = min(tightest, i)
	}
	return levels[tightest], unknown
}

// gatesAt returns the gates before a phase, or before a step of it, in the order in which they are
// asked.
func gatesAt(r *view, phase, step string) (due []Gate) {
	level, _ := autonomyOf(r)
	if isPhaseGated(r, phase, level) {
		due = append(due, Gate{Kind: phaseEntry, Phase: phase, Step: step, Attempt: 1})
	}
	if step == "" {
		return due
	}
	add := func(kind string) {
		attempt := 1 + r.events.retriesOf(plannedStep{Phase: phase, ID: step}, r.events.highest+1)
		due = append(due, Gate{kind, phase, step, attempt})
	}
	if d := r.plan().definition(phase, step); d != nil && d.RequiresApproval {
		add(stepGate)
	}
	auto := level == "autonomous" && r.cfg.AllowDestructiveAuto && isTrue(r.plan().autonomy.AllowDestructiveAuto)
	if r.isDestructive(phase, step) && !auto {
		add(irreversible)
	}
	return due
}

// isPhaseGated reports whether a person is asked before a phase begins.
func isPhaseGated(r *view, phase, level string) bool {
	w := r.plan()
	if slices.Contains(r.cfg.RequireApprovalFor, phase) || slices.Contains(w.autonomy.RequireApprovalFor, phase) {
		return true
	}
	paused := phase == "release" && (level == "assist" || isTrue(w.autonomy.PauseBeforeRelease))
	return level != "autonomous" && (paused || slices.Contains(w.gated, phase))
}

// approval is an answer of a person that passes gates.
type approval struct {
	phase, step string
	// kind is that of the gate that was asked about, "" for a request of upstream's own, which may be
	// about any.
	kind     string
	attempt  int
	request  string
	user     string
	revision int
	number   int // of the event that records it, 0 if none does
}

// passedBy returns the answer that passes a gate, nil if no person has passed it. The gate of a phase
// is passed once for a run, the others once for each attempt of their step.
func passedBy(r *view, g Gate) *approval {
	for _, a := range approvals(r) {
		if a.phase == g.Phase && (a.kind == "" || a.kind == g.Kind) && (g.Kind == phaseEntry || a.step == g.Step && a.attempt == g.Attempt) {
			return &a
		}
	}
	return nil
}

// approvals returns the answers that pass gates. A request that this machine issued must be as it
// was: what was approved is what its form showed, which names the phase and the step.
func approvals(r *view) []approval {
	return run.Once(r.run, "approvals", func() (all []approval) {
		for _, a := range r.run.Folders {
			if a.Request == nil || r.asks(a.ID) || !isAsIssued(r, a) {
				continue
			}
			if said := givenTo(r, a); said != nil && gate.Decides(a.Request.Type) && agrees(*a.Request, said.Response) {
				o := r.past(a)
				all = append(all, newApproval(r, a.ID, o.q.phase, o.q.step, o.q.shown.Gate, said))
			}
		}
		for i, h := range r.state.History { // requests of which only the history knows
			asked := r.events.about("feedback_request", h.RequestID)
			if asked != nil && len(r.run.Folder(h.RequestID).Docs) == 0 && r.proven(h.RequestID) && gate.Decides(h.RequestType) && gate.Approves(h.Response) {
				all = append(all, newApproval(r, h.RequestID, asked.Phase, asked.Step, h.Gate, &r.state.History[i]))
			}
		}
		return all
	})
}

// isAsIssued reports whether request.json of a past request says what its form showed, as far as
// that must be known.
func isAsIssued(r *view, a *gate.Folder) bool {
	return a.Doc.IssuedHere() || a.Doc.Issued == nil && !gate.Demands(gate.GateOf(r.Snap.Facts.Config, "faber", a.Doc))
}

// givenTo returns the answer to a past request: that of its receipt, or while it has none that of the
// history, which is a claim. It returns nil if there is none, or if [gates] demands more than a claim.
func givenTo(r *view, a *gate.Folder) *HistoryEntry {
	switch {
	case a.BadReceipt:
		return nil
	case a.Receipt == nil && r.proven(a.ID):
		return r.state.answerTo(a.ID)
	case a.Receipt == nil || a.Receipt.Result != gate.Accepted || gate.Unverified(r.Snap.Facts.Config, "faber", a.Doc, a.ReceiptDoc, *a.Receipt) != nil:
		return nil
	}
	return &HistoryEntry{Response: a.Receipt.Response, ProvidedBy: a.Receipt.ProvidedBy}
}

// newApproval returns an answer that agreed to a request at a step. own is the gate that the request
// itself names, nil if it names none. It counts for the attempt in which the request was made.
func newApproval(r *view, id, phase, step string, own *Gate, said *HistoryEntry) approval {
	a := approval{phase: phase, step: step, attempt: 1, request: id, user: said.ProvidedBy.User}
	if asked := r.events.about("feedback_request", id); asked != nil {
		a.attempt += r.events.retriesOf(plannedStep{Phase: phase, ID: step}, asked.Number)
	}
	if e := r.events.about("feedback_received", id); e != nil {
		a.number, a.revision = e.Number, e.Metadata.Placet.Revision
	}
	switch {
	case own == nil:
	case own.Phase != phase || own.Step != step || own.Kind != phaseEntry && own.Attempt != a.attempt:
		a.kind = "?" // it names another gate than the one that was shown
	default:
		a.kind = own.Kind
	}
	return a
}

// hasGate reports whether a person is asked before a planned step. The gate of a phase is before its
// first step.
func hasGate(r *view, s plannedStep) bool {
	return slices.ContainsFunc(gatesAt(r, s.Phase, s.ID), func(g Gate) bool {
		return g.Kind != phaseEntry || r.plan().first(s.Phase) == s.ID
	})
}
