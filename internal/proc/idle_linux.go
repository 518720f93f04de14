package proc

import "golang.org/x/sys/unix"

// From linux/ioprio.h, which the syscall package does not have.
const (
	ioprioWhoGroup   = 2
	ioprioBestEffort = 2 << 13 // the usual class; 7 is the last in it
	ioprioLast       = 7
)

// giveWay lets a process group come after all others, for processors and disks. It does not come last of all: a machine
// that is busy for hours would keep it waiting for hours. A refusal changes nothing but speed.
func giveWay(group int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, group, nice)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoGroup, uintptr(group), ioprioBestEffort|ioprioLast)
}
