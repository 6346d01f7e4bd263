package optimizer

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// explaining says why a cycle stands where it stands: what is awaited, and the
// file that would move it.
type explaining struct {
	r *reading
	a *engine.Account
	// next is what the next pass does; nil for nothing.
	next *foreseen
}

func (x explaining) why(format string, args ...any) {
	x.a.Why = append(x.a.Why, fmt.Sprintf(format, args...))
}

// move names a file of the run, and what it must hold.
func (x explaining) move(rel, content string) {
	x.a.Moves = append(x.a.Moves, engine.Move{Path: x.r.Path(rel), Content: content})
}

func (r *reading) explain(a *engine.Account, next *foreseen) {
	x := explaining{r, a, next}
	switch {
	case r.torn:
		x.why("state.json or events.jsonl is still being written: it is looked at again")
		r.Await(a, "state.json or events.jsonl")
		return
	case r.stateErr != "":
		x.why("%s", r.stateErr)
		x.a.Await("state.json that can be used (person)")
		x.move("state.json", "the state as it was")
		return
	case !r.begun:
		x.unbegun()
		return
	case final(r.st.Status):
		x.final()
		return
	}
	if next != nil && next.move != nil {
		t := *next.move
		x.why("the next pass moves the cycle %s → %s (%s): %s", t.From, t.To, t.Event, t.Reason)
		x.a.Await(engine.NextPass)
	} else {
		map[engine.Status]func(){
			Context: x.context, Deciding: x.deciding, Running: x.running, Reporting: x.reporting, Awaiting: x.awaiting,
		}[r.st.Status]()
	}
	x.pending()
	x.move("stop.json", `{"reason": "<why>", "by": "<you>"} gives the cycle up (placet optimizer stop)`)
}

// note says what the note beside a file says, and that the file would move the
// cycle once it can be used. ok is false where there is no note.
func (x explaining) note(rel, waits string) (ok bool) {
	words := x.r.Notes.Text(x.r.Note(x.r.Path(rel)))
	if words == "" {
		return false
	}
	x.why("%s: %s", waits, words)
	return true
}

func (x explaining) unbegun() {
	r := x.r
	switch {
	case x.next != nil && x.next.move != nil:
		x.why("the next pass begins the cycle: %s", x.next.move.Reason)
		x.a.Await(engine.NextPass)
	case x.next != nil:
		x.why("the run has completed, and takes up the issues of an earlier cycle: the next pass writes %s", strings.Join(x.next.writes, ", "))
		x.a.Await(engine.NextPass)
	case x.note("trigger.json", "no cycle begins"):
		x.a.Await("trigger.json that can be used (agent)")
		x.move("trigger.json", `a trigger that can be used: {"workflow_name": "<workflow>"}`)
	default:
		x.why("trigger.json is still being written: it is looked at again")
		r.Await(x.a, "trigger.json")
	}
	if r.triggerOK {
		return
	}
	x.a.Stands = r.Notes.Len() > 0
}

func (x explaining) final() {
	r, st := x.r, x.r.st
	x.why("status %s is final: nothing moves this cycle", st.Status)
	if st.Error != "" {
		x.why("it failed: %s", st.Error)
	}
	x.pending()
	if st.Goal == nil {
		return
	}
	if r.hearsLate() {
		x.why("nobody answered in time; a late answer does not change the goal, and is heard by the next cycle")
		x.move("requests/"+string(st.RequestID)+"/form.md", "ticking an answer and submit has it kept in late.json")
	}
	if n := len(st.Goal.CarryOverIssues); n > 0 {
		x.why("it leaves %s for the next cycle of %s: placet optimizer next says what that waits for", counted(n, "issue", "issues"), st.WorkflowName)
	}
}

// pending names the rows that the audit database does not have yet.
func (x explaining) pending() {
	for _, row := range x.r.audit.Rows {
		switch {
		case row.Outcome == rowPending, row.Outcome == rowOwed && row.LastError != "":
			x.why("the database %s does not have the row %s yet: %s; it is tried again at %s, or now with placet optimizer replay",
				x.r.audit.DB, row.ID, orWord(oneLine(string(row.LastError), shownSentence), "no reason is known"), orWord(string(row.NextTryAt), "the time when that is in"))
		case row.Outcome == rowRefused:
			x.why("the database %s refused the row %s: %s", x.r.audit.DB, row.ID, oneLine(string(row.LastError), shownSentence))
		}
	}
}

func (x explaining) context() {
	r := x.r
	if q := r.st.openRequest(typeCap); q != nil {
		x.request(q, fmt.Sprintf("%s in a row ended without an answer, more than max_timeout_reentries allows: a person decides whether this one goes on",
			counted(r.st.TimeoutReentries, "cycle", "cycles")))
		return
	}
	if r.found != nil {
		// A pass that went on from here was foreseen above.
		x.why("context.json is there; a file beside it is still being written, or cannot be read: it is looked at again")
		r.Await(x.a, "a file beside context.json")
		return
	}
	if x.note("context.json", "what is known of the workflow cannot be read") {
		x.a.Await("context.json that can be used (person)")
		x.move("context.json", "removing it has it collected again")
		return
	}
	x.why("what is known of the workflow is being collected: the cycles before, the callbacks and %s", r.auditPath())
	x.a.Await("what is known of the workflow (placet)")
	for _, id := range slices.Sorted(maps.Keys(r.Snap.Facts.Ended)) {
		if end := r.Snap.Facts.Ended[id]; strings.HasPrefix(id, r.actionID("collect/")) && end.Result == "failed" {
			x.why("the database could not be read: %s; it is tried again at %s", end.Reason, seconds(r.Wake))
		}
	}
	if r.Held {
		x.why("one of these files is still being written, or cannot be read")
	}
}

// What assets.json, retrieved.jsonl and suggestions.json look like.
const (
	assetsLike      = `{"evaluation_script": null, "analysis_script": "scripts/analyse.py", "criteria_fixed": false}`
	retrievedLike   = `one line for each record: {"record_id": "r1", "metric": "precision", "value": 78.1, "flag": null}`
	suggestionsLike = `{"suggestions": [{"text": "<what to change>", "priority": "high"}]}`
)

func (x explaining) deciding() {
	r := x.r
	bad := false
	for _, rel := range []string{"inputs/assets.json", "inputs/kpi.json"} {
		if x.note(rel, "the level is decided once "+rel+" can be used") {
			bad = true
			x.a.Await("%s that can be used (agent)", rel)
			x.move(rel, "content that can be used; removing it counts as absent")
		}
	}
	if words := r.Notes.Text(r.Path("usage.problem.md")); words != "" {
		bad = true
		x.why("the level is decided once the usage document can be used: %s", words)
		x.a.Await("%s that can be used (person)", r.usagePath())
		x.a.Moves = append(x.a.Moves, engine.Move{Path: r.usagePath(), Content: "front matter that can be used"})
	}
	switch {
	case bad:
	case !r.Snap.In("inputs/assets.json").Absent() || r.Held:
		x.why("an input is still being written: it is looked at again")
		r.Await(x.a, "an input")
	default:
		x.why("inputs/assets.json is awaited until %s; without it signal A is 10, with a warning", r.st.InputsUntil)
		x.a.Await("inputs/assets.json (agent)")
		x.move("inputs/assets.json", assetsLike)
	}
}

func (x explaining) running() {
	r := x.r
	level := r.st.Level.Current
	bad := x.note("suggestions.json", "the report waits for suggestions that can be used")
	if bad {
		x.a.Await("suggestions.json that can be used (agent)")
		x.move("suggestions.json", suggestionsLike)
	}
	switch {
	case level >= 20 && r.st.Level.Retrieved == "":
		x.retrieving(level)
	case level >= 20 && !r.data().ok:
		if !x.note("retrieved.jsonl", "the report waits for data that can be used") {
			x.why("retrieved.jsonl was taken and is gone: the report is made from it")
		}
		x.a.Await("retrieved.jsonl as it was (agent)")
		x.move("retrieved.jsonl", "the records as they were")
	case !bad && level >= 20 && !r.suggestions().there:
		x.why("suggestions.json is awaited until %s; without it the report has none", r.st.SuggestionsUntil)
		x.a.Await("suggestions.json (agent)")
		x.move("suggestions.json", suggestionsLike)
	}
	rel := layout.OptimizerReportName(level)
	if x.note(rel, "the report cannot be written") {
		x.a.Await("%s out of the way (person)", rel)
		x.move(rel, "moving it away has placet write its own")
	}
	if len(x.a.Waits)+len(r.asked()) == 0 {
		x.why("a file of the level is still being written: it is looked at again")
		r.Await(x.a, "a file of the level")
	}
	lower := fmt.Sprintf("goes on at level %d", level-10)
	if level == 10 {
		lower = "ends the cycle as failed"
	}
	x.move("inputs/level-error.json", fmt.Sprintf(`{"level": %d, "error": "<why it cannot be done>"} %s (placet optimizer demote)`, level, lower))
}

// retrieving says what the data of the level wait for.
func (x explaining) retrieving(level int) {
	r := x.r
	if q := r.st.openRequest(typeUnknown); q != nil {
		x.request(q, fmt.Sprintf("nobody knows how attempt %s ended: a person decides", q.Subject))
		x.move("retrieved.jsonl", retrievedLike)
		return
	}
	if x.note("retrieved.jsonl", fmt.Sprintf("level %d waits for data that can be used", level)) {
		x.a.Await("retrieved.jsonl that can be used (agent)")
		x.move("retrieved.jsonl", retrievedLike)
		return
	}
	argv := r.cfg.argv(level)
	command := oneLine(strings.Join(argv, " "), shownSentence)
	last := r.attempts().last()
	switch {
	case len(argv) == 0:
		x.why("level %d waits for retrieved.jsonl, which an agent writes: no command is configured for it", level)
		x.a.Await("retrieved.jsonl (agent)")
	case !r.Snap.Facts.Trusted[CommandDigest(argv)]:
		x.why("level %d waits for retrieved.jsonl, or for placet trust: nobody has agreed to %s", level, command)
		x.a.Await("retrieved.jsonl (agent) or placet trust (person)")
	case last != nil && last.outcome == nil && !last.bad && r.stopped(*last):
		x.why("the command of level %d was stopped with placet, and begins again with it: %s", level, command)
		x.a.Await(engine.NextPass)
	case last != nil && last.outcome == nil && !last.bad:
		x.why("the command of level %d runs since %s, until %s at the latest: %s", level, last.attempt.StartedAt, last.attempt.Deadline, command)
		x.a.Await("the %s command that runs: %s", r.commandName(), command)
	default:
		x.why("level %d waits for retrieved.jsonl; the next pass begins %s", level, command)
		x.a.Await(engine.NextPass)
	}
	x.move("retrieved.jsonl", retrievedLike)
}

func (x explaining) reporting() {
	r := x.r
	if words := r.Notes.Text(r.st.Report.Path + layout.ProblemSuffix); words != "" {
		x.why("%s", words)
		x.a.Await("%s as it was written (person)", path.Base(r.st.Report.Path))
		x.move(path.Base(r.st.Report.Path), "the report as it was written")
		return
	}
	if !r.audit.sound {
		x.note("audit.json", "nothing is recorded while audit.json cannot be used")
		x.a.Await("audit.json as it was (person)")
		x.move("audit.json", "the content as it was")
		return
	}
	row := r.audit.row(string(r.st.AuditID))
	switch {
	case row == nil:
		x.why("the report stands; the next pass records it for %s", r.auditPath())
		x.a.Await(engine.NextPass)
	case row.LastError != "" && !row.in():
		x.why("the report stands; its row could not be written to %s: %s; it is tried again at %s, after five tries the cycle goes on without it",
			r.audit.DB, oneLine(string(row.LastError), shownSentence), row.NextTryAt)
		x.a.Await("a row in %s, tried again at %s (placet)", r.audit.DB, row.NextTryAt)
	default:
		x.why("the report stands; its row is being written to %s", r.audit.DB)
		x.a.Await("a row in %s (placet)", r.audit.DB)
	}
}

func (x explaining) awaiting() {
	r := x.r
	q := r.hitl()
	if q == nil || q.Status != open {
		x.why("state.json names no open request: the cycle stands")
		x.a.Await("state.json with its request (person)")
		return
	}
	waits := "a person judges level and suggestions"
	if q.Deadline != "" {
		waits += fmt.Sprintf("; without an answer the fallback goal is taken at %s", q.Deadline)
	}
	x.request(q, waits)
	if x.note("goal.json", "the answer cannot be carried out") {
		x.move("goal.json", "moving it away has placet write the cycle's own")
	}
	if problem, ok := r.reportStands(); !ok && problem != "" {
		x.move(path.Base(r.st.Report.Path), "restoring it has answers count again; removing it has placet write it again")
	}
}

// effects say what the options of requests do.
var effects = map[string]string{
	optAppropriate: "keeps the level", optRaise: "has the next cycle one level higher", optLower: "has the next cycle one level lower",
	optContinue: "has the cycle go on", optStop: "ends the cycle as failed, and no more follow", optRetry: "has the command begun once more",
	optDemote: "goes on one level lower",
}

// request says that an answer is waited for, and what each would do.
func (x explaining) request(q *Request, waits string) {
	a := x.r.askedOf(q)
	x.why("%s: request %s (%s)", waits, q.ID, q.Type)
	if a.Problem != "" {
		x.why("the answer in place does not count: %s", a.Problem)
	}
	for _, o := range a.Options {
		x.move("requests/"+q.ID+"/form.md", "ticking "+o.ID+" and submit "+effects[o.ID])
	}
	if len(a.Items) > 0 {
		x.move("requests/"+q.ID+"/form.md", "ticking suggestions and submit takes them into the next cycle")
	}
	x.move("requests/"+q.ID+"/response.json", fmt.Sprintf(`{"request_id": "%s", "response": "%s", "provided_by": {"user": "<you>", "source": "%s"}}`,
		q.ID, a.Options[0].ID, gate.SourceFile))
}
