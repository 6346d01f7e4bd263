package ask

import (
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/schemas"
	"placet/templates"
)

const usedTwice = `{"schema_version": 1, "times": 2, "first_at": "2026-11-22T13:00:00Z", "last_at": "2026-11-22T13:30:00Z"}`

func TestUsesAreCounted(t *testing.T) {
	var u *Reuse
	for n := range 3 {
		next := u.Again(now.Add(time.Duration(n) * time.Hour))
		body, err := next.Encode()
		if err == nil {
			err = schemas.Decode("ask/reuse", reuseFile, body, &Reuse{})
		}
		if err != nil || next.Times != n+1 || next.FirstAt != "2026-11-22T13:51:40Z" {
			t.Errorf("%+v, %v", next, err)
		}
		u = &next
	}
	if u.LastAt != "2026-11-22T15:51:40Z" {
		t.Errorf("the last is at %s", u.LastAt)
	}
	u.Times = mostTimes
	if u.Again(now).Times != mostTimes {
		t.Error("it counts further than can be read")
	}
	for _, lang := range templates.Languages() {
		if e := u.Entry(lang); !strings.Contains(e.Message, u.LastAt) || e.At.IsZero() {
			t.Errorf("%s: %+v", lang, e)
		}
	}
}

// A count is shown, and errors in it are noted, only after the ask has ended; before that
// nothing waits for it.
func TestACountDecidesNothing(t *testing.T) {
	for body, shown := range map[string]bool{usedTwice: true, "{": false, "[]": false, `{"schema_version": 1, "times": 0}`: false} {
		tell(t, enginetest.Tree{dir + "/ask.json": yes, dir + "/reuse.json": body}, func(d *enginetest.Desk) {
			d.Lax = true
			d.Settle()
			if uses(d) || d.Has(dir+"/reuse.json.problem.md") {
				t.Errorf("%s: it counts while the ask is open", body)
			}
			d.Put(dir+"/withdraw.json", `{"reason": "no need"}`)
			d.Settle()
			d.Pass(time.Minute)
			d.Settle()
			if uses(d) != shown || d.Has(dir+"/reuse.json.problem.md") == shown {
				t.Errorf("%s: shown %t, noted %t", body, uses(d), d.Has(dir+"/reuse.json.problem.md"))
			}
			if d.Account("deploy-14").Status != Withdrawn || d.Read(dir+"/reuse.json") != body {
				t.Errorf("%s: the ask is %s", body, d.Account("deploy-14").Status)
			}
		})
	}
}

// uses reports whether the view of the ask says how often its answer was used.
func uses(d *enginetest.Desk) bool {
	return slices.ContainsFunc(d.Account("deploy-14").Facts, func(f engine.Fact) bool { return f.Label == "Used" })
}
