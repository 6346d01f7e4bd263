package slack

import (
	"strings"
	"unicode/utf16"

	"placet/templates"
)

// These are the limits of Slack, counted in UTF-16 units.
const (
	mostSection  = 2900 // of 3000
	mostHeader   = 150
	mostButton   = 75
	mostValue    = 2000
	mostMetadata = 3000
	mostWords    = 3000 // typed into a dialog
	mostFile     = 1000 // for the name of a file
)

// These are the largest numbers of sections for each part: with a header and buttons they
// are 50 blocks.
const (
	mostPrompt  = 9
	mostParts   = 20 // for the actions to be carried out
	mostDraft   = 10
	mostEffects = 9
)

// units returns the length of a text as Slack counts it.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// fences changes three backticks in a text, so that they do not end the code block
// around it.
func fences(s string) string {
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "`\u200b`\u200b`")
	}
	return s
}

// escaped returns a character in the spelling of mrkdwn.
func escaped(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	return string(r)
}

// Escape returns a text of a file in the spelling of a message.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range fences(templates.Clean(s)) {
		b.WriteString(escaped(r))
	}
	return b.String()
}

// chunks splits a text between characters into at most most pieces of at most size
// units. whole is false if some text is left over.
func chunks(s string, size, most int) (list []string, whole bool) {
	var b strings.Builder
	n := 0
	for _, r := range fences(templates.Clean(s)) {
		spelled := escaped(r)
		if n+units(spelled) > size {
			if list = append(list, b.String()); len(list) == most {
				return list, false
			}
			b.Reset()
			n = 0
		}
		b.WriteString(spelled)
		n += units(spelled)
	}
	if b.Len() > 0 {
		list = append(list, b.String())
	}
	return list, true
}

// cut returns a text of at most size units, with an ellipsis if a part is missing.
func cut(s string, size int) string {
	list, whole := chunks(s, size-1, 1)
	switch {
	case len(list) == 0:
		return ""
	case whole:
		return list[0]
	}
	return list[0] + "…"
}

// section returns a paragraph of text that is mrkdwn already.
func section(spelled string) block {
	return block{Type: "section", Text: &textPart{Type: markdown, Text: spelled, Verbatim: true}}
}

// oneLine returns a text with its white space replaced by single blanks.
func oneLine(s string) string { return templates.Clean(strings.Join(strings.Fields(s), " ")) }

// plain returns at most size units of a text that Slack shows unchanged.
func plain(s string, size int) *textPart {
	text := oneLine(s)
	for units(text) > size {
		text = strings.TrimSuffix(text, "…")
		runes := []rune(text)
		text = string(runes[:len(runes)-1]) + "…"
	}
	return &textPart{Type: plainText, Text: text}
}
