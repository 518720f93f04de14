//go:build !failpoints

package cmd

// tries is for the tests of faults alone.
type tries struct{}
