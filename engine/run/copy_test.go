package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A transition changes a copy: whatever it writes, the previous state is unchanged.
func TestACopySharesNothingThatATransitionChanges(t *testing.T) {
	type part struct {
		N    *int
		List []string
	}
	type state struct {
		Parts map[string]*part
		All   []part
		None  *part
		Empty []string
	}
	made := func() state {
		one, two := 1, 2
		return state{Parts: map[string]*part{"a": {&one, []string{"x"}}}, All: []part{{N: &two}}, Empty: []string{}}
	}
	st := made()
	c := deepCopy(st)
	if diff := cmp.Diff(st, c); diff != "" {
		t.Fatalf("the copy differs (-state +copy):\n%s", diff)
	}
	*c.Parts["a"].N, c.Parts["a"].List[0], *c.All[0].N = 7, "y", 8
	c.Parts["b"] = &part{}
	if diff := cmp.Diff(made(), st); diff != "" {
		t.Errorf("a change of the copy changed the state (-want +got):\n%s", diff)
	}
}
