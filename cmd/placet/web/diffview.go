package web

import (
	"bytes"
	"html/template"
	"strconv"
	"strings"
)

// diffView writes lines of a unified diff, cleaned before: one below the other, and where the page
// has room for it the style sheet puts what was removed beside what was added. Each line keeps its
// sign, because colours alone say nothing.
type diffView struct {
	out            bytes.Buffer
	removed, added []string
	then, now      int // the numbers of the next lines
	// left are how many lines of each version the hunk still has; outside of hunks a line that
	// begins with a sign is part of the head.
	left [2]int
}

// diffHTML returns a unified diff for pages. Files that it names stand above their changes.
func diffHTML(lines []string) template.HTML {
	d := &diffView{}
	d.out.WriteString(`<div class="diff">`)
	for _, line := range lines {
		d.line(line)
	}
	d.flush()
	d.out.WriteString("</div>")
	return template.HTML(d.out.String())
}

func (d *diffView) line(line string) {
	switch {
	case strings.HasPrefix(line, "@@") && d.begins(line):
	case d.left[0] > 0 && strings.HasPrefix(line, "-"):
		if len(d.added) > 0 {
			d.flush()
		}
		d.removed = append(d.removed, line)
		d.left[0]--
	case d.left[1] > 0 && strings.HasPrefix(line, "+"):
		d.added = append(d.added, line)
		d.left[1]--
	case d.left[0] > 0 && d.left[1] > 0 && (line == "" || line[0] == ' '):
		d.same(line)
	default:
		d.flush()
		d.element(`p class="hunk"`, "", line, "p")
	}
}

// begins begins a hunk; ok is false if the line is none's head.
func (d *diffView) begins(line string) (ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[0] != "@@" || fields[3] != "@@" {
		return false
	}
	then, n, ok1 := span(fields[1], "-")
	now, m, ok2 := span(fields[2], "+")
	if !ok1 || !ok2 {
		return false
	}
	d.flush()
	d.then, d.now, d.left = then, now, [2]int{n, m}
	d.element(`p class="hunk"`, "", line, "p")
	return true
}

// span reads "-3,7": the first line, and how many there are.
func span(word, sign string) (first, n int, ok bool) {
	word, signed := strings.CutPrefix(word, sign)
	begin, many, several := strings.Cut(word, ",")
	first, err := strconv.Atoi(begin)
	if n = 1; several && err == nil {
		n, err = strconv.Atoi(many)
	}
	return first, n, signed && err == nil && first >= 0 && n >= 0
}

// same writes a line that both versions have, and once more for the other side.
func (d *diffView) same(line string) {
	d.flush()
	d.out.WriteString(`<div class="both">`)
	d.element(`span data-then="`+strconv.Itoa(d.then)+`"`, strconv.Itoa(d.now), line, "span")
	d.element(`span class="copy" aria-hidden="true"`, strconv.Itoa(d.now), line, "span")
	d.out.WriteString("</div>")
	d.then, d.now = d.then+1, d.now+1
	d.left[0], d.left[1] = d.left[0]-1, d.left[1]-1
}

// flush writes the lines of a change.
func (d *diffView) flush() {
	if len(d.removed)+len(d.added) == 0 {
		return
	}
	d.out.WriteString(`<div class="change">`)
	for _, line := range d.removed {
		d.element("del", strconv.Itoa(d.then), line, "del")
		d.then++
	}
	for _, line := range d.added {
		d.element("ins", strconv.Itoa(d.now), line, "ins")
		d.now++
	}
	d.out.WriteString("</div>")
	d.removed, d.added = nil, nil
}

// element writes a line in an element, with its number, "" for none.
func (d *diffView) element(begin, n, line, end string) {
	d.out.WriteString("<" + begin)
	if n != "" {
		d.out.WriteString(` data-n="` + n + `"`)
	}
	d.out.WriteString(">")
	template.HTMLEscape(&d.out, []byte(line))
	d.out.WriteString("\n</" + end + ">")
}
