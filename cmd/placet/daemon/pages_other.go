//go:build !linux

package daemon

import "context"

// keepSmall does something on Linux alone.
func keepSmall(context.Context) {}
