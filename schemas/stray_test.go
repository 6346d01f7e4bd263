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
		`{"x-trace": "x", "mor": 1}`:                                               {{"/m/0/mor", "mor", "more"}},
		`{"more": 1}`:                                                              nil,
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
		if diff := cmp.Diff(want, Strays("/m/0", o, &metric{}, "more")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name string
		all  []string
		want string
	}{
		{"Language", []string{"language"}, "language"}, {"on-deadline", []string{"on_deadline"}, "on_deadline"},
		{"lnguage", []string{"language"}, "language"}, {"lngage", []string{"language"}, "language"}, {"lngag", []string{"language"}, ""},
		{"a", []string{"b"}, ""}, {"abc", []string{"a"}, ""}, {"comment", nil, ""}, {strings.Repeat("x", 1<<20), []string{"language"}, ""},
		{"gats", []string{"gate", "gates"}, "gate"}, {"gatess", []string{"gate", "gates"}, "gates"},
	} {
		if got := Nearest(c.name, c.all); got != c.want {
			t.Errorf("%.20q among %q: %q, want %q", c.name, c.all, got, c.want)
		}
	}
}
