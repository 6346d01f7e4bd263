package slack

import (
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"placet/templates"
)

// Limits of Slack, counted in UTF-16 units.
const (
	mostSection  = 2900 // of 3000
	mostHeader   = 150
	mostButton   = 75
	mostValue    = 2000
	mostMetadata = 3000
	mostWords    = 3000 // that somebody may type into a dialog
	mostFile     = 1000 // of the name of a file
)

// How many sections there are of each thing at most: with a header and buttons 50 blocks.
const (
	mostPrompt  = 9
	mostParts   = 20 // what would be carried out
	mostDraft   = 10
	mostEffects = 9
)

// units is how long Slack counts a text.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// fences keeps three backticks in a text from ending the block in which it stands.
func fences(s string) string {
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "`\u200b`\u200b`")
	}
	return s
}

// escaped is a character as mrkdwn spells it.
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

// Escape is a text of a file as a message shows it.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range fences(templates.Clean(s)) {
		b.WriteString(escaped(r))
	}
	return b.String()
}

// chunks are a text in pieces of so many units, so many of them at most, cut between
// characters. whole is false where something is left over.
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

// cut is a text of so many units at most, in one piece, with an ellipsis where something
// is missing.
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

// section is a paragraph of mrkdwn that is spelled already.
func section(spelled string) slack.Block {
	return slack.NewSectionBlock(&slack.TextBlockObject{Type: slack.MarkdownType, Text: spelled, Verbatim: true}, nil, nil)
}

// oneLine is a text with one blank for all between two words.
func oneLine(s string) string { return templates.Clean(strings.Join(strings.Fields(s), " ")) }

// plain is a text that Slack shows as it is, of so many units at most.
func plain(s string, size int) *slack.TextBlockObject {
	text := oneLine(s)
	for units(text) > size {
		text = strings.TrimSuffix(text, "…")
		runes := []rune(text)
		text = string(runes[:len(runes)-1]) + "…"
	}
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: text}
}
