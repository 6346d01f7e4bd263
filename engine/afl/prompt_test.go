package afl

import (
	"strings"
	"testing"
	"time"
)

func TestThePromptCarriesTheFeedbackInFull(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		d := couponPrompt(lang)
		if body := string(promptMD(d)); !strings.Contains(body, "\n"+d.Feedback+"````\n") {
			t.Errorf("%s:\n%s", lang, body)
		}
	}
}

func TestAfterARedesignTheFeedbackIsLeftOut(t *testing.T) {
	d := couponPrompt("en")
	d.Redesigned, d.Note = true, "Split it."
	body := string(promptMD(d))
	want := "## Previous feedback\n\n" + phrase("en", "prompt.redesigned") + "\n\nA person adds:\n\n> Split it.\n\n## How to hand in\n"
	if !strings.Contains(body, want) || strings.Contains(body, "Mind the currency") {
		t.Errorf("prompt.md:\n%s", body)
	}
}

func TestContractsAreCutTogether(t *testing.T) {
	line := strings.Repeat("x", 1023) + "\n"
	d := promptData{Lang: "en", Contracts: []contract{
		{"first", "c/first.ts", strings.Repeat(line, 20)}, {"second", "c/second.ts", strings.Repeat(line, 20)}, {"third", "c/third.ts", "short\n"},
	}}
	body := string(promptMD(d))
	if n := strings.Count(body, "x"); n < 31*1023 || n > shownContracts {
		t.Errorf("%d bytes of the contracts are shown", n)
	}
	for _, want := range []string{
		"### second\n\n[c/second.ts](/c/second.ts)\n\n```\nxxx", "xxx\n```\n\n… cut here; the whole text: [c/second.ts](/c/second.ts)\n\n### third\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("prompt.md lacks %q", want)
		}
	}
	if strings.Contains(body, "whole text: [c/first.ts]") {
		t.Error("the first contract is called cut")
	}
}

func TestHeadOf(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
		whole bool
	}{
		{"", 0, "", true}, {"abc", 3, "abc", true}, {"abc", 2, "ab", false}, {"a\nbc", 3, "a", false},
		{"é", 1, "", false}, {"aé", 2, "a", false}, {"abc", 0, "", false}, {"\nabc", 2, "\na", false},
	} {
		if got, whole := headOf(c.in, c.limit); got != c.want || whole != c.whole {
			t.Errorf("headOf(%q, %d) = %q, %t", c.in, c.limit, got, whole)
		}
	}
}

func TestThePromptNamesTheTimeout(t *testing.T) {
	own := couponService()
	for _, c := range []struct {
		d    promptData
		want string
	}{
		{promptData{Def: own, Timeout: 2 * time.Minute}, "2m"}, {promptData{}, "—"},
	} {
		if body := string(promptMD(c.d)); !strings.Contains(body, "### Time limit\n\n"+c.want+"\n") {
			t.Errorf("%+v: no %s", c.d.Timeout, c.want)
		}
	}
}

func TestDocumentsAreKnownByTheirFirstLine(t *testing.T) {
	for want, body := range map[string][]byte{
		"<!-- placet afl s/cp prompt 2 -->\n":     promptMD(promptData{Session: "s", Def: Definition{ID: "cp"}, Attempt: 2}),
		"<!-- placet afl s/cp feedback 2 -->\n":   feedbackMD(feedbackData{Session: "s", Def: Definition{ID: "cp"}, Verdict: Verdict{Iteration: 2}}),
		"<!-- placet afl s/cp answer 2 -->\n":     answerMD("en", "s", "cp", 2, nil),
		"<!-- placet afl s/cp escalation 2 -->\n": escalationMD(escalationData{Session: "s", Def: Definition{ID: "cp"}, C: Checkpoint{Escalation: &Escalation{Iteration: 2}}}),
		"<!-- placet afl s report -->\n":          reportMD(State{SessionID: "s"}),
		"<!-- placet afl s changes -->\n":         changesMD("en", "s", ChangesRequested{}, nil),
	} {
		if !strings.HasPrefix(string(body), want) {
			t.Errorf("%.60q, want %q", body, want)
		}
	}
}

func TestPhrases(t *testing.T) {
	if got := phrase("en", "reason.ESCALATE_MAX_RETRY", "n", "{max}", "max", "5"); got != "{max} of 5 attempts failed" {
		t.Errorf("a value was searched for names: %q", got)
	}
	if got := phrase("fr", "item"); got != "Item" {
		t.Errorf("a language without the words: %q", got)
	}
}

func TestFileLinks(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.md":          "[a/b.md](/a/b.md)",
		"a (b)/c d.md":    "[a (b)/c d.md](/a%20%28b%29/c%20d.md)",
		"../../x":         "[../../x](/x)",
		"a](b)\n<i>.md":   `[a\](b) \<i\>.md](/a%5D%28b%29%0A%3Ci%3E.md)`,
		"javascript:x(1)": "[javascript:x(1)](/javascript:x%281%29)",
	} {
		if got := fileLink(in); got != want {
			t.Errorf("fileLink(%q) = %s, want %s", in, got, want)
		}
	}
}
