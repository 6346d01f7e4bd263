package optimizer

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"placet/engine/run"
	"placet/layout"
)

// What others write to have a cycle go on.
const (
	assetsLike      = `{"evaluation_script": null, "analysis_script": "scripts/analyse.py", "criteria_fixed": false}`
	retrievedLike   = `one line for each record: {"record_id": "r1", "metric": "precision", "value": 78.1, "flag": null}`
	suggestionsLike = `{"suggestions": [{"text": "<what to change>", "priority": "high"}]}`
)

// explain adds what no rule says: how a cycle ended, the rows that its database lacks,
// and how it is given up.
func (r *cycle) explain(w *run.Waiting) {
	st := r.State
	if !r.Begun {
		return
	}
	if !final(st.Status) {
		explainRows(r, w)
		w.Unblock("stop.json", `{"reason": "<why>", "by": "<you>"} gives the cycle up (placet optimizer stop)`)
		return
	}
	w.Why("status %s is final: nothing moves this cycle", st.Status)
	if st.Error != "" {
		w.Why("it failed: %s", st.Error)
	}
	explainRows(r, w)
	if st.Goal == nil {
		return
	}
	if hearsLate(r) {
		w.Why("nobody answered in time; a late answer does not change the goal, and is heard by the next cycle")
		w.Unblock("requests/"+string(st.RequestID)+"/form.md", "ticking an answer and submit has it kept in late.json")
	}
	if n := len(st.Goal.CarryOverIssues); n > 0 {
		w.Why("it leaves %s for the next cycle of %s: placet optimizer next says what that waits for", counted(n, "issue", "issues"), st.WorkflowName)
	}
}

// explainRows names the rows that the audit database does not have yet.
func explainRows(r *cycle, w *run.Waiting) {
	for _, row := range r.audit.Rows {
		switch {
		case row.Outcome == rowPending, row.Outcome == rowOwed && row.LastError != "":
			w.Why("the database %s does not have the row %s yet: %s; it is tried again at %s, or now with placet optimizer replay",
				r.audit.DB, row.ID, cmp.Or(sentence(string(row.LastError)), "no reason is known"), cmp.Or(string(row.NextTryAt), "the time when that is in"))
		case row.Outcome == rowRefused:
			w.Why("the database %s refused the row %s: %s", r.audit.DB, row.ID, sentence(string(row.LastError)))
		}
	}
}

func awaitsTrigger(r *cycle, w *run.Waiting) {
	switch {
	case len(w.Writes) > 0:
		w.Pass("the run has completed, and takes up the issues of an earlier cycle: the next pass writes %s", strings.Join(w.Writes, ", "))
	case w.Bad("trigger.json", "no cycle begins", "agent", `a trigger that can be used: {"workflow_name": "<workflow>"}`):
	default:
		w.Why("trigger.json is still being written: it is looked at again")
		w.Written("trigger.json")
	}
}

func awaitsDecision(r *cycle, w *run.Waiting) {
	if q := r.Open(typeCap); q != nil {
		w.Answer(q, "%s in a row ended without an answer, more than max_timeout_reentries allows: a person decides whether this one goes on",
			counted(r.State.TimeoutReentries, "cycle", "cycles"))
	}
}

func awaitsContext(r *cycle, w *run.Waiting) {
	switch {
	case r.Open(typeCap) != nil:
		return
	case r.found != nil:
		// A pass that went on from here was foreseen.
		w.Why("context.json is there; a file beside it is still being written, or cannot be read: it is looked at again")
		w.Written("a file beside context.json")
		return
	case w.Bad("context.json", "what is known of the workflow cannot be read", "person", "removing it has it collected again"):
		return
	}
	w.Why("what is known of the workflow is being collected: the cycles before, the callbacks and %s", auditPath(r))
	w.For("what is known of the workflow (placet)")
	for _, id := range slices.Sorted(maps.Keys(r.Snap.Facts.Ended)) {
		if end := r.Snap.Facts.Ended[id]; strings.HasPrefix(id, r.actionID("collect/")) && end.Result == "failed" {
			w.Why("the database could not be read: %s; it is tried again at %s", end.Reason, seconds(r.Wake))
		}
	}
	if r.Held {
		w.Why("one of these files is still being written, or cannot be read")
	}
}

func awaitsInputs(r *cycle, w *run.Waiting) {
	bad := false
	for _, rel := range []string{"inputs/assets.json", "inputs/kpi.json"} {
		bad = w.Bad(rel, "the level is decided once "+rel+" can be used", "agent", "content that can be used; removing it counts as absent") || bad
	}
	if words := r.Notes.Text(r.Path("usage.problem.md")); words != "" {
		bad = true
		w.Why("the level is decided once the usage document can be used: %s", words)
		w.For("%s that can be used (person)", usagePath(r))
		w.UnblockAt(usagePath(r), "front matter that can be used")
	}
	switch {
	case bad:
	case !r.Snap.In("inputs/assets.json").Absent() || r.Held:
		w.Why("an input is still being written: it is looked at again")
		w.Written("an input")
	default:
		w.Lacks("inputs/assets.json", "(agent)", assetsLike, "inputs/assets.json is awaited until %s; without it signal A is 10, with a warning", r.State.InputsUntil)
	}
}

// awaitsData says what the data of the level wait for.
func awaitsData(r *cycle, w *run.Waiting) {
	level := r.State.Level.Current
	switch {
	case level < 20:
		return
	case r.State.Level.Retrieved != "":
		if r.data().ok {
			return
		}
		if !w.Noted("retrieved.jsonl", "the report waits for data that can be used") {
			w.Why("retrieved.jsonl was taken and is gone: the report is made from it")
		}
		w.For("retrieved.jsonl as it was (agent)")
		w.Unblock("retrieved.jsonl", "the records as they were")
		return
	}
	if q := r.Open(typeUnknown); q != nil {
		w.Answer(q, "nobody knows how attempt %s ended: a person decides", q.Subject)
	} else if w.Bad("retrieved.jsonl", fmt.Sprintf("level %d waits for data that can be used", level), "agent", retrievedLike) {
		return
	} else {
		awaitsCommand(r, w, level)
	}
	w.Unblock("retrieved.jsonl", retrievedLike)
}

// awaitsCommand says what the command of the level is at, or that there is none.
func awaitsCommand(r *cycle, w *run.Waiting, level int) {
	argv := r.cfg.argv(level)
	command := sentence(strings.Join(argv, " "))
	last := r.attempts().last()
	switch {
	case len(argv) == 0:
		w.Why("level %d waits for retrieved.jsonl, which an agent writes: no command is configured for it", level)
		w.For("retrieved.jsonl (agent)")
	case !r.Snap.Facts.Trusted[CommandDigest(argv)]:
		w.Why("level %d waits for retrieved.jsonl, or for placet trust: nobody has agreed to %s", level, command)
		w.For("retrieved.jsonl (agent) or placet trust (person)")
	case last == nil || last.outcome != nil || last.bad:
		w.Pass("level %d waits for retrieved.jsonl; the next pass begins %s", level, command)
	case wasStopped(r, *last):
		w.Pass("the command of level %d was stopped with placet, and begins again with it: %s", level, command)
	default:
		w.Why("the command of level %d runs since %s, until %s at the latest: %s", level, last.attempt.StartedAt, last.attempt.Deadline, command)
		w.For("the %s command that runs: %s", commandName(r), command)
	}
}

// awaitsSuggestions says what the report waits for besides the data.
func awaitsSuggestions(r *cycle, w *run.Waiting) {
	level := r.State.Level.Current
	if !w.Bad("suggestions.json", "the report waits for suggestions that can be used", "agent", suggestionsLike) &&
		level >= 20 && r.State.Level.Retrieved != "" && r.data().ok && !r.suggestions().there {
		w.Lacks("suggestions.json", "(agent)", suggestionsLike, "suggestions.json is awaited until %s; without it the report has none", r.State.SuggestionsUntil)
	}
	rel := layout.OptimizerReportName(level)
	if w.Noted(rel, "the report cannot be written") {
		w.For("%s out of the way (person)", rel)
		w.Unblock(rel, "moving it away has placet write its own")
	}
	if !w.Waits() && r.Open(typeUnknown) == nil {
		w.Why("a file of the level is still being written: it is looked at again")
		w.Written("a file of the level")
	}
	lower := fmt.Sprintf("goes on at level %d", level-stride)
	if level == lowest {
		lower = "ends the cycle as failed"
	}
	w.Unblock("inputs/level-error.json", fmt.Sprintf(`{"level": %d, "error": "<why it cannot be done>"} %s (placet optimizer demote)`, level, lower))
}

func awaitsRow(r *cycle, w *run.Waiting) {
	report := path.Base(r.State.Report.Path)
	if words := r.Notes.Text(r.State.Report.Path + layout.ProblemSuffix); words != "" {
		w.Lacks(report, "as it was written (person)", "the report as it was written", "%s", words)
		return
	}
	if !r.audit.sound {
		w.Noted("audit.json", "nothing is recorded while audit.json cannot be used")
		w.For("audit.json as it was (person)")
		w.Unblock("audit.json", "the content as it was")
		return
	}
	row := r.audit.row(string(r.State.AuditID))
	switch {
	case row == nil:
		w.Pass("the report stands; the next pass records it for %s", auditPath(r))
	case row.LastError != "" && !row.in():
		w.Why("the report stands; its row could not be written to %s: %s; it is tried again at %s, after five tries the cycle goes on without it",
			r.audit.DB, sentence(string(row.LastError)), row.NextTryAt)
		w.For("a row in %s, tried again at %s (placet)", r.audit.DB, row.NextTryAt)
	default:
		w.Why("the report stands; its row is being written to %s", r.audit.DB)
		w.For("a row in %s (placet)", r.audit.DB)
	}
}

func awaitsAnswer(r *cycle, w *run.Waiting) {
	q := r.hitl()
	if q == nil || q.Status != run.Open {
		w.Why("state.json names no open request: the cycle stands")
		w.For("state.json with its request (person)")
		return
	}
	until := ""
	if q.Deadline != "" {
		until = fmt.Sprintf("; without an answer the fallback goal is taken at %s", q.Deadline)
	}
	w.Answer(q, "a person judges level and suggestions%s", until)
	if w.Noted("goal.json", "the answer cannot be carried out") {
		w.Unblock("goal.json", "moving it away has placet write the cycle's own")
	}
	if problem, ok := reportStands(r); !ok && problem != "" {
		w.Unblock(path.Base(r.State.Report.Path), "restoring it has answers count again; removing it has placet write it again")
	}
}
