package optimizer

import (
	"fmt"
	"slices"
	"testing"

	"placet/engine"
)

// A cycle whose workflow nobody has heard of is offered the newest names of its own
// root, its own not among them.
func TestTheNewestOtherWorkflowsAreOffered(t *testing.T) {
	cycle := func(root, run, workflow string, status string) Entry {
		return Entry{Root: root, RunID: run, Workflow: workflow, Status: engine.Status(status), BeganAt: text("2026-03-0" + run)}
	}
	all := []Entry{
		cycle("a", "1", "oldest", "goal"), cycle("a", "5", "new", "goal"), cycle("a", "3", "twice", "goal"), cycle("a", "4", "twice", "failed"),
		cycle("a", "2", "old", "goal"), cycle("a", "9", "no cycle", ""), cycle("b", "7", "elsewhere", "goal"),
	}
	for own, want := range map[string][]string{"slip": {"new", "twice", "old"}, "twice": nil, "new": nil, "elsewhere": {"new", "twice", "old"}} {
		of, begins := relation{}, cycle("a", "6", own, string(Context))
		begins.Key = own
		of.others(append(all, begins))
		if got := of.at(own).Others; !slices.Equal(got, want) {
			t.Errorf("besides %s: %q, want %q", own, got, want)
		}
	}
}

// What runs must know of one another is worked out anew whenever one of them moves:
// it takes time in their number.
func BenchmarkRelate(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		entries := map[string][]byte{}
		for i := range n {
			run := fmt.Sprintf("20260301-msowd-w%d", i)
			entries[run] = encoded(Entry{
				Root: ".mso-context", RunID: run, Workflow: fmt.Sprint("w", i), Triggered: true, Status: Context, BeganAt: "2026-03-01T09:00:00Z",
			})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Machine{}.Relate(entries)
			}
		})
	}
}
