package schemas

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"placet/templates"
)

// maxDepth is how deeply a document may be nested; its own object is level 1.
const maxDepth = 64

// oneObject describes what every document must be.
var oneObject = say("schema.one.object")

// Limits on the memory for one document.
const (
	// maxNames is the largest number of members of one object.
	maxNames = 100_000
	// maxValues is the largest number of values that a schema checks. A
	// longer document may have one such value for each bytesPerValue bytes,
	// so that the memory is in proportion to its size.
	maxValues     = 100_000
	bytesPerValue = 16
)

// parse reads body strictly. It returns the parts of the shape as a tree of
// map[string]any, []any, string, json.Number, bool and nil; a value of the
// nil shape appears only by its kind.
func parse(body []byte, s *shape) (map[string]any, *Error) {
	if problem := unreadable(body); problem != nil {
		return nil, problem
	}
	r := reader{body: body, dec: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))}
	tree, err := r.document(s)
	if err == nil {
		return tree, nil
	}
	var problem *Error
	if errors.As(err, &problem) {
		return nil, problem
	}
	return nil, syntax(body, err)
}

// reader turns the tokens of one document into a tree.
type reader struct {
	body   []byte
	dec    *jsontext.Decoder
	depth  int
	values int      // in the tree
	names  [][]byte // names in all open objects, innermost last
	after  []int    // for each of those names, where in body the token before it ends
}

func (r *reader) document(s *shape) (map[string]any, error) {
	kind := r.dec.PeekKind()
	if word, ok := kindWords[byte(kind)]; ok && kind != '{' {
		return nil, r.fail(&Error{Problem: say("schema.document", "what", word), Expected: oneObject})
	}
	tree, err := r.value(s)
	if err != nil {
		return nil, err
	}
	if end := int(r.dec.InputOffset()); blanks(r.body[end:]) < len(r.body)-end {
		return nil, surplus(r.body, end)
	}
	return tree.(map[string]any), nil
}

func (r *reader) value(s *shape) (any, error) {
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return r.object(s)
	case '[':
		return r.array(s)
	case '"':
		if s == nil {
			return "", nil
		}
		return token.String(), nil
	case '0':
		return r.number(token.String())
	case 'n':
		return nil, nil
	default:
		return token.Kind() == 't', nil
	}
}

// someObject and someArray represent values of which only the kind is known.
var (
	someObject = map[string]any{}
	someArray  = []any{}
)

func (r *reader) object(s *shape) (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	first, members := len(r.names), someObject
	if s != nil {
		members = map[string]any{}
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.name(first)
		if err != nil {
			return nil, err
		}
		within, looked := s.member(name)
		value, err := r.value(within)
		if err != nil {
			return nil, err
		}
		if looked {
			members[string(name)] = value
			if err := r.count(); err != nil {
				return nil, err
			}
		}
	}
	if i, earlier := clash(r.names[first:]); i >= 0 {
		return nil, r.doubled(first+i, earlier)
	}
	r.names, r.after = r.names[:first], r.after[:first]
	return members, r.leave()
}

// name reads a member's name. The name shares body's memory if possible.
func (r *reader) name(first int) ([]byte, error) {
	before := int(r.dec.InputOffset())
	quoted, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		if name, err = jsontext.AppendUnquote(nil, quoted); err != nil {
			return nil, err
		}
	}
	r.names, r.after = append(r.names, name), append(r.after, before)
	if len(r.names)-first > maxNames {
		return nil, r.fail(&Error{Pointer: string(r.dec.StackPointer().Parent()), Problem: say("schema.names"), Expected: say("schema.most", "n", maxNames)})
	}
	return name, nil
}

func (r *reader) array(s *shape) (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	elements := someArray
	within, looked := s.element()
	for r.dec.PeekKind() != ']' {
		element, err := r.value(within)
		if err != nil {
			return nil, err
		}
		if looked {
			elements = append(elements, element)
			if err := r.count(); err != nil {
				return nil, err
			}
		}
	}
	return elements, r.leave()
}

// count counts a value of the tree.
func (r *reader) count() error {
	most := max(maxValues, len(r.body)/bytesPerValue)
	if r.values++; r.values <= most {
		return nil
	}
	return r.fail(&Error{Pointer: string(r.dec.StackPointer()), Problem: say("schema.values"), Expected: say("schema.most", "n", most)})
}

// leave closes a level.
func (r *reader) leave() error {
	r.depth--
	_, err := r.dec.ReadToken()
	return err
}

// enter opens one more level.
func (r *reader) enter() error {
	r.depth++
	if r.depth <= maxDepth {
		return nil
	}
	e := &Error{Problem: say("schema.deep"), Expected: say("schema.most.levels", "n", maxDepth)}
	return e.at(r.body, int(r.dec.InputOffset())-1)
}

// doubled returns the error for a name that repeats an earlier one of its
// object.
func (r *reader) doubled(i int, earlier []byte) error {
	e := &Error{Pointer: string(r.dec.StackPointer().Parent()), Problem: clashWords(r.names[i], earlier), Expected: say("schema.once")}
	return e.at(r.body, r.after[i]+bytes.IndexByte(r.body[r.after[i]:], '"'))
}

// clashWords words that a name repeats an earlier one.
func clashWords(name, earlier []byte) templates.Message {
	if bytes.Equal(name, earlier) {
		return say("schema.doubled", "name", quoted(string(name)))
	}
	return say("schema.doubled.case", "earlier", quoted(string(earlier)), "name", quoted(string(name)))
}

// fail places an error at the next token and returns it.
func (r *reader) fail(e *Error) error {
	offset := int(r.dec.InputOffset())
	return e.at(r.body, offset+blanks(r.body[offset:]))
}

// number refuses numbers that later arithmetic could not handle.
func (r *reader) number(text string) (any, error) {
	if !reasonable(text) {
		e := &Error{Pointer: string(r.dec.StackPointer()), Problem: say("schema.range", "number", shown(text)), Expected: say("schema.range.wanted")}
		return nil, e.at(r.body, int(r.dec.InputOffset())-len(text))
	}
	return stdjson.Number(text), nil
}

// maxDigits is the longest text of a number, maxExponent its largest exponent
// either way.
const (
	maxDigits   = 1000
	maxExponent = 400
)

// reasonable reports whether a number can be compared and rounded at a
// bounded cost: it has at most maxDigits characters, a small exponent, and a
// finite float64 near it.
func reasonable(text string) bool {
	e := strings.IndexAny(text, "eE")
	if e < 0 && len(text) <= 300 {
		return true
	}
	if len(text) > maxDigits {
		return false
	}
	if e >= 0 {
		if exponent, err := strconv.Atoi(text[e+1:]); err != nil || exponent < -maxExponent || exponent > maxExponent {
			return false
		}
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// kindWords names the kinds of JSON values.
var kindWords = map[byte]templates.Message{
	'{': say("schema.kind.object"), '[': say("schema.kind.array"), '"': say("schema.kind.text"), '0': say("schema.kind.number"),
	't': text("true"), 'f': text("false"), 'n': text("null"),
}

// blanks returns the number of white-space bytes at the start of b.
func blanks(b []byte) int {
	return len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
}

// unreadable says what is wrong with body before its first token, nil if
// nothing is.
func unreadable(body []byte) *Error {
	blank := blanks(body)
	switch {
	case len(body) == 0:
		return &Error{Problem: say("schema.empty"), Expected: oneObject, Torn: true}
	case blank == len(body):
		return &Error{Problem: say("schema.blank"), Expected: oneObject, Torn: true}
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		e := &Error{Problem: say("schema.bom"), Expected: say("schema.bom.wanted")}
		return e.at(body, 0)
	case isUTF16(body):
		e := &Error{Problem: say("schema.utf16"), Expected: text("UTF-8"), Torn: true}
		return e.at(body, 0)
	}
	return nil
}

// isUTF16 reports whether body looks like UTF-16 in either byte order.
func isUTF16(body []byte) bool {
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		return true
	}
	return len(body) >= 4 && (body[0] == 0 && body[1] != 0 && body[2] == 0 && body[3] != 0 ||
		body[0] != 0 && body[1] == 0 && body[2] != 0 && body[3] == 0)
}

// syntax explains why jsontext stopped. Every syntax error may come from a
// half-finished write, so all of them are torn.
func syntax(body []byte, err error) *Error {
	e := &Error{Problem: say("schema.syntax", "problem", printable(err.Error())), Torn: true}
	offset := len(body)
	var broken *jsontext.SyntacticError
	if errors.As(err, &broken) {
		offset = int(broken.ByteOffset)
		e.Problem, e.Pointer = say("schema.syntax", "problem", printable(broken.Err.Error())), string(broken.JSONPointer)
	}
	if at, problem, expected := cause(body, offset); !isZero(problem) {
		e.Problem, e.Expected, e.Pointer, offset = problem, expected, "", at
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Problem, e.Expected, offset = say("schema.cut"), say("schema.whole.object"), len(body)
	}
	return e.at(body, offset)
}

// surplus explains the text after the end of the document.
func surplus(body []byte, offset int) *Error {
	offset += blanks(body[offset:])
	e := &Error{Problem: say("schema.surplus"), Expected: say("schema.surplus.wanted"), Torn: true}
	if at, problem, expected := cause(body, offset); !isZero(problem) {
		e.Problem, e.Expected, offset = problem, expected, at
	} else if body[offset] == '{' {
		e.Problem, e.Expected = say("schema.second"), oneObject
	}
	return e.at(body, offset)
}

// cause recognises the usual reasons why a file is not JSON, and their place.
func cause(body []byte, offset int) (at int, problem, expected templates.Message) {
	if at, problem, expected = damage(body); !isZero(problem) {
		return at, problem, expected
	}
	rest := body[min(offset, len(body)):]
	switch {
	case len(rest) == 0:
	case utf8.FullRune(rest) && !startsRune(rest):
		return offset, say("schema.utf8"), text("UTF-8")
	case rest[0] == '/' || rest[0] == '#':
		return offset, say("schema.comment"), say("schema.comment.wanted")
	case rest[0] == ',' && closes(rest[1:]):
		return offset, say("schema.comma"), say("schema.comma.wanted")
	case rest[0] == '\'':
		return offset, say("schema.quote"), say("schema.quote.wanted")
	}
	return 0, templates.Message{}, templates.Message{}
}

// damage recognizes content that no text of any kind holds, and its place.
func damage(body []byte) (at int, problem, expected templates.Message) {
	if at := conflict(body); at >= 0 {
		return at, say("schema.conflict"), say("schema.conflict.wanted")
	}
	if at := bytes.IndexByte(body, 0); at >= 0 {
		return at, say("schema.nul"), say("schema.kind.text")
	}
	return 0, templates.Message{}, templates.Message{}
}

// startsRune reports whether b begins with a UTF-8 character.
func startsRune(b []byte) bool {
	r, size := utf8.DecodeRune(b)
	return r != utf8.RuneError || size > 1
}

// closes reports whether the next token ends an object or array.
func closes(b []byte) bool {
	b = b[blanks(b):]
	return len(b) > 0 && (b[0] == '}' || b[0] == ']')
}

// markers begin the lines that git puts around the sides of a conflict.
var markers = []string{"<<<<<<< ", "||||||| ", "=======", ">>>>>>> "}

// conflict returns where the first conflict marker begins, -1 if there is
// none. No line of good JSON or of a YAML mapping begins like a marker.
func conflict(body []byte) int {
	first := -1
	for _, m := range markers {
		if at := lineStart(body, m); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// lineStart returns where the first line that begins with text begins, or -1.
func lineStart(body []byte, text string) int {
	if bytes.HasPrefix(body, []byte(text)) {
		return 0
	}
	if at := bytes.Index(body, []byte("\n"+text)); at >= 0 {
		return at + 1
	}
	return -1
}

// Conflict returns where the markers begin that git leaves in a text that it
// could not merge. It returns -1 unless all three of them begin a line, in
// their order.
func Conflict(text []byte) int {
	first, from := -1, 0
	for _, marker := range []string{"<<<<<<< ", "=======\n", ">>>>>>> "} {
		at := lineStart(text[from:], marker)
		if at < 0 {
			return -1
		}
		if first < 0 {
			first = at
		}
		from += at + 1 // past the beginning of its line
	}
	return first
}

// clash returns the first name that repeats an earlier one, exactly or apart
// from case, with that earlier name. i is -1 if all names differ.
func clash(names [][]byte) (i int, earlier []byte) {
	seen := make(map[string]int, len(names))
	for i, name := range names {
		folded := fold(name)
		if earlier, ok := seen[string(folded)]; ok {
			return i, names[earlier]
		}
		seen[string(folded)] = i
	}
	return -1, nil
}

// fold returns the same text for all names that are equal by bytes.EqualFold:
// each letter becomes the least of those that differ from it only in case.
func fold(name []byte) []byte {
	return bytes.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}
