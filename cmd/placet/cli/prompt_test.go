package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
)

func TestThePromptAsksForItemsAndAComment(t *testing.T) {
	for name, c := range map[string]struct {
		typed    string
		option   string
		selected []string
		comment  string
		fails    bool
	}{
		"all three":             {"2\ns1, s3\nwhy\n", "raise", []string{"s1", "s3"}, "why", false},
		"items and no option":   {"\ns2\n\n", "", nil, "", true},
		"items alone":           {"appropriate\ns2\n\n", "appropriate", []string{"s2"}, "", false},
		"a word and no more":    {"상향\n\n\n", "raise", nil, "", false},
		"a mistake in an item":  {"raise\ns9\ns1\n\n", "raise", []string{"s1"}, "", false},
		"mistakes only":         {"raise\ns9\ns9\ns9\n", "", nil, "", true},
		"the end too early":     {"raise\n", "", nil, "", true},
		"nothing, and so on it": {"\n\n\n", "", nil, "", true},
	} {
		out, r, err := typing(t, c.typed, level())
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !c.fails && (r.Option != c.option || !slices.Equal(r.Selected, c.selected) || r.Comment != c.comment) {
			t.Errorf("%s: %+v", name, r)
		}
		if !strings.Contains(out, "\nTo select from:\n  s1 - one\n") {
			t.Errorf("%s: the prompt does not show what may be selected:\n%s", name, out)
		}
	}
}

var review = view.Request{OpenRequest: engine.OpenRequest{
	Request: "fr-20251206-a1b2c3", Run: engine.Key{Family: "faber", ID: "acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"},
	Type: "approval", Where: "architect:design-review", Prompt: "Please review the architectural design and approve to proceed.",
	Summary: "3-layer architecture with handler pattern", Artifacts: []string{"specs/WORK-00258-design.md"},
	Options: []engine.RequestOption{
		{ID: "approve", Description: "Continue to Build phase"},
		{ID: "request_changes", Description: "Provide feedback for revision"},
		{ID: "reject", Description: "Cancel this workflow"},
	},
	CommentRequired: []string{"request_changes"},
}}

func TestThePromptIsThatOfTheGuide(t *testing.T) {
	const guide = `🎯 FABER: Feedback Required
───────────────────────────────────────

Phase: Architect → design-review
Type: Approval

Please review the architectural design and approve to proceed.

**Summary**: 3-layer architecture with handler pattern
**Artifact**: specs/WORK-00258-design.md

Options:
  1. approve - Continue to Build phase
  2. request_changes - Provide feedback for revision
  3. reject - Cancel this workflow

Your choice: `
	var out bytes.Buffer
	w := &console.Env{In: strings.NewReader("1\n"), Err: &out}
	var r answer.Reply
	p := w.NewPrompter()
	defer p.Close()
	if err := askReply(t.Context(), w, p, review, &r, ""); err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(out.String(), "\n\n")
	if rest != guide {
		t.Errorf("got\n%s\nwant\n%s", rest, guide)
	}
	if !strings.Contains(head, "faber/acme/web/3f2b8c1e") || !strings.Contains(head, review.Request) {
		t.Errorf("does not say which run and request: %q", head)
	}
}

func TestThePromptTakesANumberOrAnOption(t *testing.T) {
	free := review
	free.FreeText, free.Options, free.CommentRequired = true, nil, nil
	alike := review
	alike.Options = []engine.RequestOption{{ID: "now", Description: "Go on"}, {ID: "later", Description: "Go on"}}
	tests := map[string]struct {
		to      view.Request
		typed   string
		option  string
		comment string
		fails   bool
	}{
		"a number":                   {review, "3\n", "reject", "", false},
		"a number in brackets":       {review, "[1]\n", "approve", "", false},
		"a number and a full stop":   {review, "1.\n", "approve", "", false},
		"a word in capitals":         {review, "  APPROVE \n", "approve", "", false},
		"a word with a blank":        {review, "Request changes\nUse UTF-8\n", "request_changes", "Use UTF-8", false},
		"a label":                    {review, "cancel this WORKFLOW\n", "reject", "", false},
		"a part of a label":          {review, "cancel\ncancel\ncancel\n", "", "", true},
		"a label that two have":      {alike, "go on\ngo on\ngo on\n", "", "", true},
		"no newline at the end":      {review, "1", "", "", true},
		"a mistake and then a word":  {review, "yes\n0\nreject\n", "reject", "", false},
		"mistakes only":              {review, "y\ny\ny\napprove\n", "", "", true},
		"a number too large":         {review, "4\n-1\n1e3\n", "", "", true},
		"nothing":                    {review, "", "", "", true},
		"an empty line":              {review, "\n1\n", "", "", true},
		"a comment on the next try":  {review, "2\n\x1b[A\nUse UTF-8\n", "request_changes", "Use UTF-8", false},
		"a comment that is missing":  {review, "2\n\n\n\n", "", "", true},
		"the end before the comment": {review, "2\n", "", "", true},
		"an answer in words":         {free, "Use UTC.\n", "Use UTC.", "", false},
		"a number is a word there":   {free, "1\n", "1", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, r, err := typing(t, test.typed, test.to)
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if !test.fails && (r.Option != test.option || r.Comment != test.comment) {
				t.Errorf("option %q, comment %q", r.Option, r.Comment)
			}
		})
	}
}

// typist types a line whenever a question is shown, and Ctrl-D when no line is left.
type typist struct {
	strings.Builder // the screen
	lines           []string
	typed           chan string
}

func (p *typist) Write(shown []byte) (int, error) {
	p.Builder.Write(shown)
	if !strings.HasSuffix(p.String(), ": ") {
		return len(shown), nil
	}
	text := p.lines[0]
	p.lines = p.lines[1:]
	p.typed <- text
	if !strings.HasSuffix(text, "\n") {
		close(p.typed)
	}
	return len(shown), nil
}

func (p *typist) Read(into []byte) (int, error) {
	text, ok := <-p.typed
	if !ok {
		return 0, io.EOF
	}
	return copy(into, text), nil
}

// typing makes a person answer a request line by line.
func typing(t *testing.T, typed string, to view.Request) (shown string, r answer.Reply, err error) {
	synctest.Test(t, func(t *testing.T) {
		p := &typist{lines: strings.SplitAfter(typed, "\n"), typed: make(chan string, 1)}
		w := &console.Env{In: p, Err: p}
		prompter := w.NewPrompter()
		err = askReply(t.Context(), w, prompter, to, &r, "")
		prompter.Close()
		shown = p.String()
		if len(p.lines) > 0 { // the reader waits for more
			close(p.typed)
		}
	})
	return shown, r, err
}
