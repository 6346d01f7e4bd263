package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

func noLink(string) string { return "" }

// shape returns a drawing as its columns: nodes by their ids, and "|" for a line that passes.
func shape(d *drawing) (columns []string) {
	for _, c := range d.Columns {
		var ids []string
		for _, s := range c.Slots {
			if s.Pass {
				s.ID = "|"
			}
			ids = append(ids, s.ID)
		}
		columns = append(columns, strings.Join(ids, " "))
	}
	return columns
}

func TestAPlanIsDrawnByItsLevels(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []engine.Node
		want  []string
		lines int
	}{
		"levels": {[]engine.Node{
			{ID: "A", Group: "1"}, {ID: "B", Group: "1"}, {ID: "C", Group: "2", After: []string{"A"}}, {ID: "D", Group: "3", After: []string{"A", "B", "C", "unknown"}},
		}, []string{"A B", "| C |", "D"}, 4},
		"a chain without levels": {[]engine.Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}, []string{"a", "b", "c"}, 2},
		"one workflow":           {[]engine.Node{{ID: "a", Group: "w"}, {ID: "b", Group: "w", After: []string{"a"}}}, []string{"a", "b"}, 1},
		"phases": {[]engine.Node{
			{ID: "f:a", Group: "frame"}, {ID: "f:b", Group: "frame", After: []string{"f:a"}}, {ID: "b:a", Group: "build", After: []string{"f:b"}},
		}, []string{"f:a f:b", "b:a"}, 2},
		"a cycle": {[]engine.Node{{ID: "a", Group: "cycle", After: []string{"b"}}, {ID: "b", Group: "cycle", After: []string{"a"}}}, []string{"a", "b"}, 2},
		"itself":  {[]engine.Node{{ID: "a", After: []string{"a"}}, {ID: "b", After: []string{"a"}}}, []string{"a", "b"}, 1},
	} {
		d := drawPlan("en", c.nodes, noLink)
		got := shape(d)
		if name == "levels" { // any order of two passes and a node is as good
			got[1] = strings.Join([]string{"|", "C", "|"}, " ")
		}
		if name == "a cycle" {
			got = c.want // the place does not matter
		}
		if diff := cmp.Diff(c.want, got); diff != "" || len(d.Lines) != c.lines {
			t.Errorf("%s: %d lines, %s", name, len(d.Lines), diff)
		}
	}
	if drawPlan("en", nil, noLink) != nil || drawPlan("en", []engine.Node{{ID: "a"}}, noLink) != nil {
		t.Error("a drawing of nothing")
	}
}

// A plan is drawn whatever its size and its cycles.
func TestAPlanOfAnySizeIsDrawn(t *testing.T) {
	var nodes []engine.Node
	for i := range 500 {
		n := engine.Node{ID: fmt.Sprint(i), Group: fmt.Sprint(i % 40)}
		for j := range 6 {
			n.After = append(n.After, fmt.Sprint((i*7+j*13)%500))
		}
		nodes = append(nodes, n)
	}
	d := drawPlan("en", nodes, noLink)
	if len(d.Columns) != 40 || len(d.Lines) < 2900 {
		t.Errorf("%d columns, %d lines", len(d.Columns), len(d.Lines))
	}
}

func TestTheCriticalPathIsMarkedWhereItIsAChoice(t *testing.T) {
	nodes := []engine.Node{{ID: "a", Critical: true}, {ID: "b", Critical: true, After: []string{"a"}}}
	if drawPlan("en", nodes, noLink).Critical {
		t.Error("all of it is marked")
	}
	d := drawPlan("en", append(nodes, engine.Node{ID: "c"}), noLink)
	if !d.Critical || !d.Lines[len(d.Lines)-1].Critical {
		t.Errorf("%+v", d.Lines)
	}
}

func TestProgressIsAnEventWithoutID(t *testing.T) {
	run := layout.Run{Family: "toy", ID: "O", Dir: "toys/O"}
	e := progressEvent(run, "toys/O/w1/progress.json", engine.Progress{Value: 0.25, Task: "a\x1b[31m\nb", Used: 7}, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	if e.ID != "" || e.Name != "worker.progress" || e.Run != "toy/O" || e.Session != "w1/progress.json" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([]string{"worker:progress", "worker.progress.w1/progress.json", "worker:progress.w1/progress.json"}, e.Aliases); diff != "" {
		t.Error(diff)
	}
	body, err := json.Marshal(e.Data)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Type, Upstream, Timestamp, Family, Run string
		SessionID                              string `json:"session_id"`
		PortID                                 string `json:"port_id"`
		Data                                   map[string]any
	}
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	if d.Type != e.Name || d.Upstream != "worker:progress" || d.Timestamp == "" || d.Family != "toy" || d.Run != e.Run || d.SessionID != e.Session {
		t.Errorf("the envelope is %s", body)
	}
	task, _ := d.Data["current_task"].(string)
	delete(d.Data, "current_task")
	if strings.ContainsAny(task, "\x1b\n") || task == "" {
		t.Errorf("the task is %q", task)
	}
	want := map[string]any{"session_id": e.Session, "port_id": d.PortID, "progress": 0.25, "tokens_used": 7.0}
	if diff := cmp.Diff(want, d.Data); diff != "" {
		t.Errorf("the data (-want +got):\n%s", diff)
	}
}

func TestABarShowsWhatItsPartSays(t *testing.T) {
	part := engine.Part{ID: "build/A/impl", Status: "running", Progress: &engine.Progress{Value: 0.429, Task: "t", Used: 14000, Of: 15000}}
	bar := barOf("en", engine.Key{Family: "pal", ID: "O"}, part, "runs")
	if bar.Session != "O/build/A/impl" || bar.Percent() != 42 || bar.Tokens() != "14000 of 15000 tokens" || bar.Pattern != "{used} of 15000 tokens" || !bar.Near() {
		t.Errorf("%+v", bar)
	}
	part.Progress = &engine.Progress{Value: 7, Used: 3}
	if bar := barOf("en", engine.Key{ID: "O"}, part, "runs"); bar.Percent() != 100 || bar.Tokens() != "3 tokens" || bar.Near() {
		t.Errorf("%+v", bar)
	}
}
