package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// spoken is what a server wrote, line by line.
type spoken struct {
	t *testing.T
	*bufio.Scanner
}

// next returns the next line.
func (s spoken) next() string {
	s.t.Helper()
	if !s.Scan() {
		s.t.Fatalf("the session has ended: %v", s.Err())
	}
	return s.Text()
}

// pipe runs a server over a stream, and returns both ends.
func pipe(t *testing.T) (io.Writer, spoken) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := New(Options{Workspace: newOffice(), Elicit: func() string { return "off" }})
	ran := make(chan error, 1)
	go func() { ran <- s.Run(t.Context(), in, out) }()
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = fromServer.Close()
		<-ran
	})
	said := bufio.NewScanner(fromServer)
	said.Buffer(nil, 1<<20)
	return toServer, spoken{t, said}
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`

// greet begins a session.
func greet(t *testing.T, in io.Writer, out spoken) {
	t.Helper()
	fmt.Fprintf(in, "%s\n", hello)
	if line := out.next(); !strings.Contains(line, `"id":"hello"`) {
		t.Fatal(line)
	}
	fmt.Fprintf(in, "%s\n", `{"jsonrpc":"2.0","method":"notifications/initialized","id":null}`)
}

// code returns the code of an error without an id, 0 for anything else.
func code(line string) int {
	var m struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}
	if json.Unmarshal([]byte(line), &m) != nil || string(m.ID) != "null" {
		return 0
	}
	return m.Error.Code
}

// A line that is no message is answered with an error, and the next one is served, before
// and after the session has begun.
func TestK12ABadLineEndsNoSession(t *testing.T) {
	const parse, request = -32700, -32600
	for line, want := range map[string]int{
		"not json": parse,
		"{":        parse,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} x`: parse,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`: parse,
		"\xff\xfe{\x00":                                    parse,
		"Content-Type: application/json":                   parse,
		strings.Repeat("x", longestLine+1):                 parse,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:         request,
		`{"id":1,"method":"ping"}`:                         request,
		`{"jsonrpc":"2.0","id":1}`:                         request,
		`{"jsonrpc":"2.0"}`:                                request,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:       request,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:      request,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:      request,
		`{"jsonrpc":"2.0","id":1,"method":7}`:              request,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`:  request,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":"x"}`: request,
		`"text"`: request,
		`7`:      request,
		`null`:   request,
		`[]`:     request,
	} {
		in, out := pipe(t)
		for range 2 {
			fmt.Fprintf(in, "%s\r\n\n", line)
			if got := out.next(); code(got) != want {
				t.Errorf("%.60q: %s, expected %d", line, got, want)
			}
			greet(t, in, out)
		}
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if got := out.next(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("after %.60q: %s", line, got)
		}
	}
}

// Ids come back as they were.
func TestK12IdsComeBackAsTheyWere(t *testing.T) {
	in, out := pipe(t)
	greet(t, in, out)
	for _, id := range []string{"0", "-7", "1", "999999999999999", "9007199254740993", "123456789012345678901234567890", "1.5", "1.0", "1e3", `"1"`, `""`, `"a b"`, `"né"`, `"number:9"`} {
		fmt.Fprintf(in, `{"method":"ping","id":%s,"jsonrpc":"2.0"}`+"\n", id)
		if got, want := out.next(), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`; got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// A byte order mark is passed over, and a message with a header is read by its length.
func TestK12MarksAndHeadersBeforeAMessage(t *testing.T) {
	const ping, other = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for text, refused := range map[string]int{
		"\ufeff" + ping + "\n":     0,
		"\ufeff\n" + ping + "\r\n": 0,
		"  \t" + ping + " \n":      0,
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping), ping):                                                1,
		fmt.Sprintf("content-length:%d\r\nContent-Type: application/json\r\n\r\n%s", len(ping), ping):               1,
		fmt.Sprintf("Content-Length: %d\n%s\n", len(ping), ping):                                                    1,
		"Content-Length: 999999999\r\n\r\n" + ping + "\n":                                                           1,
		fmt.Sprintf("Content-Length: %[1]d\r\n\r\n%[2]sContent-Length: %[1]d\r\n\r\n%[3]s", len(ping), ping, other): 2,
	} {
		in, out := pipe(t)
		go func() { _, _ = io.WriteString(in, text) }()
		served := max(1, strings.Count(text, "Content-Length: 40"))
		for range refused + served {
			switch got := out.next(); {
			case code(got) == -32700:
				refused--
			case strings.HasSuffix(got, `,"result":{}}`):
				served--
			default:
				t.Errorf("%q: %s", text, got)
			}
		}
		if refused != 0 || served != 0 {
			t.Errorf("%q: %d refusals and %d results are missing", text, refused, served)
		}
	}
}

// The messages of a batch are answered together, also those that are none.
func TestK12ABatchIsAnsweredTogether(t *testing.T) {
	in, out := pipe(t)
	greet(t, in, out)
	for text, want := range map[string][]string{
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:                                                        {"1"},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"a","method":"ping"}]`:             {`"a"`, "1"},
		`[7,{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"},{"jsonrpc":"1.0","id":4}]`:              {"9007199254740993", "null", "null"},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`:               {"1", "null"},
		`[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`: {"1"},
	} {
		fmt.Fprintln(in, text)
		var all []struct{ ID json.RawMessage }
		line := out.next()
		if err := json.Unmarshal([]byte(line), &all); err != nil {
			t.Errorf("%s: %s", text, line)
		}
		got := []string{}
		for _, one := range all {
			got = append(got, string(one.ID))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: ids %v, expected %v", text, got, want)
		}
	}
}

// A call whose id is no number of the SDK can be cancelled, too.
func TestK12ACallWithALargeIdIsCancelled(t *testing.T) {
	in, out := pipe(t)
	greet(t, in, out)
	const id = "9007199254740993"
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"ask_human","arguments":{"question":"B?","wait_seconds":86400},"_meta":{"progressToken":1}}}`+"\n", id)
	if line := out.next(); !strings.Contains(line, "notifications/progress") {
		t.Fatal(line)
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r","requestId":%s}}`+"\n", id)
	if line := out.next(); !strings.Contains(line, `"id":`+id) {
		t.Error(line)
	}
}

// A call with the id of one that waits is refused, and the one that waits is not.
func TestAnIdInUseIsRefused(t *testing.T) {
	in, out := pipe(t)
	greet(t, in, out)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_human","arguments":{"question":"B?","wait_seconds":86400},"_meta":{"progressToken":1}}}`
	fmt.Fprintln(in, call)
	if line := out.next(); !strings.Contains(line, "notifications/progress") {
		t.Fatal(line)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if line := out.next(); code(line) != -32600 {
		t.Errorf("a ping with the id of a call that waits: %s", line)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if line := out.next(); !strings.Contains(line, `"id":1`) {
		t.Error(line)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if line := out.next(); line != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Error(line)
	}
}
