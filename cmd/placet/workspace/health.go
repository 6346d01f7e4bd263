package workspace

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/watch"
)

const (
	// blindName is the file of the state folder in which a daemon leaves for other
	// verbs where it gets no file events and which runs it cannot go on with.
	blindName = "blind"
	// blindEvery is how often it is brought up to date.
	blindEvery = time.Second
	// blindFew is how many folders it names.
	blindFew = 20
	// BlindMany is from how many folders on they are looked at less often.
	BlindMany = 1000
	// heldUpMost is how many runs it names that the daemon cannot go on with, and
	// heldUpText how much it says of each, in bytes.
	heldUpMost = 100
	heldUpText = 1000
	// blindMost is far more than so many names need.
	blindMost = 1 << 20
)

// SummarizeFolders names the first few folders without events and counts them all.
func SummarizeFolders(folders []string) WithoutEvents {
	b := WithoutEvents{Count: len(folders), Folders: folders[:min(len(folders), blindFew)]}
	if b.Folders == nil {
		b.Folders = []string{}
	}
	return b
}

// DaemonHealth is what a daemon leaves for other verbs.
type DaemonHealth struct {
	WithoutEvents
	// HeldUp says why the daemon cannot go on with a run, by its state document.
	HeldUp map[string]string `json:"held_up,omitempty"`
}

// healthOf sums up how the daemon is doing.
func healthOf(b *Workspace, w *watch.Watcher) DaemonHealth {
	h := DaemonHealth{SummarizeFolders(w.Blind()), b.Loop.HeldUp(heldUpMost)}
	for run, why := range h.HeldUp {
		why, _, _ = strings.Cut(why, "\n")
		h.HeldUp[run] = console.Cut(console.OneLine(why), heldUpText)
	}
	return h
}

// ReportHealth keeps the file up to date until the context ends. Without
// a state folder the runs are served all the same.
func ReportHealth(ctx context.Context, b *Workspace, w *watch.Watcher) {
	if b.StateDir == nil {
		return
	}
	reported := ReadHealth(b)
	report := func(now DaemonHealth) {
		if same(reported, now) {
			return
		}
		body, err := json.Marshal(now)
		if err == nil && b.StateDir.Write(blindName, body, false) == nil {
			reported = now
		}
	}
	tick := time.NewTicker(blindEvery)
	defer tick.Stop()
	for {
		report(healthOf(b, w))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func same(a, b DaemonHealth) bool {
	return a.Count == b.Count && slices.Equal(a.Folders, b.Folders) && maps.Equal(a.HeldUp, b.HeldUp)
}

// ReadHeldUp returns why the daemon cannot go on with runs. It reads that once.
func ReadHeldUp(b *Workspace) map[string]string {
	b.heldUpOnce.Do(func() {
		if b.heldUpRuns = ReadHealth(b).HeldUp; len(b.heldUpRuns) > 0 && !DaemonRuns(b.Root) {
			b.heldUpRuns = nil
		}
	})
	return b.heldUpRuns
}

// ReadHealth reads what the last daemon has left. Nothing is known where it cannot be
// read.
func ReadHealth(b *Workspace) DaemonHealth {
	none := DaemonHealth{WithoutEvents: SummarizeFolders(nil)}
	if b.StateDir == nil {
		return none
	}
	body, err := b.StateDir.Read(blindName, blindMost)
	if err != nil {
		return none
	}
	var left DaemonHealth
	if json.Unmarshal(body, &left) != nil || len(left.Folders) != min(left.Count, blindFew) {
		return none
	}
	return left
}

// WithoutEvents is where a daemon gets no file events.
type WithoutEvents struct {
	// Count is how many folders there are, Folders the first of them.
	Count   int      `json:"count"`
	Folders []string `json:"folders"`
}
