package nemawashi

import "testing"

// The table of section 13 of the format page.
func TestReadReply(t *testing.T) {
	for text, want := range map[string]Reply{
		"PLAN-A": {Steers: true, Plan: "A"}, "Plan  A": {Steers: true, Plan: "A"}, "プランＡ": {Steers: true, Plan: "A"},
		"ａ案で": {Steers: true, Plan: "A"}, "プランA案": {Steers: true, Plan: "A"}, "Ａ　案": {Steers: true, Plan: "A"},
		"plan b and again plan b": {Steers: true, Plan: "B"}, "プランBで承認": {Steers: true, Plan: "B"}, "A案、メールを短く": {Steers: true, Plan: "A"},
		"explan abc": {Note: noteWhat}, "plan another": {Note: noteWhat}, "plan ab": {Note: noteWhat}, "data案": {Note: noteWhat},
		"let's plan a meeting": {Steers: true}, // about the meeting, with no plan
		"let's plan a walk":    {Note: noteWhat},
		"plan A meeting":       {Steers: true, Plan: "A"},
		"plan b, not plan c":   {Note: noteWhichPlan}, "B案とC案": {Note: noteWhichPlan}, "plan a plan b": {Note: noteWhichPlan},
		"plan a": {Steers: true, Plan: "A"}, "plan a.": {Steers: true, Plan: "A"}, "plan_c!": {Steers: true, Plan: "C"},
		"承認": {Note: notePress}, "却下": {Note: notePress}, "I approve": {Note: notePress}, "please REJECT": {Note: notePress},
		"make the mail softer": {Steers: true}, "カレンダーの件": {Steers: true}, "hello": {Note: noteWhat},
		"İ plan b": {Steers: true, Plan: "B"},
	} {
		if got := ReadReply(text); got != want {
			t.Errorf("%q: %+v, expected %+v", text, got, want)
		}
	}
}
