package cli_test

import (
	"fmt"
	"math"
	"time"
)

// usage is what a daemon uses over a minute: memory resident and the least that
// the heap held, in MiB, both; the most descriptors and goroutines; the share of
// a processor; and how many runs there were so far.
type usage struct {
	resident, heap          float64
	descriptors, goroutines float64
	processor               float64
	runs                    int64
}

func (u usage) String() string {
	return fmt.Sprintf("%.2f MiB resident, heap from %.2f MiB, up to %.0f descriptors and %.0f goroutines, processor %.1f %%, %d runs",
		u.resident, u.heap, u.descriptors, u.goroutines, 100*u.processor, u.runs)
}

// sample scrapes once a second until it is over, and sums up whole minutes.
func (l *longRun) sample(over <-chan struct{}) (minutes []usage) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		first := l.scrape(l.d)
		u, n := usage{heap: math.Inf(1)}, 0.0
		for began := time.Now(); time.Since(began) < time.Minute; n++ {
			select {
			case <-over:
				return minutes
			case <-tick.C:
			}
			r := l.scrape(l.d)
			u.resident += r["process_resident_memory_bytes"] / (1 << 20)
			u.heap = min(u.heap, r["go_memstats_heap_alloc_bytes"]/(1<<20))
			u.descriptors = max(u.descriptors, r["process_open_fds"])
			u.goroutines = max(u.goroutines, r["go_goroutines"])
			u.processor = (r["process_cpu_seconds_total"] - first["process_cpu_seconds_total"]) / time.Since(began).Seconds()
		}
		u.resident, u.runs = u.resident/n, l.made.Load()
		minutes = append(minutes, u)
	}
}

// idles looks at what a daemon with nothing but final runs takes of a processor
// in a minute.
func (l *longRun) idles() {
	before, began := l.scrape(l.d), time.Now()
	time.Sleep(time.Minute) // this is the measurement
	after := l.scrape(l.d)
	share := (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / time.Since(began).Seconds()
	l.t.Logf("idle with %d final runs: %.2f %% of a processor, %.1f MiB resident", l.lie(), 100*share, after["process_resident_memory_bytes"]/(1<<20))
	if share > idleShare {
		l.t.Errorf("an idle daemon takes %.2f %% of a processor", 100*share)
	}
}
