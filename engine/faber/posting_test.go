package faber

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

var postArgv = []string{"gh", "issue", "comment", "{issue}", "--repo", "{repo}", "--body-file", "-"}

// onIssue is the waiting run of the seed's issue comment, on the issue channel.
func onIssue(t *testing.T, change func(state string) string) *world {
	w := newWorld(t, exampleDir)
	w.config(func(c *Config) { c.Issue.Enabled, c.Issue.Authors, c.Issue.Repo = true, []string{"kim"}, "acme/web" })
	state := strings.NewReplacer(
		"Please review the design", "Please review the architectural design", `"3-layer architecture"`, `"3-layer architecture with handler pattern"`,
		`["approve", "reject", "request_changes"]`, `["approve", "request_changes", "reject"]`,
	).Replace(readFile(t, "testdata/waiting.json"))
	if change != nil {
		state = change(state)
	}
	w.Put(w.Run.State, state)
	w.Put(w.In("metadata.json"), `{"run_id": "fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", "workflow_id": "default"}`)
	w.Put(".fractary/faber/workflows/default.json", readFile(t, "testdata/default.json"))
	w.Put("specs/WORK-00258-design.md", "# Design\n")
	w.Put(w.In("events/.next-id"), "16\n")
	for n := 1; n <= 15; n++ {
		w.Put(w.In(fmt.Sprintf("events/%03d-step_start.json", n)), upstreamEvent(n, "step_start", "architect", "generate-spec"))
	}
	w.settle()
	return w
}

// trustPosting sets the command that posts, and trusts it.
func (w *world) trustPosting(argv []string) {
	w.config(func(c *Config) { c.Issue.PostCommand = argv })
	w.Facts.Trusted[PostDigest(argv)] = true
	w.settle()
}

// endCommand records how the last command ended, as the runner does.
func (w *world) endCommand(exit int, stdout, stderr string) {
	w.T.Helper()
	a := w.Begun[len(w.Begun)-1]
	body, err := json.Marshal(map[string]any{
		"finished_at": w.Now.Format("2006-01-02T15:04:05.000Z"), "outcome": "finished", "exit_code": exit,
		"stdout": map[string]any{"head": stdout}, "stderr": map[string]any{"head": stderr},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Put(a.Outcome, string(body))
	delete(w.Facts.Alive, a.ID)
	w.settle()
}

func (w *world) view() engine.RunView {
	s, _ := w.Full()
	return New().Account(s)
}

// inRequest returns the path of a file of the example's request in the run's folder.
func inRequest(name string) string { return "requests/" + exampleID + "/" + name }

func TestF01SeedsCommentToTheByte(t *testing.T) {
	w := onIssue(t, nil)
	want := strings.ReplaceAll(readFile(t, "testdata/seed-issue-comment.md"), "abc-123-...", "3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	if diff := cmp.Diff(want, w.Read(inRequest("issue-comment.md"))); diff != "" {
		t.Error(diff)
	}
	w.config(func(c *Config) { c.Issue.Enabled = false })
	delete(w.Files, w.In(inRequest("issue-comment.md")))
	if w.settle(); w.Has(inRequest("issue-comment.md")) {
		t.Error("the text is written although the channel is off")
	}
}

func TestF02NoStepNoOptionsThreeArtifactsHostilePrompt(t *testing.T) {
	w := newWorld(t, plainDir)
	w.config(func(c *Config) { c.Issue.Enabled = true })
	w.Put("specs/a b.md", "x")
	w.Put("specs/ü.md", "x")
	prompt := "### Options\n  ```\n---\n_Run ID: `x`_\n<!-- hidden\n~~~\nHello @team, a # b"
	state, err := json.Marshal(map[string]any{
		"status": "awaiting_feedback", "work_id": 7, "current_phase": "build", "current_step": "make", "updated_at": "2025-12-06T18:00:00Z", "phases": map[string]any{},
		"feedback_request": map[string]any{
			"request_id": "fr-1", "type": "clarification", "prompt": prompt,
			"context": map[string]any{"artifact_paths": []string{"specs/a b.md", "specs/ü.md", "../out.md", "gone(1).md"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Put(w.Run.State, string(state))
	w.settle()
	z := "\u200b"
	want := "### Decision Needed\n\n\\### Options\n  \\```\n\\---\n\\_Run ID: `x`_\n\\<!-- hidden\n\\~~~\nHello @" + z + "team, a # b\n\n" +
		"**Artifact**: [a b.md](/specs/a%20b.md)\n**Artifact**: [ü.md](/specs/%C3%BC.md)\n**Artifact**: `../out.md`\n**Artifact**: [gone(1).md](/gone%281%29.md) (missing)\n\n" +
		"### How to Respond\n"
	got := w.Read("requests/fr-1/issue-comment.md")
	if !strings.Contains(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if !strings.Contains(got, "```\nYour answer in your own words.\n\n@faber resume\n```\n") || strings.Contains(got, "\n### Options") {
		t.Errorf("an answer in words:\n%s", got)
	}
}

func TestF03ALaterViewHasItsOwnComment(t *testing.T) {
	w := onIssue(t, nil)
	w.trustPosting(postArgv)
	w.endCommand(0, "https://github.com/acme/web/issues/258#issuecomment-1\n", "")
	first := w.Read(inRequest("issue-comment.md"))
	w.Now = w.Now.Add(time.Hour)
	w.Put("specs/WORK-00258-design.md", "# Design, changed\n")
	w.settle()
	var later string
	for p := range w.Files {
		if strings.Contains(p, "/issue-comment-") {
			later = p
		}
	}
	if later == "" || !strings.Contains(w.Files[later], "\n**Requested**: 2025-12-06 18:00 UTC\n**Changed since**: specs/WORK-00258-design.md\n\n### Decision") {
		t.Fatalf("%q:\n%s", later, w.Files[later])
	}
	if w.Read(inRequest("issue-comment.md")) != first {
		t.Error("the first comment was rewritten")
	}
	if len(w.Begun) != 2 || string(w.Begun[1].Command.Stdin) != w.Files[later] {
		t.Fatalf("began %d: the new view is posted", len(w.Begun))
	}
	w.endCommand(0, "https://github.com/acme/web/issues/258#issuecomment-2", "")
	if n := w.state().Feedback.Notification; !n.IssueComment || n.CommentURL != "https://github.com/acme/web/issues/258#issuecomment-2" {
		t.Errorf("%+v", n)
	}
	w.Now = w.Now.Add(10 * time.Second)
	w.Put("specs/WORK-00258-design.md", "# Design, changed again\n")
	if w.settle(); len(w.Begun) != 2 {
		t.Error("a third view was posted within a minute")
	}
	w.Now = w.Now.Add(time.Minute)
	if w.settle(); len(w.Begun) != 3 {
		t.Error("the third view was not posted after a minute")
	}
}

func TestF04TheCommandPostsOnce(t *testing.T) {
	w := onIssue(t, nil)
	w.trustPosting(postArgv)
	if len(w.Begun) != 1 || !w.Has("actions/post-"+exampleID+"/attempt.json") {
		t.Fatalf("began %d", len(w.Begun))
	}
	c := w.Begun[0].Command
	if want := []string{"gh", "issue", "comment", "258", "--repo", "acme/web", "--body-file", "-"}; !slices.Equal(c.Argv, want) || !slices.Equal(c.Agreed(), postArgv) {
		t.Errorf("%q, agreed to as %q", c.Argv, c.Agreed())
	}
	if string(c.Stdin) != w.Read(inRequest("issue-comment.md")) || c.Timeout != time.Minute || c.Agent {
		t.Errorf("%+v", c)
	}
	w.endCommand(0, "posted:\nhttps://github.com/acme/web/issues/258#issuecomment-9\n", "")
	var posted map[string]any
	if err := json.Unmarshal([]byte(w.Read(inRequest("posted.json"))), &posted); err != nil || posted["comment_url"] != "https://github.com/acme/web/issues/258#issuecomment-9" ||
		!strings.HasPrefix(fmt.Sprint(posted["view"]), "sha256:") {
		t.Errorf("%v, %v", posted, err)
	}
	n := w.state().Feedback.Notification
	if !n.IssueComment || n.CommentURL != "https://github.com/acme/web/issues/258#issuecomment-9" || n.Reason != "" {
		t.Errorf("%+v", n)
	}
	w.Now = w.Now.Add(time.Hour)
	if w.settle(); len(w.Begun) != 1 {
		t.Error("posted twice")
	}
	other := onIssue(t, nil)
	other.Put(other.In(inRequest("posted.json")), `{"comment_url": null, "posted_at": "2025-12-06T18:01:00Z"}`)
	if other.trustPosting(postArgv); len(other.Begun) != 0 || !other.state().Feedback.Notification.IssueComment {
		t.Errorf("somebody posted it before: began %d", len(other.Begun))
	}
	changed := onIssue(t, nil)
	changed.Put(changed.In(inRequest("issue-comment.md")), "Buy now!\n")
	if changed.trustPosting(postArgv); len(changed.Begun) != 0 {
		t.Error("a text that placet did not write was posted")
	}
}

func TestF05KilledAroundItAndAgain(t *testing.T) {
	w := onIssue(t, nil)
	w.trustPosting(postArgv)
	w.Facts.Alive = map[string]bool{} // placet was killed
	w.settle()
	if len(w.Begun) != 1 {
		t.Fatal("a lost attempt was repeated")
	}
	must := w.view().Required
	if len(must) != 1 || !strings.Contains(must[0].Text, "look at #258") || must[0].Command != "faber again 3f2b8c1e post-"+exampleID {
		t.Fatalf("%+v", must)
	}
	s, _ := w.Full()
	file, err := New().AgainFile(s, "")
	if err != nil || file != "actions/post-"+exampleID+"/again-1.json" {
		t.Fatalf("%s, %v", file, err)
	}
	w.Put(w.In(file), `{"by": "kim", "at": "2025-12-06T18:20:00Z"}`)
	w.Now = w.Now.Add(time.Hour)
	if w.settle(); len(w.Begun) != 2 || !w.Has("actions/post-"+exampleID+".2/attempt.json") {
		t.Fatalf("began %d", len(w.Begun))
	}
	s, _ = w.Full()
	if _, err := New().AgainFile(s, "post-"+exampleID); err == nil {
		t.Error("a command that runs may run again")
	}
	w.endCommand(0, "", "")
	if !w.Has(inRequest("posted.json")) || len(w.view().Required) != 0 {
		t.Errorf("posted %v, required %+v", w.Has(inRequest("posted.json")), w.view().Required)
	}
	s, _ = w.Full()
	for _, action := range []string{"post-" + exampleID, "post-none", ""} {
		if file, err := New().AgainFile(s, action); err == nil {
			t.Errorf("%q may run again: %s", action, file)
		}
	}
}

func TestF06WhyItIsNotPosted(t *testing.T) {
	why := func(w *world) string {
		for _, line := range w.view().Why {
			if strings.HasPrefix(line, "not posted: ") {
				return line
			}
		}
		return ""
	}
	for _, c := range []struct {
		name, want string
		change     func(w *world)
	}{
		{"no work id", "not posted: no work_id", func(w *world) {
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"work_id": "258", `, "", 1))
		}},
		{"not enabled", "not posted: not enabled", func(w *world) { w.config(func(c *Config) { c.Issue.Enabled = false }) }},
		{"no command", "not posted: no command", func(*world) {}},
		{"not trusted", "not posted: not trusted", func(w *world) { w.config(func(c *Config) { c.Issue.PostCommand = postArgv }) }},
		{"no repository", "not posted: no repository", func(w *world) {
			w.config(func(c *Config) { c.Issue.Repo = "" })
			w.trustPosting(postArgv)
		}},
		{"failed", "not posted: command failed: exit 1: HTTP 403", func(w *world) {
			w.trustPosting(postArgv)
			w.endCommand(1, "", "trying\nHTTP 403\n")
		}},
		{"lost", "not posted: lost", func(w *world) {
			w.trustPosting(postArgv)
			w.Facts.Alive = map[string]bool{}
		}},
		{"posted", "", func(w *world) {
			w.trustPosting(postArgv)
			w.endCommand(0, "", "")
		}},
		{"running", "", func(w *world) { w.trustPosting(postArgv) }},
	} {
		w := onIssue(t, nil)
		c.change(w)
		w.settle()
		if got := why(w); got != c.want {
			t.Errorf("%s: explain says %q, want %q", c.name, got, c.want)
		}
		found := slices.ContainsFunc(w.view().Findings, func(f engine.Finding) bool { return f.Text == c.want })
		if found != (c.want != "" && c.name != "not enabled") {
			t.Errorf("%s: check finds it: %t", c.name, found)
		}
	}
	// The state says so with the transition that opens the request.
	unopened := func(s string) string {
		a, b := strings.Index(s, `,
   "notification_sent"`), 0
		if a < 0 {
			t.Fatal("no notification_sent in the example")
		}
		b = a + strings.IndexByte(s[a:], '}') + 1
		return s[:a] + s[b:]
	}
	if n := onIssue(t, unopened).state().Feedback.Notification; n == nil || n.Reason != "not posted: no command" {
		t.Errorf("%+v", n)
	}
}

func TestTheRepositoryOfOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/acme/web.git\n": "acme/web", "https://x:y@github.com/acme/web": "acme/web", "git@github.com:acme/web.git": "acme/web",
		"ssh://git@github.com/acme/web.js.git": "acme/web.js", "https://gitlab.com/acme/web": "", "https://github.com.evil.example/acme/web": "", "https://github.com/acme": "", "": "",
		"git@github.com:acme/web; rm -rf": "",
	} {
		if got := GitHubRepository(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
