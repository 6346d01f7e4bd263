package faber

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"placet/cmd/placet/workspace"
	"placet/engine"
	own "placet/engine/exec"
	"placet/engine/faber"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// Limits of one call of gh.
const (
	callTime  = 30 * time.Second
	callBytes = 8 << 20
)

// noLogin is the exit code of gh without a login.
const noLogin = 4

// ghAnswer is what GitHub answers to a call.
type ghAnswer struct {
	code   int
	header map[string]string // by name in small letters
	body   []byte
}

// statusLine matches the first line of an answer.
var statusLine = lazyregexp.New(`^HTTP/[0-9.]+ ([0-9]{3})`)

// parseAnswer reads what gh api -i prints.
func parseAnswer(out []byte) (a ghAnswer, err error) {
	out = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))
	head, body, _ := bytes.Cut(out, []byte("\n\n"))
	m := statusLine.FindSubmatch(head)
	if m == nil {
		return a, templates.Errorf("cli.faber.poll.answer")
	}
	a.code, _ = strconv.Atoi(string(m[1]))
	a.header, a.body = map[string]string{}, body
	for line := range strings.Lines(string(head)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			a.header[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return a, nil
}

// unauthorized is the code of an answer without a login.
const unauthorized = 401

// askGitHub carries out one GET by gh. It starts gh in no folder of the workspace, where gh could find
// files that the user has not put there.
func askGitHub(ctx context.Context, b *workspace.Workspace, path string) (a ghAnswer, err error) {
	argv := b.Current().Faber.Issue.GH
	all := append(append([]string{}, argv...), "api", "-i", "--method", "GET", path)
	if err := b.Permit(engine.Action{ID: "faber/" + faber.PollAction, Command: engine.Command{Argv: all, Words: argv, Dir: "."}}, "."); err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir, cmd.Env = "/", append(own.Environ(b.Env.Environ, b.Current().Commands.Env), ghEnviron(b.Env.Getenv)...)
	if strings.Contains(all[0], "/") {
		cmd.Dir = b.Root // a program of the workspace is named from there
	}
	out, errs := &limited{}, &limited{}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	ran := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(ran, &exit) && exit.ExitCode() == noLogin:
		return ghAnswer{code: unauthorized}, nil
	case ran != nil && exit == nil:
		return a, ran
	case out.full:
		return a, templates.Errorf("cli.faber.poll.large", "most", callBytes)
	}
	if a, err = parseAnswer(out.Bytes()); err != nil && ran != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		err = templates.Errorf("cli.faber.poll.exit", "code", exit.ExitCode(), "line", lines[len(lines)-1])
	}
	return a, err
}

// ghEnviron returns the variables by which gh finds its login.
func ghEnviron(getenv func(string) string) (env []string) {
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "GH_CONFIG_DIR", "XDG_CONFIG_HOME"} {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// limited keeps the beginning of an output.
type limited struct {
	bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.full = l.full || l.Len()+len(p) > callBytes; l.full {
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

var _ io.Writer = (*limited)(nil)

// ghUser, ghComment and ghIssue are the parts of GitHub's answers that are read.
type (
	ghUser struct {
		Login string `json:"login"`
	}
	ghComment struct {
		ID        int64  `json:"id"`
		User      ghUser `json:"user"`
		Body      string `json:"body"`
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		URL       string `json:"html_url"`
		IssueURL  string `json:"issue_url"`
	}
	ghIssue struct {
		Number int64  `json:"number"`
		Title  string `json:"title"`
		Body   string `json:"body"`
		State  string `json:"state"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
		Comments  int    `json:"comments"`
		URL       string `json:"html_url"`
		UpdatedAt string `json:"updated_at"`
	}
)

// issue returns the number of the issue of a comment.
func (c ghComment) issue() string { return c.IssueURL[strings.LastIndexByte(c.IssueURL, '/')+1:] }

// comment returns the comment as a document of a run.
func (c ghComment) comment(repo string) (id string, said faber.Comment) {
	return fmt.Sprintf("gh-%d", c.ID), faber.Comment{Author: c.User.Login, Body: c.Body, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, URL: c.URL, Repo: repo}
}

// page decodes a page of a list.
func page[T any](a ghAnswer) (list []T, err error) {
	if err := json.Unmarshal(a.body, &list); err != nil {
		return nil, templates.Errorf("cli.faber.poll.body", "error", err)
	}
	return list, nil
}
