package faber

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"placet/internal/upstreamflow"
	"placet/layout"
)

// onePlan is one look of placet at the run, with what it commits: upstream may write before the next.
var onePlan = act{"plan", func(w *world) { w.Step() }}

// beside walks every order of upstream's flows and another answer, for every type of request: each flow
// with one in so many of the answers.
func beside(t *testing.T, every int, prepare func(*world), passes []act, other func(response string) act, wrong func(*world) []string) {
	flows, err := upstreamflow.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range flows {
		for j, a := range upstreamAnswers {
			if (i+j)%every != 0 {
				continue
			}
			for _, response := range []string{a.response, a.other} {
				w, answer := upstreamRun(t, a.typ, a.options, a.response, prepare)
				walk := interleaving{steps: f.Steps(answer), passes: passes, other: other(response)}
				walk.other.name = f.Name + " " + a.typ + " " + a.response + " beside " + response + " by " + walk.other.name
				walk.start(w, func(w *world) []string {
					return append(upstreamflow.Wrong(runFiles{w}, "fr-1"), wrong(w)...)
				})
			}
		}
	}
}

// byComment is an answer by a comment on the issue.
func byComment(response string) act {
	return act{"comment", func(w *world) { w.fromGitHub("gh-1", "kim", response+"\nas said\n\n@faber resume\n") }}
}

// onIssueChannel lets comments of kim answer the run.
func onIssueChannel(w *world) {
	w.config(func(c *Config) { c.Issue.Enabled, c.Issue.Authors, c.Issue.Repo = true, []string{"kim"}, "acme/web" })
	w.Put(w.In("metadata.json"), `{"work_id": "124"}`)
}

// wrongOfComment returns what the comment's receipt and reply say that the history does not.
func wrongOfComment(w *world) (wrong []string) {
	if !w.Has("comments/gh-1.receipt.json") {
		return []string{"the comment has no receipt"}
	}
	r, want := w.consumed("gh-1"), "refused"
	for _, h := range w.state().History {
		if h.ProvidedBy.User == "kim" {
			want = "accepted"
			if r.Response != h.Response {
				wrong = append(wrong, fmt.Sprintf("the comment says %q, the history %q", r.Response, h.Response))
			}
		}
	}
	if r.Status != want || w.Has("comments/gh-1.reply.md") != (want == "refused") || want == "refused" && !strings.Contains(r.Reason, "answered already") {
		wrong = append(wrong, fmt.Sprintf("the comment is %+v, expected %s; history %+v", r, want, w.state().History))
	}
	return wrong
}

// A comment on the issue that comes while FABER's own session records an answer is carried out, or
// its reply says that somebody else had answered.
func TestUpstreamAnswersBesideAComment(t *testing.T) {
	beside(t, 4, onIssueChannel, []act{onePlan}, byComment, wrongOfComment)
}

const besideDir = ".fractary/faber/coordinators/coord-20251206-a1b2c3"

// atCoordinatorOf is the same world, for the coordinator of its run.
func atCoordinatorOf(w *world) *world {
	c := *w.Stage
	c.Run, _ = layout.Faber{}.At(besideDir + "/state.json")
	return &world{&c}
}

// coordinated has a coordinator ask about the run.
func coordinated(w *world) {
	w.Put(w.In("metadata.json"), `{"work_id": "124"}`)
	w.settle()
	w.Put(besideDir+"/coordinator.json", fmt.Sprintf(`{"coordinator_id": "coord-20251206-a1b2c3", "runs": [%q]}`, w.Run.ID))
	atCoordinatorOf(w).settle()
}

// byCoordinator is an answer by a reply to the coordinator's prompt.
func byCoordinator(response string) act {
	return act{"coordinator", func(w *world) { w.Put(besideDir+"/replies/001.md", "#124: "+response+": as said\n") }}
}

// wrongOfRound returns what the coordinator's record of the round says that the history does not.
func wrongOfRound(w *world) (wrong []string) {
	c := atCoordinatorOf(w)
	c.settle()
	var receipt struct{ Answers []TakenAnswer }
	if !c.Has("receipt-001.json") {
		return []string{"the round has no end"}
	}
	if err := json.Unmarshal([]byte(c.Read("receipt-001.json")), &receipt); err != nil {
		return []string{err.Error()}
	}
	h := w.state().History
	for _, a := range receipt.Answers {
		if len(h) != 1 || h[0].ProvidedBy.Source != "parallel_coordination" || h[0].ProvidedBy.User == "keiko" || a.Response != h[0].Response {
			wrong = append(wrong, fmt.Sprintf("the round says %+v, the history %+v", a, h))
		}
	}
	if len(receipt.Answers) == 0 && len(h) == 1 && h[0].ProvidedBy.User != "keiko" {
		wrong = append(wrong, fmt.Sprintf("the round knows no answer, the history %+v", h))
	}
	return wrong
}

// An answer in a coordinator's reply that comes while FABER's own coordinator or session records one
// is carried out, or the round's receipt does not claim it.
func TestUpstreamAnswersBesideACoordinator(t *testing.T) {
	look := act{"coordinator's plan", func(w *world) { atCoordinatorOf(w).Step() }}
	beside(t, 6, coordinated, []act{onePlan, look}, byCoordinator, wrongOfRound)
}

// FABER's session may answer what placet asks at a gate: the agent that called is told what the
// history says, whoever answered.
func TestUpstreamAnswersAtAGate(t *testing.T) {
	flows, err := upstreamflow.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	plan := fmt.Sprintf(gatedPlan, `"require_approval_for": ["release"]`, `, "requires_approval": true, "approval_type": "review"`, "")
	for i, c := range []struct{ place, name, typ, response, other string }{
		{"release", "gates/release", "approval", "approve", "reject"},
		{"release", "gates/release", "approval", "reject", "approve"},
		{"build:ship", "gates/build.ship", "review", "approve", "request_changes"},
		{"build:ship", "gates/build.ship", "review", "request_changes", "approve"},
		{"build:ship", "gates/build.ship", "review", "reject", "approve"},
	} {
		for j, f := range flows {
			if (i+j)%3 != 0 {
				continue
			}
			w := gated(t, plan, `{"work_id": "124"}`)
			onIssueChannel(w)
			w.calls(c.place)
			w.Now = w.Now.Add(time.Minute)
			at, id := w.state().ResumePoint, w.state().Feedback.RequestID
			answer := upstreamflow.Answer{RequestID: id, Type: c.typ, Response: c.response, Phase: at.Phase, Step: at.Step, RunID: w.Run.ID}
			for _, other := range []act{{}, byFile(id, c.other), byComment(c.other)} {
				walk := interleaving{steps: f.Steps(answer), passes: []act{onePlan}, other: other}
				way := f.Name + " " + c.place + " " + c.response
				walk.start(w.clone(), func(w *world) (wrong []string) {
					wrong = append(upstreamflow.Wrong(runFiles{w}, id), wrongAtGate(w, c.name)...)
					if other.name == "comment" {
						wrong = append(wrong, wrongOfComment(w)...)
					}
					for i := range wrong {
						wrong[i] = way + ": " + wrong[i]
					}
					return wrong
				})
			}
		}
	}
}

// wrongAtGate returns what the reply to a call says that the history does not.
func wrongAtGate(w *world, name string) (wrong []string) {
	want := "refused"
	for _, h := range w.state().History {
		if h.Response == "approve" || h.Response == "confirm" {
			want = "pass"
		}
	}
	if got := w.replies(name); got["result"] != want {
		wrong = append(wrong, fmt.Sprintf("the reply is %v, the history %+v", got, w.state().History))
	}
	return wrong
}
