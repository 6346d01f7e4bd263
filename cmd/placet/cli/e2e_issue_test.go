package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/internal/await"
)

// fakeGH is a program gh that answers with files and keeps what it is asked.
type fakeGH struct {
	p   *place
	dir string
}

// ghScript answers a call of the API with the file that is named like its path without since, and
// with no list otherwise. An exit file makes it end with that code.
const ghScript = `#!/bin/sh
cd '%s' || exit 9
echo "$@" >> calls
if [ -f exit ]; then exit "$(cat exit)"; fi
if [ "$1" = issue ]; then
  cat >> posted
  [ -f refuse ] && { echo "HTTP 403: not allowed" >&2; exit 1; }
  echo "https://github.com/$5/issues/$3#issuecomment-1"
  exit 0
fi
name=$(printf '%%s' "$5" | sed 's/since=[^&]*&//' | tr '/?&=' '____')
if [ -f "$name" ]; then cat "$name"; else printf 'HTTP/2.0 200 OK\r\n\r\n[]'; fi
`

// onGitHub makes the runs of a place work on issues of acme/web, which a fake gh serves.
func onGitHub(t *testing.T, p *place, more string) *fakeGH {
	t.Helper()
	g := &fakeGH{p, filepath.Join(p.root, "..", "gh-"+filepath.Base(p.root))}
	bin := filepath.Join(g.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "gh"), fmt.Appendf(nil, ghScript, g.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	p.vars = append(p.vars, "PATH="+bin+":"+os.Getenv("PATH"))
	p.configure("[faber.issue]\nenabled = true\nauthors = [\"kim\"]\nrepo = \"acme/web\"\ngh = [\"" + filepath.Join(bin, "gh") + "\"]\n" + strings.ReplaceAll(more, "[\"gh\"", "[\""+filepath.Join(bin, "gh")+"\""))
	p.must(0, "trust", "--yes")
	return g
}

func (g *fakeGH) write(name, body string) {
	g.p.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(body), 0o644); err != nil {
		g.p.t.Fatal(err)
	}
}

func (g *fakeGH) read(name string) string {
	body, _ := os.ReadFile(filepath.Join(g.dir, name))
	return string(body)
}

// answers sets the answer to a call, with a status line, headers and a list.
func (g *fakeGH) answers(path, status, headers string, list any) {
	g.p.t.Helper()
	body, err := json.Marshal(list)
	if err != nil {
		g.p.t.Fatal(err)
	}
	g.write(strings.NewReplacer("/", "_", "?", "_", "&", "_", "=", "_").Replace(path), "HTTP/2.0 "+status+"\r\n"+headers+"\r\n\r\n"+string(body))
}

// commentsPath is the path of a page of the comments of a repository, without since.
func commentsPath(repo string, page int) string {
	return fmt.Sprintf("repos/%s/issues/comments?sort=updated&direction=asc&per_page=100&page=%d", repo, page)
}

func issuesPath(repo string, page int) string {
	return fmt.Sprintf("repos/%s/issues?state=all&sort=updated&direction=asc&per_page=100&page=%d", repo, page)
}

// ghComments are comments on an issue, with the ids from first.
func ghComments(repo string, issue, first, n int, author, body string) (list []map[string]any) {
	at := time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)
	for i := range n {
		when := at.Add(time.Duration(first+i) * time.Second).Format(time.RFC3339)
		list = append(list, map[string]any{
			"id": first + i, "user": map[string]any{"login": author}, "body": body, "created_at": when, "updated_at": when,
			"html_url": fmt.Sprintf("https://github.com/%s/issues/%d#issuecomment-%d", repo, issue, first+i), "issue_url": fmt.Sprintf("https://api.github.com/repos/%s/issues/%d", repo, issue),
		})
	}
	return list
}

const postSetting = "post_command = [\"gh\", \"issue\", \"comment\", \"{issue}\", \"--repo\", \"{repo}\", \"--body-file\", \"-\"]\n"

func TestF04FakeGHPosts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
	g := onGitHub(t, p, postSetting)
	p.must(3, "once")
	if text := p.read(p.request(0) + "/issue-comment.md"); text == "" || g.read("posted") != text {
		t.Fatalf("posted %q, want %q", g.read("posted"), text)
	}
	p.says(g.read("calls"), "issue comment 1 --repo acme/web --body-file -")
	p.says(p.read(p.request(0)+"/posted.json"), `"comment_url": "https://github.com/acme/web/issues/1#issuecomment-1"`)
	p.says(p.read(p.runs[0]+"/state.json"), `"issue_comment": true`, `"comment_url": "https://github.com/acme/web/issues/1#issuecomment-1"`)
	p.must(3, "once")
	if n := strings.Count(g.read("calls"), "issue comment"); n != 1 {
		t.Errorf("posted %d times", n)
	}
}

func TestF05AFailedPostIsRepeatedOnlyByAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
	g := onGitHub(t, p, postSetting)
	g.write("refuse", "")
	p.must(3, "once")
	p.must(3, "once")
	if n := strings.Count(g.read("calls"), "issue comment"); n != 1 {
		t.Fatalf("tried %d times", n)
	}
	p.says(p.must(3, "inbox"), "HTTP 403: not allowed", "placet faber again")
	p.says(p.must(0, "explain", "acme/web/"+filepath.Base(p.runs[0])), "not posted: command failed: exit 1: HTTP 403: not allowed")
	os.Remove(filepath.Join(g.dir, "refuse"))
	p.must(0, "faber", "again", filepath.Base(p.runs[0])[:8])
	p.must(3, "once")
	if n := strings.Count(g.read("calls"), "issue comment"); n != 2 || p.read(p.request(0)+"/posted.json") == "" {
		t.Errorf("tried %d times", n)
	}
	p.says(p.must(1, "faber", "again", filepath.Base(p.runs[0])[:8], "post-"+p.requestID(0)), "has succeeded")
}

func TestF09WhichRunAComment(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 3)
	onGitHub(t, p, "")
	for i, run := range p.runs { // the first two work on the same issue
		p.write(run+"/state.json", strings.Replace(p.read(run+"/state.json"), fmt.Sprintf(`"work_id": "%d"`, i+1), fmt.Sprintf(`"work_id": "%d"`, max(i, 1)), 1))
	}
	p.must(3, "once")
	say := func(code int, id, body string, more ...string) string {
		out, got := p.typed(body, append([]string{"faber", "comment", "--author", "kim", "--id", id}, more...)...)
		if got != code {
			t.Errorf("%s: %d, %s", id, got, out)
		}
		return out
	}
	say(0, "both", "approve\n@faber resume", "--issue", "1")
	say(0, "one", "approve\n@faber resume --run "+filepath.Base(p.runs[1])[:8], "--issue", "1")
	say(0, "state", "@faber status", "--issue", "1")
	say(0, "foreign", "approve\n@faber resume --run "+filepath.Base(p.runs[2])[:8], "--issue", "1")
	p.says(say(1, "none", "@faber status", "--issue", "77"), "no run works on issue #77")
	say(1, "elsewhere", "@faber status", "--issue", "1", "--repo", "acme/api")
	say(2, "bad", "@faber status", "--issue", "x")
	p.placet("once") // the comments may have to settle
	p.must(3, "once")
	for id, want := range map[string][2]string{
		"both": {"refused", ""}, "one": {"", "accepted"}, "state": {"replied", "replied"}, "foreign": {"refused", ""}, "none": {"", ""}, "elsewhere": {"", ""},
	} {
		for i, status := range want {
			got := p.read(p.runs[i] + "/comments/" + id + ".receipt.json")
			if (got != "") != (status != "") || !strings.Contains(got, status) {
				t.Errorf("%s in run %d: %s", id, i, got)
			}
		}
	}
	p.says(p.read(p.runs[0]+"/comments/both.reply.md"), "say --run "+filepath.Base(p.runs[0])[:8]+" or --run "+filepath.Base(p.runs[1])[:8])
	if !strings.Contains(p.read(p.runs[0]+"/state.json"), `"awaiting_feedback"`) || !strings.Contains(p.read(p.runs[1]+"/state.json"), `"in_progress"`) {
		t.Error("another run moved")
	}
}

// pollStates are the poller's files in the state folder.
func (p *place) pollStates() (names []string) {
	names, _ = filepath.Glob(filepath.Join(p.stateHome(), "placet", "workspaces", "*", "faber-poll.json"))
	return names
}

func TestF14Poll(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 2)
	g := onGitHub(t, p, "repos = { \"acme/api\" = \"acme/api\" }\n")
	other := ".fractary/faber/runs/acme/api/0000beef-0000-4000-8000-000000000002"
	p.write(other+"/state.json", fmt.Sprintf(strings.ReplaceAll(waitingState, "acme/web", "acme/api"), filepath.Base(other), 2))
	p.must(3, "once")
	g.answers(commentsPath("acme/web", 1), "200 OK", "X-Ratelimit-Remaining: 4000", ghComments("acme/web", 1, 1, 100, "kim", "just talking"))
	g.answers(commentsPath("acme/web", 2), "200 OK", "", ghComments("acme/web", 1, 101, 100, "mallory", "approve\n@faber resume"))
	g.answers(commentsPath("acme/web", 3), "200 OK", "", append(ghComments("acme/web", 1, 201, 49, "kim", "more talk"), ghComments("acme/web", 1, 250, 1, "kim", "I approve this design.\n\n@faber resume")...))
	g.answers(commentsPath("acme/api", 1), "200 OK", "", ghComments("acme/api", 2, 900, 1, "kim", "@faber status"))
	issue := map[string]any{"number": 1, "title": "CSV export", "body": "Please.", "state": "open", "labels": []any{map[string]any{"name": "bug"}}, "comments": 250, "html_url": "https://github.com/acme/web/issues/1", "updated_at": "2026-11-20T11:04:10Z"}
	g.answers(issuesPath("acme/web", 1), "200 OK", "", []any{issue})
	g.answers("repos/acme/web/issues/1/comments?per_page=100&page=3", "200 OK", "", ghComments("acme/web", 1, 201, 50, "kim", "more talk"))
	p.must(0, "faber", "poll")
	files := func() int {
		names, _ := filepath.Glob(filepath.Join(p.root, p.runs[0], "comments", "gh-*.json"))
		return len(names)
	}
	if files() != 101 || p.read(p.runs[0]+"/comments/gh-250.json") == "" || p.read(other+"/comments/gh-900.json") == "" || p.read(p.runs[1]+"/comments/gh-900.json") != "" {
		t.Fatalf("%d comments came", files())
	}
	p.says(p.read(p.runs[0]+"/issue.json"), `"title": "CSV export"`, `"fetched_by": "placet"`, `"bug"`)
	if n := strings.Count(p.read(p.runs[0]+"/issue.json"), `"author"`); n != 30 {
		t.Errorf("issue.json has %d comments", n)
	}
	if strings.Contains(g.read("calls"), "comments?per_page=100&page=4") || !strings.Contains(g.read("calls"), "issues/1/comments?per_page=100&page=1") {
		t.Error("not the last three pages of an issue were asked for")
	}
	p.must(0, "faber", "poll")
	if calls := strings.Split(strings.TrimSpace(g.read("calls")), "\n"); !strings.Contains(strings.Join(calls[len(calls)-8:], "\n"), "since=2026-11-20T11%3A04%3A10Z") {
		t.Errorf("the next round begins elsewhere: %q", calls[len(calls)-8:])
	}
	before := p.read(p.runs[0] + "/comments/gh-250.json")
	for _, name := range p.pollStates() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	p.must(0, "faber", "poll")
	if files() != 101 || p.read(p.runs[0]+"/comments/gh-250.json") != before {
		t.Error("a lost state changes comments")
	}
	p.placet("once")
	p.must(3, "once")
	p.says(p.read(p.request(0)+"/receipt.json"), `"response": "approve"`, `"source": "issue_comment"`, `"github:kim"`)
	p.says(p.read(p.runs[0]+"/comments/gh-101.receipt.json"), `"ignored"`)
	p.says(p.read(other+"/comments/gh-900.receipt.json"), `"replied"`)
}

func TestF15WhatGitHubRefuses(t *testing.T) {
	t.Parallel()
	calls := func(g *fakeGH) int { return strings.Count(g.read("calls"), "\n") }
	for _, c := range []struct {
		name   string
		set    func(g *fakeGH)
		second int // how many calls the second round makes
		issue  string
	}{
		{"no login", func(g *fakeGH) { g.write("exit", "4") }, 0, `"auth"`},
		{"unauthorized", func(g *fakeGH) { g.answers(commentsPath("acme/web", 1), "401 Unauthorized", "", map[string]any{}) }, 0, `"auth"`},
		{"too many calls", func(g *fakeGH) {
			g.answers(commentsPath("acme/web", 1), "403 Forbidden", "Retry-After: 90", map[string]any{})
		}, 0, ""},
		{"rate limit", func(g *fakeGH) {
			g.answers(commentsPath("acme/web", 1), "200 OK", fmt.Sprintf("X-RateLimit-Remaining: 3\r\nX-RateLimit-Reset: %d", time.Now().Add(time.Hour).Unix()), []any{})
		}, 0, ""},
		{"trouble", func(g *fakeGH) { g.answers(commentsPath("acme/web", 1), "502 Bad Gateway", "", map[string]any{}) }, 1, ""},
		{"not found", func(g *fakeGH) { g.answers(commentsPath("acme/web", 1), "404 Not Found", "", map[string]any{}) }, 1, `"not found"`},
		{"no list", func(g *fakeGH) { g.answers(commentsPath("acme/web", 1), "200 OK", "", "oops") }, 1, ""},
		{"no answer", func(g *fakeGH) { g.write("exit", "1") }, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
			g := onGitHub(t, p, "")
			p.must(3, "once")
			c.set(g)
			p.must(0, "faber", "poll")
			first := calls(g)
			p.must(0, "faber", "poll")
			if got := calls(g) - first; got != c.second {
				t.Errorf("the second round makes %d calls, want %d", got, c.second)
			}
			if got := p.read(p.runs[0] + "/issue.json"); c.issue == "" && got != "" || !strings.Contains(got, c.issue) {
				t.Errorf("issue.json: %s", got)
			}
			if c.issue == `"auth"` {
				p.says(p.must(3, "inbox"), "gh is not logged in")
			}
		})
	}
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
	onGitHub(t, p, "")
	p.configure("[faber.issue]\nenabled = true\nrepo = \"acme/web\"\ngh = [\"no-such-gh\"]\n")
	p.must(0, "trust", "--yes")
	p.must(3, "once")
	p.says(p.must(0, "faber", "poll"), "acme/web: ")
	p.configure("")
	p.write("placet.toml", "[faber.issue]\nenabled = true\nrepo = \"acme/web\"\n")
	p.says(p.must(1, "faber", "poll"), "enabled is false")
	p.must(0, "trust", "--yes")
	p.says(p.must(1, "faber", "poll"), "faber.issue.gh")
}

func TestF16TwoPollers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
	g := onGitHub(t, p, "")
	p.must(3, "once")
	g.answers(commentsPath("acme/web", 1), "200 OK", "", ghComments("acme/web", 1, 1, 40, "kim", "@faber status"))
	var both sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 4 {
		both.Go(func() {
			_, code := p.placet("faber", "poll")
			mu.Lock()
			codes[code]++
			mu.Unlock()
		})
	}
	both.Wait()
	if codes[0] == 0 || codes[0]+codes[1] != 4 {
		t.Errorf("exit codes %v", codes)
	}
	whole := p.read(p.runs[0] + "/comments/gh-7.json")
	// A poller that was killed between its files: the rest comes with the next, byte for byte.
	for _, name := range append(p.pollStates(), filepath.Join(p.root, p.runs[0], "comments/gh-7.json"), filepath.Join(p.root, p.runs[0], "comments/gh-9.json")) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	p.must(0, "faber", "poll")
	if names, _ := filepath.Glob(filepath.Join(p.root, p.runs[0], "comments", "gh-*.json")); len(names) != 40 || p.read(p.runs[0]+"/comments/gh-7.json") != whole {
		t.Errorf("%d comments", len(names))
	}
}

// actionBlock returns the commands of the step that takes a comment.
func actionBlock(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile("../../../docs/github/faber-comment.yml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), "if: contains(github.event.comment.body, '@faber')") || !strings.Contains(string(body), "concurrency:") {
		t.Error("the workflow does not choose its comments, or runs beside itself")
	}
	_, block, ok := strings.Cut(string(body), "- name: Take the comment\n")
	_, block, ok2 := strings.Cut(block, "        run: |\n")
	if !ok || !ok2 {
		t.Fatal("there is no such step")
	}
	var lines []string
	for line := range strings.Lines(block) {
		lines = append(lines, strings.TrimPrefix(line, "          "))
	}
	if block = strings.Join(lines, ""); strings.Contains(block, "${{") {
		t.Error("an expression stands in the commands: a comment could run as one")
	}
	return block
}

func TestF17TheAction(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
	g := onGitHub(t, p, "")
	p.must(3, "once")
	p.beginsGit()
	p.commits("asked", "root@example.com")
	origin := filepath.Join(filepath.Dir(p.root), "origin.git")
	p.gitHere("init", "-q", "--bare", origin)
	p.gitHere("remote", "add", "origin", origin)
	p.gitHere("push", "-q", "-u", "origin", "HEAD")
	take := func(id, author, body string) {
		cmd := exec.CommandContext(await.Context(t), "bash", "-e", "-o", "pipefail", "-c", actionBlock(t))
		cmd.Dir = p.root
		cmd.Env = append(p.env(), "AUTHORS=\"kim\"", "AUTHOR="+author, "BODY="+body, "COMMENT_ID="+id, "CREATED="+time.Now().UTC().Add(time.Minute).Format(time.RFC3339),
			"GH_TOKEN=x", "ISSUE=1", "REPO=acme/web", "URL=https://github.com/acme/web/issues/1#issuecomment-"+id)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", id, err, out)
		}
	}
	hostile := "$(touch pwned) `touch pwned`; touch pwned\n'; touch pwned; '\n\" && touch pwned\nEOF\ntouch pwned\n\n@faber resume"
	take("1", "mallory", hostile)
	take("2", "kim", hostile)
	for _, name := range []string{filepath.Join(p.root, "pwned"), filepath.Join(g.dir, "pwned")} {
		if _, err := os.Stat(name); err == nil {
			t.Fatal("the body of a comment ran")
		}
	}
	p.says(p.read(p.runs[0]+"/comments/gh-1.receipt.json"), `"ignored"`)
	p.says(p.read(p.runs[0]+"/comments/gh-2.receipt.json"), `"refused"`)
	take("3", "kim", "I approve this design.\n\n@faber resume")
	p.says(p.read(p.runs[0]+"/state.json"), `"in_progress"`)
	if out, err := exec.CommandContext(await.Context(t), "git", "-C", origin, "log", "--format=%s", "-1").CombinedOutput(); err != nil || !strings.Contains(string(out), "Take comment 3 on #1") {
		t.Errorf("%s, %v", out, err)
	}
}
