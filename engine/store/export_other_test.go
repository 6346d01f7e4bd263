//go:build !linux

package store

func walkPaths() (restore func()) { return func() {} }
