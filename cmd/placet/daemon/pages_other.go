//go:build !linux

package daemon

import "context"

// keepSmall does nothing here; only Linux needs it.
func keepSmall(context.Context) {}
