package store_test

import (
	"testing"
	"time"
)

// A look is still valid under the locks if nothing that is written under them
// differs, and not if a difference might not show.
func TestALookStandsUnderTheLocksWhileNothingSharedMoves(t *testing.T) {
	old := func(w world) { w.later(time.Hour) }
	for _, c := range []struct {
		name   string
		before func(world)
		after  func(world)
		stands bool
	}{
		{"nothing", old, func(world) {}, true},
		{"an answer comes", old, func(w world) { w.put(in("requests/q/response.json"), "{}") }, true},
		{"another state document", old, func(w world) { w.put(in("state.json"), `{"n": 2}`) }, false},
		{"another state in its place", old, func(w world) { w.rewrite(in("state.json"), `{"n": 2}`) }, false},
		{"a state that is gone", old, func(w world) { w.delete(in("state.json")) }, false},
		{"another event", old, func(w world) { w.put(in(event(2)), `{"event_id": 2}`) }, false},
		{"another number", old, func(w world) { w.rewrite(in("events/.next-id"), "3\n") }, false},
		{"young when it was seen", func(world) {}, func(world) {}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := inMemory()
			w.put(in("state.json"), `{"n": 1}`)
			w.put(in("events/.next-id"), "2\n")
			w.put(in(event(1)), `{"event_id": 1}`)
			w.put(in("requests/q/request.json"), "{}")
			c.before(w)
			s := w.store()
			seen := load(t, s)
			w.later(time.Millisecond)
			c.after(w)
			if got := s.UnchangedLocked(aRun(), seen.Look); got != c.stands {
				t.Errorf("the look stands: %v, want %v", got, c.stands)
			}
		})
	}
	if w := inMemory(); w.store().UnchangedLocked(aRun(), 0) {
		t.Error("no look stands")
	}
}
