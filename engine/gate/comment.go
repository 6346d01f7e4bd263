package gate

import (
	"iter"
	"regexp"
	"strings"

	"placet/schemas"
	"placet/templates"
)

// Anything may stand in the comment section and below the last item but what could be
// taken for a part of the form that placet wrote, or would hide one when the form is
// shown: an item that names what is offered, a mark, HTML, and a code block that
// never ends. In a code block and in a quote ("> ") each of them is text.

// looksLikeItem matches a line that begins with a box, whatever an editor made of it.
var looksLikeItem = regexp.MustCompile(`^\s*(?:(?:[-*+•]|\d{1,9}[.)])\s+)*\\?\[([^\[\]\\]{0,4})\\?\]\s*(.*)$`)

// HTML that a browser, or whatever shows Markdown, does not show as it stands:
// comments and declarations, elements with hidden content, hidden elements, a tag at
// the beginning of a line, and one that goes on in the next.
var hidingHTML = regexp.MustCompile(`(?i)<[!?]` +
	`|</?(?:details|dialog|template|script|style|textarea|title|select|noscript|noframes|noembed|iframe|object|xmp|plaintext)\b` +
	`|<[a-z][a-z0-9-]*\s[^<>]*\b(?:hidden|style|class)\b` +
	`|^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*</?[a-z][a-z0-9-]*(?:[\s/>]|$)` +
	`|<[a-z][a-z0-9-]*\s*$`)

// codeSpan matches code within a line, which shows what it holds.
var codeSpan = regexp.MustCompile("(^|[^`\\\\])`[^`]+`($|[^`])")

// checkComment says what in the comment section, or below the last item, makes the form
// void. Of a form that is not sent it asks for one thing alone: whether somebody
// believes that it is.
func (f *filledForm) checkComment(offered names) *schemas.Error {
	if problem := f.checkText(min(f.comment+1, f.submit), f.submit, offered); problem != nil {
		return problem
	}
	return f.checkText(f.submit+1, len(f.lines), offered)
}

// checkText checks the reviewer's lines between two indices.
func (f *filledForm) checkText(from, to int, offered names) *schemas.Error {
	fence := ""
	for i, line := range withoutQuotes(f.lines[from:to], &fence) {
		if problem := f.checkLine(line, offered); problem != "" {
			return flaw(from+i+1, problem+": "+visible(strings.TrimSpace(line)), `it in a code block or a quote ("> "), or not at all`)
		}
	}
	if fence == "" || !f.Submitted {
		return nil
	}
	problem := "the code block that begins with " + fence + " never closes"
	if to == f.submit {
		problem = "the last item stands in a code block that the comment opens and never closes"
	}
	return torn(min(to, len(f.lines)-1)+1, problem, fence+" above it")
}

func (f *filledForm) checkLine(line string, offered names) string {
	if m := looksLikeItem.FindStringSubmatch(line); m != nil {
		words := templates.Plain(strings.Map(dropUnseen, m[2]))
		_, sends := submitName.named(words)
		_, named := offered.named(words)
		if sends && strings.TrimSpace(m[1]) != "" || f.Submitted && (sends || named) {
			return "the comment holds an item that looks like one of the form"
		}
	}
	switch {
	case !f.Submitted:
	case marks(line, partAnswer, f.Digest), marks(line, partComment, f.Digest):
		return "a mark of the form stands twice"
	case hidingHTML.MatchString(codeSpan.ReplaceAllString(line, "$1$2")):
		return "the comment holds HTML, which may hide what stands below"
	}
	return ""
}

// withoutQuotes yields the lines of a text that are neither quoted nor in a fenced code
// block, with their indices. Only a fence that is not indented counts: whatever
// stands before it, it begins a block of its own. In the end fence is the one that
// was not closed, "" for none.
func withoutQuotes(lines []string, fence *string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, line := range lines {
			switch {
			case *fence != "":
				if closes(line, *fence) {
					*fence = ""
				}
			case opens(line) != "":
				*fence = opens(line)
			case strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
			case !yield(i, line):
				return
			}
		}
	}
}

// opens returns the fence with which a line begins a code block, "" for none.
func opens(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		fence := line[:len(line)-len(rest)]
		if len(fence) >= 3 && (mark == "~" || !strings.Contains(rest, mark)) {
			return fence
		}
	}
	return ""
}

// closes reports whether a line ends the code block that a fence began.
func closes(line, fence string) bool {
	text := strings.TrimRight(line, " \t")
	indented := len(text) - len(strings.TrimLeft(text, " "))
	text = text[indented:]
	return indented < 4 && len(text) >= len(fence) && strings.Trim(text, fence[:1]) == ""
}
