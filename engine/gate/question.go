package gate

import (
	"regexp"
	"slices"
	"strings"

	"placet/engine"
	"placet/templates"
)

// span is where a question stands in a form: where its words begin, and what
// follows them.
type span struct{ from, after int }

// asked returns where a question stands in a part of a form: at the beginning
// of a paragraph, a heading or a list item, whatever number it has.
func (o outline) asked(source, question string, from, to int) []span {
	words := strings.Fields(strings.TrimRight(question, ": "))
	if len(words) == 0 {
		return nil
	}
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	match := regexp.MustCompile(`^(?:\d{1,9}\\?[.)]\s+)?(?i:` + strings.Join(words, `\s+`) + `)[ \t]*[:：]?`)
	var found []span
	for _, at := range o.begins {
		if at < from || at >= to {
			continue
		}
		if m := match.FindString(source[at:]); m != "" {
			found = append(found, span{at, at + len(m)})
		}
	}
	return found
}

// beginIn returns where a part begins: behind its mark, or behind what stands
// in for a lost one: the heading of a general form, or the question of a block.
// A question that stands there twice stands in for nothing.
func (o outline) beginIn(source, part string, d engine.Digest, b *Block, from int) (int, bool) {
	at, ok := o.partBegin(part, d, from)
	if ok || b == nil || slices.ContainsFunc(o.marks, func(m place) bool { return strings.HasPrefix(m.word, part) }) {
		return at, ok
	}
	question := b.Options
	if part == partComment {
		question = b.Comment
	}
	found := o.asked(source, question, from, len(source))
	if len(found) != 1 {
		return 0, false
	}
	after := found[0].after
	return after + len(source[after:]) - len(strings.TrimLeft(source[after:], " \t")), true
}

// refine reads what is particular to a form of three questions. A person may
// answer the third behind its words, above the mark: that is a comment too. What
// else looks like an answer and would be passed over is asked about, because
// there an answer that names no option counts.
func (b *Block) refine(source string, o outline, p parts, answer, comment int, all names) (parts, *flaw) {
	end := comment
	if third := o.asked(source, b.Comment, answer, comment); len(third) > 0 {
		last := third[len(third)-1]
		end = last.from
		p.comment = trimBlank(o.aboveMark(source, last.after, comment) + "\n" + p.comment)
		p.tasks = slices.DeleteFunc(p.tasks, func(t task) bool { return t.from >= end })
	}
	for _, question := range []string{b.Options, b.Items} {
		for _, s := range o.asked(source, question, answer, end) {
			if rest := source[s.after:lineEnd(source, s.after)]; strings.TrimSpace(rest) != "" {
				return p, &flaw{line: line(source, s.after), problem: "text stands behind a question, where it is not read: " + templates.Cut(strings.TrimSpace(rest), shownFound), expected: "a ticked item below it"}
			}
		}
	}
	p.stray = stray(source, p.tasks, answer, end, all)
	return p, nil
}

// aboveMark is the text from an offset to the mark that ends there.
func (o outline) aboveMark(source string, from, after int) string {
	for _, m := range o.marks {
		if m.after == after && m.from >= from {
			return strings.TrimSpace(source[from:m.from])
		}
	}
	return ""
}

// strayBox matches a line that begins with a box, whatever else makes an item of
// it.
var strayBox = regexp.MustCompile(`^[\s>]*(?:(?:[-*+•]|\d{1,9}[.)])\s+)*(\[[^\[\]\n]{1,4}\].*)$`)

// escapedBox matches an item whose box an editor has escaped: text to Markdown,
// and a tick to whoever made it.
var escapedBox = regexp.MustCompile(`^[\s>]*(?:[-*+•]|\d{1,9}[.)])\s+(\\\[[xX]\\?\]\s+(.*))$`)

// stray returns the lines from an offset to another that look ticked and are
// none of the tasks: in code, in a quote, or without the mark of an item.
func stray(source string, tasks []task, from, to int, all names) []string {
	read := map[int]bool{}
	for _, t := range tasks {
		read[t.from] = true
	}
	var found []string
	for at := lineEnd(source, from) + 1; at < to; at = lineEnd(source, at) + 1 {
		if text, ok := looksTicked(source[at:lineEnd(source, at)], all); ok && !read[at] {
			found = append(found, text)
		}
	}
	return found
}

// looksTicked returns what of a line looks like a ticked item.
func looksTicked(line string, all names) (string, bool) {
	if m := escapedBox.FindStringSubmatch(line); m != nil {
		_, known := all.named(templates.Plain(m[2]))
		return m[1], known
	}
	m := strayBox.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	state, words := readBox(m[1])
	_, known := all.named(templates.Plain(words))
	return m[1], state == boxTicked || state == boxUnclear && known
}
