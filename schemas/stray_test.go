package schemas

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembersThatNobodyReads(t *testing.T) {
	type metric struct {
		Name      string   `json:"name"`
		Value     *float64 `json:"value"`
		Threshold *float64 `json:"threshold"`
		Unit      string   `json:"unit,omitempty"`
		Gate      bool     `json:"gate"`
		hidden    string
		Left      string `json:"-"`
	}
	_ = metric{}.hidden
	for body, want := range map[string][]Stray{
		`{"name": "a", "value": 1, "threshold": 2, "unit": "ratio", "gate": true}`: nil,
		`{"$schema": "x", "name": "a"}`:                                            nil,
		`{"treshold": 2, "thresholds": 3}`:                                         {{"/m/0/treshold", "treshold", "threshold"}, {"/m/0/thresholds", "thresholds", "threshold"}},
		`{"Threshold": 2}`:                                                         {{"/m/0/Threshold", "Threshold", "threshold"}},
		`{"treshold": 1, "threshold": 2}`:                                          {{"/m/0/treshold", "treshold", ""}},
		`{"uint": "ratio", "vaule": 3}`:                                            {{"/m/0/uint", "uint", "unit"}, {"/m/0/vaule", "vaule", "value"}},
		`{"goal": 95, "-": 1}`:                                                     {{"/m/0/goal", "goal", ""}, {"/m/0/-", "-", ""}},
		`{"a/b~c": 1}`:                                                             {{"/m/0/a~1b~0c", "a/b~c", ""}},
		`{"gat": true}`:                                                            {{"/m/0/gat", "gat", "gate"}},
	} {
		o, err := Members([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Strays("/m/0", o, &metric{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		a, b string
		near bool
	}{
		{"language", "Language", true}, {"on-deadline", "on_deadline", true}, {"lnguage", "language", true}, {"lngage", "language", true},
		{"lngag", "language", false}, {"a", "b", false}, {"abc", "a", false}, {"", "", true}, {strings.Repeat("x", 1<<20), "language", false},
	} {
		if Near(c.a, c.b) != c.near {
			t.Errorf("%.20q and %q: near is not %t", c.a, c.b, c.near)
		}
	}
}
