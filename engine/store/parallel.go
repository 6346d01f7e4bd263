package store

import (
	"sync"
	"sync/atomic"
)

// each calls do for every item, at most width at a time, and waits for all.
func each[T any](width int, items []T, do func(T)) {
	eachIndex(width, len(items), func(i int) { do(items[i]) })
}

// eachIndex calls do for the numbers below n, at most width at a time, and waits for all.
func eachIndex(width, n int, do func(int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
			do(i - 1)
		}
	}
	var workers sync.WaitGroup
	for range min(width, n) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}
