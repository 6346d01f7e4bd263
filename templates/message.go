package templates

import (
	"errors"
	"fmt"
	"strings"
)

// one ends the key of the sentence about one thing, next to the key of the sentence about
// several.
const one = ".one"

// Key names a sentence of words.json. A sentence contains its values as {name}.
type Key string

// Message is a sentence before its language is known: its key, and its values as pairs of
// name and value. If the value of {n} is 1, the sentence is that of key+".one", in a language
// that has one.
type Message struct {
	Key   Key
	Pairs []any
}

// NewMessage returns the message of a key with pairs of name and value.
func NewMessage(key Key, pairs ...any) Message { return Message{key, pairs} }

// Untranslated returns a message with a text that is the same in every language; "" gives the
// zero message.
func Untranslated(text string) Message {
	if text == "" {
		return Message{}
	}
	return Message{"say.text", []any{"text", text}}
}

// None reports whether m is the zero message, which says nothing.
func (m Message) None() bool { return m.Key == "" }

// In returns the message in a language.
func (m Message) In(lang string) string { return Phrase(lang, string(m.Key), m.Pairs...) }

// String returns the message in English.
func (m Message) String() string { return m.In(English) }

// Says reports whether a text is the message in any language.
func (m Message) Says(text string) bool {
	for lang := range spoken {
		if m.In(lang) == text {
			return true
		}
	}
	return false
}

// Error is an error in the language of its reader. Its method Error, which logs use, returns
// English.
type Error struct{ Message }

// Errorf returns an error of a key with pairs of name and value. It wraps the values that
// are errors.
func Errorf(key Key, pairs ...any) error { return &Error{Message{key, pairs}} }

// Error implements error.
func (e *Error) Error() string { return e.In(English) }

// Unwrap returns the error among the values, several of them joined.
func (e *Error) Unwrap() error {
	var inner []error
	for i := 1; i < len(e.Pairs); i += 2 {
		if err, ok := e.Pairs[i].(error); ok {
			inner = append(inner, err)
		}
	}
	if len(inner) == 1 {
		return inner[0]
	}
	return errors.Join(inner...)
}

// speaker is a value that words itself in each language.
type speaker interface{ In(lang string) string }

// In returns a value in a language: a message, or an error made of messages, in its words,
// any other value in the form of fmt.Sprint, and nil as "". It puts the errors joined by
// [errors.Join] on lines of their own. Values that are not messages can come from anywhere
// and are [Clean], so that nothing is hidden in a sentence.
func In(lang string, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return Clean(v)
	case speaker:
		return v.In(lang)
	case interface{ Unwrap() []error }:
		var lines []string
		for _, err := range v.Unwrap() {
			lines = append(lines, In(lang, err))
		}
		if joined := fmt.Sprint(v); joined != errors.Join(v.Unwrap()...).Error() {
			return Clean(joined)
		}
		return strings.Join(lines, "\n")
	}
	return Clean(fmt.Sprint(v))
}

// Phrase is [Text] with its {names} replaced by values, which are given as pairs of name and
// value and appear in the same language. A value is never searched for names.
func Phrase(lang, key string, pairs ...any) string {
	sentence := Text(lang, key)
	var named []string
	for i := 0; i+1 < len(pairs); i += 2 {
		name := fmt.Sprint(pairs[i])
		if single, ok := in(lang).words()[key+one]; ok && name == "n" && pairs[i+1] == 1 {
			sentence = single
		}
		named = append(named, "{"+name+"}", In(lang, pairs[i+1]))
	}
	return strings.NewReplacer(named...).Replace(sentence)
}

// List joins names with commas, and puts a word before the last one: the key is list.or or
// list.and.
func List(lang string, key Key, names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	end := len(names) - 1
	return Phrase(lang, string(key), "all", strings.Join(names[:end], ", "), "last", names[end])
}
