package afl

import (
	"strings"
	"testing"
)

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
