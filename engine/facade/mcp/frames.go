package mcp

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"placet/internal/lazyregexp"
	"placet/schemas"
)

// frame is a line that may be a message, or the fault of one that cannot be.
type frame struct {
	text  []byte // one JSON value
	fault *jsonrpc.Error
}

// unreadable and invalid return the faults of a line that is no JSON, and of JSON that is no message.
func unreadable(text string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: text}
}

func invalid(text string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: text}
}

// frameReader reads a stream line by line.
type frameReader struct {
	r *bufio.Reader
	// body is how many bytes the message after a header has, 0 for a line without one.
	body int
}

func newFrameReader(in io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(in, 64<<10)}
}

// byteOrderMark is what some hosts write before their first line.
var byteOrderMark = []byte("\ufeff")

// lengthHeader matches the header of a language server's message. Hosts that send one wait for
// an answer before they write a line end, so that the message after it is read by its length.
var lengthHeader = lazyregexp.New(`(?i)^content-length:\s*(\d{1,9})$`)

// next returns the next line that is not empty.
func (f *frameReader) next() (frame, error) {
	for {
		text, err := f.read()
		text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
		switch m := lengthHeader.FindSubmatch(text); {
		case errors.Is(err, errTooLong):
			return frame{fault: unreadable("this line is longer than 16 MiB: send less in one message")}, nil
		case len(text) > 0 && m != nil:
			f.body, _ = strconv.Atoi(string(m[1]))
			return frame{fault: unreadable("a message is one line of JSON: write no Content-Length before it")}, nil
		case len(text) > 0 && !json.Valid(text):
			return frame{fault: unreadable("this line is no JSON: write each message as one line of JSON")}, nil
		case len(text) > 0:
			return frame{text: text}, nil
		case err != nil:
			return frame{}, err
		}
	}
}

// read reads a line, or the message after a header.
func (f *frameReader) read() ([]byte, error) {
	size := f.body
	f.body = 0
	if size == 0 || size > longestLine {
		return readLine(f.r)
	}
	if line, ended, err := f.skipHeaders(); !ended {
		return line, err
	}
	text := make([]byte, size)
	n, err := io.ReadFull(f.r, text)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return text[:n], err
}

// skipHeaders reads the other headers of a message. ended is false if a line follows that is
// none, which it returns.
func (f *frameReader) skipHeaders() (line []byte, ended bool, err error) {
	for {
		line, err := readLine(f.r)
		switch trimmed := bytes.TrimSpace(line); {
		case err != nil || len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
			return line, false, err
		case len(trimmed) == 0:
			return nil, true, nil
		}
	}
}

// errTooLong is the error for a line longer than longestLine.
var errTooLong = errors.New("the line is too long")

// readLine reads a line, and reads past one that is too long.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > longestLine; !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong:
			return nil, errTooLong
		default:
			return line, err
		}
	}
}

// message returns the message that a JSON value is, or why it is none.
func (c *lineConn) message(text []byte) (jsonrpc.Message, *jsonrpc.Error) {
	members, err := schemas.Members(text)
	if err != nil {
		return nil, invalid("a message is a JSON object in which each name stands once")
	}
	if version, _ := members.Raw("jsonrpc").Text(); version != "2.0" {
		return nil, invalid(`a message has "jsonrpc": "2.0"`)
	}
	if members.Raw("method") == nil {
		if msg, err := jsonrpc.DecodeMessage(text); err == nil && (members.Raw("result") != nil || members.Raw("error") != nil) {
			return msg, nil
		}
		return nil, invalid(`a message has a "method", or a "result" or "error" with the "id" of a request`)
	}
	return c.request(members)
}

// request returns the call or notification that the members of an object are.
func (c *lineConn) request(members schemas.Object) (jsonrpc.Message, *jsonrpc.Error) {
	method, ok := members.Raw("method").Text()
	if !ok {
		return nil, invalid(`"method" is a text`)
	}
	r := &jsonrpc.Request{Method: method}
	if params := members.Raw("params"); !params.Null() {
		r.Params = c.ids.replaceCancelled(method, json.RawMessage(params))
	}
	id := members.Raw("id")
	if id == nil || id.Null() && strings.HasPrefix(method, "notifications/") {
		return r, nil
	}
	if r.ID, ok = c.ids.internal(id); !ok {
		return nil, invalid(`"id" is a text or a number`)
	}
	return r, nil
}

// oddIDs replaces the ids of calls that the SDK cannot hold, such as large numbers, by texts that
// begin with a prefix of this session, so that they come back as they were.
type oddIDs struct{ prefix string }

func newOddIDs() oddIDs { return oddIDs{"number:" + rand.Text() + ":"} }

// plainNumber matches a number that the SDK holds without loss.
var plainNumber = lazyregexp.New(`^(0|-?[1-9][0-9]{0,14})$`)

// internal returns the id for a call with an id. ok is false if it cannot be an id.
func (o oddIDs) internal(raw schemas.Raw) (id jsonrpc.ID, ok bool) {
	var value any
	switch raw.Kind() {
	case '"':
		value, _ = raw.Text()
	case '0':
		value = o.number(raw)
	default:
		return id, false
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil
}

// number returns a number that the SDK holds without loss, or the text in its place.
func (o oddIDs) number(raw schemas.Raw) any {
	if !plainNumber.Match(raw) {
		return o.prefix + string(raw)
	}
	n, _ := strconv.ParseFloat(string(raw), 64) // matches plainNumber
	return n
}

// replaceCancelled replaces the id of the call that a notification cancels.
func (o oddIDs) replaceCancelled(method string, params json.RawMessage) json.RawMessage {
	if method != "notifications/cancelled" {
		return params
	}
	members, err := schemas.Members(params)
	if id := members.Raw("requestId"); err != nil || id.Kind() != '0' || plainNumber.Match(id) {
		return params
	}
	for i, m := range members {
		if m.Name == "requestId" {
			members[i].Value = o.number(members.Raw(m.Name))
		}
	}
	replaced, err := json.Marshal(members)
	if err != nil {
		return params
	}
	return replaced
}

// restore puts the numbers back into a message to the host.
func (o oddIDs) restore(text []byte) []byte {
	if !bytes.Contains(text, []byte(o.prefix)) {
		return text
	}
	return regexp.MustCompile(`"`+regexp.QuoteMeta(o.prefix)+`([^"]*)"`).ReplaceAll(text, []byte("$1"))
}
