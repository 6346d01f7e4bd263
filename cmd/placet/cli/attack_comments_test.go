package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// commentAttacks are on what is read from the issue of a run.
var commentAttacks = []attack{
	commentAttack("a stranger's comment", "somebody who is not in authors approves on the issue", "mallory", "approve\n@faber resume", nil),
	commentAttack("an edited comment", "a comment is changed into an approval before placet sees it", "kim", "approve\n@faber resume", map[string]string{"updated_at": "2026-11-20T12:00:00Z"}),
	commentAttack("a quoted approval", "a comment quotes the words that approve", "kim", "> approve\n>\n> @faber resume\n\nNo idea.", nil),
	commentAttack("an approval in code", "a comment shows how one would approve", "kim", "Write:\n```\napprove\n@faber resume\n```", nil),
	commentAttack("two options", "a comment names two options", "kim", "I approve, or reject, whatever\n@faber resume", nil),
	commentAttack("a negation", "a comment says that it does not approve", "kim", "I do not approve.\n@faber resume", nil),
	commentAttack("a wrapped negation", "the negation stands on the line before", "kim", "I will not\napprove this\n@faber resume", nil),
	commentAttack("another run", "a comment for another run lies in this one", "kim", "approve\n@faber resume --run 99999999", nil),
	commentAttack("another issue", "a comment on another issue lies in this run", "kim", "approve\n@faber resume", map[string]string{"issue": "7"}),
	{"a comment as its owner", "an agent writes a comment by hand where only the owner may answer", func(t *testing.T, p *place) {
		p.commentable(t, "[gates]\n\"*\" = { approvers = [\"github:kim\"] }\n")
		p.comment("x", "kim", "approve\n@faber resume", nil)
		p.settlesComment("x")
		p.says(p.read(p.runs[0]+"/comments/x.receipt.json"), `"refused"`)
		p.says(p.read(p.runs[0]+"/state.json"), `"awaiting_feedback"`)
		p.typed("approve\n@faber resume", "faber", "comment", "--issue", "1", "--author", "kim", "--id", "y", "--created", "2026-11-20T11:00:00Z")
		p.settlesComment("y")
		p.says(p.read(p.request(0)+"/receipt.json"), `"github:kim"`)
	}},
	{"a forged receipt of a comment", "an agent writes an answer for somebody as if placet had taken a comment", func(t *testing.T, p *place) {
		p.commentable(t, "[gates]\n\"*\" = { approvers = [\"github:kim\"] }\n")
		p.write(p.runs[0]+"/comments/x.receipt.json", `{"status":"accepted","run_id":"x","request_id":"`+p.requestID(0)+`","response":"approve","revision":1}`)
		p.write(p.request(0)+"/response.json", strings.ReplaceAll(p.response(0, "approve", ""), `"file"`, `"issue_comment"`))
		p.placet("once")
		p.placet("once")
		p.says(p.read(p.runs[0]+"/state.json"), `"awaiting_feedback"`)
	}},
}

// commentAttack is a comment that must approve nothing. Its honest counterpart does.
func commentAttack(name, does, author, body string, members map[string]string) attack {
	return attack{name, does, func(t *testing.T, p *place) {
		p.commentable(t, "")
		p.comment("x", author, body, members)
		p.settlesComment("x")
		p.says(p.read(p.runs[0]+"/state.json"), `"awaiting_feedback"`)
		if p.read(p.request(0)+"/response.json") != "" {
			t.Error("an answer was written")
		}
		p.comment("y", "kim", "approve\n@faber resume", nil)
		p.settlesComment("y")
		p.says(p.read(p.runs[0]+"/state.json"), `"in_progress"`)
	}}
}

// commentable makes a place of one run that takes comments.
func (p *place) commentable(t *testing.T, more string) {
	p.runs = newPlace(t, p.root, 1).runs
	p.configure("[faber.issue]\nenabled = true\nauthors = [\"kim\"]\nrepo = \"acme/web\"\n" + more)
	p.must(3, "once")
}

// comment writes a comment by hand.
func (p *place) comment(id, author, body string, members map[string]string) {
	text := `{"author": "` + author + `", "body": ` + quoted(body) + `, "created_at": "2026-11-20T11:00:00Z"`
	for name, value := range members {
		text += `, "` + name + `": "` + value + `"`
	}
	p.write(p.runs[0]+"/comments/"+id+".json", text+"}\n")
}

func quoted(s string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) + `"`
}

// settlesComment lets placet take a comment, which has to stand still first.
func (p *place) settlesComment(id string) {
	p.t.Helper()
	for range 5 {
		p.placet("once")
		if p.read(filepath.Join(p.runs[0], "comments", id+".receipt.json")) != "" {
			p.placet("once")
			return
		}
	}
	p.t.Errorf("comment %s was never taken", id)
}
