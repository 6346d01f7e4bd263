package faber

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

// comment writes a comment into the run, as the poller does.
func (w *world) comment(id, author, body string, members map[string]any) {
	w.T.Helper()
	c := map[string]any{"author": author, "body": body, "created_at": w.Now.UTC().Format(time.RFC3339)}
	for name, value := range members {
		c[name] = value
	}
	text, err := json.Marshal(c)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Put(w.In("comments/"+id+".json"), string(text))
}

// fromGitHub writes a comment that this machine received.
func (w *world) fromGitHub(id, author, body string) {
	w.comment(id, author, body, nil)
	p := w.In("comments/" + id + ".json")
	w.Issue(engine.Document{Path: p, Kind: "comment", Body: []byte(w.Files[p]), Known: []string{"github:" + strings.ToLower(author)}, Source: gate.SourceIssueComment})
}

// receipt is the receipt of a comment.
type commentReceipt struct {
	Status, Command, Response, Comment, Reason, Digest string
	RequestID                                          string `json:"request_id"`
}

func (w *world) consumed(id string) (r commentReceipt) {
	w.T.Helper()
	if err := json.Unmarshal([]byte(w.Read("comments/"+id+".receipt.json")), &r); err != nil {
		w.T.Fatal(err)
	}
	return r
}

const seedsAnswer = "I approve this design. The approach looks good.\n\n@faber resume\n"

func TestF07SeedsAnswerApproves(t *testing.T) {
	w := onIssue(t, nil)
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-1", "Kim", seedsAnswer)
	w.settle()
	st := w.state()
	if h := st.answerTo(exampleID); st.Status != "in_progress" || h == nil || h.Response != "approve" || h.ProvidedBy != (gate.By{User: "Kim", Source: "issue_comment"}) ||
		h.Comment != "I approve this design. The approach looks good." {
		t.Fatalf("%s, %+v", st.Status, h)
	}
	if r := w.consumed("gh-1"); r.Status != "accepted" || r.Command != "resume" || r.Response != "approve" || r.RequestID != exampleID || !strings.HasPrefix(r.Digest, "sha256:") {
		t.Errorf("%+v", r)
	}
	if w.Has("comments/gh-1.reply.md") {
		t.Error("an accepted comment gets a reply")
	}
	files := len(w.Files)
	w.Now = w.Now.Add(time.Hour)
	if w.settle(); len(w.Files) != files {
		t.Error("consumed twice")
	}
}

func TestF10StatusAndCancel(t *testing.T) {
	w := onIssue(t, nil)
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-1", "kim", "How far is it?\n@faber status")
	w.settle()
	want := "<!-- placet reply gh-1 -->\n**Run**: fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34\n**Status**: awaiting_feedback\n**Phase**: architect\n**Step**: design-review\n" +
		"**Pending request**: fr-20251206-a1b2c3 (approval): Please review the architectural design and approve to proceed.\n**Last event**: "
	if got := w.Read("comments/gh-1.reply.md"); !strings.HasPrefix(got, want) || w.consumed("gh-1").Status != "replied" || strings.Count(got, "\n") != 7 {
		t.Errorf("%s", got)
	}
	w.trustPosting([]string{"./post.sh", "{file}"})
	begun := w.Begun
	i := slices.IndexFunc(begun, func(a engine.Action) bool { return strings.HasSuffix(a.ID, "reply-gh-1") })
	if i < 0 || string(begun[i].Command.Stdin) != w.Read("comments/gh-1.reply.md") || begun[i].Command.Argv[1] != w.In("comments/gh-1.reply.md") {
		t.Fatalf("the reply is not posted: %d begun", len(begun))
	}

	w = onIssue(t, nil)
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-2", "kim", "@faber cancel")
	w.settle()
	if st := w.state(); st.Status != "cancelled" || w.consumed("gh-2").Status != "cancelled" || !strings.HasSuffix(w.Read("comments/gh-2.reply.md"), "\nCancelled: "+w.Run.ID+"\n") {
		t.Errorf("%s, %+v", st.Status, w.consumed("gh-2"))
	}
	if !w.Has(inRequest("response.json")) || w.Has("cancel.json") {
		t.Error("the request offers reject: cancel answers with it")
	}

	w = onIssue(t, func(s string) string {
		return strings.Replace(strings.Replace(s, `"type": "approval"`, `"type": "clarification"`, 1), `, "options": ["approve", "request_changes", "reject"]`, "", 1)
	})
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-3", "kim", "@faber cancel")
	w.settle()
	if st := w.state(); st.Status != "cancelled" || !strings.Contains(w.Read("cancel.json"), "@faber cancel by kim") {
		t.Errorf("%s: %s", st.Status, w.Files[w.In("cancel.json")])
	}
}

func TestF11IgnoredAndRefused(t *testing.T) {
	for _, c := range []struct {
		name, author, body string
		members            map[string]any
		status, says       string
	}{
		{"a stranger", "mallory", seedsAnswer, nil, "ignored", "authors"},
		{"a bot", "placet[bot]", seedsAnswer, nil, "ignored", "authors"},
		{"no command", "kim", "I approve", nil, "ignored", "command"},
		{"before the request", "kim", seedsAnswer, map[string]any{"created_at": "2025-12-06T17:59:59Z"}, "ignored", "before"},
		{"the text of the request", "kim", "SEED", nil, "ignored", "own"},
		{"a reply", "kim", "<!-- placet reply gh-1 -->\nNot taken: x\n\n@faber resume", nil, "ignored", "own"},
		{"edited", "kim", seedsAnswer, map[string]any{"updated_at": "2025-12-06T18:30:00Z"}, "refused", "new comment"},
		{"two commands", "kim", "@faber resume\n@faber cancel", nil, "refused", "several commands"},
		{"an unknown command", "kim", "@faber approve", nil, "refused", "not approve"},
		{"too long", "kim", strings.Repeat("x", 70_000) + "\n@faber resume", nil, "refused", "longer"},
		{"another run", "kim", "approve\n@faber resume --run 99999999", nil, "refused", "another run"},
		{"one of several", "kim", "approve\n@faber resume", map[string]any{"several": []string{"a/b/3f2b8c1e-1", "a/b/77777777-1"}}, "refused", "--run 3f2b8c1e or --run 77777777"},
		{"another issue", "kim", seedsAnswer, map[string]any{"issue": 9}, "refused", "another issue"},
		{"another repository", "kim", seedsAnswer, map[string]any{"repo": "evil/web"}, "refused", "another issue"},
		{"no comment", "kim", "request_changes\n@faber resume", nil, "refused", "needs a comment"},
		{"unclear", "kim", "I do not approve\n@faber resume", nil, "refused", "alone on the first line"},
		{"no body", "kim", "", map[string]any{"body": 7}, "refused", "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := onIssue(t, nil)
			state := w.Files[w.Run.State]
			w.Now = w.Now.Add(time.Minute)
			if c.body == "SEED" {
				c.body = w.Read(inRequest("issue-comment.md"))
			}
			w.comment("gh-1", c.author, c.body, c.members)
			w.settle()
			r := w.consumed("gh-1")
			if r.Status != c.status || !strings.Contains(r.Reason, c.says) {
				t.Errorf("%+v", r)
			}
			if w.Files[w.Run.State] != state || w.Has(inRequest("response.json")) {
				t.Error("the run moved")
			}
			if replied := w.Has("comments/gh-1.reply.md"); replied != (c.status == "refused") {
				t.Errorf("replied: %t", replied)
			}
			if c.name == "unclear" && !strings.Contains(w.Read("comments/gh-1.reply.md"), "\nNot taken: put one of approve, request\\_changes") && !strings.Contains(w.Read("comments/gh-1.reply.md"), "\nOptions: approve, request_changes, reject\n") {
				t.Error(w.Read("comments/gh-1.reply.md"))
			}
		})
	}
	// An answer that came second, and one after the end.
	w := onIssue(t, nil)
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-1", "kim", "approve\n@faber resume")
	w.Now = w.Now.Add(time.Second)
	w.fromGitHub("gh-2", "kim", "reject\n@faber resume")
	w.settle()
	if a, b := w.consumed("gh-1"), w.consumed("gh-2"); a.Status != "accepted" || b.Status != "refused" || !strings.Contains(b.Reason, "answered already") || w.state().Status != "in_progress" {
		t.Errorf("%+v\n%+v", a, b)
	}
	w = onIssue(t, nil)
	w.config(func(c *Config) { c.Issue.Authors = nil })
	w.fromGitHub("gh-1", "kim", seedsAnswer)
	if w.settle(); w.consumed("gh-1").Status != "ignored" {
		t.Error("without authors somebody counts")
	}
}

func TestF12WhatIsKnownOfTheAuthor(t *testing.T) {
	for _, c := range []struct {
		name      string
		recorded  bool
		approvers []string
		level     string
		counts    bool
		known     string
	}{
		{"received", true, nil, "", true, "github:kim"},
		{"by hand", false, nil, "", true, "claimed:kim"},
		{"received, named", true, []string{"github:kim"}, "", true, "github:kim"},
		{"by hand, named", false, []string{"github:kim"}, "", false, ""},
		{"received, a bare name", true, []string{"kim"}, "", false, ""},
		{"received, the owner", true, []string{"owner:jmcwilliam"}, "", false, ""},
		{"by hand, the owner", false, []string{"owner:jmcwilliam"}, "", false, ""},
		{"signed", true, nil, "signed", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := onIssue(t, nil)
			w.Facts.Config.Gates = map[string]engine.Gate{"*": {Level: c.level, Approvers: c.approvers}}
			w.Now = w.Now.Add(time.Minute)
			if c.recorded {
				w.fromGitHub("gh-1", "kim", seedsAnswer)
			} else {
				w.comment("gh-1", "kim", seedsAnswer, nil)
			}
			w.settle()
			if r := w.consumed("gh-1"); (r.Status == "accepted") != c.counts || c.level != "" && !strings.Contains(r.Reason, "at the terminal") {
				t.Fatalf("%+v", r)
			}
			if !c.counts {
				if w.Has(inRequest("response.json")) {
					t.Error("an answer was written")
				}
				return
			}
			if rc := w.Read(inRequest("receipt.json")); !strings.Contains(rc, `"`+c.known+`"`) || strings.Contains(rc, "owner:") {
				t.Error(rc)
			}
		})
	}
}

func TestF13AStaleAnswer(t *testing.T) {
	w := onIssue(t, nil)
	w.trustPosting(postArgv)
	w.endCommand(0, "https://github.com/acme/web/issues/258#issuecomment-1", "")
	w.Now = w.Now.Add(time.Minute)
	answered := w.Now
	w.Now = w.Now.Add(time.Hour)
	w.Put("specs/WORK-00258-design.md", "# Design, changed\n")
	w.settle()
	w.endCommand(0, "https://github.com/acme/web/issues/258#issuecomment-2", "")
	at := map[string]any{"created_at": answered.UTC().Format(time.RFC3339)}
	w.comment("gh-1", "kim", seedsAnswer, at)
	w.settle()
	if r := w.consumed("gh-1"); r.Status != "refused" || !strings.Contains(r.Reason, "specs/WORK-00258-design.md changed: answer the new comment") {
		t.Fatalf("%+v", r)
	}
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-2", "kim", seedsAnswer)
	w.settle()
	if r := w.consumed("gh-2"); r.Status != "accepted" || w.state().Status != "in_progress" {
		t.Errorf("%+v", r)
	}
	// A comment from before the first text on the issue says nothing about it.
	w = onIssue(t, nil)
	early := map[string]any{"created_at": w.Now.Add(-time.Minute).UTC().Format(time.RFC3339)}
	w.trustPosting(postArgv)
	w.endCommand(0, "", "")
	w.comment("gh-3", "kim", seedsAnswer, early)
	if w.settle(); w.consumed("gh-3").Status != "ignored" {
		t.Errorf("%+v", w.consumed("gh-3"))
	}
}

// A crash between answer and receipt loses nothing, and gives nothing twice.
func TestACommentIsConsumedOnceThroughACrash(t *testing.T) {
	w := onIssue(t, nil)
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-1", "kim", seedsAnswer)
	w.Step()
	delete(w.Files, w.In("comments/gh-1.receipt.json")) // the answer alone was renamed
	w.settle()
	if r := w.consumed("gh-1"); r.Status != "accepted" || r.Response != "approve" || w.state().Status != "in_progress" {
		t.Errorf("%+v", r)
	}
}

// Two comments that say the same are one answer and one that came too late.
func TestTheSameWordsTwiceAnswerOnce(t *testing.T) {
	w := onIssue(t, nil)
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-1", "kim", seedsAnswer)
	w.settle()
	w.Now = w.Now.Add(time.Minute)
	w.fromGitHub("gh-2", "kim", seedsAnswer)
	w.settle()
	first, second := w.consumed("gh-1"), w.consumed("gh-2")
	if first.Status != "accepted" || second.Status != "refused" || !strings.Contains(second.Reason, "answered") {
		t.Errorf("%+v, %+v", first, second)
	}
}
