// Package faults is for tests. It runs a command and all of its children under ptrace, and numbers every system call
// that changes a file below one directory in a single order. At any of these calls it can kill, make the call fail, or
// tear a write. It can also replay the recorded calls to get the state of the disk after a power cut. Linux on amd64
// only.
package faults
