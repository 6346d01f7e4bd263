package optimizer

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"placet/internal/badinput"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// spoil puts a kind of bad file into a place, and reports whether the kind applies.
func spoil(s *enginetest.Scramble, k badinput.Kind, p string, good badinput.Good) bool {
	switch {
	case k.Copy || k.Missing:
		return false
	case k.Closed:
		s.Odd(p, fs.ModeIrregular) // so that an error is right
		s.Disk.Delete(p)
		s.Put(p, good.Body)
		s.Disk.Chmod(p, 0, 0, 0)
	case k.Odd != 0:
		s.Odd(p, k.Odd)
	default:
		bad, applies := k.Spoil(good)
		if !applies {
			return false
		}
		s.Put(p, bad)
	}
	return true
}

// What upstream's observer and earlier cycles have left is another's business: bad
// files among it are a warning at most, and the cycle goes on.
func TestNoBadFileOfOthersHoldsACycleUp(t *testing.T) {
	const earlier = ".mso-context/archive/2026-02/20260202-msowd-sop-masking/optimizer"
	trigger := `{"workflow_name": "sop", "last_run_id": "20260202-msowd-sop-masking"}`
	goal := `{"next_automation_level": 30, "optimization_directives": ["d"], "carry_over_issues": ["i"], "approved_by": "human_feedback"}`
	callback := path.Dir(badRun) + "/60_observability/callback-1.json"
	for p, good := range map[string]badinput.Good{
		callback:                               {Body: `{"event_type": "anomaly_detected", "message": "m"}`, Required: "event_type", Text: "message"},
		earlier + "/goal.json":                 {Body: goal, Required: "approved_by", Text: "carry_over_issues", Word: "approved_by", Number: "next_automation_level"},
		earlier + "/state.json":                {Body: `{"status": "goal"}`, Required: "status"},
		earlier + "/audit.json":                {Body: `{"db": "x", "rows": []}`, Required: "db", Text: "db"},
		earlier + "/trigger.json":              {Body: goodTrigger, Required: "workflow_name", Word: "trigger_type", ID: "workflow_name"},
		earlier + "/requests/hitl-1/late.json": {Body: `{"request_id": "hitl-1"}`, ID: "request_id"},
		path.Dir(earlier) + "/manifest.json":   {Body: `{"status": "completed"}`, Word: "status"},
	} {
		t.Run(path.Base(p), func(t *testing.T) {
			t.Parallel()
			for i, k := range badinput.Kinds {
				if testing.Short() && (i%5 != 0 || k.Name == "10 MB") {
					continue
				}
				s := enginetest.NewScramble(t, badSuite())
				s.Put(path.Join(badRun, "inputs/assets.json"), goodAssets)
				s.Put(earlier+"/goal.json", goal)
				if !spoil(s, k, p, good) {
					continue
				}
				s.Put(path.Join(badRun, "trigger.json"), trigger)
				s.Look()
				if k.Closed && p != callback && path.Base(p) != "audit.json" {
					// What the cycle behind says may decide, once it can be read.
					if state := s.Disk.Tree()[badRun+"/state.json"]; !strings.Contains(state, `"status": "context"`) {
						t.Errorf("%s: the cycle does not wait:\n%s", k.Name, state)
					}
					continue
				}
				tree := enginetest.Tree(s.Disk.Tree())
				var st State
				if err := schemas.Decode("optimizer/state", "state.json", []byte(tree[badRun+"/state.json"]), &st); err != nil || st.Status != Running {
					t.Errorf("%s: the cycle is %q, %v", k.Name, st.Status, err)
				}
				for p := range tree {
					if strings.HasSuffix(p, layout.ProblemSuffix) {
						t.Errorf("%s: there is a note: %s\n%s", k.Name, p, tree[p])
					}
				}
				var f Findings
				if err := schemas.Decode("optimizer/context", "context.json", []byte(tree[badRun+"/context.json"]), &f); err != nil {
					t.Errorf("%s: %v", k.Name, err)
				}
				switch k.Name {
				case "CRLF", "doubly encoded UTF-8": // only look bad
					continue
				}
				said := strings.Join(f.Warnings, "\n")
				if p == callback && k.Odd != fs.ModeDir && (len(f.Callbacks) > 0 || !strings.Contains(said, "callback-1.json")) {
					t.Errorf("%s: callbacks %v, warnings %q", k.Name, f.Callbacks, said)
				}
				if strings.HasSuffix(p, "/goal.json") && (f.PreviousGoal != nil || !strings.Contains(said, "20260202-msowd-sop-masking")) {
					t.Errorf("%s: goal %v, warnings %q", k.Name, f.PreviousGoal, said)
				}
			}
		})
	}
}

// Whatever lies in the place of a document that placet wrote itself: the cycle
// comes to rest, its state does not fall back, nothing ends in a bug, and once the
// document is back as it was, nothing has been lost.
func TestNoBadFileInThePlaceOfPlacetsOwnEndsInABug(t *testing.T) {
	open, dir := openCycle(t)
	answer := enginetest.Tree{dir + "/response.json": goodAnswer(dir)}
	over := settled(t, open, answer)
	for name, tree := range map[string]enginetest.Tree{"asked": open, "over": over} {
		for _, p := range tree.Paths() {
			rel, inside := strings.CutPrefix(p, badRun+"/")
			f, known := layout.Optimizer{}.File(layout.Run{}, rel)
			alsoInput := name == "asked" && slices.Contains([]string{"state.json", "request.json", "form.md"}, path.Base(p)) // see badAnswers
			if !inside || !known || alsoInput || f.Writer != layout.Placet && f.Kind != layout.KindForm || f.Kind == layout.KindProblem {
				continue
			}
			t.Run(name+" "+rel, func(t *testing.T) {
				t.Parallel()
				for i, k := range badinput.Kinds {
					_, shown := open[p] // while the request was open, with every kind
					if testing.Short() && (i%5 != 0 || k.Name == "10 MB") || name == "over" && shown && i%3 != 0 {
						continue
					}
					putBack(t, tree, answer, p, k)
				}
			})
		}
	}
}

// putBack tells one story: a bad file in a document's place, and the document again.
func putBack(t *testing.T, tree, answer enginetest.Tree, p string, k badinput.Kind) {
	s := enginetest.NewScramble(t, badSuite())
	for q, body := range tree {
		s.Put(q, body)
	}
	s.Look()
	good := badinput.Good{Body: tree[p]}
	if !strings.HasSuffix(p, ".json") {
		good.Format = badinput.Markdown
	}
	if k.Missing {
		s.Disk.Delete(p)
	} else if !spoil(s, k, p, good) {
		return
	}
	there, _ := s.Disk.Get(p)
	s.Look()
	if now, _ := s.Disk.Get(p); now != there && !k.Missing && !rewritten(p, k) {
		t.Errorf("%s: it was written over", k.Name)
	}
	if (k.Odd != 0 || k.Closed) && noted(s.Disk.Tree()) == unread(tree, p) {
		t.Errorf("%s: a note stands: %t", k.Name, !unread(tree, p))
	}
	if state := s.Disk.Tree()[badRun+"/state.json"]; p != badRun+"/state.json" && state != tree[badRun+"/state.json"] {
		t.Errorf("%s: the state is another:\n%s", k.Name, state)
	}
	s.Disk.Delete(p)
	s.Put(p, tree[p])
	for q, body := range answer {
		s.Put(q, body)
	}
	s.Look()
	after := enginetest.Tree(s.Disk.Tree())
	var st State
	if err := schemas.Decode("optimizer/state", "state.json", []byte(after[badRun+"/state.json"]), &st); err != nil || st.Status != Reached {
		t.Errorf("%s: once it is back, the cycle is %q, %v", k.Name, st.Status, err)
	}
	for q, body := range after {
		if strings.HasSuffix(q, "problem.md") {
			t.Errorf("%s: once it is back, there is a note: %s\n%s", k.Name, q, body)
		}
	}
}

// rewritten reports whether placet may write a document again although it is there:
// one that only looks bad says the same, and the end of a journal is cut and written
// again.
func rewritten(p string, k badinput.Kind) bool {
	return k.Name == "CRLF" || k.Name == "doubly encoded UTF-8" || path.Base(p) == "events.jsonl"
}

// unread reports whether nobody looks at a document any more: what was shown to the
// person who has answered.
func unread(tree enginetest.Tree, p string) bool {
	over := strings.Contains(tree[badRun+"/state.json"], `"status": "goal"`)
	return over && slices.Contains([]string{"request.json", "form.md", "level20_report.md"}, path.Base(p))
}

// noted reports whether a problem note stands in the cycle.
func noted(tree enginetest.Tree) bool {
	return slices.ContainsFunc(tree.Paths(), func(p string) bool { return strings.HasPrefix(p, badRun+"/") && strings.HasSuffix(p, "problem.md") })
}
