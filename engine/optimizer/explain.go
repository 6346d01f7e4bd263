package optimizer

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"placet/engine/run"
	"placet/layout"
)

// assetsLike is an example of inputs/assets.json.
const assetsLike = `{"evaluation_script": null, "analysis_script": "scripts/analyse.py", "criteria_fixed": false}`

// explain adds what no rule can say: how a cycle ended, which rows its database lacks, and how to
// abandon it.
func (r *cycle) explain(w *run.Waiting) {
	st := r.run.State
	if !r.run.Begun {
		return
	}
	if !final(st.Status) {
		explainRows(r, w)
		w.Unblock("stop.json", r.words("unblock.stop"))
		return
	}
	w.Why("optimizer.why.final", "status", st.Status)
	if st.Error != "" {
		w.Why("optimizer.why.failed", "error", st.Error)
	}
	explainRows(r, w)
	if st.Goal == nil {
		return
	}
	if hearsLate(r) {
		w.Why("optimizer.why.late")
		w.Unblock("requests/"+string(st.RequestID)+"/form.md", r.words("unblock.late"))
	}
	if n := len(st.Goal.CarryOverIssues); n > 0 {
		w.Why("optimizer.why.leaves", "n", n, "workflow", st.WorkflowName)
	}
}

// explainRows names the rows that are not in the audit database yet.
func explainRows(r *cycle, w *run.Waiting) {
	for _, row := range r.audit.Rows {
		switch {
		case row.Outcome == rowPending, row.Outcome == rowOwed && row.LastError != "":
			w.Why("optimizer.why.row.pending", "db", r.audit.DB, "row", row.ID,
				"error", cmp.Or(run.OneLine(string(row.LastError)), r.words("why.row.unexplained")), "at", cmp.Or(string(row.NextTryAt), r.words("why.row.later")))
		case row.Outcome == rowRefused:
			w.Why("optimizer.why.row.refused", "db", r.audit.DB, "row", row.ID, "error", run.OneLine(string(row.LastError)))
		}
	}
}

func awaitsTrigger(r *cycle, w *run.Waiting) {
	switch {
	case len(w.Writes) > 0:
		w.Pass("optimizer.why.reentry", "files", strings.Join(w.Writes, ", "))
	case w.Bad("trigger.json", r.words("why.trigger"), r.run.Say("run.who.agent"), r.words("unblock.trigger")):
	default:
		w.Why("run.why.torn", "files", "trigger.json")
		w.Written("trigger.json")
	}
}

func awaitsDecision(r *cycle, w *run.Waiting) {
	if q := r.run.Open(typeCap); q != nil {
		w.Answer(q, "optimizer.why.cap", "n", r.run.State.TimeoutReentries)
	}
}

func awaitsContext(r *cycle, w *run.Waiting) {
	switch {
	case r.run.Open(typeCap) != nil:
		return
	case r.found != nil:
		// A pass that could move on was handled before, so another file must hold the cycle up.
		w.Why("optimizer.why.context.torn")
		w.Written(r.words("pending.context"))
		return
	case w.Bad("context.json", r.words("why.context.bad"), r.run.Say("run.who.person"), r.words("unblock.context")):
		return
	}
	w.Why("optimizer.why.context", "db", auditPath(r))
	w.For("optimizer.wait.context")
	for _, id := range slices.Sorted(maps.Keys(r.run.Snap.Facts.Ended)) {
		if end := r.run.Snap.Facts.Ended[id]; strings.HasPrefix(id, r.actionID("collect/")) && end.Result == "failed" {
			w.Why("optimizer.why.context.database", "error", end.Reason, "at", run.Seconds(r.run.Wake))
		}
	}
	if r.run.Held {
		w.Why("optimizer.why.context.held")
	}
}

func awaitsInputs(r *cycle, w *run.Waiting) {
	bad := false
	for _, rel := range []string{"inputs/assets.json", "inputs/kpi.json"} {
		bad = w.Bad(rel, r.words("why.input", "file", rel), r.run.Say("run.who.agent"), r.words("unblock.input")) || bad
	}
	if words := r.run.Notes.Text(r.run.Path("usage.problem.md")); words != "" {
		bad = true
		w.Why("optimizer.why.usage", "note", words)
		w.For("run.wait.usable", "file", usagePath(r), "who", r.run.Say("run.who.person"))
		w.UnblockAt(usagePath(r), r.words("unblock.usage"))
	}
	switch {
	case bad:
	case !r.run.Snap.In("inputs/assets.json").Absent() || r.run.Held:
		w.Why("optimizer.why.input.torn")
		w.Written(r.words("pending.input"))
	default:
		w.Lacks("inputs/assets.json", r.fromAgent(), assetsLike, "optimizer.why.assets", "at", r.run.State.InputsUntil)
	}
}

// fromAgent says that an agent has to supply something.
func (r *cycle) fromAgent() string { return "(" + r.run.Say("run.who.agent") + ")" }

// awaitsData says what the data of the level wait for.
func awaitsData(r *cycle, w *run.Waiting) {
	level := r.run.State.Level.Current
	switch {
	case level < 20:
		return
	case r.run.State.Level.Retrieved != "":
		if r.data().ok {
			return
		}
		if !w.Noted("retrieved.jsonl", r.words("why.data.report")) {
			w.Why("optimizer.why.data.gone")
		}
		w.For("optimizer.wait.original", "file", "retrieved.jsonl", "who", r.run.Say("run.who.agent"))
		w.Unblock("retrieved.jsonl", r.words("unblock.records.original"))
		return
	}
	records := r.words("unblock.records", "example", recordExample)
	if q := r.run.Open(typeUnknown); q != nil {
		w.Answer(q, "optimizer.why.unknown", "attempt", q.Subject)
	} else if w.Bad("retrieved.jsonl", r.words("why.data", "level", level), r.run.Say("run.who.agent"), records) {
		return
	} else {
		awaitsCommand(r, w, level)
	}
	w.Unblock("retrieved.jsonl", records)
}

// awaitsCommand says what the command of the level is doing, or that the level has none.
func awaitsCommand(r *cycle, w *run.Waiting, level int) {
	argv := r.cfg.argv(level)
	command := run.OneLine(strings.Join(argv, " "))
	last := r.attempts().last()
	switch {
	case len(argv) == 0:
		w.Why("optimizer.why.command.none", "level", level)
		w.For("run.wait.file", "file", "retrieved.jsonl", "wanted", r.fromAgent())
	case !r.run.Snap.Facts.Trusted[CommandDigest(argv)]:
		w.Why("optimizer.why.command.untrusted", "level", level, "command", command)
		w.For("optimizer.wait.trust")
	case last == nil || last.outcome != nil || last.bad:
		w.Pass("optimizer.why.command.begins", "level", level, "command", command)
	case wasStopped(r, *last):
		w.Pass("optimizer.why.command.stopped", "level", level, "command", command)
	default:
		w.Why("optimizer.why.command.runs", "level", level, "since", last.attempt.StartedAt, "until", last.attempt.Deadline, "command", command)
		w.For("optimizer.wait.command", "name", commandName(r), "command", command)
	}
}

// awaitsSuggestions says what the report waits for, apart from the data.
func awaitsSuggestions(r *cycle, w *run.Waiting) {
	level := r.run.State.Level.Current
	if !w.Bad("suggestions.json", r.words("why.suggestions.bad"), r.run.Say("run.who.agent"), r.words("unblock.suggestions")) &&
		level >= 20 && r.run.State.Level.Retrieved != "" && r.data().ok && !r.suggestions().there {
		w.Lacks("suggestions.json", r.fromAgent(), r.words("unblock.suggestions"), "optimizer.why.suggestions", "at", r.run.State.SuggestionsUntil)
	}
	rel := layout.OptimizerReportName(level)
	if w.Noted(rel, r.words("why.report")) {
		w.For("optimizer.wait.away", "file", rel)
		w.Unblock(rel, r.words("unblock.report.foreign"))
	}
	if !w.Waits() && r.run.Open(typeUnknown) == nil {
		w.Why("optimizer.why.level.torn")
		w.Written(r.words("pending.level"))
	}
	key := "unblock.demote"
	if level == lowest {
		key = "unblock.fail"
	}
	w.Unblock("inputs/level-error.json", r.words(key, "level", level, "lower", level-stride))
}

func awaitsRow(r *cycle, w *run.Waiting) {
	report := path.Base(r.run.State.Report.Path)
	if words := r.run.Notes.Text(r.run.State.Report.Path + layout.ProblemSuffix); words != "" {
		w.Lacks(report, r.words("wait.written"), r.words("unblock.report.original"), "say.text", "text", words)
		return
	}
	if !r.audit.sound {
		w.Noted("audit.json", r.words("why.audit"))
		w.For("optimizer.wait.original", "file", "audit.json", "who", r.run.Say("run.who.person"))
		w.Unblock("audit.json", r.words("unblock.audit"))
		return
	}
	row := r.audit.row(string(r.run.State.AuditID))
	switch {
	case row == nil:
		w.Pass("optimizer.why.row.next", "db", auditPath(r))
	case row.LastError != "" && !row.in():
		w.Why("optimizer.why.row.failed", "db", r.audit.DB, "error", run.OneLine(string(row.LastError)), "at", row.NextTryAt)
		w.For("optimizer.wait.row.again", "db", r.audit.DB, "at", row.NextTryAt)
	default:
		w.Why("optimizer.why.row.writing", "db", r.audit.DB)
		w.For("optimizer.wait.row", "db", r.audit.DB)
	}
}

func awaitsAnswer(r *cycle, w *run.Waiting) {
	q := r.hitl()
	if q == nil || q.Status != run.Open {
		w.Why("optimizer.why.request")
		w.For("optimizer.wait.request")
		return
	}
	w.Answer(q, "optimizer.why.judge")
	if w.Noted("goal.json", r.words("why.answer")) {
		w.Unblock("goal.json", r.words("unblock.goal"))
	}
	if problem, ok := reportStands(r); !ok && problem != "" {
		w.Unblock(path.Base(r.run.State.Report.Path), r.words("unblock.report"))
	}
}
