package comment

import (
	"strings"
	"unicode/utf8"

	"placet/internal/lazyregexp"
	"placet/templates"
)

// Command is what a comment asks of placet.
type Command struct {
	Verb string // resume, status or cancel; "" if the comment asks nothing, "?" with a Problem
	Run  string // the run that it names, "" for none
	// Problem says why the command does not count, the zero Message if it counts.
	Problem templates.Message

	text  string // what stands before the command
	kinds []textKind
}

// Longest is the longest comment that is read, in characters.
const Longest = 65_536

var (
	commandLine = lazyregexp.New(`(?im)(?:^|[ \t])(@faber)[ \t]+(resume|status|cancel)(?:[ \t]+--run[ \t]+([A-Za-z0-9/_-]{4,200}))?[ \t]*[.!]?[ \t]*$`)
	otherWord   = lazyregexp.New(`(?im)(?:^|[ \t])@faber[ \t]+([^\s\x00]+)[ \t]*$`)
	knownWord   = lazyregexp.New(`(?i)^(?:resume|status|cancel)[.!]?$`)
)

// Read finds the command in a comment.
func Read(body string) Command {
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "")
	if utf8.RuneCountInString(body) > Longest {
		return Command{Verb: "?", Problem: templates.NewMessage("faber.comment.long", "most", Longest)}
	}
	kinds := textKinds(body)
	shown := covered(body, kinds, plainText)
	found := commandLine.FindAllStringSubmatchIndex(shown, -1)
	for _, m := range otherWord.FindAllStringSubmatch(shown, -1) {
		if !knownWord.MatchString(m[1]) {
			return Command{Verb: "?", Problem: templates.NewMessage("faber.comment.word", "word", m[1])}
		}
	}
	switch len(found) {
	case 0:
		return Command{}
	case 1:
	default:
		return Command{Verb: "?", Problem: templates.NewMessage("faber.comment.several")}
	}
	m := found[0]
	c := Command{Verb: strings.ToLower(shown[m[4]:m[5]]), text: body[:m[2]], kinds: kinds[:m[2]]}
	if m[6] >= 0 {
		c.Run = shown[m[6]:m[7]]
	}
	return c
}

// firstLine returns the first line of the text that says something, and what follows it. Marks of
// emphasis and code are left out of the line.
func (c Command) firstLine() (line, rest string) {
	shown := covered(c.text, c.kinds, inlineCode)
	at := 0
	for _, one := range strings.SplitAfter(shown, "\n") {
		if text := strings.Trim(strings.ReplaceAll(one, "\x00", ""), " \t\n"); text != "" {
			return unmarked(text), strings.TrimSpace(c.text[at+len(one):])
		}
		at += len(one)
	}
	return "", ""
}

// unmarked returns a line without emphasis and code marks.
func unmarked(line string) string {
	return strings.Trim(strings.NewReplacer("*", "", "`", "", "__", "").Replace(line), "_ \t")
}

// IsOwn reports whether a comment is a text of placet's, whoever posted it.
func IsOwn(body string) bool {
	body = strings.TrimSpace(body)
	return strings.HasPrefix(body, "<!-- placet reply") || strings.HasPrefix(body, "## Feedback Requested") && ownFooter.MatchString(body)
}

var ownFooter = lazyregexp.New("_Run ID: `[^`\n]*` \\| Request ID: `[^`\n]*`_$")
