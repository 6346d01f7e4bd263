package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// table prints a row as soon as it is measured.
type table struct {
	w    io.Writer
	err  error
	miss int
}

func newTable(w io.Writer) *table { return &table{w: w} }

const rowFormat = "%-4s %-52s %14s %14s %9s %9s  %s\n"

func (t *table) head() {
	t.printf(rowFormat, "", "what", "placet", "floor", "ratio", "goal", "")
}

func (t *table) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(t.w, format, args...); err != nil && t.err == nil {
		t.err = err
	}
}

// ratio adds a figure that is compared with another; goal is the largest ratio that meets it.
func (t *table) ratio(id, what string, placet, floor time.Duration, goal float64) {
	r := float64(placet) / float64(floor)
	t.printf(rowFormat, id, what, short(placet), short(floor), fmt.Sprintf("%.2f", r), fmt.Sprintf("≤ %.1f", goal), t.met(r <= goal))
}

// rate adds a figure of which more is better; goal is the smallest ratio that meets it.
func (t *table) rate(id, what string, placet, floor, goal float64) {
	r := placet / floor
	t.printf(rowFormat, id, what, fmt.Sprintf("%.0f/s", placet), fmt.Sprintf("%.0f/s", floor),
		fmt.Sprintf("%.2f", r), fmt.Sprintf("≥ %.1f", goal), t.met(r >= goal))
}

// most adds a figure with the largest value that meets it.
func (t *table) most(id, what string, have, goal float64, unit string) {
	t.printf(rowFormat, id, what, fmt.Sprintf("%.1f %s", have, unit), "", "", fmt.Sprintf("≤ %g", goal), t.met(have <= goal))
}

// note adds a figure without a goal.
func (t *table) note(id, what, have string) { t.printf(rowFormat, id, what, have, "", "", "", "") }

func (t *table) met(ok bool) string {
	if ok {
		return "met"
	}
	t.miss++
	return "MISSED"
}

// end reports how many figures miss their goal. That is no error: a loaded
// machine misses some, and the reader of the table judges.
func (t *table) end() error {
	if t.miss > 0 {
		t.printf("%d figures missed\n", t.miss)
	}
	return t.err
}

// short returns a time with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}

// times are measured times.
type times []time.Duration

// at returns the time that a share of them, 0 to 1, does not exceed.
func (t times) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func (t times) median() time.Duration { return t.at(0.5) }

func (t times) mean() (mean time.Duration) {
	for _, d := range t {
		mean += d / time.Duration(len(t))
	}
	return mean
}
