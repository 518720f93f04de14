//go:build !linux || !amd64

package cmd

// tracerMain is for the tests of faults alone.
func tracerMain() int { return 1 }
