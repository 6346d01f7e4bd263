package gate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// A form counts only if it is what placet wrote, apart from ticks and comments. If this
// machine wrote it, the recorded digests decide; otherwise placet renders the request again
// and compares. Blanks at the end of a line, which editors remove, count as part of the
// line's end.

// void returns why a form that is sent does not count, or "". It adds the text among the
// options to the comment.
func (a Evaluation) void(d engine.Document, f *filledForm) string {
	blank := f.blank()
	if slices.Contains(d.Issued, engine.Sum([]byte(strings.Join(blank, "\n")+"\n"))) {
		return ""
	}
	first := -1
	var want string
	for _, text := range a.written() {
		own, at, line := f.compare(strings.Split(strings.TrimRight(normal([]byte(text)), "\n"), "\n"), blank, a.Request.names())
		if at < 0 && (d.Issued == nil || slices.Contains(d.Issued, engine.Sum([]byte(text)))) {
			if problem := f.checkOwn(own, a.Request.names()); problem != nil {
				problem.Line = f.numbered(problem.Line)
				return unusableProblem(a, d.Path, problem)
			}
			f.gather(own)
			return ""
		}
		if at > first {
			first, want = at, line
		}
	}
	if first < 0 {
		return a.say("void", "file", code(d.Path))
	}
	number := first + 1
	if first > f.comment {
		number = f.submit + 1
	}
	number = f.numbered(number)
	shownWant, shownHave := around(want, lineAt(blank, first))
	return a.say("void.line", "file", code(d.Path), "line", number, "wrote", shownWant, "stands", shownHave)
}

// written returns the texts that placet may have written as the form, in this version or
// an earlier one: a form that somebody has begun to fill in must survive an upgrade.
func (a Evaluation) written() []string {
	if a.Rendered == nil {
		return nil
	}
	var all []string
	for _, text := range a.Rendered() {
		all = append(append(all, string(text)), templates.Earlier(string(text))...)
	}
	return all
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}

// shownBefore is how much of two lines is shown before their first difference, in bytes.
const shownBefore = 60

// around returns two lines starting shortly before their first difference.
func around(a, b string) (any, any) {
	same := commonBytes(a, b)
	before := ""
	if same > shownBefore {
		cut := same - shownBefore
		for cut > 0 && a[cut]&0xc0 == 0x80 { // within a character
			cut--
		}
		a, b, before = a[cut:], b[cut:], "…"
	}
	a, b = visible(templates.Cut(a, shownFound)), visible(templates.Cut(b, shownFound))
	if templates.Code(a) == templates.Code(b) {
		a, b = strings.ReplaceAll(a, " ", `\u{20}`), strings.ReplaceAll(b, " ", `\u{20}`)
	}
	return lineAsCode(before + a), lineAsCode(before + b)
}

func lineAsCode(s string) any {
	if strings.TrimSpace(s) == "" {
		return templates.NewMessage("gate.void.empty")
	}
	return templates.Code(s)
}

// visible returns a line with \u{…} in place of invisible characters.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != ' ' && unicode.IsSpace(r) || dropUnseen(r) < 0 {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// dropUnseen returns a character, or -1 for an invisible one.
func dropUnseen(r rune) rune {
	if templates.Clean(string(r)) != string(r) {
		return -1
	}
	return r
}

// Reviewers write where there is room: under the option that they tick, above the comment's
// heading, below the last item. Separate lines anywhere below the first option are part of
// the comment, and the receipt says where they were. A line of placet's with more added
// than its tick is a different line, and makes the form void.

// passage is a range of consecutive lines by the reviewer, from one index to another.
type passage struct {
	from, to int
	place    templates.Message
}

var belowSubmit = templates.NewMessage("gate.place.below")

// compare returns the lines between the first option and the comment's mark that are not
// placet's. written is the form as placet wrote it, blank the present form without ticks
// and comment. at is the index of the first line of blank that differs, -1 for none, and
// want is what placet wrote there.
func (f *filledForm) compare(written, blank []string, offered names) (own []passage, at int, want string) {
	first := firstBox(written, f.answer)
	var place templates.Message
	k := 0
	for i, line := range written {
		found := k
		if i > first && k <= f.comment {
			if strings.TrimSpace(line) == "" {
				continue // the reviewer may add and remove blank lines
			}
			if found = indexOf(blank[:f.comment+1], k, line); found < 0 {
				return nil, nearestLine(blank[:f.comment+1], k, line), line
			}
		}
		if found >= len(blank) || !sameLine(blank[found], line) {
			return nil, k, line
		}
		if hasText(blank[k:found]) {
			own = append(own, passage{k, found, place})
		}
		place, k = placeBelow(line, offered), found+1
	}
	if k < len(blank) {
		return nil, k, ""
	}
	return own, -1, ""
}

// firstBox returns the index of the first item below the answer's mark, or that of the mark
// if nothing is offered.
func firstBox(written []string, answer int) int {
	for i := answer; i < len(written); i++ {
		if boxLine.MatchString(written[i]) && !isSubmit(written[i]) {
			return i
		}
	}
	return answer
}

// indexOf returns the index of a line among others, starting at from; -1 for none.
func indexOf(lines []string, from int, line string) int {
	for i := from; i < len(lines); i++ {
		if sameLine(lines[i], line) {
			return i
		}
	}
	return -1
}

// nearestLine returns the index of the line, starting at from, whose beginning has most in
// common with another line: presumably that line after somebody changed it.
func nearestLine(lines []string, from int, line string) int {
	best, most := from, 0
	for i := from; i < len(lines); i++ {
		if n := commonBytes(lines[i], line); n > most {
			best, most = i, n
		}
	}
	return best
}

// placeBelow returns the name of the place below a line of placet's.
func placeBelow(line string, offered names) templates.Message {
	if m := boxLine.FindStringSubmatch(line); m != nil {
		if id, ok := offered.named(templates.Plain(m[3])); ok {
			return templates.NewMessage("gate.place.option", "option", quoted(id))
		}
	}
	return templates.NewMessage("gate.place.above")
}

func hasText(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" })
}

// sameLine reports whether two lines differ at most in trailing blanks.
func sameLine(a, b string) bool { return strings.TrimRight(a, " \t") == strings.TrimRight(b, " \t") }

// commonBytes returns how many bytes two lines have in common at their beginning.
func commonBytes(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// gather sets the comment to everything that the reviewer wrote, beginning with the comment
// section. own are the passages above the comment's mark.
func (f *filledForm) gather(own []passage) {
	var words []string
	f.outside = nil
	for _, p := range slices.Concat([]passage{{from: f.comment + 1, to: f.submit}}, own, []passage{{f.submit + 1, len(f.lines), belowSubmit}}) {
		text := trimBlank(strings.Join(f.lines[p.from:p.to], "\n"))
		if text == "" {
			continue
		}
		if p.place.None() {
			words = append(words, text)
			continue
		}
		words = append(words, dedent(text))
		if !slices.ContainsFunc(f.outside, func(m templates.Message) bool { return m.String() == p.place.String() }) {
			f.outside = append(f.outside, p.place)
		}
	}
	f.Comment = strings.Join(words, "\n\n")
}

// dedent returns a text without the blanks with which all of its lines begin. Below an item
// these only indent it.
func dedent(text string) string {
	lines := strings.Split(text, "\n")
	least := len(text)
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, " \t")))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(least, len(line)):]
	}
	return strings.Join(lines, "\n")
}

// checkOwn returns which passage above the comment's mark makes the form void: one that
// could be mistaken for a part of the form, or for an option, or would hide one. It returns
// nil for none.
func (f *filledForm) checkOwn(own []passage, offered names) *schemas.Error {
	for _, p := range own {
		if problem := f.checkHidden(p.from, p.to); problem != nil {
			return problem
		}
		for i, line := range f.lines[p.from:p.to] {
			problem, m := f.checkLine(line, offered), looksLikeItem.FindStringSubmatch(line)
			switch {
			case !problem.None():
			case opens(strings.TrimLeft(line, " \t")) != "":
				problem = templates.NewMessage("gate.form.code")
			case m != nil:
				problem = templates.NewMessage("gate.form.item")
			}
			if !problem.None() {
				return flaw(p.from+i+1, onLine(problem, line), templates.NewMessage("gate.form.expect.comment"))
			}
		}
	}
	return nil
}
