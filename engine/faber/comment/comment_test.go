package comment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"placet/engine/gate"
)

// review is the request that the sentences answer.
var review = gate.Request{Type: "review", Options: []gate.Option{{ID: "approve"}, {ID: "request_changes"}, {ID: "reject"}}, CommentRequired: []string{"request_changes"}}

const seedsAnswer = "I approve this design. The approach looks good.\n\n@faber resume\n"

func questionOf(req gate.Request) Question {
	return Question{req, func(id string) bool { return id == "approve" }, func(id string) bool { return id == "reject" }}
}

func sentenceAnswer(req gate.Request, body string) string {
	c := Read(body)
	if c.Verb != "resume" || c.Problem.Key != "" {
		return "no command"
	}
	response, comment, problem := c.AnswerTo(questionOf(req))
	if problem.Key != "" {
		return "refused"
	}
	if comment != "" {
		return response + " | " + comment
	}
	return response
}

func TestF08Sentences(t *testing.T) {
	const end = "\n\n@faber resume"
	for body, want := range map[string]string{
		// The option, its number or a word for it alone on the first line.
		"approve": "approve", "APPROVE": "approve", "**approve**": "approve", "`approve`": "approve", "_approve_": "approve", "\n\n  approve  ": "approve",
		"1": "approve", "3": "reject", "4": "refused", "yes": "approve", "OK": "approve", "ship": "approve", "no": "reject", "stop": "reject",
		"request-changes\nUse UTF-8": "request_changes | Use UTF-8", "Request changes": "refused", "2": "refused", "2\nUse UTF-8": "request_changes | Use UTF-8",
		"approve\n\nGood work,\n```\nx := 1\n```": "approve | Good work,\n```\nx := 1\n```",
		// The option and a comment.
		"approve: looks good": "approve | looks good", "approve, but mind the docs": "approve | but mind the docs", "approve - fine": "approve | fine", "Approve.": "approve",
		"reject – too slow": "reject | too slow", "request_changes: use UTF-8\nand LF": "request_changes | use UTF-8\nand LF", "approve-all of it": "refused",
		"> Approve or reject?\n\napprove": "approve", "> reject\n> please\n\nI approve": "approve | > reject\n> please\n\nI approve",
		// Sentences.
		"I approve this design.": "approve | I approve this design.", "LGTM!": "approve | LGTM!", "lgtm, thanks": "approve | lgtm, thanks", "Approved by me": "approve | Approved by me",
		"This needs changes: use UTF-8": "request_changes | This needs changes: use UTF-8", "I have requested changes.": "request_changes | I have requested changes.",
		"Rejected: too slow": "reject | Rejected: too slow", "We reject this": "reject | We reject this", "No problem here. I approve.": "approve | No problem here. I approve.",
		// Doubt.
		"I do not approve": "refused", "I don't approve": "refused", "I don’t approve": "refused", "I dont approve": "refused", "I cannot approve this": "refused", "I never approve": "refused",
		"I would approve this": "refused", "I approve if the tests pass": "refused", "I approve once the tests pass": "refused", "I approve, unless CI fails": "refused",
		"Should I approve?": "refused", "approve?": "refused", "I want to approve": "refused", "I approve. But wait for the tests.": "refused", "I approve. However, mind X.": "refused",
		"I approve\nonly the first part": "refused", "Hold on. I approve.": "refused", "I will\nnot\napprove this": "refused", "I approve. Not yet.": "refused", "Approve it without me": "refused",
		"I do `not` approve": "refused", "~~I approve~~": "refused", "I neither approve nor reject": "refused", "I might approve": "refused",
		// Several options, or none.
		"I approve and reject": "refused", "approve or reject": "refused", "Needs changes, approve later": "refused", "This looks fine to me": "refused", "": "refused", "disapprove of it": "refused",
		"non-approved code": "refused", "cancel my last comment, I approve": "refused", "2. approve": "refused", "retry it, I approve": "refused",
		"```\napprove\n```": "refused", "    approve": "refused", "<!-- approve -->": "refused", strings.Repeat("Very good. ", 50) + "I approve.": "refused",
	} {
		if got := sentenceAnswer(review, body+end); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
	// A question in words takes the whole text, with its code and quotes.
	words := gate.Request{Type: "clarification"}
	if got := sentenceAnswer(words, "> which one?\n\nUse `UTF-8`.\n```\nnot\n```\n@faber resume"); got != "> which one?\n\nUse `UTF-8`.\n```\nnot\n```" {
		t.Errorf("in words: %q", got)
	}
	choice := gate.Request{Type: "selection", Options: []gate.Option{{ID: "option-a"}, {ID: "option-b"}}}
	for body, want := range map[string]string{"Option B": "option-b", "Take option-b please": "option-b | Take option-b please", "option a, not option b": "option-a | not option b", "take option a or option b": "refused", "yes": "refused"} {
		if got := sentenceAnswer(choice, body+end); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestTheCommandOfAComment(t *testing.T) {
	for body, want := range map[string]string{
		"@faber resume": "resume", "x\n@FABER Resume!": "resume", "I approve @faber resume.": "resume", "@faber status": "status", "@faber\tcancel  ": "cancel", "@faber resume\n-- \nKim, reject Inc.": "resume",
		"@faber resume --run 3f2b8c1e": "resume 3f2b8c1e", "@faber status --run a/b/3f2b8c1e .": "status a/b/3f2b8c1e", "@faber resume\r\n": "resume",
		"x@faber resume": "", "@faber resume now": "", "say @faber resume to go on": "", "`@faber resume`": "", "> @faber resume": "", "```\n@faber resume\n```": "", "    @faber resume": "",
		"~~~\n@faber resume": "", "<!-- @faber resume -->": "", "- ```\n  @faber resume\n  ```": "", "@faber": "", "me@faber.dev resume": "", "@faber resume --run abc": "", "`a\n@faber resume\nb`": "",
		"@faber resume\n@faber resume": "?", "@faber status\nx @faber cancel": "?", "@faber approve": "?", "@faber resumes": "?", "x `@faber status`\n@faber resume": "resume", "a <!--> b --> @faber resume": "resume",
	} {
		c := Read(body)
		got := strings.TrimSpace(c.Verb + " " + c.Run)
		if got != want || (want == "?") != (c.Problem.Key != "") {
			t.Errorf("%q: %q %v, want %q", body, got, c.Problem, want)
		}
	}
	if c := Read(strings.Repeat("x", Longest) + "\n@faber resume"); c.Problem.Key == "" {
		t.Error("a long comment is read")
	}
}

func FuzzCommentCommand(f *testing.F) {
	for _, body := range []string{seedsAnswer, "@faber resume --run 3f2b8c1e", "```\n@faber cancel\n```", "<!-- @faber status", "`` ` @faber resume", "> x\n    y\n- ~~~\n@faber resumes", "a\\`b` @faber resume."} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		body = strings.ReplaceAll(body, "\r", "")
		kinds := textKinds(body)
		if len(kinds) != len(body) || len(covered(body, kinds, plainText)) != len(body) {
			t.Fatal("the kinds are not those of the text")
		}
		c := Read(body)
		if c.Verb != "" && c.Problem.Key == "" && (!strings.HasPrefix(body, c.text) || len(c.kinds) != len(c.text) || !strings.Contains(strings.ToLower(body), "@faber")) {
			t.Errorf("%+v", c)
		}
		if quoted := "> " + strings.ReplaceAll(body, "\n", "\n> "); Read(quoted).Verb != "" && !strings.Contains(body, "\u2028") {
			t.Errorf("a quoted text has a command: %q", quoted)
		}
	})
}

func FuzzCommentAnswer(f *testing.F) {
	for _, body := range []string{"I approve", "I do not approve", "approve: x", "1", "changes requested", "`approve`", "no. approve?", "approve\nreject"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Read(text + "\n@faber resume")
		if c.Verb != "resume" || c.Problem.Key != "" {
			return
		}
		response, comment, problem := c.AnswerTo(questionOf(review))
		if problem.Key == "" && !slices.Contains([]string{"approve", "request_changes", "reject"}, response) {
			t.Errorf("%q: %q", text, response)
		}
		if response == "request_changes" && comment == "" {
			t.Error("changes without a comment")
		}
		// A doubt in front of a sentence takes it back.
		if line, _ := c.firstLine(); problem.Key == "" && questionOf(review).chosen(line) == "" {
			if id, _ := questionOf(review).leading(line); id == "" {
				if again, _, p := Read(fmt.Sprintf("I do not want that: %s\n@faber resume", strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")))).AnswerTo(questionOf(review)); p.Key == "" && !strings.ContainsAny(text, ".!;?") && !strings.ContainsAny(text, "`<>~-_*\\#\t\x00") {
					t.Errorf("%q: %q although it is not wanted", text, again)
				}
			}
		}
	})
}
