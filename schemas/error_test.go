package schemas

import (
	"strings"
	"testing"
	"unicode/utf8"

	"placet/templates"
)

func TestErrorNamesWhatItKnows(t *testing.T) {
	tests := []struct {
		err  Error
		want string
	}{
		{Error{Problem: text("the file is empty")}, "the file is empty"},
		{Error{Path: "s.json", Problem: text("the file is empty")}, "s.json: the file is empty"},
		{Error{Path: "s.json", Line: 12, Column: 3, Pointer: "/status", Problem: text(`unknown word "x"`), Expected: text("one of a, b")},
			`s.json: line 12, column 3: /status: unknown word "x": expected one of a, b`},
		{Error{Line: 1, Column: 2, Pointer: "/a\u202e\n", Problem: text("is null")}, `line 1, column 2: /a\u202e\n: is null`},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestPositionCountsLinesAndCharacters(t *testing.T) {
	body := []byte("{\r\n  \"é漢\": 1\n}")
	for want, offset := range map[[2]int]int{
		{1, 1}: 0, {1, 2}: 1, {2, 1}: 3, {2, 3}: 5, {2, 4}: 6, {2, 6}: 11, {2, 7}: 12, {3, 1}: 16, {3, 2}: 17,
	} {
		if line, column := position(body, offset); line != want[0] || column != want[1] {
			t.Errorf("offset %d: line %d, column %d, want %v", offset, line, column, want)
		}
	}
	for _, beyond := range []int{-1, 1000} {
		if line, column := position(body, beyond); line < 1 || column < 1 {
			t.Errorf("offset %d: line %d, column %d", beyond, line, column)
		}
	}
}

func TestTextFromFilesIsShownShortAndHarmless(t *testing.T) {
	for _, text := range []string{
		"plain", "\x1b[31mred\x1b[0m", "\u202egnp", "zero\u200bwidth", "\x00", "\xff\xfe", `"quoted"\`, "blank\u115f\u2800",
		strings.Repeat("漢", 200), strings.Repeat("\u202e", 100), strings.Repeat("a", 79) + "漢漢", strings.Repeat("\x80", 200),
	} {
		q := quoted(text)
		if !utf8.ValidString(q) || strings.ContainsAny(q, "\x00\x1b\u202e\u200b\u115f\u2800\n") || len(q) > 6*shownLength {
			t.Errorf("quoted(%q) = %s", text, q)
		}
		if q[0] != '"' || q[len(q)-1] != '"' {
			t.Errorf("quoted(%q) = %s without quotation marks", text, q)
		}
	}
	if got := printable("a\tb\u202e漢\x1b"); got != `a\tb\u202e漢\x1b` {
		t.Errorf("printable = %s", got)
	}
}

func TestOneVerdictServesManyPaths(t *testing.T) {
	body := []byte(`{"status":12}`)
	first := Decode("faber/state", "a/state.json", body, nil)
	second := Decode("faber/state", "b/state.json", body, nil)
	if first.(*Error).Path != "a/state.json" || second.(*Error).Path != "b/state.json" {
		t.Errorf("paths: %v, %v", first, second)
	}
}

func TestErrorsAreWordedInEveryLanguage(t *testing.T) {
	doubled := `{"format": 2, "format": 3}`
	for lang, want := range map[string]string{
		"en": "a.json: line 1, column 15: the name \"format\" stands twice: expected each name once",
		"ko": "a.json: 1번째 줄, 15번째 칸: 이름 \"format\": 두 번 나옵니다: 기대한 것: 각 이름은 한 번",
		"ja": "a.json: 1 行 15 列: 名前 \"format\" が二度あります: 期待されるもの: 名前はそれぞれ一度",
	} {
		if got := templates.In(lang, Decode("", "a.json", []byte(doubled), nil)); got != want {
			t.Errorf("%s: %s\nwant %s", lang, got, want)
		}
	}
}
