package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/ask"
	"placet/internal/await"
)

// hooked is a workspace in which hooks are called, in this process.
type hooked struct {
	t          *testing.T
	root, home string
	env        map[string]string
}

// newHooked makes a workspace. rules are the user's own [hook]: they count without trust.
func newHooked(t *testing.T, rules string) *hooked {
	t.Helper()
	dir := mustResolve(t, t.TempDir())
	h := &hooked{t: t, root: filepath.Join(dir, "ws"), home: filepath.Join(dir, "home")}
	h.env = map[string]string{"HOME": h.home, "PATH": os.Getenv("PATH")}
	put(t, h.root, "placet.toml", "")
	put(t, h.home, ".config/placet/placet.toml", rules)
	return h
}

// recorded returns the input that a client wrote, for this workspace.
func (h *hooked) recorded(name string) string {
	h.t.Helper()
	body, err := os.ReadFile(filepath.Join("../../../testdata/hooks", name+".json"))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.ReplaceAll(string(body), "WORKSPACE", h.root)
}

// call calls a client's hook with an input.
func (h *hooked) call(in io.Reader, args ...string) (stdout, stderr string, code int) {
	return h.callUntil(context.Background(), in, args...)
}

func (h *hooked) callUntil(ctx context.Context, in io.Reader, args ...string) (stdout, stderr string, code int) {
	var out, errOut bytes.Buffer
	w := &console.Env{In: in, Out: &out, Err: &errOut, Cwd: h.home, Now: time.Now, Getenv: func(name string) string { return h.env[name] }}
	code = run(ctx, w, append([]string{"hook"}, args...))
	return out.String(), errOut.String(), code
}

// answers waits for n open questions and answers one of them, as a person would by
// response.json, then returns its id.
func (h *hooked) answers(response, comment string) string {
	h.t.Helper()
	var id string
	await.Until(h.t, "somebody is asked", func() bool {
		forms, _ := filepath.Glob(filepath.Join(h.root, ".asks/*/requests/*/form.md"))
		for _, form := range forms {
			dir := filepath.Dir(form)
			if _, err := os.Stat(filepath.Join(dir, "response.json")); errors.Is(err, fs.ErrNotExist) {
				put(h.t, dir, "response.json", `{"request_id": "`+filepath.Base(dir)+`", "response": "`+response+`", "comment": "`+comment+`", "provided_by": {"user": "kim", "source": "file"}}`)
				id = filepath.Base(filepath.Dir(filepath.Dir(dir)))
				return true
			}
		}
		return false
	})
	return id
}

// Check 1 of the hooks: each client gets the right answer, byte for byte, and the right exit
// code.
func TestHookCheck1EachClientIsToldEachOutcome(t *testing.T) {
	const claude = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"`
	table := map[string]map[string]string{ // outcomes by client; R is the reason
		"claude-code.PreToolUse": {
			"pass": "", "allow": claude + `allow","permissionDecisionReason":"R"}}`, "deny": claude + `deny","permissionDecisionReason":"R"}}`, "show": claude + `ask","permissionDecisionReason":"R"}}`,
		},
		"codex.PreToolUse":  {"pass": "", "allow": "", "deny": claude + `deny","permissionDecisionReason":"R"}}`},
		"gemini.BeforeTool": {"pass": "", "allow": "", "deny": `{"decision":"deny","reason":"R"}`},
		"cursor.beforeShellExecution": {
			"pass": "{}", "allow": `{"permission":"allow"}`, "deny": `{"permission":"deny","user_message":"R","agent_message":"R"}`, "show": `{"permission":"ask"}`,
		},
		"cursor.beforeMCPExecution": {
			"pass": "{}", "allow": `{"permission":"allow"}`, "deny": `{"permission":"deny","user_message":"R","agent_message":"R"}`, "show": `{"permission":"ask"}`,
		},
	}
	for input, outcomes := range table {
		client, _, _ := strings.Cut(input, ".")
		for outcome, want := range outcomes {
			h := newHooked(t, "[[hook.rule]]\nmatch = ['push.*(--force|\\s-f\\b)']\ndo = \""+outcome+"\"\nreason = \"R\"\n")
			if out, stderr, code := h.call(strings.NewReader(h.recorded(input)), client); out != want || code != 0 {
				t.Errorf("%s %s: %d\n%q, expected\n%q\n%s", input, outcome, code, out, want, stderr)
			}
		}
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			testAsked(t, input, client, outcomes)
		})
	}
}

// testAsked makes placet ask a person about a call: approve lets it run, reject denies it with
// the comment. Codex and Gemini ask a person if a rule wants the client's own prompt.
func testAsked(t *testing.T, input, client string, outcomes map[string]string) {
	do := "ask"
	if _, shows := outcomes["show"]; !shows {
		do = "show"
	}
	for response, outcome := range map[string]string{"approve": "allow", "reject": "deny"} {
		h := newHooked(t, "[[hook.rule]]\nmatch = ['push']\ndo = \""+do+"\"\nreason = \"others\"\n")
		done := make(chan struct{})
		var out, stderr string
		var code int
		go func() {
			defer close(done)
			out, stderr, code = h.call(strings.NewReader(h.recorded(input)), client)
		}()
		id := h.answers(response, "use a branch")
		<-done
		reason := "use a branch"
		if response == "approve" {
			reason = "approved by kim (claimed) in ask/" + id + ": use a branch"
		}
		if want := strings.ReplaceAll(outcomes[outcome], `"R"`, `"`+reason+`"`); out != want || code != 0 {
			t.Errorf("%s %s: %d\n%q, expected\n%q\n%s", input, response, code, out, want, stderr)
		}
		st := h.state(id)
		if st.Ask.Default != "reject" || string(st.Ask.Correlation) == "" || st.Ask.Tags[0] != "hook" || !strings.Contains(st.Ask.Question, client+" wants ") ||
			!strings.Contains(st.Ask.Question, "push --force") || !strings.Contains(st.Ask.Context, "others") || st.Ask.Deadline == "" {
			t.Errorf("%s: asked is %+v", input, st.Ask)
		}
	}
}

// What a person reads is in the workspace's language.
func TestAPersonIsAskedInTheLanguageOfTheWorkspace(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "language = \"ko\"\n[[hook.rule]]\ndo = \"ask\"\n")
	in := strings.Replace(h.recorded("claude-code.PreToolUse"), "git push --force", "for f in *; do\\n  rm $f\\ndone", 1)
	if out, stderr, code := h.call(strings.NewReader(in), "claude-code", "--defer"); code != 0 {
		t.Fatalf("%d %q %q", code, out, stderr)
	}
	asks, _ := filepath.Glob(filepath.Join(h.root, ".asks/*"))
	st := h.state(filepath.Base(asks[0]))
	if st.Ask.Question != "claude-code의 요청 — Bash: `for f in *; do`" || st.Ask.Options[0].Description != "호출을 실행함" ||
		!strings.HasPrefix(st.Ask.Context, "```\nfor f in *; do\n  rm $f\ndone\n```\n\n```\n{") || !strings.HasSuffix(st.Ask.Context, "- 폴더: `"+h.root+"`\n- 모드: `default`") {
		t.Errorf("asked is %+v", st.Ask)
	}
}

// A person sees how much of a long input is left out.
func TestAPersonIsToldWhatIsCut(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "[[hook.rule]]\ndo = \"ask\"\n")
	in := strings.Replace(h.recorded("claude-code.PreToolUse"), "git push --force", "echo "+strings.Repeat("한글", 20_000), 1)
	if out, stderr, code := h.call(strings.NewReader(in), "claude-code", "--defer"); code != 0 {
		t.Fatalf("%d %q %q", code, out, stderr)
	}
	asks, _ := filepath.Glob(filepath.Join(h.root, ".asks/*"))
	if st := h.state(filepath.Base(asks[0])); !strings.Contains(st.Ask.Context, " bytes are not shown. The whole has the digest sha256:") {
		t.Errorf("asked is %.500s", st.Ask.Context)
	}
}

func (h *hooked) state(id string) (st ask.State) {
	h.t.Helper()
	body, err := os.ReadFile(filepath.Join(h.root, ".asks", id, "state.json"))
	if err == nil {
		st, err = ask.ReadState("state.json", body)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return st
}

// placet asks in place of a client's own prompt if the settings say so. Errors are denials
// then, because the exit code denies nothing.
func TestHookCheck1APermissionPromptIsAskedHere(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "")
	in := h.recorded("claude-code.PermissionRequest")
	if out, _, code := h.call(strings.NewReader(in), "claude-code"); out != "" || code != 0 {
		t.Errorf("%d %q", code, out)
	}
	for response, want := range map[string]string{
		"approve": `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`,
		"reject":  `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not now"}}}`,
	} {
		h := newHooked(t, "[hook]\npermission = \"ask\"\n")
		out := make(chan string)
		go func() {
			text, _, _ := h.call(strings.NewReader(h.recorded("claude-code.PermissionRequest")), "codex")
			out <- text
		}()
		h.answers(response, "not now")
		if got := <-out; got != want {
			t.Errorf("%s: %q", response, got)
		}
	}
	put(t, h.root, "placet.toml", "[hook")
	if out, _, code := h.call(strings.NewReader(in), "claude-code"); code != 0 || !strings.HasPrefix(out, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"placet cannot ask a person: `) {
		t.Errorf("%d %q", code, out)
	}
}

// brokenReader panics, as a program with a bug does.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic("a mistake") }

// fullWriter is a standard output that accepts nothing.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Check 3 of the hooks: after any error before a call, the call does not run, and the agent
// learns why.
func TestHookCheck3NothingRunsWhereTheHookBreaks(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "[[hook.rule]]\nmatch = ['push']\ndo = \"ask\"\n")
	in := h.recorded("claude-code.PreToolUse")
	stops := func(name string, from io.Reader, says string) {
		t.Helper()
		out, stderr, code := h.call(from, "claude-code")
		if code != 2 || out != "" || !strings.Contains(stderr, "the call does not run: ") || !strings.Contains(stderr, says) {
			t.Errorf("%s: %d %q %q", name, code, out, stderr)
		}
	}
	stops("cut off", strings.NewReader(in[:len(in)/2]), "ends in the middle")
	stops("empty", strings.NewReader(""), "the file is empty")
	stops("no event", strings.NewReader(`{"tool_name": "Bash"}`), "hook_event_name is missing")
	stops("no tool", strings.NewReader(`{"hook_event_name": "PreToolUse"}`), "tool_name or tool_input is missing")
	stops("two commands", strings.NewReader(strings.Replace(in, `"command":`, `"command":"ls","command":`, 1)), "command")
	stops("no command", strings.NewReader(strings.Replace(in, `"git push --force"`, `7`, 1)), "command is no text")
	stops("too large", io.MultiReader(strings.NewReader(`{"hook_event_name": "PreToolUse", "x": "`), io.LimitReader(zeros{}, 17<<20)), "larger than 16 MiB")
	stops("panic", brokenReader{}, "placet broke off: a mistake")
	put(t, h.root, "placet.toml", "[hook")
	stops("broken settings", strings.NewReader(in), "placet.toml:1")
	put(t, h.root, "placet.toml", "[ask]\nenabled = false\n")
	stops("no asks", strings.NewReader(in), "[ask] is not enabled")
	put(t, h.root, "placet.toml", "[ask]\nmax_open = 1\n")
	h.askOf("other", "somebody")
	stops("too many asks", strings.NewReader(in), "max_open is 1")
	put(t, h.root, "placet.toml", "")
	if err := os.RemoveAll(filepath.Join(h.root, ".asks")); err != nil {
		t.Fatal(err)
	}
	put(t, h.root, ".asks", "in the way")
	stops("no place for the ask", strings.NewReader(in), "cannot ask")
	if err := os.Remove(filepath.Join(h.root, "placet.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(h.root, ".placet")); err != nil {
		t.Fatal(err)
	}
	stops("no workspace", strings.NewReader(in), "cannot find a workspace")

	h = newHooked(t, "[[hook.rule]]\ndo = \"deny\"\n")
	w := &console.Env{In: strings.NewReader(in), Out: fullWriter{}, Err: io.Discard, Cwd: h.root, Now: time.Now, Getenv: func(name string) string { return h.env[name] }}
	if code := run(context.Background(), w, []string{"-C", h.root, "hook", "claude-code"}); code != 2 {
		t.Errorf("a denial that nobody reads ends with %d", code)
	}
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A client that gives a call up withdraws the question.
func TestHookCheck4AnInterruptedHookTakesItsQuestionBack(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "[[hook.rule]]\ndo = \"ask\"\n")
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		_, _, code := h.callUntil(ctx, strings.NewReader(h.recorded("claude-code.PreToolUse")), "claude-code")
		done <- code
	}()
	var asks []string
	await.Until(t, "the question is asked", func() bool {
		asks, _ = filepath.Glob(filepath.Join(h.root, ".asks/*/requests/*/form.md"))
		return len(asks) > 0
	})
	stop()
	if code := <-done; code != 2 {
		t.Errorf("exit code %d", code)
	}
	id := filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(asks[0]))))
	if st := h.state(id); st.Status != ask.Withdrawn {
		t.Errorf("the ask is %s", st.Status)
	}
}

// Check 6 of the hooks: a deferred call is asked about once, and answered when the client asks
// again.
func TestHookCheck6ADeferredCallFindsItsAnswer(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "[[hook.rule]]\nmatch = ['push']\ndo = \"ask\"\n")
	in := h.recorded("claude-code.PreToolUse")
	for range 2 {
		if out, stderr, code := h.call(strings.NewReader(in), "claude-code", "--defer"); code != 0 || !strings.HasPrefix(out, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer","permissionDecisionReason":"A person is asked in ask/`) {
			t.Fatalf("%d %q %q", code, out, stderr)
		}
	}
	id := h.answers("approve", "")
	if out, stderr, code := h.call(strings.NewReader(in), "claude-code", "--defer"); code != 0 || !strings.Contains(out, `"permissionDecision":"allow"`) || !strings.Contains(out, id) {
		t.Errorf("%d %q %q", code, out, stderr)
	}
	if _, _, code := h.call(strings.NewReader(in), "codex", "--defer"); code != 2 {
		t.Errorf("Codex cannot defer: %d", code)
	}
}

// askOf writes a question of a session, and makes placet ask it.
func (h *hooked) askOf(id, session string) {
	h.t.Helper()
	put(h.t, h.root, ".asks/"+id+"/ask.json", `{"question": "Deploy?", "options": [{"id": "deploy"}, {"id": "wait"}], "correlation": "`+session+`"}`)
	placetIn(h.t, h.root, "", "once")
}

// Check 6: an agent with open asks is stopped once, and learns the answers that it does not
// know, each once. An error lets it go on.
func TestHookCheck6AnAgentLearnsItsAnswersOnce(t *testing.T) {
	t.Parallel()
	const session = "03dbc68c-e41c-445a-90d3-7559e6e822c4"
	h := newHooked(t, "[hook]\nstop = \"block\"\n")
	says := func(client, event, want string) {
		t.Helper()
		if out, stderr, code := h.call(strings.NewReader(h.recorded(client+"."+event)), client); out != want || code != 0 {
			t.Errorf("%s %s: %d %q, expected %q\n%s", client, event, code, out, want, stderr)
		}
	}
	says("claude-code", "Stop", "")
	h.askOf("mine", session)
	h.askOf("other", "somebody-else")
	says("claude-code", "Stop", `{"decision":"block","reason":"ask/mine is open: call check_answer"}`)
	active := strings.Replace(h.recorded("claude-code.Stop"), `"stop_hook_active":false`, `"stop_hook_active":true`, 1)
	if out, _, code := h.call(strings.NewReader(active), "claude-code"); out != "" || code != 0 {
		t.Errorf("kept twice: %d %q", code, out)
	}
	says("claude-code", "UserPromptSubmit", "")
	dir := ".asks/mine/requests/" + ask.RequestID("mine")
	put(t, h.root, dir+"/response.json", `{"request_id": "`+ask.RequestID("mine")+`", "response": "wait", "comment": "not\ntoday", "provided_by": {"user": "kim", "source": "file"}}`)
	placetIn(t, h.root, "", "once")
	const news = `What became of questions of this session, as placet recorded it:\n- ask/mine, \"Deploy?\": answered wait, by kim (claimed). Comment: not today`
	says("claude-code", "UserPromptSubmit", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"`+news+`"}}`)
	says("claude-code", "UserPromptSubmit", "")
	says("claude-code", "SessionStart", "")
	says("claude-code", "Stop", "")
	h.askOf("second", session)
	placetIn(t, h.root, "", "withdraw", "second", "-m", "no need")
	says("claude-code", "SessionStart", "") // it has withdrawn the question itself

	for client, of := range map[string]string{"codex": "01a21441-4d9e-7703-aa16-8d1171a060bb", "gemini": "aea15c97-ee4d-4999-a352-1ffdaf2989d4"} {
		ends, begins, word := "Stop", "UserPromptSubmit", "block"
		if client == "gemini" {
			ends, begins, word = "AfterAgent", "BeforeAgent", "deny"
		}
		h.askOf(client, of)
		says(client, ends, `{"decision":"`+word+`","reason":"ask/`+client+` is open: call check_answer"}`)
		put(t, h.root, ".asks/"+client+"/requests/"+ask.RequestID(client)+"/response.json", `{"request_id": "`+ask.RequestID(client)+`", "response": "deploy", "provided_by": {"user": "kim", "source": "file"}}`)
		placetIn(t, h.root, "", "once")
		says(client, ends, "")
		if out, _, _ := h.call(strings.NewReader(h.recorded(client+"."+begins)), client); !strings.Contains(out, `"additionalContext":"What became`) {
			t.Errorf("%s is told %q", client, out)
		}
		says(client, begins, "")
	}

	put(t, h.root, "placet.toml", "[hook")
	for _, event := range []string{"UserPromptSubmit", "Stop", "SessionStart"} {
		says("claude-code", event, "")
	}
}

// Check 7 of the hooks: a call that passes leaves nothing behind.
func TestHookCheck7CallsThatPassLeaveNoFile(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "[[hook.rule]]\nmatch = ['rm -rf']\ndo = \"deny\"\n")
	tree := func() (names []string) {
		err := filepath.WalkDir(filepath.Dir(h.root), func(path string, _ fs.DirEntry, err error) error {
			names = append(names, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	before := tree()
	in := h.recorded("claude-code.PreToolUse")
	for range 5 {
		if out, stderr, code := h.call(strings.NewReader(in), "claude-code"); out != "" || stderr != "" || code != 0 {
			t.Fatalf("%d %q %q", code, out, stderr)
		}
	}
	if after := tree(); len(after) != len(before) {
		t.Errorf("files: %d before, %d after", len(before), len(after))
	}
}

// [notify] reports a client that waits for its user, but not its other notices.
func TestAUserIsToldThatAClientWaits(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "")
	told := filepath.Join(h.home, "told")
	put(t, h.home, ".config/placet/placet.toml", "[notify]\ncommand = [\"sh\", \"-c\", 'echo \"$PLACET_RUNG $PLACET_TITLE\" >> "+told+"']\n")
	notice := func(event, kind string) string {
		return `{"session_id": "s", "cwd": "` + h.root + `", "hook_event_name": "` + event + `", "message": "Claude needs your permission to use Bash", "notification_type": "` + kind + `"}`
	}
	for _, one := range []struct {
		in   string
		args []string
		want string
	}{
		{notice("Notification", "permission_prompt"), []string{"claude-code"}, "notice claude-code waits for you in ws\n"},
		{notice("Notification", "auth_success"), []string{"claude-code"}, ""},
		{notice("Notification", "ToolPermission"), []string{"gemini"}, "notice gemini waits for you in ws\n"},
		{"", []string{"codex", `{"type": "agent-turn-complete", "thread-id": "t", "turn-id": "u", "cwd": "` + h.root + `", "input-messages": ["go"], "last-assistant-message": "done"}`}, "notice codex waits for you in ws\n"},
		{"", []string{"codex", `{"type": "something-else"}`}, ""},
		{"", []string{"codex", `{"type": `}, ""},
		{notice("Notification", "idle_prompt")[1:], []string{"claude-code"}, "2"},
	} {
		out, stderr, code := h.call(strings.NewReader(one.in), one.args...)
		body, _ := os.ReadFile(told)
		_ = os.Remove(told)
		if got := string(body); out != "" || one.want != "2" && (got != one.want || code != 0) || one.want == "2" && code != 2 {
			t.Errorf("%q: %d %q %q, expected %q\n%s", one.args, code, out, got, one.want, stderr)
		}
	}
	if _, _, code := h.call(strings.NewReader(""), "gemini", "{}"); code != 2 {
		t.Errorf("Gemini has a second argument: %d", code)
	}
}
