package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"placet/internal/await"
	"placet/templates"
)

// limitAttacks are on what a caller can use up before it is known, and on names and characters
// that others choose.
var limitAttacks = []attack{
	{"slow callers without a name", "more connections than there may be begin a call and say no more, so that nobody is answered", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		s := serveAt(p)
		s.token("ci", "read")
		var crowd []net.Conn
		for i := range 320 {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			crowd = append(crowd, conn)
			if i > 0 { // the first says nothing, and gets no answer
				_, _ = io.WriteString(conn, "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nlink=")
			}
		}
		s.wants("who has a name", s.call("ci", "GET", "/api/v1/runs", nil), 200, "")
		v := s.visitor()
		v.logIn()
		if got, _ := v.visit("/", nil); got.StatusCode != http.StatusOK {
			t.Errorf("who logs in: %d", got.StatusCode)
		}
		ended := make(chan []byte, 1)
		go func() {
			said, _ := io.ReadAll(crowd[0])
			ended <- said
		}()
		if said := await.Receive(t, "the oldest connection ends", ended); len(said) > 0 {
			t.Errorf("the oldest connection is told %q", said)
		}
		if got, _ := s.visitor().visit("/login", url.Values{"link": {strings.Repeat("x", 5<<10)}}); got.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a login link of 5 KiB: %d", got.StatusCode)
		}
	}},
	{"an approver whom no ask can record", "a name in [gates] holds characters that a state document refuses, and every new ask is unreadable for ever", func(t *testing.T, p *place) {
		for _, name := range []string{`ce\u001b[31mo`, `\u200b`, `a\u202eb`, `a\nb`, "", strings.Repeat("a", 201), strings.Repeat(`a", "`, 50) + "a"} {
			p.write("placet.toml", "[gates]\n\"*\" = { approvers = [\""+name+"\"] }\n")
			p.says(p.must(2, "ask", "Drop it?", "--key", "k"), "placet.toml:2: ", "approvers hold a name that cannot be recorded")
			p.says(p.must(2, "trust", "--yes"), "placet.toml:2: ")
		}
		for _, name := range []string{"김철수", "api:ci", "owner:kim", "J. O'Neil <j@example.com>"} {
			p.write("placet.toml", gatesBy(name))
			p.must(0, "trust", "--yes")
			p.must(0, "ask", "Drop it?", "--key", "k "+name)
		}
		if out := p.must(3, "once"); strings.Contains(out, "problem") {
			t.Errorf("an ask under a name of its own: %s", out)
		}
	}},
	{"characters that move a terminal in JSON", "a question holds C1 controls, an override of direction and what nobody sees, and --json shows them raw", func(t *testing.T, p *place) {
		const question = "Deploy\u009b31m \u202ethe\u200b \u115fbuild\u2800 \U000e0041한국 \u2764\ufe0f?"
		body, err := json.Marshal(map[string]string{"question": question})
		if err != nil {
			t.Fatal(err)
		}
		p.write(".asks/q/ask.json", string(body))
		said := p.must(3, "once", "--json")
		for _, args := range [][]string{{"inbox"}, {"status"}, {"show", "ask/q"}, {"explain", "ask/q"}, {"log", "ask/q"}, {"check"}} {
			out, _ := p.placet(append(args, "--json")...)
			said += out
		}
		if templates.Clean(said) != said {
			t.Errorf("raw: %+q", said)
		}
		var inbox struct {
			Data struct{ Requests []struct{ Prompt string } }
		}
		if out, _ := p.placet("inbox", "--json"); json.Unmarshal([]byte(out), &inbox) != nil || len(inbox.Data.Requests) != 1 || inbox.Data.Requests[0].Prompt != question {
			t.Errorf("it is not the same text: %s", out)
		}
	}},
	{"characters that nobody sees in a note", "what a document says is repeated in its note with characters that Go takes for printable and nobody sees", func(t *testing.T, p *place) {
		p.write(".asks/schema/ask.json", "{\"question\": \"a?\", \"type\": \"app\u115froval\u2800\"}")
		p.write(".asks/machine/ask.json", "{\"question\": \"a?\", \"options\": [{\"id\": \"yes\"}, {\"id\": \"no\"}], \"deadline\": \"1h\", \"default\": \"y\u115fes\u2800\"}")
		p.placet("once")
		for _, name := range []string{"schema", "machine"} {
			note := p.read(".asks/" + name + "/ask.json.problem.md")
			if templates.Clean(note) != note || !strings.Contains(note, "115f") || !strings.Contains(note, "2800") {
				t.Errorf("%s: %+q", name, note)
			}
		}
		p.write(".asks/honest/ask.json", `{"question": "a?", "type": "찬성"}`)
		p.placet("once")
		p.says(p.read(".asks/honest/ask.json.problem.md"), `"찬성"`)
	}},
	{"an answer to a dialogue that nobody was shown", "an agent's host sends an answer with its call, though the question was shown to nobody", func(t *testing.T, p *place) {
		ask := map[string]any{"question": "Drop it?", "wait_seconds": 0}
		p.write("placet.toml", "")
		h := p.host("2026-07-28", nil) // it can show no dialogue
		a := h.must("ask_human", ask)
		for _, state := range []string{a.AskID, a.AskID + ".", a.AskID + "." + strings.Repeat("0", 64)} {
			_, _ = h.CallTool(t.Context(), &sdk.CallToolParams{
				Name: "ask_human", Arguments: ask, RequestState: state,
				InputResponses: sdk.InputResponseMap{"answer": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "approve"}}},
			})
		}
		if got := h.must("check_answer", map[string]any{"ask_id": a.AskID}); got.Status != "open" {
			t.Errorf("it counts: %+v", got)
		}
		p.configure("[mcp]\nelicit = \"on\"\n")
		h = p.host("2026-07-28", func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "approve"}}, nil
		})
		if a := h.must("ask_human", map[string]any{"question": "Drop it?", "key": "shown", "wait_seconds": 600}); !a.Answered || a.Response != "approve" {
			t.Errorf("who was shown it: %+v", a)
		}
	}},
	{"a name of many lines", "an answer says a name with line ends, or one that does not end, to fill what people read", func(t *testing.T, p *place) {
		p.askedOnce(t)
		for what, name := range map[string]string{
			"two lines": `kim\n\n- [x] approve`, "no end": strings.Repeat("kim ", 30), "controls": `kim\u009b2J`, "nothing": `\u200b`,
		} {
			p.write(p.request(0)+"/response.json", strings.Replace(p.response(0, "approve", ""), `"tester"`, `"`+name+`"`, 1))
			if p.onceMoved(0) {
				t.Fatalf("%s: it counts", what)
			}
			p.says(p.problem(), "/provided_by/user")
		}
		p.says(p.must(2, "approve", p.reference(), "--as", strings.Repeat("kim ", 30)+"x"), "at most 100 visible characters")
		p.write(p.request(0)+"/response.json", strings.Replace(p.response(0, "approve", ""), `"tester"`, `"김철수 (kim@example.com)"`, 1))
		if !p.onceMoved(0) {
			t.Errorf("a name of one line: %s", p.problem())
		}
	}},
}
