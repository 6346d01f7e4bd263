package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	// blindMany is from how many folders on they are looked at less often.
	blindMany = 1000
	// heldUpMost is how many runs it names that the daemon cannot go on with, and
	// heldUpText how much it says of each, in bytes.
	heldUpMost = 100
	heldUpText = 1000
	// blindMost is far more than so many names need.
	blindMost = 1 << 20
)

// blindness is where a daemon gets no file events.
type blindness struct {
	// Count is how many folders there are, Folders the first of them.
	Count   int      `json:"count"`
	Folders []string `json:"folders"`
}

// blindnessOf sums up folders.
func blindnessOf(folders []string) blindness {
	b := blindness{Count: len(folders), Folders: folders[:min(len(folders), blindFew)]}
	if b.Folders == nil {
		b.Folders = []string{}
	}
	return b
}

// health is what a daemon leaves for other verbs.
type health struct {
	blindness
	// HeldUp says why the daemon cannot go on with a run, by its state document.
	HeldUp map[string]string `json:"held_up,omitempty"`
}

// healthOf sums up how the daemon is doing.
func (b *bench) healthOf(w *watch.Watcher) health {
	h := health{blindnessOf(w.Blind()), b.loop.HeldUp(heldUpMost)}
	for run, why := range h.HeldUp {
		why, _, _ = strings.Cut(why, "\n")
		h.HeldUp[run] = cut(line(why), heldUpText)
	}
	return h
}

// tellBlind keeps the file up to date until the context ends. Without
// a state folder the runs are served all the same.
func (b *bench) tellBlind(ctx context.Context, w *watch.Watcher) {
	if b.stateDir == nil {
		return
	}
	told := b.health()
	tell := func(now health) {
		if same(told, now) {
			return
		}
		body, err := json.Marshal(now)
		if err == nil && b.stateDir.Write(blindName, body, false) == nil {
			told = now
		}
	}
	tick := time.NewTicker(blindEvery)
	defer tick.Stop()
	for {
		tell(b.healthOf(w))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func same(a, b health) bool {
	return a.Count == b.Count && slices.Equal(a.Folders, b.Folders) && maps.Equal(a.HeldUp, b.HeldUp)
}

// heldUp returns why the daemon cannot go on with runs. It reads that once.
func (b *bench) heldUp() map[string]string {
	b.heldUpOnce.Do(func() {
		if b.heldUpRuns = b.health().HeldUp; len(b.heldUpRuns) > 0 && !daemonRuns(b.root) {
			b.heldUpRuns = nil
		}
	})
	return b.heldUpRuns
}

// health reads what the last daemon has left. Nothing is known where it cannot be
// read.
func (b *bench) health() health {
	none := health{blindness: blindnessOf(nil)}
	if b.stateDir == nil {
		return none
	}
	body, err := b.stateDir.Read(blindName, blindMost)
	if err != nil {
		return none
	}
	var left health
	if json.Unmarshal(body, &left) != nil || len(left.Folders) != min(left.Count, blindFew) {
		return none
	}
	return left
}

// noteBlind says in which folders a daemon looks every now and then.
func (b *bench) noteBlind(is blindness) {
	if is.Count == 0 {
		return
	}
	more := ""
	if n := is.Count - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	often := "every 2 s"
	if is.Count > blindMany {
		often = "every few seconds"
	}
	b.w.note("the daemon gets no file events in %s%s: it looks %s", line(is.Folders[0]), more, often)
}
