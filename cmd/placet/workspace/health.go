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
	// blindName is the file in the state folder in which a daemon records, for other verbs,
	// where it gets no file events and which runs it cannot go on with.
	blindName = "blind"
	// blindEvery is how often the daemon updates the file.
	blindEvery = time.Second
	// blindFew limits the folders that the file names.
	blindFew = 20
	// BlindMany is the number of folders from which on the daemon polls them less often.
	BlindMany = 1000
	// heldUpMost limits the runs in the file that the daemon cannot go on with, and heldUpText
	// the text about each of them, in bytes.
	heldUpMost = 100
	heldUpText = 1000
	// blindMost limits the file, in bytes. It is far more than so many names need.
	blindMost = 1 << 20
)

// SummarizeFolders names the first few folders without events, and counts them all.
func SummarizeFolders(folders []string) WithoutEvents {
	b := WithoutEvents{Count: len(folders), Folders: folders[:min(len(folders), blindFew)]}
	if b.Folders == nil {
		b.Folders = []string{}
	}
	return b
}

// DaemonHealth is the record that a daemon leaves for other verbs.
type DaemonHealth struct {
	WithoutEvents
	// HeldUp says for the state document of a run why the daemon cannot go on with the run.
	HeldUp map[string]string `json:"held_up,omitempty"`
}

// healthOf returns the present health of the daemon.
func healthOf(b *Workspace, w *watch.Watcher) DaemonHealth {
	h := DaemonHealth{SummarizeFolders(w.Blind()), b.Loop.HeldUp(heldUpMost)}
	for run, why := range h.HeldUp {
		why, _, _ = strings.Cut(why, "\n")
		h.HeldUp[run] = console.Cut(console.OneLine(why), heldUpText)
	}
	return h
}

// ReportHealth keeps the file up to date until the context ends. Without a state folder it
// writes none, and the runs are served all the same.
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

// ReadHeldUp returns why the running daemon cannot go on with runs. It reads the file once.
func ReadHeldUp(b *Workspace) map[string]string {
	b.heldUpOnce.Do(func() {
		if b.heldUpRuns = ReadHealth(b).HeldUp; len(b.heldUpRuns) > 0 && !DaemonRuns(b.Root) {
			b.heldUpRuns = nil
		}
	})
	return b.heldUpRuns
}

// ReadHealth reads the record of the last daemon. It returns nothing if the record cannot be
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

// WithoutEvents lists the folders for which a daemon gets no file events.
type WithoutEvents struct {
	// Count is the number of such folders, and Folders names the first of them.
	Count   int      `json:"count"`
	Folders []string `json:"folders"`
}
