//go:build !linux

package cli

import "context"

// lean and stayLean do something on Linux alone.
func lean() {}

func stayLean(context.Context) {}
