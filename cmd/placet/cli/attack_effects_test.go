package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"placet/engine"
)

// A person's choice has the effect that was shown, and a word that refuses never lets anything
// go on.
var effectsAttacks = []attack{
	{"a refusing word of a selection", "an agent offers no and yes as two choices of a selection, so that both go on", attackRefusingChoice},
	{"a refusing word with an invisible sign", "an agent offers reject + U+FE0F, which looks like a refusal and is none", attackImitation("approve", "reject\ufe0f")},
	{"an approving word in two scripts", "an agent offers аpprove with a Cyrillic letter beside approve", attackImitation("\u0430pprove", "approve")},
	{"two options that look alike", "an agent offers two options that nobody can tell apart", attackImitation("option-1", "option-l")},
	{"a request that changes before it is approved", "an agent changes the artifact between the listing and the answer", attackChangedRequest},
	{"a suggestion that goes on", "an agent offers nothing that refuses, so that placet suggests what goes on to whoever refuses", attackSuggestion},
	{"a prompt that hides its words", "an agent writes a prompt with bidirectional and invisible characters", attackHiddenPrompt},
}

// asks makes a run that asks with some options, and waits until its form is written.
func (p *place) asks(typ, prompt string, options ...string) {
	p.t.Helper()
	uuid := "00001eef-0000-4000-8000-000000000001"
	p.runs = []string{".fractary/faber/runs/acme/web/" + uuid}
	request, err := json.Marshal(map[string]any{
		"request_id": p.requestID(0), "type": typ, "prompt": prompt, "options": options, "requested_at": "2026-11-20T10:00:00Z",
		"context": map[string]any{"artifact_path": "design.md"},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("design.md", "# Design\n")
	p.write(p.runs[0]+"/state.json", fmt.Sprintf(`{
  "run_id": "acme/web/%s", "status": "awaiting_feedback", "current_phase": "architect", "current_step": "design-review", "updated_at": "2026-11-20T10:00:00Z",
  "phases": {"architect": {"status": "in_progress", "steps": [{"id": "design-review", "status": "in_progress"}]}},
  "feedback_request": %s,
  "resume_point": {"phase": "architect", "step": "design-review"}
}
`, uuid, request))
	p.placet("once")
}

// reference returns the one open request as the listing names it.
func (p *place) reference() string {
	p.t.Helper()
	return p.openRequest().Reference
}

// askedRequest is a request in the listing.
type askedRequest struct {
	ID        string        `json:"request_id"`
	Reference string        `json:"reference"`
	Response  string        `json:"response"`
	Digest    engine.Digest `json:"digest"`
}

// openRequest is the one open request.
func (p *place) openRequest() askedRequest {
	p.t.Helper()
	all := p.openRequests()
	if len(all) != 1 {
		p.t.Fatalf("%+v", all)
	}
	return all[0]
}

// openRequests are all open requests.
func (p *place) openRequests() []askedRequest {
	p.t.Helper()
	cmd := exec.Command(placetBinary(p.t), "-C", p.root, "inbox", "--json")
	cmd.Env = p.env()
	out, _ := cmd.Output() // 3: a request is open
	var inbox struct {
		Data struct{ Requests []askedRequest }
	}
	if err := json.Unmarshal(out, &inbox); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	return inbox.Data.Requests
}

func (p *place) must(code int, args ...string) string {
	p.t.Helper()
	out, got := p.placet(args...)
	if got != code {
		p.t.Fatalf("placet %s: exit %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

func (p *place) says(text string, all ...string) {
	p.t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			p.t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func (p *place) stays(rel string) {
	p.t.Helper()
	if _, err := os.Lstat(filepath.Join(p.root, rel)); err == nil {
		p.t.Errorf("%s was written:\n%s", rel, p.read(rel))
	}
}

func attackRefusingChoice(t *testing.T, p *place) {
	const effect = "repeats architect:design-review with your words"
	p.asks("selection", "Merge to main?", "no", "yes")
	p.says(p.read(p.request(0)+"/form.md"), "- [ ] no: "+effect, "- [ ] yes: goes on with architect:design-review, knowing your answer")
	p.says(p.must(0, "show", p.requestID(0)), effect, "goes on with architect:design-review, knowing your answer")
	p.write(p.request(0)+"/form.md", p.ticked(0, "no"))
	p.must(0, "once")
	if resume := p.read(p.runs[0] + "/resume.md"); !strings.Contains(resume, "The reviewer did not agree and said `no`.") || strings.Contains(resume, "**Action**: continue") {
		t.Errorf("the run goes on:\n%s", resume)
	}
	honest := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	honest.asks("selection", "Merge to main?", "no", "yes")
	p.says(honest.must(0, "respond", honest.reference(), "yes"), "yes → goes on with architect:design-review, knowing your answer")
	honest.must(0, "once")
	p.says(honest.read(honest.runs[0]+"/resume.md"), "**Action**: continue")
}

func attackImitation(options ...string) func(*testing.T, *place) {
	return func(t *testing.T, p *place) {
		p.asks("approval", "Go on?", options...)
		p.stays(p.request(0) + "/form.md")
		p.stays(p.request(0) + "/request.json")
		p.says(p.read(p.runs[0]+"/state.json.problem.md"), "/feedback_request/options: cannot offer")
		honest := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
		honest.asks("approval", "Go on?", "approve", "PostgreSQL 사용", "reject")
		honest.must(0, "reject", honest.reference())
		honest.must(0, "once")
		if st := honest.state(0); st.Status != "cancelled" {
			t.Errorf("the honest request: %+v", st)
		}
	}
}

func attackChangedRequest(t *testing.T, p *place) {
	p.asks("approval", "Is the design good?", "approve", "reject")
	listed := p.reference()
	p.says(p.must(0, "show", p.requestID(0)), "placet approve "+listed)
	p.must(2, "approve", p.requestID(0)) // there is no terminal, and no digest says what was shown
	p.stays(p.request(0) + "/response.json")
	p.write("design.md", "# Another design\n")
	p.until("another digest", func() bool { p.placet("once"); return p.reference() != listed })
	now := p.reference()
	p.says(p.must(1, "approve", listed), "the request changed since it was listed", "Is the design good?", now)
	p.stays(p.request(0) + "/response.json")
	if st := p.state(0); st.Status != "awaiting_feedback" {
		t.Fatalf("%+v", st)
	}
	p.says(p.must(0, "approve", now), "Is the design good?", "approve → goes on after architect:design-review")
	p.must(0, "once")
	if st := p.state(0); st.Status != "in_progress" {
		t.Errorf("%+v, %s", st, p.read(p.request(0)+"/problem.md"))
	}
}

func attackSuggestion(t *testing.T, p *place) {
	p.asks("selection", "Which?", "ship-it", "ship-all")
	out := p.must(1, "reject", p.reference())
	p.says(out, "ship-it → goes on with architect:design-review, knowing your answer", "ship-all → goes on with architect:design-review, knowing your answer")
	_, hint, _ := strings.Cut(out, "\n")
	if strings.Contains(hint, "ship") {
		t.Errorf("suggests what goes on:\n%s", out)
	}
	p.stays(p.request(0) + "/response.json")
	p.must(0, "respond", p.reference(), "ship-all")
}

func attackHiddenPrompt(t *testing.T, p *place) {
	p.asks("approval", "Delete \u202enothing\u202c\u200b, keep e\u0301?", "approve", "reject")
	form := p.read(p.request(0) + "/form.md")
	show := p.must(0, "show", p.reference())
	for name, text := range map[string]string{"form": form, "show": show, "inbox": p.must(3, "inbox")} {
		if strings.ContainsAny(text, "\u202e\u202c\u200b") || !strings.Contains(text, `Delete \u{202e}nothing\u{202c}\u{200b}, keep e`+"\u0301?") {
			t.Errorf("%s hides what the prompt holds:\n%q", name, text)
		}
	}
	p.write(p.request(0)+"/form.md", p.ticked(0, "approve"))
	p.must(0, "once")
	if st := p.state(0); st.Status != "in_progress" {
		t.Errorf("%+v", st)
	}
}
