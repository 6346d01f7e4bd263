//go:build !unix

package watch

import "time"

// changedAt is when a file or folder last changed. Without change times nothing
// can be said.
func changedAt(string) (time.Time, bool) { return time.Time{}, false }
