package notify

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// inBubble runs a notifier from a time on, by the bubble's clock in a zone, and returns what
// was sent at which local time.
func inBubble(t *testing.T, from string, zone *time.Location, s Settings, story func(o *office, until func(at string), came func() []string)) {
	synctest.Test(t, func(t *testing.T) {
		until := func(at string) {
			moment, err := time.ParseInLocation("2006-01-02 15:04", at, zone)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(moment))
			synctest.Wait()
		}
		o := newOffice(t, s)
		o.now = func() time.Time { return time.Now().In(zone) }
		var mu sync.Mutex
		var came []string
		until(from)
		o.begin(func(_ context.Context, _ target, m Message, _ []string) error {
			mu.Lock()
			defer mu.Unlock()
			came = append(came, o.now().Format("02 15:04 ")+m.Title)
			return nil
		})
		story(o, until, func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			got := came
			came = nil
			slices.Sort(got)
			return got
		})
		o.stop()
	})
}

// Check 3 of notifications: quiet hours over midnight, over summer time, and with a deadline
// inside.
func TestNotifyQuietHoursEndInOneMessage(t *testing.T) {
	s := Settings{To: []string{"desktop"}, Quiet: "22:00-07:00", Remind: []string{"30m", "2h"}}
	inBubble(t, "2000-01-10 21:00", berlin(t), s, func(o *office, until func(string), came func() []string) {
		until("2000-01-10 21:50")
		o.ask(fact(), "before")
		until("2000-01-10 22:00")
		if diff := cmp.Diff([]string{"10 21:50 before"}, came()); diff != "" {
			t.Errorf("before the quiet hours (-want +got):\n%s", diff)
		}
		until("2000-01-10 23:30")
		o.ask(fact(), "night")
		past := fact()
		past.Deadline = o.now().Add(-time.Hour) // which tells nobody at night
		o.ask(past, "past")
		urgent := fact()
		urgent.Deadline = o.now().Add(5 * time.Hour)
		o.ask(urgent, "urgent")
		until("2000-01-11 04:00")
		if diff := cmp.Diff([]string{"10 23:30 urgent", "11 00:00 urgent", "11 01:30 urgent"}, came()); diff != "" {
			t.Errorf("within them (-want +got):\n%s", diff)
		}
		o.answer("urgent")
		until("2000-01-11 12:00")
		if diff := cmp.Diff([]string{"11 07:00 3: before night past"}, came()); diff != "" {
			t.Errorf("at their end (-want +got):\n%s", diff)
		}
	})
}

func TestNotifyQuietHoursFollowSummerTime(t *testing.T) {
	s := Settings{To: []string{"desktop"}, Quiet: "22:00-07:00", Remind: []string{"1h"}}
	for name, night := range map[string][2]string{
		"an hour shorter": {"2000-03-25", "2000-03-26"}, "an hour longer": {"2000-10-28", "2000-10-29"},
	} {
		inBubble(t, night[0]+" 21:00", berlin(t), s, func(o *office, until func(string), came func() []string) {
			until(night[0] + " 23:00")
			o.ask(fact(), "a")
			until(night[1] + " 06:59")
			if got := came(); len(got) > 0 {
				t.Errorf("%s: told in quiet hours: %v", name, got)
			}
			until(night[1] + " 12:00")
			if diff := cmp.Diff([]string{night[1][8:] + " 07:00 a"}, came()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// If the clock shows a time twice, or never, the displayed time decides, and the quiet hours
// end.
func TestQuietHoursEndWhereTheClockIsPut(t *testing.T) {
	zone := berlin(t)
	for _, test := range []struct{ quiet, at, want string }{
		{"22:00-02:30", "2000-03-26T00:10:00Z", "2000-03-26T01:00:00Z"}, // 02:30 does not come: 03:00 does
		{"22:00-02:30", "2000-10-29T00:10:00Z", "2000-10-29T00:30:00Z"}, // the first 02:30
		{"22:00-02:30", "2000-10-29T01:10:00Z", "2000-10-29T01:30:00Z"}, // the second one
		{"12:00-13:00", "2000-06-01T10:30:20Z", "2000-06-01T11:00:00Z"},
		{"12:00-13:00", "2000-06-01T11:00:00Z", "2000-06-01T11:00:00Z"},
		{"", "2000-06-01T11:00:00Z", "2000-06-01T11:00:00Z"},
	} {
		q, err := readQuiet(test.quiet)
		at, err2 := time.Parse(time.RFC3339, test.at)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if got := q.after(at.In(zone)).UTC().Format(time.RFC3339); got != test.want {
			t.Errorf("%s at %s: %s, expected %s", test.quiet, test.at, got, test.want)
		}
	}
}

func TestNotifyRemindsAndEscalates(t *testing.T) {
	s := Settings{To: []string{"desktop"}, Remind: []string{"2h", "30m"}, Escalate: []Escalation{{After: "4h", To: []string{"ntfy://ntfy.sh/others"}}}}
	inBubble(t, "2000-01-10 07:00", time.UTC, s, func(o *office, until func(string), came func() []string) {
		until("2000-01-10 08:00")
		o.ask(fact(), "a")
		until("2000-01-10 11:00")
		o.ask(fact(), "b")
		until("2000-01-10 12:30")
		o.answer("b")
		until("2000-01-12 08:00")
		want := []string{"10 08:00 a", "10 08:30 a", "10 10:00 a", "10 11:00 b", "10 11:30 b", "10 12:00 a"}
		if diff := cmp.Diff(want, came()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
