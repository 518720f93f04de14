package proc

import "golang.org/x/sys/unix"

// From linux/ioprio.h, which the syscall package does not have.
const (
	ioprioWhoGroup   = 2
	ioprioBestEffort = 2 << 13 // the usual class; 7 is its lowest priority
	ioprioLast       = 7
)

// giveWay lowers the priority of a process group for processors and disks. It does not use the idle class, in which a
// machine that is busy for hours would block the group for hours. An error only affects speed.
func giveWay(group int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, group, nice)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoGroup, uintptr(group), ioprioBestEffort|ioprioLast)
}
