package jsonedit

import "bytes"

// The functions of this file read JSON that is known to be valid: they look
// for the places of things and judge nothing.

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
	i = space(body, i+1)
	for body[i] != '}' && body[i] != ']' {
		var m member
		m.name = span{i, i}
		if c.isObject(body) {
			m.name.to = stringEnd(body, i)
			i = space(body, space(body, m.name.to)+1)
		}
		m.value = span{i, valueEnd(body, i)}
		c.members = append(c.members, m)
		i = space(body, m.value.to)
		if body[i] == ',' {
			i = space(body, i+1)
		}
	}
	c.close = i
	return c
}

// space returns the first place from i on that is not white space.
func space(body []byte, i int) int {
	for i < len(body) && (body[i] == ' ' || body[i] == '\n' || body[i] == '\r' || body[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the place behind the string that begins at i.
func stringEnd(body []byte, i int) int {
	for {
		i += 1 + bytes.IndexByte(body[i+1:], '"')
		if !escaped(body, i) {
			return i + 1
		}
	}
}

// escaped reports whether an odd number of backslashes stands before i.
func escaped(body []byte, i int) bool {
	n := 0
	for body[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// valueEnd returns the place behind the value that begins at i.
func valueEnd(body []byte, i int) int {
	switch body[i] {
	case '"':
		return stringEnd(body, i)
	case '{', '[':
		return containerEnd(body, i)
	}
	for i < len(body) && !delimits(body[i]) {
		i++
	}
	return i
}

func containerEnd(body []byte, i int) int {
	for depth := 0; ; i++ {
		switch body[i] {
		case '"':
			i = stringEnd(body, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// delimits reports whether a byte ends a number, true, false or null.
func delimits(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// compact returns JSON without white space between its tokens.
func compact(value []byte) []byte {
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		switch value[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := stringEnd(value, i)
			out = append(out, value[i:end]...)
			i = end
		default:
			out = append(out, value[i])
			i++
		}
	}
	return out
}
