package store_test

import (
	"errors"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// busyRecord is a record that another commit holds: it writes its answer before this one may.
type busyRecord struct {
	*memfs.Record
	first func()
}

func (r *busyRecord) WriteFor(docs []engine.Document, isFree func(string) (bool, error), at time.Time) (func(), error) {
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	return r.Record.WriteFor(docs, isFree, at)
}

// An answer that comes too late does not take its author from the answer that is in place. Two runs
// write it: the run itself from a comment, and a coordinator.
func TestALateAnswerLeavesTheAuthorOfTheFirst(t *testing.T) {
	m := scene()
	r := &busyRecord{Record: &memfs.Record{}}
	s := store.New(m, store.Options{Parallel: 1, Record: r})
	answer := func(body, who, source string) engine.Document {
		return engine.Document{Path: in("requests/r1/response.json"), Kind: layout.KindResponse, Body: []byte(body), Known: []string{who}, Source: source}
	}
	write := func(d engine.Document) error {
		return s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{d}})
	}
	comment, line := answer("approve", "github:kim", "issue_comment"), answer("reject", "owner:ann", "parallel_coordination")
	r.first = func() {
		if err := write(comment); err != nil {
			t.Error(err)
		}
	}
	if err := write(line); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the second answer: %v", err)
	}
	if who, source := r.Attributed(comment.Path, engine.Sum(comment.Body)); who != "github:kim" || source != "issue_comment" {
		t.Errorf("the answer in place is %q's by %q", who, source)
	}
	if body, _ := m.Get(comment.Path); body != "approve" {
		t.Errorf("the answer is %q", body)
	}
}
