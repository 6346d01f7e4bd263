package afl

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"placet/engine/testoutput"
	"placet/layout"
	"placet/templates"
)

// feedbackData is what the next worker is told of an attempt: the template afl/feedback
// shows it.
type feedbackData struct {
	Lang, Session string
	Def           Definition
	Max           int
	// Verdict is that on the attempt; it may have passed and been reopened.
	Verdict Verdict
	// Timeout is the validation's that held.
	Timeout time.Duration
	// Stdout and Stderr are all that is kept of the outputs. Where the verdict
	// comes from a result or a worker, Stdout is what that says.
	Stdout, Stderr string
	// File names the document that a worker's words are from; "" is
	// worker.json.
	File string
	// Note is what a person or reviewer added.
	Note string
}

// How much a feedback shows of an output: its end.
const (
	shownLines  = 50
	shownOutput = 8 << 10
)

// shownSuggestions is how many changes a feedback proposes, shownCode how much
// of each one's code it shows, in bytes.
const (
	shownSuggestions = 20
	shownCode        = 8 << 10
)

// feedbackMD returns feedback.md.
func feedbackMD(d feedbackData) []byte { return rendered(d.Lang, "feedback", d) }

// First is the line that names the document.
func (d feedbackData) First() string {
	return docLine(d.Session, d.Def.ID, "feedback", d.Verdict.Iteration)
}

// Facts are the rows of the summary.
func (d feedbackData) Facts() []templates.FormFact {
	v, exit := d.Verdict, ""
	if v.ExitCode != nil {
		exit = strconv.Itoa(*v.ExitCode)
	}
	return labelled(d.Lang, "feedback.criterion", criteria(d.Lang, v.FailedCriteria), "feedback.type", string(v.FailureType),
		"feedback.files", joined(v.RelatedFiles, ", "), "feedback.command", string(d.Def.Command),
		"feedback.exit_code", exit, "feedback.expected", string(d.Def.Expected))
}

// Fixes say why the attempt failed and what to do about it: what an analysis
// says, else what is true of the type.
func (d feedbackData) Fixes() string {
	v := d.Verdict
	if v.Passed {
		return templates.Dash
	}
	var blocks []string
	cause, fix := causes(d.Lang, v.failure(), d.Timeout)
	for _, c := range orElse(v.Causes, cause) {
		blocks = append(blocks, phrase(d.Lang, "feedback.cause", "cause", templates.Inline(atMost(c, shownSentence))))
	}
	if v.Marker != nil && (v.MatchedText == nil || *v.MatchedText) {
		blocks = append(blocks, phrase(d.Lang, "feedback.marker", "marker", templates.Code(atMost(*v.Marker, shownName))))
	}
	blocks = append(blocks, numberedList(d.steps(fix)))
	if len(v.KeyLines) > 0 {
		blocks = append(blocks, phrase(d.Lang, "feedback.lines"), templates.Fence(strings.Join(v.KeyLines, "\n")))
	}
	return paragraphs(blocks)
}

// orElse returns the texts of a list, or a single one where it has none.
func orElse(list []string, one string) []string {
	if len(list) > shownSuggestions {
		list = list[:shownSuggestions]
	}
	if len(list) == 0 {
		return []string{one}
	}
	return list
}

// steps are what an analysis suggests, else the fix of the type.
func (d feedbackData) steps(fix string) []string {
	if len(d.Verdict.Suggestions) == 0 {
		return []string{fix}
	}
	var lines []string
	for _, s := range d.suggested() {
		lines = append(lines, s.where()+": "+templates.OrDash(templates.Inline(atMost(s.Why, shownSentence))))
	}
	if more := len(d.Verdict.Suggestions) - len(lines); more > 0 {
		lines = append(lines, phrase(d.Lang, "feedback.more", "n", strconv.Itoa(more)))
	}
	return lines
}

func (d feedbackData) suggested() []Suggestion {
	list := d.Verdict.Suggestions
	return list[:min(len(list), shownSuggestions)]
}

// where is the place that a suggestion means, as a code span.
func (s Suggestion) where() string {
	place := atMost(s.File, shownName)
	if s.Line != nil {
		place += ":" + strconv.Itoa(*s.Line)
	}
	return templates.Code(place)
}

// Examples are the code that an analysis would change.
func (d feedbackData) Examples() string {
	var blocks []string
	for _, s := range d.suggested() {
		if s.Before == "" && s.After == "" {
			continue
		}
		blocks = append(blocks, s.where())
		for _, part := range []struct {
			key  string
			code text
		}{{"before", s.Before}, {"after", s.After}} {
			if part.code != "" {
				blocks = append(blocks, phrase(d.Lang, "feedback."+part.key), templates.Fence(atMost(string(part.code), shownCode)))
			}
		}
	}
	return paragraphs(blocks)
}

// section is a part of a document below a heading of its own.
type section struct {
	Title string
	// Body is Markdown; what it takes from files is quoted already.
	Body string
}

// Output are the ends of stdout and stderr, or of what a result or a worker said.
func (d feedbackData) Output() []section {
	switch d.Verdict.Source {
	case fromResult:
		return []section{d.part(phrase(d.Lang, "feedback.part.result"), "result.json", d.Stdout)}
	case fromWorker:
		return []section{d.part(phrase(d.Lang, "feedback.part.worker"), cmp.Or(d.File, "worker.json"), d.Stdout)}
	}
	file := layout.AFLNumbered("validation", d.Verdict.Run, ".json")
	return []section{d.part("stdout", file, d.Stdout), d.part("stderr", file, d.Stderr)}
}

func (d feedbackData) part(name, file, output string) section {
	end, whole := endOf(output)
	shown := section{Title: name, Body: templates.Dash}
	if !whole {
		shown.Title = phrase(d.Lang, "feedback.end", "name", name, "file", templates.Code(file))
	}
	if end != "" {
		shown.Body = templates.Fence(end)
	}
	return shown
}

// endOf returns the last lines of an output as people read it, without empty
// lines around them, and whether that is all of it.
func endOf(output string) (end string, whole bool) {
	end, whole = strings.Trim(templates.Clean(testoutput.Clean(output)), "\n"), true
	at := len(end)
	for range shownLines {
		if at = strings.LastIndexByte(end[:at], '\n'); at < 0 {
			break
		}
	}
	if at >= 0 {
		end, whole = end[at+1:], false
	}
	if len(end) <= shownOutput {
		return end, whole
	}
	from := len(end) - shownOutput
	for !utf8.RuneStart(end[from]) {
		from++
	}
	return "…" + end[from:], false
}

// Remark is what a person or a reviewer added.
func (d feedbackData) Remark() string {
	if templates.Blank(d.Note) {
		return templates.Dash
	}
	return templates.Quote(atMost(d.Note, shownNote))
}
