package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownReference is the reference in README.md's session. The test types that of its own request.
const shownReference = "ask-8e21c07b@4f2a91c07d3e"

// TestReadmeLinesEndWithAnAnswer types the lines of README.md into a shell that begins in a folder
// with a plan. The terminal must show the session in README.md; PLACET_README=write rewrites it.
func TestReadmeLinesEndWithAnAnswer(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := readmeBlock(t, string(body), "the lines")
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	folder := filepath.Join(t.TempDir(), "release")
	if out, err := exec.Command("git", "init", "-q", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "plan.md"), []byte("eu-west first, then the rest\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := p.onTerminalWith(120, func(cmd *exec.Cmd) {
		program := filepath.Dir(cmd.Path)
		cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-i"}, folder
		cmd.Env = append(cmd.Env, "PATH="+program+":"+os.Getenv("PATH"), "PS1=$ ", "TERM=dumb", "ENV=", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1")
	})
	s.await("$ ")
	prompts := []string{}
	for line := range strings.Lines(block + "\n") {
		line, typed := strings.CutPrefix(line, "$ ")
		if !typed {
			continue
		}
		line = strings.Replace(line, shownReference, regexp.MustCompile(`ask-[0-9a-f]{8}@[0-9a-f]{12}`).FindString(s.said()), 1)
		s.keys(line)
		prompts = append(prompts, "\n$ ")
		s.await(prompts...)
	}
	s.keys("exit\n")
	said, _ := s.end()
	said, _, _ = strings.Cut(strings.ReplaceAll(said, "\r\n", "\n"), "\n$ exit")
	p.says(said, "\ndeploying 1.4")
	answers, _ := filepath.Glob(filepath.Join(folder, ".asks/*/answer.json"))
	if len(answers) != 1 {
		t.Fatalf("there are %d answers:\n%s", len(answers), said)
	}
	answer, err := os.ReadFile(answers[0])
	if err != nil {
		t.Fatal(err)
	}
	p.says(string(answer), `"answered": true`, `"response": "approve"`)
	showsRecording(t, said)
}

// showsRecording compares what a terminal showed with the session in README.md, or writes
// it there.
func showsRecording(t *testing.T, said string) {
	t.Helper()
	login, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	// These differ from one day, machine and person to the next.
	for pattern, always := range map[string]string{
		`\d{8}(-deploy-1-4-to-production-)[0-9a-f]{6}`: "20261120${1}5d0c1f",
		`ask-[0-9a-f]{8}`:                                 "ask-8e21c07b",
		`@[0-9a-f]{12}\b`:                                 "@4f2a91c07d3e",
		`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`:                  "2026-11-20 09:41:07",
		`\(approval, [^)]*\)`:                             "(approval, 4s)",
		`\bby ` + regexp.QuoteMeta(login.Username) + `\b`: "by kim",
	} {
		said = regexp.MustCompile(pattern).ReplaceAllString(said, always)
	}
	body, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, recorded, after := readmeBlock(t, string(body), "the lines")
	if os.Getenv("PLACET_README") == "write" {
		if err := os.WriteFile(readme, []byte(before+said+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(strings.Split(recorded, "\n"), strings.Split(said, "\n")); d != "" {
		t.Errorf("the session in README.md is not what the terminal shows (-README +terminal):\n%s\nPLACET_README=write go test ./cmd/placet/cli -run TestReadme writes it anew", d)
	}
}

// TestPagesShowTheAgentsOfInit compares the settings of agents in docs/mcp.md with those that
// placet init --for writes, and makes placet read the rule of docs/hooks.md.
func TestPagesShowTheAgentsOfInit(t *testing.T) {
	t.Parallel()
	hooks, err := os.ReadFile("../../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile("../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	_, rule, _ := readmeBlock(t, string(hooks), "the rule")
	p.write("placet.toml", rule+"\n")
	for client, file := range map[string]string{"claude-code": ".mcp.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json"} {
		cmd := exec.Command(placetBinary(t), "-C", p.root, "init", "--for", client)
		cmd.Env = append(p.env(), "PATH="+filepath.Dir(cmd.Path)+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, block, _ := readmeBlock(t, string(body), client)
		var shown, written any
		if client == "codex" {
			shown, written = block+"\n", p.read(file)
		} else {
			shown, written = serverIn(t, block), serverIn(t, p.read(file))
		}
		if d := cmp.Diff(shown, written); d != "" {
			t.Errorf("%s is not what docs/mcp.md shows (-page +file):\n%s", file, d)
		}
	}
}

// serverIn returns what the settings of an agent say of placet's server.
func serverIn(t *testing.T, settings string) any {
	t.Helper()
	var s struct {
		Servers map[string]any `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(settings), &s); err != nil || s.Servers["placet"] == nil {
		t.Fatalf("there is no server placet: %v\n%s", err, settings)
	}
	return s.Servers["placet"]
}
