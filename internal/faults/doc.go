// Package faults is for tests. It runs a command and all of its children under ptrace, and numbers every system call
// that changes a file below one directory, in one order for all processes. At any such call it can inject a fault: kill
// processes, make the call fail, or let it write only half of its data. It can also replay the recorded calls, to get
// the files as they would be after a power cut. It works on Linux on amd64 only.
package faults
