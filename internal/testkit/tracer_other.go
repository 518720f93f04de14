//go:build !linux || !amd64

package testkit

// TracerMain returns exit code 1, because package faults does not support this system.
func TracerMain() int { return 1 }
