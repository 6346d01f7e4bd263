package watch

import (
	"strings"
	"testing"
	"unsafe"
)

// Very many folders may be watched: the source keeps the name of each, and no second copy
// is kept.
func TestAFoldersNameIsKeptOnce(t *testing.T) {
	h := newHarness(t, "runs/a/requests/q")
	list := []string{"runs/a", "runs/a/requests/q"}
	for i := range list {
		list[i] = strings.Clone(list[i])
	}
	h.follow("A", list...)
	deepest := h.Watcher.watches.nodes["runs/a/requests/q"].abs
	for _, n := range h.Watcher.watches.nodes {
		if !strings.HasPrefix(deepest, n.abs) || unsafe.StringData(n.abs) != unsafe.StringData(deepest) {
			t.Errorf("%q has memory of its own", n.abs)
		}
	}
	for _, kept := range [][]string{list, h.follows["A"]} {
		for i, want := range []string{"runs/a", "runs/a/requests/q"} {
			if kept[i] != want || unsafe.StringData(kept[i]) != unsafe.StringData(h.Watcher.watches.nodes[want].path()) {
				t.Errorf("%q is not the name that is kept, or not %q", kept[i], want)
			}
		}
	}
}
