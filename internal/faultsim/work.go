package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine/store/memfs"
)

// task is a part of the work that one worker does.
type task struct {
	do func()
	// rank orders tasks: troubles that come alone run first, costly scenarios last.
	rank int
}

// phases are the kinds of trouble, in their order.
var phases = []string{"crash", "lie", "error", "other", "order", "pair", "mixed"}

// tasks returns all tasks of a phase. brief reduces the larger ones at random.
func (l *lab) tasks(phase string, brief bool) []task {
	var all []task
	for _, sc := range l.scenes {
		for i := range sc.steps {
			s := schedule{sc: sc, step: i}
			if l.steps != nil && !slices.Contains(l.steps, i) {
				continue
			}
			for n, do := range l.parts(phase, s, brief) {
				t := task{do: do, rank: s.sc.dear}
				if phase == "other" && n >= len(s.sc.other()) {
					t.rank++
				}
				all = append(all, t)
			}
		}
	}
	r := rand.New(rand.NewPCG(l.seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b task) int { return a.rank - b.rank })
	return all
}

// parts returns the tasks of one step of a scene.
func (l *lab) parts(phase string, s schedule, brief bool) []func() {
	switch phase {
	case "crash":
		return []func(){func() { (&dig{l: l, depth: 1, seeds: []int{24}, onward: 8}).into(s) }}
	case "pair":
		return l.pairs(s)
	case "lie":
		return l.lies(s)
	case "error":
		return l.errors(s, brief)
	case "other":
		return l.interludes(s)
	case "order":
		if s.sc.name == "desk" && s.step == 0 { // once for each variant
			return []func(){func() { l.orders(s.sc) }}
		}
	case "mixed":
		return []func(){func() { l.mixed(s) }}
	}
	return nil
}

// pairStripes is the number of tasks into which the pairs of one step are divided.
const pairStripes = 8

// chosen leaves out most calls of a scenario whose schedules cost much.
func (l *lab) chosen(s schedule, n int) bool {
	return s.sc.dear == 0 || (n+int(l.seed))%s.sc.dear == 0
}

func (l *lab) pairs(s schedule) (parts []func()) {
	for stripe := range pairStripes {
		parts = append(parts, func() {
			d := &dig{l: l, depth: 2, seeds: []int{4, 3}, only: func(c memfs.Call) bool { return c.N%pairStripes == stripe && l.chosen(s, c.N/pairStripes) }}
			d.into(s)
		})
	}
	return parts
}

// calls returns the calls of a step without trouble.
func (l *lab) calls(s schedule) (calls []memfs.Call) {
	w := l.newWorld(s.sc, s.step)
	w.watch = func(c memfs.Call) { calls = append(calls, c) }
	if err := w.take(); err != nil {
		l.fail(s, err.Error())
	}
	return calls
}

// errors makes every call of a step return every error, for one call and for a few,
// and then crashes at some calls.
func (l *lab) errors(s schedule, brief bool) (parts []func()) {
	for _, name := range slices.Sorted(maps.Keys(errnos)) {
		parts = append(parts, func() {
			for _, c := range l.calls(s) {
				for _, long := range []int{1, 2, 5, 40} {
					if l.over() {
						return
					}
					if l.chosen(s, c.N) {
						l.oneError(s.with(trouble{kind: name, at: c.N, long: long}), c, brief)
					}
				}
			}
		})
	}
	return parts
}

func (l *lab) oneError(s schedule, c memfs.Call, brief bool) {
	t := s.troubles[0]
	d := &dig{l: l, depth: 1, seeds: []int{2}, from: t.at + 1}
	if t.long > 1 || brief && c.N%3 != 0 {
		d.depth = 0
	}
	d.only = func(later memfs.Call) bool { return (later.N+c.N)%5 == 0 }
	d.into(s)
}

// lies makes every fsync fail once, or several times in a row, and then report
// success: what it was to write is lost. After that it crashes at every call.
func (l *lab) lies(s schedule) (parts []func()) {
	for _, long := range []int{1, 2, 5} {
		parts = append(parts, func() {
			for _, c := range l.calls(s) {
				if l.over() {
					return
				}
				if strings.HasPrefix(c.Op, "sync") && l.chosen(s, c.N) {
					d := &dig{l: l, depth: 1, seeds: []int{5}, from: c.N + 1}
					d.into(s.with(trouble{kind: "EIO", at: c.N, long: long}))
				}
			}
		})
	}
	return parts
}

// interludes makes somebody else write at every call; then it does the same with a
// crash afterwards.
func (l *lab) interludes(s schedule) (parts []func()) {
	for depth := range 2 {
		for _, kind := range s.sc.other() {
			parts = append(parts, func() {
				for n := range len(l.calls(s)) + 1 {
					if l.over() {
						return
					}
					d := &dig{l: l, depth: depth, seeds: []int{3}, from: n + 2}
					d.into(s.with(trouble{kind: kind, at: n + 1}))
				}
			})
		}
	}
	return parts
}

// mixes is how many random schedules of a step one task runs.
const mixes = 4000

// mixed runs random schedules of three troubles.
func (l *lab) mixed(s schedule) {
	r := rand.New(rand.NewPCG(l.seed, uint64(s.step)+uint64(len(s.sc.name))<<8+uint64(len(s.sc.variant.name))<<16))
	kinds := []string{"kill", "cut", "cut", "half", "halfcut", "EIO", "ENOSPC", "EACCES", "EMFILE"}
	kinds = append(kinds, s.sc.other()...)
	most := len(l.calls(s))
	for range mixes / max(s.sc.dear, 1) {
		if l.over() {
			return
		}
		var troubles []trouble
		first := 1
		for range 3 {
			t := trouble{kind: kinds[r.IntN(len(kinds))], at: first + r.IntN(most), seed: r.Uint64N(1 << 20)}
			if first = t.at + 1; t.crash() {
				first = 1
			}
			troubles = append(troubles, t)
		}
		m := s.with(troubles...)
		if problem := l.tell(m, nil); problem != "" {
			l.fail(m, problem)
		}
	}
}

// work does tasks, one at a time on each core, and returns how many were completed.
func (l *lab) work(tasks []task, cores int) (done int) {
	next := make(chan task)
	var all sync.WaitGroup
	for range cores {
		all.Go(func() {
			for t := range next {
				t.do()
				l.mu.Lock()
				if !l.over() {
					done++
				}
				l.mu.Unlock()
			}
		})
	}
	for _, t := range tasks {
		if l.over() {
			break
		}
		next <- t
	}
	close(next)
	all.Wait()
	return done
}

// shares is the share of the time for each phase, in hundredths. The phases after it
// get what one leaves over.
var shares = map[string]int{"crash": 10, "lie": 10, "error": 18, "other": 15, "order": 7, "pair": 25, "mixed": 15}

// budget is how much work the laboratory does at most: for how long, and how many schedules;
// zero means without a limit.
type budget struct {
	length    time.Duration
	schedules int64
}

// run runs phases within a budget, and reports what was done.
func (l *lab) run(named []string, open budget, cores int, brief bool, say func(string)) {
	start, share, whole := time.Now(), 0, 0
	for _, phase := range named {
		whole += shares[phase]
	}
	for _, phase := range named {
		share += shares[phase]
		if open.length > 0 {
			l.until = start.Add(open.length * time.Duration(share) / time.Duration(whole))
		}
		l.most = open.schedules * int64(share) / int64(whole)
		before := l.told.Load()
		tasks := l.tasks(phase, brief)
		done := l.work(tasks, cores)
		say(fmt.Sprintf("%-6s %8d schedules, %d of %d tasks to the end", phase, l.told.Load()-before, done, len(tasks)))
	}
	took := time.Since(start)
	say(l.rate(took, cores))
}

// rate returns the speed: by the clock, and by the processor's time, which counts if
// others use the machine too.
func (l *lab) rate(took time.Duration, cores int) string {
	told := float64(l.told.Load())
	text := fmt.Sprintf("%.0f schedules in %s: %.0f a minute on %d cores", told, took.Round(time.Millisecond), told/took.Minutes(), cores)
	if used := processorTime(); used > 0 {
		text += fmt.Sprintf("; %.0f in a minute of two cores' own (%.0f µs of processor time each)", 2*told/used.Minutes(), float64(used.Microseconds())/told)
	}
	return text
}
