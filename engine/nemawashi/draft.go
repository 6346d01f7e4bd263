package nemawashi

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// longestDraft is the maximum size of a creator's draft, in bytes.
const longestDraft = 256 << 10

// refuse returns an error that says why something is unusable.
func refuse(key templates.Key, pairs ...any) error {
	return templates.Errorf("nemawashi."+key, pairs...)
}

// Pointer returns the JSON pointer at the start of an error of [CheckAction] or [CheckCommand], or
// "".
func Pointer(err error) string {
	place, _, _ := strings.Cut(err.Error(), " ")
	if !strings.HasPrefix(place, "/") {
		return ""
	}
	return strings.TrimSuffix(place, ":")
}

// CheckDraft returns what is wrong with a creator's draft, or nil.
func CheckDraft(body []byte) error {
	switch {
	case len(body) > longestDraft:
		return refuse("draft.size", "n", len(body), "most", longestDraft)
	case !utf8.Valid(body):
		return refuse("draft.utf8")
	case templates.Blank(string(body)):
		return refuse("draft.blank")
	}
	return checkText(templates.NewMessage("nemawashi.draft.noun"), string(body))
}

// LiftPayload returns the payload of a first draft and the text before it. The payload is the last
// line that is not blank, if that line begins with a brace; it must then be one JSON object.
// Without such a line the payload is {}.
func LiftPayload(draft string) (payload schemas.Raw, body string, err error) {
	text := strings.TrimRightFunc(draft, unicode.IsSpace)
	start := strings.LastIndexByte(text, '\n') + 1
	line := text[start:]
	if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "{") {
		return schemas.Raw("{}"), draft, nil
	}
	err = schemas.Decode("", "", []byte(line), nil)
	if e := (*schemas.Error)(nil); errors.As(err, &e) {
		e.Line += strings.Count(draft[:start], "\n")
		// The error is wrapped as a message, so that the file does not count as incomplete.
		err = refuse("draft.line", "error", templates.NewMessage("say.text", "text", e))
	}
	if err != nil {
		return nil, "", err
	}
	return schemas.Raw(strings.TrimSpace(line)), draft[:start], nil
}

// Feedback returns the words of a steer in the form in which drafts and states hold them.
func Feedback(words string) string { return strings.TrimSpace(strings.ReplaceAll(words, "\r\n", "\n")) }

// NextDraft returns the draft that a steer makes of another one. plan is A, B, C, or "" for none.
func NextDraft(draft, feedback, plan string) string {
	next := strings.TrimRightFunc(draft, unicode.IsSpace) + "\n\n[Steer] " + Feedback(feedback) + "\n"
	if plan != "" {
		next += "[Plan] " + plan + "\n"
	}
	return next
}

var planWord = lazyregexp.New(`(?i)^(?:plan[ _-]?)?([abc])$`)

// Plan returns the letter that a word such as plan_b names.
func Plan(word string) (letter string, ok bool) {
	m := planWord.FindStringSubmatch(word)
	if m == nil {
		return "", false
	}
	return strings.ToUpper(m[1]), true
}

// Canonical returns a JSON value with sorted names and without blanks. It keeps numbers as they are
// written.
func Canonical(raw schemas.Raw) ([]byte, error) {
	var value any
	if err := schemas.DecodeValue(raw, &value); err != nil {
		return nil, err
	}
	line, err := schemas.Line(value)
	return bytes.TrimSuffix(line, []byte("\n")), err
}
