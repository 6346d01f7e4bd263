package workspace

import (
	"errors"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

// If two answers come at the same instant, the later one does not take the author of the first,
// whose file may still count as being written.
func TestWhoComesTooLateTakesNobodysAnswer(t *testing.T) {
	root := t.TempDir()
	dir, err := statedir.Create(t.TempDir()+"/state", root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	writer := func(who string) *Workspace {
		return &Workspace{Root: root, StateDir: dir, who: who, Store: store.New(fs.OS(root), store.Options{Record: dir}), Env: &console.Env{Now: time.Now}}
	}
	doc := engine.Document{Path: ".asks/q/requests/ask-1/response.json", Kind: layout.KindResponse}
	put(t, root, ".asks/q/ask.json", "{}")
	put(t, root, ".asks/q/requests/ask-1/request.json", "{}")
	first, late := doc, doc
	first.Body, late.Body = []byte(`{"response": "yes"}`), []byte(`{"response": "no"}`)
	if err := writer("api:first").Put(first, "ask-1"); err != nil {
		t.Fatal(err)
	}
	if err := writer("slack:late").Put(late, "ask-1"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("who comes too late: %v", err)
	}
	if who, _ := dir.Attributed(doc.Path, engine.Sum(first.Body)); who != "api:first" {
		t.Errorf("the answer in place is that of %q", who)
	}
}
