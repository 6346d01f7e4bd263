package nemawashi

import (
	"fmt"
	"path"
	"strings"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/run/post"
	"placet/engine/slack"
	"placet/schemas"
)

// shownContext is the part of an approval's context that a message shows.
type shownContext struct {
	ThreadID  string `json:"thread_id"`
	ActionID  int    `json:"action_id"`
	Draft     int    `json:"draft_version"`
	Effective []Part `json:"effective"`
}

// posts plans the messages about an action's requests, all in the thread of its first one.
func posts(r *view, w *run.Outputs) {
	post.Plan(r.run, w, post.Said{
		Text: func(req gate.Request) slack.Text {
			if req.Type == typeApproval {
				return postApproval(r, req)
			}
			return slack.Text{Thread: true}
		},
		Reports:   func() []post.Report { return reports(r) },
		Successor: func(request string) (string, bool) { return successor(r, request) },
	})
}

// postApproval returns the message about an approval: the parts as they would be carried out, and
// the draft.
func postApproval(r *view, req gate.Request) slack.Text {
	t := slack.Text{Thread: true, Parts: []slack.Part{}}
	var c shownContext
	if schemas.DecodeValue(req.Context, &c) != nil {
		return t
	}
	for _, p := range c.Effective {
		t.Parts = append(t.Parts, slack.Part{Text: partText(r, p), File: partRest(r, req.RequestID, p), Short: len(p.files()) > 0})
	}
	t.DraftFile = r.run.Path(draftPath(c.Draft))
	for _, a := range req.Artifacts {
		if d := r.run.Snap.Doc(a.Path); a.Path == t.DraftFile && d.Present() && d.Sum.Hex() == a.SHA256 {
			t.Draft = string(d.Body)
		}
	}
	value := fmt.Sprintf("thread_id=%s|approval_request_id=%s|action_id=%d", c.ThreadID, req.RequestID, c.ActionID)
	t.Buttons = []slack.Button{
		{ID: "hitl_approve", Label: r.say("option.approve"), Style: slack.Primary, Option: optApprove, Value: value},
		{ID: "hitl_reject", Label: r.say("option.reject"), Style: slack.Danger, Option: optReject, Value: value},
		{ID: "hitl_request_changes", Label: r.say("button.steer"), Option: optSteer, Value: value},
	}
	return t
}

// partText describes a part with one line for each member of its payload.
func partText(r *view, p Part) string {
	lines := []string{r.say("post.part", "part", p.Part, "type", p.Type, "provider", p.by())}
	if f, ok := inFile(p.Payload); ok {
		return strings.Join(append(lines, f.Head, fileWords(r, f)), "\n")
	}
	for _, m := range p.Payload {
		words := wordsOf(m.Value)
		if members, ok := object(m.Value); ok {
			if f, ok := inFile(members); ok {
				words = f.Head + "\n" + fileWords(r, f)
			}
		}
		lines = append(lines, m.Name+": "+words)
	}
	return strings.Join(lines, "\n")
}

func fileWords(r *view, f heldInFile) string {
	return r.say("post.file", "n", f.Bytes, "file", f.File)
}

// wordsOf formats a value for people: a text unchanged, a list with commas, anything else as JSON.
func wordsOf(value any) string {
	body := run.Encoded(value)
	var text string
	var list []string
	switch {
	case schemas.DecodeValue(body, &text) == nil:
		return text
	case schemas.DecodeValue(body, &list) == nil:
		return strings.Join(list, ", ")
	}
	return strings.TrimSpace(string(body))
}

// partRest returns the file that holds the whole of a part.
func partRest(r *view, request string, p Part) string {
	if files := p.files(); len(files) > 0 {
		return requestFile(r, request, files[0].File)
	}
	return path.Join(r.run.Snap.Dir, "requests", request, "form.md")
}

// successor returns the approval that replaces another one. An ended action has no further ones.
func successor(r *view, request string) (id string, known bool) {
	for _, s := range r.run.State.Superseded {
		if s.ApprovalRequestID == request {
			return string(s.SupersededBy), s.SupersededBy != "" || r.run.State.Final()
		}
	}
	return "", true
}

// reports returns the messages about the ends of an approval's jobs. They use the dialect's words,
// because programs read them.
func reports(r *view) (list []post.Report) {
	for _, j := range r.run.State.Jobs {
		ended, problem := jobEnd(r, j)
		words := fmt.Sprintf("Execution completed. job_id=%s action_id=%d", j.ID, r.run.State.ActionID)
		if problem != "" {
			words = fmt.Sprintf("Execution failed. job_id=%s action_id=%d error=%s", j.ID, r.run.State.ActionID, problem)
		}
		if ended {
			list = append(list, post.Report{Request: j.Approval, Name: j.ID, Text: words})
		}
	}
	return list
}

// jobEnd returns whether a job has ended, and why it failed, or "".
func jobEnd(r *view, j *Job) (ended bool, problem string) {
	var errs []string
	if j.Simulated {
		return r.run.State.ExecutionJobID != text(j.ID) || r.run.State.ExecutionStatus == "failed", simulated.String()
	}
	for _, p := range j.Parts {
		switch p.Status {
		case partOpen, partUnclear:
			return false, ""
		case partFailed:
			errs = append(errs, fmt.Sprintf("part %d failed", p.Part))
		}
	}
	if j == r.run.State.job() {
		errs = errs[:0]
		for _, g := range r.progress() {
			if g.status == partFailed {
				errs = append(errs, strings.TrimSuffix(fmt.Sprintf("part %d: %s", g.Part.Part, g.problem), ": "))
			}
		}
	}
	return true, strings.Join(errs, "; ")
}
