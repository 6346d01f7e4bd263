package gate

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOptionsMatchWithoutRegardToCaseAndBlanks(t *testing.T) {
	options := []Option{{ID: "approve"}, {ID: "reject"}, {ID: "request_changes"}, {ID: "option-b"}, {ID: "Option C"}, {ID: "-1"}, {ID: "1"}}
	for _, c := range []struct {
		word, want string
	}{
		{"reject", "reject"},
		{"Reject", "reject"},
		{" REJECT ", "reject"},
		{"\treject\n", "reject"},
		{"\u3000reject\u00a0", "reject"},
		{"Option B", "option-b"},
		{"OPTION_B", "option-b"},
		{"option  -  b", "option-b"},
		{"option-c", "Option C"},
		{"Request Changes", "request_changes"},
		{"request-changes", "request_changes"},
		{"-1", "-1"},
		{"1", "1"},
		// Words that only look like one.
		{"", ""},
		{"  ", ""},
		{"aprove", ""},
		{"approved", ""},
		{"approve!", ""},
		{"approve reject", ""},
		{"appro ve", ""},
		{"rejec", ""},
		{"requestchanges", ""},
		{"approve\u200b", ""},
		{"аpprove", ""}, // Cyrillic а
		{"yes", ""},
		{"lgtm", ""},
		{"option-b: because", ""},
	} {
		id, ok := Match(options, c.word)
		if id != c.want || ok != (c.want != "") {
			t.Errorf("Match(%q) = %q, %v, want %q", c.word, id, ok, c.want)
		}
	}
}

func TestNothingMatchesWhereNothingIsOffered(t *testing.T) {
	if id, ok := Match(nil, "approve"); ok || id != "" {
		t.Errorf("Match(nil) = %q, %v", id, ok)
	}
	if id, ok := Match([]Option{{ID: ""}}, ""); ok {
		t.Errorf("an empty word matches %q", id)
	}
}

func TestFoldTwiceIsFoldOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune(" -_aA\tſKkÄäßẞΣςσ")))).Draw(t, "word")
		if once := Fold(word); Fold(once) != once {
			t.Fatalf("Fold(%q) = %q, then %q", word, once, Fold(once))
		}
	})
}

func TestFoldIsEqualForWhatDiffersInCaseAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		for _, other := range []string{b, strings.ToUpper(a), strings.ToLower(a)} {
			if strings.EqualFold(a, other) && Fold(a) != Fold(other) {
				t.Fatalf("%q and %q are equal but for case, and fold to %q and %q", a, other, Fold(a), Fold(other))
			}
		}
	})
}

func TestAnItemNamesTheLongestIDBeforeAColonOrTheEnd(t *testing.T) {
	all := newNames("approve", "approve with changes", "reopen", "reopen:cp-1", "s1", "s11", "a:b")
	for text, want := range map[string]string{
		"approve":                        "approve",
		"approve:":                       "approve",
		"approve: continue to Build":     "approve",
		"Approve : continue":             "approve",
		"approve with changes":           "approve with changes",
		"approve with changes: see text": "approve with changes",
		"Approve_With-Changes: see":      "approve with changes",
		"reopen:cp-1":                    "reopen:cp-1",
		"reopen:cp-1: the first":         "reopen:cp-1",
		"reopen:cp-2: the second":        "reopen",
		"s1: one":                        "s1",
		"s11: eleven":                    "s11",
		"a:b":                            "a:b",
		"a:b: c":                         "a:b",
		"approve with":                   "",
		"approved":                       "",
		"approve, please":                "",
		"approve - with reservations":    "",
		"I approve":                      "",
		"":                               "",
		":":                              "",
		"a":                              "",
	} {
		id, ok := all.named(text)
		if id != want || ok != (want != "") {
			t.Errorf("%q names %q, %v, want %q", text, id, ok, want)
		}
	}
}

func TestOptionsThatCannotBeOffered(t *testing.T) {
	many := make([]string, mostOptions+1)
	for i := range many {
		many[i] = strings.Repeat("a", i+1)
	}
	for _, c := range []struct {
		name string
		ids  []string
		want string // "" for no error
	}{
		{"none", nil, ""},
		{"distinct", []string{"approve", "reject", "request_changes", "s1", "s2", "承認", "-1", "1"}, ""},
		{"a sentence", []string{"Use PostgreSQL, with read replicas", "Use SQLite"}, ""},
		{"empty", []string{"approve", ""}, "without a name"},
		{"blank", []string{" \u3000"}, "without a name"},
		{"twice", []string{"approve", "approve"}, `"approve" and "approve"`},
		{"equal in case", []string{"approve", "Approve"}, `"approve" and "Approve"`},
		{"equal but for the hyphen", []string{"option-b", "option b"}, `"option-b" and "option b"`},
		{"a control character", []string{"app\x1brove"}, "invisible"},
		{"a zero-width character", []string{"approve\u200b"}, "invisible"},
		{"a bidi character", []string{"\u202eevorppa"}, "invisible"},
		{"a line end", []string{"approve\n- [x] reject"}, "invisible"},
		{"a tab", []string{"a\tb"}, "invisible"},
		{"invalid UTF-8", []string{"a\xff"}, "invisible"},
		{"the form's own item", []string{"Submit this answer"}, "last item"},
		{"too many", many, "1001 options"},
		{"a refusing word and a variation selector", []string{"reject\ufe0f"}, "invisible"},
		{"a Braille blank", []string{"reject\u2800"}, "invisible"},
		{"a Hangul filler", []string{"no\u3164"}, "invisible"},
		{"a character that nobody knows", []string{"a\U0003fffd"}, "unknown"},
		{"Latin and Cyrillic", []string{"\u0430pprove"}, "Cyrillic and Latin"},
		{"Greek and Latin", []string{"use α"}, "Greek and Latin"},
		{"Cyrillic alone", []string{"да", "нет"}, ""},
		{"Korean and Latin", []string{"PostgreSQL 사용", "SQLite 使用"}, ""},
		{"Japanese and Latin", []string{"この API を承認する", "カタカナ"}, ""},
		{"Bopomofo and Hangul", []string{"ㄅ사"}, "Bopomofo and Hangul"},
		{"a refusing word in Greek capitals", []string{"ΝΟ"}, `looks like "no"`},
		{"an approving word in Cyrillic", []string{"\u0443"}, `looks like "y"`},
		{"full width", []string{"ｒｅｊｅｃｔ"}, `looks like "reject"`},
		{"mathematical letters", []string{"𝐚𝐩𝐩𝐫𝐨𝐯𝐞"}, `looks like "approve"`},
		{"a digit for a letter", []string{"n0"}, `looks like "no"`},
		{"small l for capital i", []string{"CONFlRM"}, `looks like "confirm"`},
		{"the form's own item imitated", []string{"submit this answ\u0435r"}, "Cyrillic and Latin"},
		{"refusing words in any case", []string{"No", "STOP", "Reject", "yes", "Cancel"}, ""},
		{"two that look alike", []string{"option-1", "option-l"}, "could not tell them apart"},
		{"two that look alike, of two scripts", []string{"сор", "cop"}, "could not tell them apart"},
		{"alike but for letters that nobody mistakes", []string{"fail", "fall", "form", "s1", "s11", "v1", "v10"}, ""},
		{"composed and decomposed", []string{"caf\u00e9", "cafe\u0301"}, "could not tell them apart"},
		{"one that reads as another with its description", []string{"reject", "reject: for good"}, "could not tell them apart"},
		{"a sentence that begins with a refusing word", []string{"No: keep the cache", "Yes: drop it"}, ""},
	} {
		err := CheckOptions(c.ids)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestFurtherWordsNameTheirOption(t *testing.T) {
	options := level("ko").Options
	for word, want := range map[string]string{
		"raise": "raise", "상향": "raise", "상향 권장": "raise", " 상향_권장 ": "raise", "상향-권장": "raise", "적절": "appropriate", "하향": "lower", "LOWER": "lower",
		"권장": "", "상향권장": "", "상향 권장!": "", "상": "",
	} {
		if id, ok := Match(options, word); id != want || ok != (want != "") {
			t.Errorf("Match(%q) = %q, %v, want %q", word, id, ok, want)
		}
	}
	all := level("ko").names()
	for text, want := range map[string]string{"상향: 상향 권장": "raise", "상향 권장: x": "raise", "하향 권장": "lower", "상향 하향": "", "s1: 상향": "s1", "raise: 하향": "raise"} {
		if id, _ := all.named(text); id != want {
			t.Errorf("%q names %q, want %q", text, id, want)
		}
	}
}

func TestNoTwoOptionsShareAWord(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"two options":         func(r *Request) { r.Options[2].Words = []string{"상향-권장"} },
		"an option's id":      func(r *Request) { r.Options[2].Words = []string{"Raise"} },
		"its own id":          func(r *Request) { r.Options[1].Words = []string{"raise"} },
		"an item's id":        func(r *Request) { r.Options[1].Words = []string{"S1"} },
		"the last item":       func(r *Request) { r.Options[1].Words = []string{submitID} },
		"an empty word":       func(r *Request) { r.Options[1].Words = []string{" "} },
		"an invisible letter": func(r *Request) { r.Options[1].Words = []string{"상\u200b향"} },
	} {
		r := level("ko")
		change(&r)
		if _, err := Form(r, view, Texts{}); err == nil || !strings.Contains(err.Error(), "cannot offer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFurtherWordsAreNotWritten(t *testing.T) {
	body, err := level("ko").Encode()
	if err != nil || strings.Contains(string(body), "Words") || strings.Contains(string(body), `"상향"`) || strings.Contains(string(body), "Block") {
		t.Errorf("%v\n%s", err, body)
	}
}
