//go:build !unix

package watch

import "time"

// changedAt returns when a file or folder last changed; here it is never known, because
// there are no change times.
func changedAt(string) (time.Time, bool) { return time.Time{}, false }
