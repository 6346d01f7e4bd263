package faber

import (
	"cmp"
	"slices"
	"strings"

	"placet/schemas"
)

// longestError limits how much of a recorded error is shown, in characters.
const longestError = 500

// recordedError is an error that a run records.
type recordedError struct {
	at, where, kind, text string
	resolved              bool
}

// readError reads an entry of errors; a text alone is an error without a place.
func readError(value schemas.Raw) (e recordedError) {
	var m map[string]schemas.Raw
	if value.Kind() != '{' || schemas.DecodeValue(value, &m) != nil {
		return recordedError{text: word(value)}
	}
	e.at, e.kind, e.text = word(m["timestamp"]), word(m["type"]), cmp.Or(word(m["error"]), word(m["message"]))
	if e.where = word(m["phase"]); word(m["step"]) != "" {
		e.where = where(e.where, word(m["step"]))
	}
	resolved := m["resolved"]
	e.resolved = !resolved.Null() && string(resolved) != "false"
	return e
}

// recordedErrors returns the entries of errors that say something, oldest first.
func (st State) recordedErrors() (all []recordedError) {
	values := slices.Clone(elements(st.Errors))
	for _, value := range members(st.Errors) {
		values = append(values, value)
	}
	for _, value := range values {
		if e := readError(value); e.text != "" {
			all = append(all, e)
		}
	}
	return all
}

// phaseError returns the error that a phase records, "" if none does. The last phase decides.
func (st State) phaseError() (text string) {
	note := func(phase schemas.Raw) {
		var p struct {
			Error schemas.Raw `json:"error"`
		}
		if phase.Kind() == '{' && schemas.DecodeValue(phase, &p) == nil && !p.Error.Null() {
			text = cmp.Or(readError(p.Error).text, text)
		}
	}
	for _, phase := range elements(st.Phases) {
		note(phase)
	}
	for _, phase := range members(st.Phases) {
		note(phase)
	}
	return text
}

// lastError returns the error of the newest event that has one, "" if none has.
func (l *eventLog) lastError() string {
	for _, e := range slices.Backward(l.all) {
		if strings.HasSuffix(e.Type, "_error") {
			return cmp.Or(readError(e.Error).text, e.Message)
		}
	}
	return ""
}

// failure returns the error for which the run failed, on one line: the newest unresolved entry of
// errors, else what a phase records, else the newest event of an error.
func (r *view) failure() string {
	text := ""
	for _, e := range r.state.recordedErrors() {
		if !e.resolved {
			text = e.text
		}
	}
	text = cmp.Or(text, r.state.phaseError(), r.events.lastError())
	return cmp.Or(oneLine(text, longestError), r.Say("faber.failed.unrecorded"))
}
