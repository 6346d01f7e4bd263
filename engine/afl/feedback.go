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

// feedbackData is the data of the template afl/feedback, which tells the next worker about an
// attempt.
type feedbackData struct {
	Lang, Session string
	Def           Definition
	Max           int
	// Verdict is the verdict on the attempt. The attempt may have passed and been reopened.
	Verdict Verdict
	// Timeout is the timeout of the validation.
	Timeout time.Duration
	// Stdout and Stderr are the outputs as far as placet keeps them. If the verdict comes from a
	// result or a worker, Stdout is the text of that document.
	Stdout, Stderr string
	// File names the document with a worker's words; "" means worker.json.
	File string
	// Note is the remark of a person or reviewer.
	Note string
}

// Limits of the end of an output that a feedback shows.
const (
	shownLines  = 50
	shownOutput = 8 << 10
)

// shownSuggestions is how many changes a feedback proposes, and shownCode how many bytes of each
// one's code it shows.
const (
	shownSuggestions = 20
	shownCode        = 8 << 10
)

// feedbackMD returns feedback.md.
func feedbackMD(d feedbackData) []byte { return rendered(d.Lang, "feedback", d) }

// First returns the line that identifies the document.
func (d feedbackData) First() string {
	return docLine(d.Session, d.Def.ID, "feedback", d.Verdict.Iteration)
}

// Facts returns the rows of the summary.
func (d feedbackData) Facts() []templates.FormFact {
	v, exit := d.Verdict, ""
	if v.ExitCode != nil {
		exit = strconv.Itoa(*v.ExitCode)
	}
	return labelled(d.Lang, "feedback.criterion", criteria(d.Lang, v.FailedCriteria), "feedback.type", string(v.FailureType),
		"feedback.files", joined(v.RelatedFiles, ", "), "feedback.command", string(d.Def.Command),
		"feedback.exit_code", exit, "feedback.expected", string(d.Def.Expected))
}

// Fixes returns why the attempt failed and what to do about it, from an analysis or else from the
// failure type.
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

// orElse returns the texts of a list, at most shownSuggestions, or else a single one.
func orElse(list []string, one string) []string {
	if len(list) > shownSuggestions {
		list = list[:shownSuggestions]
	}
	if len(list) == 0 {
		return []string{one}
	}
	return list
}

// steps returns the suggestions of an analysis, or else the fix for the failure type.
func (d feedbackData) steps(fix string) []string {
	if len(d.Verdict.Suggestions) == 0 {
		return []string{fix}
	}
	return d.Verdict.suggested(d.Lang)
}

// suggested returns the suggestions of an analysis as lines.
func (v Verdict) suggested(lang string) (lines []string) {
	for _, s := range v.Suggestions[:min(len(v.Suggestions), shownSuggestions)] {
		lines = append(lines, s.where()+": "+templates.OrDash(templates.Inline(atMost(s.Why, shownSentence))))
	}
	if more := len(v.Suggestions) - len(lines); more > 0 {
		lines = append(lines, phrase(lang, "feedback.more", "n", strconv.Itoa(more)))
	}
	return lines
}

// where returns the place of a suggestion as a code span.
func (s Suggestion) where() string {
	place := atMost(s.File, shownName)
	if s.Line != nil {
		place += ":" + strconv.Itoa(*s.Line)
	}
	return templates.Code(place)
}

// Examples returns the code that an analysis would change, or the code around the places that the
// output names.
func (d feedbackData) Examples() string { return paragraphs(d.Verdict.codeBlocks(d.Lang)) }

// section is a part of a document with a heading of its own.
type section struct {
	Title string
	// Body is Markdown in which text from files is already quoted.
	Body string
}

// Output returns the ends of stdout and stderr, or of the words of a result or a worker.
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

// endOf returns the last lines of an output in readable form, without empty lines around them.
// whole is true if that is all of it.
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

// Remark returns the remark of a person or reviewer.
func (d feedbackData) Remark() string {
	if templates.Blank(d.Note) {
		return templates.Dash
	}
	return templates.Quote(atMost(d.Note, shownNote))
}
