package slack

import (
	"html"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"placet/templates"
)

// The example of section 13 of the format page of nemawashi.
func TestSignatureOfTheExample(t *testing.T) {
	const secret, at = "test-signing-secret", "1700000000"
	body := []byte(`{"token":"t","challenge":"abc123","type":"url_verification"}`)
	want := "v0=be4c9755c97e7690856766777e4c62c4ba588c7878d5ac6895856bd37cd6d629"
	if got := Sign(secret, at, body); got != want {
		t.Errorf("signature %s, expected %s", got, want)
	}
	now := time.Unix(1700000000, 0)
	for _, c := range []struct {
		secret, at, signature string
		now                   time.Time
		ok                    bool
	}{
		{secret, at, want, now, true},
		{secret, at, want, now.Add(300 * time.Second), true},
		{secret, at, want, now.Add(301 * time.Second), false},
		{secret, at, want, now.Add(-301 * time.Second), false},
		{"", at, Sign("", at, body), now, false},
		{secret, "x", want, now, false},
		{secret, "-9223372036854775808", Sign(secret, "-9223372036854775808", body), now, false},
		{secret, at, strings.ToUpper(want), now, false},
		{secret, at, "", now, false},
	} {
		if got := Verify(c.secret, c.at, c.signature, body, c.now, 300*time.Second); got != c.ok {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Pieces of a text make the text again, none is longer than Slack takes, and none holds what
// Slack reads as markup.
func TestChunksKeepTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab`<>&\n@!😀長\u202e\u200b"))).Draw(t, "text")
		size := rapid.IntRange(8, 40).Draw(t, "size")
		list, whole := chunks(text, size, 1000)
		if !whole {
			t.Fatalf("%d pieces are not the whole", len(list))
		}
		for _, piece := range list {
			if units(piece) > size || piece == "" || strings.ContainsAny(piece, "<>") || strings.Contains(piece, "```") {
				t.Fatalf("piece %q", piece)
			}
		}
		if got := html.UnescapeString(strings.Join(list, "")); got != fences(templates.Clean(text)) {
			t.Fatalf("%q, expected %q", got, fences(templates.Clean(text)))
		}
		if one, rest := chunks(text, size, 1); len(one) > 1 || rest != (len(list) <= 1) {
			t.Fatalf("one piece: %q, whole %t of %q", one, rest, list)
		}
	})
}

func TestValues(t *testing.T) {
	for value, ok := range map[string]bool{
		"a=1|b=2": true, "a=1=2": true, "a=": true, "": false, "a": false, "a=1|a=1": false, "a=1|": false, "=1": false,
	} {
		if parts, got := Values(value); got != ok || got && value == "a=1=2" && parts["a"] != "1=2" {
			t.Errorf("%q: %v %t", value, parts, got)
		}
	}
}
