//go:build !linux

package proc

import "os"

// Above lists the parent alone: what is above it cannot be found out cheaply.
func Above() []int { return []int{os.Getppid()} }
