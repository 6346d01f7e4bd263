package afl

import (
	"testing"
	"time"

	"placet/engine"
)

// Summarize counts the open requests and knows since when the oldest of them stands.
func TestSummarize(t *testing.T) {
	for body, want := range map[string]engine.Summary{
		`{"status": "delegating", "requests": {
			"a": {"status": "open", "opened_at": "2026-11-20T10:00:00.000Z"},
			"b": {"status": "answered", "opened_at": "2026-11-20T08:00:00.000Z"},
			"c": {"status": "open", "opened_at": "2026-11-20T09:00:00.000Z"},
			"d": {"status": "open", "opened_at": null}}}`: {
			Status: Delegating, Waiting: true, Touched: true, Open: 3, Asked: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
		},
		`{"status": "completed", "requests": {"a": {"status": "open", "opened_at": "2026-11-20T10:00:00.000Z"}}}`: {
			Status: Completed, Final: true, Touched: true,
		},
		`{"status": "aborted", "checkpoints": {"x": {"status": "in_progress"}}}`: {Status: Aborted, Touched: true},
		`{`: {},
	} {
		if got := New().Summarize([]byte(body)); got != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
