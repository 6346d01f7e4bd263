package schemas

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// tokens splits a JSON pointer into its unescaped parts.
func tokens(p string) []string { return slices.Collect(jsontext.Pointer(p).Tokens()) }

// pointer joins unescaped parts to a JSON pointer.
func pointer(parts []string) string {
	var p jsontext.Pointer
	for _, part := range parts {
		p = p.AppendToken(part)
	}
	return string(p)
}

// follow returns the value at a place of a tree, nil if there is none.
func follow(tree any, parts []string) any {
	for _, p := range parts {
		switch node := tree.(type) {
		case map[string]any:
			tree = node[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			tree = node[i]
		default:
			return nil
		}
	}
	return tree
}

// locate returns the offset in body of the value that a pointer names, or of
// the nearest one around it that is there. Body must have been parsed before.
func locate(body []byte, p string) int {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	offset := blanks(body)
	for _, want := range tokens(p) {
		if !enterMember(dec, want) {
			break
		}
		offset = int(dec.InputOffset())
		offset += len(body[offset:]) - len(bytes.TrimLeft(body[offset:], " \t\r\n:,"))
	}
	return offset
}

// enterMember moves dec to before the value of a member or element of the next
// value. It is false if there is none.
func enterMember(dec *jsontext.Decoder, want string) bool {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		return false
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for i := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; i++ {
		name := strconv.Itoa(i)
		if kind == '{' {
			token, err := dec.ReadToken()
			if err != nil {
				return false
			}
			name = token.String()
		}
		if name == want {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return false
}
