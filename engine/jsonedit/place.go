package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"placet/schemas"
)

// place is where an edit is made: the containers from the document down to the
// one that holds the last token of the pointer, and that token.
type place struct {
	body  []byte
	chain []container
	token string
	index int // of the token's member in the innermost container, -1 if absent
}

// find returns the place that a pointer names. It fails if a container on the
// way is missing.
func find(body []byte, pointer string) (place, error) {
	tokens := slices.Collect(jsontext.Pointer(pointer).Tokens())
	p := place{body: body}
	at := space(body, 0)
	for i, token := range tokens {
		if !isContainer(body, at) {
			return place{}, fmt.Errorf("%q is neither object nor array", join(tokens[:i]))
		}
		c := scan(body, at)
		p.chain, p.token, p.index = append(p.chain, c), token, c.index(body, token)
		if p.found() {
			at = c.members[p.index].value.from
		} else if i < len(tokens)-1 {
			return place{}, fmt.Errorf("there is no %q", join(tokens[:i+1]))
		}
	}
	return p, nil
}

func join(tokens []string) string {
	var p jsontext.Pointer
	for _, t := range tokens {
		p = p.AppendToken(t)
	}
	return string(p)
}

// index returns which member a token names, -1 if none.
func (c container) index(body []byte, token string) int {
	if !c.isObject(body) {
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(c.members) || strconv.Itoa(i) != token {
			return -1
		}
		return i
	}
	return slices.IndexFunc(c.members, func(m member) bool { return named(m.name.of(body), token) })
}

// named reports whether a quoted name is that of token.
func named(quoted []byte, token string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == token
	}
	name, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(name) == token
}

func (p place) found() bool { return p.index >= 0 }

// holder is the innermost container.
func (p place) holder() container { return p.chain[len(p.chain)-1] }

func (p place) member() member { return p.holder().members[p.index] }

// set replaces the member's value, or adds the member.
func (p place) set(value any) ([]byte, error) {
	text, err := encode(value)
	if err != nil {
		return nil, err
	}
	if !p.found() {
		if !p.holder().isObject(p.body) {
			return nil, fmt.Errorf("there is no element %s: append adds one", p.token)
		}
		return p.grow(p.token, text)
	}
	m := p.member()
	if bytes.Equal(compact(m.value.of(p.body)), text) {
		return p.body, nil
	}
	if !isContainer(text, 0) {
		return splice(p.body, m.value, text), nil
	}
	s := layoutOf(p.body, p.chain).forValue(m.value)
	s.indent = lineIndent(p.body, m.start())
	return splice(p.body, m.value, s.render(nil, text)), nil
}

// append adds an element to the array that the place names.
func (p place) append(value any) ([]byte, error) {
	text, err := encode(value)
	if err != nil {
		return nil, err
	}
	if !p.found() {
		return nil, errors.New("there is no such array")
	}
	at := p.member().value.from
	if p.body[at] != '[' {
		return nil, errors.New("it is not an array")
	}
	p.chain = append(slices.Clip(p.chain), scan(p.body, at))
	return p.grow("", text)
}

// grow adds a member or element at the end of the innermost container.
func (p place) grow(name string, text []byte) ([]byte, error) {
	c := p.holder()
	s := layoutOf(p.body, p.chain)
	var out []byte
	if len(c.members) == 0 {
		out = s.first(out, name, c.isObject(p.body), text)
		return splice(p.body, span{c.open + 1, c.close}, out), nil
	}
	last := c.last()
	out = s.next(out, name, c.isObject(p.body), text, last.value)
	return splice(p.body, span{last.value.to, last.value.to}, out), nil
}

// remove takes the member away with one comma and the white space beside it.
func (p place) remove() []byte {
	return splice(p.body, p.holder().withComma(p.body, p.index), nil)
}

// withComma returns the bytes that go when a member goes: the last one takes
// the comma before it, any other the comma behind it, unless it ends a line
// that it does not begin.
func (c container) withComma(body []byte, i int) span {
	m := c.members[i]
	if len(c.members) == 1 {
		return span{c.open + 1, c.close}
	}
	if i == len(c.members)-1 {
		return span{c.members[i-1].value.to, m.value.to}
	}
	next := c.members[i+1].start()
	if i > 0 && breaks(body[m.value.to:next]) && !breaks(body[c.members[i-1].value.to:m.start()]) {
		return span{c.members[i-1].value.to, m.value.to}
	}
	return span{m.start(), next}
}

// breaks reports whether white space holds a line break.
func breaks(gap []byte) bool { return bytes.IndexByte(gap, '\n') >= 0 }

// encode returns a value as JSON without white space.
func encode(value any) ([]byte, error) {
	if raw, ok := value.([]byte); ok {
		value = schemas.Raw(raw)
	}
	text, err := schemas.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("cannot write the value: %w", err)
	}
	return compact(text), nil
}
