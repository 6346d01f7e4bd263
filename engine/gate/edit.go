package gate

import (
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// A reviewer may change the text of an editable file and approve the result. The text is part
// of the answer, so that the answer is to that text and no other: it is between two marks of
// a form, or in the member edits of a response.json.

// Edit is a reviewer's version of an editable file.
type Edit struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// SHA256 returns the digest of the text, 64 hex digits.
func (e Edit) SHA256() string { return engine.Sum([]byte(e.Text)).Hex() }

// CheckEditable returns why a text cannot be offered for editing, or nil. A form must be able
// to show the text unchanged.
func CheckEditable(text string) error {
	switch {
	case len(text) > carriedText:
		return templates.Errorf("gate.edit.large", "n", len(text), "most", carriedText)
	case !isText(text), templates.Clean(text) != text:
		return templates.Errorf("gate.edit.text")
	case schemas.Conflict([]byte(text)) >= 0:
		return templates.Errorf("gate.edit.conflict")
	case templates.Blank(text):
		return templates.Errorf("gate.edit.empty")
	}
	return nil
}

// Editable returns the files of the request that a reviewer may change, with the texts that
// are shown.
func (r Request) Editable() (list []engine.EditableFile) {
	for i, a := range r.Artifacts {
		if text, ok := a.Carried(); ok && a.Editable {
			list = append(list, engine.EditableFile{N: i + 1, Path: a.Path, Text: text})
		}
	}
	return list
}

// checkEdits refuses an answer that changes a text which is not editable, and puts its edits
// into the request's order. It drops edits that are equal to the shown text.
func (a Evaluation) checkEdits(answer *Answer) string {
	given, size := map[string]Edit{}, 0
	for _, e := range answer.Edits {
		known := slices.ContainsFunc(a.Request.Editable(), func(f engine.EditableFile) bool { return f.Path == e.Path })
		if _, twice := given[e.Path]; twice || !known {
			return a.say("edit.unknown", "file", code(answer.Path), "artifact", code(e.Path))
		}
		given[e.Path] = e
	}
	answer.Edits = nil
	for _, f := range a.Request.Editable() {
		e, ok := given[f.Path]
		if !ok || e.Text == f.Text {
			continue
		}
		err := CheckEditable(e.Text)
		if size += len(e.Text); err == nil && size > carriedAll {
			err = templates.Errorf("gate.edit.all", "most", carriedAll)
		}
		switch {
		case err == nil:
			answer.Edits = append(answer.Edits, e)
		case Approves(answer.Response): // for other options nobody uses the text
			return a.say("edit.bad", "file", code(answer.Path), "artifact", code(e.Path), "problem", err)
		}
	}
	return ""
}

// The marks that enclose an editable text in a form.
const (
	partText = "text"
	partEnd  = "end"
)

// editMarks returns the marks of the n-th artifact of a request.
func editMarks(n int, digest engine.Digest, lang string) (begin, end string) {
	number := strconv.Itoa(n)
	return mark(partText+" "+number, digest, templates.Text(lang, "form.edit.mark")), mark(partEnd+" "+number, digest, "")
}

// takeEdits moves the reviewer's versions of texts out of the form, and puts the shown texts
// back, because the rest of the form is compared with what was written.
func (f *filledForm) takeEdits(r Request) *schemas.Error {
	if _, sent := lastItem(f.lines); !sent {
		return nil
	}
	for _, file := range r.Editable() {
		number := strconv.Itoa(file.N)
		begin := slices.IndexFunc(f.lines, func(line string) bool { return marks(line, partText+" "+number, f.Digest) })
		if begin < 0 {
			continue // the text was too long to be shown completely, or the form is void
		}
		end := begin + slices.IndexFunc(f.lines[begin:], func(line string) bool { return marks(line, partEnd+" "+number, f.Digest) })
		if end < begin {
			return f.lost(partEnd, mark(partEnd+" "+number, f.Digest, ""), "placet", partEnd)
		}
		written := strings.Split(templates.Fence(file.Text), "\n")
		have := strings.Split(trimBlank(strings.Join(f.lines[begin+1:end], "\n")), "\n")
		fence := asIs(written[0])
		switch {
		case len(have) < 2 || !sameLine(have[0], written[0]):
			return flaw(begin+2, templates.NewMessage("gate.form.lost.text"), fence)
		case !sameLine(have[len(have)-1], written[len(written)-1]):
			return flaw(end, templates.NewMessage("gate.form.lost.text"), fence)
		}
		if !slices.EqualFunc(have, written, sameLine) {
			text := strings.Join(have[1:len(have)-1], "\n")
			text += file.Text[len(strings.TrimRight(file.Text, "\n")):] // the form does not show blank lines at the end
			f.Edits = append(f.Edits, Edit{file.Path, text})
		}
		shown := slices.Concat([]string{""}, written, []string{""})
		f.moved = append(f.moved, movedLines{begin + 1 + len(shown), end - begin - 1 - len(shown)})
		f.lines = slices.Concat(f.lines[:begin+1], shown, f.lines[end:])
	}
	return nil
}

// movedLines says that the lines after the line behind were by lines further down in the form
// before a text was put back.
type movedLines struct{ behind, by int }

// numbered returns the number that a line had in the form as read.
func (f *filledForm) numbered(line int) int {
	for _, m := range slices.Backward(f.moved) {
		if line > m.behind {
			line += m.by
		}
	}
	return line
}
