package ask

import (
	"time"

	"placet/schemas"
)

// ReadAsk reads ask.json, with what was left out filled in, as it would be registered at
// a moment. The error says why it cannot be asked.
func ReadAsk(id, lang string, body []byte, now time.Time) (a Ask, err error) {
	if err = schemas.Decode("ask/ask", "ask.json", body, &a); err == nil {
		err = a.fill(id, lang, now, now)
	}
	return a, err
}

// ReadState reads state.json.
func ReadState(path string, body []byte) (State, error) { return decodeState(path, body) }

// RequestID returns the id of the one request of an ask.
func RequestID(ask string) string { return requestID(ask) }

// IsFinal reports whether the ask has ended.
func (st State) IsFinal() bool { return isFinal(st.Status) }

// AnswerFile returns the content of answer.json.
func (st State) AnswerFile() schemas.Object { return st.answer() }
