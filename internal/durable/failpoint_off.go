//go:build !failpoints

package durable

// Hit does nothing in this build.
func Hit(Point) {}
