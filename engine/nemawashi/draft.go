package nemawashi

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"placet/schemas"
	"placet/templates"
)

// longestDraft is how many bytes a creator's draft may have.
const longestDraft = 256 << 10

// refuse returns the error that says why something cannot be used.
func refuse(key templates.Key, pairs ...any) error {
	return templates.Errorf("nemawashi."+key, pairs...)
}

// Pointer is the JSON pointer with which what [CheckAction] or [CheckCommand] says of a
// document begins, "" for none.
func Pointer(err error) string {
	place, _, _ := strings.Cut(err.Error(), " ")
	if !strings.HasPrefix(place, "/") {
		return ""
	}
	return strings.TrimSuffix(place, ":")
}

// CheckDraft says what is wrong with a creator's draft.
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

// LiftPayload returns the payload of a first draft, {} where it has none, and the text before
// it. The payload is the last line that is not blank, if that line begins with a brace: then
// it must be one JSON object.
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
		// As a message: the file itself is whole.
		err = refuse("draft.line", "error", templates.NewMessage("say.text", "text", e))
	}
	if err != nil {
		return nil, "", err
	}
	return schemas.Raw(strings.TrimSpace(line)), draft[:start], nil
}

// Feedback is what a steer says, as drafts and states keep it.
func Feedback(words string) string { return strings.TrimSpace(strings.ReplaceAll(words, "\r\n", "\n")) }

// NextDraft is the draft that a steer makes of another. plan is A, B, C, or "" for none.
func NextDraft(draft, feedback, plan string) string {
	next := strings.TrimRightFunc(draft, unicode.IsSpace) + "\n\n[Steer] " + Feedback(feedback) + "\n"
	if plan != "" {
		next += "[Plan] " + plan + "\n"
	}
	return next
}

var planWord = regexp.MustCompile(`(?i)^(?:plan[ _-]?)?([abc])$`)

// Plan is the letter that a word such as plan_b names.
func Plan(word string) (letter string, ok bool) {
	m := planWord.FindStringSubmatch(word)
	if m == nil {
		return "", false
	}
	return strings.ToUpper(m[1]), true
}

// Canonical is a JSON value with sorted names and without blanks. Its numbers are as written.
func Canonical(raw schemas.Raw) ([]byte, error) {
	var value any
	if err := schemas.DecodeValue(raw, &value); err != nil {
		return nil, err
	}
	line, err := schemas.Line(value)
	return bytes.TrimSuffix(line, []byte("\n")), err
}
