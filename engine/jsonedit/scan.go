package jsonedit

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file read JSON that is known to be valid, so that no reading
// can fail: they look for the places of things and judge nothing.

// newDecoder reads the JSON that begins with body and may go on with anything.
func newDecoder(body []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
}

// span is a range of bytes.
type span struct{ from, to int }

func (s span) of(body []byte) []byte { return body[s.from:s.to] }

// member is a member of an object or an element of an array. The name of an
// element is an empty span before its value.
type member struct{ name, value span }

// start is where the member begins.
func (m member) start() int { return m.name.from }

// container is an object or array; open and close are the places of its
// brackets.
type container struct {
	open, close int
	members     []member
}

// isObject reports whether the container is an object.
func (c container) isObject(body []byte) bool { return body[c.open] == '{' }

func (c container) last() member { return c.members[len(c.members)-1] }

// isContainer reports whether the value that begins at i is an object or array.
func isContainer(body []byte, i int) bool { return body[i] == '{' || body[i] == '[' }

// scan finds the members of the object or array that begins at i.
func scan(body []byte, i int) container {
	c := container{open: i, members: make([]member, 0, 8)}
	dec := newDecoder(body[i:])
	read := func() span {
		value, _ := dec.ReadValue()
		to := i + int(dec.InputOffset())
		return span{to - len(value), to}
	}
	_, _ = dec.ReadToken()
	for kind := dec.PeekKind(); kind != '}' && kind != ']'; kind = dec.PeekKind() {
		var m member
		if c.isObject(body) {
			m.name = read()
		}
		if m.value = read(); !c.isObject(body) {
			m.name = span{m.value.from, m.value.from}
		}
		c.members = append(c.members, m)
	}
	_, _ = dec.ReadToken()
	c.close = i + int(dec.InputOffset()) - 1
	return c
}

// space returns the first place from i on that is not white space.
func space(body []byte, i int) int {
	for i < len(body) && (body[i] == ' ' || body[i] == '\n' || body[i] == '\r' || body[i] == '\t') {
		i++
	}
	return i
}

// compact returns JSON without white space between its tokens.
func compact(value []byte) []byte {
	out := jsontext.Value(bytes.Clone(value))
	_ = out.Compact(jsontext.AllowDuplicateNames(true))
	return out
}
