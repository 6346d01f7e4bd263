package afl

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/schemas"
	"placet/templates"
)

// escalationData is the data of the template afl/escalation, which explains an escalated checkpoint
// to a person.
type escalationData struct {
	Lang, Session string
	Def           Definition
	// C is the checkpoint, with Escalation set. The report leaves out what happened after the
	// escalation.
	C Checkpoint
	// Max is the number of attempts that were allowed then. If it is 0, the route decides, or else
	// the number that is allowed now.
	Max int
	// Verdict is the verdict that escalated, empty if an unanswered question did.
	Verdict Verdict
	// PatternAfter is how many equal failures make a pattern.
	PatternAfter int
	// Timeout is the timeout of the validation.
	Timeout    time.Duration
	Dependents []string
	// Question is the question that nobody could answer.
	Question string
	// Files are the files of the attempt, relative to the workspace.
	Files   []string
	Options []string
}

// Ways that an escalation recommends.
const (
	wayDesign      = "design"
	wayEnvironment = "environment"
	wayManual      = "manual"
)

// recommended returns the way that fits a route.
func recommended(route Route) string {
	switch route {
	case routeDesign:
		return wayDesign
	case routeEnv:
		return wayEnvironment
	}
	return wayManual
}

// escalationReason returns one line of plain text that says why a checkpoint goes to a person after
// n of max attempts. v is empty if nothing was judged, same counts how often the last failure
// occurred in a row, and question is the one that nobody could answer.
func escalationReason(lang string, route Route, v Verdict, n, max, same int, question string) string {
	key := "reason." + string(route)
	why := ""
	switch route {
	case routeEnv:
		if len(v.KeyLines) > 0 {
			why = templates.Line(v.KeyLines[0], shownSentence)
		}
		key = "cause." + string(testoutput.EnvIssue)
	case routeUnclear:
		why = templates.Line(question, shownSentence)
	}
	if why == "" {
		why = phrase(lang, key, "n", strconv.Itoa(n), "max", strconv.Itoa(max), "k", strconv.Itoa(same))
	}
	return string(route) + ": " + why
}

// before returns the history up to the escalation.
func (d escalationData) before() []Judged {
	e := d.C.Escalation
	var history []Judged
	for _, j := range d.C.History {
		if j.Iteration < e.Iteration || e.Run != nil && j.Iteration == e.Iteration && j.Run <= *e.Run {
			history = append(history, j)
		}
	}
	return history
}

func (d escalationData) max() int {
	switch {
	case d.Max > 0:
		return d.Max
	case d.C.Escalation.Route == routeMaxRetry:
		return d.C.Escalation.Iteration
	}
	return d.C.MaxIterations
}

// isJudged reports whether a verdict escalated, not a question.
func (d escalationData) isJudged() bool { return d.Verdict.FailureType != "" }

// escalationMD returns escalation.md.
func escalationMD(d escalationData) []byte { return rendered(d.Lang, "escalation", d) }

// First returns the line that identifies the document.
func (d escalationData) First() string {
	return docLine(d.Session, d.Def.ID, "escalation", d.C.Escalation.Iteration)
}

// Facts returns the rows of the basic information.
func (d escalationData) Facts() []templates.FormFact {
	e := d.C.Escalation
	return labelled(d.Lang, "escalation.session", d.Session, "escalation.checkpoint", d.Def.ID,
		"escalation.attempts", strconv.Itoa(e.Iteration)+"/"+strconv.Itoa(d.max()),
		"escalation.reason", escalationReason(d.Lang, e.Route, d.Verdict, e.Iteration, d.max(), sameInARow(d.before()), d.Question))
}

// failure is a row of the history.
type failure struct{ Attempt, Criteria, Cause string }

// Failures returns the rows of the history. The question is the last row if nothing was judged.
func (d escalationData) Failures() (rows []failure) {
	for _, j := range d.before() {
		if j.Result != passed {
			rows = append(rows, failure{
				Attempt: strconv.Itoa(j.Iteration), Criteria: criteria(d.Lang, j.FailedCriteria), Cause: templates.OrDash(string(j.FailureType)),
			})
		}
	}
	if !d.isJudged() {
		rows = append(rows, failure{
			Attempt: strconv.Itoa(d.C.Escalation.Iteration), Criteria: templates.Dash,
			Cause: phrase(d.Lang, "escalation.asked", "question", templates.OrDash(templates.Line(d.Question, shownSentence))),
		})
	}
	return rows
}

// Pattern says whether the attempts failed alike.
func (d escalationData) Pattern() string {
	history := d.before()
	if k := sameInARow(history); k >= 2 && k >= d.PatternAfter {
		same := phrase(d.Lang, "escalation.pattern.same", "k", strconv.Itoa(k))
		if len(d.Verdict.KeyLines) == 0 {
			return strings.TrimSuffix(same, ":")
		}
		return same + "\n\n" + templates.Fence(strings.Join(d.Verdict.KeyLines, "\n"))
	}
	var types []string
	twice := false
	for i, j := range history {
		twice = twice || i > 0 && alike(history[i-1], j)
		if j.Result != passed {
			types = append(types, templates.OrDash(string(j.FailureType)))
		}
	}
	if !twice {
		return phrase(d.Lang, "escalation.pattern.none")
	}
	return phrase(d.Lang, "escalation.pattern.types", "types", templates.Inline(strings.Join(types, " → ")))
}

// causeList returns the probable causes as plain text: from the analysis, else from the failure
// type or the question.
func (d escalationData) causeList() []string {
	if !d.isJudged() {
		return []string{phrase(d.Lang, "escalation.cause.question", "question", templates.OrDash(templates.Line(d.Question, shownSentence)))}
	}
	cause, _ := causes(d.Lang, d.Verdict.failure(), d.Timeout)
	return orElse(d.Verdict.Causes, cause)
}

// Causes returns the probable causes as Markdown.
func (d escalationData) Causes() string {
	var lines []string
	for _, c := range d.causeList() {
		lines = append(lines, templates.Inline(templates.OrDash(atMost(c, shownSentence))))
	}
	blocks := []string{numberedList(lines)}
	if suggested := d.Verdict.suggested(d.Lang); len(suggested) > 0 {
		blocks = append(blocks, phrase(d.Lang, "escalation.suggested"), numberedList(suggested))
	}
	return paragraphs(append(blocks, d.Verdict.codeBlocks(d.Lang)...))
}

// advised adds a remark to the recommended way.
func (d escalationData) advised(way string, blocks []string) string {
	if way == recommended(d.C.Escalation.Route) {
		blocks = append(blocks, phrase(d.Lang, "escalation.recommended"))
	}
	return paragraphs(blocks)
}

// Design describes the way of changing the design.
func (d escalationData) Design() string {
	return d.advised(wayDesign, []string{"```bash\n/afl:architect --resume " + d.Session + "\n```"})
}

// Environment describes what the environment lacks, as far as the output shows it.
func (d escalationData) Environment() string {
	var blocks []string
	_, fix := causes(d.Lang, d.Verdict.failure(), d.Timeout)
	switch t := d.Verdict.failure(); {
	case len(d.Verdict.Names) > 0:
		blocks = append(blocks, phrase(d.Lang, "escalation.missing", "names", codes(d.Verdict.Names)))
	case (t == testoutput.EnvIssue || t == testoutput.Timeout) && len(d.Verdict.KeyLines) > 0:
		blocks = append(blocks, fix, templates.Fence(strings.Join(d.Verdict.KeyLines, "\n")))
	case t == testoutput.Timeout:
		blocks = append(blocks, fix)
	default:
		blocks = append(blocks, phrase(d.Lang, "escalation.nothing_missing"))
	}
	return d.advised(wayEnvironment, append(blocks, phrase(d.Lang, "escalation.env_fixed")))
}

// Manual lists the attempt's files and a person's options.
func (d escalationData) Manual() string {
	files := []string{"- " + templates.Dash}
	if len(d.Files) > 0 {
		files = nil
	}
	for _, p := range d.Files {
		files = append(files, "- "+fileLink(p))
	}
	var options []string
	for _, o := range d.Options {
		options = append(options, "- "+templates.Code(o)+": "+templates.Inline(phrase(d.Lang, "option."+o)))
	}
	return d.advised(wayManual, []string{
		phrase(d.Lang, "escalation.files"), strings.Join(files, "\n"),
		phrase(d.Lang, "escalation.dependents", "dependents", templates.Inline(joined(d.Dependents, ", "))),
		phrase(d.Lang, "escalation.options"), templates.OrDash(strings.Join(options, "\n")),
	})
}

// escalationJSON returns escalation.json. Its reason is the one in the state.
func escalationJSON(d escalationData) []byte {
	e := d.C.Escalation
	history := d.before()
	signature, suggestions := text(""), []Suggestion{}
	if k := len(history); k > 0 && d.isJudged() {
		signature = history[k-1].Signature
		suggestions = slices.Concat(suggestions, d.Verdict.Suggestions)
	}
	return run.Encoded(schemas.Object{
		{Name: "session_id", Value: d.Session}, {Name: "checkpoint_id", Value: d.Def.ID},
		{Name: "iteration", Value: e.Iteration}, {Name: "max_iterations", Value: d.max()},
		{Name: "route", Value: e.Route}, {Name: "failure_type", Value: text(e.FailureType)}, {Name: "reason", Value: e.Reason},
		{Name: "at", Value: e.At}, {Name: "request_id", Value: e.RequestID}, {Name: "history", Value: history},
		{Name: "pattern", Value: schemas.Object{
			{Name: "signature", Value: signature}, {Name: "consecutive", Value: sameInARow(history)}, {Name: "lines", Value: d.Verdict.KeyLines},
		}},
		{Name: "causes", Value: d.causeList()}, {Name: "suggestions", Value: suggestions},
		{Name: "recommended", Value: recommended(e.Route)}, {Name: "dependents", Value: d.Dependents},
	})
}

// EscalationReport is the part of an escalation.json that people see.
type EscalationReport struct {
	FailureType text     `json:"failure_type"`
	History     []Judged `json:"history"`
	Causes      []string `json:"causes"`
	Recommended string   `json:"recommended"`
	Dependents  []string `json:"dependents"`
}

// fixed lists the members of escalation.json that depend only on the state. No later transition and
// no setting changes them.
var fixed = []string{"session_id", "checkpoint_id", "iteration", "route", "failure_type", "reason", "at", "request_id", "history", "recommended"}

// readEscalationReport reads the report of the last escalation and returns nil if it is unusable.
// It writes a note if the report differs from what placet wrote.
func readEscalationReport(cp *checkpoint) *EscalationReport {
	d := cp.r.run.Snap.In(cp.rel("escalation.json"))
	return run.ReadHandIn(&cp.r.run.Input, d, "afl/escalation", func(*EscalationReport) error {
		have, _ := schemas.Members(d.Body)
		wrote, _ := schemas.Members(escalationJSON(escalationOf(cp)))
		for _, name := range fixed {
			is, was := canonical(have.Raw(name)), canonical(wrote.Raw(name))
			if !bytes.Equal(is, was) {
				return templates.Errorf("afl.bad.escalation", "member", name, "is", templates.Line(string(is), shownSentence), "was", templates.Line(string(was), shownSentence))
			}
		}
		return nil
	}).Said
}

// lines formats the report for `show`.
func (rep EscalationReport) lines(lang string) string {
	var lines []string
	for _, h := range rep.History {
		if h.Result != passed {
			lines = append(lines, phrase(lang, "show.failure",
				"attempt", h.Iteration, "type", templates.OrDash(string(h.FailureType)), "criteria", criteria(lang, h.FailedCriteria)))
		}
	}
	for _, c := range rep.Causes {
		lines = append(lines, phrase(lang, "show.cause", "cause", templates.Line(c, shownSentence)))
	}
	lines = append(lines, phrase(lang, "show.recommended", "way", rep.Recommended))
	if len(rep.Dependents) > 0 {
		lines = append(lines, phrase(lang, "show.dependents", "checkpoints", strings.Join(rep.Dependents, ", ")))
	}
	return strings.Join(lines, "\n")
}
