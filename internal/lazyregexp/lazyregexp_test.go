package lazyregexp

import "testing"

// TestAWrongExpressionPanicsInATest holds that a test of a package notices a wrong expression
// among its variables, whether it uses it or not.
func TestAWrongExpressionPanicsInATest(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression is not noticed")
		}
	}()
	New(`(`)
}

func TestTheExpressionIsTheOneThatWasGiven(t *testing.T) {
	r := New(`^a(b+)$`)
	if r.String() != `^a(b+)$` || !r.MatchString("abb") || r.MatchString("ba") || r.FindStringSubmatch("abb")[1] != "bb" {
		t.Error("it is another expression")
	}
}
