package afl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/gate"
	"placet/layout"
)

// receiptOnly carries out as much of the next plan as a crash leaves that comes
// right after the receipt.
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

// An answer whose receipt is durable is fact: it is carried out before all that
// came meanwhile, even if nobody says it any more.
func TestAnAnswerWithItsReceiptIsCarriedOutFirst(t *testing.T) {
	for name, test := range map[string]struct {
		make             func(t testing.TB) *world
		typ, word, words string
		want             []string
	}{
		"escalation": {func(t testing.TB) *world { return escalatedWorld(t, cp{id: "a"}, cp{id: "b"}) }, typeEscalation, "skip", "", []string{"a:skip", "abort", "b:session_aborted"}},
		"approval": {func(t testing.TB) *world {
			w := newWorld(t)
			w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
			w.Write(specsYAML, design("", cp{id: "a"}))
			w.settle()
			return w
		}, typeApproval, "request_changes", "split it", []string{"changes_requested", "abort"}},
		"clarification": {func(t testing.TB) *world {
			w := approvedWorld(t, cp{id: "a"})
			w.untilBegun()
			w.workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
			w.settle()
			return w
		}, typeClarification, "answer", "left", []string{"a:answered", "abort", "a:session_aborted"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := test.make(t)
			id := w.answer(test.typ, test.word, map[string]any{"comment": test.words})
			w.receiptOnly()
			before := w.Read("requests/" + id + "/receipt.json")
			delete(w.Files, w.In("requests/"+id+"/response.json"))
			w.Write("control.json", `{"want": "abort", "by": "lee"}`)
			if diff := cmp.Diff(test.want, w.settle()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if q := w.request(id); q.Status != gate.Accepted || q.By.User != "jmcwilliam" {
				t.Errorf("%+v", q)
			}
			if after := w.Read("requests/" + id + "/receipt.json"); after != before {
				t.Errorf("the receipt became another one:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// What was approved is gone when the files hold another design: then nothing
// can be carried out, and the new design is asked about.
func TestAnApprovalOfADesignThatIsGoneIsNotCarriedOut(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.Write(specsYAML, design("", cp{id: "a"}))
	w.settle()
	id := w.answer(typeApproval, "approve", nil)
	w.receiptOnly()
	w.Write(specsYAML, design("", cp{id: "b"}))
	if diff := cmp.Diff([]string{"specs_read", "approval_asked"}, w.settle()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.status(Designing)
	if receipt := w.Read("requests/" + id + "/receipt.json"); !strings.Contains(receipt, `"superseded"`) {
		t.Errorf("receipt:\n%s", receipt)
	}
}

// Commands of a session that is over, or whose settings cannot be used, are not
// begun again after a restart.
func TestNoCommandBeginsForASessionThatCannotMove(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	w.done("a")
	w.settle()
	clear(w.Facts.Alive) // placet was killed
	begun := len(w.Begun)
	w.Put(upstreamJSON, `{"feedbackLoop": {"maxIterations": 0}}`)
	w.settle()
	if len(w.Begun) > begun {
		t.Errorf("without settings it began %+v", w.Begun[begun:])
	}
	delete(w.Files, upstreamJSON)
	w.Write("control.json", `{"want": "abort"}`)
	w.settle()
	w.status(Aborted, "a=aborted")
	if len(w.Begun) > begun {
		t.Errorf("an aborted session began %+v", w.Begun[begun:])
	}
}
