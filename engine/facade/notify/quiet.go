package notify

import (
	"fmt"
	"strconv"
	"time"

	"placet/templates"
)

// quietHours are minutes of the day, by local time, in which nobody is told. They may pass
// midnight; the zero value means none.
type quietHours struct{ from, to int }

// readQuiet reads "22:00-07:00"; "" means none.
func readQuiet(text string) (q quietHours, err error) {
	if text == "" {
		return q, nil
	}
	var h1, m1, h2, m2 int
	n, err := fmt.Sscanf(text, "%02d:%02d-%02d:%02d", &h1, &m1, &h2, &m2)
	q = quietHours{h1*60 + m1, h2*60 + m2}
	if err != nil || n != 4 || q == (quietHours{}) || q.from == q.to || max(h1, h2) > 23 || max(m1, m2) > 59 || fmt.Sprintf("%02d:%02d-%02d:%02d", h1, m1, h2, m2) != text {
		return quietHours{}, templates.Errorf("notify.setting.quiet", "value", strconv.Quote(text))
	}
	return q, nil
}

// holds reports whether a time is in the quiet hours, by its own zone.
func (q quietHours) holds(t time.Time) bool {
	at := t.Hour()*60 + t.Minute()
	if q.from <= q.to {
		return q.from <= at && at < q.to
	}
	return at >= q.from || at < q.to
}

// after returns the first minute from t on that is not quiet, in the zone of t. It looks at
// each minute, so that the displayed time decides even if the clock is set forward or back.
func (q quietHours) after(t time.Time) time.Time {
	if !q.holds(t) {
		return t
	}
	end := t.Truncate(time.Minute)
	for q.holds(end) {
		end = end.Add(time.Minute)
	}
	return end
}

// due returns when to tell somebody what is due at t: at t, or when the quiet hours end,
// unless the deadline passes in between.
func (q quietHours) due(t, deadline time.Time) time.Time {
	end := q.after(t)
	if deadline.After(t) && !deadline.After(end) {
		return t
	}
	return end
}
