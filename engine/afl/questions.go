package afl

import (
	"fmt"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// Types of requests.
const (
	typeApproval      = "specs_approval"
	typeClarification = "clarification"
	typeEscalation    = "escalation"
	typeReview        = "implementation_review"
	typeInterrupted   = "interrupted_run"
	typeChanged       = "changed_command"
	typePassed        = "checkpoint_review"
)

// Options of requests.
const (
	optApprove    = "approve"
	optChanges    = "request_changes"
	optReject     = "reject"
	optAnswer     = "answer"
	optValidate   = "validate"
	optEscalate   = "escalate"
	optRetryMore  = "retry_more"
	optRedesign   = "redesign"
	optEnvFixed   = "env_fixed"
	optSkip       = "skip"
	optSkipForced = "skip_forced"
	optAbort      = "abort"
	optAccept     = "accept"
	optReopen     = "reopen:"
	optRunAgain   = "run_again"
	optFailed     = "failed"
	optRun        = "run"
	optReopenPass = "reopen"
)

// prefixes are the prefixes of the ids of requests.
var prefixes = map[string]string{
	typeApproval: "approve", typeClarification: "question", typeEscalation: "escalation",
	typeReview: "review", typeInterrupted: "interrupted", typeChanged: "changed", typePassed: "passed",
}

// questions are the questions to people. What a request shows cannot change under it, except who
// may answer, and the checkpoints to approve while they are unreadable.
var questions = map[string]run.Question[*session]{
	typeApproval: newQuestion("specs", fillApproval, designLines), typeClarification: newQuestion("", fillClarification, nil),
	typeEscalation: newQuestion("", fillEscalation, dependentLines), typeReview: newQuestion("review", fillReview, nil),
	typeInterrupted: newQuestion("", fillInterrupted, nil), typeChanged: changedQuestion(),
	typePassed: newQuestion("", fillPassed, nil),
}

// changedQuestion is the question about changed files. What lets the command run counts only at the
// command line.
func changedQuestion() run.Question[*session] {
	q := newQuestion("", fillChanged, differenceLines)
	q.AtCommandLine, q.Stands = []string{optRun, engine.TrustChanges}, isAsShown
	tell := q.Tell
	q.Tell = func(r *session, asked *run.Request, a *engine.OpenRequest) {
		tell(r, asked, a)
		tellChanged(r, asked, a)
	}
	return q
}

// newQuestion returns a question of the session. where is the place that people see if the question
// is about no checkpoint, fill completes the request, and lines returns the lines of its form
// besides prompt and context.
func newQuestion(where string, fill func(*session, *run.Request, *gate.Request) schemas.Object, lines func(*session, *run.Request) []string) run.Question[*session] {
	return run.Question[*session]{
		Members: []string{"attempts"},
		Remakes: func(r *session, q *run.Request) bool { return q.Type != typeApproval || r.specs.readable },
		Tell: func(r *session, q *run.Request, a *engine.OpenRequest) {
			a.Where = orWord(string(q.Subject), where)
			a.Unannounced = q.Type == typeEscalation && !r.cfg.Announce
		},
		Fill: func(r *session, q *run.Request, req *gate.Request) schemas.Object {
			if q.Subject != "" {
				req.Extra = schemas.Object{{Name: "checkpoint", Value: q.Subject}}
			}
			return fill(r, q, req)
		},
		Title: func(r *session, q *run.Request) gate.Texts {
			t := gate.Texts{Lang: r.run.Lang, Title: phrase(r.run.Lang, "title."+q.Type), Where: string(q.Subject)}
			if lines != nil {
				t.Lines = lines(r, q)
			}
			return t
		},
		Check: func(r *session, a *run.Answer) (problem string) {
			if a.Response == optRetryMore {
				_, _, problem = attemptsOf(r.run.Lang, a, 0)
			}
			return problem
		},
	}
}

// dependentLines returns the line that lists the dependents of an escalated checkpoint in the form.
func dependentLines(r *session, q *run.Request) []string {
	if list := dependentsOf(r, string(q.Subject)); len(list) > 0 {
		return []string{phrase(r.run.Lang, "ask.dependents") + " " + templates.Inline(strings.Join(list, ", "))}
	}
	return nil
}

// requestID returns the id of a request that a revision opens.
func (r *session) requestID(typ, cp string, revision int) string {
	if cp == "" {
		cp = "-"
	}
	sum := engine.Sum(fmt.Appendf(nil, "afl\n%s\n%d\n%s/%s", r.id(), revision, typ, cp))
	return prefixes[typ] + "-" + sum.Hex()[:12]
}

// ask opens a request. The new state must already contain what the request shows.
func (r *session) ask(c *change, typ, cp string) *run.Request {
	return c.Ask(run.Request{ID: r.requestID(typ, cp, c.Revision), Type: typ, Subject: text(cp)})
}

// offer adds options with their descriptions and effects.
func offer(r *session, req *gate.Request, ids ...string) {
	for _, id := range ids {
		req.Options = append(req.Options, gate.Option{ID: id, Description: phrase(r.run.Lang, "option."+id), Effect: phrase(r.run.Lang, "effect."+id)})
	}
}

// Limits of what a request shows: bytes of a text, criteria of a definition, and bytes of a whole
// design. The files that it names contain the rest.
const (
	shownField    = 200
	shownCriteria = 3
	shownDesign   = 200 << 10
)

func fillApproval(r *session, _ *run.Request, req *gate.Request) schemas.Object {
	req.Prompt = phrase(r.run.Lang, "ask.specs_approval")
	if len(r.run.State.Specs.Errors) == 0 {
		offer(r, req, optApprove)
	} else {
		req.Prompt = phrase(r.run.Lang, "ask.specs_approval.blocked")
	}
	offer(r, req, optChanges, optReject)
	req.CommentRequired = []string{optChanges}
	defs, found, room := []any{}, []any{}, shownDesign
	for _, e := range r.specs.entries {
		shown := schemas.Object{
			{Name: "id", Value: templates.Cut(e.def.ID, shownField)}, {Name: "name", Value: templates.Cut(e.def.Name, shownField)},
			{Name: "dependencies", Value: e.def.Dependencies[:min(len(e.def.Dependencies), mostWords)]},
			{Name: "criteria", Value: len(e.def.Criteria)}, {Name: "command", Value: text(templates.Cut(string(e.def.Command), shownField))},
			{Name: "expected", Value: text(templates.Cut(string(e.def.Expected), shownField))},
		}
		if room -= len(run.Encoded(shown)); room < 0 {
			break
		}
		defs = append(defs, shown)
	}
	for _, f := range r.specs.findings[:min(len(r.specs.findings), mostWords)] {
		found = append(found, templates.Cut(f.line(), engine.LongestReason))
	}
	return schemas.Object{
		{Name: "specs_digest", Value: r.run.State.Specs.Digest}, {Name: "definitions", Value: defs}, {Name: "findings", Value: found},
	}
}

// designLines returns the checkpoints as lines of the form for their approval.
func designLines(r *session, _ *run.Request) []string {
	var lines []string
	room := shownDesign
	for i, e := range r.specs.entries {
		shown := e.lines()
		if room -= len(strings.Join(shown, "\n")); room < 0 {
			lines = append(lines, fmt.Sprintf("- … +%d: %s", len(r.specs.entries)-i, templates.Code(specsPath(r))))
			break
		}
		lines = append(lines, shown...)
	}
	for _, f := range r.specs.findings[:min(len(r.specs.findings), mostWords)] {
		lines = append(lines, "- "+templates.Inline(templates.Cut(f.line(), engine.LongestReason)))
	}
	return lines
}

// lines returns a checkpoint as lines of the form for its approval.
func (e entry) lines() []string {
	line := "- **" + templates.Inline(templates.Cut(e.def.ID, shownField)) + "** " + templates.Inline(templates.Cut(e.def.Name, shownField))
	if len(e.def.Dependencies) > 0 {
		line += " ← " + templates.Inline(templates.Cut(strings.Join(e.def.Dependencies, ", "), shownField))
	}
	if e.def.Command != "" {
		line += ": " + templates.Code(templates.Cut(string(e.def.Command), shownField))
	}
	lines := []string{line}
	for _, criterion := range e.def.Criteria[:min(len(e.def.Criteria), shownCriteria)] {
		lines = append(lines, "  - "+templates.Inline(templates.Cut(criterion, shownField)))
	}
	return lines
}

func fillClarification(r *session, q *run.Request, req *gate.Request) schemas.Object {
	cp := r.checkpoint(string(q.Subject))
	asked := cp.asked(q.ID)
	req.Prompt = asked.Text
	offer(r, req, optAnswer, optValidate, optEscalate)
	req.CommentRequired = []string{optAnswer}
	return schemas.Object{
		{Name: "checkpoint", Value: cp.id}, {Name: "iteration", Value: cp.Iteration},
		{Name: "question", Value: asked.Number}, {Name: "source", Value: asked.Source},
	}
}

func fillEscalation(r *session, q *run.Request, req *gate.Request) schemas.Object {
	cp := r.checkpoint(string(q.Subject))
	e := cp.Escalation
	req.Prompt = phrase(r.run.Lang, "ask.escalation", "checkpoint", cp.id) + "\n\n" + e.Reason
	offer(r, req, optRetryMore, optRedesign)
	if cp.Iteration > 0 {
		offer(r, req, optEnvFixed)
	}
	offer(r, req, optSkip, optSkipForced, optAbort)
	req.Artifacts = []gate.Artifact{{Path: r.run.Path(cp.rel("escalation.md")), SHA256: engine.Sum(escalationMD(escalationOf(cp))).Hex()}}
	return schemas.Object{
		{Name: "checkpoint", Value: cp.id}, {Name: "iteration", Value: e.Iteration}, {Name: "route", Value: e.Route},
		{Name: "failure_type", Value: text(e.FailureType)}, {Name: "dependents", Value: dependentsOf(r, cp.id)},
	}
}

// dependentsOf returns the checkpoints that depend on one, directly or not.
func dependentsOf(r *session, cp string) []string {
	return graph.Dependents(nodesOf(r.run.State.definitions()), cp)
}

func fillReview(r *session, _ *run.Request, req *gate.Request) schemas.Object {
	req.Prompt = phrase(r.run.Lang, "ask.implementation_review")
	offer(r, req, optAccept)
	done, needed := []string{}, map[string]bool{}
	for _, d := range r.run.State.definitions() {
		for _, dep := range d.Dependencies {
			needed[dep] = true
		}
	}
	for _, id := range r.order {
		if cp := r.checkpoint(id); cp.Status != Completed || cp.def == nil {
			continue
		}
		done = append(done, id)
		option, effect := optReopen+id, "effect.reopen"
		if needed[id] {
			effect = "effect.reopen.needed"
		}
		req.Options = append(req.Options, gate.Option{
			ID: option, Description: phrase(r.run.Lang, "option.reopen"), Effect: phrase(r.run.Lang, effect, "checkpoint", id),
		})
		req.Several = append(req.Several, option)
		req.CommentRequired = append(req.CommentRequired, option)
	}
	return schemas.Object{{Name: "round", Value: r.run.State.Review.Round}, {Name: "completed", Value: done}}
}

func fillInterrupted(r *session, q *run.Request, req *gate.Request) schemas.Object {
	cp := r.checkpoint(string(q.Subject))
	what, prompt := schemas.Member{Name: "start", Value: cp.startNumber()}, "ask.interrupted_run.worker"
	offer(r, req, optRunAgain, optFailed)
	if cp.Status == Validating {
		what, prompt = schemas.Member{Name: "run", Value: cp.runNumber()}, "ask.interrupted_run.validation"
	} else {
		offer(r, req, optValidate)
	}
	req.Prompt = phrase(r.run.Lang, prompt, "checkpoint", cp.id)
	return schemas.Object{{Name: "checkpoint", Value: cp.id}, {Name: "iteration", Value: cp.Iteration}, what}
}

// mostAttempts is how many attempts one answer can add.
const mostAttempts = 20

// firstLine matches the number of attempts at the start of a comment.
var firstLine = lazyregexp.New(`(?i)^\s*attempts:[ \t]*(\S+)[ \t]*(?:\n|$)`)

// attemptsOf returns how many attempts an answer retry_more asks for, builtIn if it does not say,
// and the rest of the comment. problem says why the number is unusable.
func attemptsOf(lang string, a *run.Answer, builtIn int) (n int, note, problem string) {
	number, note := "", a.Comment
	comment := strings.ReplaceAll(a.Comment, "\r\n", "\n")
	if m := firstLine.FindStringSubmatch(comment); m != nil {
		number, note = m[1], strings.TrimSpace(comment[len(m[0]):])
	}
	if raw := a.Extra.Raw("attempts"); !raw.Null() {
		number = string(raw)
		if t, isText := raw.Text(); isText {
			number = t
		}
	}
	if number == "" && firstLine.FindString(comment) == "" && a.Extra.Raw("attempts").Null() {
		return builtIn, note, ""
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > mostAttempts {
		return 0, note, phrase(lang, "bad.attempts", "attempts", number, "most", mostAttempts)
	}
	return n, note, ""
}

// noteAttempts records with a request how many attempts its answer added.
func noteAttempts(s *step, id string, n int) {
	for _, q := range s.Requests() {
		if q.ID == id {
			q.Extra = schemas.Object{{Name: "attempts", Value: n}}
		}
	}
}
