package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// view is the digest of what the tests show.
var view = engine.Sum([]byte("what is shown"))

// mustForm renders a form, in English unless a language is given.
func mustForm(t interface {
	Helper()
	Fatal(...any)
}, r Request, lang ...string) string {
	t.Helper()
	form, err := Form(r, view, Texts{Lang: strings.Join(lang, ""), Where: "architect:design-review"})
	if err != nil {
		t.Fatal(err)
	}
	return string(form)
}

const reviewForm = `<!-- placet request fr-20251206-a1b2c3 VIEW -->
<!-- prettier-ignore-start -->
<!-- markdownlint-disable-file -->

# FABER: Feedback Required

- **Run**: faber/fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34
- **Where**: architect:design-review
- **Type**: review
- **Requested**: 2025-12-06T18:00:00Z
- **Deadline**: 2025-12-09T18:00:00Z
- **Without an answer**: reject
- **May answer**: owner:alice, bob

> Please review the design and approve to proceed.

- **Summary**: 3-layer architecture

- **Artifact**: [specs/WORK-00258-design.md](/specs/WORK-00258-design.md) (sha256:ARTIFACT)
- **Artifact**: [a (b).md](/a%20%28b%29.md) (missing, for information)

## Context

` + "```json" + `
{
  "summary": "3-layer architecture"
}
` + "```" + `

## Your answer

<!-- placet answer NONCE -->

Tick one option as ` + "`[x]`" + `, write a comment if you have one, and tick the last line. Nothing counts before the last line is ticked. Plain lines of your own below the first option join the comment; any other change makes the form void.

- [ ] approve: Continue to Build phase
- [ ] request_changes: Provide feedback for revision (needs a comment)
- [ ] reject: Cancel this workflow run

Tick any number of these:

- [ ] s1: the first

## Comment

<!-- prettier-ignore-end -->
<!-- placet comment NONCE: write between this line and the last one -->



- [ ] submit this answer
`

func TestAFormShowsWhatIsAskedAndWhatCanBeAnswered(t *testing.T) {
	r := review()
	r.Deadline, r.Default, r.MayAnswer = "2025-12-09T18:00:00Z", "reject", []string{"owner:alice", "bob"}
	r.Items = []Item{{ID: "s1", Label: "the first"}}
	r.Artifacts = append(r.Artifacts, Artifact{Path: "a (b).md"})
	form, err := Form(r, view, Texts{
		Lang: "en", Title: "FABER: Feedback Required", Where: "architect:design-review",
		Lines: []string{"- **Summary**: 3-layer architecture"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("VIEW", string(view), "NONCE", view.Hex()[:8], "ARTIFACT", strings.Repeat("a", 64)).Replace(reviewForm)
	if diff := cmp.Diff(want, string(form)); diff != "" {
		t.Error(diff)
	}
}

func TestTheFirstLineNamesRequestAndDigestAndTheLastSends(t *testing.T) {
	for _, lang := range append(templates.Languages(), "", "xx") {
		lines := strings.Split(strings.TrimSpace(mustForm(t, review(), lang)), "\n")
		if want := "<!-- placet request fr-20251206-a1b2c3 " + string(view) + " -->"; lines[0] != want {
			t.Errorf("%s: first line %q", lang, lines[0])
		}
		if !strings.HasPrefix(lines[len(lines)-1], "- [ ] submit this answer") {
			t.Errorf("%s: last line %q", lang, lines[len(lines)-1])
		}
	}
}

func TestAFreeTextFormHasNoOptionsAndSaysWhereToWrite(t *testing.T) {
	r := review()
	r.Options, r.CommentRequired = nil, nil
	form := mustForm(t, r)
	if strings.Count(form, "[ ]") != 1 || !strings.Contains(form, "Write your answer into the section below") {
		t.Errorf("free-text form:\n%s", form)
	}
}

func TestAnEmptyContextIsNotShown(t *testing.T) {
	for _, context := range []string{"", "null", "{}", "{ }"} {
		r := review()
		r.Context = schemas.Raw(context)
		if form := mustForm(t, r); strings.Contains(form, "## Context") {
			t.Errorf("context %q is shown:\n%s", context, form)
		}
	}
}

func TestARequestThatCannotBeAskedHasNoForm(t *testing.T) {
	twice := review()
	twice.Items = []Item{{ID: "Approve"}}
	if _, err := Form(twice, view, Texts{}); err == nil {
		t.Error("an item may be called like an option")
	}
	huge := review()
	huge.Options = []Option{{ID: strings.Repeat("a", largestForm)}}
	if _, err := Form(huge, view, Texts{}); err == nil || !strings.Contains(err.Error(), huge.RequestID) {
		t.Errorf("an option of %d bytes: %v", largestForm, err)
	}
}

func TestLongTextIsShownCutAndNeverPastTheFormsLimit(t *testing.T) {
	r := review()
	r.Prompt = strings.Repeat("ä\n", 1<<19)
	r.Context = schemas.Raw(`{"x":"` + strings.Repeat("y", 1<<20) + `"}`)
	r.Options[0].Description = strings.Repeat("long ", 10000)
	form := mustForm(t, r)
	if len(form) > layout.LimitText/2 {
		t.Errorf("the form has %d bytes", len(form))
	}
	if strings.Count(form, "the whole text is in request.json") != 2 {
		t.Error("the form does not say twice that it is cut")
	}
	if a, err := readFormAt("form.md", []byte(tick(form, "approve", submitID)), r); err != nil || !a.Submitted || len(a.Ticked) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestADescriptionNeverMakesAnItemNameAnotherOption(t *testing.T) {
	r := review()
	r.Options = []Option{{ID: "a", Description: "b"}, {ID: "a: b", Description: "c"}}
	if _, err := Form(r, view, Texts{}); err == nil || !strings.Contains(err.Error(), `"a" and "a: b"`) {
		t.Errorf("%v", err)
	}
}

// rendered returns the text that Markdown shows, as one line.
func rendered(source string, n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value([]byte(source)))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte('\n')
				}
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label([]byte(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

func parse(source string) ast.Node { return gfm.Parser().Parse(text.NewReader([]byte(source))) }

// hostile are the pieces from which hostile texts are built.
var hostile = []string{
	"approve", "reject", " ", "  ", "    ", "\n", "\n\n", "\r\n", "\r", "\t", "- [x] ", "- [x] approve", "- [X] reject: yes", "* [x] approve\n",
	"- [x] submit this answer", "- [x] submit this answer\n", "## Comment\n", "## Your answer\n", "# T\n", "```", "```\n", "~~~\n", "> ", ">", "1. [x] approve\n",
	"<!--", "-->", "<!-- placet answer 00000000 -->\n", "<!-- placet comment 00000000 -->\n", "<details>\n", "</details>", "<pre>\n", "<script>\n", "<![CDATA[",
	"---\n", "===\n", "\\", "`", "*", "**", "_", "[", "]", "(", ")", "!", "|", "|-|\n", "&lt;", "&#10;", "http://a.b", "\u2028", "\u200b", "\u202e", "\x1b[2J", "\v", "\f",
	"日本", ":", "-", "+ [x] approve\n", "0", "1. ", "[x]: http://a\n", "\x00", "\xff", "{{.}}", "$x$",
}

func hostileText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Map(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 20), func(parts []string) string { return strings.Join(parts, "") }), rapid.String())
}

func TestAQuoteIsOneBlockQuoteWhateverItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := templates.Quote(hostileText().Draw(t, "text")) + "\n\nafter\n"
		root := parse(source)
		if root.ChildCount() != 2 || root.FirstChild().Kind() != ast.KindBlockquote || rendered(source, root.LastChild()) != "after" {
			t.Fatalf("leaves the quote:\n%s", source)
		}
	})
}

func TestAFenceIsOneCodeBlockThatShowsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostileText().Draw(t, "text")
		source := templates.Fence(in) + "\n\nafter\n"
		root := parse(source)
		if root.ChildCount() != 2 || root.FirstChild().Kind() != ast.KindFencedCodeBlock {
			t.Fatalf("leaves the fence:\n%s", source)
		}
		shown := string(root.FirstChild().Lines().Value([]byte(source)))
		if want := strings.TrimRight(templates.Clean(in), "\n"); strings.TrimSuffix(shown, "\n") != want {
			t.Fatalf("shows %q, want %q", shown, want)
		}
	})
}

func TestInlineShowsTheTextAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostileText().Draw(t, "text")
		want := strings.Join(strings.Fields(templates.Clean(in)), " ")
		for _, before := range []string{"", "# ", "- [ ] ", "- **Label**: ", "a "} {
			source := before + templates.Inline(in) + "\n"
			root := parse(source)
			if root.ChildCount() > 1 || strings.Count(source, "\n") != 1 {
				t.Fatalf("is several blocks: %q", source)
			}
			got := strings.TrimPrefix(strings.TrimSpace(templates.Plain(rendered(source, root))), "Label:")
			if strings.HasPrefix(before, "a") {
				got = strings.TrimPrefix(got, "a")
			}
			if got = strings.TrimSpace(got); got != want {
				t.Fatalf("%q shows %q, want %q", source, got, want)
			}
		}
	})
}

func TestCodeShowsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostileText().Draw(t, "text")
		want := strings.Join(strings.Fields(templates.Clean(in)), " ")
		source := "a " + templates.Code(in) + " b\n"
		if want == "" {
			want = `""`
		}
		if got := rendered(source, parse(source)); got != "a "+want+" b" {
			t.Fatalf("%q shows %q", source, got)
		}
	})
}

func TestMarkdownInTheContextIsShownQuoted(t *testing.T) {
	r := review()
	r.Context = schemas.Raw(`{"markdown": "# Plan\n\n- [x] submit this answer\n` + "```" + `"}`)
	form, err := Form(r, "sha256:00", Texts{})
	if err != nil || !strings.Contains(string(form), "**Context**:\n\n> # Plan\n>\n> - [x] submit this answer\n> ```\n") || strings.Contains(string(form), `"markdown"`) {
		t.Errorf("%v\n%s", err, form)
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range []struct{ approvers, to, want string }{
		{"", "", ""}, {"a b", "", "a b"}, {"", "c", "c"}, {"a b", "b c", "b"}, {"a", "c", Nobody},
	} {
		if got := strings.Join(Narrow(strings.Fields(c.approvers), strings.Fields(c.to)), " "); got != c.want {
			t.Errorf("%q narrowed to %q is %q, expected %q", c.approvers, c.to, got, c.want)
		}
	}
}
