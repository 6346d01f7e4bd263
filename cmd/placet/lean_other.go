//go:build !linux

package main

// lean does something on Linux alone.
func lean() {}
