package slack

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"placet/engine/gate"
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

// The pieces of a text together give the text, none is longer than Slack accepts, and none
// contains anything that Slack reads as markup.
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

// readAsOthersDo decodes JSON with the types of a library for Slack, which must find every member
// that was written.
func readAsOthersDo(t rapid.TB, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if again := encode(into); string(again) != string(body) {
		t.Fatalf("it reads\n%s as\n%s", body, again)
	}
}

// A dialog is what a library for Slack makes of it.
func TestADialogIsReadAsWritten(t *testing.T) {
	for _, choices := range [][]string{nil, {"one", "two"}} {
		body := Dialog{Lang: "en", Title: "Changes", Label: "What?", Choices: choices, Metadata: "run=a"}.Open("trigger")
		var call struct {
			View json.RawMessage `json:"view"`
		}
		if err := json.Unmarshal(body, &call); err != nil {
			t.Fatal(err)
		}
		var view slack.ModalViewRequest
		readAsOthersDo(t, call.View, &view)
		if n := len(view.Blocks.BlockSet); n != 1 && choices == nil || n != 2 && choices != nil || view.Type != slack.VTModal {
			t.Errorf("%d blocks in %s", n, call.View)
		}
	}
}

// shownIn returns the text of a message as Slack's users read it, and its number of buttons.
func shownIn(t rapid.TB, m Message) (text string, buttons int) {
	t.Helper()
	if n := len(m.Blocks); n > 50 {
		t.Fatalf("%d blocks", n)
	}
	var read slack.Blocks
	readAsOthersDo(t, encode(m.Blocks), &read)
	for _, b := range read.BlockSet {
		switch b := b.(type) {
		case *slack.SectionBlock:
			if n := units(b.Text.Text); n == 0 || n > mostSection {
				t.Fatalf("a section of %d units", n)
			}
			text += b.Text.Text
		case *slack.ActionBlock:
			buttons += len(b.Elements.ElementSet)
		}
	}
	return html.UnescapeString(text), buttons
}

// A message that is cut has no buttons and names the file that holds the rest; a message
// with buttons shows everything.
func TestWhatIsCutHasNoButtons(t *testing.T) {
	long := rapid.StringOfN(rapid.RuneFrom([]rune("ab 長😀<&`\n")), 0, 9000, -1)
	rapid.Check(t, func(t *rapid.T) {
		grows := func(name string) string {
			return strings.TrimSpace("x" + strings.Repeat(long.Draw(t, name), rapid.SampledFrom([]int{1, 1, 1, 4}).Draw(t, "times "+name)) + "y")
		}
		p := Post{Form: "requests/fr-1/form.md", Request: gate.Request{RequestID: "fr-1", Prompt: grows("prompt")}}
		for i := range rapid.IntRange(1, 5).Draw(t, "options") {
			p.Request.Options = append(p.Request.Options, gate.Option{ID: fmt.Sprint("o", i), Effect: oneLine(grows("effect"))})
		}
		if rapid.Bool().Draw(t, "parts") {
			for range rapid.IntRange(1, 20).Draw(t, "number of parts") {
				p.Text.Parts = append(p.Text.Parts, Part{Text: "part", File: "part.txt"})
			}
			p.Text.Parts[0].Text, p.Text.Draft, p.Text.DraftFile = grows("part"), grows("draft"), "drafts/v1.md"
		}
		text, buttons := shownIn(t, p.Ask(true))
		whole := !strings.Contains(text, "… cut here: the whole of it is in ")
		if whole != (buttons == len(p.Request.Options)) || !whole && (buttons > 0 || !strings.Contains(text, "placet show fr-1")) {
			t.Fatalf("%d buttons below a text of which all is shown: %t", buttons, whole)
		}
		if !whole {
			return
		}
		text = strings.NewReplacer("*", "", "\n```", "", "```\n", "").Replace(text)
		for _, o := range p.Request.Options {
			if !strings.Contains(text, fences(o.Effect)) {
				t.Fatalf("an effect is missing: %q", o.Effect)
			}
		}
		if !strings.Contains(text, fences(p.Request.Prompt)) {
			t.Fatalf("the prompt is missing: %q", p.Request.Prompt)
		}
	})
}

// A batch of many long parts stays within what Slack takes.
func TestManyLongPartsFit(t *testing.T) {
	p := Post{Form: "form.md", Request: gate.Request{RequestID: "apr-1", Prompt: strings.Repeat("長い ", 20000), Options: []gate.Option{{ID: "approve", Effect: strings.Repeat("x ", 50000)}}}}
	for range 20 {
		p.Text.Parts = append(p.Text.Parts, Part{Text: strings.Repeat("<&>", 5000), File: strings.Repeat("dir/", 500) + "part.txt"})
	}
	p.Text.Draft, p.Text.DraftFile = strings.Repeat("`", 100000), "drafts/v1.md"
	if text, buttons := shownIn(t, p.Ask(true)); buttons > 0 || strings.Count(text, "… cut here") != 23 {
		t.Errorf("%d buttons, %d texts that are cut", buttons, strings.Count(text, "… cut here"))
	}
	if _, buttons := shownIn(t, p.Closed(gate.Receipt{Result: gate.Accepted})); buttons > 0 {
		t.Errorf("%d buttons when it is closed", buttons)
	}
}

// A button must not decide about the content of a file that nobody has seen.
func TestAPartThatIsABeginningHasNoButtons(t *testing.T) {
	p := Post{Form: "form.md", Request: gate.Request{RequestID: "apr-1", Prompt: "Tell them", Options: []gate.Option{{ID: "approve"}}}}
	for _, short := range []bool{false, true} {
		p.Text.Parts = []Part{{Text: "the beginning", File: "part-1-body.txt", Short: short}}
		if _, buttons := shownIn(t, p.Ask(true)); (buttons == 0) != short {
			t.Errorf("%d buttons, where the part is a beginning: %t", buttons, short)
		}
	}
}

// Items must be seen before they are picked: a message shows none.
func TestItemsAreNotPickedByAButton(t *testing.T) {
	p := Post{Form: "form.md", Request: gate.Request{RequestID: "pr-1", Prompt: "Which?", Options: []gate.Option{{ID: "approve"}}, Items: []gate.Item{{ID: "p1"}}}}
	if text, buttons := shownIn(t, p.Ask(true)); buttons > 0 || !strings.Contains(text, "placet show pr-1") {
		t.Errorf("%d buttons below %q", buttons, text)
	}
}

// What a closed request's message says.
func TestClosing(t *testing.T) {
	by := gate.By{User: "U1", Source: "slack"}
	for _, c := range []struct {
		rc   gate.Receipt
		want string
	}{
		{gate.Receipt{Result: gate.Accepted, Response: "approve", ProvidedBy: by, KnownAs: []string{"slack:U1"}, DecidedAt: "T"}, "approved by U1 at T"},
		{gate.Receipt{Result: gate.Accepted, Response: "steer", ProvidedBy: by, KnownAs: []string{"slack:U1"}, DecidedAt: "T", SupersededBy: "apr-2"}, "changes requested by U1 at T; replaced by apr-2"},
		{gate.Receipt{Result: gate.Superseded, DecidedAt: "T", SupersededBy: "apr-2"}, "replaced by apr-2"},
		{gate.Receipt{Result: gate.Superseded, DecidedAt: "T"}, "superseded at T"},
		{gate.Receipt{Result: gate.Expired, DecidedAt: "T"}, "expired at T"},
	} {
		if got := closing("en", c.rc); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}
