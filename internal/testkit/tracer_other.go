//go:build !linux || !amd64

package testkit

// TracerMain is only for the tests of faults.
func TracerMain() int { return 1 }
