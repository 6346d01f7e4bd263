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

// TestReadmeTenLinesEndWithAnAnswer types the ten lines of README.md into a shell that begins
// in an empty folder, and y when a person is asked. The terminal must show the session in
// README.md; PLACET_README=write rewrites it.
func TestReadmeTenLinesEndWithAnAnswer(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := readmeBlock(t, string(body), "the ten lines")
	lines := strings.Split(block, "\n")
	if len(lines) != 10 {
		t.Errorf("there are %d lines", len(lines))
	}
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	empty := t.TempDir()
	s := p.onTerminalWith(120, func(cmd *exec.Cmd) {
		program := filepath.Dir(cmd.Path)
		cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-i"}, empty
		cmd.Env = append(cmd.Env, "PATH="+program+":"+os.Getenv("PATH"), "TMPDIR="+empty, "PS1=$ ", "TERM=dumb", "ENV=", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1")
	})
	s.await("$ ")
	prompts := []string{}
	for _, line := range lines {
		s.keys(line + "\n")
		if line == "placet approve" {
			s.await("(y/N) ")
			s.keys("y\n")
		}
		prompts = append(prompts, "\n$ ")
		s.await(prompts...)
	}
	s.keys("exit\n")
	said, _ := s.end()
	said, _, _ = strings.Cut(strings.ReplaceAll(said, "\r\n", "\n"), "\n$ exit")
	p.says(said, "\ndeploying 1.4\n")
	answers, _ := filepath.Glob(filepath.Join(empty, "*/.asks/*/answer.json"))
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
	before, recorded, after := readmeBlock(t, string(body), "what they show")
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

// TestReadmeAgentsAreThoseOfInit compares the settings of agents in README.md with those that
// placet init --for writes, and makes placet read the rule there.
func TestReadmeAgentsAreThoseOfInit(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	_, rule, _ := readmeBlock(t, string(body), "the rule")
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
			t.Errorf("%s is not what README.md shows (-README +file):\n%s", file, d)
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
