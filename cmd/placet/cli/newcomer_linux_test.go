package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// keystrokes are what somebody types who does not know placet. None of them is an answer.
var keystrokes = map[string]struct {
	keys string
	// asksAgain says that the question is asked once more.
	asksAgain bool
	// word says that it is an answer to a request in words.
	word bool
}{
	"Ctrl-C":                           {keys: "\x03"},
	"Ctrl-C, a number, Enter":          {keys: "\x031\r"},
	"Ctrl-C, a number, a command":      {keys: "\x031\rls\r"},
	"a number, Ctrl-C, another":        {keys: "1\x032\r"},
	"Ctrl-D":                           {keys: "\x04"},
	"a number and Ctrl-D twice":        {keys: "1\x04\x04"},
	"an empty line":                    {keys: "\r"},
	"blanks":                           {keys: "   \t \r"},
	"several lines at once":            {keys: "1\rls -l\rrm -rf x\r"},
	"an answer and half a line":        {keys: "\r1"},
	"the number 0":                     {"0\r", true, true},
	"the number 9":                     {"9\r", true, true},
	"the number -1":                    {"-1\r", true, true},
	"the number +1":                    {"+1\r", true, true},
	"the beginning of an option":       {"a\r", true, true},
	"an arrow key":                     {"\x1b[A\r", true, false},
	"an arrow key before a number":     {"\x1b[D1\r", true, false},
	"a text of 70,000 bytes":           {strings.Repeat("x", 70_000) + "\r", true, false},
	"a number after 70,000 bytes more": {strings.Repeat(" ", 70_000) + "1\r", true, false},
}

// TestANewcomerAtATerminalAnswersNothingByAccident asks each type of request at a terminal,
// types what is no answer, and in the end the right one.
func TestANewcomerAtATerminalAnswersNothingByAccident(t *testing.T) {
	t.Parallel()
	for typ, c := range map[string]struct {
		options []string
		answer  string // what is typed in the end, a line for each question
		taken   string
		said    string
	}{
		"approval":         {[]string{"approve", "reject"}, "2", `"response": "reject"`, "reject → stops the whole run for good"},
		"confirmation":     {[]string{"confirm", "cancel"}, "CONFIRM", `"response": "confirm"`, "confirm → "},
		"selection":        {[]string{"option-a", "option-b"}, "[2]", `"response": "option-b"`, "option-b → goes on with architect:design-review, knowing your answer"},
		"clarification":    {nil, "Use UTC.", `"response": "Use UTC."`, "Use UTC., by"},
		"review":           {[]string{"approve", "request_changes", "reject"}, "2\rUse UTF-8", `"comment": "Use UTF-8"`, "request_changes → repeats architect:design-review with your words"},
		"specs_approval":   {nil, "1", `"response": "approve"`, "approve → "},
		"error_resolution": {[]string{"retry", "skip", "abort"}, "1", `"response": "retry"`, "retry → repeats architect:design-review"},
	} {
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			if typ == "specs_approval" {
				p.asksApproval()
			} else {
				p.asks(typ, "Is the design good?", c.options...)
			}
			asked := p.openRequest()
			id, response := asked.ID, asked.Response
			for name, k := range keystrokes {
				if typ == "clarification" && k.word {
					continue
				}
				s := p.onTerminal(40, "respond", id)
				s.await("Your choice: ")
				s.keys(k.keys)
				if k.asksAgain {
					s.await("Your choice: ", "again")
					s.keys("\x03")
				}
				// -1 means that the interrupt ended the program: it had refused the keys, and no
				// longer waited for a signal.
				if said, code := s.end(); code != 130 && code != -1 || !strings.Contains(said, "nothing was written") {
					t.Errorf("%s: exit %d\n%s", name, code, said)
				}
				if body := p.read(response); body != "" {
					t.Fatalf("%s is an answer:\n%s", name, body)
				}
			}
			s := p.onTerminal(40, "respond", id)
			for i, text := range strings.Split(c.answer, "\r") {
				s.await([]string{"Your choice: ", "Your comment: "}[i])
				s.keys(text + "\r")
			}
			s.await("(y/N) ")
			s.keys("y\r")
			said, code := s.end()
			if code != 0 {
				t.Errorf("exit %d", code)
			}
			p.says(said, ": Feedback Required", "Type: ", "answered: "+c.said)
			p.says(p.read(response), c.taken)
		})
	}
}

// asksApproval opens the request for an AFL session's checkpoints.
func (p *place) asksApproval() {
	p.t.Helper()
	p.session("sh check.sh")
	specs := shop + "/specs/checkpoints.yaml"
	_, checkpoints, _ := strings.Cut(p.read(specs), "\n")
	p.write(specs, checkpoints)
	p.endsOnce(3)
}

// TestEveryQuestionAtATerminalEndsWithCtrlC interrupts each of them, types on, and checks that
// nothing was written.
func TestEveryQuestionAtATerminalEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.asks("review", "Is the design good?", "approve", "request_changes", "reject")
	p.write("placet.toml", "[faber]\nresume = { command = [\"true\"] }\n")
	adopted := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	adopted.shopSession()
	adopted.write(shop+"/state.json", adopted.completed())
	adopted.once(1)
	id := p.requestID(0)
	for _, c := range []struct {
		in    *place
		args  []string
		first string // what is typed before, "" for nothing
		asks  string
	}{
		{p, []string{"approve", id}, "", "(y/N) "},
		{p, []string{"reject", id}, "", "(y/N) "},
		{p, []string{"respond", id, "approve"}, "", "(y/N) "},
		{p, []string{"respond", id}, "2\r", "Your comment: "},
		{p, []string{"trust", "faber.resume"}, "", "(y/N) "},
		{adopted, []string{"adopt", "shop"}, "", "(y/N) "},
	} {
		journal := adopted.read(shop + "/events.jsonl")
		for _, keys := range []string{"\x03y\r", "\x03y\ry\r", "\x04", "\r", "y\x04\x04", "y\ry\r", "\x1b[Ay\r\x03"} {
			s := c.in.onTerminal(40, c.args...)
			if c.first != "" {
				s.await("Your choice: ")
				s.keys(c.first)
			}
			s.await(c.asks)
			s.keys(keys)
			if said, code := s.end(); code != 130 || !strings.Contains(said, "nothing was written") {
				t.Errorf("%s, %q: exit %d\n%s", c.args, keys, code, said)
			}
			p.stays(p.request(0) + "/response.json")
			if p.listed("faber.resume") == "" || adopted.read(shop+"/events.jsonl") != journal {
				t.Fatalf("%s, %q: was agreed to", c.args, keys)
			}
		}
	}
	for in, args := range map[*place][]string{p: {"approve", id}, adopted: {"adopt", "shop"}} {
		s := in.onTerminal(40, args...)
		s.await("(y/N) ")
		s.keys("y\r")
		if said, code := s.end(); code != 0 {
			t.Errorf("%s: exit %d\n%s", args, code, said)
		}
	}
}

// TestWithoutATerminalNothingIsAskedAndNothingAnswered writes to standard input what a terminal
// would ask for.
func TestWithoutATerminalNothingIsAskedAndNothingAnswered(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.asks("review", "Is the design good?", "approve", "request_changes", "reject")
	id, reference := p.requestID(0), p.reference()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"approve", id}, 2, "without a terminal"},
		{[]string{"respond", id, "approve"}, 2, "without a terminal"},
		{[]string{"respond", reference}, 2, "needs an option"},
		{[]string{"respond", reference, "request_changes"}, 1, "needs a comment"},
		{[]string{"approve", id + "@000000000000"}, 1, "changed since"},
	} {
		out, code := p.typed("y\n1\ny\n", c.args...)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit %d\n%s", c.args, code, out)
		}
		p.stays(p.request(0) + "/response.json")
	}
	// A question that nobody sees is not asked, whoever types.
	s := p.onTerminalWith(40, func(cmd *exec.Cmd) { cmd.Stderr = nil }, "approve", id)
	if said, code := s.end(); code != 2 {
		t.Errorf("exit %d\n%s", code, said)
	}
	p.stays(p.request(0) + "/response.json")
	p.must(0, "approve", reference)
}
