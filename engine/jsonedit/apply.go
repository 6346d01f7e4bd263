package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"placet/schemas"
	"placet/templates"
)

// Op is the kind of an edit.
type Op int

// These are the kinds of edits.
const (
	// Set replaces the value of a member or element, or adds a member at the
	// end of its object. The object must exist.
	Set Op = iota
	// Remove removes a member or element. It does nothing if that does not
	// exist.
	Remove
	// Append adds an element at the end of an array. If the array does not exist,
	// or is null, Append creates it as a new member of its object.
	Append
)

func (o Op) String() string {
	switch o {
	case Set:
		return "set"
	case Remove:
		return "remove"
	case Append:
		return "append to"
	}
	return fmt.Sprintf("Op(%d)", int(o))
}

// Edit is one change to a document.
type Edit struct {
	// Pointer is a JSON pointer (RFC 6901) to the member or element that is set
	// or removed, or to the array that grows.
	Pointer string
	Op      Op
	// Value is the new value: nil, bool, string, int, int64, json.Number,
	// []any, schemas.Object, or raw JSON as schemas.Raw or []byte. Raw JSON
	// keeps its spelling, but takes the file's layout.
	Value any
}

// Apply returns body with the edits made one after the other. It fails, and
// changes nothing, if body is not strict JSON (see schemas), if the place of an
// edit does not exist, or if the result would not be strict JSON. Body is never
// modified.
func Apply(body []byte, edits ...Edit) ([]byte, error) {
	if err := schemas.Decode("", "", body, nil); err != nil {
		return nil, templates.Errorf("edit.document", "error", err)
	}
	if len(edits) == 0 {
		return body, nil
	}
	body = append(make([]byte, 0, len(body)+len(body)/4+512), body...)
	for _, e := range edits {
		edited, err := e.apply(body)
		if err != nil {
			return nil, fmt.Errorf("cannot %s %q: %w", e.Op, e.Pointer, err)
		}
		body = edited
	}
	if err := schemas.Decode("", "", body, nil); err != nil {
		return nil, templates.Errorf("edit.wrong", "error", err)
	}
	return body, nil
}

// apply makes one edit to strict JSON. It may change body.
func (e Edit) apply(body []byte) ([]byte, error) {
	if e.Pointer == "" || !jsontext.Pointer(e.Pointer).IsValid() || !utf8.ValidString(e.Pointer) {
		return nil, errors.New("a JSON pointer to a member is needed")
	}
	p, err := find(body, e.Pointer)
	switch e.Op {
	case Remove:
		if err != nil || !p.found() {
			return body, nil
		}
		return p.remove(), nil
	case Set:
		if err != nil {
			return nil, err
		}
		return p.set(e.Value)
	case Append:
		if err != nil {
			return nil, err
		}
		return p.append(e.Value)
	}
	return nil, errors.New("there is no such edit")
}

// splice replaces the bytes of s by text. It changes body, which must be
// Apply's own; text must not be a part of body.
func splice(body []byte, s span, text []byte) []byte {
	return slices.Replace(body, s.from, s.to, text...)
}

// place is the place of an edit: the containers from the document down to the
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
			return place{}, templates.Errorf("edit.scalar", "name", strconv.Quote(join(tokens[:i])))
		}
		c := scan(body, at)
		p.chain, p.token, p.index = append(p.chain, c), token, c.index(body, token)
		if p.found() {
			at = c.members[p.index].value.from
		} else if i < len(tokens)-1 {
			return place{}, templates.Errorf("edit.missing", "name", strconv.Quote(join(tokens[:i+1])))
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

// index returns the number of the member that a token names, or -1 if there is
// none.
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

// named reports whether a quoted name equals token.
func named(quoted []byte, token string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == token
	}
	name, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(name) == token
}

func (p place) found() bool { return p.index >= 0 }

// holder returns the innermost container.
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
			return nil, templates.Errorf("edit.element", "name", p.token)
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
	if !p.found() || string(p.member().value.of(p.body)) == "null" {
		return p.set(schemas.Raw(fmt.Sprintf("[%s]", text)))
	}
	at := p.member().value.from
	if p.body[at] != '[' {
		return nil, templates.Errorf("edit.array")
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

// remove removes the member with one comma and the white space beside it.
func (p place) remove() []byte {
	return splice(p.body, p.holder().withComma(p.body, p.index), nil)
}

// withComma returns the bytes to remove with a member: for the last member the
// comma before it, for any other the comma after it, unless the member ends a
// line that it does not begin.
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
		return nil, templates.Errorf("edit.value", "error", err)
	}
	return compact(text), nil
}

// The functions below read JSON that is known to be valid, so that they cannot fail:
// they find positions and check nothing.

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
