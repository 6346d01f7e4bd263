package badinput

import "runtime/metrics"

// MostMemory is how many bytes the reading of one input may allocate in total.
// The memory in use at one moment is never more.
const MostMemory = 20 << 20

// Allocated returns how many bytes all goroutines allocated while f ran. It is
// exact to a few pages, which the runtime counts at once.
func Allocated(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}
