package enginetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

func TestNormalTreesDifferInNothingButTimes(t *testing.T) {
	const at, later = "2026-11-20T10:00:00Z", "2026-11-20T12:00:03.125+09:00"
	digest := func(s string) string { return string(engine.Sum([]byte(s))) }
	tests := []struct {
		name string
		a, b Tree
		same bool
	}{
		{"times", Tree{"a": "at " + at}, Tree{"a": "at " + later}, true},
		{"something that looks like a time", Tree{"a": "2026-11-20 10:00"}, Tree{"a": "2026-11-20 10:01"}, false},
		{"digests of content with times", Tree{"a": at, "b": digest(at)}, Tree{"a": later, "b": digest(later)}, true},
		{"digest of another file", Tree{"a": at, "c": "x", "b": digest(at)}, Tree{"a": at, "c": "x", "b": digest("x")}, false},
		{"digests of what is not there", Tree{"b": digest("old " + at)}, Tree{"b": digest("old " + later)}, true},
		{"a digest and none", Tree{"b": digest(at)}, Tree{"b": ""}, false},
		{"names of forms", Tree{"r/form-0123abcd.md": "x", "l": "r/form-0123abcd.md"}, Tree{"r/form-4567abcd.md": "x", "l": "r/form-4567abcd.md"}, true},
		{"marks of forms", Tree{"f": "<!-- placet answer 0123abcd -->"}, Tree{"f": "<!-- placet answer 4567abcd -->"}, true},
		{"other marks", Tree{"f": "<!-- else 0123abcd -->"}, Tree{"f": "<!-- else 4567abcd -->"}, false},
		{"names of other files", Tree{"r/view-0123abcd.md": "x"}, Tree{"r/view-4567abcd.md": "x"}, false},
		{"scratch and temporary files", Tree{"a": "x"}, Tree{"a": "x", ".placet/now": "", "r/.placet-1.tmp": "half"}, true},
		{"empty lock files", Tree{"a": "x"}, Tree{"a": "x", "r/state.json.lock": "", ".lock": ""}, true},
		{"lock files that hold something", Tree{"a": "x"}, Tree{"a": "x", "r/state.json.lock": "1"}, false},
		{"content", Tree{"a": "x"}, Tree{"a": "y"}, false},
		{"a missing file", Tree{"a": "x"}, Tree{}, false},
		{"a file too many", Tree{}, Tree{"a": ""}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := (Suite{}).difference(test.a, test.b); (diff == "") != test.same {
				t.Errorf("same %t, difference:\n%s", test.same, diff)
			}
			if diff := cmp.Diff(test.a.Normal(), test.b.Normal()); (diff == "") != test.same {
				t.Errorf("same %t, normal trees differ:\n%s", test.same, diff)
			}
		})
	}
}

func TestTreesAreEditedByPattern(t *testing.T) {
	tree := Tree{"r/2/form.md": "- [ ] a\n- [ ] b\n", "r/1/form.md": "- [ ] a\n", "r/1/x": ""}
	if got := tree.Find("r/*/form.md"); got != "r/1/form.md" {
		t.Errorf("found %q", got)
	}
	if got := tree.Find("r/*"); got != "" {
		t.Errorf("found %q", got)
	}
	tree.Replace("r/2/*", "[ ] a", "[x] a", "[ ] b", "[x] b")
	if got := tree["r/2/form.md"]; got != "- [x] a\n- [x] b\n" {
		t.Errorf("edited %q", got)
	}
	defer func() {
		if problem, _ := recover().(string); !strings.Contains(problem, "does not hold") {
			t.Errorf("an edit of nothing: %q", problem)
		}
	}()
	tree.Replace("r/2/*", "[ ] c", "[x] c")
}

func TestOnlyATestCanBeBehindAT(t *testing.T) {
	defer func() {
		if problem, _ := recover().(string); !strings.Contains(problem, "stands for no *testing.T") {
			t.Errorf("got %q", problem)
		}
	}()
	type mute struct{ T }
	real(named{mute{}, "x"})
}
