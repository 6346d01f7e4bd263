package templates

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCleanShowsWhatCannotBeSeen(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text is kept", "a\tb\nc", "a\tb\nc"},
		{"control characters", "a\x00b\x1b[31mc\x7fd\u009be", `a\u{0}b\u{1b}[31mc\u{7f}d\u{9b}e`},
		{"bidi", "a\u202eb\u2066c\u200ed\u061ce", `a\u{202e}b\u{2066}c\u{200e}d\u{61c}e`},
		{"zero width", "a\u200bb\u200cc\u200dd\ufeffe\u2060f", `a\u{200b}b\u{200c}c\u{200d}d\u{feff}e\u{2060}f`},
		{"hidden fillers and tags", "a\u3164b\u00adc\U000e0041d\u034fe", `a\u{3164}b\u{ad}c\u{e0041}d\u{34f}e`},
		{"line ends become newlines", "a\r\nb\rc\u2028d\u2029e\u0085f", "a\nb\nc\nd\ne\nf"},
		{"invalid UTF-8 shows as such", "a\xffb", "a\ufffdb"},
		{"letters of all scripts, emoji", "日本 한국어 é \u2764\ufe0f", "日本 한국어 é \u2764\ufe0f"},
		{"a visible format character stays", "\u0600", "\u0600"},
		{"a variation of nothing", "reject\ufe0f \ufe0f\u2764\ufe0f\U000e0101", `reject\u{fe0f} \u{fe0f}` + "\u2764\ufe0f" + `\u{e0101}`},
		{"a blank Braille pattern", "a\u2800b", `a\u{2800}b`},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%+q) = %+q, want %+q", c.name, c.in, got, c.want)
		}
	}
}

func TestCleanTwiceIsCleanOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := Clean(rapid.String().Draw(t, "text"))
		if Clean(once) != once {
			t.Fatalf("%+q", once)
		}
		if !utf8.ValidString(once) || strings.ContainsAny(once, "\r\x00\u2028") {
			t.Fatalf("not clean: %+q", once)
		}
	})
}

func TestEveryLineOfAQuoteIsMarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.SampledFrom([]rune("ab>-[x] `#\n\r\t\v\f\u2028\u0085"))).Draw(t, "text")
		for _, line := range strings.FieldsFunc(Quote(in)+"\n", func(r rune) bool { return r == '\n' || r == '\r' }) {
			if line != ">" && !strings.HasPrefix(line, "> ") {
				t.Fatalf("%q leaves the quote of %q", line, in)
			}
		}
	})
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":              ">",
		"one":           "> one",
		"one\n\ntwo\n":  "> one\n>\n> two",
		"a\r\n  b  ":    "> a\n>   b  ",
		"<!-- x\n# y":   "> <!-- x\n> # y",
		"   \n\t\nlast": ">\n>\n> last",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAFenceIsLongerThanAnyRunOfBackticksInside(t *testing.T) {
	for in, want := range map[string]string{
		"":            "```\n\n```",
		"x":           "```\nx\n```",
		"```\nx\n```": "````\n```\nx\n```\n````",
		"a ````` b\n": "``````\na ````` b\n``````",
	} {
		if got := Fence(in); got != want {
			t.Errorf("Fence(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestInlineIsOneNeutralLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, with: all (sorts) of 100% marks!": "plain text, with: all (sorts) of 100% marks!",
		"a\n\n  b\tc\r\nd":          "a b c d",
		"request_changes":           "request_changes",
		"_it_ *is* `so`":            `\_it\_ \*is\* \` + "`so\\`",
		"__init__":                  `\_\_init\_\_`,
		"[x] y":                     `\[x\] y`,
		"<!-- x --> &amp;":          `\<!-- x --\> \&amp;`,
		"- item":                    `\- item`,
		"# title #":                 `\# title \#`,
		"1. one":                    `1\. one`,
		"1.5 of 2":                  "1.5 of 2",
		"| a | ~~b~~":               `\| a \| \~\~b\~\~`,
		`back\slash`:                `back\\slash`,
		"zero\u200bwidth\u202ebidi": `zero\\u{200b}width\\u{202e}bidi`,
	} {
		if got := Inline(in); got != want {
			t.Errorf("Inline(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlainTakesBackWhatInlineEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune(`ab \_*[]<>-+=#1.)|~&`+"`")))).Draw(t, "text")
		want := strings.Join(strings.Fields(Clean(in)), " ")
		if got := Plain(Inline(in)); got != want {
			t.Fatalf("Plain(Inline(%q)) = %q, want %q", in, got, want)
		}
	})
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"":        `""`,
		"a b":     "`a b`",
		"a\n b":   "`a b`",
		"a`b":     "``a`b``",
		"`a":      "`` `a ``",
		"a``":     "``` a`` ```",
		"\u200b":  "`\\u{200b}`",
		`a\b [x]`: "`a\\b [x]`",
	} {
		if got := Code(in); got != want {
			t.Errorf("Code(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestACutTextIsWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"", 0, ""}, {"가나다", 4, "가…"}, {"가나다", 2, "…"}, {"a\xff\xfebcd", 4, "ab…"},
	} {
		if got := Cut(c.text, c.limit); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
	if got := CutWith("line\nmore", 5, "[cut]"); got != "line\n[cut]" {
		t.Errorf("%q", got)
	}
}

// Characters that strconv takes for printable but nobody can see are escaped in strconv's
// way, and the text can be read back.
func TestQuotedHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"a\u115fb\u2800c": `"a\u115fb\u2800c"`, "\u3164\U000e0101\"": `"\u3164\U000e0101\""`, "\x1b\u202e": `"\x1b\u202e"`,
		"한국 \u2764\ufe0f": "\"한국 \u2764\ufe0f\"", "a\ufe0f": `"a\ufe0f"`, "\xff": `"\xff"`, "\ufffd": "\"\ufffd\"",
	} {
		if got := Quoted(in); got != want {
			t.Errorf("Quoted(%+q) = %+q, want %+q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\u115f\u2800\ufe0f\"\\\n")))).Draw(t, "text")
		q := Quoted(in)
		if back, err := strconv.Unquote(q); err != nil || back != in || Clean(q) != q {
			t.Fatalf("Quoted(%+q) = %+q: %+q %v", in, q, back, err)
		}
	})
}

func TestEscapedJSONIsTheSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\u009b\u202e\u200b\u115f\ufe0f\U000e0041\x7f\"\\\n")))).Draw(t, "text")
		body, err := json.Marshal(map[string]string{in: in})
		if err != nil {
			t.Fatal(err)
		}
		escaped := EscapeJSON(body)
		var back map[string]string
		if err := json.Unmarshal(escaped, &back); err != nil || back[in] != in || Clean(string(escaped)) != string(escaped) {
			t.Fatalf("%s: %q %v", escaped, back, err)
		}
	})
	if got := string(EscapeJSON([]byte("[\"\u009b\U000e0041\xff한\"]\n"))); got != `["\u009b\udb40\udc41`+"\xff한\"]\n" {
		t.Errorf("%+q", got)
	}
}

// A value in a sentence that is not a message itself may come from anywhere.
func TestNothingHidesInASentence(t *testing.T) {
	m := NewMessage("say.text", "text", Errorf("say.text", "text", "\"a\u115f\x1b[2J\""))
	if got := m.String(); got != `"a\u{115f}\u{1b}[2J"` {
		t.Errorf("%+q", got)
	}
}
