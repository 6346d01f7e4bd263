package nemawashi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"placet/schemas"
	"placet/templates"
)

// longestDraft is how many bytes the draft of a creator may have.
const longestDraft = 256 << 10

// problem is the error that says why something cannot be used.
type problem string

func (p problem) Error() string { return string(p) }

func refuse(format string, args ...any) error { return problem(fmt.Sprintf(format, args...)) }

// CheckDraft says what is wrong with the draft of a creator.
func CheckDraft(body []byte) error {
	switch {
	case len(body) > longestDraft:
		return refuse("the draft has %d bytes: it may have %d", len(body), longestDraft)
	case !utf8.Valid(body):
		return refuse("the draft is not UTF-8")
	case templates.Blank(string(body)):
		return refuse("the draft is blank")
	}
	return checkText("the draft", string(body))
}

// LiftPayload takes the payload off a draft: the last line that is not blank, where it
// begins with "{", must be one JSON object. body is the text without that line.
func LiftPayload(draft string) (payload schemas.Raw, body string, err error) {
	text := strings.TrimRight(strings.ReplaceAll(draft, "\r\n", "\n"), " \t\n")
	before, last := "", text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		before, last = text[:i], text[i+1:]
	}
	last = strings.TrimSpace(last)
	if !strings.HasPrefix(last, "{") {
		return schemas.Raw("{}"), draft, nil
	}
	var into schemas.Object
	if err := schemas.Decode("", "the last line of the draft", []byte(last), &into); err != nil {
		return nil, "", refuse("the last line begins with { and is no JSON object: %s", strings.TrimPrefix(err.Error(), "the last line of the draft: "))
	}
	return schemas.Raw(last), strings.TrimRight(before, " \t\n") + "\n", nil
}

// NextDraft is the draft that a steer makes out of one.
func NextDraft(draft, feedback, plan string) string {
	feedback = strings.TrimSpace(strings.ReplaceAll(feedback, "\r\n", "\n"))
	next := strings.TrimRight(draft, " \t\r\n") + "\n\n[Steer] " + feedback + "\n"
	if plan != "" {
		next += "[Plan] " + plan + "\n"
	}
	return next
}

var planWord = regexp.MustCompile(`(?i)^(plan[ _-]?)?([abc])$`)

// Plan is the letter that a word such as plan_b names.
func Plan(word string) (letter string, ok bool) {
	m := planWord.FindStringSubmatch(strings.TrimSpace(word))
	if m == nil {
		return "", false
	}
	return strings.ToUpper(m[2]), true
}

// Canonical is a JSON value with sorted keys, without blanks, its numbers as written.
func Canonical(raw schemas.Raw) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
