package optimizer

import (
	"slices"
	"strings"
	"testing"

	"placet/schemas"
)

// hitlContext are the members of the context of a request hitl, in the page's order.
var hitlContext = []string{
	"escalation_needed", "recommended_level", "signal_level", "goal_level", "demotions", "open_issues", "late_answer", "warnings",
}

// A form shows the context where it is not empty; request.json has every member.
func TestAFormShowsTheContextWhereItIsNotEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(d *desk)
		events  []string
		shown   []string
	}{
		"little": {func(d *desk) { d.assets(10); d.kpi(95) }, []string{triggered, collected, decided, reported, recorded},
			[]string{"escalation_needed", "signal_level", "warnings"}},
		"demoted": {func(d *desk) {
			d.assets(20)
			d.kpi(75)
			d.write("inputs/level-error.json", `{"level": 20, "error": "no data"}`)
		}, []string{triggered, collected, decided, demoted, reported, recorded},
			[]string{"escalation_needed", "recommended_level", "signal_level", "demotions", "warnings"}},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				c.prepare(d)
				d.trigger()
				d.goes(c.events...)
				var request struct {
					Context schemas.Object `json:"context"`
				}
				if err := schemas.Decode("", "request.json", []byte(d.read(d.request(typeHITL, "request.json"))), &request); err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, m := range request.Context {
					names = append(names, m.Name)
				}
				if !slices.Equal(names, hitlContext) {
					t.Errorf("the context of request.json has %q", names)
				}
				form := d.read(d.request(typeHITL, "form.md"))
				for _, member := range hitlContext {
					if got, want := strings.Contains(form, `"`+member+`"`), slices.Contains(c.shown, member); got != want {
						t.Errorf("the form shows %s: %t\n%s", member, got, form)
					}
				}
			})
		})
	}
}
