package store

import "sync"

// each calls do for every item, at most width at a time, and waits for all.
func each[T any](width int, items []T, do func(T)) {
	if width == 1 || len(items) == 1 {
		for _, item := range items {
			do(item)
		}
		return
	}
	todo := make(chan T)
	var workers sync.WaitGroup
	for range min(width, len(items)) {
		workers.Go(func() {
			for item := range todo {
				do(item)
			}
		})
	}
	for _, item := range items {
		todo <- item
	}
	close(todo)
	workers.Wait()
}
