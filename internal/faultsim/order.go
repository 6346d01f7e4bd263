package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/memfs"
)

// These functions check the order of things: the same files give the same tree
// in the end, whatever came first, however many workers there were, and however
// often placet was started again.

// orderRuns is how many runs the workspace has, and orderSeeds is how many
// orders one task tries.
const (
	orderRuns  = 5
	orderSeeds = 1000
)

// orders runs one workspace in many orders. It does so once for each variant.
func (l *lab) orders(sc *scene) {
	want := l.ordered(sc, nil)
	for seed := range orderSeeds {
		if l.over() {
			return
		}
		l.told.Add(1)
		if problem := l.ordered(sc, l.chance(seed)).differs(want); problem != "" {
			l.fail(schedule{sc: sc, troubles: []trouble{{kind: byOrder, at: seed}}}, problem)
		}
	}
}

// byOrder is the kind of a schedule in which only the order is random; its call
// is the number of the order.
const byOrder = "order"

// chance returns the random numbers of one order.
func (l *lab) chance(order int) *rand.Rand { return rand.New(rand.NewPCG(l.seed, uint64(order))) }

// orderly is the result of one order.
type orderly struct {
	tree map[string]string
	err  error
}

// differs returns how two orders ended differently.
func (o orderly) differs(want orderly) string {
	if o.err != nil || want.err != nil {
		return fmt.Sprintf("it does not settle: %v; without chance: %v", o.err, want.err)
	}
	for name, body := range want.tree {
		if got, there := o.tree[name]; !there || !sameText(body, got) {
			return fmt.Sprintf("%s reads otherwise:\n%s\nin the plain order:\n%s", name, got, body)
		}
	}
	if len(o.tree) != len(want.tree) {
		return fmt.Sprintf("there are %d files; in the plain order %d", len(o.tree), len(want.tree))
	}
	return ""
}

// act is something that somebody does to a run; it needs the acts before it.
type act struct{ path, body string }

// recorded returns the acts of one run in their order.
func recorded(run int) []act {
	dir := fmt.Sprintf("%s/r%d/", deskRoot, run)
	acts := []act{{dir + "state.json", fresh}, {dir + request + "response.json", approval}, {dir + "result.json", finished}}
	switch run % 4 {
	case 1:
		return acts[:1]
	case 2:
		return acts[:2]
	case 3:
		acts[1].body = `{"request_id":"q-1","response":"reject"}`
		return acts[:2]
	}
	return acts
}

// ordered runs the workspace in one order; nil is the plain one.
func (l *lab) ordered(sc *scene, r *rand.Rand) orderly {
	clock := &clock{at: epoch}
	disk := memfs.New(clock.now)
	if sc.variant.on != nil {
		sc.variant.on(disk)
	}
	chance := func(n int) int {
		if r == nil {
			return 0
		}
		return r.IntN(n)
	}
	record := &memfs.Record{}
	loop := l.orderLoop(sc, disk, record, clock, chance)
	look := func() error {
		clock.add(calm)
		_, err := loop.Once(context.Background())
		return err
	}
	for _, a := range shuffled(chance) {
		disk.Put(a.path, a.body)
		if chance(3) == 1 { // otherwise the event is lost, or comes together with the next
			if err := look(); err != nil {
				return orderly{err: err}
			}
		}
		if chance(4) == 1 {
			loop = l.orderLoop(sc, disk, record, clock, chance)
		}
	}
	for range 1 + chance(2) {
		if err := look(); err != nil {
			return orderly{err: err}
		}
	}
	return orderly{tree: tree(disk)}
}

// shuffled returns all acts in random order, but those of one run in their own order.
func shuffled(chance func(int) int) (acts []act) {
	var left [][]act
	for run := range orderRuns {
		left = append(left, recorded(run))
	}
	for len(left) > 0 {
		i := chance(len(left))
		acts = append(acts, left[i][0])
		if left[i] = left[i][1:]; len(left[i]) == 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return acts
}

func (l *lab) orderLoop(sc *scene, disk *memfs.FS, record *memfs.Record, clock *clock, chance func(int) int) *loop.Loop {
	s := store.New(disk, store.Options{Now: clock.now, Parallel: 1 + chance(8), Many: sc.variant.many, Record: record})
	return loop.New(loop.Options{
		Store: s, Families: []loop.Family{sc.family}, Workers: 1 + chance(8), Now: clock.now,
		Pause: func(_ context.Context, d time.Duration) error {
			clock.add(d)
			return nil
		},
	})
}
