//go:build unix && !linux

package proc

import "syscall"

// groupAlive asks with signal 0. It says yes while the leader is a zombie, which awaitExit does not let it be.
func groupAlive(l *leader) bool { return syscall.Kill(-l.pid, 0) == nil }
