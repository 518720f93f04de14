// Package faults is for tests: it runs a command with all of its children under ptrace, numbers every system call that
// changes a file below one directory in one order, and kills, fails or tears at any of them. What was recorded can be
// replayed as what a power cut leaves on the disk. Linux on amd64 only.
package faults
