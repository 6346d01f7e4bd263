package nemawashi

import (
	"fmt"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// Types of requests.
const (
	typeApproval = "approval"
	typeRetry    = "retry"
	typeOutcome  = "outcome"
)

// Options of requests.
const (
	optApprove      = "approve"
	optReject       = "reject"
	optSteer        = "steer"
	optRetry        = "retry"
	optGiveUp       = "give_up"
	optHappened     = "happened"
	optDidNotHappen = "did_not_happen"
)

// longestFeedback is the maximum length of a steer, in characters.
const longestFeedback = 10000

var questions = map[string]run.Question[*view]{
	typeApproval: {
		Fill: fillApproval, Title: approvalForm, Stands: approvalStands, Lapses: true, AtDeadline: "nemawashi.at.deadline", MayAnswer: whoMayAnswer,
		Members: []string{run.KeysMember}, Check: checkSteer,
	},
	typeRetry: {
		Fill: fillRetry, Title: jobForm, Check: checkRetry, MayAnswer: whoMayAnswer, Members: []string{run.KeysMember},
	},
	typeOutcome: {
		Fill: fillOutcome, Title: jobForm, MayAnswer: whoMayAnswer, Members: []string{run.KeysMember},
	},
}

// say returns a sentence of the family in the language of the action.
func (r *view) say(key templates.Key, pairs ...any) string {
	return r.run.Say("nemawashi."+key, pairs...)
}

// offer adds options with their effects.
func offer(r *view, req *gate.Request, effects ...[2]string) {
	for _, o := range effects {
		req.Options = append(req.Options, gate.Option{ID: o[0], Description: r.say(templates.Key("option." + o[0])), Effect: o[1]})
	}
}

// whoMayAnswer returns who may answer, by the current lists and, for an approval, also by the lists
// when it was requested.
func whoMayAnswer(r *view, q *run.Request) []string {
	if q.Type == typeApproval {
		return gate.Narrow(r.run.State.MayAnswer, r.mayAnswer())
	}
	return r.mayAnswer()
}

// context returns the members that describe the action in the context of every request.
func context(r *view, more ...schemas.Member) schemas.Object {
	st := r.run.State
	return append(schemas.Object{
		{Name: "thread_id", Value: st.ThreadID}, {Name: "action_id", Value: st.ActionID}, {Name: "type", Value: st.Type},
		{Name: "project_id", Value: st.ProjectID}, {Name: "severity", Value: st.Severity}, {Name: "draft_version", Value: len(st.Drafts)},
	}, more...)
}

func fillApproval(r *view, q *run.Request, req *gate.Request) schemas.Object {
	shown := r.shown(q)
	req.Prompt, req.Since = r.run.State.Summary, r.sinceSteer()
	allows := r.say("effect.allow")
	if r.conf().ExecuteOnApprove {
		allows = r.say("effect.approve", "parts", partWords(shown))
	}
	offer(r, req, [2]string{optApprove, allows}, [2]string{optReject, r.say("effect.reject")},
		[2]string{optSteer, r.say("effect.steer", "version", strconv.Itoa(len(r.run.State.Drafts)+1))})
	req.CommentRequired = []string{optSteer}
	for _, letter := range []string{"A", "B", "C"} {
		req.Items = append(req.Items, gate.Item{ID: letter, Label: r.say("plan", "plan", letter), Words: []string{"plan-" + letter, "plan" + letter}})
	}
	req.ItemsMax, req.ItemsWith = 1, []string{optSteer}
	draft, _ := r.run.State.current()
	req.Artifacts = []gate.Artifact{{Path: r.run.Path(draftPath(draft.Version)), SHA256: draft.Digest.Hex(), Binding: true}}
	if words, ok := r.draftText(draft); ok {
		req.Artifacts[0].Text = &words
	}
	for _, p := range shown {
		for _, f := range p.files() {
			req.Artifacts = append(req.Artifacts, gate.Artifact{Path: requestFile(r, q.ID, f.File), SHA256: engine.Digest(f.SHA256).Hex(), Binding: true, Text: r.heldText(q, f)})
		}
	}
	context := context(r, schemas.Member{Name: "effective", Value: shown})
	if n := len(r.run.State.Superseded); n > 0 {
		context = append(context, schemas.Member{Name: "supersedes", Value: r.run.State.Superseded[n-1].ApprovalRequestID})
	}
	return context
}

// heldText returns the content of a file beside a request that placet is about to write, nil if it
// has already written the request.
func (r *view) heldText(q *run.Request, held heldInFile) *string {
	if r.run.Folder(q.ID).Request != nil {
		return nil
	}
	_, files := byFile(r.whole(q))
	for _, f := range files {
		if f.name == held.File {
			body := string(f.body)
			return &body
		}
	}
	return nil
}

// requestFile returns the path of a file beside a request, relative to the workspace.
func requestFile(r *view, id, name string) string { return r.run.Path("requests/" + id + "/" + name) }

// checkSteer returns what is wrong with the words of a steer, or "".
func checkSteer(r *view, a *run.Answer) string {
	if n := len([]rune(a.Comment)); a.Response == optSteer && n > longestFeedback {
		return r.say("steer.long", "n", n, "most", longestFeedback)
	}
	return ""
}

// approvalStands reports whether what the person is asked about is unchanged.
func approvalStands(r *view, q *run.Request) (problem string, ok bool) {
	file := r.changed()
	if r.run.Held {
		return "", false
	}
	if file != "" {
		return r.say("stands.changed", "file", file), false
	}
	for _, p := range r.shown(q) {
		for _, f := range p.files() {
			d := r.run.Snap.Doc(requestFile(r, q.ID, f.File))
			if r.run.Undecidable(d) {
				return "", false
			}
			if !d.Absent() && string(d.Sum) != f.SHA256 {
				return r.say("stands.file", "file", f.File), false
			}
		}
	}
	return "", true
}

func fillRetry(r *view, _ *run.Request, req *gate.Request) schemas.Object {
	job := r.run.State.job()
	var failed []string
	for _, p := range job.Parts {
		if p.Status != partSucceeded {
			failed = append(failed, strconv.Itoa(p.Part))
		}
	}
	req.Prompt = r.say("ask.retry", "summary", r.run.State.Summary)
	offer(r, req, [2]string{optRetry, r.say("effect.retry", "n", len(failed), "parts", strings.Join(failed, ", "))}, [2]string{optGiveUp, r.say("effect.give_up")})
	return context(r, jobMember(r, job)...)
}

// jobMember returns the member of a context that lists how each part of a job ended.
func jobMember(r *view, job *Job) []schemas.Member {
	parts := []schemas.Object{}
	for _, p := range r.progress() {
		parts = append(parts, schemas.Object{
			{Name: "part", Value: p.Part.Part}, {Name: "type", Value: p.Type}, {Name: "provider", Value: p.Provider}, {Name: "target", Value: p.Target},
			{Name: "status", Value: p.status}, {Name: "error", Value: text(p.problem.String())},
		})
	}
	return []schemas.Member{{Name: "job", Value: schemas.Object{{Name: "job_id", Value: job.ID}, {Name: "parts", Value: parts}}}}
}

// checkRetry returns why a retry is impossible now, or "".
func checkRetry(r *view, a *run.Answer) string {
	if a.Response != optRetry {
		return ""
	}
	if code, why := r.cannotStart(); code != "" {
		return r.say("retry.cannot", "why", why)
	}
	return ""
}

func fillOutcome(r *view, q *run.Request, req *gate.Request) schemas.Object {
	part := string(q.Subject)
	req.Prompt = r.say("ask.outcome", "summary", r.run.State.Summary, "part", part)
	offer(r, req, [2]string{optHappened, r.say("effect.happened", "part", part)}, [2]string{optDidNotHappen, r.say("effect.did_not_happen", "part", part)})
	return context(r, jobMember(r, r.run.State.job())...)
}

func jobForm(r *view, q *run.Request) gate.Texts {
	t := gate.Texts{Lang: r.run.Lang, Title: r.say(templates.Key("title." + q.Type)), Where: r.run.State.ThreadID}
	for _, p := range r.progress() {
		line := fmt.Sprintf("- %s: %s", partName(r, p.Part), p.status)
		if problem := p.problem.In(r.run.Lang); problem != "" {
			line += " (" + templates.Inline(templates.Cut(problem, engine.LongestReason)) + ")"
		}
		t.Lines = append(t.Lines, line)
	}
	return t
}
