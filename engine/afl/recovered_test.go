package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

// requestsOnly carries out the part of the next plan that a crash leaves between an opened request
// and the state that names it.
func (w *world) requestsOnly() (dir string) {
	w.T.Helper()
	_, p := w.Full()
	for _, d := range p.Writes {
		if at := strings.Index(d.Path, "/requests/"); at >= 0 {
			w.Put(d.Path, string(d.Body))
			dir = d.Path[at+1 : strings.LastIndexByte(d.Path, '/')]
		}
	}
	if dir == "" {
		w.T.Fatal("the plan opens no request")
	}
	return dir
}

// receiptOnly carries out the part of the next plan that a crash leaves right after the receipt.
func (w *world) receiptOnly() {
	w.T.Helper()
	_, p := w.Full()
	for _, d := range p.Writes {
		if d.Kind == layout.KindReceipt {
			w.Issue(d)
			return
		}
	}
	w.T.Fatal("the plan writes no receipt")
}

// An answer with a receipt is final: it precedes everything that happened meanwhile, whatever else
// was said since, and its receipt stays unchanged.
func TestNothingComesBeforeAnAnswerWithItsReceipt(t *testing.T) {
	escalated := func(t testing.TB) *world { return escalatedWorld(t, cp{id: "a"}, cp{id: "b"}) }
	validated := func(o outcome) func(testing.TB) *world {
		return func(t testing.TB) *world {
			w := validatingWorld(t, nil, cp{id: "a"})
			w.validated("a", o)
			w.settle()
			return w
		}
	}
	designed := func(t testing.TB) *world {
		w := newWorld(t)
		w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
		w.Write(specsYAML, design("", cp{id: "a"}))
		w.settle()
		return w
	}
	waiting := func(t testing.TB) *world {
		w := approvedWorld(t, cp{id: "a"})
		w.untilBegun()
		w.workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
		w.settle()
		return w
	}
	redesigned := func(w *world) { w.Write(specsYAML, design(approvedHead, cp{id: "a", expected: "other"})) }
	wish := func(want string) func(w *world) {
		return func(w *world) { w.Write("control.json", `{"want": "`+want+`"}`) }
	}
	byLee := func(w *world) { w.Write("control.json", `{"want": "abort", "by": "lee"}`) }
	for name, c := range map[string]struct {
		begin            func(t testing.TB) *world
		typ, word, words string
		// other is what people say meanwhile, "" if they removed their answer, and meanwhile is
		// what happened.
		other     string
		meanwhile func(w *world)
		want      string
	}{
		"another design, another answer": {escalated, typeEscalation, optRetryMore, "so", optSkip, redesigned, "a:retry_more"},
		"a session given up":             {escalated, typeEscalation, optSkip, "so", optSkip, wish("abort"), "a:skip"},
		"a paused session":               {validated(outcome{}), typeReview, optAccept, "so", "reopen:a", wish("pause"), "complete"},
		"a review's other answer":        {validated(outcome{}), typeReview, "reopen:a", "so", optAccept, wish("pause"), "review_blocking"},
		"a lost run":                     {validated(outcome{how: engine.CommandLost}), typeInterrupted, optRunAgain, "so", optFailed, wish("abort"), "a:rerun"},
		"an escalation's answer, gone":   {escalated, typeEscalation, optSkip, "", "", byLee, "a:skip"},
		"an approval's answer, gone":     {designed, typeApproval, optChanges, "split it", "", byLee, "changes_requested"},
		"a question's answer, gone":      {waiting, typeClarification, optAnswer, "left", "", byLee, "a:answered"},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.begin(t)
			id := w.answer(c.typ, c.word, map[string]any{"comment": c.words})
			w.receiptOnly()
			before := w.Read("requests/" + id + "/receipt.json")
			if c.other == "" {
				delete(w.Files, w.In("requests/"+id+"/response.json"))
			} else {
				w.Respond(id, map[string]any{"response": c.other, "comment": "or so"})
			}
			c.meanwhile(w)
			if taken := w.settle(); len(taken) == 0 || taken[0] != c.want {
				t.Errorf("took %v, expected %s first", taken, c.want)
			}
			if diff := cmp.Diff(before, w.Read("requests/"+id+"/receipt.json")); diff != "" {
				t.Errorf("the receipt (-before +after):\n%s", diff)
			}
		})
	}
}

// An approved design is gone if the files hold another one: placet carries nothing out and asks
// about the new design.
func TestAnApprovalOfADesignThatIsGoneIsNotCarriedOut(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.Write(specsYAML, design("", cp{id: "a"}))
	w.settle()
	w.answer(typeApproval, "approve", nil)
	w.receiptOnly()
	w.Write(specsYAML, design("", cp{id: "b"}))
	if diff := cmp.Diff([]string{"specs_read", "approval_asked"}, w.settle()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The number of attempts is part of the answer.
func TestAnAnswerWithItsReceiptKeepsItsNumberOfAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		fields map[string]any
		since  func(w *world, id string)
		want   int
	}{
		"a member, gone":           {map[string]any{"attempts": 7}, func(w *world, id string) { delete(w.Files, w.In("requests/"+id+"/response.json")) }, 8},
		"a member, changed":        {map[string]any{"attempts": 7}, func(w *world, id string) { w.Respond(id, map[string]any{"response": optRetryMore, "attempts": 3}) }, 8},
		"the comment's first line": {map[string]any{"comment": "attempts: 4\nslowly"}, func(w *world, id string) { w.Respond(id, map[string]any{"response": optRetryMore}) }, 5},
		"the settings' number": {nil, func(w *world, _ string) {
			w.config(func(c *Config) { c.RetryMoreAttempts = ptr(9) })
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := escalatedWorld(t, cp{id: "a"})
			id := w.answer(typeEscalation, optRetryMore, c.fields)
			w.receiptOnly()
			c.since(w, id)
			w.settle()
			if got := w.cp("a").MaxIterations; got != c.want {
				t.Errorf("%d attempts are allowed, expected %d", got, c.want)
			}
		})
	}
}

// A file that only a committed attempt can leave proves that an existing prompt is older than the
// state: documents beside it are not news.
func TestHandInsOfAnOlderTellingAreNoNews(t *testing.T) {
	for _, left := range []string{"validation.json", "worker-run.json", "answer.md", "feedback.md", "verdict-2.json"} {
		w := approvedWorld(t, cp{id: "a"})
		for !w.Has("state.json") || w.state().Status != Delegating {
			w.Step()
		}
		state, events := w.Read("state.json"), w.Read("events.jsonl")
		w.settle()
		w.done("a")
		w.Write(attemptOne+"result.json", result(1, 0, "ok", ""))
		w.Write(attemptOne+left, "<!-- placet afl abc12345/a -->\n")
		w.Issue(engine.Document{Path: w.In("state.json"), Kind: engine.KindState, Body: []byte(state)}) // a checkout of the state alone, adopted
		w.Write("events.jsonl", events)
		took(t, w.settle(), "a:start")
	}
}

// The report of an escalation shows the question that nobody could answer, even after a crash, and
// when it is written again during the next attempt.
func TestAnEscalationKeepsItsQuestion(t *testing.T) {
	asked := func(crash bool) *world {
		w := approvedWorld(t, cp{id: "a"})
		w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
		w.untilBegun()
		w.workerSays("a", map[string]any{"status": "question", "question": "EUR or USD?"})
		w.settle()
		w.answer(typeClarification, optEscalate, nil)
		if crash {
			w.receiptOnly()
			w.pass(5 * time.Second)
		}
		took(t, w.settle(), "a:unanswerable", "escalate")
		return w
	}
	plain, crashed := asked(false), asked(true)
	report := plain.Read("delegations/a/escalation.md")
	if diff := cmp.Diff(report, crashed.Read("delegations/a/escalation.md")); diff != "" {
		t.Errorf("the report after a crash (-without +with):\n%s", diff)
	}
	plain.answer(typeEscalation, optRetryMore, nil)
	plain.settle()
	delete(plain.Files, plain.In("delegations/a/escalation.md"))
	plain.settle()
	if diff := cmp.Diff(report, plain.Read("delegations/a/escalation.md")); diff != "" {
		t.Errorf("the report made again (-before +after):\n%s", diff)
	}
}

// A crash may leave a request that was never committed because something else happened first. Its
// form may have been edited and stays, and an answer there gets a note.
func TestAnAnswerToWhatWasNeverAskedGetsAWord(t *testing.T) {
	left := func() (*world, string) {
		w := validatingWorld(t, nil, cp{id: "a"})
		w.validated("a", mismatch)
		dir := w.requestsOnly()
		w.Write(specsYAML, design(approvedHead, cp{id: "a", expected: "x"}))
		if taken := w.settle(); !slices.Contains(taken, "specs_changed") || !slices.Contains(taken, "escalate") {
			t.Fatalf("took %v", taken)
		}
		return w, dir
	}
	for name, say := range map[string]func(w *world, dir string){
		"response.json": func(w *world, dir string) {
			w.Respond(strings.TrimPrefix(dir, "requests/"), map[string]any{"response": optSkip})
		},
		"form.md": func(w *world, dir string) { w.Tick(w.In(dir+"/form.md"), "skip:", "submit") },
	} {
		w, dir := left()
		say(w, dir)
		took(t, w.settle())
		if note := w.Read(dir + "/problem.md"); !strings.Contains(note, "the session asks nothing under this id") {
			t.Errorf("%s: %s", name, note)
		}
		w.Write("control.json", `{"want": "abort"}`)
		w.settle()
		for p := range w.Files {
			if strings.HasPrefix(p, w.In(dir)+"/") && !strings.HasSuffix(p, "problem.md") {
				delete(w.Files, p)
			}
		}
		w.settle()
		if w.Has(dir + "/problem.md") {
			t.Errorf("%s: the word stands without an answer", name)
		}
	}
}

// A document is the same when it is written again while a settings file is unreadable, or after the
// session has ended.
func TestADocumentMadeAgainIsTheSameWithoutUpstreamsSettings(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"broken settings": func(w *world) { w.Put(upstreamYAML, "feedback_loop: [\n") },
		"a final session": func(w *world) {
			w.Write("control.json", `{"want": "abort"}`)
			w.settle()
			w.status(Aborted)
		},
	} {
		w := escalatedWorld(t, cp{id: "a"})
		w.config(func(c *Config) { c.ValidationTimeout, c.AutoRetryDelay = ptr("7m"), ptr("1h") })
		w.answer(typeEscalation, optRetryMore, nil)
		w.settle()
		w.validatedTimeout()
		before := map[string]string{}
		for _, rel := range []string{"delegations/a/iterations/2/prompt.md", "delegations/a/iterations/2/feedback.md", "delegations/a/escalation.md", "delegations/a/escalation.json"} {
			before[rel] = w.Read(rel)
		}
		spoil(w)
		w.pass(11 * time.Second)
		w.settle()
		for rel, body := range before {
			delete(w.Files, w.In(rel))
			w.settle()
			if diff := cmp.Diff(body, w.Read(rel)); diff != "" {
				t.Errorf("%s: %s (-before +after):\n%s", name, rel, diff)
			}
		}
	}
}

// validatedTimeout makes the current attempt time out, which its feedback names.
func (w *world) validatedTimeout() {
	w.T.Helper()
	w.done("a")
	w.settle()
	w.validated("a", outcome{how: engine.CommandTimedOut, stdout: fmt.Sprintln("…")})
	w.settle()
}

// A power cut may keep the state of a second escalation and only one of its two files, with the
// other from the first escalation. placet makes the report consistent before it asks.
func TestASecondEscalationIsToldWholeAfterAPowerCut(t *testing.T) {
	for _, lost := range []string{"delegations/a/escalation.md", "delegations/a/escalation.json"} {
		t.Run(lost, func(t *testing.T) {
			w := escalatedWorld(t, cp{id: "a"})
			first := w.Read(lost)
			w.answer(typeEscalation, optRetryMore, map[string]any{"comment": "attempts: 1"})
			w.settle()
			w.failOnce("a", "FAILED a.py::b\n")
			second := w.Read(lost)
			w.Put(w.In(lost), first)
			w.settle()
			if diff := cmp.Diff(second, w.Read(lost)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The prompt exists a moment before the state names its attempt. A crash in between must not make a
// worker's documents from that time old news.
func TestHandInToAPromptThatACrashLeftIsNews(t *testing.T) {
	const at = "delegations/a/iterations/1/"
	for name, spoil := range map[string]func(*world){
		"": func(*world) {},
		"another prompt": func(w *world) {
			w.Write(at+"prompt.md", "<!-- placet afl abc12345/a prompt 1 -->\n# another\n")
		},
		"a verdict": func(w *world) { w.Write(at+"verdict.json", "{}") },
		"no prompt": func(w *world) { delete(w.Files, w.In(at+"prompt.md")) },
	} {
		w := approvedWorld(t, cp{id: "a"})
		for !w.Has("state.json") || w.state().Status != Delegating {
			w.Step()
		}
		state, events := w.Read("state.json"), w.Read("events.jsonl")
		w.settle()
		w.done("a")
		w.Issue(engine.Document{Path: w.In("state.json"), Kind: engine.KindState, Body: []byte(state)}) // the newest one with the name
		w.Write("events.jsonl", events)
		spoil(w)
		taken := w.settle()
		if want := name == ""; slices.Contains(taken, "a:worker_done") != want || !slices.Contains(taken, "a:start") {
			t.Errorf("with %q: took %v", name, taken)
		}
	}
}
