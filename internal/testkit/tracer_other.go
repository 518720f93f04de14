//go:build !linux || !amd64

package testkit

// TracerMain does nothing on systems that package faults does not support.
func TracerMain() int { return 1 }
