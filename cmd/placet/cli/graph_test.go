package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

var plan = []engine.Node{
	{ID: "frame:a", Group: "frame", Label: "a", Status: "completed"},
	{ID: "build:b", Group: "build", Label: "b \"quoted\" <i>\u202e", Status: "in_progress", Current: true},
	{ID: "build:c", Group: "build", Status: "pending", Gate: true},
}

func TestAPlanMarksWhereTheRunStands(t *testing.T) {
	var out bytes.Buffer
	b := &workspace.Workspace{Env: &console.Env{Out: &out}}
	planTable(b.Env, plan, nil).Print(b.Env, b.Env.Out)
	want := `  frame
    ✓ a           completed
  build
    ● b "quoted" <i>\u{202e}  in_progress  ← here
    ◇ build:c     pending
`
	if got := strings.Join(strings.Fields(out.String()), " "); got != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if strings.Count(out.String(), "← here") != 1 {
		t.Error("more than one place is marked")
	}
}

func TestAPlanAsAMermaidDiagram(t *testing.T) {
	want := `flowchart TD
  subgraph g0["frame"]
    n0["a: completed"]
  end
  subgraph g1["build"]
    n1["b #quot;quoted#quot; &lt;i&gt;\u{202e}: in_progress"]
    n2{"build:c: pending"}
  end
  n0 --> n1
  style n1 stroke-width:4px
  n1 --> n2
`
	if got := planMermaid(&console.Env{}, plan); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	after := []engine.Node{{ID: "x"}, {ID: "y", After: []string{"x", "unknown"}}, {ID: "z"}}
	if got, want := planMermaid(&console.Env{}, after), "flowchart TD\n    n0[\"x\"]\n    n1[\"y\"]\n    n2[\"z\"]\n  n0 --> n1\n"; strings.ReplaceAll(got, ": ", "") != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAPlanAsArrowsAndLevels(t *testing.T) {
	nodes := []engine.Node{
		{ID: "x", Group: "1"}, {ID: "y", Group: "1"}, {ID: "z", Group: "2", After: []string{"x", "y", "unknown"}},
	}
	if diff := cmp.Diff([]arrowLine{{"x", "z"}, {"y", "z"}}, arrows(nodes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]levelLine{{"1", []string{"x", "y"}}, {"2", []string{"z"}}}, levels(nodes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]arrowLine{{"frame:a", "build:b"}, {"build:b", "build:c"}}, arrows(plan)); diff != "" {
		t.Errorf("of a plan without arrows: %s", diff)
	}
	var out bytes.Buffer
	planTable(&console.Env{}, nodes, nil).Print(&console.Env{}, &out)
	for _, want := range []string{"  level 1\n", "  level 2\n", "after x, y, unknown\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for name, test := range map[string]struct {
		nodes []engine.Node
		want  bool
	}{
		"none": {nil, true}, "one": {nodes[:1], true}, "side by side": {nodes, false}, "unsaid": {plan, true},
		"said":        {[]engine.Node{{ID: "a"}, {ID: "b", After: []string{"a"}}}, true},
		"a cycle":     {[]engine.Node{{ID: "a", After: []string{"b"}}, {ID: "b", After: []string{"a"}}}, false},
		"leaving out": {[]engine.Node{{ID: "a"}, {ID: "b", After: []string{"a"}}, {ID: "c", After: []string{"a"}}}, false},
	} {
		if got := isChain(test.nodes); got != test.want {
			t.Errorf("%s: a chain %v, want %v", name, got, test.want)
		}
	}
}

func TestATableAsAMermaidDiagram(t *testing.T) {
	got := tableMermaid([]engine.Edge{
		{Of: "run", From: "", Event: "adopted", To: "waiting"},
		{Of: "run", From: "waiting", Event: "answered", To: "ended"},
		{Of: "step", From: "pending", Event: "started", To: "running"},
	})
	want := `stateDiagram-v2
  state run {
    [*] --> run_waiting: adopted
    run_waiting --> run_ended: answered
  }
  state step {
    step_pending --> step_running: started
  }
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A node at work is followed by its progress, and the longest path is marked if there are other
// paths.
func TestAPlanSaysHowFarItsPartsHaveGot(t *testing.T) {
	w := &console.Env{}
	nodes := []engine.Node{
		{ID: "A", Group: "1", Status: "complete", Critical: true}, {ID: "B", Group: "1", Status: "running", Current: true},
		{ID: "C", Group: "2", Status: "running", Current: true, Critical: true, After: []string{"A"}},
	}
	parts := []engine.Part{
		{ID: "A", Progress: &engine.Progress{Value: 1}}, {ID: "B", Progress: &engine.Progress{Value: 0.5, Task: "a\x1b[2J"}}, {ID: "C"},
		{ID: "build/C/impl", Progress: &engine.Progress{Value: 0.42, Task: "count lines", Used: 5100, Of: 15000}}, {ID: "build/C/test"},
	}
	want := `  level 1
    ✓ A    complete            critical path
    ● B    running    ← here   50 % a\u{1b}[2J
  level 2
    ● C    running    ← here   after A; critical path; impl 42 % count lines (5100 of 15000 tokens)
`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(planTable(w, nodes, parts).Text(w))); diff != "" {
		t.Error(diff)
	}
}

// Without a terminal a drawing follows the last one, if it differs.
func TestADrawingIsPrintedAgainWhereItChanged(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&console.Env{Out: &out})
	for _, text := range []string{"a\n", "a\n", "b\n", "b\n"} {
		s.show(text)
	}
	s.leave()
	if got := out.String(); got != "a\n\nb\n" {
		t.Errorf("%q", got)
	}
}
