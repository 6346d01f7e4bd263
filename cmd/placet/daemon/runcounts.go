package daemon

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/watch"
)

// runCounts are the metrics of the present state. They are computed when they are collected.
type runCounts struct {
	now  func() time.Time
	look func() *health
}

// health is the sample of a daemon from which the counts are computed.
type health struct {
	at    time.Time
	runs  loop.Standing
	lacks watch.Lacks
	// held reports that git is rewriting the tree, stopped that nothing is written any more.
	held, stopped bool
	// unusable reports that the settings in the files cannot be used and earlier ones apply,
	// untrusted that some settings of the workspace do not count yet.
	unusable, untrusted bool
}

// currentHealth samples a daemon. It reads no file of a run, and waits for no pass.
func currentHealth(b *workspace.Workspace, w *watch.Watcher) *health {
	_, held := b.Store.Paused()
	return &health{
		at:   time.Now(),
		runs: b.Loop.Standing(), lacks: w.Lacks(), held: held, stopped: b.Store.Stopped(),
		unusable: b.Changing.Unusable(), untrusted: len(b.Current().Waiting) > 0,
	}
}

// degraded lists all words for a trouble of the daemon, each with its condition.
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

// These describe the counts.
var (
	waitingRequests = metric{name: "placet_waiting_requests", kind: "gauge", help: "Open requests that wait for a person."}
	oldestWait      = metric{name: "placet_oldest_wait_seconds", kind: "gauge", help: "Age of the oldest open request; 0 where there is none."}
	runStandings    = metric{name: "placet_runs", kind: "gauge", help: "Runs: waiting for a person, held up by an error, live otherwise, or final."}
	difficulties    = metric{name: "placet_degraded", kind: "gauge", help: "1 while placet works under a difficulty, by its name."}
)

// tell tells the counts.
func (s runCounts) tell(tell tell) {
	o, now := s.look(), s.now()
	for family, c := range o.runs.Families {
		tell(waitingRequests, float64(c.Requests), "family", family)
		tell(oldestWait, ageOf(c.Oldest, now).Seconds(), "family", family)
		tell(runStandings, float64(c.Waiting), "family", family, "standing", "waiting")
		tell(runStandings, float64(c.HeldUp), "family", family, "standing", "held_up")
		tell(runStandings, float64(c.Live), "family", family, "standing", "live")
		tell(runStandings, float64(c.Final), "family", family, "standing", "final")
	}
	for _, d := range degraded {
		value := 0.0
		if d.is(o) {
			value = 1
		}
		tell(difficulties, value, "state", d.state)
	}
}

// ageOf returns the time since a moment; 0 for the zero time and for a moment in the future.
func ageOf(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(now.Sub(t), 0)
}
