package optimizer

import (
	"strings"
	"testing"
	"time"
)

// audit is audit.json of the run in hand.
func (d *desk) audit() (a Audit) {
	d.T.Helper()
	d.decode("audit.json", &a)
	return a
}

// outcomes are those of the rows in audit.json, in their order.
func (d *desk) outcomes() string {
	d.T.Helper()
	var all []string
	for _, row := range d.audit().Rows {
		all = append(all, row.Outcome)
	}
	return strings.Join(all, " ")
}

// What others make of audit.json, a row is tried again in the same process: the
// database knows what is there.
func TestRowsAreTriedAgainWhateverBecomesOfAuditJSON(t *testing.T) {
	for name, spoil := range map[string]func(d *desk, first string){
		"deleted":        func(d *desk, _ string) { d.unlink("audit.json") },
		"as it once was": func(d *desk, first string) { d.write("audit.json", first) },
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				settled := d.read("audit.json")
				first := strings.Replace(settled, `"inserted"`, `"owed"`, 1)
				for range 3 {
					d.pass(time.Minute)
					spoil(d, first)
					d.goes()
					d.pass(slowTry)
					d.goes()
					if got := d.outcomes(); got != rowPresent {
						t.Fatalf("the row is %s", got)
					}
				}
				d.tick("raise", "submit")
				d.goes(answered)
				if got := d.outcomes(); got != rowPresent+" "+rowInserted {
					t.Errorf("the rows are %s", got)
				}
			})
		})
	}
}

// level10WhileLocked has the run in hand stand before its reviewer although nothing
// gets into the database.
func (d *desk) level10WhileLocked() {
	d.T.Helper()
	d.assets(10)
	d.trigger()
	for range 8 {
		d.Settle()
		d.pass(3 * time.Minute)
	}
	d.status(Awaiting)
}

// A row that must wait for another one is not in the database either.
func TestARowBehindAPendingOneIsListedToo(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lock(theDB, true)
		d.level10WhileLocked()
		d.tick("raise", "submit")
		d.goes(answered)
		if got, listed := d.outcomes(), strings.Count(d.read("audit-pending.jsonl"), "\n"); got != "pending pending" || listed != 2 {
			t.Errorf("the rows are %s, %d are listed", got, listed)
		}
		d.Lock(theDB, false)
		d.pass(slowTry)
		d.goes()
		if got := d.outcomes(); got != "inserted inserted" || d.there("audit-pending.jsonl") {
			t.Errorf("the rows are %s", got)
		}
		if audits, rows := d.rows(auditLogs), d.rows(userFeedback); len(audits) != 1 || len(rows) != 1 || rows[0]["related_audit_id"] != audits[0]["id"] {
			t.Errorf("the database has %v and %v", audits, rows)
		}
	})
}

// Whoever asks for a try now gets one, not as many as fit into the second.
func TestAskedForNowARowIsTriedOnce(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lock(theDB, true)
		d.level10WhileLocked()
		tries := d.audit().Rows[0].Tries
		d.pass(500 * time.Millisecond)
		asked := d.Now().Add(3*time.Second + 200*time.Millisecond) // when it has settled
		d.config(func(c *Config) { c.TryNow = asked })
		d.pass(300 * time.Millisecond)
		d.goes()
		if got := d.audit().Rows[0].Tries; got != tries+1 {
			t.Errorf("%d tries after %d", got, tries)
		}
	})
}

// A try that is under way goes on while the clock is set back: nothing forgets it.
func TestATryUnderWayIsNotGivenUpWhenTheClockIsSetBack(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.Lock(theDB, true)
		d.trigger()
		for d.pass(time.Second); !d.there("audit.json"); d.pass(time.Minute) {
			d.Settle()
		}
		s := d.snapshot(nil)
		s.Now = d.audit().Rows[0].NextTryAt.Time()
		due, err := New().Step(s)
		if err != nil || len(due.Actions) != 1 {
			t.Fatalf("%+v, %v", due, err)
		}
		s.Facts.Alive = map[string]bool{due.Actions[0].ID: true}
		s.Now = s.Now.Add(-time.Hour)
		if back, err := New().Step(s); err != nil || len(back.Ends) != 0 || len(back.Actions) != 1 {
			t.Errorf("%q ends, %d actions, %v", back.Ends, len(back.Actions), err)
		}
	})
}

// A row that follows others goes where the setting says from its first try on, and
// those that it names go before it.
func TestALaterRowGoesWhereTheSettingSays(t *testing.T) {
	const moved = ".mso-context/moved.db"
	for name, c := range map[string]struct {
		change func(d *desk)
		want   string
	}{
		"audit.json says otherwise": {func(d *desk) { d.write("audit.json", strings.Replace(d.read("audit.json"), theDB, "elsewhere.db", 1)) }, theDB},
		"the setting was changed":   {func(d *desk) { d.config(func(c *Config) { c.AuditDB = moved }) }, moved},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level10()
				c.change(d)
				d.goes()
				d.tick("raise", "submit")
				d.goes(answered)
				if got := d.Rows("elsewhere.db"); len(got) != 0 {
					t.Errorf("a row went elsewhere: %+v", got)
				}
				if got := d.Rows(c.want); len(got) != 2 || got[0].Table != auditLogs || got[1].Table != userFeedback {
					t.Errorf("%s has %+v", c.want, got)
				}
			})
		})
	}
}
