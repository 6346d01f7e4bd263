package enginetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

func rowAction(id, value string) engine.Action {
	return engine.Action{ID: id, Database: &engine.Database{Path: ledger, Insert: &engine.Row{
		Table: "runs", ID: "RUN-a", Values: []engine.Field{{Name: "id", Value: "RUN-a"}, {Name: "text", Value: value}},
	}}}
}

// ends begins actions, delivers, and returns how they ended.
func (o *outside) ends(actions ...engine.Action) map[string]string {
	for _, a := range actions {
		o.begin(a)
	}
	o.deliver(begin)
	f := engine.Environment{Alive: map[string]bool{}}
	o.facts(&f, func(string) bool { return false })
	words := map[string]string{}
	for id, e := range f.Ended {
		words[id] = e.Result + string(e.Output)
	}
	for id := range f.Alive {
		words[id] = "alive"
	}
	return words
}

func TestARowIsInADatabaseOnce(t *testing.T) {
	o := newOutside(Suite{})
	want := map[string]string{"1": "done", "2": "present", "3": "refused"}
	if diff := cmp.Diff(want, o.ends(rowAction("1", "x"), rowAction("2", "x"), rowAction("3", "y"))); diff != "" {
		t.Error(diff)
	}
	o.lock(ledger, true)
	if got := o.ends(rowAction("4", "x"))["4"]; got != "failed" {
		t.Errorf("a locked database: %q", got)
	}
	if n := len(o.rows[ledger]); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// Placet forgets with a restart; the database does not, and a copy is another one.
func TestARestartForgetsEndsAndKeepsRows(t *testing.T) {
	o := newOutside(Suite{})
	o.begin(engine.Action{ID: "work", Outcome: "outcome.json"})
	o.begin(engine.Action{ID: "tool"})
	o.ends(rowAction("1", "x"))
	before := o.clone()
	o.begin(rowAction("2", "x")) // not carried out yet
	if _, err := o.command("tool", engine.Ended{Result: "finished"}, begin); err != nil {
		t.Fatal(err)
	}
	o.restart()
	if diff := cmp.Diff(map[string]string{"work": "alive"}, o.ends()); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{"work": "alive", "tool": "finished", "1": "present"}
	if diff := cmp.Diff(want, o.ends(engine.Action{ID: "tool"}, rowAction("1", "x"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"work": "alive", "tool": "alive", "1": "done"}, before.ends()); diff != "" {
		t.Errorf("the copy: %s", diff)
	}
}

func TestAnEndIsForgottenAndACommandStopped(t *testing.T) {
	o := newOutside(Suite{})
	o.begin(engine.Action{ID: "tool"})
	o.end("tool")
	if got := o.ends()["tool"]; got != "stopped" {
		t.Errorf("ended: %q", got)
	}
	o.end("tool")
	o.begin(rowAction("1", "x"))
	o.end("1") // the row is written all the same
	if diff := cmp.Diff(map[string]string{"1": "done"}, o.ends()); diff != "" {
		t.Error(diff)
	}
}

func TestALookIsAnsweredByTheSuite(t *testing.T) {
	look := func(id string) engine.Action {
		return engine.Action{ID: id, Database: &engine.Database{Path: ledger, Select: []engine.Query{{Name: "a"}, {Name: "b"}}}}
	}
	plain := newOutside(Suite{})
	if got := plain.ends(look("1"))["1"]; got != `done{"a":[],"b":[]}` {
		t.Error(got)
	}
	told := newOutside(Suite{Rows: func(path string, q engine.Query) []map[string]any {
		if path != ledger || q.Name != "b" {
			return nil
		}
		return []map[string]any{{"id": "RUN-a"}}
	}})
	if got := told.ends(look("1"))["1"]; got != `done{"a":[],"b":[{"id":"RUN-a"}]}` {
		t.Error(got)
	}
}

func TestAStageEndsActionsAsFacts(t *testing.T) {
	run, _ := toyLayout{}.At(dir + "state.json")
	s := NewStage(t, newToy(""), toyLayout{}, run, engine.Config{})
	s.Write("state.json", waits)
	s.Settle()
	s.Tick(request+"form.md", "approve")
	s.Settle()
	s.End("row/a/1", engine.Ended{Result: "done"})
	if e := s.Facts.Ended["row/a/1"]; !e.At.Equal(s.Now) || s.Facts.Alive["row/a/1"] {
		t.Errorf("%+v", e)
	}
	s.Settle()
	if s.Read("row.json") != `{"row":"in"}` || len(s.Facts.Ended) != 0 {
		t.Errorf("%q; ends %v", s.Read("row.json"), s.Facts.Ended)
	}
	if diff := cmp.Diff([]string{"row/a/1"}, s.Forgotten); diff != "" {
		t.Error(diff)
	}
}
