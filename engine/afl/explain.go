package afl

import (
	"fmt"
	"strings"
	"sync"

	"placet/engine"
	"placet/engine/gate"
)

// explaining says why a session stands where it stands: for each thing that
// waits the first guard that is not met, and the file that would meet it.
type explaining struct {
	r *reading
	a *engine.Account
	// next is the transition that the next pass makes; nil for none.
	next *engine.Transition
	// What every checkpoint asks for is looked up once: there may be very many.
	// taken, running and escalated are checkpoints, open the open requests.
	taken, running, escalated func() []string
	open                      func() map[subject]string
}

// subject is what an open request is about: its type and its checkpoint, if any.
type subject struct{ typ, cp string }

func (x explaining) why(format string, args ...any) {
	x.a.Why = append(x.a.Why, fmt.Sprintf(format, args...))
}

func (x explaining) move(path, content string) {
	x.a.Moves = append(x.a.Moves, engine.Move{Path: path, Content: content})
}

func (r *reading) explain(a *engine.Account, next *engine.Transition) {
	x := explaining{
		r: r, a: a, next: next, escalated: sync.OnceValue(r.escalated), open: sync.OnceValue(r.openSubjects),
		taken:   sync.OnceValue(func() []string { return r.inStatus(InProgress, Validating, Retrying) }),
		running: sync.OnceValue(func() []string { return r.inStatus(InProgress, Validating) }),
	}
	switch st := r.st; {
	case r.torn:
		x.why("state.json or events.jsonl is still being written: it is looked at again")
		r.Await(a, "state.json or events.jsonl")
		return
	case r.stateErr != "":
		x.why("%s", r.stateErr)
		x.a.Await("state.json that can be used (person)")
		x.move(r.doc.Path, "the state as it was")
		return
	case final(st.Status):
		x.final()
		return
	case r.cfgBad:
		x.badSettings()
		return
	case r.begins:
		x.why("nothing is recorded of this session yet: the daemon, or placet once, begins it")
		x.a.Await(engine.NextPass)
		return
	}
	if next != nil {
		x.why("the next pass moves %s", transitionWords(r, *next))
		x.a.Await(engine.NextPass)
	}
	if next == nil || next.Of == ofCheckpoint {
		x.session()
	}
	x.move(r.Path("control.json"), `{"want": "abort", "by": "<you>", "reason": "<why>"} aborts the session (placet afl abort)`)
}

func transitionWords(r *reading, t engine.Transition) string {
	what := "the session"
	if t.Of == ofCheckpoint {
		what = t.Subject
	}
	steps := string(t.From) + " → " + string(t.To)
	if t.From == "" {
		steps = "to " + string(t.To)
	}
	return fmt.Sprintf("%s %s (%s): %s", what, steps, t.Event, t.Reason)
}

func (x explaining) final() {
	if id, left := x.r.unfinished(); left {
		x.why("the session is %s; its checkpoints, %s first, end at the next pass", x.r.st.Status, id)
		x.a.Await(engine.NextPass)
		return
	}
	x.why("status %s is final: nothing moves this session", x.r.st.Status)
}

func (x explaining) badSettings() {
	said := false
	for _, p := range []string{upstreamYAML, upstreamJSON} {
		if words := x.r.Notes.Text(x.r.Note(p)); words != "" {
			said = true
			x.why("%s", words)
			x.a.Await("%s that can be used (person)", p)
			x.move(p, "settings that can be used")
		}
	}
	if !said {
		x.why("%s or %s is still being written: no AFL session moves meanwhile", upstreamYAML, upstreamJSON)
		x.r.Await(x.a, upstreamYAML+" or "+upstreamJSON)
	}
}

// session says what the session as a whole waits for.
func (x explaining) session() {
	r, st := x.r, x.r.st
	if r.awaits() {
		x.design()
	}
	if p := st.Pause; p != nil && p.Reason == pausePerson {
		x.why("nothing starts: the session was paused%s", byWords(p))
		x.a.Await("placet afl resume (person)")
		x.move(r.Path("control.json"), `{"want": "run", "by": "<you>"} has it go on (placet afl resume)`)
	}
	if st.Status == Designing {
		return
	}
	for _, id := range r.order {
		if c := r.checkpoint(id); c != nil && !over(c.Status) && !x.moves(id) {
			x.checkpoint(id, c)
		}
	}
	x.revalidated()
	if all, _ := r.finished(); all && st.Status == Delegating {
		x.review()
	}
}

// moves reports whether the next pass moves a checkpoint: then it does not
// wait.
func (x explaining) moves(id string) bool { return x.next != nil && x.next.Subject == id }

func byWords(p *Pause) string {
	if p.By == "" {
		return " at " + string(p.At)
	}
	return " by " + string(p.By) + " at " + string(p.At)
}

// design says why the checkpoints are not approved.
func (x explaining) design() {
	r, where := x.r, x.where()
	switch file := r.specsFile(); {
	case r.specs.layout == "":
		x.why("%s waits for checkpoints: there is neither %s nor checkpoints/*.json", where, specsYAML)
		x.a.Await("%s (agent)", r.Snap.Rel(file))
		x.move(file, "the checkpoints")
	case !r.specs.readable && r.Held:
		x.why("%s waits for %s, which is still being written", where, r.Snap.Rel(file))
		r.Await(x.a, r.Snap.Rel(file))
	case !r.specs.readable:
		x.why("%s waits for checkpoints that can be read%s", where, x.specsNotes())
		x.a.Await("%s that can be read (agent)", r.Snap.Rel(file))
		x.move(file, "checkpoints that can be read")
	default:
		x.approval(file, where)
	}
}

// where is the session's status as a thing that waits.
func (x explaining) where() string {
	if p := x.r.st.Pause; p != nil {
		return string(x.r.st.Status) + " (" + p.Reason + ")"
	}
	return string(x.r.st.Status)
}

// specsFile is where the checkpoints stand, or would.
func (r *reading) specsFile() string {
	if r.specs.layout == layoutV2 {
		return r.Path("checkpoints/")
	}
	return r.Path(specsYAML)
}

func (x explaining) specsNotes() string {
	words := x.r.Notes.Text(x.r.Note(x.r.Path(specsYAML)))
	for _, d := range x.r.v2Files() {
		if n := x.r.Notes.Text(x.r.Note(d.Path)); n != "" && x.r.specs.layout == layoutV2 {
			words += "\n" + n
		}
	}
	if words = strings.TrimSpace(words); words == "" {
		return ""
	}
	return ": " + words
}

func (x explaining) approval(file, where string) {
	r, st := x.r, x.r.st
	blocked := false
	for _, f := range r.specs.findings {
		if f.blocks() {
			blocked = true
			x.why("%s cannot begin: %s", where, f.line())
		}
	}
	if blocked {
		x.a.Await("%s without errors (agent)", r.Snap.Rel(file))
		x.move(file, "checkpoints without these errors")
	}
	wish := st.Specs.ChangesRequested
	switch open := x.openFor(typeApproval, ""); {
	case open != "":
		x.request(open, where+" waits for an approval")
	case wish != nil && wish.Digest == st.Specs.Digest:
		x.why("%s waits for other checkpoints: %s asked for changes at %s, see %s", where, orWord(string(wish.By), "somebody"), wish.At, r.Path("changes.md"))
		x.a.Await("%s with the changes (agent)", r.Snap.Rel(file))
		x.move(file, "the checkpoints with the changes")
	case x.next == nil:
		x.why("%s waits until nobody has touched the checkpoints for %s (approval_quiet): then approval is asked for, at %s", where, r.cfg.ApprovalQuiet, r.Wake.UTC().Format(stamp))
		x.a.Await("%s to be left alone for %s (placet)", r.Snap.Rel(file), r.cfg.ApprovalQuiet)
	}
	if !blocked {
		x.stamps(file)
	}
}

// stamps name the approvals besides an answer.
func (x explaining) stamps(file string) {
	r := x.r
	if gate.Demands(r.Snap.Facts.Config.GateFor("afl", typeApproval)) {
		return // none of them counts
	}
	later := r.st.Pause != nil || r.st.Specs.ChangesRequested != nil
	if !later {
		x.move(r.Path("meta.json"), `"checkpointsApproved": true approves them`)
	}
	if r.specs.layout == layoutV1 {
		words := "approved_at: <now> approves them"
		if p := r.st.Pause; p != nil {
			words = fmt.Sprintf("approved_at: <a moment after %s> approves them", p.At)
		}
		x.move(file, words)
	}
}

// openFor is the id of the open request of a type for a checkpoint, "" for
// none.
func (x explaining) openFor(typ, cp string) string { return x.open()[subject{typ, cp}] }

// openSubjects are the open requests by what they are about, the first of each.
func (r *reading) openSubjects() map[subject]string {
	ids := map[subject]string{}
	for _, id := range r.openIDs() {
		q := r.st.Requests[id]
		if s := (subject{q.Type, string(q.Checkpoint)}); ids[s] == "" {
			ids[s] = id
		}
	}
	return ids
}

// review says what the look at the whole waits for.
func (x explaining) review() {
	r, v := x.r, x.r.st.Review
	if v == nil || v.Status != open {
		return
	}
	if id := string(v.RequestID); id != "" && r.st.Requests[id] != nil && r.st.Requests[id].Status == open {
		x.request(id, fmt.Sprintf("review round %d waits for an answer", v.Round))
		return
	}
	name := numbered("review", v.Round)
	x.why("review round %d waits for %s by an outside reviewer", v.Round, name)
	x.a.Await("%s (reviewer)", name)
	x.move(r.Path(name), `{"findings": []} completes the session; a blocking finding has its checkpoint worked on again`)
}

// effects say what the options of requests do.
var effects = map[string]string{
	optApprove: "approves the checkpoints", optChanges: "asks for other checkpoints", optReject: "aborts the session",
	optAnswer: "hands the comment to the worker", optValidate: "has the attempt validated as it is", optEscalate: "hands the checkpoint to a person",
	optRetryMore: "gives it more attempts", optRedesign: "has the design looked at again", optEnvFixed: "validates the same attempt again",
	optSkip: "aborts it and what depends on it", optSkipForced: "aborts it; what depends on it starts all the same", optAbort: "aborts the session",
	optAccept: "completes the session", optRunAgain: "runs the command again", optFailed: "counts it as failed, by the environment",
}

// request says that an answer is waited for, and what each would do.
func (x explaining) request(id, waits string) {
	a := x.r.askedOf(id)
	x.why("%s: request %s (%s)", waits, id, a.Type)
	if a.Problem != "" {
		x.why("the answer in place does not count: %s", a.Problem)
	}
	for _, o := range a.Options {
		effect := effects[o.ID]
		if cp, ok := strings.CutPrefix(o.ID, optReopen); ok {
			effect = "has " + cp + " worked on again"
		}
		x.move(a.Form, "ticking "+o.ID+" and submit "+effect)
	}
}
