package watch

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
)

// spare makes a folder and keeps an owner for it.
func (h *harness) spare(name string) {
	h.mkdir("runs/" + name)
	h.Keep(name, "runs/"+name)
}

func (h *harness) sees(name string) bool { return h.watchedOf("runs/"+name) == 1 }

func TestTheNewestOwnersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, "runs")
		defer h.Close()
		for i := range mostKept {
			h.spare(fmt.Sprintf("old%d-", i))
		}
		h.spare("old0-") // the newest now
		h.spare("new-")
		if all := h.watchedOf("runs/"); all != mostKept {
			t.Errorf("%d watches", all)
		}
		for name, want := range map[string]bool{"old0-": true, "old1-": false, "old2-": true, "new-": true} {
			if got := h.sees(name); got != want {
				t.Errorf("%s is watched: %v", name, got)
			}
		}
		h.Forget("new-")
		if h.sees("new-") {
			t.Error("what nobody follows is watched")
		}
	})
}

// Kept owners give way to all others, and nothing becomes blind or is logged for their
// sake.
func TestKeptOwnersGiveWay(t *testing.T) {
	for _, limit := range []string{"ours", "the system's"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, "runs")
			defer h.Close()
			h.Guard("runs")
			if limit == "ours" {
				h.Limit(8)
			}
			for i := range 4 {
				h.spare(fmt.Sprintf("kept%d-", i))
			}
			if limit == "the system's" {
				h.src().set(func(dir string) error {
					if len(h.src().dirs) >= 6 && !h.src().dirs[dir] {
						return syscall.ENOSPC
					}
					return nil
				})
			}
			h.spare("kept4-")
			for i := range 4 {
				h.rank(fmt.Sprintf("run%d-", i), fmt.Sprintf("runs/run%d-", i), false)
				if !h.sees(fmt.Sprintf("run%d-", i)) {
					t.Errorf("run %d is not watched", i)
				}
			}
			if blind, lacks := h.Blind(), h.Lacks(); blind != nil || lacks != (Lacks{}) {
				t.Errorf("blind %q, %+v", blind, lacks)
			}
			if h.log.Len() > 0 {
				t.Errorf("said:\n%s", h.log)
			}
		})
	}
}

// Follow ends what Keep began, and vice versa.
func TestAnOwnerIsKeptOrFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, "runs")
		defer h.Close()
		h.Limit(4)
		h.spare("a-")
		h.rank("a-", "runs/a-", false)
		for i := range 2 {
			h.rank(fmt.Sprintf("run%d-", i), fmt.Sprintf("runs/run%d-", i), false)
		}
		h.spare("b-")
		if !h.sees("a-") || h.sees("b-") {
			t.Errorf("a is watched: %v, b: %v", h.sees("a-"), h.sees("b-"))
		}
		h.spare("a-")
		h.src().sink.Event(Event{Path: filepath.Join(h.root, "runs/a-/state.json"), Entry: true})
		if b, ok := h.take(); !ok || len(b.Owners) != 1 || b.Owners[0] != "a-" {
			t.Errorf("%+v", b)
		}
		h.rank("run2-", "runs/run2-", false)
		h.rank("run3-", "runs/run3-", false)
		if h.sees("a-") || !h.sees("run2-") {
			t.Errorf("a is watched: %v, run2: %v", h.sees("a-"), h.sees("run2-"))
		}
	})
}
