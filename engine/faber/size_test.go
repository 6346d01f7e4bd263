package faber

import (
	"fmt"
	"strings"
	"testing"

	"placet/engine"
)

// bigState returns a state document that notes so many steps in one of the shapes.
func bigState(shape byte, steps int) string {
	list := func(item func(i int) string) string {
		all := make([]string, steps)
		for i := range all {
			all[i] = item(i)
		}
		return strings.Join(all, ",")
	}
	phases := map[byte]func() string{
		'a': func() string {
			return `{"build": {"steps": [` + list(func(i int) string { return fmt.Sprintf(`{"id": "s%d", "status": "completed"}`, i) }) + `]}}`
		},
		'b': func() string {
			return `{"build": {"steps": [` + list(func(i int) string { return fmt.Sprintf(`"s%d"`, i) }) + `]}}`
		},
		'c': func() string {
			return `{"build": {"completed_step_ids": [` + list(func(i int) string { return fmt.Sprintf(`"build:s%d"`, i) }) + `]}}`
		},
		'd': func() string { return `[]` },
		'e': func() string {
			return `{"build": {"steps": {` + list(func(i int) string { return fmt.Sprintf(`"s%d": {"status": "completed"}`, i) }) + `}}}`
		},
		'p': func() string { // as many phases
			return `{` + list(func(i int) string {
				return fmt.Sprintf(`"p%d": {"steps": [{"id": "s%d", "status": "completed"}]}`, i, i)
			}) + `}`
		},
	}[shape]()
	root := ""
	if shape == 'd' {
		root = `, "steps": [` + list(func(i int) string { return fmt.Sprintf(`{"phase": "build", "step_id": "s%d", "status": "success"}`, i) }) + `]`
	}
	return `{"status": "failed", "updated_at": "2026-11-20T10:00:00Z", "phases": ` + phases + root + `}`
}

// bigRun returns a run that notes so many steps in one of the shapes.
func bigRun(shape byte, steps int) engine.Snapshot {
	body := []byte(bigState(shape, steps))
	return engine.Snapshot{
		Key: engine.Key{Family: "faber", ID: "a/b/c"}, Dir: "r/a/b/c",
		Docs: []engine.Document{{Path: "r/a/b/c/state.json", Kind: engine.KindState, Body: body, Sum: engine.Sum(body)}},
	}
}

// A hundred thousand steps cost time proportional to their text: a quadratic algorithm would take
// minutes.
func BenchmarkAccount(b *testing.B) {
	for _, shape := range []byte("abcdep") {
		for _, steps := range []int{1000, 100_000} {
			b.Run(fmt.Sprintf("%c%d", shape, steps), func(b *testing.B) {
				s := bigRun(shape, steps)
				for b.Loop() {
					New().Account(s)
				}
			})
		}
	}
}

// Every shape shows all steps, each with its status.
func TestEveryShapeShowsItsSteps(t *testing.T) {
	const steps = 65
	for _, shape := range []byte("abcdep") {
		a := New().Account(bigRun(shape, steps))
		if len(a.Graph) != steps {
			t.Errorf("shape %c: %d steps, %v", shape, len(a.Graph), a.Why)
			continue
		}
		for i, n := range a.Graph {
			if n.Status != Completed {
				t.Errorf("shape %c: step %d is %s", shape, i, n.Status)
				break
			}
		}
	}
}

// The first entry of a step noted twice counts; a step in several lists counts as completed before
// skipped.
func TestAStepThatIsNotedTwice(t *testing.T) {
	for body, want := range map[string]engine.Status{
		`{"phases": {"build": {"steps": [{"id": "x", "status": "failed"}, {"id": "x", "status": "completed"}]}}}`:                                     Failed,
		`{"phases": {"build": {"completed_steps": ["x"], "skipped_steps": ["x"]}}}`:                                                                   Completed,
		`{"phases": {"build": {"completed_steps": [], "skipped_steps": ["build:x"]}}}`:                                                                Skipped,
		`{"phases": [], "steps": [{"step_id": "x", "status": "failure"}, {"step_id": "x", "phase": "build", "status": "success"}]}`:                   Failed,
		`{"phases": [], "steps": [{"step_id": "x", "phase": "frame", "status": "failure"}, {"step_id": "x", "phase": "build", "status": "success"}]}`: Completed,
		`{"phases": [{"name": "build"}], "steps": []}`:                                                                                                "",
		`{}`: "",
	} {
		doc := []byte(strings.Replace(body, "{", `{"status": "in_progress", `, 1))
		doc = []byte(strings.Replace(string(doc), ", }", "}", 1))
		_, r := family.View(engine.Snapshot{Dir: "r", Docs: []engine.Document{{Path: "r/state.json", Body: doc, Sum: engine.Sum(doc)}}})
		if r.state.unfit != nil {
			t.Errorf("%s: %s", body, r.state.unfit)
		}
		if got := r.state.shape.status("build", "x"); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A chain of definitions reads upstream's register once.
func TestALongChainOfDefinitions(t *testing.T) {
	const links = 65
	var register []string
	var docs []engine.Document
	add := func(p, body string) {
		docs = append(docs, engine.Document{Path: p, Body: []byte(body), Sum: engine.Sum([]byte(body))})
	}
	var bodies []string
	for i := range links {
		register = append(register, fmt.Sprintf(`{"id": "w%05d", "file": "wf/%05d.json"}`, i, i))
		bodies = append(bodies, fmt.Sprintf(`{"id": "w%05d", "extends": "w%05d", "phases": {"build": {"post_steps": [{"id": "s%d"}]}}}`, i, i+1, i))
	}
	bodies[links-1] = `{"id": "last", "phases": {}}`
	add(faberConfig, `{"workflows": [`+strings.Join(register, ",")+`]}`)
	add("r/state.json", `{"status": "in_progress", "workflow_id": "w00000"}`)
	for i, b := range bodies {
		add(fmt.Sprintf("wf/%05d.json", i), b)
	}
	_, r := family.View(engine.Snapshot{Dir: "r", Docs: docs})
	if flow := r.plan(); len(flow.steps) != links-1 || flow.problem != "" {
		t.Errorf("%d steps, %s", len(flow.steps), flow.problem)
	}
}
