package testoutput_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"placet/engine/testoutput"
)

// show writes what a pointer points to.
func show[T any](p *T) string {
	if p == nil {
		return "nil"
	}
	return fmt.Sprintf("%#v", *p)
}

var (
	ruleNames = []string{"W", "T", "E0", "E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "D", "T2", "N1", "N2", "Y", "L", "N3", "Z", "U"}
	hex16     = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// checkFinding checks what is true of every finding.
func checkFinding(t interface {
	Helper()
	Errorf(string, ...any)
}, in testoutput.Input, f testoutput.Finding) {
	t.Helper()
	if _, ok := testoutput.Known(string(f.Type)); !ok {
		t.Errorf("type %q is not known", f.Type)
	}
	if !slices.Contains(ruleNames, f.Rule) {
		t.Errorf("rule %q is not known", f.Rule)
	}
	for _, list := range []struct {
		name string
		is   []string
		max  int
	}{{"key lines", f.KeyLines, 20}, {"failing tests", f.FailingTests, 10}, {"related files", f.RelatedFiles, 10}, {"names", f.Names, 10}} {
		if len(list.is) > list.max {
			t.Errorf("%d %s, want at most %d", len(list.is), list.name, list.max)
		}
		for _, s := range list.is {
			if s == "" || len(s) > 2000 || strings.Contains(s, "\n") && list.name == "key lines" || !utf8.ValidString(s) {
				t.Errorf("%s hold %q", list.name, s)
			}
		}
	}
	if blank := strings.TrimSpace(testoutput.Bare(testoutput.Clean(in.Text))) == ""; blank != (len(f.KeyLines) == 0) {
		t.Errorf("the text is blank: %v, and there are %d key lines", blank, len(f.KeyLines))
	}
	if s := testoutput.Signature(f.Type, f.KeyLines); !hex16.MatchString(s) {
		t.Errorf("signature %q", s)
	}
}
