package daemon

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/watch"
)

// runCounts are the metrics that say how things stand at this moment. They are
// worked out when they are asked for.
type runCounts struct {
	now  func() time.Time
	look func() *health
}

// health is how a daemon is doing: what the counts are worked out of.
type health struct {
	at    time.Time
	runs  loop.Standing
	lacks watch.Lacks
	// held: git is rewriting the tree. stopped: nothing more is written.
	held, stopped bool
	// unusable: the settings that hold are not those that stand in the files.
	// untrusted: some of the workspace's do not count yet.
	unusable, untrusted bool
}

// currentHealth looks at a daemon. It reads no file of a run, and waits for no pass.
func currentHealth(b *workspace.Workspace, w *watch.Watcher) *health {
	_, held := b.Store.Paused()
	return &health{
		at:   time.Now(),
		runs: b.Loop.Standing(), lacks: w.Lacks(), held: held, stopped: b.Store.Stopped(),
		unusable: b.Changing.Unusable(), untrusted: len(b.Current().Waiting) > 0,
	}
}

// degraded are all words for what is amiss, and when each is.
var degraded = []struct {
	state string
	is    func(o *health) bool
}{
	{"git_hold", func(o *health) bool { return o.held }},
	{"writes_stopped", func(o *health) bool { return o.stopped || o.heldBy(store.ErrStopped) }},
	{"disk_full", func(o *health) bool { return o.heldBy(syscall.ENOSPC, syscall.EDQUOT) }},
	{"disk_read_only", func(o *health) bool { return o.heldBy(syscall.EROFS) }},
	{"disk_errors", func(o *health) bool { return o.heldBy(syscall.EIO) }},
	{"descriptors_short", func(o *health) bool { return o.heldBy(syscall.EMFILE, syscall.ENFILE) }},
	{"memory_short", func(o *health) bool { return o.heldBy(syscall.ENOMEM) }},
	{"no_file_events", func(o *health) bool { return o.lacks.Events }},
	{"watches_short", func(o *health) bool { return o.lacks.Watches }},
	{"folders_without_events", func(o *health) bool { return o.lacks.Folders }},
	{"folders_unlisted", func(o *health) bool { return o.runs.Unlisted }},
	{"settings_unusable", func(o *health) bool { return o.unusable }},
	{"settings_untrusted", func(o *health) bool { return o.untrusted }},
}

// heldBy reports whether one of the errors holds a run up.
func (o *health) heldBy(errs ...error) bool {
	return slices.ContainsFunc(o.runs.Holding, func(err error) bool {
		return slices.ContainsFunc(errs, func(e error) bool { return errors.Is(err, e) })
	})
}

// What the counts tell.
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
func (s runCounts) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{waitingDesc, oldestDesc, runsDesc, degradedDesc} {
		all <- d
	}
}

// Collect implements [prometheus.Collector].
func (s runCounts) Collect(all chan<- prometheus.Metric) {
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
