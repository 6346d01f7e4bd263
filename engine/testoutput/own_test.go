package testoutput

import "testing"

// A traceback of plain Python names a module in quotes. As in pytest's report,
// it matters whether the module is the project's own.
func TestMissingModuleInAPlainTraceback(t *testing.T) {
	one := 1
	for name, want := range map[string]Type{"coupon_service": NotImplemented, "stripe": EnvIssue} {
		f := Classify(Input{
			Text: "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    import y\nModuleNotFoundError: No module named '" + name + "'\n",
			Exit: &one, Own: []string{"coupon-service"},
		})
		if f.Type != want || f.Rule != "E4" {
			t.Errorf("%s: %s by %s, expected %s by E4", name, f.Type, f.Rule, want)
		}
	}
}
