package badinput

import "runtime/metrics"

// MostMemory is how many bytes the reading of one input may take, all that was
// allocated for it together: what lives at one moment is no more than that.
const MostMemory = 20 << 20

// Allocated returns how many bytes were allocated while f ran, by everybody. It
// is exact to a few pages, which the runtime counts at once.
func Allocated(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}
