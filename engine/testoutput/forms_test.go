package testoutput

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented are the rules of which the table has the forms.
var documented = []struct {
	name  string
	rules []*rule
}{
	{"W", []*rule{ruleW}}, {"E0", []*rule{ruleE0}}, {"E2", []*rule{ruleE2}}, {"E3", []*rule{ruleE3}}, {"E4", []*rule{ruleE4}}, {"E5", []*rule{ruleE5}},
	{"E6", []*rule{ruleE6}}, {"E7", []*rule{ruleE7}}, {"E8", []*rule{ruleE8}}, {"D", []*rule{ruleD1, ruleD2}}, {"T2", []*rule{ruleT2}},
	{"N1", []*rule{ruleN1}}, {"N2", []*rule{ruleN2}}, {"Y", []*rule{ruleY}}, {"N3", []*rule{ruleN3Empty}}, {"L", []*rule{ruleL}},
	{"N3", []*rule{ruleN3, ruleN3Zero}}, {"marker", []*rule{ruleNear, ruleAny}},
}

// formRow is a row of the table in docs/families/afl.md.
type formRow struct{ rule, form, typ, example string }

func formRows(t *testing.T) []formRow {
	t.Helper()
	body, err := os.ReadFile("../../docs/families/afl.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(body), "| rule | form | type | what it says | for example |\n|---|---|---|---|---|\n")
	if !ok {
		t.Fatal("docs/families/afl.md has no table of forms")
	}
	var rows []formRow
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.SplitN(strings.TrimSuffix(strings.TrimSpace(line), " |"), " | ", 5)
		if len(cells) != 5 {
			t.Fatalf("a row of docs/families/afl.md has %d cells, expected 5: %s", len(cells), line)
		}
		rows = append(rows, formRow{cells[0][2:], cells[1], cells[2], quoted(strings.ReplaceAll(cells[4], `\|`, "|"))})
	}
	return rows
}

// quoted returns what stands in marks of code, one on each side or two and a blank.
func quoted(cell string) string {
	if double, ok := strings.CutPrefix(cell, "`` "); ok {
		return strings.TrimSuffix(double, " ``")
	}
	return strings.Trim(cell, "`")
}

// TestTheTableHasEveryForm compares the table with the rules, in their order.
func TestTheTableHasEveryForm(t *testing.T) {
	var want, have []string
	for _, d := range documented {
		for _, r := range d.rules {
			for _, f := range r.forms {
				want = append(want, d.name+" "+f.id)
			}
		}
	}
	for _, row := range formRows(t) {
		have = append(have, row.rule+" "+row.form)
	}
	for _, id := range want {
		if !slices.Contains(have, id) {
			t.Errorf("docs/families/afl.md has no row for %s", id)
		}
	}
	if len(have) == len(want) && !slices.Equal(have, want) {
		t.Error("the rows of docs/families/afl.md are not in the order of the rules")
	}
	for _, id := range have {
		if !slices.Contains(want, id) {
			t.Errorf("docs/families/afl.md has a row for %s, and no rule has that form", id)
		}
	}
}

// TestTheTableIsTrue has every example judged.
func TestTheTableIsTrue(t *testing.T) {
	for _, row := range formRows(t) {
		t.Run(row.form, func(t *testing.T) {
			if !row.matches() {
				t.Fatalf("the form %s does not match its example: %s", row.form, row.example)
			}
			if row.rule == "marker" {
				row.refuses(t)
				return
			}
			exit := 1
			in := Input{Text: row.example + "\n", Exit: &exit}
			got := Classify(in)
			switch row.typ {
			case "named":
				row.typ = string(LogicError)
			case "own or ENV_ISSUE":
				row.typ = string(EnvIssue)
				if in.Own = got.Names; Classify(in).Type != NotImplemented {
					t.Errorf("with %q as the project's own words it is %s, expected NOT_IMPLEMENTED", in.Own, Classify(in).Type)
				}
			}
			if got.Rule != row.rule || string(got.Type) != row.typ {
				t.Errorf("%s by %s, the table says %s by %s", got.Type, got.Rule, row.typ, row.rule)
			}
		})
	}
}

// matches reports whether the row's form alone matches its example.
func (row formRow) matches() bool {
	for _, d := range documented {
		for _, r := range d.rules {
			for _, f := range r.forms {
				if d.name == row.rule && f.id == row.form {
					return regexp.MustCompile(`(?im)` + f.expr).MatchString(row.example)
				}
			}
		}
	}
	return false
}

// refuses checks that the example of a marker refuses a pass.
func (row formRow) refuses(t *testing.T) {
	t.Helper()
	if _, marker := Match("4 passing", "4 passing\n"+row.example); marker == nil {
		t.Errorf("%s is no marker", row.example)
	}
}
