//go:build !failpoints

package durable

// Hit does nothing in this build. With the build tag "failpoints", it may kill the process.
func Hit(Point) {}
