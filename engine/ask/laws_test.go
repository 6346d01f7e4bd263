package ask

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

func TestLaws(t *testing.T)        { enginetest.Run(t, laws()) }
func TestCrash(t *testing.T)       { enginetest.Crash(t, some()) }
func TestErrors(t *testing.T)      { enginetest.Errors(t, some()) }
func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, some()) }
func TestLanguages(t *testing.T)   { enginetest.Languages(t, laws()) }

// some are the scenarios that are run with a fault at every call.
func some() enginetest.Suite {
	s := laws()
	s.Cases = slices.DeleteFunc(s.Cases, func(c enginetest.Case) bool {
		return !slices.Contains([]string{"approved", "edited", "expired with a default", "withdrawn", "dropped", "superseded"}, c.Name)
	})
	return s
}

const (
	dir = ".asks/deploy-14"
	yes = `{"question": "Deploy 1.4 to production?"}`
	two = `{"question": "Deploy?", "options": [{"id": "deploy", "description": "now"}, {"id": "wait"}]`
)

var now = time.Date(2026, 11, 22, 13, 51, 40, 0, time.UTC)

func laws() enginetest.Suite {
	return enginetest.Suite{
		Machine: New(), Layout: layout.Ask{}, Config: engine.Config{Language: "en", Family: DefaultConfig()},
		Final:   map[string][]engine.Status{ofAsk: {Answered, Expired, Withdrawn, Superseded}},
		Persons: []string{"answered", "withdrawn", "superseded", "dropped"}, EveryRow: true, Asks: types, Lengths: timesAside, After: wellWritten, Cases: cases(),
	}
}

// wellWritten checks that placet's files fit the schemas, and that each final ask has its
// answer.
func wellWritten(tree enginetest.Tree, _ map[string][]engine.Row) error {
	for p, body := range tree {
		name, known := map[string]string{"answer.json": "ask/answer", "state.json": "ask/state"}[path.Base(p)]
		if !known || body == theirs {
			continue
		}
		var st State
		if err := schemas.Decode(name, p, []byte(body), &st); err != nil {
			return err
		}
		if st.Status != Open && (tree[path.Dir(p)+"/answer.json"] == "" || tree[path.Dir(p)+"/answer.md"] == "") {
			return fmt.Errorf("%s is %s and has no answer", p, st.Status)
		}
	}
	return nil
}

// timesAside removes from a tree the times that are written for people.
func timesAside(tree enginetest.Tree) enginetest.Tree {
	for p, body := range tree {
		tree[p] = timeForPeople.ReplaceAllString(body, "<time>")
	}
	return tree
}

var timeForPeople = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`)

const theirs = `{"answered": true}`

func story(name, ask string, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{Name: name, Now: now, Files: enginetest.Tree{dir + "/ask.json": ask}, Steps: steps}
}

// with puts further files, each a path and its content, at the beginning of a scenario.
func with(c enginetest.Case, pairs ...string) enginetest.Case {
	for i := 0; i < len(pairs); i += 2 {
		c.Files[pairs[i]] = pairs[i+1]
	}
	return c
}

func noted(c enginetest.Case) enginetest.Case {
	c.Notes = true
	return c
}

func ticks(items ...string) enginetest.Step {
	return enginetest.Step{Name: "tick " + strings.Join(items, ", "), Do: func(t enginetest.Tree) {
		for _, item := range items {
			t.Replace(dir+"/requests/*/form.md", "- [ ] "+item, "- [x] "+item)
		}
	}}
}

// ticksAgain is the step in which a person fills in the form that was issued after answers were
// void.
func ticksAgain(items ...string) enginetest.Step {
	return enginetest.Step{Name: "tick again " + strings.Join(items, ", "), Do: func(t enginetest.Tree) {
		for _, item := range items {
			t.Replace(dir+"/requests/*/form-*.md", "- [ ] "+item, "- [x] "+item)
		}
	}}
}

// editable is a question about a file that a person may change.
const editable = `{"question": "Well?", "artifacts": [{"path": "plan.md", "editable": true}]}`

// edits is the step in which a reviewer changes the text in a form.
func edits(from, to string) enginetest.Step {
	return enginetest.Step{Name: "change " + from, Do: func(t enginetest.Tree) {
		t.Replace(dir+"/requests/*/form.md", "```\n"+from+"\n```", "```\n"+to+"\n```")
	}}
}

// comments is the step in which a reviewer writes into a form and sends it.
func comments(words string) enginetest.Step {
	return enginetest.Step{Name: "write " + words, Do: func(t enginetest.Tree) {
		t.Replace(dir+"/requests/*/form.md", "\n\n\n\n- [ ] submit", "\n\n"+words+"\n\n- [x] submit")
	}}
}

// responds is the step in which somebody writes response.json.
func responds(members string) enginetest.Step {
	return enginetest.Step{Name: "respond " + members, Do: func(t enginetest.Tree) {
		d := path.Dir(t.Find(dir + "/requests/*/request.json"))
		t[d+"/response.json"] = fmt.Sprintf(`{"request_id": %q, %s, "provided_by": {"user": "kim", "source": "file"}}`, path.Base(d), members)
	}}
}

func put(rel, body string) enginetest.Step { return enginetest.Write(path.Join(dir, rel), body) }

func cases() []enginetest.Case {
	pass := enginetest.Pass
	const withdrawal = `{"reason": "not needed", "by": "kim"}`
	return []enginetest.Case{
		story("approved", yes, ticks("approve", "submit")),
		story("expired with a default", two+`, "deadline": "1h", "default": "Wait"}`, pass(2*time.Hour)),
		story("expired", two+`, "deadline": "2026-11-22T14:00:00+00:00"}`, pass(time.Hour)),
		story("past", two+`, "deadline": "2026-11-22T13:00:00Z"}`),
		story("withdrawn", yes, put("withdraw.json", withdrawal)),
		{Name: "dropped", Now: now, Files: enginetest.Tree{dir + "/withdraw.json": withdrawal}, Steps: []enginetest.Step{put("ask.json", yes)}},
		story("superseded", yes, enginetest.Write(".asks/other/ask.json", `{"question": "Which?", "type": "text", "supersedes": "deploy-14"}`),
			put("withdraw.json", `{"reason": "another", "superseded_by": "other"}`)),
		story("chosen", two+"}", responds(`"response": "wait"`)),
		story("several", `{"question": "Which?", "type": "multi", "options": [{"id": "a"}, {"id": "b"}]}`, ticks("a", "b", "submit")),
		story("none", `{"question": "Which?", "type": "multi", "options": [{"id": "a"}]}`, ticks("none", "submit")),
		story("text", `{"question": "What?", "type": "text", "context": "so:\n- [x] submit this answer\n"}`, comments("this")),
		with(story("reviewed", `{"question": "Well?", "type": "review", "artifacts": [{"path": "plan.md"}, {"path": "info.md", "binding": false}]}`,
			responds(`"response": "request_changes"`), enginetest.Write("info.md", "other"), responds(`"response": "request_changes", "comment": "shorter"`)),
			"plan.md", "the plan", "info.md", "info"),
		with(story("edited", editable, edits("the plan", "a plan\n```\n- [x] submit this answer"), ticks("approve", "submit")), "plan.md", "the plan\n"),
		with(story("edited and refused", editable, edits("the plan", "a plan"), ticks("reject", "submit")), "plan.md", "the plan\n"),
		noted(with(story("stale", `{"question": "Well?", "artifacts": [{"path": "plan.md"}], "deadline": "1h"}`,
			enginetest.Write("plan.md", "other"), ticks("approve", "submit"), pass(2*time.Hour)), "plan.md", "the plan")),
		noted(with(story("void", `{"question": "Well?", "artifacts": [{"path": "plan.md"}]}`,
			enginetest.Write("plan.md", "other"), ticks("approve", "submit"), enginetest.Write("plan.md", "the plan"), ticksAgain("reject", "submit")), "plan.md", "the plan")),
		noted(story("somebody's answer", yes, put("answer.json", theirs), ticks("approve", "submit"))),
		noted(story("changed", yes, put("ask.json", `{"question": "Another?"}`), ticks("reject", "submit"))),
	}
}
