//go:build !linux || !amd64

package testkit

// TracerMain is for the tests of faults alone.
func TracerMain() int { return 1 }
