package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"placet/engine/ask"
)

// promptPlace makes a workspace whose owner lets Claude Code's own prompt stand beside placet's
// question, and makes what runs there look as if a terminal's Claude Code had called it.
func promptPlace(t *testing.T, more string) *place {
	t.Helper()
	p := newPlace(t, filepath.Join(t.TempDir(), "w"), 0)
	p.write("placet.toml", "")
	p.write("../home-w/placet/placet.toml", "[hook]\nfirst = \"any\"\n"+more)
	p.vars = []string{"CLAUDE_CODE_ENTRYPOINT=cli"}
	return p
}

// aboutForce is a rule that asks.
const aboutForce = "[[hook.rule]]\nmatch = ['--force']\ndo = \"ask\"\nreason = \"Others may have it.\"\n"

// happens calls Claude Code's hook with an event of a session about make WHAT, as the client writes
// it. more are further members.
func (p *place) happens(session, event, what, more string) *hookCall {
	p.t.Helper()
	return p.hooks(p.eventInput(session, event, what, more))
}

// hooks begins a hook of Claude Code with an input.
func (p *place) hooks(input string) *hookCall {
	p.t.Helper()
	h := &hookCall{cmd: p.program("hook", "claude-code")}
	h.cmd.Dir, h.cmd.Stdout, h.cmd.Stderr = p.root, &h.out, &h.err
	h.cmd.Stdin = strings.NewReader(input)
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return h
}

func (p *place) eventInput(session, event, what, more string) string {
	tool := fmt.Sprintf(`"tool_name": "Bash", "tool_input": {"command": "make %s", "description": "run"}`, what)
	switch event {
	case "Stop":
		tool = `"stop_hook_active": false`
	case "UserPromptSubmit":
		tool = `"prompt": "go on"`
	case "PermissionRequest":
		tool += `, "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]`
	case "PostToolUse":
		tool += `, "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false}, "tool_use_id": "toolu_` + what + `", "duration_ms": 531`
	case "PostToolUseFailure":
		tool += `, "tool_use_id": "toolu_` + what + `", "error": "exit 1", "is_interrupt": false`
	case "PreToolUse":
		tool += `, "tool_use_id": "toolu_` + what + `"`
	}
	return fmt.Sprintf(`{"session_id": %q, "transcript_path": "/home/kim/t.jsonl", "cwd": %q, "prompt_id": "p", "permission_mode": "default", "hook_event_name": %q, %s%s}`, session, p.root, event, tool, more)
}

// promptAsked begins a prompt about make WHAT, and returns the running hook and the id of the question.
func (p *place) promptAsked(session, what string) (*hookCall, string) {
	p.t.Helper()
	before := map[string]bool{}
	for _, id := range p.askIDs() {
		before[id] = true
	}
	h := p.happens(session, "PermissionRequest", what, "")
	id := ""
	p.until("the prompt is asked about", func() bool {
		for _, one := range p.askIDs() {
			if !before[one] && p.showsForm(one) && p.isWaitedFor(one) {
				id = one
			}
		}
		return id != ""
	})
	return h, id
}

func (p *place) askIDs() (ids []string) {
	found, _ := filepath.Glob(filepath.Join(p.root, ".asks/*/ask.json"))
	for _, file := range found {
		ids = append(ids, filepath.Base(filepath.Dir(file)))
	}
	return ids
}

// isWaitedFor reports whether some process has recorded that it waits for an ask.
func (p *place) isWaitedFor(id string) bool {
	found, _ := filepath.Glob(filepath.Join(p.stateHome(), "placet/*/*/serving", id, "*"))
	return len(found) > 0
}

func (p *place) askState(id string) (st ask.State) {
	p.t.Helper()
	st, err := ask.ReadState("state.json", []byte(p.read(".asks/"+id+"/state.json")))
	if err != nil {
		p.t.Fatal(err)
	}
	return st
}

// isTakenBack checks that a question is withdrawn with a reason, and that a late answer is refused.
func (p *place) isTakenBack(id, why string) {
	p.t.Helper()
	p.until(id+" is withdrawn", func() bool { return p.askState(id).Status == ask.Withdrawn })
	if st := p.askState(id); string(st.Last.Reason) != why || st.Answer != nil {
		p.t.Errorf("%s is withdrawn because %q, answer %v; expected %q", id, st.Last.Reason, st.Answer, why)
	}
	if out, _ := p.placet("inbox"); strings.Contains(out, id) {
		p.t.Errorf("the inbox lists %s:\n%s", id, out)
	}
	if out, _ := p.placet("show", id); !strings.Contains(out, why) {
		p.t.Errorf("show does not say %q:\n%s", why, out)
	}
	out, code := p.placet("approve", id)
	if code != 1 || !strings.Contains(out, "nothing is asked of ask/"+id) {
		p.t.Errorf("a late answer ends with %d: %s", code, out)
	}
}

// refusesLateAnswers checks that an answer to a closed question is told that it does not count.
func (p *place) refusesLateAnswers(id string) {
	p.t.Helper()
	p.choose(id, "approve")
	_, _ = p.placet("once") // it ends with 1 for the answer that does not count
	problem := ".asks/" + id + "/requests/" + ask.RequestID(id) + "/problem.md"
	if st := p.askState(id); st.Status != ask.Withdrawn || st.Answer != nil || !strings.Contains(p.read(problem), "It is closed, and another answer moves nothing") {
		p.t.Errorf("after a late answer it is %s, answer %v:\n%s", st.Status, st.Answer, p.read(problem))
	}
}

const (
	answeredThere = "answered in claude-code"
	leftThere     = "answered in claude-code, or given up there"
	showsPrompt   = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Others may have it."}}`
	allowsPrompt  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
	deniesPrompt  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"rejected by kim (claimed) in ask/`
)

// With first = "any", a rule that asks makes the client show its prompt, and the question stands beside
// it. An answer in placet ends the prompt. Prompts of the client's own are asked about, too.
func TestAnAnswerHereEndsThePromptOfTheClient(t *testing.T) {
	t.Parallel()
	p := promptPlace(t, aboutForce)
	if out := p.happens("s", "PreToolUse", "push --force", "").ends(t, 0); out != showsPrompt {
		t.Errorf("before the call: %s", out)
	}
	if ids := p.askIDs(); len(ids) > 0 {
		t.Errorf("before the prompt, %v is asked", ids)
	}
	h, id := p.promptAsked("s", "push --force")
	st := p.askState(id)
	if !strings.HasPrefix(st.Ask.Context, "claude-code asks this at its own prompt, too. The first answer counts") || !strings.Contains(st.Ask.Context, "Others may have it.") || st.Ask.Default != "" || st.Ask.Deadline == "" {
		t.Errorf("asked is %+v", st.Ask)
	}
	p.choose(id, "approve")
	if out := h.ends(t, 0); out != allowsPrompt {
		t.Errorf("approved: %s", out)
	}
	if out := p.happens("s", "PreToolUse", "lint", "").ends(t, 0); out != "" {
		t.Errorf("before a call without a rule: %s", out)
	}
	h, id = p.promptAsked("s", "lint")
	p.choose(id, "reject")
	if out := h.ends(t, 0); !strings.HasPrefix(out, deniesPrompt+id) {
		t.Errorf("rejected: %s", out)
	}
	p.happens("s", "Stop", "", "").ends(t, 0)
	if st := p.askState(id); st.Status != ask.Answered || st.Answer.Response != "reject" {
		t.Errorf("after the turn it is %s, %v", st.Status, st.Answer)
	}
}

// An answer in the client takes the question back. The hook that waits prints nothing.
func TestAnAnswerInTheClientTakesTheQuestionBack(t *testing.T) {
	t.Parallel()
	for event, why := range map[string]string{"PostToolUse": answeredThere, "PostToolUseFailure": answeredThere, "Stop": leftThere, "UserPromptSubmit": leftThere, "SIGTERM": leftThere} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			p := promptPlace(t, aboutForce)
			h, id := p.promptAsked("s", "lint")
			if event == "SIGTERM" {
				_ = h.cmd.Process.Signal(syscall.SIGTERM)
			} else if out := p.happens("s", event, "lint", "").ends(t, 0); out != "" {
				t.Errorf("the later call prints %q", out)
			}
			if out := h.ends(t, 0); out != "" {
				t.Errorf("the prompt's hook prints %q", out)
			}
			p.isTakenBack(id, why)
			p.refusesLateAnswers(id)
		})
	}
}

// A hook that is killed says nothing. The next call of the session takes its question back, or the
// daemon does.
func TestTheQuestionOfAKilledHookEnds(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"the next call", "the daemon"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			p := promptPlace(t, "")
			h, id := p.promptAsked("s", "lint")
			_ = h.cmd.Process.Kill()
			if out := h.ends(t, -1); out != "" {
				t.Errorf("the killed hook prints %q", out)
			}
			if by == "the daemon" {
				p.start()
				p.isTakenBack(id, "the asker is gone")
				return // and leaves late answers to whoever gives them
			}
			p.happens("s", "PostToolUse", "lint", "").ends(t, 0)
			p.isTakenBack(id, answeredThere)
		})
	}
}

// A hook whose client was killed takes its question back.
func TestAQuestionEndsWithItsClient(t *testing.T) {
	t.Parallel()
	p := promptPlace(t, "")
	p.write("../in.json", p.eventInput("s", "PermissionRequest", "lint", ""))
	client := command(t, "sh", "-c", `"$0" hook claude-code <../in.json >../out 2>&1; :`, placetBinary(t))
	client.Dir, client.Env = p.root, p.env()
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	id := ""
	p.until("the prompt is asked about", func() bool {
		ids := p.askIDs()
		if len(ids) > 0 && p.showsForm(ids[0]) && p.isWaitedFor(ids[0]) {
			id = ids[0]
		}
		return id != ""
	})
	_ = client.Process.Kill()
	_ = client.Wait()
	p.isTakenBack(id, leftThere)
	body, err := os.ReadFile(filepath.Join(p.root, "../out"))
	if err != nil || strings.Contains(string(body), "decision") {
		t.Errorf("the hook prints %q, %v", body, err)
	}
}

// Only the session's own question about the call that was made ends: not that of another session, of
// another call or of another agent. Of two equal calls the first ends.
func TestACallThatWasMadeEndsItsOwnQuestionOnly(t *testing.T) {
	t.Parallel()
	p := promptPlace(t, "")
	first, one := p.promptAsked("s", "lint")
	second, same := p.promptAsked("s", "lint")
	third, foreign := p.promptAsked("other", "lint")
	fourth, another := p.promptAsked("s", "test")
	if len(p.askIDs()) != 4 {
		t.Fatalf("asked are %v", p.askIDs())
	}
	p.happens("s", "PostToolUse", "build", "").ends(t, 0)
	p.happens("s", "PostToolUse", "lint", `, "agent_id": "a1"`).ends(t, 0)
	p.happens("s", "Stop", "", `, "agent_id": "a1"`).ends(t, 0)
	p.happens("s", "PreToolUse", "lint", "").ends(t, 0)
	open := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if st := p.askState(id); st.Status != ask.Open {
				t.Errorf("%s is %s: %s", id, st.Status, st.Last.Reason)
			}
		}
	}
	open(one, same, foreign, another)
	p.happens("s", "PostToolUse", "lint", "").ends(t, 0)
	if out := first.ends(t, 0); out != "" {
		t.Errorf("the first prints %q", out)
	}
	open(same, foreign, another)
	p.happens("s", "PostToolUse", "lint", "").ends(t, 0)
	if out := second.ends(t, 0); out != "" {
		t.Errorf("the second prints %q", out)
	}
	open(foreign, another)
	p.choose(foreign, "approve")
	p.choose(another, "reject")
	if out := third.ends(t, 0); out != allowsPrompt {
		t.Errorf("the other session is told %q", out)
	}
	if out := fourth.ends(t, 0); !strings.HasPrefix(out, deniesPrompt+another) {
		t.Errorf("the other call is told %q", out)
	}
	p.isTakenBack(one, answeredThere)
	p.isTakenBack(same, answeredThere)
}

// Without an answer in placet, the client's own prompt decides: at the deadline, and after an error.
func TestWithoutAnAnswerThePromptOfTheClientIsLeft(t *testing.T) {
	t.Parallel()
	p := promptPlace(t, "wait = \"2s\"\n")
	if out := p.happens("s", "PermissionRequest", "lint", "").ends(t, 0); out != "" {
		t.Errorf("at the deadline it prints %q", out)
	}
	p = promptPlace(t, "")
	p.write(".asks", "in the way")
	h := p.happens("s", "PermissionRequest", "lint", "")
	if out := h.ends(t, 0); out != "" || !strings.Contains(h.err.String(), "cannot ask") {
		t.Errorf("after an error it prints %q, and says %s", out, &h.err)
	}
	if out := p.happens("s", "PostToolUse", "lint", "").ends(t, 0); out != "" {
		t.Errorf("after a call it prints %q", out)
	}
}

// People are notified of the question beside a prompt, and not of the prompt once more.
func TestAPromptBesideAQuestionIsToldOnce(t *testing.T) {
	t.Parallel()
	p := promptPlace(t, "")
	told := filepath.Join(filepath.Dir(p.root), "told")
	p.write("../home-w/placet/placet.toml", "[hook]\nfirst = \"any\"\n[notify]\ncommand = [\"sh\", \"-c\", 'echo \"$PLACET_RUNG\" >> "+told+"']\n")
	notice := fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "Notification", "message": "Claude needs your permission to use Bash", "notification_type": "permission_prompt"}`, p.root)
	says := func(want string) {
		t.Helper()
		if out, code := p.runsIn(t, p.root, notice, "hook", "claude-code"); out != "" || code != 0 {
			t.Errorf("the notice prints %q, and ends with %d", out, code)
		}
		if got := p.readFile(told); got != want {
			t.Errorf("told is %q, expected %q", got, want)
		}
	}
	h, id := p.promptAsked("s", "lint")
	p.until("the question is told", func() bool { return p.read("../told") != "" })
	first := p.read("../told")
	says(first)
	p.choose(id, "approve")
	h.ends(t, 0)
	says(first + "notice\n")
}

// Where no prompt can stand beside the question, or a gate names who answers, placet asks alone as with
// first = "placet"; and it leaves prompts alone that only the client can take an answer to.
func TestWherePromptsCannotStandBesidePlacetAsksAlone(t *testing.T) {
	t.Parallel()
	const gates = "[gates]\n\"ask\" = { approvers = [\"owner:kim\"] }\n"
	for name, test := range map[string]struct{ vars, settings, mode string }{
		"without a terminal":      {"CLAUDE_CODE_ENTRYPOINT=sdk-cli", aboutForce, "default"},
		"with gates":              {"CLAUDE_CODE_ENTRYPOINT=cli", aboutForce + gates, "default"},
		"where nobody is asked":   {"CLAUDE_CODE_ENTRYPOINT=cli", aboutForce, "bypassPermissions"},
		"where the client judges": {"CLAUDE_CODE_ENTRYPOINT=cli", aboutForce, "auto"},
		"in a mode of tomorrow":   {"CLAUDE_CODE_ENTRYPOINT=cli", aboutForce, "yolo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := promptPlace(t, test.settings)
			p.vars = []string{test.vars}
			h := p.hooks(strings.Replace(p.eventInput("s", "PreToolUse", "push --force", ""), `"permission_mode": "default"`, `"permission_mode": "`+test.mode+`"`, 1))
			p.until("placet asks", func() bool { ids := p.askIDs(); return len(ids) == 1 && p.showsForm(ids[0]) })
			id := p.askIDs()[0]
			if st := p.askState(id); st.Ask.Default != "reject" || strings.Contains(st.Ask.Context, "own prompt") {
				t.Errorf("asked is %+v", st.Ask)
			}
			p.must(0, "withdraw", id, "-m", "no need")
			if out := h.ends(t, 0); !strings.Contains(out, `"permissionDecision":"deny"`) {
				t.Errorf("withdrawn: %s", out)
			}
		})
	}
	p := promptPlace(t, "")
	p.vars = []string{"CLAUDE_CODE_ENTRYPOINT=sdk-cli"}
	if out := p.happens("s", "PermissionRequest", "lint", "").ends(t, 0); out != "" || len(p.askIDs()) > 0 {
		t.Errorf("without a terminal %q, asked are %v", out, p.askIDs())
	}
	p.vars = []string{"CLAUDE_CODE_ENTRYPOINT=cli"}
	input := strings.Replace(p.eventInput("s", "PermissionRequest", "lint", ""), `"Bash"`, `"ExitPlanMode"`, 1)
	if out, code := p.runsIn(t, p.root, input, "hook", "claude-code"); out != "" || code != 0 || len(p.askIDs()) > 0 {
		t.Errorf("at a prompt for the client alone: %d %q, asked are %v", code, out, p.askIDs())
	}
	if out, code := p.runsIn(t, p.root, p.eventInput("s", "PermissionRequest", "lint", ""), "hook", "codex"); out != "" || code != 0 || len(p.askIDs()) > 0 {
		t.Errorf("Codex: %d %q, asked are %v", code, out, p.askIDs())
	}
}
