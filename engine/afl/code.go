package afl

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/templates"
)

// Excerpt is the code around a place that an output names, as it was when the output was judged.
type Excerpt struct {
	File  string   `json:"file"` // relative to the workspace
	Line  int      `json:"line"` // the line that the output names
	First int      `json:"first"`
	Lines []string `json:"lines"`
}

// How much code a verdict keeps: places, lines before and after each, and bytes of a line.
const (
	mostExcerpts = 5
	linesAround  = 3
	longestCode  = 300
)

// codeAt returns the code around the places that an output names, for files of the workspace that git
// does not ignore. cwd is the folder in which the command ran. isPending is true while one of the
// files may still be being written.
func codeAt(cp *checkpoint, output, cwd string) (code []Excerpt, isPending bool) {
	for _, at := range testoutput.Places(output) {
		file, ok := sourcePath(cwd, at.File)
		if !ok || len(code) == mostExcerpts {
			continue
		}
		d, _ := cp.r.run.Fact(file)
		if d.Unsettled() {
			isPending = true
		}
		if !d.Present() || !run.MayShow(&cp.r.run.Input, file) {
			continue
		}
		if e, ok := excerpt(string(d.Body), at.Line); ok {
			e.File = file
			code = append(code, e)
		}
	}
	return code, isPending
}

// isCodePending reports whether a file that the output of the present run names may still be being
// written.
func isCodePending(cp *checkpoint) bool {
	t := cp.attempt()
	if cp.usesResult() {
		_, pending := codeAt(cp, t.result.Said.Output, "")
		return pending
	}
	o := t.validation.Said
	if o == nil {
		return false
	}
	_, pending := codeAt(cp, testoutput.Text(o.Stdout.Text(), o.Stderr.Text()), o.Cwd)
	return pending
}

// sourcePath returns the path of a file that an output names, relative to the workspace. ok is false
// for a file elsewhere and for one whose name is no plain name of a source file.
func sourcePath(cwd, name string) (file string, ok bool) {
	if path.IsAbs(name) || strings.ContainsAny(name, `*?[\:`) {
		return "", false
	}
	file = path.Join(cwd, name)
	hidden := func(part string) bool { return strings.HasPrefix(part, ".") }
	below := strings.TrimPrefix(file, Worktrees+"/")
	return file, !path.IsAbs(file) && !slices.ContainsFunc(strings.Split(below, "/"), hidden)
}

// excerpt returns the lines around a line of a text.
func excerpt(body string, line int) (e Excerpt, ok bool) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(body, "\r\n", "\n"), "\n"), "\n")
	if line > len(lines) || strings.ContainsRune(body, 0) {
		return e, false
	}
	first := max(0, line-1-linesAround)
	e = Excerpt{Line: line, First: first + 1}
	for _, text := range lines[first:min(len(lines), line+linesAround)] {
		e.Lines = append(e.Lines, templates.Cut(text, longestCode))
	}
	return e, true
}

// block returns an excerpt as Markdown: its place, and its lines with their numbers.
func (e Excerpt) block() []string {
	width := len(strconv.Itoa(e.First + len(e.Lines)))
	var lines []string
	for i, text := range e.Lines {
		mark := " "
		if e.First+i == e.Line {
			mark = ">"
		}
		lines = append(lines, fmt.Sprintf("%s %*d  %s", mark, width, e.First+i, templates.Clean(text)))
	}
	return []string{templates.Code(fmt.Sprintf("%s:%d", e.File, e.Line)), templates.Fence(strings.Join(lines, "\n"))}
}

// codeBlocks returns the code that an analysis would change, and without one the code around the
// places that the output names.
func (v Verdict) codeBlocks(lang string) (blocks []string) {
	for _, s := range v.Suggestions[:min(len(v.Suggestions), shownSuggestions)] {
		blocks = append(blocks, s.code(lang)...)
	}
	if len(blocks) > 0 || len(v.Code) == 0 {
		return blocks
	}
	blocks = []string{phrase(lang, "feedback.around")}
	for _, e := range v.Code {
		blocks = append(blocks, e.block()...)
	}
	return blocks
}

// code returns the code that a suggestion would change, and what it would become.
func (s Suggestion) code(lang string) (blocks []string) {
	if s.Before == "" && s.After == "" {
		return nil
	}
	blocks = append(blocks, s.where())
	for _, part := range []struct {
		key  string
		code text
	}{{"before", s.Before}, {"after", s.After}} {
		if part.code != "" {
			blocks = append(blocks, phrase(lang, "feedback."+part.key), templates.Fence(atMost(string(part.code), shownCode)))
		}
	}
	return blocks
}
