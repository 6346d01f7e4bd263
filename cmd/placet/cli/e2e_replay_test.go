package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// R14 on the real binary: replayed, mixed-up and stale answers, a stale write-back of the
// state, and writers of files that are not theirs.

// onceMoved runs placet watch --once, and reports whether a run's state has changed.
func (p *place) onceMoved(i int) bool {
	p.t.Helper()
	before := p.read(p.runs[i] + "/state.json")
	if out, code := p.placet("once"); code != 0 && code != 1 && code != 3 {
		p.t.Fatalf("once: %d: %s", code, out)
	}
	return p.read(p.runs[i]+"/state.json") != before
}

// answerOnce makes a person answer a run.
func (p *place) answerOnce(i int, option string) {
	p.t.Helper()
	p.write(p.request(i)+"/response.json", p.response(i, option, "c"))
	if !p.onceMoved(i) || !p.answered(i) {
		p.t.Fatalf("run %d is not answered", i)
	}
}

// openedPlace is a place whose requests are open.
func openedPlace(t *testing.T, n int) *place {
	t.Helper()
	p := newPlace(t, t.TempDir(), n)
	p.placet("once")
	if !p.opened() {
		t.Fatal("the forms are not written")
	}
	return p
}

func (p *place) remove(rel string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.root, rel)); err != nil {
		p.t.Fatal(err)
	}
}

// Approving twice is one approval with the same receipt (LangGraph #8026).
func TestApprovingTwiceIsOneApproval(t *testing.T) {
	t.Parallel()
	p := openedPlace(t, 1)
	p.answerOnce(0, "approve")
	receipt := p.read(p.request(0) + "/receipt.json")
	for _, again := range []string{p.response(0, "approve", "c"), p.response(0, "Approve", "once more")} {
		p.write(p.request(0)+"/response.json", again)
		if p.onceMoved(0) || p.read(p.request(0)+"/receipt.json") != receipt {
			t.Errorf("the same answer again counts again: %s", p.read(p.request(0)+"/receipt.json"))
		}
	}
	p.verify(0, "approve")
}

// A different answer after one was accepted gets a note, and changes nothing.
func TestADifferentAnswerAfterTheReceiptChangesNothing(t *testing.T) {
	t.Parallel()
	p := openedPlace(t, 1)
	p.answerOnce(0, "approve")
	receipt := p.read(p.request(0) + "/receipt.json")
	p.write(p.request(0)+"/response.json", p.response(0, "reject", "no"))
	if p.onceMoved(0) || p.read(p.request(0)+"/receipt.json") != receipt || p.read(p.request(0)+"/problem.md") == "" {
		t.Errorf("note %q", p.read(p.request(0)+"/problem.md"))
	}
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	if p.onceMoved(0) || p.read(p.request(0)+"/problem.md") != "" {
		t.Errorf("the cause is gone and the note stands: %q", p.read(p.request(0)+"/problem.md"))
	}
}

// An answer to another run's request moves nothing, in whichever folder it is, and the note
// says which request it is for (beads gate #11: the wrong gate approved).
func TestAMixedUpAnswerMovesNothing(t *testing.T) {
	p := openedPlace(t, 2)
	p.write(p.request(0)+"/response.json", p.response(1, "approve", "c"))
	p.write(p.request(1)+"/form.md", p.ticked(0, "approve"))
	if p.onceMoved(0) || p.answered(0) || p.answered(1) {
		t.Fatal("an answer for another request was taken")
	}
	if note := p.read(p.request(0) + "/problem.md"); !strings.Contains(note, p.requestID(1)) {
		t.Errorf("note %q", note)
	}
	p.answerOnce(0, "approve")
	p.verify(0, "approve")
}

// An answer to an older request, replayed into the run's next one, is refused and explained
// (moneat #489).
func TestAReplayedAnswerOfAnOlderRequestIsRefused(t *testing.T) {
	t.Parallel()
	p := openedPlace(t, 1)
	old := p.response(0, "approve", "c")
	p.answerOnce(0, "request_changes")
	again := strings.NewReplacer(`"status": "in_progress",
  "current_phase"`, `"status": "awaiting_feedback",
  "current_phase"`, `"resume_point"`, `"feedback_request": {"request_id": "fr-again", "type": "review", "prompt": "And now?"},
  "resume_point"`).Replace(p.read(p.runs[0] + "/state.json"))
	p.write(p.runs[0]+"/state.json", again)
	p.placet("once")
	p.write(p.runs[0]+"/requests/fr-again/response.json", old)
	if p.onceMoved(0) || p.answered(0) {
		t.Fatalf("the old answer was taken: %s", p.read(p.runs[0]+"/state.json"))
	}
	if note := p.read(p.runs[0] + "/requests/fr-again/problem.md"); !strings.Contains(note, p.requestID(0)) {
		t.Errorf("note %q", note)
	}
}

// The artifact changed after it was shown: the approval is stale (openshift-docs
// #100818), and the new form says so.
func TestAnAnswerToAChangedArtifactIsStale(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.write("specs/x.md", "# One\n")
	p.write(p.runs[0]+"/state.json", strings.Replace(p.read(p.runs[0]+"/state.json"), `"requested_at"`, `"context": {"artifact_path": "specs/x.md"}, "requested_at"`, 1))
	p.placet("once")
	old := p.ticked(0, "approve")
	p.write("specs/x.md", "# Two, with a back door\n")
	p.placet("once")
	p.write(p.request(0)+"/form.md", old)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	if p.onceMoved(0) || p.answered(0) || !strings.Contains(p.read(p.request(0)+"/problem.md"), "stale") {
		t.Fatalf("the approval of what is no longer there was taken; note %q", p.read(p.request(0)+"/problem.md"))
	}
	forms, _ := filepath.Glob(filepath.Join(p.root, p.request(0), "form-*.md"))
	if len(forms) != 1 {
		t.Errorf("forms %v", forms)
	}
}

// An approver who edits anything but the answer changes nothing: a request that was altered
// after it was issued is void (Tekton, SRVKP-12509).
func TestAnAlteredRequestHoldsEveryAnswer(t *testing.T) {
	p := openedPlace(t, 1)
	good := p.read(p.request(0) + "/request.json")
	p.write(p.request(0)+"/request.json", strings.Replace(good, `"comment_required": [`, `"comment_required_": [`, 1))
	p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
	if p.onceMoved(0) || p.answered(0) || p.read(p.request(0)+"/request.json.problem.md") == "" {
		t.Fatal("an altered request was answered")
	}
	p.write(p.request(0)+"/request.json", good)
	if !p.onceMoved(0) || p.read(p.request(0)+"/request.json.problem.md") != "" {
		t.Error("restored, it is not answered")
	}
	p.verify(0, "approve")
}

// A stale copy of the state written over the answered one loses neither the transition nor the
// other's changes (task-master #1567), and no event is doubled.
func TestAStaleWriteBackOfTheStateIsMadeGood(t *testing.T) {
	p := openedPlace(t, 1)
	stale := strings.Replace(p.read(p.runs[0]+"/state.json"), `"work_id"`, `"theirs": [1.0, 12345678901234567890], "work_id"`, 1)
	p.answerOnce(0, "approve")
	for range 3 {
		p.write(p.runs[0]+"/state.json", stale)
		if !p.onceMoved(0) || !p.answered(0) {
			t.Fatalf("the answer is lost: %s", p.read(p.runs[0]+"/state.json"))
		}
		if got := p.read(p.runs[0] + "/state.json"); !strings.Contains(got, `"theirs": [1.0, 12345678901234567890]`) || p.state(0).Revision != 2 {
			t.Errorf("what they wrote is lost, or the revision is another: %s", got)
		}
		p.verify(0, "approve")
	}
}

// Names that others choose lead nowhere: ids with dots, slashes, line breaks, quotes and 300
// characters, links, a FIFO and a folder named state.json.
func TestHostileNamesAreNeverFollowed(t *testing.T) {
	t.Parallel()
	p := openedPlace(t, 1)
	outside := t.TempDir()
	runs := filepath.Dir(p.runs[0])
	for _, id := range []string{"..", "../../x", "a/b", "a\nb", `a"b`, strings.Repeat("a", 300), "\u202ea", ""} {
		p.write(runs+"/10000000-0000-4000-8000-000000000000/state.json", strings.NewReplacer("fr-20261120-000001", strings.ReplaceAll(strings.ReplaceAll(id, "\n", `\n`), `"`, `\"`)).Replace(waitingState))
		out, code := p.placet("once")
		if code != 1 || strings.Contains(out, "\u202e") {
			t.Errorf("id %q: once ends with %d: %s", id, code, out)
		}
		if note := p.read(runs + "/10000000-0000-4000-8000-000000000000/state.json.problem.md"); note == "" {
			t.Errorf("id %q: no note", id)
		}
	}
	if err := os.Symlink(outside, filepath.Join(p.root, runs, "20000000-0000-4000-8000-000000000000")); err != nil {
		t.Fatal(err)
	}
	p.placet("once")
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("something was written over a link: %v %v", entries, err)
	}
	p.remove(runs + "/20000000-0000-4000-8000-000000000000")
	p.answerOnce(0, "approve")
}
