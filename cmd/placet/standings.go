package main

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/engine/watch"
)

// standings are the metrics that say how things stand at this moment. They are
// worked out when they are asked for.
type standings struct {
	now  func() time.Time
	look func() outlook
}

// outlook is what standings are worked out of.
type outlook struct {
	runs  reconcile.Standing
	lacks watch.Lacks
	// held: git is rewriting the tree. stopped: nothing more is written.
	held, stopped bool
	// unusable: the settings that hold are not those that stand in the files.
	// untrusted: some of the workspace's do not count yet.
	unusable, untrusted bool
}

// outlook looks at a daemon. It reads no file of a run, and waits for no pass.
func (b *bench) outlook(w *watch.Watcher) outlook {
	_, held := b.store.Hold()
	return outlook{
		runs: b.loop.Standing(), lacks: w.Lacks(), held: held, stopped: b.store.Stopped(),
		unusable: b.changing.unusable(), untrusted: len(b.current().waiting) > 0,
	}
}

// degraded are all words for what is amiss, and when each is.
var degraded = []struct {
	state string
	is    func(o outlook) bool
}{
	{"git_hold", func(o outlook) bool { return o.held }},
	{"writes_stopped", func(o outlook) bool { return o.stopped || o.heldBy(store.ErrStopped) }},
	{"disk_full", func(o outlook) bool { return o.heldBy(syscall.ENOSPC, syscall.EDQUOT) }},
	{"disk_read_only", func(o outlook) bool { return o.heldBy(syscall.EROFS) }},
	{"disk_errors", func(o outlook) bool { return o.heldBy(syscall.EIO) }},
	{"descriptors_short", func(o outlook) bool { return o.heldBy(syscall.EMFILE, syscall.ENFILE) }},
	{"memory_short", func(o outlook) bool { return o.heldBy(syscall.ENOMEM) }},
	{"no_file_events", func(o outlook) bool { return o.lacks.Events }},
	{"watches_short", func(o outlook) bool { return o.lacks.Watches }},
	{"folders_without_events", func(o outlook) bool { return o.lacks.Folders }},
	{"folders_unlisted", func(o outlook) bool { return o.runs.Unlisted }},
	{"settings_unusable", func(o outlook) bool { return o.unusable }},
	{"settings_untrusted", func(o outlook) bool { return o.untrusted }},
}

// heldBy reports whether one of the errors holds a run up.
func (o outlook) heldBy(errs ...error) bool {
	return slices.ContainsFunc(o.runs.Holding, func(err error) bool {
		return slices.ContainsFunc(errs, func(e error) bool { return errors.Is(err, e) })
	})
}

// What standings tell.
var (
	waitingDesc = prometheus.NewDesc("placet_waiting_requests",
		"Open requests that wait for a person.", []string{"family"}, nil)
	oldestDesc = prometheus.NewDesc("placet_oldest_wait_seconds",
		"Age of the oldest open request; 0 where there is none.", []string{"family"}, nil)
	runsDesc = prometheus.NewDesc("placet_runs",
		"Runs: waiting for a person, held up by an error, live otherwise, or final.", []string{"family", "standing"}, nil)
	degradedDesc = prometheus.NewDesc("placet_degraded",
		"1 while placet works under a difficulty, by its name.", []string{"state"}, nil)
)

// Describe implements [prometheus.Collector].
func (s standings) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{waitingDesc, oldestDesc, runsDesc, degradedDesc} {
		all <- d
	}
}

// Collect implements [prometheus.Collector].
func (s standings) Collect(all chan<- prometheus.Metric) {
	o, now := s.look(), s.now()
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for family, c := range o.runs.Families {
		tell(waitingDesc, float64(c.Requests), family)
		tell(oldestDesc, ageOf(c.Oldest, now).Seconds(), family)
		tell(runsDesc, float64(c.Waiting), family, "waiting")
		tell(runsDesc, float64(c.HeldUp), family, "held_up")
		tell(runsDesc, float64(c.Live), family, "live")
		tell(runsDesc, float64(c.Final), family, "final")
	}
	for _, d := range degraded {
		value := 0.0
		if d.is(o) {
			value = 1
		}
		tell(degradedDesc, value, d.state)
	}
}

// ageOf is how long ago a moment was; 0 for none, and for one to come.
func ageOf(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(now.Sub(t), 0)
}
