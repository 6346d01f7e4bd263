package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAsks(t *testing.T) {
	ls := func(dir string) ([]Entry, error) {
		switch dir {
		case ".asks":
			return []Entry{{Name: "a-1", Dir: true}, {Name: "A-1", Dir: true}, {Name: "b_2", Dir: true}, {Name: ".x", Dir: true}, {Name: "note.md"}}, nil
		case ".asks/A-1":
			return []Entry{{Name: "ask.json"}}, nil
		}
		return nil, nil
	}
	runs, err := Ask{}.Runs(ls)
	want := []Run{{Family: "ask", ID: "a-1", Dir: ".asks/a-1", State: ".asks/a-1/state.json"}}
	if diff := cmp.Diff(want, runs); diff != "" || err != nil {
		t.Errorf("runs (-want +got), %v:\n%s", err, diff)
	}
	wrong, err := Ask{}.Misplaced(ls)
	if err != nil || len(wrong) != 2 || !wrong[0].Run || wrong[1].Run {
		t.Errorf("misplaced: %+v, %v", wrong, err)
	}
	for p, is := range map[string]bool{
		".asks/a-1": true, ".asks/a-1/x/y": true, ".asks": false, ".asks/A": false, "other/a": false, ".asks/-a": false,
	} {
		if run, ok := (Ask{}).At(p); ok != is || ok && run.ID != "a-1" {
			t.Errorf("At(%q) is %v, %t", p, run, ok)
		}
	}
	for rel, kind := range map[string]string{
		"ask.json": "ask", "withdraw.json": "withdraw", "state.json": KindStateFile, "answer.json": "answer", "answer.md": "answer-text", "reuse.json": "reuse",
		"ask.json.problem.md": KindProblem, "x.problem.md": "", "requests/ask-1/form.md": KindForm, "requests/ask-1/problem.md": KindProblem, "events.jsonl": "",
	} {
		if f, ok := (Ask{}).File(Run{}, rel); f.Kind != kind || ok != (kind != "") {
			t.Errorf("File(%q) is %+v, %t", rel, f, ok)
		}
	}
	if run, _ := (Ask{Folder: "questions"}).At("questions/a/ask.json"); run.Dir != "questions/a" {
		t.Errorf("another root: %+v", run)
	}
}
